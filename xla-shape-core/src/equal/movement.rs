//! What a reshape or a transpose from one layout to another moves, and which layout of the result would move nothing.

use super::bitcast::{Answer, BitcastError};
use crate::measure::advise::orders;
use crate::shape::array::ArrayShape;
use crate::tpu::{Generation, layouts};
use alloc::vec::Vec;

/// What making one array of another moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Movement {
    /// Whether the bytes stay, and if not, why.
    pub answer: Answer,
    /// The bytes that are read and written: all of both arrays, or none.
    pub moved_bytes: u64,
    /// The result in a layout that makes it free; itself, if it is free already. `None` if none was found.
    pub free_result: Option<ArrayShape>,
}

/// The most dimensions of a result of which all orders are tried.
const MAX_ORDERED: usize = 6;

impl ArrayShape {
    /// What a reshape to `result` moves, which has as many elements in the same row-major order.
    ///
    /// For a free result, all orders of up to six dimensions are tried, in the tiles of this array and in those of a TPU.
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
    /// As [`reshape_is_bitcast`](Self::reshape_is_bitcast).
    pub fn reshape_movement(&self, result: &Self) -> Result<Movement, BitcastError> {
        let answer = self.reshape_is_bitcast(result)?;
        let free = match answer {
            Answer::Yes => Some(result.clone()),
            _ => self.free_reshape(result),
        };
        Ok(self.movement(result, answer, free))
    }

    /// What the transpose to `result` moves, whose dimension `i` is dimension `permutation[i]` of this array.
    ///
    /// # Errors
    /// As [`transpose_is_bitcast`](Self::transpose_is_bitcast).
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
        let moved_bytes = if answer.is_yes() { 0 } else { bytes(self).saturating_add(bytes(result)) };
        Movement { answer, moved_bytes, free_result }
    }

    /// `output` in a layout that makes the reshape to it free.
    fn free_reshape(&self, output: &Self) -> Option<Self> {
        let is_free = |candidate: &Self| matches!(self.reshape_is_bitcast(candidate), Ok(Answer::Yes));
        if let Some(aligned) = self.align_layouts(output).filter(is_free) {
            return Some(aligned);
        }
        let in_own_tiles = |order: &[usize]| {
            let layout = self.layout().clone().with_minor_to_major(order).ok()?;
            output.clone().with_layout(layout).ok().filter(is_free)
        };
        if output.num_dimensions() <= MAX_ORDERED
            && let Some(found) = orders(output.num_dimensions()).find_map(|order| in_own_tiles(&order))
        {
            return Some(found);
        }
        if self.layout().is_untiled() {
            return None;
        }
        let on_tpu = layouts(Generation::V5e, output.element_type(), output.dimensions()).ok()?;
        on_tpu.into_iter().find_map(|layout| output.clone().with_layout(layout.layout()).ok().filter(is_free))
    }

    /// The permutations that make the dimensions of `result` of those of this array; the identity is the last.
    ///
    /// None, if there are more than six dimensions or a dimension is unbounded.
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
