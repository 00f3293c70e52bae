//! Shapes that the text leaves out: they follow from the operands.

use super::{Parser, Result, number};
use crate::infer::{Parameters, inferred_shape};
use crate::module::{InstructionRecord, Origin};
use crate::names::NONE;
use crate::opcode::Opcode;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use xla_shape_core::Shape;
use xla_shape_core::text::{Found, ParseError, ParseErrorKind};

/// How many arrays and tuples the shapes that are left out may have in any text, and for each of its bytes: a few lines of
/// tuples of tuples would have more than there is memory.
const NODES: usize = 1 << 17;
const NODES_OF_A_BYTE: usize = 8;

impl Parser<'_> {
    /// Finds the shapes that the text leaves out. Computations stand after those that they call.
    pub(crate) fn infer_left_out(&mut self) -> Result<()> {
        if !self.has_left_out {
            return Ok(());
        }
        let mut nodes = NODES.saturating_add(self.module.text.len().saturating_mul(NODES_OF_A_BYTE));
        // The elements of each tuple, so that they are kept once.
        let mut elements = BTreeMap::new();
        let mut parameters = Parameters::default();
        for computation in 0..self.module.computations.len() {
            let items = self.module.computations.get(computation).map(|record| record.instructions).unwrap_or_default();
            for instruction in items.numbers() {
                let record = self.module.instructions.get(instruction as usize);
                let Some(record) = record.filter(|known| known.shape == NONE && known.origin != Origin::Unread) else {
                    continue;
                };
                let record = record.clone();
                match self.left_out(&record, instruction, &mut nodes, &mut elements, &mut parameters) {
                    Ok(shape) => {
                        if let Some(record) = self.module.instructions.get_mut(instruction as usize) {
                            record.shape = shape;
                        }
                    }
                    Err(error) => {
                        self.report(error)?;
                        if let Some(record) = self.module.instructions.get_mut(instruction as usize) {
                            record.origin = Origin::Unread;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The number of an instruction's shape.
    fn left_out(
        &mut self,
        record: &InstructionRecord,
        instruction: u32,
        nodes: &mut usize,
        elements: &mut BTreeMap<(u32, usize), u32>,
        parameters: &mut Parameters,
    ) -> Result<u32> {
        let view = self.module.instruction_at(instruction);
        let place = if record.opcode_text.len == 0 { record.name } else { record.opcode_text };
        let failed = |reason: &str| {
            let opcode = view.map_or(Found::End, |view| Found::new(view.opcode().text()));
            let reason = Box::from(reason);
            ParseError::new(ParseErrorKind::CannotInferShape { opcode, reason }, self.module.span(place))
        };
        let Some(view) = view else { return Err(failed("")) };
        let operand = view.operand(0).and_then(|operand| operand.instruction());
        let tuple = operand.map_or(NONE, |operand| operand.shape_number());
        let mut element = None;
        if view.opcode() == Opcode::GetTupleElement
            && let Some(index) = view.attribute("index")
        {
            let key = (tuple, index.number()?);
            if let Some(&shape) = elements.get(&key) {
                return Ok(shape);
            }
            element = Some(key);
        }
        // What a tuple has inside it is copied, so it is counted first.
        let size = if view.opcode() == Opcode::Tuple {
            view.operands().filter_map(|operand| operand.shape()).map(nodes_of).fold(1, usize::saturating_add)
        } else {
            1
        };
        *nodes = nodes.checked_sub(size).ok_or_else(|| failed("the shapes that are left out are too large"))?;
        let shape = inferred_shape(view, parameters).map_err(|problem| failed(&problem.to_string()))?;
        if size == 1 {
            *nodes = nodes
                .checked_sub(nodes_of(&shape))
                .ok_or_else(|| failed("the shapes that are left out are too large"))?;
        }
        let known = (operand.map(|operand| operand.shape()) == Some(&shape)).then_some(tuple);
        let shape = known.unwrap_or_else(|| {
            self.module.shapes.push(shape);
            number(self.module.shapes.len()).saturating_sub(1)
        });
        if let Some(key) = element {
            elements.insert(key, shape);
        }
        Ok(shape)
    }
}

/// How many arrays and tuples a shape has.
fn nodes_of(shape: &Shape) -> usize {
    let elements = shape.tuple_shapes().unwrap_or(&[]);
    elements.iter().map(nodes_of).fold(1, usize::saturating_add)
}
