//! The printer: modules to text, in the style of XLA's printer (`HloModule::Print`, `HloComputation::Print` and
//! `HloInstruction::Print` in `xla/hlo/ir`).
//!
//! Names have `%`, and every fifth operand has an index comment. An operand is printed with a shape only if the module's text has one there that
//! differs from the shape of the operand's instruction. Shapes are canonical; constants and attribute values stay as written.

use crate::attribute::Attribute;
use crate::module::{Computation, Instruction, Module};
use crate::schema::opcode::Opcode;
use core::fmt::{self, Display};
use xla_shape_core::Layout;
use xla_shape_core::Shape;

impl Display for Module {
    /// Prints the whole module. The output parses to the same module, except that shapes before operands are gone if they repeat
    /// the shapes of their instructions. Printing the parsed output gives the same text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.name() {
            write!(f, "HloModule {name}")?;
            attributes(f, self.attributes())?;
            f.write_str("\n\n")?;
        }
        for &table in self.tables() {
            writeln!(f, "{}", table.name())?;
            for (number, value) in self.rows(table) {
                writeln!(f, "{number} {}", value.text())?;
            }
            f.write_str("\n")?;
        }
        if !self.tables().is_empty() {
            f.write_str("\n")?;
        }
        for (i, computation) in self.computations().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            computation.fmt(f)?;
        }
        if self.name().is_some() {
            f.write_str("\n")?;
        }
        Ok(())
    }
}

fn attributes<'a>(f: &mut fmt::Formatter<'_>, attributes: impl Iterator<Item = Attribute<'a>>) -> fmt::Result {
    for attribute in attributes {
        write!(f, ", {}={}", attribute.name(), attribute.value().text())?;
    }
    Ok(())
}

impl Display for Computation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_fragment() {
            for instruction in self.instructions() {
                writeln!(f, "{instruction}")?;
            }
            return Ok(());
        }
        if self.is_entry() {
            f.write_str("ENTRY ")?;
        }
        write!(f, "%{} ", self.name())?;
        if let (Some(parameters), Some(result)) = (self.written_parameters(), self.written_result()) {
            f.write_str("(")?;
            for (i, (name, shape)) in parameters.enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                write!(f, "{name}: ")?;
                head_shape(f, shape)?;
            }
            f.write_str(") -> ")?;
            head_shape(f, result)?;
            f.write_str(" ")?;
        }
        f.write_str("{\n")?;
        for instruction in self.instructions() {
            writeln!(f, "  {instruction}")?;
        }
        f.write_str("}")?;
        attributes(f, self.attributes())?;
        f.write_str("\n")
    }
}

/// Prints a shape in a computation's signature: without the layout if that is the default one.
fn head_shape(f: &mut fmt::Formatter<'_>, shape: &Shape) -> fmt::Result {
    if has_default_layout(shape) { shape.without_layout().fmt(f) } else { shape.fmt(f) }
}

fn has_default_layout(shape: &Shape) -> bool {
    match (shape.array(), shape.tuple_shapes()) {
        (Some(array), _) => *array.layout() == Layout::descending(array.num_dimensions()),
        (None, elements) => elements.unwrap_or(&[]).iter().all(has_default_layout),
    }
}

/// Prints the separator before item `i` of a list. XLA numbers every fifth item.
fn separator(f: &mut fmt::Formatter<'_>, i: usize) -> fmt::Result {
    match i {
        0 => Ok(()),
        _ if i.is_multiple_of(5) => write!(f, ", /*index={i}*/"),
        _ => f.write_str(", "),
    }
}

impl Display for Instruction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            f.write_str("ROOT ")?;
        }
        write!(f, "%{} = {} {}(", self.name(), self.shape(), self.opcode())?;
        if matches!(self.opcode(), Opcode::Constant | Opcode::Parameter) {
            f.write_str(self.arguments())?;
            // After a `//` comment, the parenthesis must be on a new line.
            if self.arguments().lines().next_back().is_some_and(|line| line.contains("//")) {
                f.write_str("\n")?;
            }
        }
        for (i, operand) in self.operands().enumerate() {
            separator(f, i)?;
            if let Some(shape) = operand.written_shape()
                && operand.instruction().is_none_or(|instruction| instruction.shape() != shape)
            {
                write!(f, "{shape} ")?;
            }
            write!(f, "%{}", operand.name())?;
        }
        f.write_str(")")?;
        attributes(f, self.attributes())
    }
}
