//! Round trips, and tensors that are refused.

use super::*;
use crate::DynBuffer;
use crate::buffer::{Buffer, DynShape, Storage};
use crate::element::{F32, S4, S32};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that counts how often it is freed.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: the bytes are on the heap, in a `Vec` that never changes.
unsafe impl Storage for Counted {}

#[test]
fn a_tensor_is_freed_once_and_read_only_stays_so() {
    let freed = Arc::new(AtomicUsize::new(0));
    let memory = Counted(vec![7; 6], freed.clone());
    let x = Buffer::<DynShape, Counted>::from_parts("u8[2,3]".parse().unwrap(), memory).unwrap();
    let tensor = export_read_only(x).unwrap();
    // SAFETY: `export_read_only` made the tensor, and nothing else uses it.
    let tensor = unsafe { Tensor::from_raw(tensor) }.unwrap();
    assert!(tensor.is_read_only() && tensor.device().is_host());
    assert_eq!((tensor.shape().to_string().as_str(), tensor.as_ref()), ("u8[2,3]{1,0}", &[7; 6][..]));
    assert_eq!(freed.load(Ordering::Relaxed), 0);
    assert_eq!(tensor.into_mut().unwrap_err(), DlpackError::ReadOnly);
    assert_eq!(freed.load(Ordering::Relaxed), 1);
}

#[test]
fn what_is_written_is_there() {
    let x = DynBuffer::zeroed_with("s32[4]".parse().unwrap()).unwrap();
    // SAFETY: `export` made the tensor, and nothing else uses it.
    let tensor = unsafe { Tensor::from_raw(export(x).unwrap()) }.unwrap();
    let mut y = tensor.into_mut().unwrap().into_buffer().unwrap();
    y.set::<S32>(&[2], 5).unwrap();
    assert_eq!(y.get::<S32>(&[2]), Ok(5));
}

#[test]
fn tiles_are_more_dimensions() {
    let x = DynBuffer::from_fn_with::<F32>("f32[30,200]{1,0:T(8,128)}".parse().unwrap(), |i| i[0] as f32).unwrap();
    let error = export(x.clone()).unwrap_err();
    assert_eq!(error.to_string(), "expected an array with strides, found tiles that cut dimension 1");
    // SAFETY: `export_memory` made the tensor, and nothing else uses it.
    let tensor = unsafe { Tensor::from_raw(export_memory(x).unwrap()) }.unwrap();
    let y = tensor.into_buffer().unwrap();
    assert_eq!(y.shape().to_string(), "f32[4,2,8,128]{3,2,1,0}");
    assert_eq!(y.get::<F32>(&[2, 1, 3, 5]), Ok(19.0));
}

#[test]
fn strided_tensors_have_any_strides() {
    let x = DynBuffer::from_fn_with::<F32>("f32[3,100]{1,0:T(128)}".parse().unwrap(), |i| i[0] as f32).unwrap();
    let tensor = export(x).unwrap();
    // SAFETY: `export` made the tensor, and nothing else uses it. After an error, it stays this function's.
    let error = unsafe { Tensor::from_raw(tensor) }.unwrap_err();
    assert!(matches!(error, DlpackError::Gaps(_)), "{error}");
    // The last row first; every column is the first one.
    // SAFETY: `export` made the tensor.
    let fields = unsafe { &mut (*tensor).dl_tensor };
    fields.byte_offset = 2 * 128 * 4;
    // SAFETY: an array of two dimensions has two strides.
    unsafe { std::slice::from_raw_parts_mut(fields.strides, 2) }.copy_from_slice(&[-128, 0]);
    // SAFETY: the strides lead to elements of the exported array.
    let strided = unsafe { StridedTensor::from_raw(tensor) }.unwrap();
    assert_eq!((strided.shape().to_string().as_str(), strided.strides()), ("f32[3,100]{1,0}", &[-128, 0][..]));
    // The first element is in row 2; one stride (-128) from it is row 1.
    let found = strided.as_ptr().cast::<f32>().wrapping_offset(strided.strides()[0] as isize);
    // SAFETY: row 1 is in the tensor's memory.
    let found = unsafe { found.read() };
    assert_eq!(found, 1.0);
    assert!(strided.device().is_host());
}

#[test]
fn small_elements_take_a_byte_each() {
    let x = DynBuffer::from_fn_with::<S4>("s4[3]".parse().unwrap(), |i| S4::from_bits(i[0] as u8)).unwrap();
    let tensor = export(x).unwrap();
    // SAFETY: `export` made the tensor.
    let dtype = unsafe { (*tensor).dl_tensor.dtype };
    assert_eq!(dtype, DataType { code: 0, bits: 4, lanes: 1 });
    // SAFETY: nothing else uses it.
    let y = unsafe { Tensor::from_raw(tensor) }.unwrap().into_buffer().unwrap();
    assert_eq!(y.get::<S4>(&[2]), Ok(S4::from_bits(2)));
    let tensor = export(DynBuffer::zeroed_with("s4[3]".parse().unwrap()).unwrap()).unwrap();
    // SAFETY: `export` made the tensor. Without this flag, elements are packed.
    unsafe { (*tensor).flags = 0 };
    // SAFETY: only a flag differs; after an error, the tensor stays this function's.
    let error = unsafe { Tensor::from_raw(tensor) }.unwrap_err();
    assert_eq!(error.to_string(), "expected a byte for each element of s4, found packed elements");
    // SAFETY: `export` made the tensor.
    unsafe { (*tensor).flags = ManagedTensor::SUBBYTE_PADDED };
    // SAFETY: every change was undone, so the tensor is what `export` returned.
    drop(unsafe { Tensor::from_raw(tensor) }.unwrap());
    let packed = DynBuffer::zeroed_with("s4[4]{0:E(4)}".parse().unwrap()).unwrap();
    assert_eq!(export(packed).unwrap_err(), DlpackError::NoDataType(ElementType::S4));
}

#[test]
fn tensors_that_are_none_are_refused_and_stay_the_callers() {
    let x = DynBuffer::zeroed_with("f32[2,3]".parse().unwrap()).unwrap();
    let tensor = export(x).unwrap();
    let refused = |change: &dyn Fn(&mut ManagedTensor)| {
        // SAFETY: `export` made the tensor.
        let managed = unsafe { &mut *tensor };
        let before = (managed.version, managed.dl_tensor.device, managed.dl_tensor.dtype, managed.dl_tensor.ndim);
        let shape = managed.dl_tensor.shape;
        change(managed);
        // SAFETY: only fields that `from_raw` checks are wrong.
        let error = unsafe { Tensor::from_raw(tensor) }.map(std::mem::forget).unwrap_err();
        // SAFETY: `from_raw` failed, or its result was forgotten: the tensor was not freed.
        let managed = unsafe { &mut *tensor };
        (managed.version, managed.dl_tensor.device, managed.dl_tensor.dtype, managed.dl_tensor.ndim) = before;
        managed.dl_tensor.shape = shape;
        error
    };
    let device = Device { device_type: 2, device_id: 0 };
    assert_eq!(refused(&|tensor| tensor.dl_tensor.device = device), DlpackError::Device(device));
    let version = Version { major: 2, minor: 0 };
    assert_eq!(refused(&|tensor| tensor.version = version), DlpackError::Version(version));
    assert!(matches!(refused(&|tensor| tensor.dl_tensor.dtype.lanes = 4), DlpackError::ElementType(_)));
    assert_eq!(refused(&|tensor| tensor.dl_tensor.ndim = -1), DlpackError::Sizes);
    assert_eq!(refused(&|tensor| tensor.dl_tensor.shape = std::ptr::null_mut()), DlpackError::Null);
    // SAFETY: null is allowed.
    assert_eq!(unsafe { Tensor::from_raw(std::ptr::null_mut()) }.unwrap_err(), DlpackError::Null);
    // SAFETY: every change was undone, so the tensor is what `export` returned.
    drop(unsafe { Tensor::from_raw(tensor) }.unwrap());
}
