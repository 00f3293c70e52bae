//! Checkpoints: `.safetensors` files, one or several, or an index that says which file has which tensor.

use super::plan::{ShardPlan, ShardRule};
use super::{Shards, output_name};
use crate::access::{Reader, Source};
use crate::error::{Error, FileError};
use crate::format::{read_header, shape_of};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use xla_shape::ArrayShape;
use xla_shape::shard::Region;

/// The tensors of one or several `.safetensors` files. Only the headers are read at first.
pub struct Checkpoint {
    pub(super) files: Vec<CheckpointFile>,
    /// The stem of the index, if there is one.
    pub(super) index: Option<String>,
    /// The paths that were given, including that of an index.
    pub(super) inputs: Vec<PathBuf>,
    /// Whether there may be other files, with tensors that rules are for.
    is_part: bool,
}

/// A file with tensors.
pub(super) struct CheckpointFile {
    pub(super) path: PathBuf,
    /// Its name, with folders only where an index has them.
    pub(super) name: PathBuf,
    source: Source,
    /// In the order of the file.
    pub(super) tensors: Vec<Tensor>,
}

/// A tensor in a file.
pub(super) struct Tensor {
    pub(super) name: String,
    /// Row-major.
    pub(super) shape: ArrayShape,
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
    /// Opens the files, and reads what they contain. A file whose name ends in `.json` is an index, which names the files.
    ///
    /// ```
    /// use xla_shape_files::{Checkpoint, write_array};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("w.safetensors");
    /// write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// assert_eq!(Checkpoint::open([path])?.files().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - A file cannot be read, or is not what its name says.
    /// - An index does not list what is in its files.
    /// - Two tensors have the same name, or two files have, with or without their extensions.
    pub fn open(paths: impl IntoIterator<Item: AsRef<Path>>) -> Result<Self, Error> {
        let inputs = paths.into_iter().map(|path| path.as_ref().to_owned()).collect::<Vec<_>>();
        let mut files = Vec::new();
        let mut index = None;
        for path in &inputs {
            if path.extension().is_some_and(|extension| extension == "json") {
                open_index(path, &mut files)?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                index = Some(name.trim_end_matches(".json").trim_end_matches(".index").to_owned());
            } else {
                let name = path.file_name().map_or_else(|| path.clone(), PathBuf::from);
                files.push(CheckpointFile::open(path.clone(), name)?);
            }
        }
        let checkpoint = Self { files, index, inputs, is_part: false };
        let (mut seen, mut names) = (BTreeMap::new(), BTreeMap::new());
        let both = |first: &PathBuf, second: &PathBuf| (first.clone(), second.clone());
        for file in &checkpoint.files {
            let other = names.insert(&file.name, &file.path);
            if let Some(other) = other.filter(|&other| other != &file.path) {
                let (first, second) = both(other, &file.path);
                return Err(Error::SameName { first, second });
            }
            for tensor in &file.tensors {
                if let Some(other) = seen.insert(&tensor.name, &file.path) {
                    let (first, second) = both(other, &file.path);
                    return Err(Error::SameTensor { tensor: tensor.name.clone(), first, second });
                }
            }
        }
        let mut outputs = HashMap::new();
        for file in &checkpoint.files {
            // If two files have the same name for device 0, they have it for every device.
            if let Some(other) = outputs.insert(output_name(&file.name, 0), &file.path) {
                let (first, second) = both(other, &file.path);
                return Err(Error::SameShards { first, second });
            }
        }
        Ok(checkpoint)
    }

    /// Opens one file of a checkpoint. `name` is its name there, as an index has it: with folders, if the index names them. The plan may
    /// have rules for tensors of other files.
    ///
    /// ```
    /// use xla_shape_files::{Checkpoint, ShardPlan, write_array};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("w.safetensors");
    /// write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// let plan = ShardPlan::parse(br#"{ "w": "{devices=[2]<=[2]}", "of another file": "{replicated}" }"#)?;
    /// assert!(Checkpoint::open([&path])?.check(&plan).is_err());
    /// assert!(Checkpoint::open_part(&path, "w.safetensors")?.check(&plan).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read, or is not a `.safetensors` file.
    pub fn open_part(path: impl AsRef<Path>, name: impl AsRef<Path>) -> Result<Self, Error> {
        let (path, name) = (path.as_ref(), name.as_ref());
        let file = CheckpointFile::open(path.to_owned(), name.to_owned())?;
        Ok(Self { files: vec![file], index: None, inputs: vec![path.to_owned()], is_part: true })
    }

    /// The files in their order: the path of each, and its name in the checkpoint. Both are what [`open_part`](Self::open_part) takes.
    ///
    /// ```
    /// # use xla_shape_files::{Checkpoint, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// let checkpoint = Checkpoint::open([&path])?;
    /// assert_eq!(checkpoint.files().next(), Some((&*path, "w.safetensors".as_ref())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn files(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.files.iter().map(|file| (file.path.as_path(), file.name.as_path()))
    }

    /// Checks that a plan has a rule for each tensor, and the checkpoint a tensor for each rule. Whether what a rule says can be done for
    /// a device, only [`shards`](Self::shards) says.
    ///
    /// ```
    /// # use xla_shape_files::{Checkpoint, ShardPlan, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// let checkpoint = Checkpoint::open([path])?;
    /// assert!(checkpoint.check(&ShardPlan::parse(br#"{ "*": "{devices=[2]<=[2]}" }"#)?).is_ok());
    /// assert!(checkpoint.check(&ShardPlan::parse(br#"{ "v": "{devices=[2]<=[2]}" }"#)?).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Plan`].
    pub fn check(&self, plan: &ShardPlan) -> Result<(), Error> {
        self.rules(plan).map(drop)
    }

    /// What a device needs of the checkpoint, to be written into a folder, which is created if it does not exist. Everything is checked, and
    /// nothing is written yet.
    ///
    /// ```
    /// # use xla_shape_files::{Checkpoint, ShardPlan, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// let plan = ShardPlan::parse(br#"{ "*": "{devices=[2]<=[2]}" }"#)?;
    /// let checkpoint = Checkpoint::open([path])?;
    /// assert!(checkpoint.shards(&plan, 1, folder.path().join("out")).is_ok());
    /// // There are two devices.
    /// assert!(checkpoint.shards(&plan, 2, folder.path().join("out")).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a tensor has no rule or a rule no tensor, a rule cannot be followed for this device, or a file to write is one that is read: one
    /// of the checkpoint, its index, or the plan.
    pub fn shards(&self, plan: &ShardPlan, device: i64, output: impl AsRef<Path>) -> Result<Shards<'_>, Error> {
        Shards::new(self, plan, device, output.as_ref())
    }

    /// The rule for each tensor, in the order of the files.
    pub(super) fn rules<'p>(&self, plan: &'p ShardPlan) -> Result<Vec<&'p ShardRule>, Error> {
        let tensors = self.files.iter().flat_map(|file| &file.tensors);
        plan.rules(tensors.map(|tensor| tensor.name.as_str()), !self.is_part)
    }
}

/// Opens the files that an index names, and checks that it lists the tensors that they have.
fn open_index(path: &Path, files: &mut Vec<CheckpointFile>) -> Result<(), Error> {
    let wrong = |error| Error::file(path, error);
    let failed = |error| Error::read(path, error);
    let text = Source::open(path)?.beginning(INDEX).map_err(failed)?;
    let index = serde_json::from_slice::<Index>(&text).map_err(|error| wrong(FileError::NotAnIndex(error.into())))?;
    let mut by_file = BTreeMap::<&str, Vec<&str>>::new();
    for (tensor, file) in &index.weight_map {
        by_file.entry(file).or_default().push(tensor);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    for (name, listed) in by_file {
        let relative = Path::new(name);
        let stays = !name.is_empty() && relative.components().all(|part| matches!(part, Component::Normal(_)));
        if !stays {
            return Err(wrong(FileError::OutsideOfIndex(name.to_owned())));
        }
        let path = folder.join(relative);
        // The user names the index, not the files in it: opening a pipe would wait for its writer.
        if std::fs::metadata(&path).is_ok_and(|known| !known.is_file()) {
            return Err(wrong(FileError::IndexOfNoFile(name.to_owned())));
        }
        let file = CheckpointFile::open(path, relative.to_owned())?;
        let own = file.tensors.iter().map(|own| own.name.as_str()).collect::<BTreeSet<_>>();
        for tensor in &listed {
            if !own.contains(tensor) {
                let (tensor, file) = ((*tensor).to_owned(), name.to_owned());
                return Err(wrong(FileError::TensorNotInFile { tensor, file }));
            }
        }
        if let Some(more) = file.tensors.iter().find(|own| listed.binary_search(&own.name.as_str()).is_err()) {
            let (tensor, file) = (more.name.clone(), name.to_owned());
            return Err(wrong(FileError::TensorNotInIndex { tensor, file }));
        }
        files.push(file);
    }
    Ok(())
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.files()).finish()
    }
}

impl CheckpointFile {
    fn open(path: PathBuf, name: PathBuf) -> Result<Self, Error> {
        let mut source = Source::open(&path)?;
        let (metadata, start) = read_header(&mut source, &path)?;
        let mut tensors = Vec::new();
        for tensor in metadata.offset_keys() {
            let Some(info) = metadata.info(&tensor) else { continue };
            let (shape, data) = shape_of(&tensor, info).map_err(|error| Error::file(&path, error))?;
            let data = start + data.start as u64..start + data.end as u64;
            tensors.push(Tensor { name: tensor, shape, data });
        }
        Ok(Self { path, name, source, tensors })
    }

    /// Reads pieces of a region of a tensor, in bytes of the region's row-major order, one after the other; they fill the
    /// buffer.
    pub(super) fn gather(
        &self,
        tensor: usize,
        region: &Region,
        pieces: impl Iterator<Item = Range<usize>>,
        mut buffer: &mut [u8],
    ) -> Result<(), Error> {
        let failed = |error| Error::read(&self.path, error);
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
                    // A part of a region that is not in its tensor is not in the file.
                    return Err(failed(ErrorKind::UnexpectedEof.into()));
                }
                let start = data.start + run.start * bytes;
                let (room, rest) = buffer.split_at_mut(length as usize);
                reader.add(start, room).map_err(failed)?;
                buffer = rest;
                place += length;
            }
        }
        reader.flush().map_err(failed)
    }
}
