//! Files that hold an array: raw bytes, NumPy's `.npy`, and one tensor of a `.safetensors` file.

use super::{Replacement, npy, read_failure, write_failure};
use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors};
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;
use xla_shape::{ArrayShape, ElementType, Layout};

/// How a file holds an array; its name's ending tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileFormat {
    Raw,
    Npy,
    Safetensors,
}

impl FileFormat {
    pub(crate) fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("npy") => Self::Npy,
            Some("safetensors") => Self::Safetensors,
            _ => Self::Raw,
        }
    }
}

/// A file that has been read.
#[derive(Debug)]
pub(crate) struct TensorFile {
    bytes: Vec<u8>,
    data: Range<usize>,
    /// The shape that the file itself gives.
    pub(crate) shape: Option<ArrayShape>,
}

impl TensorFile {
    /// Reads a file; of a `.safetensors` file, the tensor with this name.
    pub(crate) fn read(path: &Path, tensor: Option<&str>) -> Result<Self, Failure> {
        let bytes = read_all(path).map_err(|error| read_failure(path, error))?;
        let wrong = |message: String| Failure::said(format_args!("`{}`: {message}", path.display()));
        let (shape, data) = match FileFormat::of(path) {
            FileFormat::Raw => (None, 0..bytes.len()),
            FileFormat::Npy => npy::read(&bytes).map(|(shape, data)| (Some(shape), data)).map_err(wrong)?,
            FileFormat::Safetensors => {
                find_tensor(&bytes, tensor).map(|(shape, data)| (Some(shape), data)).map_err(wrong)?
            }
        };
        Ok(Self { bytes, data, shape })
    }

    /// The array's bytes.
    pub(crate) fn data(&self) -> &[u8] {
        &self.bytes[self.data.clone()]
    }
}

/// A bar on standard error, where that is a terminal.
fn progress(what: &str, bytes: u64) -> ProgressBar {
    let bar = ProgressBar::new(bytes);
    // A bar without its colours would do as well.
    if let Ok(style) = ProgressStyle::with_template("{msg:8} {bar:40} {bytes}/{total_bytes} {bytes_per_sec}") {
        bar.set_style(style);
    }
    bar.with_message(what.to_owned())
}

fn read_all(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
    let bar = progress("reading", length);
    bar.wrap_read(file).read_to_end(&mut bytes)?;
    bar.finish_and_clear();
    Ok(bytes)
}

/// Writes an array into a file, whole or not at all; into a `.safetensors` file, under this name.
pub(crate) fn write(path: &Path, array: &ArrayShape, data: &[u8], tensor: &str) -> Result<(), Failure> {
    let wrong = |message: String| Failure::said(format_args!("`{}`: {message}", path.display()));
    let failed = |error| write_failure(path, error);
    if path.as_os_str() == "-" {
        return super::write(data);
    }
    let header = match FileFormat::of(path) {
        FileFormat::Raw => Vec::new(),
        FileFormat::Npy => npy::header(array).map_err(wrong)?,
        FileFormat::Safetensors => {
            let view = tensor_view(array, data).map_err(wrong)?;
            let file = Replacement::new(path).map_err(failed)?;
            safetensors::serialize_to_file([(tensor, view)], None, file.path()).map_err(|error| match error {
                SafeTensorError::IoError(error) => failed(error),
                error => wrong(error.to_string()),
            })?;
            return file.commit().map_err(failed);
        }
    };
    let written = Replacement::new(path).and_then(|mut file| {
        let bar = progress("writing", data.len() as u64);
        let mut to = bar.wrap_write(&mut file);
        to.write_all(&header)?;
        // In pieces, so that the bar moves.
        data.chunks(1 << 22).try_for_each(|piece| to.write_all(piece))?;
        bar.finish_and_clear();
        file.commit()
    });
    written.map_err(failed)
}

/// Checks, before any work, that a file of this name can hold such an array.
pub(crate) fn check_writable(path: &Path, array: &ArrayShape) -> Result<(), Failure> {
    let checked = match FileFormat::of(path) {
        FileFormat::Raw => Ok(()),
        FileFormat::Npy => npy::header(array).map(drop),
        FileFormat::Safetensors => dtype_of(array).map(drop),
    };
    checked.map_err(|message| Failure::said(format_args!("`{}`: {message}", path.display())))
}

/// The element types that both XLA and safetensors have in whole bytes. Its `F8_E4M3` is the finite one.
const TYPES: &[(Dtype, ElementType)] = &[
    (Dtype::BOOL, ElementType::Pred),
    (Dtype::U8, ElementType::U8),
    (Dtype::I8, ElementType::S8),
    (Dtype::F8_E5M2, ElementType::F8E5M2),
    (Dtype::F8_E4M3, ElementType::F8E4M3Fn),
    (Dtype::F8_E8M0, ElementType::F8E8M0Fnu),
    (Dtype::F8_E4M3FNUZ, ElementType::F8E4M3Fnuz),
    (Dtype::F8_E5M2FNUZ, ElementType::F8E5M2Fnuz),
    (Dtype::I16, ElementType::S16),
    (Dtype::U16, ElementType::U16),
    (Dtype::F16, ElementType::F16),
    (Dtype::BF16, ElementType::Bf16),
    (Dtype::I32, ElementType::S32),
    (Dtype::U32, ElementType::U32),
    (Dtype::F32, ElementType::F32),
    (Dtype::C64, ElementType::C64),
    (Dtype::F64, ElementType::F64),
    (Dtype::I64, ElementType::S64),
    (Dtype::U64, ElementType::U64),
];

fn find_tensor(file: &[u8], name: Option<&str>) -> Result<(ArrayShape, Range<usize>), String> {
    let (header, metadata) = SafeTensors::read_metadata(file).map_err(|error| error.to_string())?;
    let names = metadata.offset_keys();
    let name = match (name, names.as_slice()) {
        (Some(name), _) => name,
        (None, [one]) => one,
        (None, several) => {
            return Err(format!("the file has {} tensors; say which one with --tensor", several.len()));
        }
    };
    let Some(info) = metadata.info(name) else {
        let shown = names.iter().take(20).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let more = if names.len() > 20 { ", …" } else { "" };
        return Err(format!("the file has no tensor `{name}`; it has {shown}{more}"));
    };
    let (_, element_type) = TYPES
        .iter()
        .find(|(dtype, _)| *dtype == info.dtype)
        .ok_or_else(|| format!("tensor `{name}` has the element type {:?}, which is not supported", info.dtype))?;
    let shape = ArrayShape::with_default_layout(*element_type, &info.shape).map_err(|error| error.to_string())?;
    // The metadata is consistent with the length of the file.
    let start = size_of::<u64>() + header;
    Ok((shape, start + info.data_offsets.0..start + info.data_offsets.1))
}

fn dtype_of(array: &ArrayShape) -> Result<Dtype, String> {
    if *array.layout() != Layout::descending(array.num_dimensions()) {
        return Err(format!("a .safetensors file holds an array in row-major order, not {array}"));
    }
    let element_type = array.element_type();
    let dtype = TYPES.iter().find(|(_, ours)| *ours == element_type).map(|(dtype, _)| *dtype);
    dtype.ok_or_else(|| format!("a .safetensors file cannot hold elements of type {element_type}"))
}

fn tensor_view<'a>(array: &ArrayShape, data: &'a [u8]) -> Result<TensorView<'a>, String> {
    let sizes = array.dimensions().iter().map(|dimension| dimension.extent().unwrap_or_default()).collect();
    TensorView::new(dtype_of(array)?, sizes, data).map_err(|error| error.to_string())
}
