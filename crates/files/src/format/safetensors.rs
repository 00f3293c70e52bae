//! The header of `.safetensors` files: reading it, and writing it.

use super::notes::Notes;
use crate::access::Source;
use crate::error::{Error, FileError};
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use xla_shape::{ArrayShape, ElementType, Layout};

/// The largest header in bytes; the crate `safetensors` has the same limit.
const MAX_HEADER: u64 = 100_000_000;

/// What the header says, and where the data begins after it. The file is as long as the header says.
pub(crate) fn read_header(source: &mut Source, path: &Path) -> Result<(Metadata, u64), Error> {
    let failed = |error| Error::read(path, error);
    let wrong = |error| Error::file(path, error);
    let size = source.beginning(8).map_err(failed)?.try_into().map_or(u64::MAX, u64::from_le_bytes);
    if size > MAX_HEADER {
        return Err(wrong(FileError::NotSafetensors));
    }
    let start = 8 + size;
    let header = source.beginning(start).map_err(failed)?;
    if header.len() as u64 != start {
        return Err(wrong(FileError::NotSafetensors));
    }
    let metadata =
        serde_json::from_slice::<Metadata>(&header[8..]).map_err(|error| wrong(FileError::Header(error.into())))?;
    let expected = metadata.data_len() as u64;
    let found = source.len(start.saturating_add(expected).saturating_add(1)).map_err(failed)?.saturating_sub(start);
    if expected != found {
        return Err(wrong(FileError::DataLength { expected, found }));
    }
    Ok((metadata, start))
}

/// The element type with this name in the format. The format's `F8_E4M3` is XLA's type without infinities, `f8e4m3fn`.
fn element_type_of(dtype: Dtype) -> Option<ElementType> {
    let name = dtype.to_string();
    ElementType::ALL.iter().copied().find(|known| known.safetensors_name() == Some(&*name))
}

/// The tensor of this name, or the only one: its shape, and where it is after the header.
pub(super) fn find(metadata: &Metadata, name: Option<&str>) -> Result<(ArrayShape, Range<usize>), FileError> {
    let names = metadata.offset_keys();
    let name = match (name, names.as_slice()) {
        (Some(name), _) => name,
        (None, [one]) => one,
        (None, several) => return Err(FileError::SeveralTensors { count: several.len() }),
    };
    match metadata.info(name) {
        Some(info) => {
            let (stored, data) = shape_of(name, info)?;
            Ok((noted_shape(metadata, name, &stored).unwrap_or(stored), data))
        }
        None => Err(FileError::NoTensor { tensor: name.to_owned(), names }),
    }
}

/// The shape in the metadata of a tensor that is stored as bytes, as `shard` writes it; `None` for any other tensor.
fn noted_shape(metadata: &Metadata, name: &str, stored: &ArrayShape) -> Option<ArrayShape> {
    let shape = Notes::of(metadata).ok()??.tensors.get(name)?.shape.parse().ok()?;
    is_stored_as_bytes(&shape, stored).then_some(shape)
}

/// Whether an array is stored as a vector of its bytes.
pub(crate) fn is_stored_as_bytes(array: &ArrayShape, stored: &ArrayShape) -> bool {
    let is_bytes = stored.element_type() == ElementType::U8 && stored.num_dimensions() == 1;
    is_bytes && array.byte_size() == stored.byte_size()
}

/// The shape of a tensor, and where it is after the header.
pub(crate) fn shape_of(name: &str, info: &TensorInfo) -> Result<(ArrayShape, Range<usize>), FileError> {
    let tensor = || name.to_owned();
    super::check_dimensions(info.shape.len())?;
    let element_type = element_type_of(info.dtype)
        .ok_or_else(|| FileError::ElementType { tensor: tensor(), element_type: format!("{:?}", info.dtype) })?;
    let sizes = info.shape.iter().map(|&size| size as u64).collect::<Vec<_>>();
    let shape = ArrayShape::with_default_layout(element_type, &sizes)
        .map_err(|error| FileError::TensorShape { tensor: tensor(), error })?;
    let (start, end) = info.data_offsets;
    let bytes = shape.byte_size().unwrap_or_default();
    if end.checked_sub(start).map(|length| length as u64) != Some(bytes) {
        return Err(FileError::TensorLength { tensor: tensor(), shape: shape.into(), start, end });
    }
    Ok((shape, start..end))
}

/// What the format calls the elements of an array, if it can hold the array.
pub(crate) fn dtype_of(array: &ArrayShape) -> Result<Dtype, FileError> {
    if *array.layout() != Layout::descending(array.num_dimensions()) {
        return Err(FileError::NotRowMajor(array.clone().into()));
    }
    let element_type = array.element_type();
    let name = element_type.safetensors_name().map(StrDeserializer::<serde::de::value::Error>::new);
    name.and_then(|name| Dtype::deserialize(name).ok()).ok_or(FileError::NotInSafetensors(element_type))
}

/// What the header says about an array with this name.
pub(super) fn info_of(array: &ArrayShape) -> Result<TensorInfo, FileError> {
    // The crate `safetensors` keeps sizes and offsets as `usize`.
    let local = |size: Option<u64>| {
        usize::try_from(size.unwrap_or_default()).map_err(|_| FileError::TooLarge(array.clone().into()))
    };
    let shape = array.dimensions().iter().map(|dimension| local(dimension.extent())).collect::<Result<_, _>>()?;
    let data_offsets = (0, local(array.byte_size())?);
    Ok(TensorInfo { dtype: dtype_of(array)?, shape, data_offsets })
}

/// The beginning of a file with these tensors.
pub(crate) fn header_of(
    more: Option<HashMap<String, String>>,
    tensors: Vec<(String, TensorInfo)>,
) -> io::Result<Vec<u8>> {
    let metadata = Metadata::new(more, tensors).map_err(|error: SafeTensorError| io::Error::other(error))?;
    let mut text = serde_json::to_vec(&metadata)?;
    // The elements begin at a multiple of 8 bytes.
    text.resize(text.len().next_multiple_of(8), b' ');
    Ok([&(text.len() as u64).to_le_bytes(), &text[..]].concat())
}
