//! Shapes as types: what [`shape!`](crate::shape) expands to, and what generic code is written over.
//!
//! An array shape is [`Array`]`<Element, Dimensions, Layout>`, each a tuple of small types without size:
//!
//! ```
//! use xla_shape::{element, shape};
//! use xla_shape::types::{Array, Minor, Layout, Size, Tile};
//!
//! type Written = shape!(f32[16,256]{1,0:T(8,128)});
//! type Meant = Array<
//!     element::F32,
//!     (Size<16>, Size<256>),
//!     Layout<(Minor<1>, Minor<0>), (Tile<(Size<8>, Size<128>)>,)>,
//! >;
//! fn same(x: Written) -> Meant { x }
//! ```

mod array;
mod array_type;
mod constants;
mod dim;
mod dimensions;
mod index;
mod layout;
mod permutation;
mod results;
mod shape_type;
mod shards;
mod sizes;
mod tuples;
mod unroll;

pub use array::Array;
pub(crate) use array_type::takes;
pub use array_type::{ArrayType, StaticArray, ValueOf, WholeArray};
pub use dim::{Bounded, BoundedDim, Dim, Named, Size, StaticDim, Unbounded};
pub use dimensions::{BoundedDimensions, Dimensions, MultiIndex, SameRank, StaticDimensions};
pub(crate) use dimensions::{IndexOf, common_index, own_index, same_index, sizes_of};
pub use index::{Indices, StaticIndex};
pub(crate) use index::{advance, count, step};
pub use layout::{Layout, LayoutParts, LayoutType, Minor, Space, Tile};
pub use permutation::{Nth, StaticPermutation};
pub(crate) use permutation::{resolve, resolve_or_first, resolved};
pub use results::{
    Broadcast, Concatenated, DimensionAt, InSpace, Insert, Join, MatrixTimes, Multiply, Permute, Product, Reduced,
    Transposed, WithDimension, WithElement, WithLayout,
};
pub use shape_type::{BufferOf, Opaque, ShapeType, Token};
pub use shards::{AllGathered, DivideBy, Exchanged, Piece, ReduceScattered, Shard, ShardingType};
pub use sizes::SizesError;
pub(crate) use unroll::position_at;

// Hidden: what the macros write, and bounds of the types above. Users do not need their names.
#[doc(hidden)]
pub use array_type::Itself;
#[doc(hidden)]
pub use constants::{Constant, Constants};
#[doc(hidden)]
pub use dim::Combine;
#[doc(hidden)]
pub use index::At;
#[doc(hidden)]
pub use layout::{Attributes, Order, Rest, SpaceType, Split};
#[doc(hidden)]
#[doc(hidden)]
pub use shards::{
    Cut, DeviceOrder, Divided, Gather, Group, InOrder, Listed, Maximal, MoreDevices, Replicated, Times, Uncut,
    Unreduced,
};

#[cfg(test)]
mod tests {
    use crate::shape;
    use crate::types::{Array, Layout, Minor};
    use static_assertions::{assert_eq_size, assert_impl_all, assert_type_eq_all, assert_type_ne_all};

    assert_eq_size!(shape!(f32[8,128]), ());
    assert_eq_size!(shape!(s4[1000,7,3]{0,2,1:T(8,128)(8,1)L(64)E(4)S(5)SC(0:1,2)M(16)}), ());
    assert_impl_all!(shape!(bf16[8,128]{1,0:T(8,128)(2,1)}): Copy, Default, core::fmt::Debug, Eq, Send, Sync);
    assert_type_eq_all!(
        shape!(f32[8,128]),
        shape!(f32[8,128]{1,0}),
        shape!(f32[8, 128]<1, 0>),
        shape!(f32[8,128]{1,0:})
    );
    assert_type_eq_all!(shape!(s4[2]{0:L(1)E(0)S(0)M(0)}), shape!(s4[2]));
    assert_type_ne_all!(shape!(f32[8,128]), shape!(f32[8,128]{0,1}), shape!(f32[8,128]{1,0:S(1)}));

    #[test]
    fn typenum_numbers_are_sizes_too() {
        type Doubled = typenum::Prod<typenum::U8, typenum::U2>;
        type X = Array<crate::element::F32, (Doubled, typenum::U0), Layout<(Minor<1>, Minor<0>)>>;
        assert_eq!(X::TEXT, "f32[16,0]{1,0}");
        assert_eq!((X::ELEMENTS, X::BYTES, X::NUM_DIMENSIONS, X::TRUE_NUM_DIMENSIONS), (0, 0, 2, 1));
    }
}
