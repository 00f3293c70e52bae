//! Operations that move a window over an array.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is checked first")]

use super::{InferError, agree, check_dimensions, check_len, contains, sized};
use crate::layout::dimension::Dimension;
use crate::limits::MAX_SIZE;

/// One dimension of a window, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WindowDimension {
    /// How many elements the window looks at.
    pub size: u64,
    /// How far it moves.
    pub stride: u64,
    /// The padding before the first element; negative padding removes elements.
    pub padding_low: i64,
    /// The padding after the last one.
    pub padding_high: i64,
    /// How far apart the array's elements are put before the window moves over them: `lhs_dilate`.
    pub base_dilation: u64,
    /// How far apart the elements lie that the window looks at: `rhs_dilate`.
    pub window_dilation: u64,
    /// Whether the window's elements are taken in reverse: `rhs_reversal`.
    pub reversal: bool,
}

impl WindowDimension {
    /// A window that looks at one element and moves by one.
    pub const ONE: Self = Self {
        size: 1,
        stride: 1,
        padding_low: 0,
        padding_high: 0,
        base_dilation: 1,
        window_dilation: 1,
        reversal: false,
    };

    /// How many places the window has on a dimension of this size.
    ///
    /// # Errors
    /// If the size, the stride or a dilation is 0, or the number does not fit in an i64.
    #[expect(clippy::arithmetic_side_effects, reason = "sums and products of numbers below 2^64 fit in an i128")]
    const fn places(self, size: u64, dimension: usize) -> Result<u64, InferError> {
        if self.size == 0 {
            return Err(InferError::EmptyWindow { dimension });
        }
        if self.stride == 0 || self.base_dilation == 0 || self.window_dilation == 0 {
            return Err(InferError::ZeroStride { dimension });
        }
        // So that the products below fit.
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
        let places = (padded - window) / self.stride as i128 + 1;
        if places > MAX_SIZE as i128 { Err(InferError::Overflow) } else { Ok(places as u64) }
    }
}

/// The size of a dimension whose elements are put this far apart.
#[expect(clippy::arithmetic_side_effects, reason = "a product of two numbers below 2^64 and 2^63 fits in an i128")]
const fn dilate(size: u64, dilation: u64) -> i128 {
    if size == 0 { 0 } else { (size as i128 - 1) * dilation as i128 + 1 }
}

const fn windowed(from: Dimension, window: WindowDimension, dimension: usize) -> Result<Dimension, InferError> {
    match from.extent() {
        None => Ok(Dimension::Unbounded),
        Some(size) => match window.places(size, dimension) {
            Ok(places) => Ok(sized(from, places)),
            Err(error) => Err(error),
        },
    }
}

/// The result of a reduction over windows: how many places the window has in each dimension.
///
/// # Errors
/// If the window does not have the operand's number of dimensions, or as [`WindowDimension`] requires.
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
            Ok(places) => places,
            Err(error) => return Err(error),
        };
        dimension = dimension.saturating_add(1);
    }
    Ok(())
}

/// What the dimensions of a convolution's input, kernel and output mean: `dim_labels`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConvolutionDimensions<'a> {
    /// The input's batch dimension: `b`.
    pub input_batch: usize,
    /// The input's feature dimension: `f`.
    pub input_feature: usize,
    /// The input's spatial dimensions: `0`, `1`, ….
    pub input_spatial: &'a [usize],
    /// The kernel's dimension of input features: `i`.
    pub kernel_input_feature: usize,
    /// The kernel's dimension of output features: `o`.
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

/// Into how many groups a convolution is divided.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConvolutionGroups {
    /// Groups of input features: `feature_group_count`.
    pub feature: u64,
    /// Groups of the batch: `batch_group_count`.
    pub batch: u64,
}

impl ConvolutionGroups {
    /// All features and the whole batch together.
    pub const ONE: Self = Self { feature: 1, batch: 1 };
}

/// The result of a convolution; `window` has one entry for each spatial dimension.
///
/// # Errors
/// If the numbers are not dimensions, sizes that belong together differ, or groups do not divide what they group.
pub const fn convolution(
    input: &[Dimension],
    kernel: &[Dimension],
    dimensions: ConvolutionDimensions<'_>,
    window: &[WindowDimension],
    groups: ConvolutionGroups,
    result: &mut [Dimension],
) -> Result<(), InferError> {
    let of_input = (dimensions.input_batch, dimensions.input_feature, dimensions.input_spatial);
    if let Err(error) = check_labels("the input's labels", of_input, input.len(), window.len()) {
        return Err(error);
    }
    let of_kernel = (dimensions.kernel_input_feature, dimensions.kernel_output_feature, dimensions.kernel_spatial);
    if let Err(error) = check_labels("the kernel's labels", of_kernel, kernel.len(), window.len()) {
        return Err(error);
    }
    let of_output = (dimensions.output_batch, dimensions.output_feature, dimensions.output_spatial);
    if let Err(error) = check_labels("the output's labels", of_output, result.len(), window.len()) {
        return Err(error);
    }
    let batch = input[dimensions.input_batch];
    let output_features = kernel[dimensions.kernel_output_feature];
    if let Err(error) = check_groups(input, kernel, dimensions, groups) {
        return Err(error);
    }
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
            // How often a dynamic kernel fits is dynamic too.
            Ok(Dimension::Static(places)) => sized(found, places),
            Ok(places) => places,
            Err(error) => return Err(error),
        };
        i = i.saturating_add(1);
    }
    Ok(())
}

/// Checks that two dimensions and the spatial ones are all dimensions of an array, each once.
const fn check_labels(
    what: &'static str,
    (first, second, spatial): (usize, usize, &[usize]),
    num_dimensions: usize,
    num_spatial: usize,
) -> Result<(), InferError> {
    if let Err(error) = check_len(what, num_spatial, spatial.len()) {
        return Err(error);
    }
    if let Err(error) = check_len(what, num_dimensions, spatial.len().saturating_add(2)) {
        return Err(error);
    }
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
    let expected = match features.extent() {
        None => Dimension::Unbounded,
        #[expect(clippy::arithmetic_side_effects, reason = "the divisor is greater than 0")]
        Some(size) if groups.feature > 0 && size.is_multiple_of(groups.feature) => {
            Dimension::Static(size / groups.feature)
        }
        Some(_) => {
            return Err(InferError::UnevenGroups { what: "input features", groups: groups.feature, size: features });
        }
    };
    let dimension = dimensions.kernel_input_feature;
    let found = kernel[dimension];
    if !agree(expected, found) {
        return Err(InferError::SizeMismatch { what: "the kernel", dimension, expected, found });
    }
    let batch = input[dimensions.input_batch];
    if !divides(groups.batch, batch) {
        return Err(InferError::UnevenGroups { what: "a batch", groups: groups.batch, size: batch });
    }
    let output_features = kernel[dimensions.kernel_output_feature];
    if !divides(groups.feature, output_features) {
        let (what, groups) = ("output features", groups.feature);
        return Err(InferError::UnevenGroups { what, groups, size: output_features });
    }
    if !divides(groups.batch, output_features) {
        let (what, groups) = ("output features", groups.batch);
        return Err(InferError::UnevenGroups { what, groups, size: output_features });
    }
    Ok(())
}

const fn divides(groups: u64, dimension: Dimension) -> bool {
    groups > 0
        && match dimension.extent() {
            Some(size) => size.is_multiple_of(groups),
            None => true,
        }
}
