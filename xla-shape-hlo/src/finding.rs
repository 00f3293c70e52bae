//! What is wrong with a module: findings, how bad they are, and what each is about.

use crate::module::Instruction;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use xla_shape_core::infer::InferError;
use xla_shape_core::text::{ParseError, Span};

/// How bad a [`Finding`] is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// XLA accepts it, but a person should look at it.
    Hint,
    /// XLA's parser or verifier refuses it.
    Error,
}

impl Severity {
    /// Its name in JSON: `error` or `hint`.
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

/// Something that [`Module::check`](crate::Module::check) found.
#[derive(Clone, Debug)]
pub struct Finding<'m, 'a> {
    severity: Severity,
    instruction: Instruction<'m, 'a>,
    problem: Problem,
    span: Span,
}

impl<'m, 'a> Finding<'m, 'a> {
    /// Whether XLA refuses it.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// The instruction. A finding about a whole module is at the root of its entry computation.
    #[must_use]
    pub const fn instruction(&self) -> Instruction<'m, 'a> {
        self.instruction
    }

    /// What is wrong.
    #[must_use]
    pub const fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The part of the text that it is about.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for Finding<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.severity == Severity::Hint {
            f.write_str("hint: ")?;
        }
        write!(f, "%{} ({}): {}", self.instruction.name(), self.instruction.opcode(), self.problem)
    }
}

/// What is wrong with an instruction.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The text of the instruction could not be read.
    Unread,
    /// Nothing is known of the opcode.
    UnknownOpcode {
        /// The opcode.
        opcode: String,
    },
    /// Nothing is known of an attribute.
    UnknownAttribute {
        /// The name of the attribute.
        name: String,
    },
    /// The shape that is written before an operand is not that of its instruction.
    OperandShape {
        /// Which operand.
        operand: usize,
        /// The shape of the instruction.
        expected: String,
        /// The one that is written.
        found: String,
    },
    /// The opcode needs an attribute that is not there.
    MissingAttribute {
        /// The attribute's name.
        name: &'static str,
    },
    /// An attribute does not have the kind of value that it should.
    Attribute(ParseError),
    /// The operands and attributes do not fit together.
    Infer(InferError),
    /// The shape does not follow from the operands of this opcode, so it must be written.
    NoInference,
    /// The written shape is another than the one that follows.
    Shape {
        /// What follows from the operands.
        expected: String,
        /// What is written.
        found: String,
    },
    /// An operation combines floats of different precision, which is only allowed in programs after optimisation.
    MixedPrecision {
        /// The shape of the one.
        first: String,
        /// The shape of the other.
        second: String,
    },
    /// A bitcast changes the number of bytes.
    ByteSize {
        /// The bytes of the operand.
        expected: u64,
        /// The bytes of the result.
        found: u64,
    },
    /// The module has no such computation.
    UnknownComputation {
        /// The name.
        name: String,
    },
    /// The parameters of a computation are not numbered 0, 1, …, each once.
    ParameterNumber {
        /// The number that is there twice, or too large.
        number: usize,
    },
    /// Something else is wrong.
    Unfit {
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
}

impl Problem {
    pub(crate) fn unfit(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Unfit { expected: expected.into(), found: found.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unread => f.write_str("the instruction could not be read, so it is not checked"),
            Self::UnknownOpcode { opcode } => write!(f, "the opcode `{opcode}` is not known, so it is not checked"),
            Self::UnknownAttribute { name } => write!(f, "the attribute `{name}` is not known, so it is not checked"),
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
                write!(f, "expected a result of {expected} bytes as the operand has, found {found}")
            }
            Self::UnknownComputation { name } => write!(f, "expected the name of a computation, found `{name}`"),
            Self::ParameterNumber { number } => {
                write!(f, "expected the parameters to be numbered from 0, each once, found {number}")
            }
            Self::Unfit { expected, found } => write!(f, "expected {expected}, found {found}"),
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

/// What was found so far.
#[derive(Default)]
pub(crate) struct Findings<'m, 'a>(Vec<Finding<'m, 'a>>);

impl<'m, 'a> Findings<'m, 'a> {
    pub(crate) fn add(
        &mut self,
        severity: Severity,
        instruction: Instruction<'m, 'a>,
        problem: Problem,
        span: Option<Span>,
    ) {
        let span = match (&problem, span) {
            (Problem::Attribute(error), _) => error.span(),
            (_, Some(span)) => span,
            (Problem::Shape { .. }, None) if !instruction.shape_text().is_empty() => instruction.shape_span(),
            (_, None) => instruction.span(),
        };
        self.0.push(Finding { severity, instruction, problem, span });
    }

    pub(crate) fn error(&mut self, instruction: Instruction<'m, 'a>, problem: Problem) {
        self.add(Severity::Error, instruction, problem, None);
    }

    /// Notes the error of a check, if it has one.
    pub(crate) fn check(&mut self, instruction: Instruction<'m, 'a>, result: Result<()>) {
        if let Err(problem) = result {
            self.error(instruction, problem);
        }
    }

    /// All of them in the order of the text, each once: a value that a rule reads is read again among all values.
    pub(crate) fn into_sorted(self) -> Vec<Finding<'m, 'a>> {
        let mut found = self.0;
        found.sort_by_key(|finding| finding.span.start);
        let same = |a: &mut Finding<'m, 'a>, b: &mut Finding<'m, 'a>| {
            a.instruction.number() == b.instruction.number() && a.span == b.span && a.problem == b.problem
        };
        found.dedup_by(same);
        found
    }
}
