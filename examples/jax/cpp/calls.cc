// C++ handlers, written with the header library that comes with jaxlib, whose calls are compared with those of Rust.

#include <cstdint>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error One(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  y->typed_data()[0] = x.typed_data()[0] + 1.0f;
  return ffi::Error::Success();
}

static ffi::Error Four(ffi::Buffer<ffi::F32> a, ffi::Buffer<ffi::F32> b,
                       ffi::Buffer<ffi::F32> c, ffi::Buffer<ffi::F32> d,
                       ffi::ResultBuffer<ffi::F32> y, float factor,
                       int32_t times) {
  y->typed_data()[0] =
      (a.typed_data()[0] + b.typed_data()[0] + c.typed_data()[0] +
       d.typed_data()[0]) * factor + times;
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(CallOne, One,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(CallFour, Four,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Attr<float>("factor")
                                  .Attr<int32_t>("times"));
