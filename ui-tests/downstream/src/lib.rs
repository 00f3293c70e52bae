//! A library that knows xla-shape by another name.

pub use other::{Buffer, hlo_types, index, shape};

/// A shape of its own.
pub type Tile = other::shape!(bf16[8,128]{1,0:T(8,128)(2,1)});

/// A matrix of these sizes, in tiles.
#[macro_export]
macro_rules! tiled {
    ($rows:literal, $columns:literal) => {
        $crate::shape!(bf16[$rows, $columns]{1,0:T(8,128)(2,1)})
    };
}

/// A shape from its three parts.
#[macro_export]
macro_rules! shape_of_parts {
    ($element:ident, $dimensions:tt, $layout:tt) => {
        $crate::shape!($element $dimensions $layout)
    };
}

/// The first element of a matrix.
#[macro_export]
macro_rules! first {
    ($matrix:expr) => {
        $matrix.at($crate::index![0, 0])
    };
}

/// The shapes of an HLO module and of an instruction.
#[macro_export]
macro_rules! program {
    ($module:ident, $path:literal, $name:ident = $instruction:literal, $operands:tt) => {
        $crate::hlo_types! {
            pub(crate) mod $module = $path {
                type $name = $instruction $operands;
            }
        }
    };
}

other_ffi::kernel! {
    /// A kernel of a library that knows both crates by other names.
    pub fn copy(x: other::View<'_, Tile>, mut y: other::ViewMut<'_, other::shape!(bf16[8,128])>) {
        y.fill_with(|index| x[index]);
    }
}

other_ffi::export![copy];
