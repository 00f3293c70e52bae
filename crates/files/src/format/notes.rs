//! What this crate adds to the header of a `.safetensors` file about a device's shards. The format itself has neither layouts nor
//! shards.

use crate::error::FileError;
use safetensors::tensor::Metadata;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The entry of a file's metadata that has them, as JSON.
pub(crate) const NOTES: &str = "xla_shape";

/// What a file says about all its tensors.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object with `device` and `tensors`")]
pub(crate) struct Notes {
    /// The device whose shards are in the file.
    pub(crate) device: i64,
    pub(crate) tensors: BTreeMap<String, Note>,
    /// The tensors that only other devices have, in the order of their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) others: Vec<OtherTensor>,
}

/// A tensor that the file would have if this device had a shard of it.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object with `name`, `place`, `shape`, `whole` and `sharding`")]
pub(crate) struct OtherTensor {
    pub(crate) name: String,
    /// How many tensors of the undivided file are before it.
    pub(crate) place: usize,
    pub(crate) shape: String,
    pub(crate) whole: String,
    pub(crate) sharding: String,
}

/// What a file says about a tensor.
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

impl Notes {
    /// The notes in a header; `None` if the file was not written for a device.
    pub(crate) fn of(metadata: &Metadata) -> Result<Option<Self>, FileError> {
        let Some(text) = metadata.metadata().as_ref().and_then(|entries| entries.get(NOTES)) else { return Ok(None) };
        let notes = serde_json::from_str::<Self>(text).map_err(|error| FileError::Notes(error.into()))?;
        match notes.device {
            0.. => Ok(Some(notes)),
            device => Err(FileError::Notes(format!("expected a device of at least 0, found {device}").into())),
        }
    }
}
