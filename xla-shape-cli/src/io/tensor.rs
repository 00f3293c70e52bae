//! Files that hold an array: raw bytes, NumPy's `.npy`, and one tensor of a `.safetensors` file.

use super::source::{Reader, Source};
use super::{Replacement, Sink, read_failure, write_failure};
use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use std::collections::HashMap;
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use xla_shape::{ArrayShape, ElementType, Layout, npy};

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

/// What a tensor is called that has no name yet.
pub(crate) const UNNAMED: &str = "tensor";

/// The most bytes of the beginning of an `.npy` file that are looked at for its header.
const NPY_HEADER: u64 = 1 << 20;
/// The most that the header of a `.safetensors` file may take, as the crate has it.
const SAFETENSORS_HEADER: u64 = 100_000_000;

/// An array in a file: what is read of it is read when it is asked for.
pub(crate) struct TensorFile<'a> {
    path: &'a Path,
    source: Source,
    data: Range<u64>,
    /// The shape that the file itself gives.
    pub(crate) shape: Option<ArrayShape>,
}

impl<'a> TensorFile<'a> {
    /// Opens a file; of a `.safetensors` file, the tensor with this name. `given` is the shape that the array is said to have:
    /// of a file of raw bytes, which must have one, and of an `.npy` file that tells only the size of its elements.
    ///
    /// Of a pipe, which may have no end, one byte more is read than there should be: that tells that there is more.
    pub(crate) fn open(path: &'a Path, tensor: Option<&str>, given: Option<&ArrayShape>) -> Result<Self, Failure> {
        let failed = |error| read_failure(path, error);
        let wrong = |message: String| Failure::said(format_args!("`{}`: {message}", path.display()));
        let mut source = Source::open(path)?;
        let bytes_of = |shape: &ArrayShape| shape.byte_size().unwrap_or_default();
        let (shape, data) = match FileFormat::of(path) {
            FileFormat::Raw => (None, 0..source.len(given.map_or(0, bytes_of).saturating_add(1)).map_err(failed)?),
            FileFormat::Npy => {
                let beginning = source.beginning(NPY_HEADER).map_err(failed)?;
                let read = npy::read_header(&beginning, given.map(ArrayShape::element_type));
                let (shape, start) = read.map_err(|error| {
                    let how =
                        if matches!(error, npy::NpyError::UnknownElementType { .. }) { " with --from" } else { "" };
                    wrong(format!("{error}{how}"))
                })?;
                let start = start as u64;
                let most = start.saturating_add(bytes_of(&shape)).saturating_add(1);
                let end = source.len(most).map_err(failed)?;
                (Some(shape), start..end)
            }
            FileFormat::Safetensors => {
                let (metadata, start) = safetensors_metadata(&mut source, path)?;
                let (shape, data) = find_tensor(&metadata, tensor).map_err(wrong)?;
                (Some(shape), data.start as u64 + start..data.end as u64 + start)
            }
        };
        Ok(Self { path, source, data, shape })
    }

    /// Whether there may be more than [`len`](Self::len) tells, as a pipe is not read to its end.
    pub(crate) const fn may_have_more(&self) -> bool {
        matches!(self.source, Source::Pipe { .. })
    }

    /// How many bytes the array takes in the file.
    pub(crate) fn len(&self) -> u64 {
        self.data.end - self.data.start
    }

    /// Reads pieces of the array, in bytes, one after another; they fill the buffer.
    pub(crate) fn gather(
        &self,
        pieces: impl Iterator<Item = Range<usize>>,
        mut buffer: &mut [u8],
    ) -> Result<(), Failure> {
        let mut reader = Reader::new(&self.source);
        let read = || {
            for piece in pieces {
                let (room, rest) = std::mem::take(&mut buffer).split_at_mut(piece.len());
                reader.add(self.data.start + piece.start as u64, room)?;
                buffer = rest;
            }
            reader.flush()
        };
        read().map_err(|error| read_failure(self.path, error))
    }
}

/// What the header of a `.safetensors` file says, and where the data begins after it. The file is as long as that says.
pub(super) fn safetensors_metadata(source: &mut Source, path: &Path) -> Result<(Metadata, u64), Failure> {
    let failed = |error| read_failure(path, error);
    let wrong = |message: String| Failure::said(format_args!("`{}`: {message}", path.display()));
    let no_header = || wrong("the file does not begin like a .safetensors file".into());
    let size = source.beginning(8).map_err(failed)?.try_into().map_or(u64::MAX, u64::from_le_bytes);
    if size > SAFETENSORS_HEADER {
        return Err(no_header());
    }
    let start = 8 + size;
    let header = source.beginning(start).map_err(failed)?;
    if header.len() as u64 != start {
        return Err(no_header());
    }
    let metadata = serde_json::from_slice::<Metadata>(&header[8..])
        .map_err(|error| wrong(format!("the header is wrong: {error}")))?;
    let told = metadata.data_len() as u64;
    let rest = source.len(start.saturating_add(told).saturating_add(1)).map_err(failed)?.saturating_sub(start);
    if told != rest {
        return Err(wrong(format!("its tensors take {told} bytes, but {rest} follow the header")));
    }
    Ok((metadata, start))
}

/// A bar on standard error, if it is to show and that is a terminal. It shows after a moment, also while the first part is being made.
pub(crate) fn progress(bytes: u64, shows: bool) -> ProgressBar {
    if !shows {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(bytes);
    bar.enable_steady_tick(Duration::from_millis(200));
    // Without a style, the bar has the default one.
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// Writes an array into a file, whole or not at all; into a `.safetensors` file, under this name. `make` is given who takes its bytes.
pub(crate) fn write(
    path: &Path,
    array: &ArrayShape,
    tensor: &str,
    shows_progress: bool,
    make: impl FnOnce(Sink<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let bar = progress(array.byte_size().unwrap_or_default(), shows_progress);
    if path.as_os_str() == "-" {
        make(Sink::InOrder(&mut |bytes| {
            super::write(bytes)?;
            bar.inc(bytes.len() as u64);
            Ok(())
        }))?;
        bar.finish_and_clear();
        return Ok(());
    }
    let wrong = |message: String| Failure::said(format_args!("`{}`: {message}", path.display()));
    let failed = |error| write_failure(path, error);
    let header = match FileFormat::of(path) {
        FileFormat::Raw => Vec::new(),
        FileFormat::Npy => npy::write_header(array).map_err(|error| wrong(error.to_string()))?,
        FileFormat::Safetensors => safetensors_header(array, tensor).map_err(wrong)?,
    };
    let mut file = Replacement::new(path).map_err(failed)?;
    let bytes = array.byte_size().unwrap_or_default().saturating_add(header.len() as u64);
    file.reserve(bytes).map_err(failed)?;
    file.write_all(&header).map_err(failed)?;
    file.fill(header.len() as u64, path, &|bytes| bar.inc(bytes), make)?;
    bar.finish_and_clear();
    file.commit().map_err(failed)
}

/// Checks, before any work, that a file of this name can hold such an array.
pub(crate) fn check_writable(path: &Path, array: &ArrayShape) -> Result<(), Failure> {
    let checked = match FileFormat::of(path) {
        FileFormat::Raw => Ok(()),
        FileFormat::Npy => npy::write_header(array).map(drop).map_err(|error| error.to_string()),
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

/// A tensor's shape, and where it is after the header.
fn find_tensor(metadata: &Metadata, name: Option<&str>) -> Result<(ArrayShape, Range<usize>), String> {
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
    shape_of(name, info)
}

/// The shape of a tensor, and where it is after the header.
pub(super) fn shape_of(name: &str, info: &TensorInfo) -> Result<(ArrayShape, Range<usize>), String> {
    let (_, element_type) = TYPES
        .iter()
        .find(|(dtype, _)| *dtype == info.dtype)
        .ok_or_else(|| format!("tensor `{name}` has the element type {:?}, which is not supported", info.dtype))?;
    let shape =
        ArrayShape::with_default_layout(*element_type, &info.shape.iter().map(|&size| size as u64).collect::<Vec<_>>())
            .map_err(|error| error.to_string())?;
    let (start, end) = info.data_offsets;
    let bytes = shape.byte_size().unwrap_or_default();
    if end.checked_sub(start).map(|length| length as u64) != Some(bytes) {
        return Err(format!("tensor `{name}` of {shape} takes {bytes} bytes, not those from {start} to {end}"));
    }
    Ok((shape, start..end))
}

pub(crate) fn dtype_of(array: &ArrayShape) -> Result<Dtype, String> {
    if *array.layout() != Layout::descending(array.num_dimensions()) {
        return Err(format!("a .safetensors file holds an array in row-major order, not {array}"));
    }
    let element_type = array.element_type();
    let dtype = TYPES.iter().find(|(_, ours)| *ours == element_type).map(|(dtype, _)| *dtype);
    dtype.ok_or_else(|| format!("a .safetensors file cannot hold elements of type {element_type}"))
}

/// The beginning of a file that holds an array under this name.
fn safetensors_header(array: &ArrayShape, name: &str) -> Result<Vec<u8>, String> {
    // The crate has the sizes of files in this machine's words.
    let local = |size: Option<u64>| {
        usize::try_from(size.unwrap_or_default())
            .map_err(|_| format!("{array} is larger than this machine can address"))
    };
    let shape = array.dimensions().iter().map(|dimension| local(dimension.extent())).collect::<Result<_, _>>()?;
    let data_offsets = (0, local(array.byte_size())?);
    let info = TensorInfo { dtype: dtype_of(array)?, shape, data_offsets };
    header_of(None, vec![(name.to_owned(), info)])
}

/// The beginning of a file with these tensors.
pub(crate) fn header_of(
    more: Option<HashMap<String, String>>,
    tensors: Vec<(String, TensorInfo)>,
) -> Result<Vec<u8>, String> {
    let metadata = Metadata::new(more, tensors).map_err(|error| error.to_string())?;
    let mut text = serde_json::to_vec(&metadata).map_err(|error| error.to_string())?;
    // The elements begin at a multiple of 8 bytes.
    text.resize(text.len().next_multiple_of(8), b' ');
    Ok([&(text.len() as u64).to_le_bytes(), &text[..]].concat())
}
