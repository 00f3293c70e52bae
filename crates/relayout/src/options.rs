//! The options of a relayout.

use super::loops::identity;
use super::vector::Vectors;
use crate::caches::Caches;
use std::borrow::Cow;

/// What to write into the destination's padding: positions that hold no element.
///
/// The prefix for the sizes of bounded dimensions is not padding; it is never written.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_relayout::{Options, Padding, Plan};
///
/// let [from, to]: [ArrayShape; 2] = ["s16[1]".parse()?, "s16[1]{0:T(2)}".parse()?];
/// let written = |padding| {
///     let mut destination = [0xff; 4];
///     Plan::new(&from, &to, &Options::new().padding(padding))?.run(&[1, 0], &mut destination)?;
///     Ok::<_, xla_shape_relayout::RelayoutError>(destination)
/// };
/// assert_eq!(written(Padding::Keep)?, [1, 0, 0xff, 0xff]);
/// assert_eq!(written(Padding::Zero)?, [1, 0, 0, 0]);
/// assert_eq!(written(Padding::Fill(vec![7, 0]))?, [1, 0, 7, 0], "one s16, little-endian");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Padding {
    /// Leave it as it is.
    #[default]
    Keep,
    /// Set it to 0.
    Zero,
    /// Set every position of it to this element, given as the bytes of one element, little-endian. A packed element is given as the low
    /// bits of one byte. The unused bits of the last byte after packed elements are set to 0.
    Fill(Vec<u8>),
}

/// Which store instructions write the destination.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_relayout::{Options, Plan, Stores};
///
/// let [from, to]: [ArrayShape; 2] = ["f32[1000,1000]{1,0}".parse()?, "f32[1000,1000]{0,1}".parse()?];
/// // The result is read at once and should stay in the caches.
/// let plan = Plan::new(&from, &to, &Options::new().stores(Stores::Regular))?;
/// assert!(!plan.to_string().contains("non-temporal"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Stores {
    /// Non-temporal stores where they are faster, otherwise ordinary ones. They are faster if source and destination together take at
    /// least one and a half times the L2 cache or, where the last-level cache belongs to a few cores (AMD), three eighths of it. Transposes whose
    /// columns begin within cache lines need a staging buffer for non-temporal stores; they use both only from a tenth of the last-level cache on.
    /// Transposes of elements of 16 bytes use non-temporal stores from the size of the L2 cache on, but not on AMD.
    #[default]
    Auto,
    /// Non-temporal stores, where the machine has them and whole cache lines are written: the destination begins at a multiple of 64 bytes,
    /// as an [`AlignedBytes`](crate::AlignedBytes) does. Best if the destination is not read soon. Loops run in the order that suits arrays
    /// larger than the caches.
    Streaming,
    /// Ordinary stores. Loops run in the order that suits arrays that fit in the caches.
    Regular,
}

/// Options of a relayout: what to write into padding, whether to transpose, and which instructions to use.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_relayout::{Options, Plan};
///
/// let from: ArrayShape = "u8[2,3]".parse()?;
/// let to: ArrayShape = "u8[3,2]{1,0:T(4)}".parse()?;
/// let plan = Plan::new(&from, &to, &Options::new().transposed(&[1, 0]).zero_padding())?;
/// let mut destination = [0xff; 12];
/// plan.run(&[1, 2, 3, 4, 5, 6], &mut destination)?;
/// assert_eq!(destination, [1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    pub(super) padding: Padding,
    permutation: Option<Vec<usize>>,
    pub(super) stores: Stores,
    pub(super) vectors: Vectors,
    pub(super) caches: Option<Caches>,
}

impl Options {
    /// The default: padding is not written, dimensions keep their order, and the fastest instructions are used.
    ///
    /// ```
    /// use xla_shape_relayout::{Options, Padding};
    ///
    /// assert_eq!(Options::new(), Options::new().padding(Padding::Keep));
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what to write into the destination's padding.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Padding, Plan};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[3]".parse()?, "u8[3]{0:T(4)}".parse()?];
    /// let plan = Plan::new(&from, &to, &Options::new().padding(Padding::Fill(vec![9])))?;
    /// let mut destination = [0; 4];
    /// plan.run(&[1, 2, 3], &mut destination)?;
    /// assert_eq!(destination, [1, 2, 3, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn padding(self, padding: Padding) -> Self {
        Self { padding, ..self }
    }

    /// Sets the destination's padding to 0: [`Padding::Zero`].
    ///
    /// ```
    /// use xla_shape_relayout::{Options, Padding};
    ///
    /// assert_eq!(Options::new().zero_padding(), Options::new().padding(Padding::Zero));
    /// ```
    #[must_use]
    pub fn zero_padding(self) -> Self {
        self.padding(Padding::Zero)
    }

    /// Sets which store instructions write the destination.
    ///
    /// ```
    /// use xla_shape_relayout::{Options, Stores};
    ///
    /// // The result is read at once, and should stay in the caches.
    /// let options = Options::new().stores(Stores::Regular);
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn stores(self, stores: Stores) -> Self {
        Self { stores, ..self }
    }

    /// Sets the caches for which a plan is made: [`Stores::Auto`] and the choice of kernels depend on them. By default, those of this machine
    /// ([`Caches::get`]).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Caches, Options, Plan};
    ///
    /// let shape: ArrayShape = "f32[1000,1000]".parse()?;
    /// let small = Caches { l2: 256 << 10, last_level: 2 << 20, last_level_is_local: true };
    /// let plan = Plan::new(&shape, &shape, &Options::new().caches(small))?;
    /// if cfg!(target_arch = "x86_64") {
    ///     assert!(plan.to_string().contains("non-temporal stores"));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn caches(self, caches: Caches) -> Self {
        Self { caches: Some(caches), ..self }
    }

    /// Limits the vectors, to compare them or to test what other machines run. Vectors that this machine does not have are never used. A
    /// relayout treats [`Vectors::Avx512Bw`] as AVX2.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan, Vectors};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["f32[64,64]{1,0}".parse()?, "f32[64,64]{0,1}".parse()?];
    /// let plan = Plan::new(&from, &to, &Options::new().vectors(Vectors::None))?;
    /// assert!(plan.to_string().contains("without vectors"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn vectors(self, vectors: Vectors) -> Self {
        Self { vectors, ..self }
    }

    /// Transposes: dimension `i` of the destination is dimension `permutation[i]` of the source, as in XLA's `transpose(…), dimensions={…}`
    /// ([operation semantics, Transpose](https://openxla.org/xla/operation_semantics#transpose)).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[2,3]".parse()?, "u8[3,2]".parse()?];
    /// let mut destination = [0; 6];
    /// Plan::new(&from, &to, &Options::new().transposed(&[1, 0]))?.run(&[1, 2, 3, 4, 5, 6], &mut destination)?;
    /// assert_eq!(destination, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn transposed(self, permutation: &[usize]) -> Self {
        Self { permutation: Some(permutation.to_vec()), ..self }
    }

    /// For each dimension of the destination, which dimension of the source it is. The identity if no transpose was asked for.
    pub(super) fn to_dimension(&self, num_dimensions: usize) -> Cow<'_, [usize]> {
        self.permutation.as_deref().map_or_else(|| identity(num_dimensions), Cow::Borrowed)
    }
}
