//! The layouts of an array on a GPU.

use super::{Advice, AdviceError, Change, Choice, Row, changed};
use crate::digest::Digest;
use crate::explain::{GpuOperation, GpuOrder};
use crate::{Answer, GivenArray, answer_line};
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::ArrayShape;
use xla_shape_core::gpu::Gpu;

/// The layouts of an array on a GPU: the device's own choice, and the orders that operations prefer. All take the same bytes, because a GPU has no
/// tiles.
///
/// ```
/// use xla_shape_answers::advise::{Choice, GpuAdvice};
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::gpu::Gpu;
///
/// let array: ArrayShape = "bf16[8,64,56,56]".parse()?;
/// let advice = GpuAdvice::new(&array, &[], Gpu::H100Sxm)?;
/// let rows = advice.rows.iter().map(|row| (row.choice, row.shape.as_str())).collect::<Vec<_>>();
/// assert_eq!(rows, [
///     (Some(Choice::Both), "bf16[8,64,56,56]{3,2,1,0}"),
///     (Some(Choice::Convolution), "bf16[8,64,56,56]{1,3,2,0}"),
/// ]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct GpuAdvice {
    /// The layouts, the device's own choice first.
    pub rows: Vec<Row>,
    /// The given array; row-major if it was given without a layout.
    #[serde(skip)]
    pub given: ArrayShape,
    /// Whether the array was given with a layout.
    #[serde(skip)]
    pub has_layout: bool,
    /// The given array after the changes to its dimensions.
    #[serde(skip)]
    pub changed: ArrayShape,
    /// The orders that operations prefer for the changed array, including the device's own choice if it is one of them.
    #[serde(skip)]
    pub orders: Vec<GpuOrder>,
    /// The GPU.
    #[serde(skip)]
    pub gpu: Gpu,
}

impl GpuAdvice {
    /// The layouts of `given` on a GPU, after `changes` to its dimensions.
    ///
    /// # Errors
    /// If the array has no size, or a change names a dimension that does not exist.
    pub fn new(given: impl Into<GivenArray>, changes: &[Change], gpu: Gpu) -> Result<Self, AdviceError> {
        let GivenArray { array: given, has_layout } = given.into();
        let changed = changed(&given, changes)?;
        let stored = changed.clone().with_gpu_layout()?;
        let orders = GpuOrder::of(&changed, &[gpu]);
        let default_bytes = stored.byte_size().unwrap_or(0);
        let mut arrays = vec![(stored, Choice::Both)];
        let wanted = orders.iter().map(|order| match order.operation {
            GpuOperation::Convolution => (order.array.clone(), Choice::Convolution),
            GpuOperation::Product => (order.array.clone(), Choice::Product),
        });
        for (array, choice) in wanted.chain(has_layout.then(|| (changed.clone(), Choice::Given))) {
            if !arrays.iter().any(|(known, _)| *known == array) {
                arrays.push((array, choice));
            }
        }
        let rows = arrays.iter().filter_map(|(array, choice)| {
            let row = Row::new(array, default_bytes, Some(*choice))?;
            Some(Row { is_given: has_layout && *array == changed, ..row })
        });
        Ok(Self { rows: rows.collect(), given, has_layout, changed, orders, gpu })
    }

    /// The layout to request in JAX: the one that a convolution or a product prefers. `None` if they prefer the device's own choice.
    ///
    /// ```
    /// use xla_shape_answers::advise::GpuAdvice;
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// let array: ArrayShape = "bf16[8,64,56,56]".parse()?;
    /// let advice = GpuAdvice::new(&array, &[], Gpu::B200)?;
    /// assert_eq!(advice.for_jax().unwrap().jax.as_deref(), Some("Layout(major_to_minor=(0, 2, 3, 1))"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn for_jax(&self) -> Option<&Row> {
        self.rows.iter().find(|row| matches!(row.choice, Some(Choice::Convolution | Choice::Product)))
    }
}

impl Answer for GpuAdvice {
    const SCHEMA: &'static str = Advice::SCHEMA;

    fn json(&self) -> String {
        self.rows.iter().map(|entry| answer_line(Self::SCHEMA, entry)).collect()
    }

    /// The next command shows what a copy into the requested layout would move.
    fn digest(&self) -> Digest {
        let compare = |row: &Row| vec!["compare".into(), self.changed.to_string().into(), row.shape.clone().into()];
        Digest { causes: Vec::new(), next: self.for_jax().map(compare).into_iter().collect() }
    }
}
