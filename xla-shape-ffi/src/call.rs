//! One call of a kernel: its operands, results and attributes, each checked before any data is touched.

use crate::abi;
use crate::error::{Error, Outcome};
use crate::frame::{Arrays, Frame, RawArray, RawAttribute, Request, raise};
use crate::signature::{Role, element_bits};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use xla_shape::{ArrayShape, Dimension, ElementType, Layout};

/// A call, from which a kernel's parameters are taken in their order.
pub struct Call<'a> {
    frame: Frame<'a>,
    operands: Arrays<'a>,
    results: Arrays<'a>,
    next_operand: usize,
    next_result: usize,
    /// The memory that has been taken: which bytes, by whom, and whether to write.
    taken: Vec<(Range<usize>, String, bool)>,
}

impl<'a> Call<'a> {
    fn new(frame: Frame<'a>) -> Result<Self, Error> {
        if !frame.is_execution() {
            return Err(Error::invalid_argument("expected a call to execute, found one of another stage"));
        }
        let (operands, results) = (frame.operands(), frame.results());
        Ok(Self { frame, operands, results, next_operand: 0, next_result: 0, taken: Vec::new() })
    }

    /// Compares what the kernel takes with what the call has: how many of each, and the names of attributes.
    #[doc(hidden)]
    pub fn expect(&self, parameters: &[(Role, &str)]) -> Result<(), Error> {
        let count = |role: Role| parameters.iter().filter(|(found, _)| *found == role).count();
        let compare = |what: &str, expected: usize, found: usize| {
            let plural = if expected == 1 { "" } else { "s" };
            if expected == found {
                return Ok(());
            }
            Err(Error::invalid_argument(format!("this kernel takes {expected} {what}{plural}, the call has {found}")))
        };
        compare("operand", count(Role::Operand), self.operands.len())?;
        compare("result", count(Role::Result), self.results.len())?;
        for (name, _) in self.frame.attributes() {
            let is_known = |&(role, known): &(Role, &str)| role == Role::Attribute && known.as_bytes() == name;
            if !parameters.iter().any(is_known) {
                let name = String::from_utf8_lossy(name);
                return Err(Error::invalid_argument(format!(
                    "attribute {name:?}: this kernel takes none of this name"
                )));
            }
        }
        Ok(())
    }

    pub(crate) fn next_operand(&mut self) -> Result<Argument<'a>, Error> {
        let number = self.next_operand;
        self.next_operand += 1;
        Argument::new(format!("operand {number}"), self.operands, number)
    }

    pub(crate) fn next_result(&mut self) -> Result<Argument<'a>, Error> {
        let number = self.next_result;
        self.next_result += 1;
        Argument::new(format!("result {number}"), self.results, number)
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<RawAttribute<'a>> {
        self.frame.attributes().find(|(found, _)| *found == name.as_bytes()).map(|(_, value)| value)
    }

    #[cfg(feature = "threads")]
    pub(crate) fn frame(&self) -> Frame<'a> {
        self.frame
    }

    /// The bytes of an operand.
    pub(crate) fn read(&mut self, argument: &Argument<'a>, len: usize) -> Result<&'a [u8], Error> {
        let data = self.claim(argument, len, false)?;
        // SAFETY: XLA passes an operand of this type and sizes, which take `len` bytes, initialised, for the time of the
        // call; `claim` has seen that the address is not null and that no result lies there.
        Ok(unsafe { std::slice::from_raw_parts(data, len) })
    }

    /// The bytes of a result, to write.
    pub(crate) fn write(&mut self, argument: &Argument<'a>, len: usize) -> Result<&'a mut [u8], Error> {
        let data = self.claim(argument, len, true)?;
        // SAFETY: XLA passes memory for a result of this type and sizes, which take `len` bytes; nobody else looks at it
        // during the call, and `claim` has seen that no other operand or result of this call lies there. It may hold
        // anything, which bytes may.
        Ok(unsafe { std::slice::from_raw_parts_mut(data, len) })
    }

    /// Notes that these bytes are in use, if nothing speaks against it.
    fn claim(&mut self, argument: &Argument<'a>, len: usize, writes: bool) -> Result<*mut u8, Error> {
        if len == 0 {
            return Ok(std::ptr::NonNull::dangling().as_ptr());
        }
        let (data, name) = (argument.array.data, &argument.name);
        if data.is_null() {
            return Err(Error::invalid_argument(format!("{name}: expected {len} bytes, found no memory")));
        }
        let range = data.addr()..data.addr().saturating_add(len);
        let overlaps = |(other, _, writes_too): &&(Range<usize>, String, bool)| {
            (writes || *writes_too) && other.start < range.end && range.start < other.end
        };
        if let Some((_, other, _)) = self.taken.iter().find(overlaps) {
            return Err(Error::invalid_argument(format!("{name}: expected memory of its own, found that of {other}")));
        }
        self.taken.push((range, name.clone(), writes));
        Ok(data)
    }
}

/// An operand or a result of a call.
pub(crate) struct Argument<'a> {
    name: String,
    array: RawArray<'a>,
    element_type: ElementType,
    sizes: Vec<usize>,
}

impl<'a> Argument<'a> {
    fn new(name: String, arrays: Arrays<'a>, number: usize) -> Result<Self, Error> {
        if number >= arrays.len() {
            return Err(Error::invalid_argument(format!("{name}: the call has only {}", arrays.len())));
        }
        let array = arrays.get(number).map_err(|error| Error::new(error.code(), format!("{name}: {error}")))?;
        let Some(element_type) = ElementType::from_proto_number(array.element_type) else {
            let number = array.element_type;
            return Err(Error::invalid_argument(format!("{name}: expected an array, found elements of type {number}")));
        };
        let sizes = array.sizes.iter().map(|&size| usize::try_from(size)).collect::<Result<Vec<_>, _>>();
        let sizes =
            sizes.map_err(|_| Error::invalid_argument(format!("{name}: expected sizes, found a negative one")))?;
        Ok(Self { name, array, element_type, sizes })
    }

    pub(crate) fn element_type(&self) -> ElementType {
        self.element_type
    }

    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// What the call has, in XLA's notation.
    fn text(&self) -> String {
        let sizes = self.sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        format!("{}[{sizes}]", self.element_type)
    }

    /// The shape in the layout in which a kernel without static shapes gets it: row-major.
    pub(crate) fn row_major(&self) -> Result<ArrayShape, Error> {
        let dimensions: Vec<_> = self.sizes.iter().map(|&size| Dimension::Static(size as u64)).collect();
        // No `E` means that elements take whole bytes.
        let bits = Some(element_bits(self.element_type)).filter(|bits| bits % 8 != 0).unwrap_or(0);
        let layout = Layout::descending(self.sizes.len()).with_element_size_in_bits(bits);
        let shape = layout.and_then(|layout| ArrayShape::new(self.element_type, &dimensions, layout));
        shape.map_err(|error| self.refuse(error))
    }

    /// The kernel takes something else.
    pub(crate) fn differs(&self, expected: &str) -> Error {
        Error::invalid_argument(format!("{}: this kernel takes {expected}, the call has {}", self.name, self.text()))
    }

    /// The kernel takes what no call can have.
    pub(crate) fn impossible(&self, expected: &str, reason: &str) -> Error {
        Error::invalid_argument(format!("{}: this kernel takes {expected}: {reason}", self.name))
    }

    /// The array is none that a kernel can take.
    pub(crate) fn refuse(&self, reason: impl std::fmt::Display) -> Error {
        Error::invalid_argument(format!("{}: {}: {reason}", self.name, self.text()))
    }
}

/// Answers XLA: says what the handler is, or checks the call and runs the kernel.
///
/// # Safety
/// `frame` is what XLA passes to a handler.
#[doc(hidden)]
pub unsafe fn handle<O: Outcome>(
    frame: *mut abi::CallFrame,
    kernel: impl FnOnce(&mut Call<'_>) -> Result<O, Error>,
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
            Request::Call(frame) => kernel(&mut Call::new(frame)?)?.into_result(),
        }
    };
    // What a panic leaves behind is the results of this call, which are thrown away.
    let answer = catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|panic| {
        let error = of_panic(&*panic);
        discard(panic);
        Err(error)
    });
    match answer {
        Ok(()) => std::ptr::null_mut(),
        // SAFETY: the caller promises the frame.
        Err(error) => unsafe { raise(frame, &error) },
    }
}

/// Drops what a panic threw, which may panic again when it is dropped.
pub(crate) fn discard(panic: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(another);
    }
}

fn of_panic(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Error::internal(format!("the kernel panicked: {}", text.unwrap_or("without a message")))
}
