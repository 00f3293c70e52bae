//! Operations that move a window over an array: reduce-window and convolution.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is checked first")]

use super::{InferError, agree, check_dimensions, check_len, contains, sized};
use crate::layout::dimension::Dimension;
use crate::limits::MAX_SIZE;

/// One dimension of a window, in elements: `WindowDimension` in `xla/xla_data.proto`.
///
/// ```
/// use xla_shape_core::Dimension::Static;
/// use xla_shape_core::infer::{self, WindowDimension};
///
/// // window={size=3 stride=2 pad=1_0}
/// let window = WindowDimension { size: 3, stride: 2, padding_low: 1, ..WindowDimension::ONE };
/// let mut result = [Static(0)];
/// infer::reduce_window(&[Static(10)], &[window], &mut result)?;
/// assert_eq!(result, [Static(5)]);
/// # Ok::<(), xla_shape_core::infer::InferError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WindowDimension {
    /// The number of elements in the window.
    pub size: u64,
    /// The distance between neighbouring windows.
    pub stride: u64,
    /// The padding before the first element; negative padding removes elements.
    pub padding_low: i64,
    /// The padding after the last one.
    pub padding_high: i64,
    /// The distance between the array's elements after holes are put between them: `lhs_dilate`. 1 means no holes.
    pub base_dilation: u64,
    /// The distance between the elements of the window: `rhs_dilate`. 1 means no holes.
    pub window_dilation: u64,
    /// Whether the window is reversed: `rhs_reversal`.
    pub reversal: bool,
}

impl WindowDimension {
    /// A window of one element that moves by one element.
    pub const ONE: Self = Self {
        size: 1,
        stride: 1,
        padding_low: 0,
        padding_high: 0,
        base_dilation: 1,
        window_dilation: 1,
        reversal: false,
    };

    /// The number of windows that fit in a dimension of this size.
    ///
    /// # Errors
    /// If the window's size, the stride or a dilation is 0, or the number does not fit in an `i64`.
    #[expect(clippy::arithmetic_side_effects, reason = "sums and products of numbers below 2^64 fit in an i128")]
    const fn num_windows(self, size: u64, dimension: usize) -> Result<u64, InferError> {
        if self.size == 0 {
            return Err(InferError::EmptyWindow { dimension });
        }
        if self.stride == 0 || self.base_dilation == 0 || self.window_dilation == 0 {
            return Err(InferError::ZeroStride { dimension });
        }
        // With these bounds, the products below fit in an `i128`.
        if size > MAX_SIZE || self.size > MAX_SIZE {
            return Err(InferError::Overflow);
        }
        let padded = dilate(size, self.base_dilation) + self.padding_low as i128 + self.padding_high as i128;
        let window = dilate(self.size, self.window_dilation);
        if padded < 0 {
            return Err(InferError::NegativeSize { dimension });
        }
        if padded == 0 || window > padded {
            return Ok(0);
        }
        let windows = (padded - window) / self.stride as i128 + 1;
        if windows > MAX_SIZE as i128 { Err(InferError::Overflow) } else { Ok(windows as u64) }
    }
}

/// The size of a dimension after its elements are put this far apart.
#[expect(clippy::arithmetic_side_effects, reason = "a product of two numbers below 2^64 and 2^63 fits in an i128")]
const fn dilate(size: u64, dilation: u64) -> i128 {
    if size == 0 { 0 } else { (size as i128 - 1) * dilation as i128 + 1 }
}

/// The rule of `InferWindowOutputShape` in `xla/service/shape_inference.cc`, for one dimension.
const fn windowed(from: Dimension, window: WindowDimension, dimension: usize) -> Result<Dimension, InferError> {
    match from.extent() {
        None => Ok(Dimension::Unbounded),
        Some(size) => match window.num_windows(size, dimension) {
            Ok(windows) => Ok(sized(from, windows)),
            Err(error) => Err(error),
        },
    }
}

/// The result of a reduce-window: the number of windows along each dimension (`ShapeInference::InferReduceWindowShape`
/// in `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer::{self, WindowDimension};
///
/// let window = WindowDimension { size: 3, stride: 2, padding_low: 1, ..WindowDimension::ONE };
/// let mut result = [Unbounded; 1];
/// infer::reduce_window(&[Static(8)], &[window], &mut result)?;
/// assert_eq!(result, [Static(4)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If the window does not have the operand's number of dimensions, a size, stride or dilation of the window is 0, or a
/// size does not fit in an `i64`.
pub const fn reduce_window(
    operand: &[Dimension],
    window: &[WindowDimension],
    result: &mut [Dimension],
) -> Result<(), InferError> {
    if let Err(error) = check_len("`window`", operand.len(), window.len()) {
        return Err(error);
    }
    if let Err(error) = check_len("the result", operand.len(), result.len()) {
        return Err(error);
    }
    let mut dimension = 0;
    while dimension < operand.len() {
        result[dimension] = match windowed(operand[dimension], window[dimension], dimension) {
            Ok(windows) => windows,
            Err(error) => return Err(error),
        };
        dimension += 1;
    }
    Ok(())
}

/// What the dimensions of a convolution's input, kernel and output mean: `dim_labels` in HLO text,
/// `ConvolutionDimensionNumbers` in `xla/xla_data.proto`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConvolutionDimensions<'a> {
    /// The input's batch dimension: `b`.
    pub input_batch: usize,
    /// The input's feature dimension: `f`.
    pub input_feature: usize,
    /// The input's spatial dimensions: `0`, `1`, ….
    pub input_spatial: &'a [usize],
    /// The kernel's input feature dimension: `i`.
    pub kernel_input_feature: usize,
    /// The kernel's output feature dimension: `o`.
    pub kernel_output_feature: usize,
    /// The kernel's spatial dimensions.
    pub kernel_spatial: &'a [usize],
    /// The output's batch dimension.
    pub output_batch: usize,
    /// The output's feature dimension.
    pub output_feature: usize,
    /// The output's spatial dimensions.
    pub output_spatial: &'a [usize],
}

impl ConvolutionDimensions<'_> {
    /// Images with their features last, and kernels of `[rows, columns, input features, output features]`:
    /// `dim_labels=b01f_01io->b01f`, the layout of TensorFlow and of `flax.linen.Conv`.
    ///
    /// ```
    /// use xla_shape_core::Dimension::{Static, Unbounded};
    /// use xla_shape_core::infer::{self, ConvolutionDimensions, ConvolutionGroups, WindowDimension};
    ///
    /// let images = [Static(2), Static(14), Static(14), Static(16)];
    /// let kernel = [Static(3), Static(3), Static(16), Static(32)];
    /// let window = [WindowDimension { size: 3, ..WindowDimension::ONE }; 2];
    /// let (dimensions, mut result) = (ConvolutionDimensions::IMAGES, [Unbounded; 4]);
    /// infer::convolution(&images, &kernel, dimensions, &window, ConvolutionGroups::ONE, &mut result)?;
    /// assert_eq!(result, [Static(2), Static(12), Static(12), Static(32)]);
    /// # Ok::<(), infer::InferError>(())
    /// ```
    pub const IMAGES: Self = Self {
        input_batch: 0,
        input_feature: 3,
        input_spatial: &[1, 2],
        kernel_input_feature: 2,
        kernel_output_feature: 3,
        kernel_spatial: &[0, 1],
        output_batch: 0,
        output_feature: 3,
        output_spatial: &[1, 2],
    };
}

/// The number of groups that a convolution is divided into.
///
/// ```
/// use xla_shape_core::Dimension::Static;
/// use xla_shape_core::infer::{self, ConvolutionDimensions, ConvolutionGroups, WindowDimension};
///
/// // dim_labels=b0f_0io->b0f, feature_group_count=4: each kernel sees 2 of the 8 features.
/// let dimensions = ConvolutionDimensions {
///     input_batch: 0, input_feature: 2, input_spatial: &[1],
///     kernel_input_feature: 1, kernel_output_feature: 2, kernel_spatial: &[0],
///     output_batch: 0, output_feature: 2, output_spatial: &[1],
/// };
/// let groups = ConvolutionGroups { feature: 4, ..ConvolutionGroups::ONE };
/// let (input, kernel) = ([Static(1), Static(10), Static(8)], [Static(3), Static(2), Static(16)]);
/// let window = [WindowDimension { size: 3, ..WindowDimension::ONE }];
/// let mut result = [Static(0); 3];
/// infer::convolution(&input, &kernel, dimensions, &window, groups, &mut result)?;
/// assert_eq!(result, [Static(1), Static(8), Static(16)]);
/// # Ok::<(), xla_shape_core::infer::InferError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConvolutionGroups {
    /// The number of groups of input features: `feature_group_count`.
    pub feature: u64,
    /// The number of groups of the batch: `batch_group_count`.
    pub batch: u64,
}

impl ConvolutionGroups {
    /// One group of features and one of the batch: an ordinary convolution.
    pub const ONE: Self = Self { feature: 1, batch: 1 };
}

/// The result of a convolution (`ShapeInference::InferConvolveShape` in `xla/service/shape_inference.cc`). `window` has
/// one entry for each spatial dimension.
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer::{self, ConvolutionDimensions, ConvolutionGroups, WindowDimension};
///
/// // dim_labels=b0f_0io->b0f
/// let dimensions = ConvolutionDimensions {
///     input_batch: 0, input_feature: 2, input_spatial: &[1],
///     kernel_input_feature: 1, kernel_output_feature: 2, kernel_spatial: &[0],
///     output_batch: 0, output_feature: 2, output_spatial: &[1],
/// };
/// let window = [WindowDimension { size: 3, ..WindowDimension::ONE }];
/// let (input, kernel) = ([Static(2), Static(10), Static(4)], [Static(3), Static(4), Static(16)]);
/// let mut result = [Unbounded; 3];
/// infer::convolution(&input, &kernel, dimensions, &window, ConvolutionGroups::ONE, &mut result)?;
/// assert_eq!(result, [Static(2), Static(8), Static(16)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If a number is not a dimension or occurs twice, sizes that must be equal differ, or a number of groups does not
/// divide the size that it groups.
pub const fn convolution(
    input: &[Dimension],
    kernel: &[Dimension],
    dimensions: ConvolutionDimensions<'_>,
    window: &[WindowDimension],
    groups: ConvolutionGroups,
    result: &mut [Dimension],
) -> Result<(), InferError> {
    let input_labels = (dimensions.input_batch, dimensions.input_feature, dimensions.input_spatial);
    if let Err(error) = check_labels("the input's labels", input_labels, input.len(), window.len()) {
        return Err(error);
    }
    let kernel_labels = (dimensions.kernel_input_feature, dimensions.kernel_output_feature, dimensions.kernel_spatial);
    if let Err(error) = check_labels("the kernel's labels", kernel_labels, kernel.len(), window.len()) {
        return Err(error);
    }
    let output_labels = (dimensions.output_batch, dimensions.output_feature, dimensions.output_spatial);
    if let Err(error) = check_labels("the output's labels", output_labels, result.len(), window.len()) {
        return Err(error);
    }
    let batch = input[dimensions.input_batch];
    let output_features = kernel[dimensions.kernel_output_feature];
    if let Err(error) = check_groups(input, kernel, dimensions, groups) {
        return Err(error);
    }
    // With `batch_group_count`, each group of the batch computes its own output features, and the result's batch is as large as one group.
    #[expect(clippy::arithmetic_side_effects, reason = "the divisor is at least 2")]
    let grouped = match (batch.extent(), groups.batch) {
        (Some(size), 2..) => sized(batch, size / groups.batch),
        _ => batch,
    };
    result[dimensions.output_batch] = grouped;
    result[dimensions.output_feature] = output_features;
    let mut i = 0;
    while i < window.len() {
        let dimension = dimensions.kernel_spatial[i];
        let (expected, found) = (Dimension::Static(window[i].size), kernel[dimension]);
        if !agree(expected, found) {
            return Err(InferError::SizeMismatch { what: "the kernel", dimension, expected, found });
        }
        let dimension = dimensions.input_spatial[i];
        result[dimensions.output_spatial[i]] = match windowed(input[dimension], window[i], dimension) {
            // If the kernel's size is dynamic, so is the number of windows.
            Ok(Dimension::Static(windows)) => sized(found, windows),
            Ok(windows) => windows,
            Err(error) => return Err(error),
        };
        i += 1;
    }
    Ok(())
}

/// Checks that two dimensions and the spatial ones together name each dimension of an array once.
const fn check_labels(
    what: &'static str,
    (first, second, spatial): (usize, usize, &[usize]),
    num_dimensions: usize,
    num_spatial: usize,
) -> Result<(), InferError> {
    if let Err(error) = check_len(what, num_spatial, spatial.len()) {
        return Err(error);
    }
    if let Err(error) = check_len(what, num_dimensions, spatial.len() + 2) {
        return Err(error);
    }
    // There are as many labels as dimensions, all in range: if none occurs twice, each dimension has one.
    if let Err(error) = check_dimensions(what, &[first, second], num_dimensions) {
        return Err(error);
    }
    if let Err(error) = check_dimensions(what, spatial, num_dimensions) {
        return Err(error);
    }
    if contains(spatial, first) {
        return Err(InferError::DuplicateDimension { what, dimension: first });
    }
    if contains(spatial, second) {
        return Err(InferError::DuplicateDimension { what, dimension: second });
    }
    Ok(())
}

const fn check_groups(
    input: &[Dimension],
    kernel: &[Dimension],
    dimensions: ConvolutionDimensions<'_>,
    groups: ConvolutionGroups,
) -> Result<(), InferError> {
    let features = input[dimensions.input_feature];
    // The kernel of a group has the input features of that group alone.
    let expected = match features.extent() {
        None => Dimension::Unbounded,
        #[expect(clippy::arithmetic_side_effects, reason = "the divisor is greater than 0")]
        Some(size) if groups.feature > 0 && size.is_multiple_of(groups.feature) => {
            Dimension::Static(size / groups.feature)
        }
        Some(_) => {
            return Err(InferError::UnevenGroups {
                what: "a number of input features",
                groups: groups.feature,
                size: features,
            });
        }
    };
    let dimension = dimensions.kernel_input_feature;
    let found = kernel[dimension];
    if !agree(expected, found) {
        return Err(InferError::SizeMismatch { what: "the kernel", dimension, expected, found });
    }
    let batch = input[dimensions.input_batch];
    if !divides(groups.batch, batch) {
        return Err(InferError::UnevenGroups { what: "a batch size", groups: groups.batch, size: batch });
    }
    let output_features = kernel[dimensions.kernel_output_feature];
    if !divides(groups.feature, output_features) {
        let (what, groups) = ("a number of output features", groups.feature);
        return Err(InferError::UnevenGroups { what, groups, size: output_features });
    }
    if !divides(groups.batch, output_features) {
        let (what, groups) = ("a number of output features", groups.batch);
        return Err(InferError::UnevenGroups { what, groups, size: output_features });
    }
    Ok(())
}

/// Whether the number of groups divides the size; an unbounded size may be divisible.
const fn divides(groups: u64, dimension: Dimension) -> bool {
    groups > 0
        && match dimension.extent() {
            Some(size) => size.is_multiple_of(groups),
            None => true,
        }
}
