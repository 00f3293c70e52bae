//! What one device needs of one file of a checkpoint. A file and a device decide all of it: who does which, when, how often and
//! beside whom makes no difference to the result.

use super::plan::{Rule, ShardPlan};
use super::{SLAB_BYTES, pipeline};
use crate::failure::Failure;
use crate::io::checkpoint::{Checkpoint, CheckpointFile};
use crate::io::tensor::{dtype_of, header_of};
use crate::io::{self, Replacement};
use safetensors::tensor::{Dtype, TensorInfo};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use xla_shape::ArrayShape;
use xla_shape::relayout::{Options, Plan as Copy, Slab};
use xla_shape::shard::Region;
use xla_shape_render::json_line;

/// A file that is written now, or that was there already.
#[derive(Clone, Debug, Serialize)]
pub struct Written {
    /// The file.
    pub output: String,
    /// How many tensors it has.
    pub tensors: usize,
    /// Of the whole file.
    pub bytes: u64,
    /// Whether it was there already, made from the same.
    pub resumed: bool,
}

/// A tensor in a file that is written.
#[derive(Clone, Debug, Serialize)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// The file.
    pub output: String,
    /// The shape of the whole tensor.
    pub whole: String,
    /// The shape of the shard.
    pub shape: String,
    /// The first index of the shard in each dimension.
    pub start: Vec<u64>,
    /// The bytes that are read.
    pub bytes_read: u64,
    /// The bytes that are written.
    pub bytes: u64,
}

/// What was done for one file and one device.
#[derive(Clone, Debug, Serialize)]
pub struct ShardDone {
    /// The file.
    #[serde(flatten)]
    pub file: Written,
    /// What it has.
    pub shards: Vec<Tensor>,
}

/// What the device has of a tensor.
struct Piece {
    /// The number of the tensor in its file.
    tensor: usize,
    region: Region,
    /// The shard in row-major order, and as it is to lie.
    from: ArrayShape,
    to: ArrayShape,
}

/// A file to write.
struct Job {
    output: PathBuf,
    pieces: Vec<Piece>,
    /// All that stands before the data.
    header: Vec<u8>,
    bytes: u64,
}

/// The shards of the tensors of one file on one device.
pub struct Shard {
    source: CheckpointFile,
    job: Job,
}

impl Shard {
    /// Reads what a file contains, and checks that all of it can be done. `name` is the file's name in the checkpoint, with
    /// folders only where an index has them.
    ///
    /// # Errors
    /// If the file cannot be read, a tensor has no rule, or what its rule says cannot be done.
    pub fn new(input: &Path, name: &Path, device: i64, plan: &ShardPlan, output: &Path) -> Result<Self, Failure> {
        let source = CheckpointFile::open(input.to_owned(), name.to_owned())?;
        let rules = plan.rules(source.tensors.iter().map(|tensor| tensor.name.as_str()))?;
        let job = job(&source, &mut rules.into_iter(), device, output)?;
        Ok(Self { source, job })
    }

    /// Writes the file, whole or not at all, unless it is there already, made from the same.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn run(self) -> Result<ShardDone, Failure> {
        let file = self.job.run(&self.source, SLAB_BYTES, &|_| {})?;
        Ok(ShardDone { file, shards: self.job.tensors(&self.source).collect() })
    }
}

/// The shards of all files of a checkpoint on one device.
pub(crate) struct Shards {
    checkpoint: Checkpoint,
    jobs: Vec<Job>,
    device: i64,
    output: PathBuf,
}

impl Shards {
    /// Reads what the files contain; everything is checked before anything is written.
    pub(crate) fn new(input: &[PathBuf], plan: &ShardPlan, device: i64, output: &Path) -> Result<Self, Failure> {
        let checkpoint = Checkpoint::open(input)?;
        check_outputs(&checkpoint)?;
        let rules = plan.all_rules(checkpoint.tensors().map(|tensor| tensor.name.as_str()))?;
        let mut rules = rules.into_iter();
        let jobs =
            checkpoint.files.iter().map(|file| job(file, &mut rules, device, output)).collect::<Result<_, _>>()?;
        Ok(Self { checkpoint, jobs, device, output: output.to_owned() })
    }

    /// The bytes that all files take.
    pub(crate) fn bytes(&self) -> u64 {
        self.jobs.iter().fold(0, |sum, job| sum.saturating_add(job.bytes))
    }

    /// Writes the files, and an index if the checkpoint has one. `done` hears of bytes that are done.
    pub(crate) fn run(&self, slab_bytes: usize, done: &(dyn Fn(u64) + Sync)) -> Result<Vec<Written>, Failure> {
        let files = self.jobs.iter().zip(&self.checkpoint.files);
        let files = files.map(|(job, file)| job.run(file, slab_bytes, done)).collect::<Result<_, _>>()?;
        self.write_index()?;
        Ok(files)
    }

    /// What is in the files.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = Tensor> + '_ {
        self.jobs.iter().zip(&self.checkpoint.files).flat_map(|(job, file)| job.tensors(file))
    }

    fn write_index(&self) -> Result<Option<PathBuf>, Failure> {
        let Some(stem) = &self.checkpoint.index else { return Ok(None) };
        let mut weight_map = BTreeMap::new();
        let mut total_size = 0_u64;
        for (job, file) in self.jobs.iter().zip(&self.checkpoint.files) {
            for piece in &job.pieces {
                let name = output_name(&file.name, self.device);
                weight_map.insert(&file.tensors[piece.tensor].name, name.to_string_lossy().into_owned());
                total_size = total_size.saturating_add(piece.to.byte_size().unwrap_or_default());
            }
        }
        let index = serde_json::json!({ "metadata": { "total_size": total_size }, "weight_map": weight_map });
        let path = self.output.join(format!("{stem}.device-{}.index.json", self.device));
        io::write_file(&path, json_line(&index).as_bytes())?;
        Ok(Some(path))
    }
}

/// The files of a checkpoint, each with its name in it: what [`Shard::new`] takes. The plan is checked against all of them.
///
/// # Errors
/// If a file cannot be read, a tensor has no rule, or a rule no tensor.
pub fn shard_files(input: &[PathBuf], plan: &ShardPlan) -> Result<Vec<(PathBuf, PathBuf)>, Failure> {
    let checkpoint = Checkpoint::open(input)?;
    check_outputs(&checkpoint)?;
    plan.all_rules(checkpoint.tensors().map(|tensor| tensor.name.as_str()))?;
    Ok(checkpoint.files.into_iter().map(|file| (file.path, file.name)).collect())
}

/// Writes the index of a device's files, if the checkpoint has one.
///
/// # Errors
/// Same as [`Shard::new`], and if the index cannot be written.
pub fn write_index(
    input: &[PathBuf],
    plan: &ShardPlan,
    device: i64,
    output: &Path,
) -> Result<Option<PathBuf>, Failure> {
    Shards::new(input, plan, device, output)?.write_index()
}

impl Job {
    fn run(&self, file: &CheckpointFile, slab_bytes: usize, done: &(dyn Fn(u64) + Sync)) -> Result<Written, Failure> {
        if let Some(folder) = self.output.parent() {
            fs::create_dir_all(folder).map_err(|error| io::write_failure(&self.output, error))?;
        }
        let resumed = is_done(self);
        if resumed {
            done(self.bytes);
        } else {
            write(self, file, slab_bytes, done)?;
        }
        let (output, tensors) = (self.output.display().to_string(), self.pieces.len());
        Ok(Written { output, tensors, bytes: self.bytes, resumed })
    }

    fn tensors<'a>(&'a self, file: &'a CheckpointFile) -> impl Iterator<Item = Tensor> + 'a {
        self.pieces.iter().map(|piece| Tensor {
            name: file.tensors[piece.tensor].name.clone(),
            output: self.output.display().to_string(),
            whole: file.tensors[piece.tensor].shape.to_string(),
            shape: piece.to.to_string(),
            start: piece.region.start.clone(),
            bytes_read: piece.from.byte_size().unwrap_or_default(),
            bytes: piece.to.byte_size().unwrap_or_default(),
        })
    }
}

/// What is to be written for a file, if all that its rules say can be done.
fn job<'a>(
    file: &CheckpointFile,
    rules: &mut impl Iterator<Item = &'a Rule>,
    device: i64,
    output: &Path,
) -> Result<Job, Failure> {
    let mut pieces = Vec::new();
    let mut infos = Vec::new();
    // What `.safetensors` files cannot say themselves, for each tensor.
    let mut shapes = BTreeMap::new();
    let mut end = 0_usize;
    for ((number, tensor), rule) in file.tensors.iter().enumerate().zip(rules) {
        let wrong = |error: String| Failure::said(format_args!("tensor `{}`: {error}", tensor.name));
        let Some(piece) = piece(number, &tensor.shape, rule, device).map_err(wrong)? else { continue };
        let too_large = || wrong("its shards are too large".to_owned());
        let local = |size: u64| usize::try_from(size).map_err(|_| too_large());
        let bytes = local(piece.to.byte_size().ok_or_else(too_large)?)?;
        let start = end;
        end = start.checked_add(bytes).ok_or_else(too_large)?;
        let sizes = piece.to.dimensions().iter().map(|dimension| local(dimension.extent().unwrap_or_default()));
        // Bytes where the file cannot say how the elements lie.
        let (dtype, shape) = match piece.to == piece.from {
            true => (dtype_of(&piece.to).map_err(wrong)?, sizes.collect::<Result<_, _>>()?),
            false => (Dtype::U8, vec![bytes]),
        };
        infos.push((tensor.name.clone(), TensorInfo { dtype, shape, data_offsets: (start, end) }));
        let (shape, whole) = (piece.to.to_string(), tensor.shape.to_string());
        let sharding = rule.sharding.to_string();
        shapes.insert(
            tensor.name.clone(),
            serde_json::json!({ "shape": shape, "whole": whole, "start": piece.region.start, "sharding": sharding }),
        );
        pieces.push(piece);
    }
    let more = serde_json::json!({ "device": device, "source": file.state, "tensors": shapes });
    let header = header_of(Some(HashMap::from([("xla_shape".to_owned(), more.to_string())])), infos);
    let header = header.map_err(Failure::said)?;
    let output = output.join(output_name(&file.name, device));
    let bytes = (header.len() as u64).saturating_add(end as u64);
    Ok(Job { output, pieces, header, bytes })
}

/// `weights.safetensors` of device 3 is `weights.device-3.safetensors`.
fn output_name(name: &Path, device: i64) -> PathBuf {
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    name.with_file_name(format!("{stem}.device-{device}.safetensors"))
}

/// Checks that each file of a checkpoint has an output of its own.
fn check_outputs(checkpoint: &Checkpoint) -> Result<(), Failure> {
    let mut outputs = HashMap::new();
    for file in &checkpoint.files {
        let output = output_name(&file.name, 0);
        if let Some(other) = outputs.insert(output, &file.path) {
            let (a, b) = (other.display(), file.path.display());
            return Err(Failure::said(format_args!(
                "the shards of `{a}` and `{b}` would go into the same file: rename one of them"
            )));
        }
    }
    Ok(())
}

/// What a device has of a tensor; `None` if another device alone has it.
fn piece(tensor: usize, shape: &ArrayShape, rule: &Rule, device: i64) -> Result<Option<Piece>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    if rule.sharding.reduction().is_some() {
        return Err(format!("expected a sharding that gives elements to devices, found {}", rule.sharding));
    }
    let partition = rule.sharding.partition(shape).map_err(|error| text(&error))?;
    partition.check_even().map_err(|error| text(&error))?;
    let region = match partition.region(device) {
        Ok(region) => region,
        Err(_) if partition.device_count() == Some(1) => return Ok(None),
        Err(error) => return Err(text(&error)),
    };
    let from = partition.shard().clone();
    let to = rule.lay_out(&from)?;
    // Whether it can be copied is known now, too.
    Copy::new(&from, &to, &Options::new().zero_padding()).map_err(|error| text(&error))?;
    Ok(Some(Piece { tensor, region, from, to }))
}

/// Whether the file is there already, made from the same: files come to their places only when they are whole.
fn is_done(job: &Job) -> bool {
    let mut header = Vec::new();
    // A pipe would be waited for.
    fs::metadata(&job.output).is_ok_and(|known| known.is_file() && known.len() == job.bytes)
        && File::open(&job.output).is_ok_and(|file| {
            file.take(job.header.len() as u64).read_to_end(&mut header).is_ok() && header == job.header
        })
}

fn write(job: &Job, file: &CheckpointFile, slab_bytes: usize, done: &(dyn Fn(u64) + Sync)) -> Result<(), Failure> {
    let failed = |error| io::write_failure(&job.output, error);
    let mut output = Replacement::new(&job.output).map_err(failed)?;
    output.reserve(job.bytes).map_err(failed)?;
    output.write_all(&job.header).map_err(failed)?;
    let mut end = job.header.len() as u64;
    done(end);
    for piece in &job.pieces {
        let gather = |slab: &Slab, room: &mut [u8]| file.gather(piece.tensor, &piece.region, slab.source(), room);
        output.fill(end, &job.output, done, |sink| {
            pipeline::run((&piece.from, &piece.to), &Options::new().zero_padding(), slab_bytes, gather, sink)
        })?;
        end += piece.to.byte_size().unwrap_or_default();
    }
    // What is in its place is not made again.
    output.sync().map_err(failed)?;
    output.commit().map_err(failed)
}
