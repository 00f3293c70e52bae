//! How GPUs store the arrays of a shape, and the orders that their operations prefer.

use super::Explanation;
use crate::device::Device;
use crate::digest::Digest;
use crate::{Answer, Given};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use xla_shape_core::ArrayShape;
use xla_shape_core::gpu::{BUFFER_ALIGNMENT, Gpu, Order};
use xla_shape_core::shard::{Sharding, ShardingError};

/// What a shape takes in memory, and what the named devices do with its arrays. Sizes ending in `bytes` are in bytes, the others in elements.
///
/// ```
/// use xla_shape_answers::{Answer, explain::OnDevices};
///
/// let on_devices = OnDevices::new("s4[7,33]".parse::<xla_shape_answers::Given>()?, &["h100".parse()?], None)?;
/// assert_eq!(on_devices.arrays()[0].shape, "s4[7,33]{1,0:E(4)}");
/// assert!(on_devices.json().contains("\"bytes\":116"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OnDevices {
    #[serde(flatten)]
    explanation: Explanation,
    /// Only with GPUs in --for: how they store each array, and which orders operations want.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gpu: Vec<GpuArray>,
}

/// How GPUs store an array of the shape.
///
/// ```
/// use xla_shape_answers::{Given, explain::OnDevices};
///
/// let tuple: Given = "(f32[], bf16[8,64,56,56])".parse()?;
/// let on_devices = OnDevices::new(tuple, &["h100".parse()?], None)?;
/// let array = &on_devices.arrays()[1];
/// assert_eq!((array.index.as_slice(), array.orders.len()), (&[1][..], 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GpuArray {
    /// Where the array is in the shape: the numbers of the elements of the tuples around it, the outermost first.
    pub index: Vec<usize>,
    /// The GPUs, such as "h100".
    #[serde(serialize_with = "names")]
    #[schemars(with = "Vec<String>")]
    pub gpus: Vec<Gpu>,
    /// The shape with the layout that they give it unless the program asks for another one: row-major, without tiles.
    pub shape: String,
    /// The bytes of the array in that layout; null if a dimension is bounded or unbounded, or if they do not fit in 64 bits.
    pub bytes: Option<u64>,
    /// Whether elements of less than 8 bits are packed.
    pub packed: bool,
    /// A temporary buffer begins at a multiple of this many bytes.
    pub alignment: u64,
    /// The orders that operations want of such an array.
    pub orders: Vec<GpuOrder>,
}

/// The order of dimensions that an operation wants. If an array has another order, the compiler transposes it first.
///
/// ```
/// use xla_shape_answers::explain::{GpuOperation, GpuOrder, WantedOrder};
/// use xla_shape_core::gpu::Gpu;
///
/// let orders = GpuOrder::of(&"f32[8,64,56,56]".parse()?, &[Gpu::H100Sxm, Gpu::A100Sxm80, Gpu::B200]);
/// assert_eq!((orders[0].operation, orders[0].order), (GpuOperation::Convolution, WantedOrder::ChannelsLast));
/// assert_eq!((orders[0].gpus.as_slice(), orders[1].gpus.as_slice()), (&[Gpu::H100Sxm, Gpu::B200][..], &[Gpu::A100Sxm80][..]));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GpuOrder {
    /// The GPUs, such as "h100".
    #[serde(serialize_with = "names")]
    #[schemars(with = "Vec<String>")]
    pub gpus: Vec<Gpu>,
    /// The operation.
    pub operation: GpuOperation,
    /// The order.
    pub order: WantedOrder,
    /// The array in this order. A convolution has the dimensions N, C, H and W; a product sums over the second-to-last dimension.
    pub shape: String,
    /// That array.
    #[serde(skip)]
    pub array: ArrayShape,
}

words! {
    /// An operation that wants the dimensions of its arrays in a certain order.
    pub enum GpuOperation {
        /// A convolution of cuDNN.
        Convolution = "convolution",
        /// A product of matrices.
        Product = "product",
    }

    /// The order that an operation wants.
    pub enum WantedOrder {
        /// The channels vary fastest: NHWC.
        ChannelsLast = "channels last",
        /// The channels vary slowest after the batch: NCHW.
        ChannelsFirst = "channels first",
        /// The dimension that is summed over varies fastest.
        ContractingLast = "contracting last",
    }
}

fn names<S: Serializer>(gpus: &[Gpu], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(gpus.iter().map(|gpu| gpu.name()))
}

impl OnDevices {
    /// Explains a shape, with the choices of these devices, and with the part that each device has if the shape is divided. If only GPUs are named,
    /// the choices of TPUs are left out.
    ///
    /// # Errors
    /// If the sharding does not fit the shape.
    pub fn new(given: impl Into<Given>, devices: &[Device], sharding: Option<Sharding>) -> Result<Self, ShardingError> {
        let generations = devices.iter().filter_map(|device| device.generation()).collect::<Vec<_>>();
        let gpus = devices.iter().filter_map(|device| device.gpu()).collect::<Vec<_>>();
        let explanation = Explanation::new(given);
        let mut explanation = match generations.is_empty() && !gpus.is_empty() {
            true => explanation.without_tpus(),
            false => explanation.for_tpus(&generations),
        };
        if let Some(sharding) = sharding {
            explanation = explanation.with_sharding(sharding)?;
        }
        let leaves = explanation.given().shape().get_leaf_shapes().filter(|_| !gpus.is_empty());
        let gpu = leaves.filter_map(|(index, leaf)| GpuArray::new(index.to_vec(), leaf.array()?, &gpus)).collect();
        Ok(Self { explanation, gpu })
    }

    /// The memory that the shape takes.
    ///
    /// ```
    /// use xla_shape_answers::{Given, explain::OnDevices};
    ///
    /// let on_devices = OnDevices::new("f32[8]".parse::<Given>()?, &[], None)?;
    /// assert_eq!(on_devices.explanation().given().shape().byte_size(), Some(32));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn explanation(&self) -> &Explanation {
        &self.explanation
    }

    /// How GPUs store each array of the shape; empty if no GPU was named.
    #[must_use]
    pub fn arrays(&self) -> &[GpuArray] {
        &self.gpu
    }
}

impl GpuArray {
    fn new(index: Vec<usize>, array: &ArrayShape, gpus: &[Gpu]) -> Option<Self> {
        let stored = array.clone().with_gpu_layout().ok()?;
        Some(Self {
            index,
            gpus: gpus.to_vec(),
            shape: stored.to_string(),
            // XLA also keeps the sizes of dynamic dimensions in the buffer.
            bytes: stored.byte_size().filter(|_| stored.is_static()),
            packed: stored.element_bits() < 8,
            alignment: BUFFER_ALIGNMENT,
            orders: GpuOrder::of(array, gpus),
        })
    }
}

impl GpuOrder {
    /// The orders that operations prefer for an array on these GPUs. GPUs with the same preference share an entry.
    #[must_use]
    pub fn of(array: &ArrayShape, gpus: &[Gpu]) -> Vec<Self> {
        let element_type = array.element_type();
        // The other two dimensions are the batch and the channels.
        let spatial = array.num_dimensions().saturating_sub(2);
        let mut found = Vec::<Self>::new();
        for &gpu in gpus {
            let capability = gpu.capability();
            for (operation, order) in [
                (GpuOperation::Convolution, capability.convolution_order(element_type, spatial)),
                (GpuOperation::Product, capability.product_order(element_type)),
            ] {
                let Some((order, ordered)) = order.and_then(|order| Some((order, order.of(array)?))) else { continue };
                let order = match order {
                    Order::ChannelsLast => WantedOrder::ChannelsLast,
                    Order::ChannelsFirst => WantedOrder::ChannelsFirst,
                    Order::ContractingLast => WantedOrder::ContractingLast,
                    _ => continue,
                };
                match found.iter_mut().find(|found| (found.operation, found.order) == (operation, order)) {
                    Some(found) if found.gpus.contains(&gpu) => {}
                    Some(found) => found.gpus.push(gpu),
                    None => found.push(Self {
                        gpus: vec![gpu],
                        operation,
                        order,
                        shape: ordered.to_string(),
                        array: ordered,
                    }),
                }
            }
        }
        found
    }
}

impl Answer for OnDevices {
    const SCHEMA: &'static str = Explanation::SCHEMA;

    fn digest(&self) -> Digest {
        self.explanation.digest()
    }
}
