//! The part of a checkpoint that one device needs. The checkpoint may already be divided, in another way. The output depends only on the file, its
//! rules and the device, so the work can be done in any order, by several processes, and again.

mod checkpoint;
mod plan;
mod stored;

pub use checkpoint::Checkpoint;
pub use plan::{ShardPlan, ShardRule};

use crate::SLAB_BYTES;
use crate::access::{Existing, Replacement, Sink, Source, check_outputs, write_regular};
use crate::error::{Error, ShardError};
use crate::format::{NOTES, Note, Notes, OtherTensor, dtype_of, header_of, read_header, zeroed};
use crate::relayout::check_stop;
use crate::relayout::pipeline::{self, Memory};
use checkpoint::{CheckpointFile, Opened};
use safetensors::tensor::{Dtype, TensorInfo};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stored::{Tensor, extents};
use xla_shape::relayout::{Options, Plan, RelayoutError, Slab};
use xla_shape::shard::{Partition, Region, Sharding, ShardingError};
use xla_shape::{ArrayShape, DynBuffer, Layout};

/// What one device needs of a checkpoint: checked, and ready to be written by [`run`](Self::run).
///
/// For each file of the checkpoint, a file with the device's shards is written: `w.device-3.safetensors` for `w.safetensors`.
///
/// ```
/// use xla_shape_files::{ArrayFile, Checkpoint, ShardPlan, ShardRule, write_array};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("w.safetensors");
/// write_array(&path, &"u8[4,2]".parse()?, Some("w"), &[1, 2, 3, 4, 5, 6, 7, 8])?;
///
/// let plan = ShardPlan::new().with_rule("*", ShardRule::new("{devices=[2,1]<=[2]}".parse()?));
/// let checkpoint = Checkpoint::open([path])?;
/// let done = checkpoint.shards(&plan, 1, folder.path())?.run(false, &|_| {})?;
/// assert_eq!((done.tensors[0].shape.as_str(), &*done.tensors[0].start), ("u8[2,2]{1,0}", &[2, 0][..]));
///
/// let made = ArrayFile::open(folder.path().join("w.device-1.safetensors"), Some("w"), None)?;
/// assert_eq!(made.read()?.as_ref(), [5, 6, 7, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Shards<'a> {
    checkpoint: &'a Checkpoint,
    /// One for each file.
    jobs: Vec<Job>,
    device: i64,
    /// The folder.
    output: PathBuf,
    slab_bytes: usize,
    stop: Option<&'a AtomicBool>,
}

/// What one device has of a checkpoint, once every file is written.
///
/// ```
/// use xla_shape_files::{Checkpoint, ShardPlan, ShardRule, write_array};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("w.safetensors");
/// write_array(&path, &"u8[4,2]".parse()?, Some("w"), &[1, 2, 3, 4, 5, 6, 7, 8])?;
/// let plan = ShardPlan::new().with_rule("*", ShardRule::new("{devices=[2,1]<=[2]}".parse()?));
/// let done = Checkpoint::open([path])?.shards(&plan, 1, folder.path())?.run(false, &|_| {})?;
/// assert_eq!((done.files.len(), done.tensors.len()), (1, 1));
/// assert_eq!(done.files[0].output, done.tensors[0].output);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ShardsDone {
    /// The number of the device.
    #[schemars(range(min = 0))]
    pub device: i64,
    /// The files, in the order of the checkpoint.
    pub files: Vec<ShardFile>,
    /// The shards, file by file. A tensor that another device alone has is left out.
    pub tensors: Vec<ShardTensor>,
}

impl ShardsDone {
    /// The form of its JSON, which is the answer of `xla-shape shard`.
    pub const SCHEMA: &'static str = "xla-shape/shard/1";
}

/// A file with one device's parts of the tensors of another file.
///
/// ```
/// use xla_shape_files::{Checkpoint, ShardPlan, ShardRule, write_array};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("w.safetensors");
/// write_array(&path, &"u8[4,2]".parse()?, Some("w"), &[1, 2, 3, 4, 5, 6, 7, 8])?;
/// let plan = ShardPlan::new().with_rule("*", ShardRule::new("{devices=[2,1]<=[2]}".parse()?));
/// let checkpoint = Checkpoint::open([path])?;
/// let shards = checkpoint.shards(&plan, 0, folder.path())?;
/// let [first, again] = [shards.run(false, &|_| {})?, shards.run(false, &|_| {})?];
/// assert!(first.files[0].output.ends_with("w.device-0.safetensors"));
/// assert_eq!(first.files[0].bytes, std::fs::metadata(&first.files[0].output)?.len(), "with the header");
/// assert_eq!((first.files[0].resumed, again.files[0].resumed), (false, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ShardFile {
    /// Its path.
    pub output: String,
    /// How many tensors it has.
    pub tensors: usize,
    /// The bytes of the whole file.
    pub bytes: u64,
    /// Whether the file was there already with the same bytes, and was kept.
    pub resumed: bool,
}

/// The part of a tensor that one device has.
///
/// ```
/// use xla_shape_files::{Checkpoint, ShardPlan, ShardRule, write_array};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("w.safetensors");
/// write_array(&path, &"u8[4,2]".parse()?, Some("w"), &[1, 2, 3, 4, 5, 6, 7, 8])?;
/// let plan = ShardPlan::new().with_rule("*", ShardRule::new("{devices=[2,1]<=[2]}".parse()?));
/// let done = Checkpoint::open([path])?.shards(&plan, 1, folder.path())?.run(false, &|_| {})?;
/// let shard = &done.tensors[0];
/// assert_eq!((shard.whole.as_str(), shard.shape.as_str()), ("u8[4,2]{1,0}", "u8[2,2]{1,0}"));
/// assert_eq!((&*shard.start, shard.bytes), (&[2, 0][..], 4), "the last two rows");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ShardTensor {
    /// The name of the tensor.
    pub name: String,
    /// The file that has the shard.
    pub output: String,
    /// The shape of the whole tensor, rearranged as its rule says.
    pub whole: String,
    /// The shape of the shard, with its layout.
    pub shape: String,
    /// The first index of the shard in each dimension.
    pub start: Vec<u64>,
    /// The bytes of its elements in the source.
    pub bytes_read: u64,
    /// The bytes of the shard in the file.
    pub bytes: u64,
}

/// What the header of a device's file says about its tensors, as JSON; `None` for a `.safetensors` file that is not one of
/// [`Shards`].
///
/// ```
/// use xla_shape_files::{shard_notes, write_array};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.safetensors");
/// write_array(&path, &"u8[2]".parse()?, Some("a"), &[1, 2])?;
/// assert_eq!(shard_notes(&path)?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be read, or is not a `.safetensors` file.
pub fn shard_notes(path: &Path) -> Result<Option<String>, Error> {
    let (metadata, _) = read_header(&mut Source::open(path)?, path)?;
    Ok(metadata.metadata().as_ref().and_then(|entries| entries.get(NOTES).cloned()))
}

/// The index of a device's files, in the form that the index of a checkpoint has.
#[derive(Serialize)]
struct Index<'a> {
    metadata: IndexMetadata,
    weight_map: BTreeMap<&'a str, String>,
}

#[derive(Serialize)]
struct IndexMetadata {
    total_size: u64,
    /// The files without tensors: they say which tensors other devices have, so that a file that is missing is noticed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    empty_files: Vec<String>,
}

/// The files to read, and how.
#[derive(Clone, Copy)]
struct Input<'a> {
    files: &'a Opened<'a>,
    /// The most bytes of a slab.
    slab_bytes: usize,
    memory: &'a Memory,
    /// The flag that stops the work.
    stop: Option<&'a AtomicBool>,
}

/// What the device has of a tensor.
struct Piece {
    device: i64,
    /// The number of the tensor in its file.
    tensor: usize,
    /// The whole array that the devices have, row-major; the index of the shard's first element; and the shard's shape with its layout.
    whole: ArrayShape,
    start: Vec<u64>,
    shape: ArrayShape,
    /// How the tensor is divided in the files, and the shape of a part there.
    source: (Partition, ArrayShape),
    /// The region of the shard in the array that the files divide: the tensor, or the array of its axes if the rule rearranges it.
    region: Region,
    /// The shape of the shard, with the layout of the files and with the layout of the output.
    from: ArrayShape,
    to: ArrayShape,
}

/// A file to write.
struct Job {
    output: PathBuf,
    pieces: Vec<Piece>,
    /// All bytes before the data.
    header: Vec<u8>,
    /// The bytes of the whole file.
    bytes: u64,
}

impl<'a> Shards<'a> {
    fn new(checkpoint: &'a Checkpoint, plan: &ShardPlan, device: i64, output: &Path) -> Result<Self, Error> {
        let mut rules = checkpoint.rules(plan)?.into_iter();
        let jobs = checkpoint.files.iter().map(|file| job(file, &mut rules, device, output));
        let jobs = jobs.collect::<Result<_, _>>()?;
        let (output, stop) = (output.to_owned(), None);
        let shards = Self { checkpoint, jobs, device, output, slab_bytes: SLAB_BYTES, stop };
        let inputs = checkpoint.inputs.iter().map(PathBuf::as_path);
        let inputs = inputs.chain(checkpoint.files().flat_map(|(paths, _)| paths)).chain(plan.path());
        let index = shards.index();
        check_outputs(inputs, shards.jobs.iter().map(|job| &job.output).chain(&index).map(PathBuf::as_path))?;
        Ok(shards)
    }

    /// Holds about this many bytes of the source, and of the result, at a time; [`SLAB_BYTES`] by default.
    ///
    /// ```
    /// # use xla_shape_files::{Checkpoint, ShardPlan, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// # let plan = ShardPlan::parse(br#"{ "*": "{devices=[2]<=[2]}" }"#)?;
    /// let checkpoint = Checkpoint::open([path])?;
    /// let shards = checkpoint.shards(&plan, 0, folder.path())?.with_slab_bytes(16 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_slab_bytes(self, bytes: usize) -> Self {
        Self { slab_bytes: bytes, ..self }
    }

    /// Ends before the next part once `stop` is set: the error is then [`RelayoutError::Interrupted`](xla_shape::relayout::RelayoutError), and the
    /// file that was being written is as it was.
    ///
    /// ```
    /// # use std::sync::atomic::AtomicBool;
    /// # use xla_shape_files::{Checkpoint, ShardPlan, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// # let plan = ShardPlan::parse(br#"{ "*": "{devices=[2]<=[2]}" }"#)?;
    /// let (checkpoint, stop) = (Checkpoint::open([path])?, AtomicBool::new(true));
    /// assert!(checkpoint.shards(&plan, 0, folder.path())?.until(&stop).run(false, &|_| {}).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn until(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// The bytes that all files take.
    ///
    /// ```
    /// # use xla_shape_files::{Checkpoint, ShardPlan, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// # let plan = ShardPlan::parse(br#"{ "*": "{devices=[2]<=[2]}" }"#)?;
    /// let checkpoint = Checkpoint::open([path])?;
    /// let shards = checkpoint.shards(&plan, 0, folder.path())?;
    /// let done = shards.run(false, &|_| {})?;
    /// assert_eq!(shards.bytes(), done.files[0].bytes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.jobs.iter().fold(0, |sum, job| sum.saturating_add(job.bytes))
    }

    /// Writes the files, each whole or not at all, and then an index if the checkpoint has one. An existing file with the same
    /// bytes is kept; with `force`, it is written again. `progress` is called from several threads, with the number of further
    /// [`bytes`](Self::bytes) that have been written or found in an existing file.
    ///
    /// ```
    /// # use xla_shape_files::{Checkpoint, ShardPlan, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// # let plan = ShardPlan::parse(br#"{ "*": "{devices=[2]<=[2]}" }"#)?;
    /// let checkpoint = Checkpoint::open([path])?;
    /// let shards = checkpoint.shards(&plan, 0, folder.path())?;
    /// assert!(!shards.run(false, &|_| {})?.files[0].resumed);
    /// assert!(shards.run(false, &|_| {})?.files[0].resumed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a file cannot be read or written. Files that were written before stay.
    pub fn run(&self, force: bool, progress: &(dyn Fn(u64) + Sync)) -> Result<ShardsDone, Error> {
        let files = self.jobs.iter().zip(&self.checkpoint.files);
        let memory = Memory::default();
        let written = files.clone().map(|(job, file)| {
            let Self { slab_bytes, stop, .. } = *self;
            job.run(Input { files: &file.opened(), slab_bytes, memory: &memory, stop }, force, progress)
        });
        let written = written.collect::<Result<_, _>>()?;
        self.write_index()?;
        let tensors = files.flat_map(|(job, file)| job.tensors(file)).collect();
        Ok(ShardsDone { device: self.device, files: written, tensors })
    }

    /// Writes the index of the device's files, if the checkpoint has one; gives its path. [`run`](Self::run) does it, too; this is for files
    /// that are written one by one, by [`Checkpoint::open_part`].
    ///
    /// ```
    /// # use xla_shape_files::{Checkpoint, ShardPlan, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// # let plan = ShardPlan::parse(br#"{ "*": "{devices=[2]<=[2]}" }"#)?;
    /// let index = folder.path().join("m.safetensors.index.json");
    /// std::fs::write(&index, r#"{ "weight_map": { "w": "w.safetensors" } }"#)?;
    /// let written = Checkpoint::open([index])?.shards(&plan, 1, folder.path())?.write_index()?;
    /// assert_eq!(written, Some(folder.path().join("m.safetensors.device-1.index.json")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the index cannot be written.
    pub fn write_index(&self) -> Result<Option<PathBuf>, Error> {
        let Some(path) = self.index() else { return Ok(None) };
        let mut weight_map = BTreeMap::new();
        let (mut total_size, mut empty_files) = (0_u64, Vec::new());
        for (job, file) in self.jobs.iter().zip(&self.checkpoint.files) {
            let name = output_name(&file.name, self.device).to_string_lossy().into_owned();
            if job.pieces.is_empty() {
                empty_files.push(name.clone());
            }
            for piece in &job.pieces {
                weight_map.insert(file.tensors[piece.tensor].name.as_str(), name.clone());
                total_size = total_size.saturating_add(piece.to.byte_size().unwrap_or_default());
            }
        }
        let index = Index { metadata: IndexMetadata { total_size, empty_files }, weight_map };
        let mut text = serde_json::to_vec(&index).map_err(|error| Error::write(&path, error.into()))?;
        text.push(b'\n');
        write_regular(&path, &text)?;
        Ok(Some(path))
    }

    /// The path of the device's index.
    fn index(&self) -> Option<PathBuf> {
        let stem = self.checkpoint.index.as_ref()?;
        Some(self.output.join(format!("{stem}.device-{}.index.json", self.device)))
    }
}

impl fmt::Debug for Shards<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outputs = self.jobs.iter().map(|job| &job.output).collect::<Vec<_>>();
        f.debug_struct("Shards").field("device", &self.device).field("outputs", &outputs).finish_non_exhaustive()
    }
}

impl Job {
    fn run(&self, input: Input<'_>, force: bool, done: &(dyn Fn(u64) + Sync)) -> Result<ShardFile, Error> {
        if let Some(folder) = self.output.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::write(&self.output, error))?;
        }
        // Bytes that were compared before a difference was found are not counted twice.
        let compared = AtomicU64::new(0);
        let resumed = !force
            && self.is_done(input, &|bytes| {
                compared.fetch_add(bytes, Ordering::Relaxed);
                done(bytes);
            })?;
        if !resumed {
            self.write(input, &|bytes| {
                let counted = compared
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(bytes)));
                done(bytes.saturating_sub(counted.unwrap_or_default()));
            })?;
        }
        let (output, tensors) = (self.output.display().to_string(), self.pieces.len());
        Ok(ShardFile { output, tensors, bytes: self.bytes, resumed })
    }

    /// Whether the file already has the bytes that would be written. They are computed again from the input and compared, because a
    /// checkpoint with other weights may have the same date and length, and a disk may lose bits.
    fn is_done(&self, input: Input<'_>, done: &(dyn Fn(u64) + Sync)) -> Result<bool, Error> {
        let Some(existing) = Existing::open(&self.output, self.bytes) else { return Ok(false) };
        if !existing.has(0, &self.header) {
            return Ok(false);
        }
        done(self.header.len() as u64);
        let differs = AtomicBool::new(false);
        for (start, piece) in self.places() {
            let compare = |place: usize, bytes: &[u8]| {
                if !existing.has(start + place as u64, bytes) {
                    differs.store(true, Ordering::Relaxed);
                    // The error only ends the comparison; no user sees it.
                    return Err(Error::read(&self.output, io::Error::other("the file has other bytes")));
                }
                done(bytes.len() as u64);
                Ok(())
            };
            let compared = piece.make(input, Sink::Anywhere(&compare));
            if differs.load(Ordering::Relaxed) {
                return Ok(false);
            }
            compared?;
        }
        Ok(true)
    }

    fn write(&self, input: Input<'_>, done: &(dyn Fn(u64) + Sync)) -> Result<(), Error> {
        let failed = |error| Error::write(&self.output, error);
        let mut output = Replacement::of_regular(&self.output).map_err(failed)?;
        output.reserve(self.bytes).map_err(failed)?;
        output.write_all(&self.header).map_err(failed)?;
        done(self.header.len() as u64);
        for (start, piece) in self.places() {
            output.fill(start, &self.output, done, |sink| piece.make(input, sink))?;
        }
        // A file in its place is whole, also after the power failed.
        output.sync().map_err(failed)?;
        output.commit().map_err(failed)
    }

    /// The pieces, each with the byte of the file at which it begins.
    fn places(&self) -> impl Iterator<Item = (u64, &Piece)> {
        let mut end = self.header.len() as u64;
        self.pieces.iter().map(move |piece| {
            let start = end;
            end = end.saturating_add(piece.to.byte_size().unwrap_or_default());
            (start, piece)
        })
    }

    fn tensors<'a>(&'a self, file: &'a CheckpointFile) -> impl Iterator<Item = ShardTensor> + 'a {
        self.pieces.iter().map(|piece| ShardTensor {
            name: file.tensors[piece.tensor].name.clone(),
            output: self.output.display().to_string(),
            whole: piece.whole.to_string(),
            shape: piece.shape.to_string(),
            start: piece.start.clone(),
            bytes_read: piece.region.elements().saturating_mul(piece.from.element_bits() / 8),
            bytes: piece.to.byte_size().unwrap_or_default(),
        })
    }
}

/// A device's share of a tensor.
enum Share {
    Own(Box<Piece>),
    /// Only another device has the tensor: the shapes of the whole tensor and of that device's shard.
    Other {
        whole: ArrayShape,
        shape: ArrayShape,
    },
}

/// How a sharding divides an array into parts of equal size. It must give each device elements, not summands.
fn partition_of(sharding: &Sharding, whole: &ArrayShape) -> Result<Partition, ShardError> {
    if sharding.to_tiled()?.reduction().is_some() {
        return Err(ShardError::NoElements(sharding.clone().into()));
    }
    let partition = sharding.partition(whole)?;
    partition.check_even()?;
    Ok(partition)
}

impl Piece {
    /// The part of a tensor that a device has. The tensor has this number.
    fn share((number, tensor): (usize, &Tensor), rule: &ShardRule, device: i64) -> Result<Share, ShardError> {
        let sharding = rule.sharding();
        let whole = rule.rearrangement().map_or_else(|| Ok(tensor.shape.clone()), |made| made.result(&tensor.shape))?;
        let partition = partition_of(sharding, &whole)?;
        let own = partition.region(device);
        let shape = rule.lay_out(partition.shard());
        let (own, shape) = match own {
            Ok(region) => (region, shape?),
            Err(_) if partition.device_count() == Some(1) => return Ok(Share::Other { whole, shape: shape? }),
            Err(error) => return Err(error.into()),
        };
        let (before, parts, part) = tensor.division()?;
        let (source, region, to) = match rule.rearrangement() {
            None => ((parts, part), own.clone(), shape.clone()),
            Some(rearrangement) => {
                let array = tensor.shape.clone().with_layout(part.layout().clone())?;
                let reshard = rearrangement.reshard((&array, &before), sharding, Some(shape.layout()))?;
                let (from, to) = (reshard.from(), reshard.to());
                ((from.clone(), from.shard().clone()), to.region(device)?, to.shard().clone())
            }
        };
        let from = to.clone().with_layout(source.1.layout().clone())?;
        // Return an error now, before anything is written, if the shard cannot be copied.
        Plan::check(&from, &to, &options())?;
        let piece = Self { device, tensor: number, whole, start: own.start, shape, source, region, from, to };
        Ok(Share::Own(piece.into()))
    }

    /// Gathers the shard from the files and lays it out.
    fn make(&self, Input { files, slab_bytes, memory, stop }: Input<'_>, sink: Sink<'_>) -> Result<(), Error> {
        let (parts, part) = &self.source;
        let needed = files.tensor(self.tensor).needed((parts, part), &self.region, self.device);
        let gather = |slab: &Slab, room: &mut [u8], scratch: &mut Vec<u8>| {
            check_stop(stop)?;
            needed.gather(files, slab, room, scratch)
        };
        pipeline::run((&self.from, &self.to), &options(), (slab_bytes, memory), gather, sink)
    }
}

impl Checkpoint {
    /// Reads a whole tensor, in a layout: the tensor of this number in the file of this number.
    pub(crate) fn read(&self, (file, tensor): (usize, usize), layout: &Layout) -> Result<DynBuffer, Error> {
        let files = self.files[file].opened();
        let stored = files.tensor(tensor);
        let region = Region::whole(&extents(&stored.shape));
        let with_layout =
            |layout: &Layout| stored.shape.clone().with_layout(layout.clone()).map_err(RelayoutError::from);
        let wrong = |error: ShardingError| Error::Shard { tensor: stored.name.clone(), error: error.into() };
        let (_, parts, part) = stored.division().map_err(wrong)?;
        let (from, to) = (with_layout(part.layout())?, with_layout(layout)?);
        let (whole, start, shape) = (stored.shape.clone(), region.start.clone(), to.clone());
        let piece = Piece { device: 0, tensor, whole, start, shape, source: (parts, part), region, from, to };
        Plan::check(&piece.from, &piece.to, &options())?;
        let mut bytes = zeroed(&piece.to)?;
        let mut rest = bytes.as_mut();
        let mut append = |bytes: &[u8]| {
            let (room, after) = std::mem::take(&mut rest).split_at_mut(bytes.len());
            room.copy_from_slice(bytes);
            rest = after;
            Ok(())
        };
        let input = Input { files: &files, slab_bytes: SLAB_BYTES, memory: &Memory::default(), stop: None };
        piece.make(input, Sink::InOrder(&mut append))?;
        Ok(DynBuffer::from_parts(piece.to, bytes).expect("an array that a plan writes"))
    }
}

/// How shards are laid out.
fn options() -> Options {
    Options::new().zero_padding()
}

/// What is to be written for a file; an error if a rule cannot be followed.
fn job<'p>(
    file: &CheckpointFile,
    rules: &mut impl Iterator<Item = &'p ShardRule>,
    device: i64,
    output: &Path,
) -> Result<Job, Error> {
    let output = output.join(output_name(&file.name, device));
    let mut pieces = Vec::new();
    let mut infos = Vec::new();
    let (mut notes, mut others) = (BTreeMap::new(), Vec::new());
    let mut end = 0_usize;
    for ((number, tensor), rule) in file.tensors.iter().enumerate().zip(rules) {
        let wrong = |error| Error::Shard { tensor: tensor.name.clone(), error };
        let piece = match Piece::share((number, tensor), rule, device).map_err(wrong)? {
            Share::Own(piece) => *piece,
            Share::Other { whole, shape } => {
                let (name, sharding) = (tensor.name.clone(), rule.sharding().to_string());
                let (shape, whole) = (shape.to_string(), whole.to_string());
                others.push(OtherTensor { name, place: number, shape, whole, sharding });
                continue;
            }
        };
        let too_large = || wrong(ShardError::TooLarge);
        let local = |size: u64| usize::try_from(size).map_err(|_| too_large());
        let bytes = local(piece.to.byte_size().ok_or_else(too_large)?)?;
        let start = end;
        end = start.checked_add(bytes).ok_or_else(too_large)?;
        let sizes = piece.shape.dimensions().iter().map(|dimension| local(dimension.extent().unwrap_or_default()));
        // The format has no layouts: an array in another layout is stored as bytes.
        let (dtype, shape) = match piece.shape.layout() == piece.whole.layout() {
            true => {
                let dtype = dtype_of(&piece.shape).map_err(|error| Error::file(&output, error))?;
                (dtype, sizes.collect::<Result<_, _>>()?)
            }
            false => (Dtype::U8, vec![bytes]),
        };
        infos.push((tensor.name.clone(), TensorInfo { dtype, shape, data_offsets: (start, end) }));
        let (shape, whole) = (piece.shape.to_string(), piece.whole.to_string());
        let (start, sharding) = (piece.start.clone(), rule.sharding().to_string());
        notes.insert(tensor.name.clone(), Note { shape, whole, start, sharding });
        pieces.push(piece);
    }
    let notes = serde_json::to_string(&Notes { device, tensors: notes, others }).map_err(io::Error::from);
    let header = notes.and_then(|notes| header_of(Some(HashMap::from([(NOTES.to_owned(), notes)])), infos));
    let header = header.map_err(|error| Error::write(&output, error))?;
    let bytes = (header.len() as u64).saturating_add(end as u64);
    Ok(Job { output, pieces, header, bytes })
}

/// `weights.safetensors` of device 3 is `weights.device-3.safetensors`.
fn output_name(name: &Path, device: i64) -> PathBuf {
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    name.with_file_name(format!("{stem}.device-{device}.safetensors"))
}
