//! Layouts, as types.

use super::constants::{Constant, Constants};
use crate::sealed::Sealed;
use core::fmt::Debug;
use core::marker::PhantomData;
use xla_shape_core as model;
use xla_shape_relayout::wide::wide;

/// The number of a dimension in `minor_to_major`.
///
/// ```
/// use xla_shape::types::{Layout, LayoutType, Minor};
///
/// type Columns = Layout<(Minor<0>, Minor<1>)>; // layout!({0,1})
/// assert_eq!(Columns::LAYOUT.minor_to_major(), [0, 1]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Minor<const N: usize>;

/// The number of a memory space; 0 is the default memory.
///
/// ```
/// use xla_shape::types::{Layout, LayoutType, Minor, Space};
///
/// type InVmem = Layout<(Minor<0>,), (), Space<1>>; // layout!({0:S(1)})
/// assert_eq!(InVmem::LAYOUT.memory_space(), 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Space<const N: u8>;

/// One tile; `Entries` is a tuple of [`Size`](super::Size) and [`Combine`](super::Combine).
///
/// ```
/// use xla_shape::types::{Layout, LayoutType, Minor, Size, Tile};
///
/// type Tiled = Layout<(Minor<1>, Minor<0>), (Tile<(Size<8>, Size<128>)>,)>; // layout!({1,0:T(8,128)})
/// assert_eq!(Tiled::LAYOUT.to_string(), "{1,0:T(8,128)}");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tile<Entries>(PhantomData<Entries>);

/// One split: the physical dimension, and a tuple of [`Size`](super::Size) with the indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Split<const DIMENSION: usize, Indices>(PhantomData<Indices>);

macro_rules! attributes {
    ($($variant:ident $symbol:literal $field:ident $type:ident $default:literal ($tag:literal) $with:ident $ignore:ident
        [$($parameter:ident)?] $doc:literal $cells:tt)*) => {
        /// The attributes of a layout that are rarely used, with their defaults.
        ///
        /// `Splits` is a tuple of [`Split`]. The others are numbers:
        ///
        $($(#[doc = concat!("- `", stringify!($parameter), "`: ", $doc)])?)*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct Attributes<$($(const $parameter: usize = $default,)?)* Splits = ()>(PhantomData<Splits>);

        impl<$($(const $parameter: usize,)?)* Splits> Sealed for Attributes<$($($parameter,)?)* Splits> {}

        impl<$($(const $parameter: usize,)?)* Splits: Constants<model::SplitConfig>> Rest
            for Attributes<$($($parameter,)?)* Splits>
        {
            const ATTRIBUTES: model::LayoutAttributes<'static> = model::LayoutAttributes {
                $($($field: $parameter as u64,)?)*
                split_configs: Splits::VALUES,
                ..model::LayoutAttributes::DEFAULT
            };
        }
    };
}

xla_shape_core::layout_numbers!(attributes);

/// A layout: `Order` is a tuple of [`Minor`] (minor to major), `Tiles` a tuple of [`Tile`], `InSpace` a [`Space`], `Rest` an
/// [`Attributes`].
///
/// ```
/// use xla_shape::layout;
/// use xla_shape::types::{Layout, Minor};
///
/// /// Only row-major matrices.
/// fn is_accepted(_: Layout<(Minor<1>, Minor<0>)>) -> bool {
///     true
/// }
/// assert!(is_accepted(<layout!({1,0})>::default()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Layout<Order, Tiles = (), InSpace = Space<0>, Rest = Attributes>(PhantomData<(Order, Tiles, InSpace, Rest)>);

impl<const N: usize> Sealed for Minor<N> {}
impl<const N: u8> Sealed for Space<N> {}
impl<Entries> Sealed for Tile<Entries> {}
impl<const DIMENSION: usize, Indices> Sealed for Split<DIMENSION, Indices> {}
impl<O, T, S, R> Sealed for Layout<O, T, S, R> {}

/// The order of an array's dimensions: a tuple of [`Minor`], the fastest varying dimension first.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an order of dimensions",
    label = "expected a tuple of up to 12 `Minor<N>`"
)]
pub trait Order: Copy + Debug + Default + 'static + Sealed {
    /// The dimension numbers.
    const MINOR_TO_MAJOR: &'static [usize];
}

impl<Entries: Constants<model::TileDimension>> Constant<model::Tile> for Tile<Entries> {
    const VALUE: model::Tile = model::Tile::from_static(Entries::VALUES);
}

impl<const DIMENSION: usize, Indices: Constants<usize>> Constant<model::SplitConfig> for Split<DIMENSION, Indices> {
    const VALUE: model::SplitConfig = model::SplitConfig::from_static(DIMENSION, wide(Indices::VALUES));
}

/// A memory space, as a type: [`Space`].
#[diagnostic::on_unimplemented(message = "`{Self}` is not a memory space", label = "expected `Space<N>`")]
pub trait SpaceType: Copy + Debug + Default + 'static + Sealed {
    /// The number of the memory space.
    const MEMORY_SPACE: u8;
}

impl<const N: u8> SpaceType for Space<N> {
    const MEMORY_SPACE: u8 = N;
}

/// The attributes of a layout that are rarely used, as a type: [`Attributes`].
pub trait Rest: Copy + Debug + Default + 'static + Sealed {
    /// The attributes; their memory space is ignored in favour of [`SpaceType`].
    const ATTRIBUTES: model::LayoutAttributes<'static>;
}

/// A layout, as a type: [`Layout`].
///
/// ```
/// use xla_shape::layout;
/// use xla_shape::types::LayoutType;
///
/// fn tiles<L: LayoutType>() -> usize {
///     L::LAYOUT.tiles().len()
/// }
/// assert_eq!((tiles::<layout!({1,0})>(), tiles::<layout!({1,0:T(8,128)(2,1)})>()), (0, 2));
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a layout", label = "expected `Layout<Order, Tiles, …>`")]
pub trait LayoutType: Copy + Debug + Default + 'static + Sealed {
    /// The memory space.
    type Space: SpaceType;

    /// The layout. Evaluating it checks that it is valid.
    const LAYOUT: &'static model::Layout;
}

impl<O: Order, T: Constants<model::Tile>, S: SpaceType, R: Rest> LayoutType for Layout<O, T, S, R> {
    type Space = S;

    const LAYOUT: &'static model::Layout = &model::Layout::from_static(
        O::MINOR_TO_MAJOR,
        T::VALUES,
        model::LayoutAttributes { memory_space: S::MEMORY_SPACE, ..R::ATTRIBUTES },
    );
}

/// A layout whose parts are types: [`Layout`].
///
/// ```
/// use xla_shape::layout;
/// use xla_shape::types::{LayoutParts, LayoutType, Space};
///
/// /// The layout in VMEM, as text.
/// fn in_vmem<L: LayoutParts>() -> String {
///     <L::In<Space<1>> as LayoutType>::LAYOUT.to_string()
/// }
/// assert_eq!(in_vmem::<layout!({1,0:T(8,128)})>(), "{1,0:T(8,128)S(1)}");
/// ```
#[diagnostic::on_unimplemented(
    message = "the parts of the layout `{Self}` are not types",
    label = "expected `Layout<Order, Tiles, …>`"
)]
pub trait LayoutParts: LayoutType {
    /// The order of the dimensions.
    type Order: Order;
    /// The tiles.
    type Tiles: Constants<model::Tile>;
    /// The attributes that are rarely used.
    type Rest: Rest;
    /// The same layout in another memory space.
    type In<S: SpaceType>: LayoutParts;
}

impl<O: Order, T: Constants<model::Tile>, S: SpaceType, R: Rest> LayoutParts for Layout<O, T, S, R> {
    type Order = O;
    type Tiles = T;
    type Rest = R;
    type In<Other: SpaceType> = Layout<O, T, Other, R>;
}
