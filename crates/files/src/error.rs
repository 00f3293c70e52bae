//! Errors of reading, writing, copying and dividing files.
//!
//! [`Error`] says which file, plan or tensor; what is wrong with it is a [`FileError`], a [`PlanError`] or a [`ShardError`]. The text of an
//! error contains the text of the error inside it, so `source` does not return that error again.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use xla_shape::npy::NpyError;
use xla_shape::relayout::RelayoutError;
use xla_shape::shard::{RearrangeError, Sharding, ShardingError};
use xla_shape::tpu::{DefaultLayoutError, UnknownGeneration};
use xla_shape::{ArrayShape, ElementType, ParseError, Shape, ValidationError};

/// Why something could not be done with files. It displays as one sentence, without a full stop.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The system cannot read a file.
    #[error("cannot read {}: {error}", shown(path, "standard input"))]
    Read {
        /// The file; `-` is standard input.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The system cannot write a file.
    #[error("cannot write {}: {error}", shown(path, "to standard output"))]
    Write {
        /// The file; `-` is standard output.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is not enough memory for an array, or for the part of it that must be in memory at a time.
    #[error("not enough memory for {array}, which takes {} bytes", array.byte_size().unwrap_or_default())]
    OutOfMemory {
        /// The array.
        array: Box<ArrayShape>,
    },
    /// An output is also an input, under this name or another one.
    #[error(
        "the output `{}` is the same file as the input `{}`: name another file", output.display(), input.display()
    )]
    OutputIsInput {
        /// The output as it was named.
        output: PathBuf,
        /// The input as it was named.
        input: PathBuf,
    },
    /// Two outputs are the same file.
    #[error(
        "the outputs `{}` and `{}` are the same file: name another one for one of them", first.display(), second.display()
    )]
    SameOutput {
        /// An output as it was named.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// A file does not contain what it should, or cannot hold what it should.
    #[error("`{}`: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: FileError,
    },
    /// A file has more or fewer bytes than its array takes.
    #[error(
        "expected {} bytes of {shape} in `{}`, found {found}{}",
        shape.byte_size().unwrap_or_default(), path.display(), if *has_more { " or more" } else { "" }
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// The array.
        shape: Box<ArrayShape>,
        /// How many bytes of the array the file has.
        found: u64,
        /// Whether there may be more bytes: a pipe is not read to its end.
        has_more: bool,
    },
    /// The array in a file is not the one whose shape was given.
    #[error("`{}` holds {found}, not {expected}", path.display())]
    OtherShape {
        /// The file.
        path: PathBuf,
        /// What the file says.
        found: Box<ArrayShape>,
        /// What was given.
        expected: Box<ArrayShape>,
    },
    /// The shape to write is not an array's; it may be a tuple.
    #[error("expected an array as the destination, found {0}")]
    NotAnArray(Box<Shape>),
    /// The array cannot be copied into the destination.
    #[error(transparent)]
    Relayout(#[from] RelayoutError),
    /// A text is not a plan, or a plan does not fit the checkpoint.
    #[error("{}{error}", plan_shown(plan.as_deref(), error))]
    Plan {
        /// The plan's file, if it is from a file.
        plan: Option<PathBuf>,
        /// What is wrong.
        error: PlanError,
    },
    /// A tensor cannot be divided as its rule says.
    #[error("tensor `{tensor}`: {error}")]
    Shard {
        /// The name of the tensor.
        tensor: String,
        /// What is wrong.
        error: ShardError,
    },
    /// Two files have the same name in the checkpoint.
    #[error("`{}` and `{}` have the same name", first.display(), second.display())]
    SameName {
        /// A file.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// Two files of a checkpoint have a tensor of the same name.
    #[error("both `{}` and `{}` have a tensor `{tensor}`", first.display(), second.display())]
    SameTensor {
        /// The name of the tensor.
        tensor: String,
        /// A file that has it.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// Two files belong to the same device.
    #[error("`{}` and `{}` are both of device {device}", first.display(), second.display())]
    SameDevice {
        /// The device.
        device: i64,
        /// A file.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// Two files describe a tensor of the same name differently, so they belong to different checkpoints.
    #[error(
        "the files are not of one checkpoint: tensor `{tensor}` is {expected} in `{}`, and {found} in `{}`", first.display(), second.display()
    )]
    OtherTensor {
        /// The name of the tensor.
        tensor: String,
        /// A file.
        first: PathBuf,
        /// What the first file says about the tensor.
        expected: String,
        /// The other file.
        second: PathBuf,
        /// What the other file says.
        found: String,
    },
    /// The file of a device that has a shard of a tensor is missing.
    #[error("expected the files of all devices of `{}`: tensor `{tensor}` has a shard on device {device}, too", file.display())]
    NoDevice {
        /// The file's name, without a device.
        file: PathBuf,
        /// The name of a tensor.
        tensor: String,
        /// The first device whose file is missing.
        device: i64,
    },
    /// Two indices belong to different checkpoints, as their names show.
    #[error("expected indices of one checkpoint, found `{}` and `{}`", first.display(), second.display())]
    OtherIndex {
        /// An index.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// Two files of a checkpoint differ only in their extensions, which the names of shards do not have.
    #[error(
        "the shards of `{}` and `{}` would go into the same file: rename one of them", first.display(), second.display()
    )]
    SameShards {
        /// A file.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// No file of a directory is a module after optimization.
    #[error(
        "`{}` has no optimized module: a file that ends in `after_optimizations.txt` or `.hlo.pb`", directory.display()
    )]
    NoModule {
        /// The directory.
        directory: PathBuf,
    },
}

/// An argument that must be given, since no file says it.
///
/// ```
/// use xla_shape_files::{ArrayFile, Missing};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.bin");
/// std::fs::write(&path, [1, 2, 3])?;
/// let argument = match ArrayFile::open(&path, None, None).unwrap_err().missing() {
///     Some(Missing::Shape) => "--shape",
///     Some(Missing::Tensor) => "--tensor",
///     _ => "none",
/// };
/// assert_eq!(argument, "--shape", "raw bytes do not say their shape");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Missing {
    /// The shape of the array that is read.
    Shape,
    /// The name of the tensor that is read.
    Tensor,
    /// The layout or the shape of the array that is written.
    Destination,
}

/// What is wrong with one file.
///
/// ```
/// use xla_shape_files::{ArrayFile, Error, FileError, write_array};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("w.safetensors");
/// write_array(&path, &"u8[2]".parse()?, Some("w"), &[1, 2])?;
/// let error = ArrayFile::open(&path, Some("v"), None).unwrap_err();
/// let Error::File { error: FileError::NoTensor { names, .. }, .. } = error else { panic!("another error: {error}") };
/// assert_eq!(names, ["w"], "the file has no tensor v");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// A file of raw bytes is read, and no shape is given.
    #[error("raw bytes have no shape; give it")]
    NoShape,
    /// A file of raw bytes is written, and no layout is given.
    #[error("raw bytes do not say their layout; give it")]
    NoDestination,
    /// An `.npy` file says how many bytes an element takes, but not its type.
    #[error(transparent)]
    NoElementType(NpyError),
    /// A `.safetensors` or `.npz` file has no array, or several of which none was chosen.
    #[error("the file has {count} tensors; say which one")]
    SeveralTensors {
        /// How many tensors there are.
        count: usize,
    },
    /// A `.safetensors` or `.npz` file has no array of this name.
    #[error("the file has no tensor `{tensor}`; it has {}", listed(names))]
    NoTensor {
        /// The name that was given.
        tensor: String,
        /// The names that are in the file.
        names: Vec<String>,
    },
    /// The header of an `.npy` file is invalid or describes an array that XLA does not have, or NumPy cannot hold the array.
    #[error(transparent)]
    Npy(NpyError),
    /// The file is not a valid archive, or an archive of a kind that is not read here.
    #[error("this .npz file is not read: {reason}")]
    Archive {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The array in an `.npz` file is compressed, as `numpy.savez_compressed` writes it.
    #[error(
        "array `{tensor}` is compressed; write the file with `numpy.savez`, or unpack it (`unzip`) and read `{tensor}.npy`"
    )]
    Compressed {
        /// Its name.
        tensor: String,
    },
    /// The output is an `.npz` file, which is only read.
    #[error("an .npz file is only read; write an .npy file")]
    ArchiveIsWritten,
    /// The file does not begin with the header of a `.safetensors` file.
    #[error("the file does not begin like a .safetensors file")]
    NotSafetensors,
    /// The header of a `.safetensors` file does not follow the format.
    #[error("the header is wrong: {0}")]
    Header(Box<dyn std::error::Error + Send + Sync>),
    /// The tensors in the header of a `.safetensors` file take more or fewer bytes than the file has after the header.
    #[error("its tensors take {expected} bytes, but {found} follow the header")]
    DataLength {
        /// The bytes of all tensors, according to the header.
        expected: u64,
        /// The bytes that follow the header. For a pipe, this is at most one more than expected, because no more is read.
        found: u64,
    },
    /// XLA has no elements of this type, or files with them are not supported.
    #[error("tensor `{tensor}` has the element type {element_type}, which is not supported")]
    ElementType {
        /// The name of the tensor.
        tensor: String,
        /// The type as the format calls it.
        element_type: String,
    },
    /// An array has more dimensions than this crate reads.
    #[error("the file has an array of {found} dimensions, and at most {most} are read")]
    TooManyDimensions {
        /// The number of dimensions.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// No XLA array can have a tensor's sizes.
    #[error("{error}")]
    TensorShape {
        /// The name of the tensor.
        tensor: String,
        /// What is wrong.
        error: ValidationError,
    },
    /// A tensor has more or fewer bytes than its shape takes.
    #[error(
        "tensor `{tensor}` of {shape} takes {} bytes, not those from {start} to {end}", shape.byte_size().unwrap_or_default()
    )]
    TensorLength {
        /// The name of the tensor.
        tensor: String,
        /// Its shape.
        shape: Box<ArrayShape>,
        /// Where it begins, in bytes after the header.
        start: usize,
        /// Where it ends, in bytes after the header.
        end: usize,
    },
    /// A `.safetensors` file holds row-major arrays only.
    #[error("a .safetensors file holds an array in row-major order, not {0}")]
    NotRowMajor(Box<ArrayShape>),
    /// A `.safetensors` file cannot hold elements of this type.
    #[error("a .safetensors file cannot hold elements of type {0}")]
    NotInSafetensors(ElementType),
    /// The array takes more bytes than this machine can address.
    #[error("{0} is larger than this machine can address")]
    TooLarge(Box<ArrayShape>),
    /// The entry `xla_shape` of the metadata, which files of devices have, is invalid.
    #[error("the metadata's entry `xla_shape` is wrong: {0}")]
    Notes(Box<dyn std::error::Error + Send + Sync>),
    /// The metadata of a device's file does not describe a tensor of the file.
    #[error("the metadata's entry `xla_shape` does not name tensor `{tensor}`")]
    NoNote {
        /// The name of the tensor.
        tensor: String,
    },
    /// The metadata describes a tensor that cannot exist.
    #[error("tensor `{tensor}`: the metadata's entry `xla_shape` is wrong: {error}")]
    Note {
        /// The name of the tensor.
        tensor: String,
        /// What is wrong.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A shard does not have the shape that follows from the whole shape and the sharding in the metadata.
    #[error("tensor `{tensor}`: by its sharding, a shard is {expected}, but the metadata says {found}")]
    OtherShard {
        /// The name of the tensor.
        tensor: String,
        /// What the sharding says.
        expected: Box<ArrayShape>,
        /// What the metadata says.
        found: Box<ArrayShape>,
    },
    /// Elements of less than a byte cannot be read from files that devices have written.
    #[error("tensor `{tensor}`: elements of {} bits are not supported in the files of devices", shape.element_bits())]
    PackedShard {
        /// The name of the tensor.
        tensor: String,
        /// The shape of the shard.
        shape: Box<ArrayShape>,
    },
    /// A shard does not begin at the index that the metadata says.
    #[error(
        "tensor `{tensor}`: by its sharding, the shard of device {device} begins at {expected:?}, but the metadata says {found:?}"
    )]
    OtherStart {
        /// The name of the tensor.
        tensor: String,
        /// The device.
        device: i64,
        /// What the sharding says.
        expected: Vec<u64>,
        /// What the metadata says.
        found: Vec<u64>,
    },
    /// A tensor in a device's file is not the shard that the metadata says.
    #[error("tensor `{tensor}` should be {shape} or its bytes, but is {found}")]
    StoredShard {
        /// The name of the tensor.
        tensor: String,
        /// The shape of the shard according to the metadata.
        shape: Box<ArrayShape>,
        /// What the file has.
        found: Box<ArrayShape>,
    },
    /// The file is not the index of a checkpoint.
    #[error("no index: {0}")]
    NotAnIndex(Box<dyn std::error::Error + Send + Sync>),
    /// An index names a file that is not in its folder or below.
    #[error("expected names of files in the same folder or below, found {0:?}")]
    OutsideOfIndex(String),
    /// An index names something other than a file, such as a pipe.
    #[error("expected names of files, found {0:?}")]
    IndexOfNoFile(String),
    /// An index lists a tensor in a file that does not have it.
    #[error("it lists the tensor `{tensor}` in {file:?}, which does not have it")]
    TensorNotInFile {
        /// The name of the tensor.
        tensor: String,
        /// The name of the file in the index.
        file: String,
    },
    /// An index does not list a tensor of one of its files.
    #[error("it does not list the tensor `{tensor}`, which {file:?} has")]
    TensorNotInIndex {
        /// The name of the tensor.
        tensor: String,
        /// The name of the file in the index.
        file: String,
    },
}

/// What is wrong with a plan.
///
/// ```
/// use xla_shape_files::{PlanError, ShardPlan};
///
/// let error = ShardPlan::parse(br#"{ "*": { "layout": "{1,0}" } }"#).unwrap_err();
/// assert!(matches!(&error, PlanError::NoSharding { pattern } if pattern == "*"));
/// assert_eq!(error.to_string(), "`*`: expected `sharding`, found none");
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It is not a JSON object.
    #[error("not a plan: {0}")]
    NotAPlan(Box<dyn std::error::Error + Send + Sync>),
    /// A rule is neither a text nor an object.
    #[error("`{pattern}`: expected a sharding, or an object with one, found {found}")]
    NotARule {
        /// The pattern of the rule.
        pattern: String,
        /// The JSON that was found.
        found: String,
    },
    /// A field of a rule is not a text.
    #[error("`{pattern}`: expected a text for `{field}`, found {found}")]
    NotText {
        /// The pattern of the rule.
        pattern: String,
        /// The field.
        field: &'static str,
        /// The JSON that was found.
        found: String,
    },
    /// A rule has an unknown field.
    #[error("`{pattern}`: expected `sharding`, `layout`, `generation` or `rearrange`, found `{field}`")]
    UnknownField {
        /// The pattern of the rule.
        pattern: String,
        /// The field.
        field: String,
    },
    /// A rule has no sharding.
    #[error("`{pattern}`: expected `sharding`, found none")]
    NoSharding {
        /// The pattern of the rule.
        pattern: String,
    },
    /// A rule has both a layout and a generation, which has its own layouts.
    #[error("`{pattern}`: expected `layout` or `generation`, found both")]
    LayoutAndGeneration {
        /// The pattern of the rule.
        pattern: String,
    },
    /// The text is not a valid sharding.
    #[error("`{pattern}`: sharding: {error}, at byte {}", error.span().start)]
    Sharding {
        /// The pattern of the rule.
        pattern: String,
        /// What is wrong, with its place in the text of the sharding.
        error: ParseError,
    },
    /// The text is not a valid layout.
    #[error("`{pattern}`: layout: {error}")]
    Layout {
        /// The pattern of the rule.
        pattern: String,
        /// What is wrong, with its place in the text of the layout.
        error: ParseError,
    },
    /// The text of a rearrangement is not valid.
    #[error("`{pattern}`: rearrange: {error}")]
    Rearrangement {
        /// The pattern of the rule.
        pattern: String,
        /// What is wrong.
        error: RearrangeError,
    },
    /// No generation of TPUs has this name.
    #[error("`{pattern}`: generation: {error}")]
    Generation {
        /// The pattern of the rule.
        pattern: String,
        /// What is wrong.
        error: UnknownGeneration,
    },
    /// No tensor of the checkpoint fits a rule.
    #[error("there is no tensor `{pattern}`")]
    UnusedRule {
        /// The pattern of the rule.
        pattern: String,
    },
    /// A rule has no tensor left: for each tensor that fits it, another rule comes first. That rule has an earlier pattern, or
    /// is for the tensor's own name.
    #[error(
        "`{pattern}` is for no tensor: `{by}` takes `{tensor}`, because {}", if by == tensor { "it is the tensor's own name" } else { "it comes first" }
    )]
    TakenRule {
        /// The pattern of the rule.
        pattern: String,
        /// The first tensor that fits it.
        tensor: String,
        /// The pattern of the rule that takes this tensor.
        by: String,
    },
    /// Finding the patterns that fit the names of the tensors would take too long.
    #[error(
        "too many patterns with `*` for so many tensors: patterns are found by what stands before their first `*`, so begin them with more of the names"
    )]
    TooManyPatterns,
    /// No rule fits a tensor of the checkpoint.
    #[error("no rule matches tensor `{tensor}`; a rule for \"*\" matches every tensor without another rule")]
    NoRule {
        /// The name of the tensor.
        tensor: String,
    },
}

/// Why a tensor cannot be divided as its rule says.
///
/// ```
/// use xla_shape_files::{Checkpoint, Error, ShardError, ShardPlan, ShardRule, write_array};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("w.safetensors");
/// write_array(&path, &"u8[3]".parse()?, Some("w"), &[1, 2, 3])?;
/// let plan = ShardPlan::new().with_rule("*", ShardRule::new("{devices=[2]<=[2]}".parse()?));
/// let checkpoint = Checkpoint::open([path])?;
/// let Err(Error::Shard { tensor, error }) = checkpoint.shards(&plan, 0, folder.path()) else { panic!() };
/// assert_eq!(tensor, "w");
/// assert!(matches!(error, ShardError::Sharding(_)), "3 elements make no two shards of one size");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShardError {
    /// With this sharding, each device has a summand of the tensor (a partial sum), not a part of its elements.
    #[error("expected a sharding that gives elements to devices, found {0}")]
    NoElements(Box<Sharding>),
    /// The sharding does not fit the tensor's shape, leaves shards of different sizes, or has no such device.
    #[error(transparent)]
    Sharding(#[from] ShardingError),
    /// The layout does not fit the shape of a shard.
    #[error(transparent)]
    Layout(#[from] ValidationError),
    /// The tensor cannot be rearranged in this way, or its shards before or afterwards do not fit the rearrangement.
    #[error("rearrange: {0}")]
    Rearrangement(#[from] RearrangeError),
    /// The generation has no layout for the shape of a shard.
    #[error(transparent)]
    Generation(#[from] DefaultLayoutError),
    /// The shard cannot be copied into its layout.
    #[error(transparent)]
    Relayout(#[from] RelayoutError),
    /// The shards take more bytes than this machine can address.
    #[error("its shards are too large")]
    TooLarge,
}

impl Error {
    /// The missing value, if the error is that the caller must give one. The caller's message can then name its own option or
    /// argument for the value.
    ///
    /// ```
    /// use xla_shape_files::{ArrayFile, Missing};
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("a.bin"), [1, 2, 3])?;
    /// let error = ArrayFile::open(folder.path().join("a.bin"), None, None).unwrap_err();
    /// assert_eq!(error.missing(), Some(Missing::Shape));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn missing(&self) -> Option<Missing> {
        let Self::File { error, .. } = self else { return None };
        match error {
            FileError::NoShape | FileError::NoElementType(_) => Some(Missing::Shape),
            FileError::SeveralTensors { .. } => Some(Missing::Tensor),
            FileError::NoDestination => Some(Missing::Destination),
            _ => None,
        }
    }

    /// The file that could not be read or written, and the system's error.
    ///
    /// ```
    /// use xla_shape_files::contents;
    ///
    /// let error = contents("there/is/none").unwrap_err();
    /// let (path, error) = error.io().unwrap();
    /// assert_eq!((path, error.kind()), ("there/is/none".as_ref(), std::io::ErrorKind::NotFound));
    /// ```
    #[must_use]
    pub fn io(&self) -> Option<(&Path, &io::Error)> {
        match self {
            Self::Read { path, error } | Self::Write { path, error } => Some((path, error)),
            _ => None,
        }
    }

    pub(crate) fn read(path: &Path, error: io::Error) -> Self {
        Self::Read { path: path.to_owned(), error }
    }

    pub(crate) fn write(path: &Path, error: io::Error) -> Self {
        Self::Write { path: path.to_owned(), error }
    }

    pub(crate) fn file(path: &Path, error: FileError) -> Self {
        Self::File { path: path.to_owned(), error }
    }
}

/// What a file is called; `-` is a stream.
fn shown(path: &Path, stream: &str) -> String {
    if path.as_os_str() == "-" { stream.to_owned() } else { format!("`{}`", path.display()) }
}

/// The words before an error in a plan, which name the plan.
fn plan_shown(plan: Option<&Path>, error: &PlanError) -> String {
    let name = plan.map_or_else(|| "the plan".to_owned(), |path| format!("`{}`", path.display()));
    let end = if matches!(error, PlanError::NotAPlan(_)) { " is " } else { ": " };
    name + end
}

/// The first names of a list.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    shown + if names.len() > SHOWN { ", …" } else { "" }
}
