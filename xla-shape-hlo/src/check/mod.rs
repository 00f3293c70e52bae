//! Checks of a module: operand counts, and the written shapes against those that follow from the operands.

mod inferred;
mod rules;

pub(crate) use inferred::inferred_shape;

use crate::module::{Computation, Instruction, Module};
use crate::opcode::Opcode;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use xla_shape_core::ElementType;
use xla_shape_core::Shape;
use xla_shape_core::ValidationError;
use xla_shape_core::infer::{self, InferError};
use xla_shape_core::text::ParseError;

/// Something that is wrong with an instruction.
#[derive(Clone, Debug)]
pub struct Finding<'m, 'a> {
    instruction: Instruction<'m, 'a>,
    problem: Problem,
}

impl<'m, 'a> Finding<'m, 'a> {
    /// The instruction.
    #[must_use]
    pub const fn instruction(&self) -> Instruction<'m, 'a> {
        self.instruction
    }

    /// What is wrong.
    #[must_use]
    pub const fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl fmt::Display for Finding<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{} ({}): {}", self.instruction.name(), self.instruction.opcode(), self.problem)
    }
}

/// What is wrong with an instruction.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The opcode takes another number of operands.
    OperandCount {
        /// The least number.
        at_least: usize,
        /// The largest, if there is one.
        at_most: Option<usize>,
        /// How many there are.
        found: usize,
    },
    /// An operand is not the kind of value that the opcode works on.
    OperandKind {
        /// Which operand.
        operand: usize,
        /// What it should be.
        expected: &'static str,
        /// Its shape.
        found: String,
    },
    /// The element types of operands differ.
    OperandType {
        /// Which operand.
        operand: usize,
        /// The element type that it should have.
        expected: ElementType,
        /// The one that it has.
        found: ElementType,
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
    /// The written shape is another than the one that follows.
    Shape {
        /// What follows from the operands.
        expected: String,
        /// What is written.
        found: String,
    },
    /// The shape does not follow from the operands of this opcode, so it must be written.
    NoInference,
    /// No such shape exists.
    Invalid(ValidationError),
    /// A bitcast changes the number of bytes.
    ByteSize {
        /// The bytes of the operand.
        expected: u64,
        /// The bytes of the result.
        found: u64,
    },
    /// A tuple has no element with this index.
    TupleIndex {
        /// The index.
        index: usize,
        /// How many elements there are.
        elements: usize,
    },
    /// The module has no such computation.
    UnknownComputation {
        /// The name.
        name: String,
    },
    /// A called computation has another number of parameters than there are operands.
    ParameterCount {
        /// The name of the computation.
        computation: String,
        /// How many operands there are.
        expected: usize,
        /// How many parameters there are.
        found: usize,
    },
    /// The parameters of a computation are not numbered 0, 1, …, each once.
    ParameterNumber {
        /// The number that is there twice, or too large.
        number: usize,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OperandCount { at_least, at_most: Some(at_most), found } if at_least == at_most => {
                write!(f, "expected {}, found {found}", Operands(*at_least))
            }
            Self::OperandCount { at_least, at_most: Some(at_most), found } => {
                write!(f, "expected {at_least} to {at_most} operands, found {found}")
            }
            Self::OperandCount { at_least, at_most: None, found } => {
                write!(f, "expected at least {}, found {found}", Operands(*at_least))
            }
            Self::OperandKind { operand, expected, found } => {
                write!(f, "expected {expected} as operand {operand}, found {found}")
            }
            Self::OperandType { operand, expected, found } => {
                write!(f, "expected {expected} as the element type of operand {operand}, found {found}")
            }
            Self::OperandShape { operand, expected, found } => {
                write!(f, "expected the shape {expected} before operand {operand}, found {found}")
            }
            Self::MissingAttribute { name } => write!(f, "expected the attribute `{name}`, found none"),
            Self::Attribute(error) => error.fmt(f),
            Self::Infer(error) => error.fmt(f),
            Self::Shape { expected, found } => write!(f, "expected the shape {expected}, found {found}"),
            Self::NoInference => f.write_str("it does not follow from the operands"),
            Self::Invalid(error) => error.fmt(f),
            Self::ByteSize { expected, found } => {
                write!(f, "expected a result of {expected} bytes as the operand has, found {found}")
            }
            Self::TupleIndex { index, elements } => {
                write!(f, "expected an index less than {elements}, the number of elements, found {index}")
            }
            Self::UnknownComputation { name } => write!(f, "expected the name of a computation, found `{name}`"),
            Self::ParameterCount { computation, expected, found } => {
                write!(f, "expected `{computation}` to have {expected} parameters, as many as operands, found {found}")
            }
            Self::ParameterNumber { number } => {
                write!(f, "expected the parameters to be numbered from 0, each once, found {number}")
            }
        }
    }
}

/// A number of operands.
struct Operands(usize);

impl fmt::Display for Operands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} operand{}", self.0, if self.0 == 1 { "" } else { "s" })
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

type Result<T> = core::result::Result<T, Problem>;

impl<'a> Module<'a> {
    /// Checks every instruction: how many operands it has, and whether the shape that is written is the one that
    /// follows from the operands and the attributes.
    ///
    /// Element types and dimensions are checked, layouts only where a bitcast must keep the number of bytes (that each
    /// layout is valid, the parser has checked). Opcodes without a rule here are passed over, and so is an instruction
    /// whose operands are not all known; in a part of a module, also a computation that is not there.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("\
    /// ENTRY main {
    ///   a = f32[2,3] parameter(0)
    ///   ROOT t = f32[2,3] transpose(a), dimensions={1,0}
    /// }")?;
    /// assert_eq!(module.check()[0].to_string(), "%t (transpose): expected the shape f32[3,2], found f32[2,3]");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn check(&self) -> Vec<Finding<'_, 'a>> {
        let mut findings = Vec::new();
        // Gathered once: a computation may be long, and may be called again and again.
        let parameters: Vec<_> = self.computations().map(parameters).collect();
        for computation in self.computations() {
            if let Err((instruction, problem)) = head(computation) {
                findings.push(Finding { instruction, problem });
            }
            for instruction in computation.instructions() {
                if let Err(problem) =
                    written_operands(instruction).and_then(|()| rules::check(instruction, &parameters))
                {
                    findings.push(Finding { instruction, problem });
                }
            }
        }
        findings
    }
}

/// The parameters of a computation, in the order of the text.
fn parameters<'m, 'a>(computation: Computation<'m, 'a>) -> Vec<Instruction<'m, 'a>> {
    computation.instructions().filter(|instruction| instruction.opcode() == Opcode::Parameter).collect()
}

/// Checks that the parameters of a computation are numbered without gaps, and that its head says the same.
fn head<'m, 'a>(computation: Computation<'m, 'a>) -> core::result::Result<(), (Instruction<'m, 'a>, Problem)> {
    if computation.is_fragment() {
        return Ok(());
    }
    let parameters: Vec<_> =
        computation.instructions().filter_map(|found| found.parameter_number().map(|number| (number, found))).collect();
    let mut by_number = vec![None; parameters.len()];
    for (number, parameter) in parameters {
        match by_number.get_mut(number) {
            Some(place @ None) => *place = Some(parameter),
            _ => return Err((parameter, Problem::ParameterNumber { number })),
        }
    }
    let Some(written) = computation.parameters() else { return Ok(()) };
    for (parameter, (_, shape)) in by_number.into_iter().flatten().zip(written) {
        same(shape, parameter.shape()).map_err(|problem| (parameter, problem))?;
    }
    let root = computation.root();
    computation.result().map_or(Ok(()), |shape| same(shape, root.shape())).map_err(|problem| (root, problem))
}

/// Whether two shapes have the same structure, element types and sizes, in whatever layouts.
fn compatible(a: &Shape, b: &Shape) -> bool {
    if core::ptr::eq(a, b) {
        return true;
    }
    match (a, b) {
        (Shape::Array(a) | Shape::Buffer(a), Shape::Array(b) | Shape::Buffer(b)) => {
            a.element_type() == b.element_type() && infer::all_agree(a.dimensions(), b.dimensions())
        }
        (Shape::Tuple(a), Shape::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| compatible(a, b))
        }
        (Shape::Token, Shape::Token) | (Shape::Opaque, Shape::Opaque) => true,
        _ => false,
    }
}

fn same(expected: &Shape, found: &Shape) -> Result<()> {
    if compatible(expected, found) {
        return Ok(());
    }
    let text = |shape: &Shape| shape.without_layout().to_string();
    Err(Problem::Shape { expected: text(expected), found: text(found) })
}

/// Checks that the shapes that are written before operands are those of their instructions.
fn written_operands(instruction: Instruction<'_, '_>) -> Result<()> {
    for (operand, found) in instruction.operands().enumerate() {
        if let (Some(known), Some(written)) = (found.instruction(), found.written_shape())
            && let Err(Problem::Shape { expected, found }) = same(known.shape(), written)
        {
            return Err(Problem::OperandShape { operand, expected, found });
        }
    }
    Ok(())
}
