//! One array in a file.

use super::FileFormat;
use super::npz::{self, NpzError};
use super::safetensors::{find, header_of, info_of, read_header};
use crate::access::{Reader, Replacement, Sink, Source, write_to_stdout};
use crate::error::{Error, FileError};
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{RelayoutError, Side};
use xla_shape::{ArrayShape, npy};

/// The name of a tensor that was not given one.
pub(crate) const UNNAMED: &str = "tensor";

/// An `.npy` file's header is looked for in at most this many bytes at its beginning.
const NPY_HEADER: u64 = 1 << 20;

/// An array in a file, whose elements are read when they are needed. The file has exactly as many bytes as the array takes.
pub struct ArrayFile {
    path: PathBuf,
    source: Source,
    /// Where the array is in the file.
    data: Range<u64>,
    shape: ArrayShape,
}

impl ArrayFile {
    /// Opens a file and finds its array. The name's ending says what the file is: `.npy`, `.npz` or `.safetensors`; any other file has raw bytes, and
    /// so has standard input, `-`.
    ///
    /// `tensor` is the name of the tensor in a `.safetensors` file, or of the array in an `.npz` file; it may be left out where there is only
    /// one. `shape` is the shape of the array, with its layout: raw bytes need one, and so do `.npy` and `.npz` files that say only how many
    /// bytes an element takes, as for bf16. Arrays in an `.npz` file are read in place; compressed ones are an error, and checksums
    /// are not compared. If the file says the shape, too, the two must be equal.
    ///
    /// A pipe may be endless, so it is read only one byte past the array, which shows whether there is more.
    ///
    /// ```
    /// use xla_shape::ArrayShape;
    /// use xla_shape_files::ArrayFile;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("a.bin");
    /// std::fs::write(&path, [1, 2, 3, 4, 5, 6])?;
    /// let shape: ArrayShape = "u8[2,3]{0,1}".parse()?;
    /// assert_eq!(ArrayFile::open(&path, None, Some(&shape))?.shape(), &shape);
    /// let shape: ArrayShape = "u8[7]".parse()?;
    /// assert!(ArrayFile::open(&path, None, Some(&shape)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read, or does not hold such an array. [`Error::missing`] says what must be given.
    pub fn open(path: impl AsRef<Path>, tensor: Option<&str>, shape: Option<&ArrayShape>) -> Result<Self, Error> {
        Self::open_path(path.as_ref(), tensor, shape)
    }

    fn open_path(path: &Path, tensor: Option<&str>, shape: Option<&ArrayShape>) -> Result<Self, Error> {
        let failed = |error| Error::read(path, error);
        let wrong = |error| Error::file(path, error);
        let mut source = Source::open(path)?;
        // The bytes of an array fit in an `i64`.
        let bytes_of = |shape: &ArrayShape| shape.byte_size().unwrap_or_default();
        let (found, data) = match FileFormat::of(path) {
            FileFormat::Raw => (None, 0..source.len(shape.map_or(0, bytes_of) + 1).map_err(failed)?),
            FileFormat::Npy => {
                let beginning = source.beginning(NPY_HEADER).map_err(failed)?;
                let (found, start) = npy_header(&beginning, shape).map_err(wrong)?;
                let most = start + bytes_of(&found) + 1;
                let end = source.len(most).map_err(failed)?;
                (Some(found), start..end)
            }
            FileFormat::Npz => {
                let place = npz::find(&mut source, tensor).map_err(|error| match error {
                    NpzError::Read(error) => failed(error),
                    NpzError::File(error) => wrong(error),
                })?;
                let mut beginning = vec![0; (place.end - place.start).min(NPY_HEADER) as usize];
                source.read_at(place.start, &mut beginning).map_err(failed)?;
                let (found, start) = npy_header(&beginning, shape).map_err(wrong)?;
                (Some(found), place.start + start..place.end)
            }
            FileFormat::Safetensors => {
                let (metadata, start) = read_header(&mut source, path)?;
                let (found, data) = find(&metadata, tensor).map_err(wrong)?;
                (Some(found), data.start as u64 + start..data.end as u64 + start)
            }
        };
        let shape = match (shape, found) {
            (Some(given), Some(found)) if *given != found => {
                let (path, expected) = (path.to_owned(), given.clone().into());
                return Err(Error::OtherShape { path, found: found.into(), expected });
            }
            (_, Some(found)) => found,
            (Some(given), None) => given.clone(),
            (None, None) => return Err(wrong(FileError::NoShape)),
        };
        let expected = byte_size(&shape, Side::Source)?;
        let length = data.end.saturating_sub(data.start);
        if length != expected {
            // A pipe is not read to its end.
            let has_more = matches!(source, Source::Pipe { .. }) && length > expected;
            return Err(Error::Length { path: path.to_owned(), shape: shape.into(), found: length, has_more });
        }
        Ok(Self { path: path.to_owned(), source, data, shape })
    }

    /// The path by which it was opened.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("a.bin");
    /// # std::fs::write(&path, [1, 2])?;
    /// let file = xla_shape_files::ArrayFile::open(&path, None, Some(&"u8[2]".parse()?))?;
    /// assert_eq!(file.path(), path);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The shape of the array, with its layout in the file.
    ///
    /// ```
    /// use xla_shape_files::{ArrayFile, write_array};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("a.npy");
    /// write_array(&path, &"u8[2,3]".parse()?, None, &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(ArrayFile::open(&path, None, None)?.shape().to_string(), "u8[2,3]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    /// All bytes of the array, as they lie in the file.
    ///
    /// ```
    /// use xla_shape_files::{ArrayFile, write_array};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("a.safetensors");
    /// write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// assert_eq!(ArrayFile::open(&path, Some("w"), None)?.read()?.as_ref(), [1, 2, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read, or there is no memory for the array.
    pub fn read(&self) -> Result<AlignedBytes, Error> {
        let mut bytes = zeroed(&self.shape)?;
        let whole = 0..bytes.as_ref().len();
        self.gather(std::iter::once(whole), bytes.as_mut(), &mut Vec::new())?;
        Ok(bytes)
    }

    /// Reads pieces of the array, in bytes, one after another; they fill the buffer.
    pub(crate) fn gather(
        &self,
        pieces: impl Iterator<Item = Range<usize>>,
        buffer: &mut [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut reader = Reader::new(&self.source, buffer, scratch);
        let read = || {
            let mut end = 0;
            for piece in pieces {
                let place = end..end + piece.len();
                end = place.end;
                reader.add(self.data.start + piece.start as u64, place)?;
            }
            reader.flush()
        };
        read().map_err(|error| Error::read(&self.path, error))
    }
}

impl std::fmt::Debug for ArrayFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrayFile").field("path", &self.path).field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// The shape in the header of an `.npy` file, and where the elements begin. `given` has the type of the elements if NumPy does not know it.
fn npy_header(beginning: &[u8], given: Option<&ArrayShape>) -> Result<(ArrayShape, u64), FileError> {
    let read = npy::read_header(beginning, given.map(ArrayShape::element_type));
    let (found, start) = read.map_err(|error| match error {
        npy::NpyError::UnknownElementType { .. } => FileError::NoElementType(error),
        _ => FileError::Npy(error),
    })?;
    super::check_dimensions(found.num_dimensions())?;
    Ok((found, start as u64))
}

/// The bytes that an array takes.
fn byte_size(array: &ArrayShape, side: Side) -> Result<u64, Error> {
    array.byte_size().ok_or_else(|| {
        let dimension = array.dimensions().iter().position(|size| size.extent().is_none()).unwrap_or_default();
        RelayoutError::UnboundedDimension { side, dimension }.into()
    })
}

/// Zeroed memory for an array.
pub(crate) fn zeroed(array: &ArrayShape) -> Result<AlignedBytes, Error> {
    usize::try_from(array.byte_size().unwrap_or_default())
        .ok()
        .and_then(|bytes| AlignedBytes::zeroed(bytes).ok())
        .ok_or_else(|| Error::OutOfMemory { array: array.clone().into() })
}

/// Writes an array, whole or not at all. In a `.safetensors` file, the array's name is the argument `tensor`; without one, it is "tensor".
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.npy");
/// xla_shape_files::write_array(&path, &"u8[2,3]".parse()?, None, &[1, 2, 3, 4, 5, 6])?;
/// assert!(std::fs::read(&path)?.ends_with(&[1, 2, 3, 4, 5, 6]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be written, or cannot hold such an array, or these are not the bytes of the array.
pub fn write_array(
    path: impl AsRef<Path>,
    array: &ArrayShape,
    tensor: Option<&str>,
    bytes: &[u8],
) -> Result<(), Error> {
    let path = path.as_ref();
    check_writable(path, array)?;
    if byte_size(array, Side::Destination)? != bytes.len() as u64 {
        let (path, shape, found) = (path.to_owned(), array.clone().into(), bytes.len() as u64);
        return Err(Error::Length { path, shape, found, has_more: false });
    }
    write(path, array, tensor.unwrap_or(UNNAMED), &|_| {}, |sink| sink.write_whole(bytes))
}

/// Writes an array into a file, whole or not at all; into a `.safetensors` file, under this name. `make` passes its bytes
/// to the sink; `done` is called with the number of bytes just written.
pub(crate) fn write(
    path: &Path,
    array: &ArrayShape,
    tensor: &str,
    done: &(dyn Fn(u64) + Sync),
    make: impl FnOnce(Sink<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |error| Error::write(path, error);
    if path.as_os_str() == "-" {
        return make(Sink::InOrder(&mut |bytes| {
            write_to_stdout(bytes).map_err(failed)?;
            done(bytes.len() as u64);
            Ok(())
        }));
    }
    let wrong = |error| Error::file(path, error);
    let header = match FileFormat::of(path) {
        FileFormat::Raw => Vec::new(),
        FileFormat::Npy => npy::write_header(array).map_err(|error| wrong(FileError::Npy(error)))?,
        FileFormat::Npz => return Err(wrong(FileError::ArchiveIsWritten)),
        FileFormat::Safetensors => {
            header_of(None, vec![(tensor.to_owned(), info_of(array).map_err(wrong)?)]).map_err(failed)?
        }
    };
    let mut file = Replacement::new(path).map_err(failed)?;
    let bytes = array.byte_size().unwrap_or_default() + header.len() as u64;
    file.reserve(bytes).map_err(failed)?;
    file.write_all(&header).map_err(failed)?;
    file.fill(header.len() as u64, path, done, make)?;
    file.commit().map_err(failed)
}

/// Checks, before any work, that a file of this name can hold such an array.
pub(crate) fn check_writable(path: &Path, array: &ArrayShape) -> Result<(), Error> {
    let checked = match FileFormat::of(path) {
        FileFormat::Raw => Ok(()),
        FileFormat::Npy => npy::write_header(array).map(drop).map_err(FileError::Npy),
        FileFormat::Npz => Err(FileError::ArchiveIsWritten),
        FileFormat::Safetensors => super::dtype_of(array).map(drop),
    };
    checked.map_err(|error| Error::file(path, error))
}
