//! Relayout between buffers and views, with shapes as types or at run time.

use crate::ElementType;
use crate::Layout;
use crate::buffer::{AlignedBytes, Buffer, Bytes, BytesMut, DynShape, SPLIT};
use crate::element::{Element, Stored};
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, StaticArray};
use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{PoisonError, RwLock};
use xla_shape_core::map::same_sizes;
use xla_shape_core::text::ConstText;
use xla_shape_relayout::wide::{byte_count, wide};
use xla_shape_relayout::{Options, Plan, RelayoutError, Side, widths_match};

/// A prepared relayout between arrays whose shapes are types. The compiler checks what [`Plan::new`] checks.
///
/// ```
/// use xla_shape::relayout::StaticPlan;
/// use xla_shape::{Buffer, shape};
///
/// type Plain = shape!(bf16[100,200]);
/// type Tiled = shape!(bf16[100,200]{1,0:T(8,128)(2,1)});
///
/// let plan = StaticPlan::<Plain, Tiled>::new();
/// let (x, mut y) = (Buffer::<Plain>::zeroed(), Buffer::<Tiled>::zeroed());
/// plan.run(&x, &mut y);
/// ```
///
/// Arrays of different element types or sizes do not compile; that shows in `cargo build`, not in `cargo check`:
///
/// ```compile_fail
/// # use xla_shape::relayout::StaticPlan;
/// # use xla_shape::shape;
/// StaticPlan::<shape!(f32[2,3]), shape!(f32[3,2])>::new();
/// ```
pub struct StaticPlan<S, T> {
    plan: Plan,
    shapes: PhantomData<fn(S) -> T>,
}

impl<S: StaticArray<Element: Stored>, T: StaticArray<Element: Stored>> StaticPlan<S, T> {
    /// Prepares to copy arrays of shape `S` into arrays of shape `T`; padding stays as it is.
    ///
    /// ```
    /// use xla_shape::relayout::StaticPlan;
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Columns = shape!(u8[2,3]{0,1});
    /// let x = Buffer::<shape!(u8[2,3])>::from_fn(|[i, j]| (10 * i + j) as u8);
    /// let mut columns = Buffer::<Columns>::zeroed();
    /// StaticPlan::<_, Columns>::new().run(&x, &mut columns);
    /// assert_eq!(columns.as_slice(), [0, 10, 1, 11, 2, 12]);
    /// ```
    ///
    /// # Panics
    /// Never: arrays of different element types or sizes do not compile.
    #[must_use]
    pub fn new() -> Self {
        named_in_errors!(Self);
        const { assert_together::<S, T>() }
        let plan = Plan::new(S::SHAPE, T::SHAPE, &Options::new());
        Self { plan: plan.expect("the compiler has checked that the arrays go together"), shapes: PhantomData }
    }

    /// The plan for these two types that the whole program shares. It is made at the first call, and kept.
    ///
    /// The compiler checks the types, and their sizes and stride tables are constants. The plan itself is not a constant: the number of its
    /// regions and loops depends on both types, and a `const` cannot hold a list that grows. A call takes about 14 ns; making a plan takes 1 to 3 µs.
    ///
    /// ```
    /// use xla_shape::relayout::StaticPlan;
    /// use xla_shape::shape;
    ///
    /// type Turn = StaticPlan<shape!(u8[4,6]), shape!(u8[4,6]{0,1})>;
    /// assert!(std::ptr::eq(Turn::shared(), Turn::shared()));
    /// ```
    ///
    /// # Panics
    /// Never: arrays of different element types or sizes do not compile.
    #[must_use]
    pub fn shared() -> &'static Self {
        let plans = PLANS.read().unwrap_or_else(PoisonError::into_inner);
        let found = plans.get(&TypeId::of::<Self>()).copied();
        drop(plans);
        let plan = found.unwrap_or_else(|| {
            let mut plans = PLANS.write().unwrap_or_else(PoisonError::into_inner);
            // One plan for each pair of types that the program uses. It lives until the program ends.
            *plans.entry(TypeId::of::<Self>()).or_insert_with(|| Box::leak(Box::new(Self::new())))
        });
        plan.downcast_ref().expect("each plan is kept under its own type")
    }

    /// Copies `source` into `destination`. See [`new`](Self::new) for an example.
    ///
    /// # Panics
    /// Never: buffers have the sizes of their shapes.
    pub fn run<B: Bytes, C: BytesMut>(&self, source: &Buffer<S, B>, destination: &mut Buffer<T, C>) {
        let done = self.plan.run(source.view().as_bytes(), destination.as_bytes_mut());
        done.expect("buffers have the sizes of their shapes");
    }

    /// The plan, which copies bytes.
    ///
    /// ```
    /// use xla_shape::relayout::StaticPlan;
    /// use xla_shape::shape;
    ///
    /// let plan = StaticPlan::<shape!(u8[2,3]), shape!(u8[2,3]{0,1})>::new();
    /// assert_eq!(plan.plan().to().to_string(), "u8[2,3]{0,1}");
    /// ```
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }
}

impl<S: StaticArray<Element: Stored>, T: StaticArray<Element: Stored>> Default for StaticPlan<S, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S, T> fmt::Debug for StaticPlan<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}

/// The plans that [`StaticPlan::shared`] has made.
static PLANS: RwLock<BTreeMap<TypeId, &'static (dyn Any + Send + Sync)>> = RwLock::new(BTreeMap::new());

/// Fails the compilation if there is no relayout between the arrays.
#[track_caller]
const fn assert_together<S: StaticArray, T: StaticArray>() {
    let (source, destination) = (<S::Element as Element>::TYPE, <T::Element as Element>::TYPE);
    let widths_match = widths_match(source, S::SHAPE.element_bits(), T::SHAPE.element_bits());
    if !ElementType::same(source, destination) || !widths_match || !same_sizes(wide(S::SIZES), wide(T::SIZES)) {
        let problem = ConstText::<1024>::new()
            .push_str("expected arrays of the same elements and sizes, found ")
            .push_str(S::TEXT)
            .push_str(" and ")
            .push_str(T::TEXT);
        panic!("{}", problem.as_str())
    }
    assert_not_split::<S>();
    assert_not_split::<T>();
}

/// Fails the compilation if the array lies in several memories.
#[track_caller]
const fn assert_not_split<S: StaticArray>() {
    if !S::SHAPE.layout().split_configs().is_empty() {
        let problem = ConstText::<1024>::new().push_str(SPLIT).push_str(": ").push_str(S::TEXT);
        panic!("{}", problem.as_str())
    }
}

impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// A copy of the array in another layout; padding is 0. The plan is [`StaticPlan::shared`].
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[2,3])>::from_row_major(&[1, 2, 3, 4, 5, 6])?;
    /// let y = x.relayout::<shape!(s32[2,3]{0,1})>();
    /// assert_eq!(y.as_slice(), [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    #[must_use]
    pub fn relayout<T: StaticArray<Element: Stored>>(&self) -> Buffer<T>
    where
        S: StaticArray,
    {
        named_in_errors!(Self);
        // Evaluated here as well as in the plan, so that the error names the caller.
        const { assert_together::<S, T>() };
        let mut destination = Buffer::<T>::zeroed();
        StaticPlan::shared().run(self, &mut destination);
        destination
    }

    /// Copies the array into one of another layout; padding stays as it is. The plan is [`StaticPlan::shared`].
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[2,3])>::from_row_major(&[1, 2, 3, 4, 5, 6])?;
    /// let mut y = Buffer::<shape!(s32[2,3]{1,0:T(2,4)})>::filled(0);
    /// y.fill_padding(-1);
    /// x.relayout_into(&mut y);
    /// assert_eq!(y.as_slice(), [1, 2, 3, -1, 4, 5, 6, -1]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    pub fn relayout_into<T: StaticArray<Element: Stored>, C: BytesMut>(&self, destination: &mut Buffer<T, C>)
    where
        S: StaticArray,
    {
        named_in_errors!(Self);
        const { assert_together::<S, T>() };
        StaticPlan::shared().run(self, destination);
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// A copy of the array in another layout; padding is 0.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::from_row_major_with::<S32>("s32[2,3]".parse()?, &[1, 2, 3, 4, 5, 6])?;
    /// let y = x.relayout("{0,1}".parse()?)?;
    /// assert_eq!(y.as_slice::<S32>()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the layout does not fit the array, there is not enough memory, or the copy is not possible, as [`Plan::new`] says.
    ///
    /// # Panics
    /// Never: a plan's destination is an array in one memory.
    pub fn relayout(&self, layout: Layout) -> Result<Buffer<DynShape>, RelayoutError> {
        let to = self.shape().clone().with_layout(layout)?;
        let plan = Plan::new(self.shape(), &to, &Options::new())?;
        let bytes = byte_count(&to).ok_or(RelayoutError::TooLarge { side: Side::Destination })?;
        let mut bytes = AlignedBytes::zeroed(bytes)?;
        plan.run(self.view().as_bytes(), bytes.as_mut())?;
        // The elements of `to` are as wide as this array's, take a byte each, or are packed with all of their bits: a buffer can hold them.
        Ok(Buffer::<DynShape>::from_parts(to, bytes).expect("what a plan writes is an array in one memory"))
    }

    /// Copies the array into one of another layout; padding stays as it is. To copy several arrays, keep a [`Plan`].
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::from_row_major_with::<S32>("s32[2,3]".parse()?, &[1, 2, 3, 4, 5, 6])?;
    /// let mut y = DynBuffer::zeroed_with("s32[2,3]{0,1}".parse()?)?;
    /// x.relayout_into(&mut y)?;
    /// assert_eq!(y.as_slice::<S32>()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If [`Plan::new`] refuses the two arrays.
    pub fn relayout_into<C: BytesMut>(&self, destination: &mut Buffer<DynShape, C>) -> Result<(), RelayoutError> {
        let plan = Plan::new(self.shape(), destination.shape(), &Options::new())?;
        plan.run(self.view().as_bytes(), destination.as_bytes_mut())
    }
}
