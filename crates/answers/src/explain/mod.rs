//! Explains the text of a shape: what it means, where its elements are in memory or in registers, and how much memory they take.

mod choices;
mod gpu;
mod index;
mod json;
mod padding;
mod sharding;
mod vector;

pub use choices::SharedChoice;
pub use gpu::{GpuArray, GpuOperation, GpuOrder, OnDevices, WantedOrder};
pub use index::{Location, LocationError};
pub use padding::{Padding, PaddingCause, PaddingRemedy, Reshaping, dimension_named};
pub use sharding::Shards;
pub use vector::{Registers, VectorError};

use crate::digest::Digest;
use crate::{Answer, Given};
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::ShapeIndex;
use xla_shape_core::shard::{Sharding, ShardingError};
use xla_shape_core::tpu::Generation;

/// What a shape takes in memory. Sizes ending in `bytes` are in bytes, the others in elements.
///
/// ```
/// use xla_shape_answers::{Answer, explain::Explanation};
///
/// let explanation = Explanation::new("f32[100,200]{1,0:T(8,128)}".parse::<xla_shape_core::Shape>()?);
/// assert!(explanation.json().contains("\"bytes\":106496"));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Explanation {
    #[serde(flatten)]
    value: json::Value,
    /// What each device has. Only with --sharding.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Shards")]
    sharding: Option<Shards>,
    #[serde(skip)]
    given: Given,
    /// The TPUs whose choices are requested.
    #[serde(skip)]
    generations: Vec<Generation>,
    /// Whether the choices of TPUs are left out.
    #[serde(skip)]
    without_tpus: bool,
}

impl Explanation {
    /// Explains a shape.
    ///
    /// ```
    /// use xla_shape_answers::{Answer, Given, explain::Explanation};
    ///
    /// let given: Given = "bf16[8,100]{1,0:T(8,128)(2,1)}".parse()?;
    /// assert!(Explanation::new(given).json().contains("\"physical_elements\":1024"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn new(given: impl Into<Given>) -> Self {
        let given = given.into();
        let value = json::value(given.shape(), &mut given.layouts(), &[]);
        Self { value, sharding: None, given, generations: Vec::new(), without_tpus: false }
    }

    /// Adds the layouts that these generations of TPUs choose, also for arrays that were written with a layout. Without this call, the explanation
    /// has the choices of all generations, but only for arrays without a layout. A generation whose choice is not known is left out.
    ///
    /// ```
    /// use xla_shape_answers::{Answer, Given, explain::Explanation};
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let explanation = Explanation::new("f32[8,100]".parse::<Given>()?).for_tpus(&[Generation::V6e]);
    /// assert!(explanation.json().contains("\"generations\":[\"v6e\"]"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn for_tpus(self, generations: &[Generation]) -> Self {
        let value = json::value(self.given.shape(), &mut self.given.layouts(), generations);
        let mut sharding = self.sharding;
        if let Some(shards) = &mut sharding {
            shards.choose(&self.given, generations);
        }
        Self { value, sharding, generations: generations.to_vec(), ..self }
    }

    /// Leaves out the layouts that TPUs choose.
    fn without_tpus(self) -> Self {
        // For an array with a layout, the answer does not list the layouts that TPUs choose, so treat every array as if it had one.
        let value = json::value(self.given.shape(), &mut std::iter::repeat(true), &[]);
        Self { value, without_tpus: true, ..self }
    }

    /// Also explains the part of the shape that each device has.
    ///
    /// # Errors
    /// If the sharding does not fit the shape.
    ///
    /// ```
    /// use xla_shape_answers::{Answer, Given, explain::Explanation};
    ///
    /// let explanation = Explanation::new("f32[64,256]".parse::<Given>()?).with_sharding("{devices=[4,2]<=[8]}".parse()?)?;
    /// assert!(explanation.json().contains("\"shard\":\"f32[16,128]{1,0}\""));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_sharding(self, sharding: Sharding) -> Result<Self, ShardingError> {
        let mut shards = Shards::new(self.given.shape(), &sharding)?;
        if !self.without_tpus {
            shards.choose(&self.given, &self.generations);
        }
        Ok(Self { sharding: Some(shards), ..self })
    }

    /// The shape, and which of its arrays were written with a layout.
    #[must_use]
    pub const fn given(&self) -> &Given {
        &self.given
    }

    /// The TPUs whose choices are requested; empty for all.
    #[must_use]
    pub fn generations(&self) -> &[Generation] {
        &self.generations
    }

    /// The part that each device has, if the shape is divided.
    #[must_use]
    pub const fn shards(&self) -> Option<&Shards> {
        self.sharding.as_ref()
    }

    /// The layouts that TPUs choose, with the index of the array in the shape: for each array that was written without a layout, and for
    /// all arrays if generations are named.
    ///
    /// ```
    /// use xla_shape_answers::{Given, explain::Explanation};
    ///
    /// let explanation = Explanation::new("(f32[8]{0}, f32[8,100])".parse::<Given>()?);
    /// let [(index, choices)] = &explanation.choices()[..] else { panic!("one array has a layout") };
    /// assert_eq!((index.to_string(), choices[0].shape.as_str()), ("{1}".into(), "f32[8,100]{1,0:T(8,128)}"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn choices(&self) -> Vec<(ShapeIndex, Vec<SharedChoice>)> {
        if self.without_tpus { Vec::new() } else { choices::choices_by_leaf(&self.given, &self.generations) }
    }

    /// How TPUs store the shape, if it is one array: the choices of the named generations. If none is named, the choice of the default generation,
    /// but only for an array without a layout. Empty for other shapes.
    ///
    /// ```
    /// use xla_shape_answers::{DEFAULT_GENERATION, Given, explain::Explanation};
    ///
    /// let stored = Explanation::new("f32[8,100]".parse::<Given>()?).stored();
    /// assert_eq!(stored[0].generations, [DEFAULT_GENERATION]);
    /// assert!(Explanation::new("f32[8,100]{1,0}".parse::<Given>()?).stored().is_empty());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn stored(&self) -> Vec<SharedChoice> {
        if self.without_tpus { Vec::new() } else { choices::stored(&self.given, &self.generations) }
    }

    /// How TPUs store the shard of one device, by the rule of [`stored`](Self::stored): a shard has a layout if the whole array has one. Empty if
    /// the shape is not divided.
    ///
    /// ```
    /// use xla_shape_answers::{Given, explain::Explanation};
    ///
    /// let whole = Explanation::new("f32[16,16,16]".parse::<Given>()?);
    /// let divided = whole.with_sharding("{devices=[2,1,4]<=[8]}".parse()?)?;
    /// let shard = &divided.stored_shard()[0];
    /// assert_eq!((shard.shape.as_str(), shard.bytes), ("f32[8,16,4]{1,2,0:T(4,128)}", Some(16_384)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stored_shard(&self) -> Vec<SharedChoice> {
        let shards = self.sharding.as_ref().filter(|_| !self.without_tpus);
        shards.map_or_else(Vec::new, |shards| shards.stored(&self.given, &self.generations))
    }
}

impl Answer for Explanation {
    const SCHEMA: &'static str = "xla-shape/explain/1";

    /// What would take less memory, for an array with padding.
    fn digest(&self) -> Digest {
        let shape = self.given.shape();
        let is_padded = shape.array().is_some() && shape.padding_byte_size().is_some_and(|bytes| bytes > 0);
        let advise = is_padded.then(|| vec!["advise".into(), shape.to_string().into()]);
        Digest { causes: Vec::new(), next: advise.into_iter().collect() }
    }
}
