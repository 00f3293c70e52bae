//! The results of [`Module::check`](crate::Module::check): what is wrong, how severe it is, and where.

use crate::module::Instruction;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use xla_shape_core::infer::InferError;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::text::{ParseError, Span};

/// How severe a [`Finding`] is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// XLA accepts it, but a person should look at it.
    Hint,
    /// XLA's parser or verifier refuses it.
    Error,
}

impl Severity {
    /// The severity's name in JSON: `error` or `hint`.
    ///
    /// ```
    /// assert_eq!(xla_shape_hlo::Severity::Hint.name(), "hint");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A problem that [`Module::check`](crate::Module::check) found.
#[derive(Clone, Debug)]
pub struct Finding<'m> {
    severity: Severity,
    instruction: Instruction<'m>,
    problem: Problem,
    span: Span,
}

impl<'m> Finding<'m> {
    /// Whether XLA refuses the module for this problem.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, Severity};
    ///
    /// let text = "ENTRY e { p = f32[2] parameter(0) ROOT n = f32[3] negate(p) }";
    /// let module = Module::parse(text)?;
    /// assert_eq!(module.check()[0].severity(), Severity::Error, "the result of negate has its operand's shape");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// The instruction with the problem. A finding about the whole module names the root of its entry computation.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[2] parameter(0) ROOT n = f32[3] negate(p) }")?;
    /// assert_eq!(module.check()[0].instruction().name(), "n");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn instruction(&self) -> Instruction<'m> {
        self.instruction
    }

    /// The kind of problem, with what was expected and found.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, Problem};
    ///
    /// let text = "ENTRY e { p = f32[2] parameter(0) ROOT n = f32[3] negate(p) }";
    /// let module = Module::parse(text)?;
    /// assert!(matches!(module.check()[0].problem(), Problem::Shape { .. }));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Where the problem is in the module's text.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[2] parameter(0) ROOT n = f32[3] negate(p) }")?;
    /// let span = module.check()[0].span();
    /// assert_eq!(&module.text()[span.start..span.end], "f32[3]");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.severity == Severity::Hint {
            f.write_str("hint: ")?;
        }
        write!(f, "%{} ({}): {}", self.instruction.name(), self.instruction.opcode(), self.problem)
    }
}

/// What is wrong with an instruction.
///
/// ```
/// use xla_shape_hlo::{Module, Problem};
///
/// let module = Module::parse("ENTRY e { p = f32[4] parameter(0) ROOT n = f32[5] negate(p) }")?;
/// let finding = &module.check()[0];
/// let Problem::Shape { expected, found } = finding.problem() else { panic!("another problem: {finding}") };
/// assert_eq!((expected.as_str(), found.as_str()), ("f32[4]", "f32[5]"));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The parser could not read the instruction.
    Unread,
    /// The opcode is unknown.
    UnknownOpcode {
        /// The opcode.
        opcode: String,
    },
    /// The attribute is unknown.
    UnknownAttribute {
        /// The name of the attribute.
        name: String,
    },
    /// The shape written before an operand differs from the shape of the instruction that the operand names.
    OperandShape {
        /// The operand's index.
        operand: usize,
        /// The shape of the instruction.
        expected: String,
        /// The written shape.
        found: String,
    },
    /// The opcode requires an attribute that is missing.
    MissingAttribute {
        /// The attribute's name.
        name: &'static str,
    },
    /// The value of an attribute cannot be read.
    Attribute(ParseError),
    /// No shape can be inferred: the operands and attributes contradict each other.
    Infer(InferError),
    /// The shape is missing, and it cannot be inferred for this opcode.
    NoInference,
    /// The written shape differs from the inferred one.
    Shape {
        /// The shape inferred from the operands and attributes.
        expected: String,
        /// The written shape.
        found: String,
    },
    /// An operation combines floats of different precision. XLA allows that only in optimised programs.
    MixedPrecision {
        /// The shape of the first array.
        first: String,
        /// The shape of the array with another precision.
        second: String,
    },
    /// A bitcast changes the number of bytes.
    ByteSize {
        /// The bytes of the operand.
        expected: u64,
        /// The bytes of the result.
        found: u64,
    },
    /// The module has no computation of this name.
    UnknownComputation {
        /// The name.
        name: String,
    },
    /// The parameters of a computation are not numbered 0, 1, …, each once.
    ParameterNumber {
        /// The number that occurs twice, or is too large.
        number: usize,
    },
    /// Any other rule that is broken.
    Mismatch {
        /// What the rule asks for.
        expected: String,
        /// What the module has.
        found: String,
    },
}

impl Problem {
    pub(crate) fn mismatch(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Mismatch { expected: expected.into(), found: found.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unread => f.write_str("the instruction could not be read and is not checked"),
            Self::UnknownOpcode { opcode } => write!(f, "the opcode `{opcode}` is unknown and is not checked"),
            Self::UnknownAttribute { name } => write!(f, "the attribute `{name}` is unknown and is not checked"),
            Self::OperandShape { operand, expected, found } => {
                write!(f, "expected the shape {expected} before operand {operand}, found {found}")
            }
            Self::MissingAttribute { name } => write!(f, "expected the attribute `{name}`, found none"),
            Self::Attribute(error) => error.fmt(f),
            Self::Infer(error) => error.fmt(f),
            Self::NoInference => f.write_str("it does not follow from the operands"),
            Self::Shape { expected, found } => write!(f, "expected the shape {expected}, found {found}"),
            Self::MixedPrecision { first, second } => {
                write!(f, "expected floats of one precision, found {first} and {second}")
            }
            Self::ByteSize { expected, found } => {
                write!(f, "expected a result of {expected} bytes, the size of the operand, found {found}")
            }
            Self::UnknownComputation { name } => write!(f, "expected the name of a computation, found `{name}`"),
            Self::ParameterNumber { number } => {
                write!(f, "expected the parameters to be numbered from 0, each once, found {number}")
            }
            Self::Mismatch { expected, found } => write!(f, "expected {expected}, found {found}"),
        }
    }
}

impl From<ParseError> for Problem {
    fn from(error: ParseError) -> Self {
        Self::Attribute(error)
    }
}

impl From<InferError> for Problem {
    fn from(error: InferError) -> Self {
        Self::Infer(error)
    }
}

pub(crate) type Result<T> = core::result::Result<T, Problem>;

/// The findings collected so far.
#[derive(Default)]
pub(crate) struct Findings<'m>(Vec<Finding<'m>>);

impl<'m> Findings<'m> {
    pub(crate) fn add(
        &mut self,
        severity: Severity,
        instruction: Instruction<'m>,
        problem: Problem,
        span: Option<Span>,
    ) {
        // The narrowest place that is known: the attribute, the caller's `span`, the shape, or else the whole instruction.
        let span = match (&problem, span) {
            (Problem::Attribute(error), _) => error.span(),
            (_, Some(span)) => span,
            (Problem::Shape { .. }, None) if !instruction.shape_text().is_empty() => instruction.shape_span(),
            (_, None) => instruction.span(),
        };
        self.0.push(Finding { severity, instruction, problem, span });
    }

    pub(crate) fn error(&mut self, instruction: Instruction<'m>, problem: Problem) {
        self.add(Severity::Error, instruction, problem, None);
    }

    /// Adds the error of a check, if it failed.
    pub(crate) fn check(&mut self, instruction: Instruction<'m>, result: Result<()>) {
        if let Err(problem) = result {
            self.error(instruction, problem);
        }
    }

    /// All findings in text order, without duplicates. A bad attribute value can be found twice: by the rule that reads it and by the
    /// check of all values.
    pub(crate) fn into_sorted(self) -> Vec<Finding<'m>> {
        let mut found = self.0;
        sort_by_key(&mut found, |finding| finding.span.start);
        let same = |a: &mut Finding<'m>, b: &mut Finding<'m>| {
            a.instruction.number() == b.instruction.number() && a.span == b.span && a.problem == b.problem
        };
        found.dedup_by(same);
        found
    }
}
