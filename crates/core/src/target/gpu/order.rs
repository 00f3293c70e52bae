//! The layouts that XLA's compiler gives arrays on GPUs (`xla/service/gpu/transforms/layout_assignment.cc`).

use super::Capability;
use crate::{ArrayShape, ElementClass, ElementType, Layout, ValidationError};

/// The compiler puts the temporary buffers of a program at multiples of this many bytes (`kXlaAllocatedBufferAlignBytes` in
/// `xla/service/gpu/gpu_constants.h`).
pub const BUFFER_ALIGNMENT: u64 = 256;

/// The order of dimensions that an operation needs its arrays to have. If they have another order, the compiler transposes them first.
///
/// ```
/// use xla_shape_core::ElementType;
/// use xla_shape_core::gpu::{Gpu, Order};
///
/// let order = |gpu: Gpu, element_type| gpu.capability().convolution_order(element_type, 2);
/// assert_eq!(order(Gpu::H100Sxm, ElementType::F32), Some(Order::ChannelsLast));
/// assert_eq!(order(Gpu::A100Sxm80, ElementType::F32), Some(Order::ChannelsFirst));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Order {
    /// The channels vary fastest, then the spatial dimensions from the last to the first: NHWC. For a filter, these are the channels of the
    /// input, and those of the output vary slowest.
    ChannelsLast,
    /// The last spatial dimension varies fastest, and the channels slowest after the batch: NCHW.
    ChannelsFirst,
    /// The dimension that a product sums over varies fastest.
    ContractingLast,
}

impl Order {
    /// The array in this order. Orders of channels take its dimensions as batch, channels and spatial dimensions, as JAX and PyTorch number them
    /// by default; [`ContractingLast`](Self::ContractingLast) takes a matrix whose first dimension is summed over. `None` if the array has too few
    /// dimensions.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_core::gpu::Order;
    ///
    /// let array: ArrayShape = "bf16[8,64,56,56]".parse()?;
    /// assert_eq!(Order::ChannelsLast.of(&array).unwrap().to_string(), "bf16[8,64,56,56]{1,3,2,0}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn of(self, array: &ArrayShape) -> Option<ArrayShape> {
        let mut order = Layout::descending(array.num_dimensions()).minor_to_major().to_vec();
        match (self, order.as_mut_slice()) {
            // In row-major order, the channels are the second most major dimension: move them to the most minor place.
            (Self::ChannelsLast, [_, spatial @ .., _]) if !spatial.is_empty() => {
                let channels = order.len().checked_sub(2)?;
                order.get_mut(..=channels)?.rotate_right(1);
            }
            (Self::ChannelsFirst, [_, _, _, ..]) => {}
            (Self::ContractingLast, [last, before, ..]) => core::mem::swap(last, before),
            _ => return None,
        }
        let array = array.clone().with_gpu_layout().ok()?;
        let layout = array.layout().clone().with_minor_to_major(&order).ok()?;
        array.with_layout(layout).ok()
    }
}

impl Capability {
    /// The order that convolutions of cuDNN need for arrays with elements of this type and this many spatial dimensions. `None` if that was not
    /// tried.
    ///
    /// From 9.0 on, channels come last if there are one or two spatial dimensions, except for `f64`, for which cuDNN has no such kernels. Before
    /// 9.0, they come last only with two spatial dimensions, for `f16` from 7.0 on and for `bf16` from 8.0 on; before 8.0, `bf16` is computed as
    /// `f32`. For `s8`, they come last on every GPU. Tried with the compiler for 6.0 to 12.0 (jax 0.12.0.1).
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_core::gpu::{Gpu, Order};
    ///
    /// let capability = Gpu::T4.capability();
    /// assert_eq!(capability.convolution_order(ElementType::F16, 2), Some(Order::ChannelsLast));
    /// assert_eq!(capability.convolution_order(ElementType::Bf16, 2), Some(Order::ChannelsFirst));
    /// assert_eq!(capability.convolution_order(ElementType::F16, 3), Some(Order::ChannelsFirst));
    /// ```
    #[must_use]
    pub fn convolution_order(self, element_type: ElementType, spatial: usize) -> Option<Order> {
        let is_last = match (element_type, spatial) {
            (ElementType::S8, 2) => true,
            (ElementType::F64, 1..=3) | (ElementType::F16 | ElementType::Bf16 | ElementType::F32, 3) => false,
            (ElementType::F16 | ElementType::Bf16 | ElementType::F32, 1 | 2) if self.major >= 9 => true,
            (ElementType::F16, 2) => self.major >= 7,
            (ElementType::Bf16, 2) => self.major >= 8,
            (ElementType::F16 | ElementType::Bf16 | ElementType::F32, 1 | 2) => false,
            _ => return None,
        };
        Some(if is_last { Order::ChannelsLast } else { Order::ChannelsFirst })
    }

    /// The order that a product needs both of its matrices to have, if their elements have this type; `None` if it takes any order. For `s8`,
    /// this holds for products with an `s32` result. Tried with the compiler for 8.0 to 12.0 (jax 0.12.0.1).
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_core::gpu::{Gpu, Order};
    ///
    /// let order = |gpu: Gpu| gpu.capability().product_order(ElementType::F8E4M3Fn);
    /// assert_eq!((order(Gpu::H100Sxm), order(Gpu::B200)), (Some(Order::ContractingLast), None));
    /// ```
    #[must_use]
    pub fn product_order(self, element_type: ElementType) -> Option<Order> {
        match element_type {
            ElementType::S8 => Some(Order::ContractingLast),
            ElementType::F8E4M3Fn if self.major != 10 => Some(Order::ContractingLast),
            _ => None,
        }
    }
}

impl ArrayShape {
    /// The same array in the layout that a GPU gives it unless the program asks for another one: row-major, without tiles or padding, in the
    /// default memory. Elements of less than 8 bits are packed, also across rows, except `pred`, which has a byte
    /// (`xla/service/sub_byte_normalization.cc`).
    ///
    /// ```
    /// let array: xla_shape_core::ArrayShape = "s4[7,33]{0,1:T(8,128)}".parse()?;
    /// let on_gpu = array.with_gpu_layout()?;
    /// assert_eq!((on_gpu.to_string().as_str(), on_gpu.byte_size()), ("s4[7,33]{1,0:E(4)}", Some(116)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the array has more bytes than XLA counts.
    pub fn with_gpu_layout(self) -> Result<Self, ValidationError> {
        let mut layout = Layout::descending(self.num_dimensions());
        let bits = self.element_type().bits();
        if bits < 8 && self.element_type().class() != ElementClass::Predicate {
            layout = layout.with_element_size_in_bits(bits)?;
        }
        self.with_layout(layout)
    }
}

#[cfg(test)]
mod tests {
    use super::Order;
    use crate::ArrayShape;
    use alloc::string::ToString;

    #[test]
    fn orders_are_those_of_the_dimensions() {
        for (order, shape, ordered) in [
            (Order::ChannelsLast, "f32[8,64,56]", Some("f32[8,64,56]{1,2,0}")),
            (Order::ChannelsLast, "f32[8,64,4,5,6]", Some("f32[8,64,4,5,6]{1,4,3,2,0}")),
            (Order::ChannelsFirst, "f32[8,64,56,56]{0,1,2,3}", Some("f32[8,64,56,56]{3,2,1,0}")),
            (Order::ContractingLast, "s8[1024,256]", Some("s8[1024,256]{0,1}")),
            (Order::ContractingLast, "s4[2,3,5]", Some("s4[2,3,5]{1,2,0:E(4)}")),
            (Order::ChannelsLast, "f32[8,64]", None),
            (Order::ChannelsFirst, "f32[8,64]", None),
            (Order::ContractingLast, "f32[8]", None),
        ] {
            let array: ArrayShape = shape.parse().unwrap();
            assert_eq!(order.of(&array).map(|array| array.to_string()).as_deref(), ordered, "{shape}");
        }
    }
}
