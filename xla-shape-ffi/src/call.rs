//! One call of a kernel: its operands, results and attributes, each checked before any data is touched.
//!
//! Words are put together only for errors, so that a call that fits costs little more than the checks.

use crate::abi;
use crate::error::{Error, Outcome};
use crate::frame::{Arrays, Frame, RawArray, RawAttribute, Request, raise};
use crate::kernel::{Kernel, Known, SizeOf, Takes};
use crate::signature::{Role, element_bits, obstacle, text_of};
use smallvec::SmallVec;
use std::any::Any;
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};
use xla_shape::buffer::WholeShape;
use xla_shape::{ArrayShape, Dimension, ElementType, Layout};

/// A call, from which a kernel's parameters are taken in their order.
pub struct Call<'a> {
    kernel: &'static str,
    takes: &'static Takes,
    frame: Frame<'a>,
    operands: Arrays<'a>,
    results: Arrays<'a>,
    next_operand: usize,
    next_result: usize,
    /// The memory that has been taken.
    taken: SmallVec<[Taken; 8]>,
    /// Whether some of it is to write.
    is_writing: bool,
}

/// Bytes of memory, and whose they are: those of a result are to write.
#[derive(Clone, Copy)]
struct Taken {
    start: usize,
    end: usize,
    place: Place,
}

impl<'a> Call<'a> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is made where it is used, and not moved")]
    fn new(kernel: &'static str, takes: &'static Takes, frame: Frame<'a>) -> Self {
        let (operands, results) = (frame.operands(), frame.results());
        let (next_operand, next_result, is_writing) = (0, 0, false);
        let taken = SmallVec::new();
        Self { kernel, takes, frame, operands, results, next_operand, next_result, taken, is_writing }
    }

    /// Compares what the kernel takes with what the call has: how many of each.
    #[inline(always)]
    fn check_counts(&self) -> Result<(), Error> {
        let (takes, operands) = (self.takes, self.operands.len());
        let is_short = operands < takes.operands || operands > takes.operands && takes.variadic.is_none();
        if !self.frame.is_execution() || is_short || self.results.len() != takes.results {
            return Err(self.miscounted());
        }
        // As many attributes as the kernel takes are those, or one of those is missing: then `attribute` finds it out.
        if self.frame.num_attributes() != takes.attributes { self.check_attribute_names() } else { Ok(()) }
    }

    /// Whether the kernel takes all attributes that the call has.
    #[cold]
    fn check_attribute_names(&self) -> Result<(), Error> {
        let mut names = self.frame.attribute_names();
        match names.find(|&name| !self.attributes().any(|known| known.name.as_bytes() == name)) {
            Some(name) => Err(self.unknown_attribute(name)),
            None => Ok(()),
        }
    }

    /// The attributes that the kernel takes.
    fn attributes(&self) -> impl Iterator<Item = &'static Known> + use<> {
        self.takes.parameters.iter().filter(|known| matches!(known.role, Role::Attribute))
    }

    #[cold]
    fn miscounted(&self) -> Error {
        if !self.frame.is_execution() {
            return Error::invalid_argument("expected a call to execute, found one of another stage");
        }
        let takes = self.takes;
        let (what, role, expected, variadic, found) = if self.results.len() == takes.results {
            ("operand", Role::Operand, takes.operands, takes.variadic, self.operands.len())
        } else {
            ("result", Role::Result, takes.results, None, self.results.len())
        };
        let (least, plural) = (if variadic.is_some() { "at least " } else { "" }, if expected == 1 { "" } else { "s" });
        let star = |name| if variadic == Some(name) { "*" } else { "" };
        let names: Vec<_> = takes.of_role(role).map(|known| format!("{}{}", star(known.name), known.name)).collect();
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        self.error(format_args!("this kernel takes {least}{expected} {what}{plural}{names}, the call has {found}"))
    }

    #[cold]
    fn unknown_attribute(&self, name: &[u8]) -> Error {
        let name = String::from_utf8_lossy(name);
        let known: Vec<_> = self.attributes().map(|known| known.name).collect();
        if known.is_empty() {
            return self.error(format_args!("attribute '{name}': this kernel has no attributes"));
        }
        let known = known.join(", ");
        self.error(format_args!("attribute '{name}': this kernel has no attribute of this name; it has {known}"))
    }

    /// The call does not fit this kernel.
    #[cold]
    pub(crate) fn error(&self, problem: impl Display) -> Error {
        Error::invalid_argument(format!("{}: {problem}", self.kernel))
    }

    /// The argument in words.
    #[cold]
    fn words(&self, place: Place) -> String {
        let (text, role) = if place.is_result { ("result", Role::Result) } else { ("operand", Role::Operand) };
        let mut parameters = self.takes.of_role(role).flat_map(|known| {
            let is_variadic = self.takes.variadic == Some(known.name);
            std::iter::repeat_n(known.name, if is_variadic { self.variadic_operands() } else { 1 })
        });
        let name = parameters.nth(place.number).unwrap_or("?");
        format!("{text} {} ({name})", place.number)
    }

    #[inline(always)]
    pub(crate) fn next_operand(&mut self) -> Result<Argument<'a>, Error> {
        let place = Place { is_result: false, number: self.next_operand };
        self.next_operand += 1;
        self.argument(place)
    }

    #[inline(always)]
    pub(crate) fn next_result(&mut self) -> Result<Argument<'a>, Error> {
        let place = Place { is_result: true, number: self.next_result };
        self.next_result += 1;
        self.argument(place)
    }

    #[inline(always)]
    fn argument(&self, place: Place) -> Result<Argument<'a>, Error> {
        let arrays = if place.is_result { self.results } else { self.operands };
        match arrays.get(place.number) {
            Ok(array) => Ok(Argument { place, array }),
            Err(error) => Err(self.unreadable(place, &error)),
        }
    }

    #[cold]
    fn unreadable(&self, place: Place, error: &Error) -> Error {
        Error::new(error.code(), format!("{}: {}: {error}", self.kernel, self.words(place)))
    }

    /// How many operands a parameter gets that takes any number of them: those that no later one needs.
    pub(crate) fn variadic_operands(&self) -> usize {
        self.operands.len().saturating_sub(self.takes.operands)
    }

    /// The attribute of this parameter.
    #[inline(always)]
    pub(crate) fn attribute(&self, known: &'static Known) -> Result<Option<RawAttribute<'a>>, Error> {
        // XLA sorts attributes by name.
        match self.frame.attribute_names().nth(known.attribute) {
            Some(name) if name == known.name.as_bytes() => Ok(Some(self.frame.attribute_at(known.attribute))),
            _ => self.find_attribute(known.name),
        }
    }

    #[cold]
    fn find_attribute(&self, name: &str) -> Result<Option<RawAttribute<'a>>, Error> {
        self.check_attribute_names()?;
        let i = self.frame.attribute_names().position(|found| found == name.as_bytes());
        Ok(i.map(|i| self.frame.attribute_at(i)))
    }

    #[cfg(feature = "threads")]
    pub(crate) fn frame(&self) -> Frame<'a> {
        self.frame
    }

    /// Compares the sizes that have names with those of the first argument that has the same name.
    #[inline(always)]
    pub(crate) fn compare_sizes<S: WholeShape>(
        &self,
        argument: &Argument<'a>,
        known: &'static Known,
    ) -> Result<(), Error> {
        for dimension in 0..S::NAMES.len() {
            let (Some(first), Some(&found)) = (&known.sizes[dimension], argument.array.sizes.get(dimension)) else {
                continue;
            };
            let place = Place {
                is_result: first.is_result,
                number: first.number + if first.is_behind_variadic { self.variadic_operands() } else { 0 },
            };
            // Of another rank, it is refused where it is taken.
            let size = self.argument(place)?.array.sizes.get(first.dimension);
            if size.is_some_and(|&size| size != found) {
                return Err(self.differs_in::<S>(argument, first, place, size));
            }
        }
        Ok(())
    }

    #[cold]
    fn differs_in<S: WholeShape>(
        &self,
        argument: &Argument<'a>,
        first: &SizeOf,
        place: Place,
        size: Option<&i64>,
    ) -> Error {
        let (text, size, place) = (text_of::<S>(), size.copied().unwrap_or_default(), self.words(place));
        self.differs(argument, &format!("{text} with {} = {size} as in {place}", first.name))
    }

    /// The bytes of an operand.
    #[inline(always)]
    pub(crate) fn read(&mut self, argument: &Argument<'a>, len: usize) -> Result<&'a [u8], Error> {
        let data = self.claim(argument, len)?;
        // SAFETY: XLA passes an operand of this type and sizes, which take `len` bytes, initialised, for the time of the
        // call; `claim` has seen that the address is not null and that no result lies there.
        Ok(unsafe { std::slice::from_raw_parts(data, len) })
    }

    /// The bytes of a result, to write.
    #[inline(always)]
    pub(crate) fn write(&mut self, argument: &Argument<'a>, len: usize) -> Result<&'a mut [u8], Error> {
        let data = self.claim(argument, len)?;
        // SAFETY: XLA passes memory for a result of this type and sizes, which take `len` bytes; nobody else looks at it
        // during the call, and `claim` has seen that no other operand or result of this call lies there. It may hold
        // anything, which bytes may.
        Ok(unsafe { std::slice::from_raw_parts_mut(data, len) })
    }

    /// The bytes of a result that begins as a copy of an operand, of the same `len` bytes: where they share their memory, as XLA
    /// has been told that they may, nothing is copied.
    pub(crate) fn write_in_place(
        &mut self,
        operand: &Argument<'a>,
        result: &Argument<'a>,
        len: usize,
    ) -> Result<&'a mut [u8], Error> {
        if operand.array.data != result.array.data {
            let source = self.read(operand, len)?;
            let target = self.write(result, len)?;
            target.copy_from_slice(source);
            return Ok(target);
        }
        self.write(result, len)
    }

    /// Notes that these bytes are in use, if nothing speaks against it.
    #[inline(always)]
    fn claim(&mut self, argument: &Argument<'a>, len: usize) -> Result<*mut u8, Error> {
        let (data, place) = (argument.array.data, argument.place);
        // Of no bytes, an array overlaps with nothing, and its address may be anything.
        let data = if len == 0 { std::ptr::NonNull::dangling().as_ptr() } else { data };
        if data.is_null() {
            return Err(self.no_memory(place, len));
        }
        let (start, end) = (data.addr(), data.addr().saturating_add(len));
        let writes = place.is_result;
        let overlaps = |other: &Taken| (writes || other.place.is_result) && other.start < end && start < other.end;
        // Operands may share their memory.
        if (writes || self.is_writing)
            && let Some(other) = self.taken.iter().find(|other| overlaps(other))
        {
            return Err(self.shared(place, other.place));
        }
        self.taken.push(Taken { start, end, place });
        self.is_writing |= writes;
        Ok(data)
    }

    #[cold]
    fn no_memory(&self, place: Place, len: usize) -> Error {
        self.error(format_args!("{}: expected {len} bytes, found no memory", self.words(place)))
    }

    #[cold]
    fn shared(&self, place: Place, whose: Place) -> Error {
        let (place, whose) = (self.words(place), self.words(whose));
        self.error(format_args!("{place}: expected separate memory, found that of {whose}"))
    }

    /// The shape in the layout in which a kernel without static shapes gets the argument: row-major.
    pub(crate) fn row_major(&self, argument: &Argument<'a>) -> Result<ArrayShape, Error> {
        let sizes = argument.array.sizes;
        let Some(element_type) = argument.element_type() else { return Err(self.no_array(argument)) };
        if sizes.iter().any(|&size| size < 0) {
            return Err(self.negative(argument));
        }
        let dimensions: Vec<_> = sizes.iter().map(|&size| Dimension::Static(size.unsigned_abs())).collect();
        // No `E` means that elements take whole bytes.
        let bits = Some(element_bits(element_type)).filter(|bits| bits % 8 != 0).unwrap_or(0);
        let layout = Layout::descending(sizes.len()).with_element_size_in_bits(bits);
        let shape = layout.and_then(|layout| ArrayShape::new(element_type, &dimensions, layout));
        shape.map_err(|error| self.refuse(argument, error))
    }

    /// The kernel takes something else.
    #[cold]
    pub(crate) fn differs(&self, argument: &Argument<'a>, expected: &str) -> Error {
        if argument.element_type().is_none() {
            return self.no_array(argument);
        }
        if argument.array.sizes.iter().any(|&size| size < 0) {
            return self.negative(argument);
        }
        self.error(format_args!(
            "{}: this kernel takes {expected}, the call has {argument}",
            self.words(argument.place)
        ))
    }

    #[cold]
    fn no_array(&self, argument: &Argument<'a>) -> Error {
        let (place, number) = (self.words(argument.place), argument.array.element_type);
        self.error(format_args!("{place}: expected an array, found elements of type {number}"))
    }

    #[cold]
    fn negative(&self, argument: &Argument<'a>) -> Error {
        self.error(format_args!("{}: expected sizes, found a negative one", self.words(argument.place)))
    }

    /// The kernel takes an array that no call can have.
    #[cold]
    pub(crate) fn impossible<S: WholeShape>(&self, argument: &Argument<'a>) -> Error {
        let (expected, reason) = (text_of::<S>(), S::TYPE.and_then(obstacle).unwrap_or_default());
        self.error(format_args!("{}: this kernel takes {expected}: {reason}", self.words(argument.place)))
    }

    /// The array is none that a kernel can take.
    #[cold]
    pub(crate) fn refuse(&self, argument: &Argument<'a>, reason: impl Display) -> Error {
        self.error(format_args!("{}: {argument}: {reason}", self.words(argument.place)))
    }
}

/// Which argument of a call.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    is_result: bool,
    number: usize,
}

/// An operand or a result of a call; displayed as XLA's text of what the call has.
#[derive(Clone, Copy)]
pub(crate) struct Argument<'a> {
    place: Place,
    array: RawArray<'a>,
}

impl<'a> Argument<'a> {
    /// The number of the element type in XLA's schema.
    #[inline(always)]
    pub(crate) fn type_number(&self) -> i32 {
        self.array.element_type
    }

    fn element_type(&self) -> Option<ElementType> {
        ElementType::from_proto_number(self.array.element_type)
    }

    #[inline(always)]
    pub(crate) fn sizes(&self) -> &'a [i64] {
        self.array.sizes
    }
}

impl Display for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.array.sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        write!(f, "{}[{sizes}]", self.element_type().map_or("?", ElementType::name))
    }
}

/// Answers XLA: says what the handler is, or checks the call and runs the kernel.
///
/// # Safety
/// `frame` is what XLA passes to a handler.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn handle<O: Outcome>(
    frame: *mut abi::CallFrame,
    name: &'static str,
    takes: &'static Takes,
    kernel: impl FnOnce(&mut Call<'_>) -> Result<O, Error>,
) -> *mut abi::XlaError {
    let run = |frame: Frame<'_>| {
        let mut call = Call::new(name, takes, frame);
        call.check_counts()?;
        match kernel(&mut call)?.into_result() {
            Ok(()) => Ok(()),
            Err(error) => Err(said_by(name, &error)),
        }
    };
    // SAFETY: the caller promises the frame.
    unsafe { answer(frame, name, run) }
}

/// An error that the kernel returns, with its name.
#[cold]
fn said_by(kernel: &str, error: &Error) -> Error {
    Error::new(error.code(), format!("{error} (in {kernel})"))
}

/// What a device calls on which kernels do not run.
///
/// # Safety
/// Only XLA calls it.
#[doc(hidden)]
pub unsafe extern "C" fn refuse<K: Kernel>(frame: *mut abi::CallFrame) -> *mut abi::XlaError {
    let refusal = |_: Frame<'_>| {
        Err(Error::invalid_argument(format!("{}: this kernel runs on CPU, the call is on another device", K::NAME)))
    };
    // SAFETY: only XLA calls handlers, and passes them a frame.
    unsafe { answer(frame, K::NAME, refusal) }
}

/// # Safety
/// `frame` is what XLA passes to a handler.
#[inline(always)]
unsafe fn answer(
    frame: *mut abi::CallFrame,
    name: &'static str,
    run: impl FnOnce(Frame<'_>) -> Result<(), Error>,
) -> *mut abi::XlaError {
    let answer = || -> Result<(), Error> {
        // SAFETY: the caller promises the frame; it outlives this call, and nothing of it leaves the call.
        match unsafe { Request::new(frame) }? {
            Request::Metadata(metadata) => {
                metadata.api_version.struct_size = abi::ApiVersion::SIZE;
                metadata.api_version.extensions = std::ptr::null_mut();
                metadata.api_version.major = abi::API_MAJOR;
                metadata.api_version.minor = abi::API_MINOR;
                metadata.traits = 0;
                Ok(())
            }
            Request::Call(frame) => run(frame),
        }
    };
    // What a panic leaves behind is the results of this call, which are thrown away.
    let error = match catch_unwind(AssertUnwindSafe(answer)) {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(error)) => error,
        Err(panic) => of_panic(name, panic),
    };
    // SAFETY: the caller promises the frame.
    unsafe { raise(frame, &error) }
}

/// Drops what a panic threw, which may panic again when it is dropped.
pub(crate) fn discard(panic: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(another);
    }
}

#[cold]
fn of_panic(kernel: &str, panic: Box<dyn Any + Send>) -> Error {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("without a message");
    let error = Error::internal(format!("the kernel panicked: {text} (in {kernel})"));
    discard(panic);
    error
}
