//! The user's modules, types and macros have the same names as ours, or as those of the standard library.

#![allow(dead_code, non_camel_case_types, unused_macros)]

mod types {
    pub struct Array;
    pub struct Size;
}
mod core {}
mod std {}
mod xla_shape {}
mod element {
    pub struct F32;
}
struct Layout;
struct f32;
struct bf16;
macro_rules! compile_error {
    ($($token:tt)*) => {};
}

type X = ::xla_shape::shape!(f32[8,128]{1,0:T(8,128)});

#[test]
fn passes() {
    let buffer = ::xla_shape::Buffer::<X>::zeroed();
    assert_eq!(buffer.at(::xla_shape::index![7, 127]), 0.0);
    assert_eq!(X::TEXT, "f32[8,128]{1,0:T(8,128)}");
}
