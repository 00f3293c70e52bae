//! Arrays that are larger than their readers need. One kind is a broadcast that writes each element several times, although its readers are
//! products, which could read the smaller array. The other is an array whose elements are all computed, although its readers are gathers, which read
//! only some.

use super::copies::Search;
use crate::schema::{Family, Key};
use crate::{Computation, Instruction, Opcode};
use xla_shape_core::infer::WindowDimension;

/// The limit on instructions between an array and the products or gathers that read it. With more, the array is not reported.
const MOST: usize = 200;

/// What has happened to the elements on the way to a product or a gather.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// They are the repeated elements.
    Repeated,
    /// The repeated elements were multiplied by others. A sum is still needed to make this a matrix product.
    Multiplied,
    /// They are all elements of a computed array, each computed from the source's element at the same index.
    Whole,
}

/// The products or gathers that finally read an array.
struct Ends<'m> {
    /// The first product or gather, or the outermost fusion around it.
    first: Option<Instruction<'m>>,
    /// The number of elements that all gathers together read.
    gathered: u64,
    /// How many more instructions may be followed.
    left: usize,
}

impl Ends<'_> {
    const NONE: Self = Self { first: None, gathered: 0, left: MOST };
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
    /// The instruction that makes the array which is then repeated.
    pub(super) source: Instruction<'m>,
    /// How many times each element is written.
    pub(super) times: u64,
    /// The product, or the fusion around it.
    pub(super) product: Instruction<'m>,
}

/// An array whose elements are all computed, although only some are read.
pub(super) struct Selection<'m> {
    /// The instruction that makes the array from which the elements are computed.
    pub(super) source: Instruction<'m>,
    /// How many elements are computed.
    pub(super) computed: u64,
    /// How many are read.
    pub(super) gathered: u64,
    /// The first gather, or the fusion around it.
    pub(super) gather: Instruction<'m>,
}

impl<'m> Search<'m> {
    /// What an instruction repeats, if it does nothing else and only products read the result. Each product could read the source instead of the
    /// repeated array, and use each element several times.
    pub(super) fn repetition(&self, instruction: Instruction<'m>) -> Option<Repetition<'m>> {
        let source = repeated(instruction)?;
        let (before, after) = (elements(source)?, elements(instruction)?);
        // The broadcast of a single element only fills an array with one value.
        let times = after.checked_div(before).filter(|times| before > 1 && *times > 1)?;
        let mut ends = Ends::NONE;
        let is_product = self.ends_well(instruction, Stage::Repeated, None, &mut ends);
        Some(Repetition { source, times, product: ends.first.filter(|_| is_product)? })
    }

    /// What an instruction computes element by element from one array, if only gathers read the result, and together read at most half as many
    /// elements as it has. Each gather could read the source instead, so that only the elements that are read would be computed.
    pub(super) fn selection(&self, instruction: Instruction<'m>) -> Option<Selection<'m>> {
        let source = computed(instruction)?;
        let computed = elements(instruction)?;
        let mut ends = Ends::NONE;
        let is_gathered = self.ends_well(instruction, Stage::Whole, None, &mut ends);
        let Ends { first, gathered, .. } = ends;
        let is_less = gathered <= computed / 2;
        Some(Selection { source, computed, gathered, gather: first.filter(|_| is_gathered && is_less)? })
    }

    /// Whether every reader of a value is a product (for [`Stage::Whole`], a gather), or passes the value on to one.
    fn ends_well(
        &self,
        value: Instruction<'m>,
        stage: Stage,
        caller: Option<&Caller<'_, 'm>>,
        ends: &mut Ends<'m>,
    ) -> bool {
        let readers = self.readers_of(value);
        let Some(rest) = ends.left.checked_sub(readers.len() + 1) else { return false };
        ends.left = rest;
        if value.is_root() {
            // The root of a fused computation is the value of the fusion, so the readers of the fusion read it.
            let Some(caller) = caller else { return false };
            if !self.ends_well(caller.fusion, stage, caller.outer, ends) {
                return false;
            }
        } else if readers.is_empty() {
            return false;
        }
        readers.iter().all(|&reader| {
            use Opcode as O;
            let mut on = |value, stage| self.ends_well(value, stage, caller, ends);
            // If both operands of a product are this value, the source cannot replace only one of the two.
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
                        !is_operand(parameter, reader, value) || self.ends_well(parameter, stage, Some(&inside), ends)
                    });
                }
                (O::Dot, Stage::Repeated) => true,
                (O::Convolution, Stage::Repeated) => is_matrix_product(reader),
                (O::Reduce, Stage::Multiplied) => is_sum(reader),
                // The value must be the operand that is gathered from, not the indices.
                (O::Gather, Stage::Whole) => reader.operand(0).and_then(|operand| operand.instruction()) == Some(value),
                _ => false,
            };
            if is_end {
                ends.gathered = ends.gathered.saturating_add(elements(reader).unwrap_or(u64::MAX));
                ends.first = ends.first.or(Some(caller.map_or(reader, Caller::outermost)));
            }
            is_end
        })
    }
}

/// Whether a reduction adds.
pub(super) fn is_sum(reduction: Instruction<'_>) -> bool {
    reduction.callee(Key::ToApply).is_some_and(|sum| sum.root().opcode() == Opcode::Add)
}

/// The number of elements of an array.
pub(super) fn elements(value: Instruction<'_>) -> Option<u64> {
    value.shape().array()?.elements()
}

/// Whether more than one operand of an instruction is the same value.
fn is_read_twice<'m>(reader: Instruction<'m>, value: Instruction<'m>) -> bool {
    reader.operands().filter(|operand| operand.instruction() == Some(value)).count() > 1
}

/// Whether an instruction of a fusion's computation is the parameter for this operand of the fusion.
fn is_operand<'m>(inside: Instruction<'m>, fusion: Instruction<'m>, operand: Instruction<'m>) -> bool {
    let given = || fusion.operand(inside.parameter_number()?)?.instruction();
    inside.opcode() == Opcode::Parameter && given() == Some(operand)
}

/// What an instruction repeats, if it does nothing else: the operand of a broadcast, or of a fusion that only broadcasts and rearranges.
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

/// The operand from which an instruction computes each element of its result: the only one with as many elements as the result. It has the
/// same sizes and the same order of dimensions.
fn computed(instruction: Instruction<'_>) -> Option<Instruction<'_>> {
    let result = instruction.shape().array()?;
    let all = result.elements()?;
    let is_elementwise = |opcode: Opcode<'_>| opcode.family() == Family::Elementwise;
    let computes = match instruction.opcode() {
        Opcode::Fusion => instruction.callee(Key::Calls)?.instructions().all(|inside| {
            // A value with fewer elements than the result is cheap to compute again, so it may also be reshaped or broadcast.
            let is_small = |value: Instruction<'_>| elements(value).is_some_and(|elements| elements < all);
            match inside.opcode() {
                Opcode::Parameter | Opcode::Constant => true,
                Opcode::Broadcast => inside.operand(0).and_then(|operand| operand.instruction()).is_some_and(is_small),
                Opcode::Bitcast | Opcode::Reshape => is_small(inside),
                opcode => is_elementwise(opcode),
            }
        }),
        opcode => is_elementwise(opcode),
    };
    let operands = instruction.operands().filter_map(|operand| operand.instruction());
    let mut whole = operands.filter(|operand| elements(*operand).is_none_or(|elements| elements >= all));
    let (source, others) = (whole.next()?, whole.next());
    let array = source.shape().array()?;
    let is_same = array.dimensions() == result.dimensions()
        && array.layout().minor_to_major() == result.layout().minor_to_major();
    (computes && is_same && others.is_none()).then_some(source)
}

/// Whether a convolution is a matrix product: it has no window, or one that only pairs the elements of two equal dimensions. The TPU
/// compiler writes batch dimensions like this.
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

    /// How many times an array is repeated, and for which product.
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
        // A product with batch dimensions, as the TPU compiler writes it. Inside it, the operand goes through another fusion.
        let tpu = "g { ROOT p = f32[8,8,16]{2,1,0} parameter(0) }
f { p = f32[8,8,16]{2,1,0} parameter(0)
  s = f32[8,8,16]{2,1,0} parameter(1)
  v = f32[8,8,16]{2,1,0} fusion(p), kind=kLoop, calls=g
  ROOT c = f32[8,8,8]{2,1,0} convolution(s, v), window={size=8 stride=7 lhs_dilate=8}, dim_labels=0bf_0oi->0bf }";
        let fusion = "  ROOT d = f32[8,8,8]{2,1,0} fusion(b, q), kind=kOutput, calls=f";
        assert_eq!(repeated(tpu, fusion), Some((4, "d".to_string())));
        // A window that adds neighbours is not a matrix product.
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

    /// How many elements are computed, how many are read, and by which gather.
    fn gathered(computations: &str, entry: &str) -> Option<(u64, u64, String)> {
        let text = format!(
            "HloModule m
half {{ x = bf16[64,16]{{1,0}} parameter(0) s = bf16[64]{{0}} parameter(1)
  b = bf16[64,16]{{1,0}} broadcast(s), dimensions={{0}}
  ROOT y = bf16[64,16]{{1,0}} multiply(x, b) }}
rows {{ t = f32[64,16]{{1,0}} parameter(0) n = s32[4]{{0}} parameter(1)
  ROOT g = f32[4,16]{{1,0}} gather(t, n), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, \
           slice_sizes={{1,16}} }}
{computations}
ENTRY e {{ table = bf16[64,16]{{1,0}} parameter(0)
  i = s32[4]{{0}} parameter(1)
  scale = bf16[64]{{0}} parameter(2)
{entry} }}"
        );
        let module = Module::parse(&text).unwrap();
        let costs = module.costs().unwrap();
        costs.copies().into_iter().find_map(|copy| match (copy.change, copy.consumer) {
            (Change::Values { computed, gathered }, Fixed::Other(gather)) => {
                assert_eq!(copy.from.to_string(), "bf16[64,16]{1,0}");
                Some((computed, gathered, gather.name().to_string()))
            }
            _ => None,
        })
    }

    const CONVERTED: &str = "  c = f32[64,16]{1,0} convert(table)\n";

    const GATHERED: &str = "  ROOT r = f32[4,16]{1,0} fusion(c, i), kind=kCustom, calls=rows";

    #[test]
    fn what_is_computed_and_not_read_is_found() {
        let found = Some((1024, 64, "r".to_string()));
        assert_eq!(gathered("", &format!("{CONVERTED}{GATHERED}")), found);
        // A multiplication by one number for each row, and a bitcast on the way.
        let scaled = "  c = bf16[64,16]{1,0} fusion(table, scale), kind=kLoop, calls=half
  v = bf16[64,16]{1,0} bitcast(c)
  ROOT r = bf16[4,16]{1,0} gather(v, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}";
        assert_eq!(gathered("", scaled), found);
        // Two gathers together read twice as many elements.
        let both = format!(
            "{CONVERTED}  q = f32[4,16]{{1,0}} fusion(c, i), kind=kCustom, calls=rows\n{}\n  ROOT b = f32[4,16]{{1,0}} add(q, r)",
            GATHERED.replace("ROOT r", "r")
        );
        assert_eq!(gathered("", &both), Some((1024, 128, "q".to_string())));
    }

    #[test]
    fn what_is_computed_and_read_is_not_said() {
        let read = format!("{CONVERTED}{}\n  n = f32[64,16]{{1,0}} negate(c)\n", GATHERED.replace("ROOT r", "r"));
        // Something else reads all elements.
        assert_eq!(gathered("", &format!("{read}  ROOT b = (f32[4,16], f32[64,16]) tuple(r, n)")), None);
        // The gather reads more than half as many elements as there are.
        let half = "  ROOT r = f32[33,16]{1,0} gather(c, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, \
                    slice_sizes={1,16}";
        assert_eq!(gathered("", &format!("{CONVERTED}{half}")), None);
        assert_eq!(
            gathered("", &format!("{CONVERTED}{}", half.replace("[33,16]", "[32,16]"))),
            Some((1024, 512, "r".to_string()))
        );
        // A broadcast of the whole array can move its elements, a sum of two arrays needs two gathers, and an iota has no source.
        for (inside, operands) in [
            ("ROOT y = f32[64,16]{1,0} convert(z)\n  z = bf16[64,16]{1,0} broadcast(x), dimensions={0,1}", "table"),
            ("ROOT y = f32[64,16]{1,0} add(x, w)\n  w = bf16[64,16]{1,0} parameter(1)", "table, table"),
            ("ROOT y = f32[64,16]{1,0} iota(), iota_dimension=0", "table"),
        ] {
            let fused = format!("f {{ x = bf16[64,16]{{1,0}} parameter(0)\n  {inside} }}");
            let entry = format!("  c = f32[64,16]{{1,0}} fusion({operands}), kind=kLoop, calls=f\n{GATHERED}");
            assert_eq!(gathered(&fused, &entry), None, "{inside}");
        }
        // The gather also takes the array as its indices.
        let indices = "  c = s32[64]{0} convert(scale)
  ROOT r = s32[4]{0} gather(c, c), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}";
        assert_eq!(gathered("", indices), None);
    }
}
