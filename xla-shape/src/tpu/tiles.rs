//! Whether a TPU uses the tiles of a shape, decided by the compiler.

use super::unused_tiles;
use crate::types::ArrayType;
use xla_shape_core::text::ConstText;

/// Compiles only if a TPU may use the tiles of the shape for its element type; otherwise the error names the tiles that it uses. The rule:
/// [`unused_tiles`].
///
/// As a constant, it is checked in `cargo check`; in a function, in `cargo build`.
///
/// ```
/// use xla_shape::shape;
/// use xla_shape::tpu::assert_tiles;
///
/// const _: () = assert_tiles::<shape!(s8[64,256]{1,0:T(8,128)(4,1)})>();
/// ```
///
/// ```compile_fail
/// # use xla_shape::shape;
/// # use xla_shape::tpu::assert_tiles;
/// const _: () = assert_tiles::<shape!(s8[64,256]{1,0:T(8,128)})>();
/// ```
///
/// # Panics
/// If no TPU uses the tiles; in a `const`, that is a compile error.
#[track_caller]
pub const fn assert_tiles<S: ArrayType>() {
    if let Some(reason) = unused_tiles(S::ELEMENT_TYPE, S::LAYOUT) {
        panic!("{}", ConstText::<1024>::new().push_str(S::TEXT).push_str(": ").push_str(reason.as_str()).as_str())
    }
}
