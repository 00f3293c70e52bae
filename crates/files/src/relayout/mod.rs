//! An array in a file, copied into another layout.

mod destination;
pub(crate) mod pipeline;

pub use destination::Destination;

use crate::SLAB_BYTES;
use crate::access::check_outputs;
use crate::error::{Error, FileError};
use crate::format::{self, ArrayFile, FileFormat, UNNAMED};
use pipeline::Memory;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use xla_shape::ArrayShape;
use xla_shape::relayout::{Options, RelayoutError, Slab, Slabs};

/// What a [`Relayout`] is to make; by default, a row-major array.
///
/// ```
/// use xla_shape_files::{Destination, RelayoutOptions};
///
/// let options = RelayoutOptions::new().to(Destination::Layout("{1,0:T(8,128)}".parse()?)).transposed(&[1, 0]);
/// # Ok::<(), xla_shape::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RelayoutOptions {
    destination: Option<Destination>,
    permutation: Option<Vec<usize>>,
    tensor: Option<String>,
    slab_bytes: usize,
}

impl Default for RelayoutOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl RelayoutOptions {
    /// The defaults. With them, `.npy` and `.safetensors` files get a row-major array; for raw bytes, the
    /// destination must be given.
    ///
    /// ```
    /// use xla_shape_files::{ArrayFile, Missing, Relayout, RelayoutOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let [input, output] = ["in.bin", "out.bin"].map(|name| folder.path().join(name));
    /// std::fs::write(&input, [1, 2])?;
    /// let source = ArrayFile::open(&input, None, Some(&"u8[2]".parse()?))?;
    /// let error = Relayout::new(&source, &output, &RelayoutOptions::new()).unwrap_err();
    /// assert_eq!(error.missing(), Some(Missing::Destination));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self { destination: None, permutation: None, tensor: None, slab_bytes: SLAB_BYTES }
    }

    /// The array to write: its layout, or all of its shape.
    ///
    /// ```
    /// # use xla_shape_files::{Destination, RelayoutOptions};
    /// let options = RelayoutOptions::new().to("bf16[300,256]{0,1}".parse()?);
    /// # Ok::<(), xla_shape::ParseError>(())
    /// ```
    #[must_use]
    pub fn to(self, destination: Destination) -> Self {
        Self { destination: Some(destination), ..self }
    }

    /// Entry i is the dimension of the source that becomes dimension i of the result.
    ///
    /// ```
    /// # use xla_shape_files::RelayoutOptions;
    /// let options = RelayoutOptions::new().transposed(&[0, 2, 1]);
    /// ```
    #[must_use]
    pub fn transposed(self, permutation: &[usize]) -> Self {
        Self { permutation: Some(permutation.to_vec()), ..self }
    }

    /// The name of the array in a `.safetensors` file that is written; `tensor` by default.
    ///
    /// ```
    /// # use xla_shape_files::RelayoutOptions;
    /// let options = RelayoutOptions::new().tensor("w1");
    /// ```
    #[must_use]
    pub fn tensor(self, name: impl Into<String>) -> Self {
        Self { tensor: Some(name.into()), ..self }
    }

    /// How much of the source, and of the result, is in memory at a time, in bytes; [`SLAB_BYTES`] by default. It is more where a single
    /// tile takes more.
    ///
    /// ```
    /// # use xla_shape_files::RelayoutOptions;
    /// let options = RelayoutOptions::new().slab_bytes(16 << 20);
    /// ```
    #[must_use]
    pub fn slab_bytes(self, bytes: usize) -> Self {
        Self { slab_bytes: bytes, ..self }
    }
}

/// A copy of an array from one file into another, in another layout: checked, and ready to [`run`](Self::run).
///
/// ```
/// use xla_shape_files::{ArrayFile, Relayout, RelayoutOptions};
///
/// let folder = tempfile::tempdir()?;
/// let [input, output] = ["in.bin", "out.bin"].map(|name| folder.path().join(name));
/// std::fs::write(&input, [1, 2, 3, 4, 5, 6])?;
///
/// let source = ArrayFile::open(&input, None, Some(&"u8[2,3]".parse()?))?;
/// let relayout = Relayout::new(&source, &output, &RelayoutOptions::new().to("{1,0:T(2,4)(2,1)}".parse()?))?;
/// let done = relayout.run(&|_| {})?;
/// assert_eq!((done.to.as_str(), done.bytes), ("u8[2,3]{1,0:T(2,4)(2,1)}", 8));
/// assert_eq!(std::fs::read(&output)?, [1, 4, 2, 5, 3, 6, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Relayout<'a> {
    source: &'a ArrayFile,
    output: PathBuf,
    to: ArrayShape,
    options: Options,
    tensor: String,
    slab_bytes: usize,
    stop: Option<&'a AtomicBool>,
}

/// What was written, once the file is complete.
///
/// ```
/// use xla_shape_files::{ArrayFile, Relayout, RelayoutOptions};
///
/// let folder = tempfile::tempdir()?;
/// let [input, output] = ["in.bin", "out.bin"].map(|name| folder.path().join(name));
/// std::fs::write(&input, [1, 2, 3, 4, 5, 6])?;
/// let source = ArrayFile::open(&input, None, Some(&"u8[2,3]".parse()?))?;
/// let done = Relayout::new(&source, &output, &RelayoutOptions::new().to("{1,0:T(2,4)}".parse()?))?.run(&|_| {})?;
/// assert_eq!((done.from.as_str(), done.to.as_str()), ("u8[2,3]{1,0}", "u8[2,3]{1,0:T(2,4)}"));
/// assert_eq!(done.bytes, 8, "two of them are padding");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct RelayoutDone {
    /// The shape of the source, with its layout.
    pub from: String,
    /// The shape of the result, with its layout.
    pub to: String,
    /// The file.
    pub output: String,
    /// The bytes of the array in the file, with padding, without a header of the file.
    pub bytes: u64,
}

impl RelayoutDone {
    /// The form of its JSON, which is the answer of `xla-shape relayout` and of Python.
    pub const SCHEMA: &'static str = "xla-shape/relayout/1";
}

impl<'a> Relayout<'a> {
    /// Checks that the array can be copied in this way, and that the output can hold it. The name's ending says what the output
    /// is: `.npy`, `.safetensors`, or else raw bytes; `-` is standard output, with raw bytes.
    ///
    /// ```
    /// use xla_shape_files::{ArrayFile, Relayout, RelayoutOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let [input, output] = ["in.bin", "out.npy"].map(|name| folder.path().join(name));
    /// std::fs::write(&input, [1, 2, 3, 4, 5, 6])?;
    /// let source = ArrayFile::open(&input, None, Some(&"u8[2,3]".parse()?))?;
    /// assert!(Relayout::new(&source, &output, &RelayoutOptions::new().transposed(&[1, 0])).is_ok());
    /// assert!(Relayout::new(&source, &output, &RelayoutOptions::new().transposed(&[1, 2])).is_err());
    /// assert!(Relayout::new(&source, &input, &RelayoutOptions::new().to("{0,1}".parse()?)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the source cannot be copied into the other array, or the output cannot hold that array or is the same file as the source.
    pub fn new(source: &'a ArrayFile, output: impl AsRef<Path>, options: &RelayoutOptions) -> Result<Self, Error> {
        let output = output.as_ref();
        check_outputs([source.path()], [output])?;
        let from = source.shape();
        let destination = match &options.destination {
            Some(destination) => destination,
            None if FileFormat::of(output) == FileFormat::Raw => {
                return Err(Error::file(output, FileError::NoDestination));
            }
            None => &Destination::RowMajor,
        };
        let to = destination.shape_for(from, options.permutation.as_deref())?;
        let mut copy = Options::new().zero_padding();
        if let Some(permutation) = &options.permutation {
            copy = copy.transposed(permutation);
        }
        // This only checks that the copy is possible, before anything is written.
        Slabs::new(from, &to, &copy, options.slab_bytes)?;
        format::check_writable(output, &to)?;
        let tensor = options.tensor.clone().unwrap_or_else(|| UNNAMED.to_owned());
        let slab_bytes = options.slab_bytes;
        Ok(Self { source, output: output.to_owned(), to, options: copy, tensor, slab_bytes, stop: None })
    }

    /// Ends before the next part once `stop` is set: the error is then [`RelayoutError::Interrupted`], and the output is as it was.
    ///
    /// ```
    /// # use std::sync::atomic::{AtomicBool, Ordering};
    /// # use xla_shape_files::{ArrayFile, Relayout, RelayoutOptions};
    /// # let folder = tempfile::tempdir()?;
    /// # let [input, output] = ["in.bin", "out.npy"].map(|name| folder.path().join(name));
    /// # std::fs::write(&input, [1, 2, 3, 4, 5, 6])?;
    /// let source = ArrayFile::open(&input, None, Some(&"u8[2,3]".parse()?))?;
    /// let stop = AtomicBool::new(true);
    /// let relayout = Relayout::new(&source, &output, &RelayoutOptions::new())?.until(&stop);
    /// assert!(relayout.run(&|_| {}).is_err() && !output.exists());
    /// stop.store(false, Ordering::Relaxed);
    /// assert!(relayout.run(&|_| {}).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn until(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// The shape of the array that is written.
    ///
    /// ```
    /// # use xla_shape_files::{ArrayFile, Relayout, RelayoutOptions};
    /// # let folder = tempfile::tempdir()?;
    /// # let [input, output] = ["in.bin", "out.npy"].map(|name| folder.path().join(name));
    /// # std::fs::write(&input, [1, 2, 3, 4, 5, 6])?;
    /// let source = ArrayFile::open(&input, None, Some(&"u8[2,3]".parse()?))?;
    /// let relayout = Relayout::new(&source, &output, &RelayoutOptions::new().transposed(&[1, 0]))?;
    /// assert_eq!(relayout.to().to_string(), "u8[3,2]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn to(&self) -> &ArrayShape {
        &self.to
    }

    /// Reads, copies and writes, a part at a time; while one part is written, others are read and copied. The output appears in its
    /// place when it is complete. Several threads call `progress` with the number of bytes that they have just written.
    ///
    /// ```
    /// # use xla_shape_files::{ArrayFile, Relayout, RelayoutOptions};
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let [input, output] = ["in.bin", "out.bin"].map(|name| folder.path().join(name));
    /// # std::fs::write(&input, [1, 2, 3, 4, 5, 6])?;
    /// let source = ArrayFile::open(&input, None, Some(&"u8[2,3]".parse()?))?;
    /// let relayout = Relayout::new(&source, &output, &RelayoutOptions::new().to("{0,1}".parse()?))?;
    /// let written = AtomicU64::new(0);
    /// relayout.run(&|bytes| _ = written.fetch_add(bytes, Ordering::Relaxed))?;
    /// assert_eq!(written.into_inner(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a file cannot be read or written, or there is no memory for a part; then the output is as it was.
    pub fn run(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<RelayoutDone, Error> {
        let (from, to) = (self.source.shape(), &self.to);
        format::write(&self.output, to, &self.tensor, progress, |sink| {
            let gather = |slab: &Slab, room: &mut [u8], scratch: &mut Vec<u8>| {
                check_stop(self.stop)?;
                self.source.gather(slab.source(), room, scratch)
            };
            pipeline::run((from, to), &self.options, (self.slab_bytes, &Memory::default()), gather, sink)
        })?;
        let (output, bytes) = (self.output.display().to_string(), to.byte_size().unwrap_or_default());
        Ok(RelayoutDone { from: from.to_string(), to: to.to_string(), output, bytes })
    }
}

/// An error if the caller has stopped the copy.
pub(crate) fn check_stop(stop: Option<&AtomicBool>) -> Result<(), Error> {
    match stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        true => Err(Error::Relayout(RelayoutError::Interrupted)),
        false => Ok(()),
    }
}
