//! Shardings, and the shapes of shards, as types.

use super::array::Array;
use super::array_type::ArrayType;
use super::constants::{Constant, Constants};
use super::dim::{BoundedDim, Dim, Size, StaticDim};
use super::dimensions::{Dimensions, StaticDimensions};
use super::permutation::{Nth, StaticPermutation};
use super::results::DimensionAt;
use crate::sealed::{Sealed, for_each_arity};
use core::marker::PhantomData;
use xla_shape_core::Dimension;
use xla_shape_core::shard::{Devices, Iota, Reduction, Sharding, ShardingError, Subgroup, TileAssignment};
use xla_shape_core::text::ConstText;
use xla_shape_relayout::wide::wide;

/// A sharding as a type: how the elements of an array are divided among devices. [`sharding!`](crate::sharding) writes it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sharding",
    label = "expected a type made by `sharding!({{…}})`"
)]
pub trait ShardingType: 'static + Sealed {
    /// The number of pieces of each dimension: a tuple of [`Size`] and [`Uncut`], or [`Uncut`] for the whole array.
    type Pieces;
    /// Why the sharding does not say which elements each device has: its own kind, or the kind of one of its subgroups. `None` if it does say so.
    #[doc(hidden)]
    const UNDETERMINED: Option<&'static str> = None;

    /// The sharding as a value.
    ///
    /// ```
    /// use xla_shape::sharding;
    /// use xla_shape::types::ShardingType;
    ///
    /// type Plan = sharding!({devices=[2,4]<=[8]});
    /// assert_eq!(Plan::sharding().to_string(), "{devices=[2,4]<=[8]}");
    /// ```
    ///
    /// # Panics
    /// If the numbers of devices and pieces differ. They never do in a type that [`sharding!`](crate::sharding) makes.
    #[must_use]
    fn sharding() -> Sharding;
}

/// Not divided: a dimension, or the whole array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Uncut;

/// `{replicated}`: every device has the whole array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Replicated;

/// `{maximal device=…}`: this device has the whole array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Maximal<const DEVICE: i64>;

/// `{unreduced}`: each device has a part of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Unreduced;

/// `{devices=[…]…}`: each device has a piece. `Pieces` is a tuple of [`Size`] and [`Uncut`], one for each dimension. `Order` assigns the
/// pieces to devices: an [`InOrder`] or a [`Listed`]. `Groups` is a tuple of [`Group`]s. Each says what devices
/// with the same piece do with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Divided<Pieces, Order, Groups = ()>(PhantomData<(Pieces, Order, Groups)>);

/// `<=[2,4]T(1,0)`: the numbers 0, 1, … as an array of the dimensions `D`, transposed by `P`, a tuple of [`Nth`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct InOrder<D, P>(PhantomData<(D, P)>);

/// `0,2,1,3`: the numbers of the devices, a tuple of up to 12 [`Size`]. Further numbers are in `Rest`, another `Listed`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Listed<Numbers, Rest = ()>(PhantomData<(Numbers, Rest)>);

/// `COUNT` devices that have the same piece. `KIND` is what they do with it: the number of a [`Subgroup`], in the order of that type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Group<const KIND: u8, const COUNT: usize>;

impl Sealed for Uncut {}
impl Sealed for Replicated {}
impl<const DEVICE: i64> Sealed for Maximal<DEVICE> {}
impl Sealed for Unreduced {}
impl<P, O, G> Sealed for Divided<P, O, G> {}
impl<const KIND: u8, const COUNT: usize> Sealed for Group<KIND, COUNT> {}

impl ShardingType for Replicated {
    type Pieces = Uncut;

    fn sharding() -> Sharding {
        Sharding::REPLICATED
    }
}

impl<const DEVICE: i64> ShardingType for Maximal<DEVICE> {
    type Pieces = Uncut;

    fn sharding() -> Sharding {
        Sharding::maximal(DEVICE)
    }
}

impl ShardingType for Unreduced {
    type Pieces = Uncut;
    const UNDETERMINED: Option<&'static str> = Some(Subgroup::Unreduced.name());

    fn sharding() -> Sharding {
        Sharding::UNREDUCED.with_reduction(Reduction::Sum)
    }
}

impl Constant<usize> for Uncut {
    const VALUE: usize = 1;
}

/// The assignment of pieces to devices: [`InOrder`] or [`Listed`].
pub trait DeviceOrder: 'static {
    #[doc(hidden)]
    fn devices() -> Result<Devices, ShardingError>;
}

impl<D: StaticDimensions, P: StaticPermutation<D> + 'static> DeviceOrder for InOrder<D, P> {
    fn devices() -> Result<Devices, ShardingError> {
        let numbers =
            P::NUMBERS.iter().map(|&number| usize::try_from(number).unwrap_or(usize::MAX)).collect::<Vec<_>>();
        Iota::new(wide(D::SIZES), &numbers).map(Devices::Iota)
    }
}

impl<N: Constants<usize>, Rest: MoreDevices> DeviceOrder for Listed<N, Rest> {
    fn devices() -> Result<Devices, ShardingError> {
        let mut list = Vec::new();
        <Self as MoreDevices>::push(&mut list);
        Ok(Devices::List(list))
    }
}

/// The rest of a list of devices: another [`Listed`], or `()`.
pub trait MoreDevices: 'static {
    #[doc(hidden)]
    fn push(list: &mut Vec<i64>);
}

impl MoreDevices for () {
    fn push(_: &mut Vec<i64>) {}
}

impl<N: Constants<usize>, Rest: MoreDevices> MoreDevices for Listed<N, Rest> {
    fn push(list: &mut Vec<i64>) {
        list.extend(N::VALUES.iter().filter_map(|&device| i64::try_from(device).ok()));
        Rest::push(list);
    }
}

impl<const KIND: u8, const COUNT: usize> Constant<(Subgroup, usize)> for Group<KIND, COUNT> {
    const VALUE: (Subgroup, usize) = match Subgroup::from_number(KIND) {
        Some(kind) => (kind, COUNT),
        None => (Subgroup::Replicated, COUNT),
    };
}

impl<P: Constants<usize>, O: DeviceOrder, G: Constants<(Subgroup, usize)>> ShardingType for Divided<P, O, G> {
    type Pieces = P;
    const UNDETERMINED: Option<&'static str> = {
        let mut i = 0;
        while i < G::VALUES.len() && matches!(G::VALUES[i].0, Subgroup::Replicated) {
            i += 1;
        }
        if i < G::VALUES.len() { Some(G::VALUES[i].0.name()) } else { None }
    };

    fn sharding() -> Sharding {
        // XLA has one tile assignment for pieces and subgroups: the subgroups are further dimensions after the array's, as in `devices=[2,1,4]` with
        // `last_tile_dim_replicate` for 2 pieces, each on 4 devices.
        let counts = P::VALUES.iter().copied().chain(G::VALUES.iter().map(|&(_, count)| count));
        let dimensions = counts.map(|count| count as u64).collect();
        let assignment = O::devices().and_then(|devices| TileAssignment::new(dimensions, devices));
        let groups = G::VALUES.iter().map(|&(group, _)| group).collect::<Vec<_>>();
        assignment.and_then(|assignment| Sharding::tiled(assignment, &groups)).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// One of `PIECES` equal pieces of a dimension `D`. In its array, `D` is dimension `NUMBER`. A piece is a dimension itself.
///
/// Its size is the size of `D` divided by `PIECES`. Sizes that do not divide evenly do not compile; that shows in `cargo build`, not in `cargo
/// check`.
///
/// ```
/// use xla_shape::types::{ArrayType, Piece, Shard, Size, StaticDim};
/// use xla_shape::{shape, sharding};
///
/// type Rows = Piece<Size<64>, 4, 0>;
/// assert_eq!(<Rows as StaticDim>::SIZE, 16);
///
/// type Mine = Shard<shape!(f32[64,256]), sharding!({devices=[4,1]<=[4]})>;
/// fn same(dimensions: <Mine as ArrayType>::Dimensions) -> (Rows, Size<256>) { dimensions }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Piece<D, const PIECES: usize, const NUMBER: i64>(PhantomData<D>);

/// A dimension as long as `COUNT` dimensions `D` together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Times<D, const COUNT: usize>(PhantomData<D>);

impl<D, const PIECES: usize, const NUMBER: i64> Sealed for Piece<D, PIECES, NUMBER> {}
impl<D, const COUNT: usize> Sealed for Times<D, COUNT> {}

/// The size of a piece. Fails the compilation if the size does not divide evenly.
const fn piece(size: usize, pieces: usize, number: i64) -> usize {
    if pieces == 0 || !size.is_multiple_of(pieces) {
        let text = ConstText::<256>::new().push_str("expected a size of dimension ");
        let text = text.push_str(if number < 0 { "-" } else { "" }).push_number(number.unsigned_abs());
        let text = text.push_str(" that ").push_count(pieces).push_str(" divides");
        let next = if pieces == 0 { None } else { size.checked_next_multiple_of(pieces) };
        let text = match next {
            Some(next) => text.push_str(", such as ").push_count(next),
            None => text,
        };
        panic!("{}", text.push_str(", found ").push_count(size).as_str())
    }
    size / pieces
}

/// The size of `count` pieces together. Fails the compilation if it is too large.
const fn times(size: usize, count: usize) -> usize {
    match size.checked_mul(count) {
        Some(size) => size,
        None => panic!("expected a size that fits in 63 bits, found a larger one"),
    }
}

/// Implements the traits of a dimension with a computed size.
macro_rules! computed_dim {
    ([$($generics:tt)*] $dim:ty, $size:expr) => {
        impl<D: StaticDim, $($generics)*> Dim for $dim {
            const DIMENSION: Dimension = Dimension::Static(<Self as BoundedDim>::EXTENT as u64);

            #[inline(always)]
            fn size(self) -> usize {
                <Self as BoundedDim>::EXTENT
            }

            #[inline(always)]
            fn with_size(size: usize) -> Option<Self> {
                (size == <Self as BoundedDim>::EXTENT).then_some(Self(PhantomData))
            }
        }

        impl<D: StaticDim, $($generics)*> BoundedDim for $dim {
            const EXTENT: usize = $size;
        }

        impl<D: StaticDim, $($generics)*> StaticDim for $dim {}
    };
}

computed_dim!([const PIECES: usize, const NUMBER: i64] Piece<D, PIECES, NUMBER>, piece(D::SIZE, PIECES, NUMBER));
computed_dim!([const COUNT: usize] Times<D, COUNT>, times(D::SIZE, COUNT));

/// A dimension that can be divided into `Count` pieces, a [`Size`] or [`Uncut`].
#[diagnostic::on_unimplemented(
    message = "the dimension `{Self}` cannot be cut into `{Count}` pieces",
    label = "expected a dimension whose size is known at compile time"
)]
pub trait Cut<Count, const NUMBER: i64>: Dim {
    /// A piece of it.
    type Piece: Dim;
}

impl<D: Dim, const NUMBER: i64> Cut<Uncut, NUMBER> for D {
    type Piece = D;
}

impl<D: StaticDim, const PIECES: usize, const NUMBER: i64> Cut<Size<PIECES>, NUMBER> for D {
    type Piece = Piece<D, PIECES, NUMBER>;
}

/// Dimensions that can be divided into `Pieces`: the [`Pieces`](ShardingType::Pieces) of a sharding.
///
/// The bound of [`Shard`] in generic code:
///
/// ```
/// use xla_shape::types::{ArrayType, DivideBy, Shard, ShardingType, StaticArray};
/// use xla_shape::{shape, sharding};
///
/// fn text_of_shard<X: StaticArray, S: ShardingType>() -> &'static str
/// where
///     X::Dimensions: DivideBy<S::Pieces>,
/// {
///     <Shard<X, S> as ArrayType>::TEXT
/// }
/// assert_eq!(text_of_shard::<shape!(f32[64,256]), sharding!({devices=[4,2]<=[8]})>(), "f32[16,128]{1,0}");
/// ```
#[diagnostic::on_unimplemented(
    message = "a sharding into `{Pieces}` does not divide an array of the dimensions `{Self}`",
    label = "expected a sharding of as many dimensions as the array has, and static sizes where it divides them"
)]
pub trait DivideBy<Pieces>: Dimensions {
    /// The dimensions of a shard.
    type Shard: Dimensions;
}

impl<D: Dimensions> DivideBy<Uncut> for D {
    type Shard = D;
}

/// A dimension that can be assembled from all its pieces.
#[diagnostic::on_unimplemented(
    message = "the dimension `{Self}` is not a piece of one that is divided among {COUNT} devices",
    label = "expected a piece, or a size that is known at compile time"
)]
pub trait Gather<const COUNT: usize>: Dim {
    /// The whole dimension.
    type Gathered: Dim;
}

impl<D: StaticDim, const COUNT: usize, const NUMBER: i64> Gather<COUNT> for Piece<D, COUNT, NUMBER> {
    type Gathered = D;
}

impl<const N: usize, const COUNT: usize> Gather<COUNT> for Size<N> {
    type Gathered = Times<Self, COUNT>;
}

macro_rules! tuples_of_pieces {
    ($(($i:tt $T:ident $N:ident $t:ident))*) => {
        #[diagnostic::do_not_recommend]
        impl<$($T: Cut<$N, $i>, $N),*> DivideBy<($($N,)*)> for ($($T,)*) {
            type Shard = ($($T::Piece,)*);
        }
    };
}

for_each_arity!(tuples_of_pieces);

/// The shard of one device if an array of shape `X` is divided by the sharding `S`. Element type, layout and undivided dimensions are those
/// of the array.
///
/// A divided dimension is a [`Piece`], which has the right size but is a different type than [`Size`]. If all sizes are numbers,
/// [`shard!`](macro@crate::shard) writes the type that `shape!` writes; [`retype`](crate::Buffer::retype) converts between the two. A size
/// that does not divide evenly does not compile; that shows in `cargo build`, not in `cargo check`.
///
/// ```
/// use xla_shape::types::{ArrayType, Shard};
/// use xla_shape::{Buffer, View, shape, sharding};
///
/// type Whole = shape!(f32[64,256]{1,0:T(8,128)});
/// type Plan = sharding!({devices=[4,2]<=[8]});
/// type Mine = Shard<Whole, Plan>;
/// assert_eq!(Mine::TEXT, "f32[16,128]{1,0:T(8,128)}");
///
/// fn kernel(x: View<shape!(f32[16,128]{1,0:T(8,128)})>) -> f32 { x[[15, 127]] }
/// let mine = Buffer::<Mine>::filled(1.0);
/// assert_eq!(kernel(mine.view().retype()), 1.0);
/// ```
///
/// ```compile_fail
/// # use xla_shape::types::Shard;
/// # use xla_shape::{Buffer, shape, sharding};
/// Buffer::<Shard<shape!(f32[10,256]), sharding!({devices=[4,1]<=[4]})>>::zeroed(); // 4 does not divide 10
/// ```
pub type Shard<X, S> = Array<
    <X as ArrayType>::Element,
    <<X as ArrayType>::Dimensions as DivideBy<<S as ShardingType>::Pieces>>::Shard,
    <X as ArrayType>::Layout,
>;

/// The result of an all-gather of shards `X` of `COUNT` devices along dimension `N` (-1 is the last). For the pieces of a [`Shard`], it has
/// the whole dimension.
///
/// ```
/// use xla_shape::types::{AllGathered, Shard};
/// use xla_shape::{shape, sharding};
///
/// type Whole = shape!(f32[64,256]);
/// type Mine = Shard<Whole, sharding!({devices=[4,1]<=[4]})>;
/// fn same(x: AllGathered<Mine, 0, 4>) -> Whole { x }
/// ```
pub type AllGathered<X, const N: i64, const COUNT: usize> = Array<
    <X as ArrayType>::Element,
    <<X as ArrayType>::Dimensions as DimensionAt<Nth<N>>>::With<
        <<<X as ArrayType>::Dimensions as DimensionAt<Nth<N>>>::Dim as Gather<COUNT>>::Gathered,
    >,
    <X as ArrayType>::Layout,
>;

/// The result of a reduce-scatter of `X` over `COUNT` devices along dimension `N` (-1 is the last).
///
/// ```
/// use xla_shape::types::{ArrayType, ReduceScattered};
/// use xla_shape::shape;
///
/// assert_eq!(ReduceScattered::<shape!(f32[64,256]), -1, 8>::TEXT, "f32[64,32]{1,0}");
/// ```
pub type ReduceScattered<X, const N: i64, const COUNT: usize> = Array<
    <X as ArrayType>::Element,
    <<X as ArrayType>::Dimensions as DimensionAt<Nth<N>>>::With<
        Piece<<<X as ArrayType>::Dimensions as DimensionAt<Nth<N>>>::Dim, COUNT, N>,
    >,
    <X as ArrayType>::Layout,
>;

/// The result of an all-to-all of `X` among `COUNT` devices: dimension `SPLIT` is divided into pieces, which are joined along dimension
/// `JOIN`.
///
/// ```
/// use xla_shape::types::{ArrayType, Exchanged, Shard};
/// use xla_shape::{shape, sharding};
///
/// // From rows on each device to columns on each device.
/// type Rows = Shard<shape!(f32[64,256]), sharding!({devices=[4,1]<=[4]})>;
/// type Columns = Shard<shape!(f32[64,256]), sharding!({devices=[1,4]<=[4]})>;
/// fn same(x: Exchanged<Rows, 1, 0, 4>) -> Columns { x }
/// assert_eq!(Columns::TEXT, "f32[64,64]{1,0}");
/// ```
pub type Exchanged<X, const SPLIT: i64, const JOIN: i64, const COUNT: usize> =
    ReduceScattered<AllGathered<X, JOIN, COUNT>, SPLIT, COUNT>;
