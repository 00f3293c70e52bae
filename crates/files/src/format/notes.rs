//! What the header of a `.safetensors` file says of a device's shards, because the format itself knows neither layouts nor shards.

use crate::error::FileError;
use safetensors::tensor::Metadata;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The entry of a file's metadata that has them, as JSON.
pub(crate) const NOTES: &str = "xla_shape";

/// What a file says of all its tensors.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object with `device` and `tensors`")]
pub(crate) struct Notes {
    /// The device whose shards are in the file.
    pub(crate) device: i64,
    pub(crate) tensors: BTreeMap<String, Note>,
}

/// What a file says of a tensor.
#[derive(Clone, Serialize, Deserialize)]
#[serde(expecting = "an object with `shape`, `whole`, `start` and `sharding`")]
pub(crate) struct Note {
    /// The shape of the shard, with its layout.
    pub(crate) shape: String,
    /// The shape of the whole tensor, which is row-major.
    pub(crate) whole: String,
    /// The first index of the shard in each dimension of the whole tensor.
    pub(crate) start: Vec<u64>,
    pub(crate) sharding: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in shards of {} by {}", self.whole, self.shape, self.sharding)
    }
}

impl Notes {
    /// What a header says; `None` if the file is not one of a device.
    pub(crate) fn of(metadata: &Metadata) -> Result<Option<Self>, FileError> {
        let Some(text) = metadata.metadata().as_ref().and_then(|entries| entries.get(NOTES)) else { return Ok(None) };
        serde_json::from_str(text).map(Some).map_err(|error| FileError::Notes(error.into()))
    }
}
