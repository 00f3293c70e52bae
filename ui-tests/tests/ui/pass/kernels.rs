//! Kernels in a crate that forbids `unsafe` code and gives the names of the prelude other meanings.

#![forbid(unsafe_code)]
#![deny(warnings)]

use xla_shape::{DynView, View, ViewMut, shape};
use xla_shape_ffi::{Kernel, Role};

struct Option;
struct Result;
struct Vec;

macro_rules! vec {
    () => {};
}

vec!();

xla_shape_ffi::kernel! {
    /// Takes nothing.
    pub(crate) fn nothing() {}

    #[inline(never)]
    fn all_kinds(
        x: View<'_, shape!(f32[2,3]{0,1})>,
        _any: DynView,
        mut y: ViewMut<'_, shape!(f32[2,3])>,
        r#type: &str,
        numbers: std::vec::Vec<i16>,
        mut factor: f32,
    ) -> std::result::Result<(), std::fmt::Error> {
        factor *= (r#type.len() + numbers.len()) as f32;
        y.fill_with(|index| x[index] * factor);
        Ok(())
    }

    #[must_use]
    fn in_versions(
        x: View<'_, shape!(f32[rows,{ N }])>,
        mut y: xla_shape_ffi::InPlace<'_, shape!(f32[rows,{ N }])>,
        more: std::vec::Vec<DynView>,
        mut factor: f32 = 2.0 * 1.5,
        words: std::vec::Vec<f64> = std::vec::Vec::new(),
        mode: std::option::Option<&str>,
    ) -> std::result::Result<(), std::fmt::Error>
    where batch(rows), multiversion
    {
        factor += (more.len() + words.len() + mode.map_or(0, str::len)) as f32;
        let [_rows, _] = x.sizes();
        y.apply_with(&x, |y, x| y + factor * x);
        Ok(())
    }
}

const N: usize = 4;

xla_shape_ffi::multiversion! {
    /// Twice a number.
    #[must_use]
    pub fn twice(mut x: f32) -> f32 {
        x *= 2.0;
        x
    }
}

#[test]
fn passes() {
    let _unused = (Option, Result, Vec);
    assert_eq!(twice(1.5), 3.0);
    assert_eq!((in_versions::BATCH, in_versions::signature().len()), (&["rows"][..], 6));
    assert_eq!((nothing::DOC, all_kinds::DOC), (&[" Takes nothing."][..], &[""][..]));
    nothing();
    assert_eq!(nothing::signature().len(), 0);
    let found: [_; 6] = all_kinds::signature().try_into().expect("six parameters");
    let found = found.map(|(name, description)| (name, description.role));
    let expected = [
        ("x", Role::Operand),
        ("_any", Role::Operand),
        ("y", Role::Result),
        ("type", Role::Attribute),
        ("numbers", Role::Attribute),
        ("factor", Role::Attribute),
    ];
    assert_eq!(found, expected);
}
