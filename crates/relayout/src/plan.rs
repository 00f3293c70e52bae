//! A relayout that was checked, prepared, and can run.

use super::choice::Target;
use super::elements::{ElementByElement, Widths};
use super::error::{RelayoutError, Side};
use super::fill::{Fill, fill_region};
use super::grouped::Grouped;
#[cfg(feature = "threads")]
use super::helpers::{Caller, Helpers};
use super::kernels::{BoundedStep, Instructions};
use super::loops::{Axis, Region};
use super::memory::AlignedBytes;
use super::options::{Options, Padding};
use super::phases::Phases;
use super::pulse::Pulse;
use super::recent::Recent;
use super::regions::Regions;
use super::schedule::Scheduler;
use super::tuning::MAX_CACHED_TABLE_BYTES;
use crate::wide::local;
use smallvec::smallvec;
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use xla_shape_core::{ArrayShape, Sizes, StrideTable, check_permutation};

/// A prepared relayout: made once for two shapes, run on any number of buffers, from any number of threads.
///
/// [`Display`](fmt::Display) lists its steps: kernels and the loops around them.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_relayout::{Options, Plan};
///
/// let from: ArrayShape = "f32[4096,4096]{1,0}".parse()?;
/// let to: ArrayShape = "f32[4096,4096]{1,0:T(8,128)}".parse()?;
/// let plan = Plan::new(&from, &to, &Options::new())?;
/// println!("{plan}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each thread keeps the last few plans that it made, so that making one again for each array costs little.
#[derive(Clone, Debug)]
pub struct Plan(Arc<Prepared>);

/// The contents of a plan.
#[derive(Debug)]
struct Prepared {
    from: ArrayShape,
    to: ArrayShape,
    from_bytes: usize,
    to_bytes: usize,
    /// The bytes of both arrays before their elements, for the sizes of bounded dimensions.
    prefixes: (usize, usize),
    widths: Widths,
    fill: Option<Fill>,
    method: Method,
    /// The bytes of the whole arrays.
    instructions: Instructions,
}

#[derive(Clone, Debug)]
enum Method {
    Steps(Vec<BoundedStep>),
    Grouped(Grouped),
    Phases(Phases),
    Elements(Box<ElementByElement>),
}

impl Method {
    /// The bytes of tables that grow with the array.
    fn table_bytes(&self) -> usize {
        match self {
            Self::Steps(_) | Self::Elements(_) => 0,
            Self::Grouped(grouped) => grouped.table_bytes(),
            Self::Phases(phases) => phases.table_bytes(),
        }
    }
}

thread_local! {
    /// The plans that the thread made last, so that a caller who makes the same plan for each array gets it again.
    static RECENT: RefCell<Recent<(Options, Plan)>> = const { RefCell::new(Recent::new()) };
}

/// The plan for the same arguments, if the thread still keeps it.
fn recent(from: &ArrayShape, to: &ArrayShape, options: &Options) -> Option<Plan> {
    let same = |(own, plan): &&(Options, Plan)| plan.from() == from && plan.to() == to && own == options;
    let find = |recent: &RefCell<Recent<_>>| recent.borrow().find(same).map(|(_, plan)| plan.clone());
    // While a thread ends, its plans are no longer accessible.
    RECENT.try_with(find).ok()?
}

impl Plan {
    /// Prepares to copy arrays of shape `from` into arrays of shape `to`.
    ///
    /// Both have the same element type and, after the transpose that `options` may ask for, the same sizes. A bounded dimension counts with
    /// its bound, and all of it is copied. Elements take the same number of bits on both sides, or are packed on one side (`E(4)`) and take
    /// a byte each on the other: then the byte's low bits hold the element, and its high bits are ignored when read and 0 when written.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1}".parse()?];
    /// let mut destination = [0; 6];
    /// Plan::new(&from, &to, &Options::new())?.run(&[1, 2, 3, 4, 5, 6], &mut destination)?;
    /// assert_eq!(destination, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If element types, element sizes or dimensions differ, the permutation or the fill element is not valid, or the layout of one side
    /// has splits, an unbounded dimension, or more positions than fit in an `i64`.
    pub fn new(from: &ArrayShape, to: &ArrayShape, options: &Options) -> Result<Self, RelayoutError> {
        if let Some(plan) = recent(from, to, options) {
            return Ok(plan);
        }
        let plan = Self(Prepared::new(from, to, options)?);
        if plan.0.method.table_bytes() <= MAX_CACHED_TABLE_BYTES {
            // While a thread ends, its plans are no longer accessible.
            let _ = RECENT.try_with(|recent| recent.borrow_mut().keep((options.clone(), plan.clone())));
        }
        Ok(plan)
    }

    /// Checks whether [`new`](Self::new) would succeed, without making a plan.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["f32[2,3]".parse()?, "f32[3,2]".parse()?];
    /// assert!(Plan::check(&from, &to, &Options::new()).is_err());
    /// assert!(Plan::check(&from, &to, &Options::new().transposed(&[1, 0])).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn check(from: &ArrayShape, to: &ArrayShape, options: &Options) -> Result<(), RelayoutError> {
        Checked::new(from, to, options).map(drop)
    }

    /// The shape of the source.
    ///
    /// ```
    /// # use xla_shape_core::ArrayShape;
    /// # use xla_shape_relayout::{Options, Plan};
    /// # let [from, to]: [ArrayShape; 2] = ["u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1}".parse()?];
    /// let plan = Plan::new(&from, &to, &Options::new())?;
    /// assert_eq!(plan.from(), &from);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn from(&self) -> &ArrayShape {
        &self.0.from
    }

    /// The shape of the destination.
    ///
    /// ```
    /// # use xla_shape_core::ArrayShape;
    /// # use xla_shape_relayout::{Options, Plan};
    /// # let [from, to]: [ArrayShape; 2] = ["u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1:T(4)}".parse()?];
    /// let plan = Plan::new(&from, &to, &Options::new())?;
    /// let destination = vec![0; plan.to().byte_size().unwrap_or(0) as usize];
    /// # assert_eq!(destination.len(), 12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to(&self) -> &ArrayShape {
        &self.0.to
    }

    /// The steps; none if elements are copied one by one.
    #[cfg(all(test, feature = "threads"))]
    pub(super) fn steps(&self) -> (&[BoundedStep], Widths) {
        let steps = match &self.0.method {
            Method::Steps(steps) => steps.as_slice(),
            Method::Grouped(_) | Method::Phases(_) | Method::Elements(_) => &[],
        };
        (steps, self.0.widths)
    }

    /// Copies the array in `source` into `destination`. Large arrays are written fastest if they begin at a multiple of 64 bytes; see
    /// [`Stores::Streaming`](crate::Stores::Streaming).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{AlignedBytes, Options, Plan};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1}".parse()?];
    /// let plan = Plan::new(&from, &to, &Options::new())?;
    /// let mut destination = AlignedBytes::zeroed(6)?;
    /// plan.run(&[1, 2, 3, 4, 5, 6], destination.as_mut())?;
    /// assert_eq!(destination.as_ref(), [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a buffer does not have exactly the bytes of its shape; then nothing is written.
    pub fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), RelayoutError> {
        let run = |step: &BoundedStep, source: &[u8], destination: &mut [u8]| {
            step.run(&self.0.widths, source, destination);
        };
        self.0.run_with(source, destination, fill_region, run, &|| true)
    }

    /// Whether [`run`](Self::run) writes every byte of the destination, so that it does not matter what was there before.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[3]".parse()?, "u8[3]{0:T(4)}".parse()?];
    /// assert!(Plan::new(&from, &to, &Options::new().zero_padding())?.overwrites());
    /// assert!(!Plan::new(&from, &to, &Options::new())?.overwrites(), "the padding stays as it is");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn overwrites(&self) -> bool {
        self.0.overwrites()
    }

    /// As [`run`](Self::run), into new memory. Where the plan leaves bytes as they are ([`Padding::Keep`]), they are 0.
    ///
    /// `allocated` gets the place of the memory before anything is written, for example to advise the system about its pages.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[3]".parse()?, "u8[3]{0:T(4)}".parse()?];
    /// let plan = Plan::new(&from, &to, &Options::new().zero_padding())?;
    /// assert_eq!(plan.run_new(&[1, 2, 3], |_| {})?.as_ref(), [1, 2, 3, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run), and if there is not enough memory.
    pub fn run_new(&self, source: &[u8], allocated: impl FnOnce(*mut [u8])) -> Result<AlignedBytes, RelayoutError> {
        self.0.make(source, allocated, |destination| self.run(source, destination))
    }

    /// As [`run_new`](Self::run_new), with the help of other threads: see [`run_helped`](Self::run_helped).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[3000,3000]{1,0}".parse()?, "u8[3000,3000]{0,1}".parse()?];
    /// let source = vec![7; 9_000_000];
    /// let spawn = |help| drop(std::thread::spawn(help));
    /// let result = Plan::new(&from, &to, &Options::new())?.run_new_helped(&source, |_| {}, 3, spawn)?;
    /// assert_eq!(source, result.as_ref());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`run_new`](Self::run_new).
    #[cfg(feature = "threads")]
    pub fn run_new_helped(
        &self,
        source: &[u8],
        allocated: impl FnOnce(*mut [u8]),
        helpers: usize,
        spawn: impl Fn(Box<dyn FnOnce() + Send>),
    ) -> Result<AlignedBytes, RelayoutError> {
        self.run_new_helped_while(source, allocated, helpers, spawn, || true)
    }

    /// As [`run_new_helped`](Self::run_new_helped), until `goes_on` returns `false`: see [`run_helped_while`](Self::run_helped_while).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan, RelayoutError};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1}".parse()?];
    /// let plan = Plan::new(&from, &to, &Options::new())?;
    /// let result = plan.run_new_helped_while(&[1, 2, 3, 4, 5, 6], |_| {}, 0, |_| {}, || false);
    /// assert!(matches!(result, Err(RelayoutError::Interrupted)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`run_helped_while`](Self::run_helped_while), and if there is not enough memory.
    #[cfg(feature = "threads")]
    pub fn run_new_helped_while(
        &self,
        source: &[u8],
        allocated: impl FnOnce(*mut [u8]),
        helpers: usize,
        spawn: impl Fn(Box<dyn FnOnce() + Send>),
        goes_on: impl Fn() -> bool + Sync,
    ) -> Result<AlignedBytes, RelayoutError> {
        self.0
            .make(source, allocated, |destination| self.run_helped_while(source, destination, helpers, spawn, goes_on))
    }

    /// Bytes of a destination for each thread that helps ([`run_helped`](Self::run_helped)). No thread helps with a smaller destination.
    #[cfg(feature = "threads")]
    pub const BYTES_PER_HELPER: usize = super::tuning::BYTES_PER_HELPER;

    /// As [`run`](Self::run), with the threads of the current rayon pool: see [`run_helped`](Self::run_helped).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[1000,1000]{1,0}".parse()?, "u8[1000,1000]{0,1}".parse()?];
    /// let (source, mut destination) = (vec![7; 1_000_000], vec![0; 1_000_000]);
    /// Plan::new(&from, &to, &Options::new())?.run_in_parallel(&source, &mut destination)?;
    /// assert_eq!(source, destination);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[cfg(feature = "threads")]
    pub fn run_in_parallel(&self, source: &[u8], destination: &mut [u8]) -> Result<(), RelayoutError> {
        self.run_helped(source, destination, rayon::current_num_threads().saturating_sub(1), rayon::spawn)
    }

    /// As [`run`](Self::run), with the help of at most `helpers` other threads. `spawn` passes a function to one of them, such as a thread of
    /// a pool. Each helper needs [8 MiB](Self::BYTES_PER_HELPER) of the destination, and none helps if elements are copied one by one.
    ///
    /// The calling thread does not wait for the others to start: it copies one piece after the other, and all threads that have started take
    /// their share. So a thread that the system starts late, or never, delays nobody. A function that a thread calls only after the copy
    /// does nothing.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[3000,3000]{1,0}".parse()?, "u8[3000,3000]{0,1}".parse()?];
    /// let (source, mut destination) = (vec![7; 9_000_000], vec![0; 9_000_000]);
    /// let spawn = |help| drop(std::thread::spawn(help));
    /// Plan::new(&from, &to, &Options::new())?.run_helped(&source, &mut destination, 3, spawn)?;
    /// assert_eq!(source, destination);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[cfg(feature = "threads")]
    pub fn run_helped(
        &self,
        source: &[u8],
        destination: &mut [u8],
        helpers: usize,
        spawn: impl Fn(Box<dyn FnOnce() + Send>),
    ) -> Result<(), RelayoutError> {
        self.run_helped_while(source, destination, helpers, spawn, || true)
    }

    /// As [`run_helped`](Self::run_helped), until `goes_on` returns `false`: so that a user can interrupt the copy of a large array. The
    /// calling thread calls `goes_on` before each part: at most 64 MiB, or one iteration of the outermost loop.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Plan, RelayoutError};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[3000,3000]{1,0}".parse()?, "u8[3000,3000]{0,1}".parse()?];
    /// let (source, mut destination) = (vec![7; 9_000_000], vec![0; 9_000_000]);
    /// let interrupted = AtomicBool::new(true);
    /// let goes_on = || !interrupted.load(Ordering::Relaxed);
    /// let spawn = |help| drop(std::thread::spawn(help));
    /// let plan = Plan::new(&from, &to, &Options::new())?;
    /// let result = plan.run_helped_while(&source, &mut destination, 3, spawn, goes_on);
    /// assert_eq!(result, Err(RelayoutError::Interrupted));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run); and [`RelayoutError::Interrupted`] if `goes_on` has returned `false`: then some of the destination may be written.
    #[cfg(feature = "threads")]
    pub fn run_helped_while(
        &self,
        source: &[u8],
        destination: &mut [u8],
        helpers: usize,
        spawn: impl Fn(Box<dyn FnOnce() + Send>),
        goes_on: impl Fn() -> bool + Sync,
    ) -> Result<(), RelayoutError> {
        let caller = Caller::new(&goes_on);
        let helpers = Helpers { most: helpers, spawn: &spawn, caller: &caller };
        let fill = |region: &_, widths, destination: &mut _, element: &_| {
            super::threads::fill(region, widths, destination, element, helpers);
        };
        let run = |step: &BoundedStep, source: &[u8], destination: &mut [u8]| {
            super::threads::run(step, self.0.widths, source, destination, helpers);
        };
        self.0.run_with(source, destination, fill, run, &|| caller.goes_on())?;
        if caller.has_stopped() { Err(RelayoutError::Interrupted) } else { Ok(()) }
    }
}

/// The arguments of a plan, after they were checked.
struct Checked<'a> {
    widths: Widths,
    sizes: [Sizes; 2],
    to_dimension: Cow<'a, [usize]>,
    /// The bytes that padding is filled with.
    element: Option<Vec<u8>>,
}

impl<'a> Checked<'a> {
    fn new(from: &ArrayShape, to: &ArrayShape, options: &'a Options) -> Result<Self, RelayoutError> {
        let (mut from_table, mut to_table) = (StrideTable::BLANK, StrideTable::BLANK);
        Self::with_tables(from, to, options, [&mut from_table, &mut to_table])
    }

    /// As [`new`](Self::new), and sets the two tables to the stride tables of both sides. They are written in place, because moving such
    /// large values would take longer than everything else.
    fn with_tables(
        from: &ArrayShape,
        to: &ArrayShape,
        options: &'a Options,
        [from_table, to_table]: [&mut StrideTable; 2],
    ) -> Result<Self, RelayoutError> {
        let widths = widths(from, to)?;
        let sizes = [fill_table(from_table, from, Side::Source)?, fill_table(to_table, to, Side::Destination)?];
        let to_dimension = options.to_dimension(from.num_dimensions());
        check_dimensions(from_table, to_table, &to_dimension)?;
        let element = match &options.padding {
            Padding::Keep => None,
            Padding::Zero => Some(vec![0]),
            Padding::Fill(element) if element.len() == widths.to.div_ceil(8) => Some(element.clone()),
            Padding::Fill(element) => {
                let (expected, found) = (widths.to.div_ceil(8), element.len());
                return Err(RelayoutError::FillSizeMismatch { expected, found });
            }
        };
        Ok(Self { widths, sizes, to_dimension, element })
    }
}

impl Prepared {
    fn new(from: &ArrayShape, to: &ArrayShape, options: &Options) -> Result<Arc<Self>, RelayoutError> {
        let (mut from_table, mut to_table) = (StrideTable::BLANK, StrideTable::BLANK);
        let checked = Checked::with_tables(from, to, options, [&mut from_table, &mut to_table])?;
        let Checked { widths, sizes: [from_sizes, to_sizes], to_dimension, element } = checked;
        let (from_bytes, to_bytes) = (from_sizes.bytes as usize, to_sizes.bytes as usize);
        let physical_elements = to_sizes.physical_elements as usize;
        let positions = to_table.as_ref().positions() as usize;
        let everything = |start| Region {
            from: 0,
            to: start,
            axes: smallvec![Axis { len: physical_elements - start, from: 0, to: 1 }],
        };
        let target = Target::new(options);
        let scheduler = Scheduler::new(widths, target, target.footprint(from_bytes.saturating_add(to_bytes)));
        let mut regions = Regions::default();
        let (method, padding) = match regions.find(&from_table, &to_table, &to_dimension, element.is_some()) {
            Some(()) => {
                let mut steps = Vec::with_capacity(regions.copy.len());
                regions.copy.iter_mut().for_each(|region| scheduler.add_region(&mut steps, region));
                (Method::Steps(steps), regions.padding)
            }
            None => match Grouped::new(&from_table, &to_table, &to_dimension) {
                Some(grouped) => (Method::Grouped(grouped), None),
                None => match Phases::new(&from_table, &to_table, &to_dimension) {
                    Some(phases) => (Method::Phases(phases), None),
                    None => {
                        let to_dimension = to_dimension.into_owned();
                        let elements = ElementByElement { from: from_table, to: to_table, to_dimension };
                        (Method::Elements(Box::new(elements)), None)
                    }
                },
            },
        };
        let fill = element.map(|element| {
            // If the positions of padding are not known, everything is filled before elements are written.
            let mut regions = padding.unwrap_or_else(|| vec![everything(0)]);
            if physical_elements > positions {
                regions.push(everything(positions));
            }
            let last_bits = physical_elements % 8 * (widths.to % 8) % 8;
            let last_byte = if last_bits == 0 { u8::MAX } else { u8::MAX >> (8 - last_bits) };
            regions.iter_mut().for_each(Region::normalize);
            Fill { element, regions, last_byte }
        });
        let prefix = |shape: &ArrayShape| shape.layout().dynamic_shape_metadata_prefix_bytes() as usize;
        let prefixes = (prefix(from), prefix(to));
        let (from, to, instructions) = (from.clone(), to.clone(), scheduler.instructions);
        Ok(Arc::new(Self { from, to, from_bytes, to_bytes, prefixes, widths, fill, method, instructions }))
    }

    /// Whether each byte of the destination is written, and not read before. Packed elements are merged into the
    /// bytes that are there, so copying them reads those bytes. The sizes of bounded dimensions are not written.
    fn overwrites(&self) -> bool {
        self.fill.is_some() && self.widths.to.is_multiple_of(8) && self.prefixes.1 == 0
    }

    /// New memory that `run` fills.
    fn make(
        &self,
        source: &[u8],
        allocated: impl FnOnce(*mut [u8]),
        run: impl FnOnce(&mut [u8]) -> Result<(), RelayoutError>,
    ) -> Result<AlignedBytes, RelayoutError> {
        check(Side::Source, self.from_bytes, source.len())?;
        let bytes = self.to_bytes;
        let mut destination =
            if self.overwrites() { AlignedBytes::unspecified(bytes) } else { AlignedBytes::zeroed(bytes) }?;
        allocated(destination.as_mut());
        run(destination.as_mut())?;
        Ok(destination)
    }

    fn run_with(
        &self,
        source: &[u8],
        destination: &mut [u8],
        fill: impl Fn(&Region, Widths, &mut [u8], &[u8]),
        run: impl Fn(&BoundedStep, &[u8], &mut [u8]),
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), RelayoutError> {
        check(Side::Source, self.from_bytes, source.len())?;
        check(Side::Destination, self.to_bytes, destination.len())?;
        let source = &source[self.prefixes.0..];
        let destination = &mut destination[self.prefixes.1..];
        if let Some(padding) = &self.fill {
            padding.run(self.widths, destination, fill);
        }
        match &self.method {
            Method::Steps(steps) => steps.iter().for_each(|step| run(step, source, destination)),
            _ => self.run_by_tables(source, destination, Pulse::new(goes_on)),
        }
        Ok(())
    }

    /// Runs a plan that has no steps. Not inlined, so that small kernels start sooner.
    #[inline(never)]
    fn run_by_tables(&self, source: &[u8], destination: &mut [u8], pulse: Pulse<'_>) {
        match &self.method {
            Method::Steps(_) => {}
            Method::Grouped(grouped) => grouped.run(self.widths, source, destination, pulse),
            Method::Phases(phases) => phases.run(self.widths, source, destination, pulse),
            Method::Elements(elements) => {
                elements.for_each(pulse, |from, to| self.widths.copy(source, from, destination, to));
            }
        }
    }
}

fn check(side: Side, expected: usize, found: usize) -> Result<(), RelayoutError> {
    if expected == found { Ok(()) } else { Err(RelayoutError::BufferSizeMismatch { side, expected, found }) }
}

/// The sizes of a shape without splits; `table` becomes its stride table.
fn fill_table(table: &mut StrideTable, shape: &ArrayShape, side: Side) -> Result<Sizes, RelayoutError> {
    if !shape.layout().split_configs().is_empty() {
        return Err(RelayoutError::Split { side });
    }
    shape.stride_table_into(table).map_err(|error| RelayoutError::from_table_error(side, error))
}

fn widths(from: &ArrayShape, to: &ArrayShape) -> Result<Widths, RelayoutError> {
    let (source, destination) = (from.element_type(), to.element_type());
    if source != destination {
        return Err(RelayoutError::ElementTypeMismatch { source, destination });
    }
    let (from, to) = (from.element_bits() as usize, to.element_bits() as usize);
    Widths::new(source, from, to).ok_or(RelayoutError::ElementSizeMismatch { source: from, destination: to })
}

/// Checks that both sides have the same dimensions after the transpose.
fn check_dimensions(from: &StrideTable, to: &StrideTable, to_dimension: &[usize]) -> Result<(), RelayoutError> {
    let num_dimensions = from.as_ref().extents().len();
    if check_permutation(to_dimension, num_dimensions).is_err() {
        return Err(RelayoutError::InvalidPermutation { permutation: to_dimension.to_vec(), num_dimensions });
    }
    if to.as_ref().extents().len() != num_dimensions {
        let (source, destination) = (num_dimensions, to.as_ref().extents().len());
        return Err(RelayoutError::NumDimensionsMismatch { source, destination });
    }
    for (dimension, (&from_dimension, &destination)) in
        to_dimension.iter().zip(local(to.as_ref().extents())).enumerate()
    {
        let source = from.as_ref().extents()[from_dimension] as usize;
        if source != destination {
            return Err(RelayoutError::DimensionMismatch { dimension, source, destination });
        }
    }
    Ok(())
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Prepared { from, to, fill, method, instructions, .. } = &*self.0;
        writeln!(f, "{from} -> {to}, {instructions}")?;
        if let Some(fill) = fill {
            writeln!(f, "  fill {} regions of padding with {:x?}", fill.regions.len(), fill.element)?;
        }
        match method {
            Method::Steps(steps) => steps.iter().try_for_each(|step| {
                writeln!(f, "  {step}")?;
                if step.instructions() == *instructions { Ok(()) } else { writeln!(f, "    {}", step.instructions()) }
            }),
            Method::Grouped(_) => writeln!(f, "  element by element, with a table for each dimension"),
            Method::Phases(_) => writeln!(f, "  element by element, with a table for each dimension of each side"),
            Method::Elements(_) => writeln!(f, "  element by element"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, Plan, recent};
    use crate::caches::Caches;
    use crate::tuning::CACHED_PLANS;
    use crate::vector::Vectors;

    #[test]
    fn the_same_is_found_until_others_came() {
        let shape = |size: usize| format!("f32[{size},3]").parse().unwrap();
        let plan = |size| Plan::new(&shape(size), &shape(size), &Options::new()).unwrap();
        let first = plan(100);
        assert!(recent(&shape(100), &shape(100), &Options::new()).is_some());
        // All arguments are compared.
        assert!(recent(&shape(100), &shape(101), &Options::new()).is_none());
        assert!(recent(&shape(100), &shape(100), &Options::new().zero_padding()).is_none());
        assert!(recent(&"u32[100,3]".parse().unwrap(), &shape(100), &Options::new()).is_none());
        assert!(recent(&shape(100), &shape(100), &Options::new().caches(Caches::get())).is_none());
        assert_eq!(plan(100).to_string(), first.to_string());
        (0..CACHED_PLANS).for_each(|i| drop(plan(i + 1)));
        assert!(recent(&shape(100), &shape(100), &Options::new()).is_none());
        let source = (0..1200_u32).map(|i| i as u8).collect::<Vec<_>>();
        let mut destination = vec![0; 1200];
        first.run(&source, &mut destination).unwrap();
        assert_eq!(source, destination);
    }

    /// A transpose of a few rows or columns interleaves or separates them if the machine has the vectors for it.
    #[test]
    fn few_rows_are_interleaved() {
        if Vectors::detect() < Vectors::Avx2 {
            return;
        }
        for (from, to, permutation, expected) in [
            ("f32[7,5001]", "f32[5001,7]", &[1, 0][..], "interleave 7 rows"),
            ("f32[5001,5]", "f32[5,5001]", &[1, 0], "deinterleave 5 rows"),
            ("u8[1000,3,30]", "u8[1000,30,3]", &[0, 2, 1], "interleave 3 rows"),
            ("f64[50,2,6]", "f64[50,6,2]", &[0, 2, 1], "interleave 2 rows"),
            ("c128[1000,2]", "c128[2,1000]", &[1, 0], "without tables"),
        ] {
            let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
            for vectors in [Vectors::Avx2, Vectors::Avx512] {
                let options = Options::new().transposed(permutation).vectors(vectors);
                let plan = Plan::new(&from, &to, &options).unwrap().to_string();
                assert!(plan.contains(expected), "{plan}");
            }
        }
    }

    /// Plans with large tables are not kept.
    #[test]
    fn what_takes_much_memory_is_made_again() {
        for (from, to, is_kept) in [
            ("f32[99,2000]{0,1:T(*,7)}", "f32[99,2000]{1,0:T(*,9)}", true),
            ("f32[2000,2000]{0,1:T(5,100)}", "f32[2000,2000]{1,0:T(7,96)}", true),
            ("f32[9999,2000]{0,1:T(5,100)}", "f32[9999,2000]{1,0:T(7,96)}", false),
        ] {
            let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
            let plan = Plan::new(&from, &to, &Options::new()).unwrap();
            assert!(plan.to_string().contains("element by element"), "{plan}");
            assert_eq!(recent(&from, &to, &Options::new()).is_some(), is_kept, "{plan}");
        }
    }
}
