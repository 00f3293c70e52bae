//! What the dimensions of a convolution mean.

use alloc::vec::Vec;

/// The dimension labels of a convolution: `dim_labels` (`ConvolutionDimensionNumbers` in `xla/xla_data.proto`).
///
/// ```
/// let module = xla_shape_hlo::Module::parse("y = f32[1,2,2,8] convolution(x, w), dim_labels=b01f_01io->b01f")?;
/// let labels = module.instruction("y").unwrap().attribute("dim_labels").unwrap().dim_labels()?;
/// assert_eq!(labels.input, labels.output, "both are b01f");
/// assert_eq!(labels.kernel.spatial, [0, 1]);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DimLabels {
    /// The input: batch `b`, feature `f` and spatial dimensions.
    pub input: Labels,
    /// The kernel: input feature `i`, output feature `o` and spatial dimensions.
    pub kernel: Labels,
    /// The output: batch `b`, feature `f` and spatial dimensions.
    pub output: Labels,
}

/// The labels of one array of a convolution, as dimension numbers.
///
/// ```
/// let module = xla_shape_hlo::Module::parse("y = f32[8,2,2,1] convolution(x, w), dim_labels=f01b_i01o->f01b")?;
/// let labels = module.instruction("y").unwrap().attribute("dim_labels").unwrap().dim_labels()?;
/// assert_eq!((labels.input.first, labels.input.second), (3, 0), "the batch is dimension 3, the features are dimension 0");
/// assert_eq!((labels.kernel.first, labels.kernel.second), (0, 3), "input features, output features");
/// assert_eq!(labels.input.spatial, [1, 2]);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Labels {
    /// The batch dimension; of a kernel, the input feature dimension.
    pub first: usize,
    /// The feature dimension; of a kernel, the output feature dimension.
    pub second: usize,
    /// The spatial dimensions.
    pub spatial: Vec<usize>,
}
