//! Checkpoints: `.safetensors` files, one or several, or an index that says which file has which tensor.

use super::read_failure;
use super::source::{Reader, Source};
use super::tensor::{safetensors_metadata, shape_of};
use crate::failure::Failure;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;
use xla_shape::ArrayShape;
use xla_shape::shard::Region;

/// The tensors of one or several files.
pub(crate) struct Checkpoint {
    pub(crate) files: Vec<CheckpointFile>,
    /// The stem of the index, if there is one.
    pub(crate) index: Option<String>,
}

/// A file with tensors.
pub(crate) struct CheckpointFile {
    pub(crate) path: PathBuf,
    /// Its name, with folders only where an index has them.
    pub(crate) name: PathBuf,
    source: Source,
    /// In the order of the file.
    pub(crate) tensors: Vec<Tensor>,
    /// How long it is and when it was written, as far as that is known.
    pub(crate) state: String,
}

/// A tensor in a file.
pub(crate) struct Tensor {
    pub(crate) name: String,
    /// Row-major.
    pub(crate) shape: ArrayShape,
    /// Where it is in the file.
    data: Range<u64>,
}

/// The index that comes with a model of several files.
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// The most bytes of an index that are read.
const INDEX: u64 = 100_000_000;

impl Checkpoint {
    /// Opens the files, and reads what they contain. A name that ends in `.json` is that of an index.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut files = Vec::new();
        let mut index = None;
        for path in paths {
            if path.extension().is_some_and(|extension| extension == "json") {
                open_index(path, &mut files)?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                index = Some(name.trim_end_matches(".json").trim_end_matches(".index").to_owned());
            } else {
                let name = path.file_name().map_or_else(|| path.clone(), PathBuf::from);
                files.push(CheckpointFile::open(path.clone(), name)?);
            }
        }
        let checkpoint = Self { files, index };
        let (mut seen, mut names) = (BTreeMap::new(), BTreeMap::new());
        for file in &checkpoint.files {
            let other = names.insert(&file.name, &file.path);
            if let Some(other) = other.filter(|&other| other != &file.path) {
                let (a, b) = (other.display(), file.path.display());
                return Err(Failure::said(format_args!("`{a}` and `{b}` have the same name")));
            }
            for tensor in &file.tensors {
                if let Some(other) = seen.insert(&tensor.name, &file.path) {
                    let (a, b) = (other.display(), file.path.display());
                    return Err(Failure::said(format_args!("both `{a}` and `{b}` have a tensor `{}`", tensor.name)));
                }
            }
        }
        Ok(checkpoint)
    }

    /// All tensors, in the order of the files.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.files.iter().flat_map(|file| &file.tensors)
    }
}

/// Opens the files that an index names, and checks that it says of them what they contain.
fn open_index(path: &Path, files: &mut Vec<CheckpointFile>) -> Result<(), Failure> {
    let wrong = |message: String| Failure::said(format_args!("`{}`: {message}", path.display()));
    let failed = |error| read_failure(path, error);
    let text = Source::open(path)?.beginning(INDEX).map_err(failed)?;
    let index = serde_json::from_slice::<Index>(&text).map_err(|error| wrong(format!("no index: {error}")))?;
    let mut by_file = BTreeMap::<&str, Vec<&str>>::new();
    for (tensor, file) in &index.weight_map {
        by_file.entry(file).or_default().push(tensor);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    for (name, listed) in by_file {
        let relative = Path::new(name);
        let stays = !name.is_empty() && relative.components().all(|part| matches!(part, Component::Normal(_)));
        if !stays {
            return Err(wrong(format!("expected names of files in the same folder or below, found {name:?}")));
        }
        let path = folder.join(relative);
        // The user names the index, and not what it names: a pipe would be waited for.
        if std::fs::metadata(&path).is_ok_and(|known| !known.is_file()) {
            return Err(wrong(format!("expected names of files, found {name:?}")));
        }
        let file = CheckpointFile::open(path, relative.to_owned())?;
        let own = file.tensors.iter().map(|own| own.name.as_str()).collect::<BTreeSet<_>>();
        for tensor in &listed {
            if !own.contains(tensor) {
                return Err(wrong(format!("it lists the tensor `{tensor}` in {name:?}, which does not have it")));
            }
        }
        if let Some(more) = file.tensors.iter().find(|own| listed.binary_search(&own.name.as_str()).is_err()) {
            return Err(wrong(format!("it does not list the tensor `{}`, which {name:?} has", more.name)));
        }
        files.push(file);
    }
    Ok(())
}

impl CheckpointFile {
    pub(crate) fn open(path: PathBuf, name: PathBuf) -> Result<Self, Failure> {
        let mut source = Source::open(&path)?;
        let (metadata, start) = safetensors_metadata(&mut source, &path)?;
        let mut tensors = Vec::new();
        for tensor in metadata.offset_keys() {
            let Some(info) = metadata.info(&tensor) else { continue };
            let found = shape_of(&tensor, info);
            let (shape, data) =
                found.map_err(|message| Failure::said(format_args!("`{}`: {message}", path.display())))?;
            let data = start + data.start as u64..start + data.end as u64;
            tensors.push(Tensor { name: tensor, shape, data });
        }
        let known = path.metadata();
        let modified = known.as_ref().ok().and_then(|known| known.modified().ok());
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_nanos());
        let state = format!("{} bytes of {modified}", known.map_or(0, |known| known.len()));
        Ok(Self { path, name, source, tensors, state })
    }

    /// Reads pieces of a region of a tensor, in bytes of the region's row-major order, one after the other; they fill the
    /// buffer.
    pub(crate) fn gather(
        &self,
        tensor: usize,
        region: &Region,
        pieces: impl Iterator<Item = Range<usize>>,
        mut buffer: &mut [u8],
    ) -> Result<(), Failure> {
        let Some(Tensor { shape, data, .. }) = self.tensors.get(tensor) else { return Ok(()) };
        let bytes = shape.element_bits() / 8;
        let sizes = shape.dimensions().iter().map(|d| d.extent().unwrap_or_default()).collect::<Vec<_>>();
        let mut reader = Reader::new(&self.source);
        for piece in pieces {
            let (mut place, end) = (piece.start as u64, piece.end as u64);
            while place < end {
                let run = region.row_major_run(&sizes, place / bytes).unwrap_or_default();
                let length = ((run.end - run.start) * bytes).min(end - place);
                if length == 0 {
                    return Err(Failure::said("a part of a shard is not in its tensor"));
                }
                let start = data.start + run.start * bytes;
                let (room, rest) = buffer.split_at_mut(length as usize);
                reader.add(start, room).map_err(|error| read_failure(&self.path, error))?;
                buffer = rest;
                place += length;
            }
        }
        reader.flush().map_err(|error| read_failure(&self.path, error))
    }
}
