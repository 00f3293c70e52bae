//! TPUs: their generations, the layouts that they choose, and what fits into their memories.
//!
//! The rules for values are in the core. Here are:
//!
//! - generations as types, such as [`V5e`];
//! - [`TpuLayout`]: the layout that a generation chooses for sizes that are const parameters; [`tpu_shape!`](crate::tpu_shape) uses it;
//! - [`assert_fits`]: a check that the blocks of a kernel fit into VMEM;
//! - [`assert_tiles`]: a check that a TPU uses the tiles of a shape.

mod fits;
mod layout;
mod tiles;

// Hidden: a bound of `Contents`.
#[doc(hidden)]
pub use fits::VmemPart;
pub use fits::{BlockSpec, Contents, Memory, Vmem, assert_fits};
pub use layout::TpuLayout;
pub use tiles::assert_tiles;
pub use xla_shape_core::tpu::{
    Block, BlockError, DOUBLE_BUFFERED, DefaultLayout, DefaultLayoutError, Generation, InMemory, KernelVmem, Merge,
    Speed, UnknownGeneration, default_layout, kernel_bytes, layouts, row_major_layout, unused_tiles, vector,
    vmem_bytes,
};

use crate::sealed::Sealed;
use core::fmt::Debug;

/// A [`Generation`], as a type.
///
/// ```
/// use xla_shape::tpu::{GenerationType, V5e, V7x};
///
/// /// The default limit of a kernel's VMEM, in bytes.
/// fn vmem<G: GenerationType>() -> Option<u64> {
///     Some(G::GENERATION.kernel_vmem()?.limit(None))
/// }
///
/// assert_eq!(vmem::<V5e>(), Some(16 << 20));
/// assert!(vmem::<V7x>().is_some());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a generation of TPUs",
    label = "expected a generation in `xla_shape::tpu`, such as `V5e`"
)]
pub trait GenerationType: Copy + Debug + Default + 'static + Sealed {
    /// The generation.
    const GENERATION: Generation;
}

macro_rules! generations {
    ($($name:ident $description:literal $cells:tt)*) => { $(
        #[doc = concat!("[`Generation::", stringify!($name), "`], as a type.")]
        ///
        /// ```
        #[doc = concat!("use xla_shape::tpu::{Generation, GenerationType, ", stringify!($name), "};")]
        ///
        #[doc = concat!("assert_eq!(", stringify!($name), "::GENERATION, Generation::", stringify!($name), ");")]
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name;

        impl Sealed for $name {}

        impl GenerationType for $name {
            const GENERATION: Generation = Generation::$name;
        }
    )* };
}

xla_shape_core::targets!(generations);
