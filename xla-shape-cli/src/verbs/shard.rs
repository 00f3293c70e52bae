//! `shard`: what one device needs of a checkpoint.

use crate::args::{Format, ShardArguments};
use crate::failure::Failure;
use crate::io::checkpoint::{Checkpoint, CheckpointFile};
use crate::io::tensor::{dtype_of, header_of, progress};
use crate::io::{self, Replacement};
use crate::plan::{Plan, Rule};
use indicatif::ProgressBar;
use safetensors::tensor::{Dtype, TensorInfo};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use xla_shape::ArrayShape;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Options, Plan as Copy, Slabs};
use xla_shape::shard::Region;

/// What was done, as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    device: i64,
    files: Vec<Written>,
    tensors: Vec<Entry<'a>>,
}

/// A file that is written now, or that was there already.
#[derive(Serialize)]
struct Written {
    output: String,
    tensors: usize,
    /// Of the whole file.
    bytes: u64,
    resumed: bool,
}

/// A tensor in a file.
#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    output: String,
    /// Of the whole tensor, and of the shard.
    whole: String,
    shape: String,
    /// The first index of the shard in each dimension.
    start: &'a [u64],
    /// Those that are read, and those that are written.
    bytes_read: u64,
    bytes: u64,
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

pub(crate) fn run(arguments: &ShardArguments) -> Result<(), Failure> {
    let plan = Plan::read(&arguments.plan)?;
    let mut checkpoint = Checkpoint::open(&arguments.input)?;
    let rules = plan.rules(checkpoint.tensors().map(|tensor| tensor.name.as_str()))?;
    // Everything is checked before anything is written.
    let mut rules = rules.into_iter();
    let jobs = checkpoint.files.iter().map(|file| job(file, &mut rules, arguments)).collect::<Result<Vec<_>, _>>()?;
    let bar = progress(jobs.iter().map(|job| job.bytes).sum());
    let mut files = Vec::new();
    for (job, file) in jobs.iter().zip(&mut checkpoint.files) {
        let failed = |error| io::write_failure(&job.output, error);
        if let Some(folder) = job.output.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let resumed = is_done(job);
        if resumed {
            bar.inc(job.bytes);
        } else {
            write(job, file, arguments.slab_bytes, &bar)?;
        }
        let (output, tensors) = (job.output.display().to_string(), job.pieces.len());
        files.push(Written { output, tensors, bytes: job.bytes, resumed });
    }
    bar.finish_and_clear();
    if let Some(index) = &checkpoint.index {
        write_index(arguments, index, &jobs, &checkpoint.files)?;
    }
    if arguments.format == Format::Text {
        return Ok(());
    }
    let entries = jobs.iter().zip(&checkpoint.files).flat_map(|(job, file)| {
        job.pieces.iter().map(|piece| Entry {
            name: &file.tensors[piece.tensor].name,
            output: job.output.display().to_string(),
            whole: file.tensors[piece.tensor].shape.to_string(),
            shape: piece.to.to_string(),
            start: &piece.region.start,
            bytes_read: piece.from.byte_size().unwrap_or_default(),
            bytes: piece.to.byte_size().unwrap_or_default(),
        })
    });
    let answer = Answer { device: arguments.device, files, tensors: entries.collect() };
    io::write(super::json_line(&answer).as_bytes())
}

/// What is to be written for a file, if all that its rules say can be done.
fn job<'a>(
    file: &CheckpointFile,
    rules: &mut impl Iterator<Item = &'a Rule>,
    arguments: &ShardArguments,
) -> Result<Job, Failure> {
    let mut pieces = Vec::new();
    let mut infos = Vec::new();
    // What `.safetensors` files cannot say themselves, for each tensor.
    let mut shapes = BTreeMap::new();
    let mut end = 0_usize;
    for ((number, tensor), rule) in file.tensors.iter().enumerate().zip(rules) {
        let wrong = |error: String| Failure::said(format_args!("tensor `{}`: {error}", tensor.name));
        let Some(piece) = piece(number, &tensor.shape, rule, arguments.device).map_err(wrong)? else { continue };
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
    let more = serde_json::json!({ "device": arguments.device, "source": file.state, "tensors": shapes });
    let header = header_of(Some(HashMap::from([("xla_shape".to_owned(), more.to_string())])), infos);
    let header = header.map_err(Failure::said)?;
    let output = arguments.output.join(output_name(&file.name, arguments.device));
    let bytes = (header.len() as u64).saturating_add(end as u64);
    Ok(Job { output, pieces, header, bytes })
}

/// `weights.safetensors` of device 3 is `weights.device-3.safetensors`.
fn output_name(name: &Path, device: i64) -> PathBuf {
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    name.with_file_name(format!("{stem}.device-{device}.safetensors"))
}

/// What a device has of a tensor; `None` if another device alone has it.
fn piece(tensor: usize, shape: &ArrayShape, rule: &Rule, device: i64) -> Result<Option<Piece>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    if rule.sharding.reduction().is_some() {
        return Err(format!("expected a sharding by which devices have elements, found {}", rule.sharding));
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
    let Ok(mut file) = File::open(&job.output) else { return false };
    let mut header = Vec::new();
    let length = file.metadata().map(|known| known.is_file().then_some(known.len()));
    length.is_ok_and(|length| length == Some(job.bytes))
        && (&mut file).take(job.header.len() as u64).read_to_end(&mut header).is_ok()
        && header == job.header
}

fn write(job: &Job, file: &mut CheckpointFile, slab_bytes: usize, bar: &ProgressBar) -> Result<(), Failure> {
    let failed = |error| io::write_failure(&job.output, error);
    let mut output = Replacement::new(&job.output).map_err(failed)?;
    output.write_all(&job.header).map_err(failed)?;
    bar.inc(job.header.len() as u64);
    for piece in &job.pieces {
        let options = Options::new().zero_padding();
        let slabs = Slabs::new(&piece.from, &piece.to, &options, slab_bytes).map_err(Failure::said)?;
        // All slabs but the last ones are alike.
        let mut plan: Option<Copy> = None;
        let mut rooms: Option<(AlignedBytes, AlignedBytes)> = None;
        for slab in slabs {
            let (from, to) = slab.shapes();
            let ready = plan.take().filter(|plan| (plan.from(), plan.to()) == (from, to));
            if ready.is_none() {
                rooms = None;
            }
            let plan = plan.insert(ready.map_or_else(|| slab.plan().map_err(Failure::said), Ok)?);
            let (source, data) = match &mut rooms {
                Some(rooms) => rooms,
                none => none.insert((super::relayout::room(from)?, super::relayout::room(to)?)),
            };
            file.gather(piece.tensor, &piece.region, slab.source(), source.as_mut())?;
            plan.run(source.as_ref(), data.as_mut()).map_err(Failure::said)?;
            output.write_all(data.as_ref()).map_err(failed)?;
            bar.inc(data.as_ref().len() as u64);
        }
    }
    output.commit().map_err(failed)
}

/// Writes an index of the device's files, where the checkpoint has one.
fn write_index(arguments: &ShardArguments, stem: &str, jobs: &[Job], files: &[CheckpointFile]) -> Result<(), Failure> {
    let mut weight_map = BTreeMap::new();
    let mut total_size = 0_u64;
    for (job, file) in jobs.iter().zip(files) {
        for piece in &job.pieces {
            let name = output_name(&file.name, arguments.device);
            weight_map.insert(&file.tensors[piece.tensor].name, name.to_string_lossy().into_owned());
            total_size = total_size.saturating_add(piece.to.byte_size().unwrap_or_default());
        }
    }
    let index = serde_json::json!({ "metadata": { "total_size": total_size }, "weight_map": weight_map });
    let path = arguments.output.join(format!("{stem}.device-{}.index.json", arguments.device));
    io::write_file(&path, super::json_line(&index).as_bytes())
}
