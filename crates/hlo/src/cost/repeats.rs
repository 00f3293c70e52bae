//! Broadcasts that write each element of an array several times, for products that read all of them.

use super::copies::Search;
use crate::schema::Key;
use crate::{Computation, Instruction, Opcode};
use xla_shape_core::infer::WindowDimension;

/// How many instructions are looked at on the way to a product. If there are more, nothing is said.
const MOST: usize = 200;

/// What an array is on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has the elements that were repeated.
    Repeated,
    /// They were multiplied by others, and are yet to be summed.
    Multiplied,
}

/// A fusion, and the fusion around it.
struct Caller<'c, 'm> {
    fusion: Instruction<'m>,
    outer: Option<&'c Self>,
}

impl<'m> Caller<'_, 'm> {
    fn outermost(&self) -> Instruction<'m> {
        self.outer.map_or(self.fusion, Self::outermost)
    }
}

/// An array that is repeated for a product.
pub(super) struct Repetition<'m> {
    /// What makes the array before it is repeated.
    pub(super) source: Instruction<'m>,
    /// How many times each element is written.
    pub(super) times: u64,
    /// The product, or the fusion around it.
    pub(super) product: Instruction<'m>,
}

impl<'m> Search<'m> {
    /// What an instruction repeats, if it does nothing else and only products read the result. Each of them could read the array before:
    /// what multiplies an element several times can multiply one copy of it as often.
    pub(super) fn repetition(&self, instruction: Instruction<'m>) -> Option<Repetition<'m>> {
        let source = repeated(instruction)?;
        let count = |value: Instruction<'_>| value.shape().array()?.elements();
        let (before, after) = (count(source)?, count(instruction)?);
        // One element needs no memory of its own: its broadcast is the start of something else.
        let times = after.checked_div(before).filter(|times| before > 1 && *times > 1)?;
        let (mut product, mut left) = (None, MOST);
        let is_product = self.ends_in_product(instruction, Stage::Repeated, None, &mut product, &mut left);
        Some(Repetition { source, times, product: product.filter(|_| is_product)? })
    }

    /// Whether all that reads a value is, or leads to, a product. `product` is the first one, or the outermost fusion around it.
    fn ends_in_product(
        &self,
        value: Instruction<'m>,
        stage: Stage,
        caller: Option<&Caller<'_, 'm>>,
        product: &mut Option<Instruction<'m>>,
        left: &mut usize,
    ) -> bool {
        let readers = self.readers_of(value);
        let Some(rest) = left.checked_sub(readers.len().saturating_add(1)) else { return false };
        *left = rest;
        if value.is_root() {
            // The result of a fusion is read where the fusion is.
            let Some(caller) = caller else { return false };
            if !self.ends_in_product(caller.fusion, stage, caller.outer, product, left) {
                return false;
            }
        } else if readers.is_empty() {
            return false;
        }
        readers.iter().all(|&reader| {
            use Opcode as O;
            let mut on = |value, stage| self.ends_in_product(value, stage, caller, product, left);
            // If both operands of a product are this value, the array before cannot replace one of them.
            if reader.opcode() != O::Fusion && is_read_twice(reader, value) {
                return false;
            }
            let is_end = match (reader.opcode(), stage) {
                (O::Bitcast | O::Reshape | O::Transpose | O::Copy | O::Convert, _) => return on(reader, stage),
                (O::Multiply, Stage::Repeated) => return on(reader, Stage::Multiplied),
                (O::Fusion, _) => {
                    let Some(fused) = reader.callee(Key::Calls) else { return false };
                    let inside = Caller { fusion: reader, outer: caller };
                    return fused.instructions().all(|parameter| {
                        !is_operand(parameter, reader, value)
                            || self.ends_in_product(parameter, stage, Some(&inside), product, left)
                    });
                }
                (O::Dot, Stage::Repeated) => true,
                (O::Convolution, Stage::Repeated) => is_matrix_product(reader),
                (O::Reduce, Stage::Multiplied) => {
                    reader.callee(Key::ToApply).is_some_and(|sum| sum.root().opcode() == O::Add)
                }
                _ => false,
            };
            if is_end && product.is_none() {
                *product = Some(caller.map_or(reader, Caller::outermost));
            }
            is_end
        })
    }
}

/// Whether a value is more than one operand of an instruction.
fn is_read_twice<'m>(reader: Instruction<'m>, value: Instruction<'m>) -> bool {
    reader.operands().filter(|operand| operand.instruction() == Some(value)).count() > 1
}

/// Whether an instruction of a fusion's computation is the parameter for this operand of the fusion.
fn is_operand<'m>(inside: Instruction<'m>, fusion: Instruction<'m>, operand: Instruction<'m>) -> bool {
    let given = || fusion.operand(inside.parameter_number()?)?.instruction();
    inside.opcode() == Opcode::Parameter && given() == Some(operand)
}

/// What an instruction repeats, if it does nothing else: the operand of a broadcast, or that of a fusion of broadcasts.
fn repeated(instruction: Instruction<'_>) -> Option<Instruction<'_>> {
    use Opcode as O;
    let repeats = match instruction.opcode() {
        O::Broadcast => true,
        O::Fusion if instruction.operands().len() == 1 => {
            let inside = || instruction.callee(Key::Calls).into_iter().flat_map(Computation::instructions);
            inside().any(|inside| inside.opcode() == O::Broadcast)
                && inside().all(|inside| {
                    matches!(
                        inside.opcode(),
                        O::Parameter | O::Broadcast | O::Bitcast | O::Reshape | O::Transpose | O::Copy
                    )
                })
        }
        _ => false,
    };
    repeats.then(|| instruction.operand(0)?.instruction()).flatten()
}

/// Whether a convolution is a matrix product: no window, or one that does nothing but to pair the elements of two equal dimensions, as TPUs write
/// batch dimensions.
fn is_matrix_product(convolution: Instruction<'_>) -> bool {
    let pairs = |window: &WindowDimension| {
        let size = window.size;
        let batch = WindowDimension {
            size,
            stride: size.saturating_sub(1).max(1),
            base_dilation: size,
            ..WindowDimension::ONE
        };
        *window == batch
    };
    convolution.value_of(Key::Window).is_none_or(|window| window.window().is_ok_and(|all| all.iter().all(pairs)))
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use crate::cost::{Change, Fixed};
    use alloc::format;
    use alloc::string::{String, ToString};

    /// How often an array is repeated, and for which product.
    fn repeated(computations: &str, entry: &str) -> Option<(u64, String)> {
        let text = format!(
            "HloModule m
sum {{ x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }}
largest {{ v = f32[] parameter(0) w = f32[] parameter(1) ROOT u = f32[] maximum(v, w) }}
{computations}
ENTRY e {{ k = f32[8,2,16]{{2,1,0}} parameter(0)
  q = f32[8,8,16]{{2,1,0}} parameter(1)
  zero = f32[] constant(0)
  r = f32[8,2,4,16]{{3,2,1,0}} broadcast(k), dimensions={{0,1,3}}
  b = f32[8,8,16]{{2,1,0}} bitcast(r)
{entry} }}"
        );
        let module = Module::parse(&text).unwrap();
        let costs = module.costs().unwrap();
        costs.copies().into_iter().find_map(|copy| match (copy.change, copy.consumer) {
            (Change::Repetition { times }, Fixed::Product(product)) => {
                assert_eq!(copy.from.to_string(), "f32[8,2,16]{2,1,0}");
                Some((times, product.name().to_string()))
            }
            _ => None,
        })
    }

    const MULTIPLIED: &str = "f { p = f32[8,8,16]{2,1,0} parameter(0)
  s = f32[8,8,16]{2,1,0} parameter(1)
  o = f32[] constant(0)
  m = f32[8,8,16]{2,1,0} multiply(p, s)
  ROOT n = f32[8,8]{1,0} reduce(m, o), dimensions={2}, to_apply=sum }";

    #[test]
    fn what_products_read_as_repeated_is_found() {
        let dot = "  ROOT d = f32[8,8,8]{2,1,0} dot(q, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, \
                   rhs_contracting_dims={2}";
        assert_eq!(repeated("", dot), Some((4, "d".to_string())));
        // A product of vectors in a fusion.
        let fusion = "  ROOT d = f32[8,8]{1,0} fusion(b, q), kind=kLoop, calls=f";
        assert_eq!(repeated(MULTIPLIED, fusion), Some((4, "d".to_string())));
        // As TPUs write a product with batch dimensions, with the operand seen through a fusion inside.
        let tpu = "g { ROOT p = f32[8,8,16]{2,1,0} parameter(0) }
f { p = f32[8,8,16]{2,1,0} parameter(0)
  s = f32[8,8,16]{2,1,0} parameter(1)
  v = f32[8,8,16]{2,1,0} fusion(p), kind=kLoop, calls=g
  ROOT c = f32[8,8,8]{2,1,0} convolution(s, v), window={size=8 stride=7 lhs_dilate=8}, dim_labels=0bf_0oi->0bf }";
        let fusion = "  ROOT d = f32[8,8,8]{2,1,0} fusion(b, q), kind=kOutput, calls=f";
        assert_eq!(repeated(tpu, fusion), Some((4, "d".to_string())));
        // A window that adds neighbours reads them differently.
        assert_eq!(repeated(&tpu.replace("size=8 stride=7 lhs_dilate=8", "size=8 pad=4_3"), fusion), None);
    }

    #[test]
    fn what_is_read_by_anything_else_is_not_said() {
        let fusion = "  d = f32[8,8]{1,0} fusion(b, q), kind=kLoop, calls=f\n";
        for (computations, entry) in [
            (MULTIPLIED.to_string(), format!("{fusion}  ROOT t = (f32[8,8]{{1,0}}, f32[8,8,16]{{2,1,0}}) tuple(d, b)")),
            (
                MULTIPLIED.to_string(),
                format!("{fusion}  n = f32[8,8,16]{{2,1,0}} negate(b)\n  ROOT t = f32[8,8]{{1,0}} add(d, d)"),
            ),
            // A maximum of products is not a matrix product, and neither is a multiplication without a sum.
            (MULTIPLIED.replace("to_apply=sum", "to_apply=largest"), fusion.replace("  d", "  ROOT d")),
            (String::new(), "  ROOT d = f32[8,8,16]{2,1,0} multiply(b, q)".to_string()),
            // The product of a value with itself has no other operand.
            (
                String::new(),
                "  ROOT d = f32[8,8,8]{2,1,0} dot(b, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, \
                   rhs_contracting_dims={2}"
                    .to_string(),
            ),
            (String::new(), "  ROOT d = f32[8,8,16]{2,1,0} add(q, q)".to_string()),
        ] {
            assert_eq!(repeated(&computations, &entry), None, "{entry}");
        }
    }
}
