//! The figures of one instruction.

use crate::Instruction;
use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use serde_json::Value;
use xla_shape_core::text::Span;

/// What the compiler writes where it has no estimate.
const NOT_SAID: u64 = i64::MAX as u64;

/// The cycles that the compiler expects one run of an instruction to take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cycles {
    /// The compiler's figure, which may be 0.
    Known(u64),
    /// The compiler wrote that it has none: 9223372036854775807, as for what it offloads to a SparseCore.
    Flagged,
    /// There is no figure.
    Missing,
}

impl Cycles {
    /// The figure, if there is one.
    ///
    /// ```
    /// use xla_shape_hlo::cost::Cycles;
    /// assert_eq!(Cycles::Known(7).known(), Some(7));
    /// assert_eq!(Cycles::Flagged.known(), None);
    /// ```
    #[must_use]
    pub const fn known(self) -> Option<u64> {
        match self {
            Self::Known(cycles) => Some(cycles),
            Self::Flagged | Self::Missing => None,
        }
    }
}

/// Why the cycles of a program cannot be added up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostError {
    span: Span,
    message: String,
}

impl CostError {
    pub(super) const fn new(span: Span, message: String) -> Self {
        Self { span, message }
    }

    /// Where the instruction stands in the module's text, in bytes.
    ///
    /// ```
    /// let text = r#"c = f32[] copy(a), backend_config={"window_config":{"estimated_cycles":"many"}}"#;
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// assert_eq!(module.costs().unwrap_err().span().start, 0);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for CostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CostError {}

/// Why an instruction's figures cannot be used.
pub(super) enum Trouble {
    /// The configuration is not in the form in which the compiler writes it.
    Unread(CostError),
    /// The figure is there, and is not a number.
    NoNumber(CostError),
}

/// What an instruction's `window_config` says: its cycles, and how often each loop over its windows runs.
pub(super) fn window(instruction: Instruction<'_>) -> Result<(Cycles, Vec<u64>), Trouble> {
    let missing = (Cycles::Missing, Vec::new());
    let error = |what: &str| CostError::new(instruction.span(), alloc::format!("{}: {what}", instruction.name()));
    let unread = |what: &str| Trouble::Unread(error(what));
    let text = match instruction.config() {
        None => return Ok(missing),
        Some(Ok(text)) => text,
        Some(Err(wrong)) => return Err(unread(&alloc::format!("cannot read `backend_config`: {wrong}"))),
    };
    let value = text.split_once("\"window_config\"").and_then(|(_, rest)| rest.trim_start().strip_prefix(':'));
    let Some(rest) = value else { return Ok(missing) };
    // Reads the value of the key and stops there, because the rest of a configuration may be long.
    let window = match serde_json::Deserializer::from_str(rest).into_iter::<Value>().next() {
        Some(Ok(Value::Object(window))) => window,
        Some(Ok(Value::Null)) => return Ok(missing),
        Some(Ok(other)) => {
            return Err(unread(&alloc::format!("expected `window_config` to be an object, found {other}")));
        }
        Some(Err(wrong)) => return Err(unread(&alloc::format!("cannot read `window_config`: {wrong}"))),
        None => return Err(unread("expected `window_config` to be an object, found the end")),
    };
    let cycles = match window.get("estimated_cycles") {
        None => Cycles::Missing,
        Some(found) => match number(found) {
            Some(NOT_SAID) => Cycles::Flagged,
            Some(cycles) => Cycles::Known(cycles),
            None => {
                let message = alloc::format!("expected `estimated_cycles` to be a number, found {found}");
                return Err(Trouble::NoNumber(error(&message)));
            }
        },
    };
    let bounds = match window.get("iteration_bounds") {
        None => Vec::new(),
        Some(found) => {
            let numbers = found.as_array().and_then(|bounds| bounds.iter().map(number).collect::<Option<Vec<u64>>>());
            let wrong = || unread(&alloc::format!("expected `iteration_bounds` to be numbers, found {found}"));
            numbers.ok_or_else(wrong)?
        }
    };
    Ok((cycles, bounds))
}

/// A number as protobuf writes it in JSON: 64-bit ones are strings.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    }
    .filter(|&number| number <= NOT_SAID)
}
