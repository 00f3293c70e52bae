//! The layout that a TPU chooses, as a type that depends on the sizes.

use super::{DefaultLayout, GenerationType, default_layout};
use crate::element::Element;
use crate::sealed::Sealed;
use crate::types::{BoundedDimensions, LayoutType, Space};
use core::fmt;
use core::marker::PhantomData;
use xla_shape_core::type_limits::MAX_LIST;
use xla_shape_core::{Layout, LayoutAttributes, Tile};

/// The layout that a TPU of generation `G` gives an array of elements `E` and dimensions `D` by default.
///
/// It is for sizes that are const parameters; [`tpu_shape!`](crate::tpu_shape) writes it. A layout that is not known does not compile,
/// which shows in `cargo build`. A view can be converted to the layout written out, for free:
///
/// ```
/// use xla_shape::{Buffer, View, shape, tpu_shape};
///
/// fn rows<const M: usize>(x: View<'_, tpu_shape!(v5e, f32[M,200])>) -> f32 { x[[0, 0]] }
/// let x = Buffer::<shape!(f32[64,200]{1,0:T(8,128)})>::zeroed();
/// assert_eq!(rows::<64>(x.view().retile()), 0.0);
/// ```
pub struct TpuLayout<G, E, D>(PhantomData<(G, E, D)>);

impl<G: GenerationType, E: Element, D: BoundedDimensions> TpuLayout<G, E, D> {
    const DEFAULT: DefaultLayout = match default_layout(G::GENERATION, E::TYPE, D::DIMENSIONS) {
        Ok(layout) => layout,
        Err(error) => error.panic(),
    };
    const ORDER: &'static [usize; MAX_LIST] = &Self::DEFAULT.minor_to_major_in_const();
    const TILES: &'static ([Tile; 3], usize) = &Self::DEFAULT.tiles();
}

impl<G: GenerationType, E: Element, D: BoundedDimensions> LayoutType for TpuLayout<G, E, D> {
    type Space = Space<0>;

    const LAYOUT: &'static Layout = &Layout::from_static(
        Self::ORDER.split_at(D::DIMENSIONS.len()).0,
        Self::TILES.0.split_at(Self::TILES.1).0,
        LayoutAttributes { element_size_in_bits: Self::DEFAULT.element_size_in_bits(), ..LayoutAttributes::DEFAULT },
    );
}

impl<G, E, D> Sealed for TpuLayout<G, E, D> {}

impl<G, E, D> Clone for TpuLayout<G, E, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G, E, D> Copy for TpuLayout<G, E, D> {}

impl<G, E, D> Default for TpuLayout<G, E, D> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<G, E, D> fmt::Debug for TpuLayout<G, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TpuLayout")
    }
}
