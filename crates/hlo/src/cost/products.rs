//! Matrix products that are computed element by element.

use super::repeats::{Repetition, elements, is_sum};
use crate::schema::Key;
use crate::{Instruction, Opcode};
use alloc::vec::Vec;
use xla_shape_core::memory_space::Platform;
use xla_shape_core::{ArrayShape, Dimension};

/// The limit on instructions between a sum and the multiplication, and between the multiplication and a broadcast. With more, the product
/// is not found.
const LONGEST: usize = 16;

/// The smallest number of multiplications that is reported. For fewer, the matrix unit takes about as long: on v5e, 16,384 multiplications
/// take 2,097 cycles element by element and 3,870 as a matrix product; 131,072 take 5,015 and 3,880 (libtpu 0.0.52).
const LEAST: u64 = 1 << 20;

/// The matrix product that a fusion for a TPU computes element by element, without the matrix unit. The fusion repeats each of two arrays
/// along the dimensions that only the other one has, multiplies them, and sums. `source` is the larger of the two arrays. The compiler
/// writes a product like this if one of its sides is a vector, and then fuses the broadcast of the other side into it.
pub(super) fn product(fusion: Instruction<'_>) -> Option<Repetition<'_>> {
    if fusion.opcode() != Opcode::Fusion || fusion.module().platform() != Platform::Tpu {
        return None;
    }
    let (source, times) = fusion.callee(Key::Calls)?.instructions().find_map(|sum| {
        if sum.opcode() != Opcode::Reduce || !is_sum(sum) {
            return None;
        }
        let (multiplied, summed) = behind(sum, 0, dimensions(sum)?, Opcode::Multiply)?;
        let all = elements(multiplied).filter(|&all| all >= LEAST)?;
        let side = |operand: usize| {
            let (repeated, summed) = behind(multiplied, operand, summed.clone(), Opcode::Broadcast)?;
            let (source, kept) = (repeated.operand(0)?.instruction()?, dimensions(repeated)?);
            let times = all.checked_div(elements(source)?).filter(|&times| 1 < times && times < all)?;
            // The dimensions that are summed must not be those along which an array is repeated.
            summed.iter().all(|dimension| kept.contains(dimension)).then_some((source, times))
        };
        let (one, other) = (side(0)?, side(1)?);
        Some(if other.1 < one.1 { other } else { one })
    })?;
    Some(Repetition { source, times, product: fusion })
}

/// Follows an operand back to the first instruction with the opcode `wanted`. The instructions between may only convert or copy elements, or
/// reshape the array. Also returns the dimensions of the instruction found that correspond to `dimensions` of the operand.
fn behind<'m>(
    reader: Instruction<'m>,
    operand: usize,
    mut dimensions: Vec<usize>,
    wanted: Opcode<'_>,
) -> Option<(Instruction<'m>, Vec<usize>)> {
    let mut value = reader.operand(operand)?.instruction()?;
    for _ in 0..LONGEST {
        if value.opcode() == wanted {
            return Some((value, dimensions));
        }
        let before = value.operand(0)?.instruction()?;
        match value.opcode() {
            Opcode::Convert | Opcode::Copy => {}
            Opcode::Bitcast | Opcode::Reshape => {
                let (from, to) = (before.shape().array()?, value.shape().array()?);
                from.reshape_is_bitcast(to).ok().filter(|answer| answer.is_yes())?;
                let same = |&dimension: &usize| {
                    let wanted = Some(extent(to, dimension)?);
                    (0..from.num_dimensions()).find(|&dimension| extent(from, dimension) == wanted)
                };
                dimensions = dimensions.iter().map(same).collect::<Option<_>>()?;
            }
            _ => return None,
        }
        value = before;
    }
    None
}

/// The size of a dimension, and the number of elements between neighbours along it. After a reshape that keeps the order of the elements, a
/// dimension with the same two numbers is the same dimension.
fn extent(array: &ArrayShape, dimension: usize) -> Option<[u64; 2]> {
    let size = |dimension: &Dimension| match dimension {
        Dimension::Static(size) => Some(*size),
        _ => None,
    };
    let (first, rest) = array.dimensions().get(dimension..)?.split_first()?;
    let between = rest.iter().try_fold(1_u64, |all, dimension| all.checked_mul(size(dimension)?))?;
    Some([size(first)?, between])
}

/// The dimensions of a broadcast or a reduction.
fn dimensions(instruction: Instruction<'_>) -> Option<Vec<usize>> {
    instruction.value_of(Key::Dimensions)?.numbers().ok()
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use crate::cost::{Change, Fixed};
    use alloc::format;
    use alloc::string::{String, ToString};

    /// The number of multiplications with each element of the larger array, and the shape of that array.
    fn multiplied(fused: &str, operands: &str) -> Option<(u64, String)> {
        let text = format!(
            "HloModule m
sum {{ x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }}
largest {{ v = f32[] parameter(0) w = f32[] parameter(1) ROOT u = f32[] maximum(v, w) }}
f {{ {fused} }}
ENTRY e {{ q = bf16[2,4,128]{{2,1,0:T(4,128)(2,1)}} parameter(0)
  k = bf16[2,2048,128]{{2,1,0:T(8,128)(2,1)}} parameter(1)
  w = f32[8,2048]{{1,0:T(8,128)}} parameter(2)
  ROOT d = f32[8,128]{{1,0:T(8,128)}} fusion({operands}), kind=kLoop, calls=f }}"
        );
        let module = Module::parse(&text).unwrap();
        let costs = module.costs().unwrap();
        costs.copies().into_iter().find_map(|copy| match copy.change {
            Change::Product { times } => {
                assert!(matches!(copy.consumer, Fixed::Product(fusion) if fusion.name() == "d"));
                Some((times, copy.from.without_layout().to_string()))
            }
            _ => None,
        })
    }

    /// Attention scores: a query for each head, multiplied by the keys, which a group of heads shares.
    const SCORES: &str = "p = bf16[2,4,128]{2,1,0:T(4,128)(2,1)} parameter(0)
  a = bf16[2,4,2048,128]{3,2,1,0:T(8,128)(2,1)} broadcast(p), dimensions={0,1,3}
  b = f32[2,4,2048,128]{3,2,1,0:T(8,128)} convert(a)
  r = bf16[2,2048,128]{2,1,0:T(8,128)(2,1)} parameter(1)
  c = bf16[2,4,2048,128]{3,2,1,0:T(8,128)(2,1)} broadcast(r), dimensions={0,2,3}
  g = f32[2,4,2048,128]{3,2,1,0:T(8,128)} convert(c)
  m = f32[2,4,2048,128]{3,2,1,0:T(8,128)} multiply(b, g)
  o = f32[] constant(0)
  ROOT s = f32[2,4,2048]{2,1,0:T(4,128)} reduce(m, o), dimensions={3}, to_apply=sum";

    /// Attention outputs: the weights for each head, multiplied by the values, which a group of heads shares. Groups and heads are one
    /// dimension here.
    const VALUES: &str = "p = f32[8,2048]{1,0:T(8,128)} parameter(0)
  a = f32[8,2048,128]{2,1,0:T(8,128)} broadcast(p), dimensions={0,1}
  r = bf16[2,2048,128]{2,1,0:T(8,128)(2,1)} parameter(1)
  c = bf16[2,4,2048,128]{3,2,1,0:T(8,128)(2,1)} broadcast(r), dimensions={0,2,3}
  h = bf16[8,2048,128]{2,1,0:T(8,128)(2,1)} bitcast(c)
  g = f32[8,2048,128]{2,1,0:T(8,128)} convert(h)
  m = f32[8,2048,128]{2,1,0:T(8,128)} multiply(a, g)
  o = f32[] constant(0)
  ROOT s = f32[8,128]{1,0:T(8,128)} reduce(m, o), dimensions={1}, to_apply=sum";

    #[test]
    fn a_matrix_product_that_is_multiplied_element_by_element_is_found() {
        let keys = Some((4, "bf16[2,2048,128]".to_string()));
        assert_eq!(multiplied(SCORES, "q, k"), keys);
        assert_eq!(multiplied(VALUES, "w, k"), keys);
    }

    #[test]
    fn what_is_no_matrix_product_is_not_said() {
        assert_eq!(multiplied(&SCORES.replace("to_apply=sum", "to_apply=largest"), "q, k"), None);
        assert_eq!(multiplied(&SCORES.replace("multiply(b, g)", "subtract(b, g)"), "q, k"), None);
        // Only one side is repeated: that is a product of matrices and vectors.
        let by_vectors = SCORES.replace("bf16[2,2048,128]{", "bf16[2,4,2048,128]{3,").replace("{0,2,3}", "{0,1,2,3}");
        assert_eq!(multiplied(&by_vectors, "q, k"), None);
        // There are so few multiplications that the matrix unit would take as long.
        assert_eq!(multiplied(&SCORES.replace("2048", "64"), "q, k"), None);
        // The sum is over a dimension along which one side is repeated.
        assert_eq!(multiplied(&SCORES.replace("dimensions={3}", "dimensions={2}"), "q, k"), None);
        assert_eq!(
            multiplied(&VALUES.replace("reduce(m, o), dimensions={1}", "reduce(m, o), dimensions={0}"), "w, k"),
            None
        );
    }
}
