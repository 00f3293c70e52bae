//! Shapes that the text omits, inferred from the operands as in `HloParserImpl::CreateInstruction` of
//! `xla/hlo/parser/hlo_parser.cc`.

use super::{Parser, Result, number};
use crate::infer::{Parameters, inferred_shape};
use crate::module::{Form, InstructionRecord};
use crate::names::NONE;
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use xla_shape_core::Shape;
use xla_shape_core::text::{Found, ParseError, ParseErrorKind};

/// The limit on the arrays and tuples in inferred shapes: a constant, plus this many for each byte of the text. Without it, a few
/// lines of tuples of tuples would exhaust the memory.
const NODES: usize = 1 << 17;
const NODES_PER_BYTE: usize = 8;

impl Parser<'_> {
    /// Infers the shapes that the text omits. Each computation comes after those that it calls, so one pass is enough.
    pub(crate) fn infer_omitted(&mut self) -> Result<()> {
        if !self.has_omitted {
            return Ok(());
        }
        let mut nodes = NODES.saturating_add(self.module.text.len().saturating_mul(NODES_PER_BYTE));
        // The shape numbers of tuple elements, so that each is stored once.
        let mut elements = BTreeMap::new();
        let mut parameters = Parameters::default();
        for computation in 0..self.module.computations.len() {
            let items = self.module.computations.get(computation).map(|record| record.instructions).unwrap_or_default();
            for instruction in items.indices() {
                let record = self.module.instructions.get(instruction as usize);
                let Some(record) = record.filter(|known| known.shape == NONE && known.form != Form::Unread) else {
                    continue;
                };
                let record = record.clone();
                match self.infer_shape(&record, instruction, &mut nodes, &mut elements, &mut parameters) {
                    Ok(shape) => {
                        if let Some(record) = self.module.instructions.get_mut(instruction as usize) {
                            record.shape = shape;
                        }
                    }
                    Err(error) => {
                        self.report(error)?;
                        if let Some(record) = self.module.instructions.get_mut(instruction as usize) {
                            record.form = Form::Unread;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Infers an instruction's shape and returns its number.
    fn infer_shape(
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
            && let Some(index) = view.value_of(Key::Index)
        {
            let key = (tuple, index.number()?);
            if let Some(&shape) = elements.get(&key) {
                return Ok(shape);
            }
            element = Some(key);
        }
        // A tuple copies the shapes of its elements, so they are counted before the copy.
        let size = if view.opcode() == Opcode::Tuple {
            view.operands().filter_map(|operand| operand.shape()).map(nodes_of).fold(1, usize::saturating_add)
        } else {
            1
        };
        *nodes = nodes.checked_sub(size).ok_or_else(|| failed("the inferred shapes are too large"))?;
        let shape = inferred_shape(view, parameters).map_err(|problem| failed(&problem.to_string()))?;
        if size == 1 {
            *nodes = nodes.checked_sub(nodes_of(&shape)).ok_or_else(|| failed("the inferred shapes are too large"))?;
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

/// The number of arrays and tuples in a shape.
fn nodes_of(shape: &Shape) -> usize {
    let elements = shape.tuple_shapes().unwrap_or(&[]);
    1 + elements.iter().map(nodes_of).sum::<usize>()
}
