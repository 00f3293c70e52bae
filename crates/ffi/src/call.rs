//! One call of a kernel: its operands, results and attributes, each checked before any data is read or written.
//!
//! Messages are built in `#[cold]` functions, so that a valid call costs little more than the checks.

use crate::abi;
use crate::error::{Error, Outcome};
use crate::frame::{Arrays, Frame, RawArray, RawAttribute, Request, raise};
use crate::kernel::{ExpectedParameter, Kernel, KernelParameters, NamedSize};
use crate::signature::{Role, obstacle, sizes_text, type_text};
use smallvec::SmallVec;
use std::any::Any;
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};
use xla_shape::buffer::WholeShape;
use xla_shape::{ArrayShape, Dimension, ElementType, Layout};

/// A call of a kernel, from which [`Parameter::take`](crate::Parameter::take) takes one parameter after the other.
///
/// ```
/// use xla_shape::{View, ViewMut, shape};
/// use xla_shape_ffi::{Kernel, Role};
///
/// xla_shape_ffi::kernel! {
///     fn scale(x: View<'_, shape!(f32[n])>, mut y: ViewMut<'_, shape!(f32[n])>, by: f32) {
///         y.fill_with(|[i]| by * x[[i]]);
///     }
/// }
///
/// // `scale` takes these from each call, in this order.
/// let roles: Vec<_> = scale::signature().into_iter().map(|(_, parameter)| parameter.role).collect();
/// assert_eq!(roles, [Role::Operand, Role::Result, Role::Attribute]);
/// ```
pub struct Call<'a> {
    kernel: &'static str,
    parameters: &'static KernelParameters,
    frame: Frame<'a>,
    operands: Arrays<'a>,
    results: Arrays<'a>,
    next_operand: usize,
    next_result: usize,
    /// The memory of the operands and results that have been taken.
    claimed: SmallVec<[ClaimedRange; 8]>,
    /// Whether `claimed` contains a result.
    has_claimed_result: bool,
}

/// The addresses of an operand or a result. Operands may overlap each other; a result overlaps nothing.
#[derive(Clone, Copy)]
struct ClaimedRange {
    start: usize,
    end: usize,
    id: ArgumentId,
}

impl<'a> Call<'a> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that the struct is built in place, without a copy")]
    fn new(kernel: &'static str, parameters: &'static KernelParameters, frame: Frame<'a>) -> Self {
        let (operands, results) = (frame.operands(), frame.results());
        let (next_operand, next_result, has_claimed_result) = (0, 0, false);
        let claimed = SmallVec::new();
        Self { kernel, parameters, frame, operands, results, next_operand, next_result, claimed, has_claimed_result }
    }

    /// Compares the numbers of operands, results and attributes with those that the kernel takes.
    #[inline(always)]
    fn check_counts(&self) -> Result<(), Error> {
        let (parameters, operands) = (self.parameters, self.operands.len());
        let is_short =
            operands < parameters.operands || operands > parameters.operands && parameters.variadic.is_none();
        if !self.frame.is_execution() || is_short || self.results.len() != parameters.results {
            return Err(self.wrong_counts());
        }
        // If the number is right, but a name is wrong, then one that the kernel takes is missing: `attribute` reports it.
        if self.frame.num_attributes() != parameters.attributes { self.check_attribute_names() } else { Ok(()) }
    }

    /// Refuses a call that has an attribute which the kernel does not take.
    #[cold]
    fn check_attribute_names(&self) -> Result<(), Error> {
        let mut names = self.frame.attribute_names();
        match names.find(|&name| !self.attributes().any(|expected| expected.name.as_bytes() == name)) {
            Some(name) => Err(self.unknown_attribute(name)),
            None => Ok(()),
        }
    }

    /// The attributes among the kernel's parameters.
    fn attributes(&self) -> impl Iterator<Item = &'static ExpectedParameter> + use<> {
        self.parameters.list.iter().filter(|expected| matches!(expected.role, Role::Attribute))
    }

    #[cold]
    fn wrong_counts(&self) -> Error {
        if !self.frame.is_execution() {
            return Error::invalid_argument("expected the execute stage, found another one");
        }
        let parameters = self.parameters;
        let (what, role, expected, variadic, found) = if self.results.len() == parameters.results {
            ("operand", Role::Operand, parameters.operands, parameters.variadic, self.operands.len())
        } else {
            ("result", Role::Result, parameters.results, None, self.results.len())
        };
        let (least, plural) = (if variadic.is_some() { "at least " } else { "" }, if expected == 1 { "" } else { "s" });
        let star = |name| if variadic == Some(name) { "*" } else { "" };
        let names: Vec<_> =
            parameters.with_role(role).map(|expected| format!("{}{}", star(expected.name), expected.name)).collect();
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        self.error(format_args!("this kernel takes {least}{expected} {what}{plural}{names}, the call has {found}"))
    }

    #[cold]
    fn unknown_attribute(&self, name: &[u8]) -> Error {
        let name = String::from_utf8_lossy(name);
        let known: Vec<_> = self.attributes().map(|expected| expected.name).collect();
        if known.is_empty() {
            return self.error(format_args!("attribute '{name}': this kernel has no attributes"));
        }
        let known = known.join(", ");
        self.error(format_args!("attribute '{name}': this kernel has no attribute of this name; it has {known}"))
    }

    /// An error that begins with the name of the kernel.
    #[cold]
    pub(crate) fn error(&self, problem: impl Display) -> Error {
        Error::invalid_argument(format!("{}: {problem}", self.kernel))
    }

    /// The argument for error messages: "operand 1 (row)".
    #[cold]
    fn describe(&self, id: ArgumentId) -> String {
        let (text, role) = if id.is_result { ("result", Role::Result) } else { ("operand", Role::Operand) };
        let mut parameters = self.parameters.with_role(role).flat_map(|expected| {
            let is_variadic = self.parameters.variadic == Some(expected.name);
            std::iter::repeat_n(expected.name, if is_variadic { self.variadic_operands() } else { 1 })
        });
        let name = parameters.nth(id.number).unwrap_or("?");
        format!("{text} {} ({name})", id.number)
    }

    #[inline(always)]
    pub(crate) fn next_operand(&mut self) -> Result<Argument<'a>, Error> {
        let id = ArgumentId { is_result: false, number: self.next_operand };
        self.next_operand += 1;
        self.argument(id)
    }

    #[inline(always)]
    pub(crate) fn next_result(&mut self) -> Result<Argument<'a>, Error> {
        let id = ArgumentId { is_result: true, number: self.next_result };
        self.next_result += 1;
        self.argument(id)
    }

    #[inline(always)]
    fn argument(&self, id: ArgumentId) -> Result<Argument<'a>, Error> {
        let arrays = if id.is_result { self.results } else { self.operands };
        match arrays.get(id.number) {
            Ok(array) => Ok(Argument { id, array }),
            Err(error) => Err(self.with_argument_name(id, &error)),
        }
    }

    #[cold]
    fn with_argument_name(&self, id: ArgumentId, error: &Error) -> Error {
        Error::new(error.code(), format!("{}: {}: {error}", self.kernel, self.describe(id)))
    }

    /// How many operands go to the parameter that takes any number of them: all that the other parameters do not need.
    pub(crate) fn variadic_operands(&self) -> usize {
        self.operands.len().saturating_sub(self.parameters.operands)
    }

    /// The attribute of this parameter; `None` if the call has no attribute with its name.
    #[inline(always)]
    pub(crate) fn attribute(&self, expected: &'static ExpectedParameter) -> Result<Option<RawAttribute<'a>>, Error> {
        // XLA sorts attributes by name, so the number of this one is known at compile time unless an optional one is left out.
        match self.frame.attribute_names().nth(expected.attribute) {
            Some(name) if name == expected.name.as_bytes() => Ok(Some(self.frame.attribute_at(expected.attribute))),
            _ => self.find_attribute(expected.name),
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

    /// Compares each size that has a name with the size in the first argument where that name occurs.
    #[inline(always)]
    pub(crate) fn compare_sizes<S: WholeShape>(
        &self,
        argument: &Argument<'a>,
        expected: &'static ExpectedParameter,
    ) -> Result<(), Error> {
        for dimension in 0..S::NAMES.len() {
            let (Some(first), Some(&found)) = (&expected.sizes[dimension], argument.array.sizes.get(dimension)) else {
                continue;
            };
            let id = ArgumentId {
                is_result: first.is_result,
                number: first.number + if first.is_behind_variadic { self.variadic_operands() } else { 0 },
            };
            // If the other argument has too few dimensions, taking that argument is an error.
            let size = self.argument(id)?.array.sizes.get(first.dimension);
            if size.is_some_and(|&size| size != found) {
                return Err(self.size_mismatch::<S>(argument, first, id, size));
            }
        }
        Ok(())
    }

    #[cold]
    fn size_mismatch<S: WholeShape>(
        &self,
        argument: &Argument<'a>,
        first: &NamedSize,
        id: ArgumentId,
        size: Option<&i64>,
    ) -> Error {
        let (text, size, id) = (sizes_text::<S>(), size.copied().unwrap_or_default(), self.describe(id));
        self.mismatch(argument, &format!("{text} with {} = {size} as in {id}", first.name))
    }

    /// The bytes of an operand. `len` is the size in bytes of an array of the argument's element type and sizes.
    #[inline(always)]
    pub(crate) fn read(&mut self, argument: &Argument<'a>, len: usize) -> Result<&'a [u8], Error> {
        let data = self.claim(argument, len)?;
        // SAFETY: XLA passes the address of an operand of this element type and these sizes, which takes `len` initialised
        // bytes and stays valid until the handler returns, after the end of `'a`. `claim` has checked that the address is not
        // null (it is dangling if `len` is 0) and that these bytes do not overlap with a result. XLA writes no operand during the call, so nobody
        // writes them.
        Ok(unsafe { std::slice::from_raw_parts(data, len) })
    }

    /// The bytes of a result, to be written. `len` is as in [`read`](Self::read).
    #[inline(always)]
    pub(crate) fn write(&mut self, argument: &Argument<'a>, len: usize) -> Result<&'a mut [u8], Error> {
        let data = self.claim(argument, len)?;
        // SAFETY: XLA passes the address of memory for a result of this element type and these sizes: `len` bytes, valid until
        // the handler returns, after the end of `'a`. XLA does not use them during the call, and `claim` has checked that they
        // do not overlap with an operand or another result, so this is the only reference to them; nor is the address null (it
        // is dangling if `len` is 0). Any content is a valid `u8`: XLA's allocator has handed the memory out, so the compiler
        // cannot treat it as uninitialised.
        Ok(unsafe { std::slice::from_raw_parts_mut(data, len) })
    }

    /// The bytes of a result that begins as a copy of an operand of the same `len` bytes. Nothing is copied where the two have
    /// the same address: XLA may do that, because the custom call declares them as aliases.
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

    /// Records that the argument's memory is in use, and returns its address; an error if it is null or if it overlaps with the
    /// memory of an earlier argument and one of the two is a result.
    #[inline(always)]
    fn claim(&mut self, argument: &Argument<'a>, len: usize) -> Result<*mut u8, Error> {
        let (data, id) = (argument.array.data, argument.id);
        // XLA may pass any address, even null, for an array of 0 bytes.
        let data = if len == 0 { std::ptr::NonNull::dangling().as_ptr() } else { data };
        if data.is_null() {
            return Err(self.null_pointer(id, len));
        }
        let (start, end) = (data.addr(), data.addr().saturating_add(len));
        let writes = id.is_result;
        let overlaps = |other: &ClaimedRange| (writes || other.id.is_result) && other.start < end && start < other.end;
        // Operands may overlap each other, so without a result there is nothing to search for.
        if (writes || self.has_claimed_result)
            && let Some(other) = self.claimed.iter().find(|other| overlaps(other))
        {
            return Err(self.overlap(id, other.id));
        }
        self.claimed.push(ClaimedRange { start, end, id });
        self.has_claimed_result |= writes;
        Ok(data)
    }

    #[cold]
    fn null_pointer(&self, id: ArgumentId, len: usize) -> Error {
        self.error(format_args!("{}: expected {len} bytes, found a null pointer", self.describe(id)))
    }

    #[cold]
    fn overlap(&self, id: ArgumentId, other: ArgumentId) -> Error {
        let (id, other) = (self.describe(id), self.describe(other));
        self.error(format_args!("{id}: expected separate memory, found memory that overlaps with {other}"))
    }

    /// The shape of an argument for a parameter without a static shape (`DynView`): row-major.
    pub(crate) fn row_major(&self, argument: &Argument<'a>) -> Result<ArrayShape, Error> {
        let sizes = argument.array.sizes;
        let Some(element_type) = argument.element_type() else { return Err(self.no_array(argument)) };
        if sizes.iter().any(|&size| size < 0) {
            return Err(self.negative(argument));
        }
        let dimensions: Vec<_> = sizes.iter().map(|&size| Dimension::Static(size.unsigned_abs())).collect();
        // A layout without `E(…)` stores each element in whole bytes; XLA's CPU backend packs elements of less than a byte.
        let bits = Some(element_type.packed_bits()).filter(|bits| bits % 8 != 0).unwrap_or(0);
        let layout = Layout::descending(sizes.len()).with_element_size_in_bits(bits);
        let shape = layout.and_then(|layout| ArrayShape::new(element_type, &dimensions, layout));
        shape.map_err(|error| self.refuse(argument, error))
    }

    /// The type or the sizes of the argument differ from `expected`.
    #[cold]
    pub(crate) fn mismatch(&self, argument: &Argument<'a>, expected: &str) -> Error {
        if argument.element_type().is_none() {
            return self.no_array(argument);
        }
        if argument.array.sizes.iter().any(|&size| size < 0) {
            return self.negative(argument);
        }
        self.error(format_args!(
            "{}: this kernel takes {expected}, the call has {argument}",
            self.describe(argument.id)
        ))
    }

    #[cold]
    fn no_array(&self, argument: &Argument<'a>) -> Error {
        let (id, number) = (self.describe(argument.id), argument.array.element_type);
        self.error(format_args!("{id}: expected an array, found elements of type {number}"))
    }

    #[cold]
    fn negative(&self, argument: &Argument<'a>) -> Error {
        self.error(format_args!("{}: expected sizes of at least 0, found a negative one", self.describe(argument.id)))
    }

    /// The parameter's shape is one that a custom call cannot carry.
    #[cold]
    pub(crate) fn impossible<S: WholeShape>(&self, argument: &Argument<'a>) -> Error {
        let (expected, reason) = (type_text::<S>(), S::TYPE.and_then(obstacle).unwrap_or_default());
        self.error(format_args!("{}: this kernel takes {expected}: {reason}", self.describe(argument.id)))
    }

    /// The call's array cannot be made a view, because of `reason`.
    #[cold]
    pub(crate) fn refuse(&self, argument: &Argument<'a>, reason: impl Display) -> Error {
        self.error(format_args!("{}: {argument}: {reason}", self.describe(argument.id)))
    }
}

/// An operand or a result, and its number among those of the call.
#[derive(Clone, Copy)]
pub(crate) struct ArgumentId {
    is_result: bool,
    number: usize,
}

/// An operand or a result of a call; displayed as its element type and sizes, `f32[2,3]`.
#[derive(Clone, Copy)]
pub(crate) struct Argument<'a> {
    id: ArgumentId,
    array: RawArray<'a>,
}

impl<'a> Argument<'a> {
    /// The element type's number in `xla/xla_data.proto`, `PrimitiveType`.
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

/// The body of every handler: fills in the metadata if XLA asks for them, otherwise checks the call and runs the kernel.
///
/// # Safety
/// `frame` is the pointer that XLA has passed to a handler, which returns this function's result.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn handle<O: Outcome>(
    frame: *mut abi::CallFrame,
    name: &'static str,
    parameters: &'static KernelParameters,
    kernel: impl FnOnce(&mut Call<'_>) -> Result<O, Error>,
) -> *mut abi::XlaError {
    let run = |frame: Frame<'_>| {
        let mut call = Call::new(name, parameters, frame);
        call.check_counts()?;
        match kernel(&mut call)?.into_result() {
            Ok(()) => Ok(()),
            Err(error) => Err(with_kernel_name(name, &error)),
        }
    };
    // SAFETY: `answer` requires of `frame` what this function requires.
    unsafe { answer(frame, name, run) }
}

/// An error that the kernel has returned, followed by the kernel's name.
#[cold]
fn with_kernel_name(kernel: &str, error: &Error) -> Error {
    Error::new(error.code(), format!("{error} (in {kernel})"))
}

/// The handler that is registered for devices other than CPU: it returns an error, because kernels run on CPU only.
///
/// # Safety
/// XLA calls it as a handler: `frame` is a call frame.
#[doc(hidden)]
pub unsafe extern "C" fn refuse<K: Kernel>(frame: *mut abi::CallFrame) -> *mut abi::XlaError {
    let refusal = |_: Frame<'_>| {
        Err(Error::invalid_argument(format!("{}: this kernel runs on CPU, the call is on another device", K::NAME)))
    };
    // SAFETY: `frame` is a call frame (caller), and this is the handler.
    unsafe { answer(frame, K::NAME, refusal) }
}

/// Fills in the metadata if XLA asks for them, otherwise calls `run`; turns an error or a panic into XLA's error object.
///
/// # Safety
/// `frame` is the pointer that XLA has passed to a handler, which returns this function's result.
#[inline(always)]
unsafe fn answer(
    frame: *mut abi::CallFrame,
    name: &'static str,
    run: impl FnOnce(Frame<'_>) -> Result<(), Error>,
) -> *mut abi::XlaError {
    let answer = || -> Result<(), Error> {
        // SAFETY: `frame` is what XLA has passed (caller), and the borrow ends with this closure, before the handler returns:
        // `run` takes a `Frame` of any lifetime, so it cannot keep it.
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
    // `AssertUnwindSafe`: after a panic, the only half-written data are the results of this call, which XLA discards.
    let error = match catch_unwind(AssertUnwindSafe(answer)) {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(error)) => error,
        Err(panic) => panic_error(name, panic),
    };
    // SAFETY: `frame` is what XLA has passed, and the handler has not returned (caller).
    unsafe { raise(frame, &error) }
}

/// Drops a panic's payload, whose destructor may panic again.
pub(crate) fn drop_payload(panic: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(another);
    }
}

#[cold]
fn panic_error(kernel: &str, panic: Box<dyn Any + Send>) -> Error {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("without a message");
    let error = Error::internal(format!("the kernel panicked: {text} (in {kernel})"));
    drop_payload(panic);
    error
}
