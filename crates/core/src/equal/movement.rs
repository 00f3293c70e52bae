//! How many bytes a reshape or a transpose moves, and the layout of the result for which it is free.

use super::bitcast::{Answer, BitcastError};
use crate::layout::Layout;
use crate::limits::MAX_ORDERED;
use crate::measure::advise::orders;
use crate::shape::array::ArrayShape;
use crate::tpu::{Generation, layouts};
use alloc::vec::Vec;

/// The cost of a reshape or a transpose: whether it is a bitcast, the bytes that it moves otherwise, and a layout for
/// which it is free.
///
/// ```
/// use xla_shape_core::ArrayShape;
///
/// let array: ArrayShape = "f32[2,3]{1,0}".parse()?;
/// let free = array.reshape_movement(&"f32[6]{0}".parse()?)?;
/// assert!(free.answer.is_yes());
/// assert_eq!(free.moved_bytes, 0);
/// let copied = array.reshape_movement(&"f32[3,2]{0,1}".parse()?)?;
/// assert_eq!(copied.moved_bytes, 2 * 24, "24 bytes are read and as many are written");
/// assert_eq!(copied.free_result.unwrap().to_string(), "f32[3,2]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Movement {
    /// Whether the operation is a bitcast, and if not, why.
    pub answer: Answer,
    /// The bytes that are read and written: the sizes of both arrays, or 0 for a bitcast.
    pub moved_bytes: u64,
    /// The result in a layout for which the operation is free: the given layout if it is a bitcast. `None` if none was
    /// found.
    pub free_result: Option<ArrayShape>,
}

impl ArrayShape {
    /// What a reshape to `result` moves. `result` has the same number of elements, in the same row-major order.
    ///
    /// The search for a free layout tries `ShapeUtil::AlignLayouts`, then all orders of up to six dimensions: with the
    /// tiles of this array, without tiles, and with the tiles of TPUs. It always succeeds for a row-major array without
    /// tiles.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let array: ArrayShape = "bf16[32,2,192]{2,1,0:T(2,128)(2,1)}".parse()?;
    /// let movement = array.reshape_movement(&"bf16[64,192]{1,0:T(8,128)(2,1)}".parse()?)?;
    /// assert_eq!(movement.moved_bytes, 2 * 32_768);
    /// assert_eq!(movement.free_result.unwrap().to_string(), "bf16[64,192]{1,0:T(2,128)(2,1)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`reshape_is_bitcast`](Self::reshape_is_bitcast).
    pub fn reshape_movement(&self, result: &Self) -> Result<Movement, BitcastError> {
        let answer = self.reshape_is_bitcast(result)?;
        let free = match answer {
            Answer::Yes => Some(result.clone()),
            _ => self.free_reshape(result),
        };
        Ok(self.movement(result, answer, free))
    }

    /// What the transpose to `result` moves. Dimension `i` of `result` is dimension `permutation[i]` of this array.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let array: ArrayShape = "f32[8,128]{1,0}".parse()?;
    /// let movement = array.transpose_movement(&"f32[128,8]{1,0}".parse()?, &[1, 0])?;
    /// assert_eq!(movement.moved_bytes, 2 * 4096);
    /// assert_eq!(movement.free_result.unwrap().to_string(), "f32[128,8]{0,1}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`transpose_is_bitcast`](Self::transpose_is_bitcast).
    pub fn transpose_movement(&self, result: &Self, permutation: &[usize]) -> Result<Movement, BitcastError> {
        let answer = self.transpose_is_bitcast(result, permutation)?;
        let free = match answer {
            Answer::Yes => Some(result.clone()),
            _ => self.permute_dimensions(permutation.iter().copied()).ok(),
        };
        Ok(self.movement(result, answer, free))
    }

    fn movement(&self, result: &Self, answer: Answer, free_result: Option<Self>) -> Movement {
        let bytes = |array: &Self| array.byte_size().unwrap_or(0);
        #[expect(clippy::arithmetic_side_effects, reason = "the bytes of an array fit in an `i64`")]
        let moved_bytes = if answer.is_yes() { 0 } else { bytes(self) + bytes(result) };
        Movement { answer, moved_bytes, free_result }
    }

    /// `output` in a layout for which the reshape to it is free.
    fn free_reshape(&self, output: &Self) -> Option<Self> {
        let is_free = |candidate: &Self| matches!(self.reshape_is_bitcast(candidate), Ok(Answer::Yes));
        if let Some(aligned) = self.align_layouts(output).filter(is_free) {
            return Some(aligned);
        }
        // With many dimensions, try only the descending order.
        let tried = if output.num_dimensions() <= MAX_ORDERED { usize::MAX } else { 1 };
        let in_any_order = |layout: &Layout| {
            orders(output.num_dimensions()).take(tried).find_map(|order| {
                let layout = layout.clone().with_minor_to_major(&order).ok()?;
                output.clone().with_layout(layout).ok().filter(is_free)
            })
        };
        let own = self.layout();
        let untiled = || own.clone().with_tiles(&[]).ok().filter(|_| !own.is_untiled());
        // One generation of each family that shares layouts.
        let on_tpus = || {
            Generation::of_each_family().find_map(|generation| {
                let layouts = layouts(generation, output.element_type(), output.dimensions()).ok()?;
                layouts.into_iter().find_map(|layout| output.clone().with_layout(layout.layout()).ok().filter(is_free))
            })
        };
        in_any_order(own).or_else(|| in_any_order(&untiled()?)).or_else(on_tpus)
    }

    /// All permutations that turn the sizes of this array into those of `result`; the identity, if it is one, is the
    /// last.
    ///
    /// Empty if there are more than six dimensions or a dimension is unbounded.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let array: ArrayShape = "f32[2,3,2]".parse()?;
    /// assert_eq!(array.permutations_to(&"f32[2,2,3]".parse()?), [[2, 0, 1], [0, 2, 1]]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn permutations_to(&self, result: &Self) -> Vec<Vec<usize>> {
        let (sizes, wanted) = (self.dimensions(), result.dimensions());
        if sizes.len() != wanted.len() || sizes.len() > MAX_ORDERED || self.is_unbounded_dynamic() {
            return Vec::new();
        }
        let fits = |order: &Vec<usize>| order.iter().zip(wanted).all(|(&old, new)| sizes.get(old) == Some(new));
        orders(sizes.len()).filter(fits).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};

    fn free(from: &str, to: &str) -> Option<String> {
        let (from, to): (ArrayShape, ArrayShape) = (from.parse().unwrap(), to.parse().unwrap());
        Some(from.reshape_movement(&to).unwrap().free_result?.to_string())
    }

    #[test]
    fn free_results_are_found_in_tiles_and_without() {
        for (from, to, result) in [
            ("f32[8,128]{1,0:T(8,128)}", "f32[128,8]{1,0:T(8,128)}", "f32[128,8]{1,0}"),
            ("f32[8,128]{1,0:T(8,128)S(1)}", "f32[2,4,128]{0,1,2}", "f32[2,4,128]{2,1,0:S(1)}"),
            ("f32[1024]{0:T(1024)}", "f32[8,128]", "f32[8,128]{1,0}"),
            ("f32[8,128]", "f32[4,2,128]{0,1,2:T(8,128)}", "f32[4,2,128]{2,1,0}"),
            ("f32[2,128]", "f32[1,1,1,1,1,1,256]{0,1,2,3,4,5,6:T(2,2)}", "f32[1,1,1,1,1,1,256]{6,5,4,3,2,1,0}"),
        ] {
            assert_eq!(free(from, to).as_deref(), Some(result), "{from} {to}");
        }
        assert_eq!(free("f32[100,200]{1,0:T(8,128)}", "f32[20000]{0:T(1024)}"), None);
    }

    #[test]
    fn a_free_result_is_free_and_a_row_major_array_has_one() {
        let layouts = |rank: usize| {
            let tiles = ["", ":T(2,2)", ":T(8,128)", ":T(4)"];
            orders(rank).flat_map(move |order| {
                let order = order.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
                tiles.map(|tiles| alloc::format!("{{{order}{tiles}}}"))
            })
        };
        let sizes: [&[u64]; 5] = [&[12], &[3, 4], &[6, 2], &[2, 3, 2], &[12, 1]];
        let arrays = sizes.iter().flat_map(|sizes| {
            let plain = ArrayShape::with_default_layout(crate::element_type::ElementType::F32, sizes).unwrap();
            layouts(sizes.len()).filter_map(move |layout| plain.clone().with_layout(layout.parse().unwrap()).ok())
        });
        let arrays = arrays.collect::<Vec<_>>();
        let mut found = 0;
        for from in &arrays {
            for to in &arrays {
                let result = from.reshape_movement(to).unwrap().free_result;
                let row_major = from.layout().is_untiled() && from.layout().is_monotonic_with_dim0_major();
                assert!(!row_major || result.is_some(), "{from} {to}");
                if let Some(result) = result {
                    assert!(from.reshape_is_bitcast(&result).unwrap().is_yes(), "{from} {to} {result}");
                    assert_eq!(result.dimensions(), to.dimensions());
                    found += 1;
                }
            }
        }
        assert!(found > arrays.len(), "{found} of {}", arrays.len());
    }
}
