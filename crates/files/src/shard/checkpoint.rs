//! Checkpoints: `.safetensors` files, one or several, or an index that says which file has which tensor; whole, or divided among devices.

use super::plan::{ShardPlan, ShardRule};
use super::stored::{Described, Place, Tensor};
use super::{Shards, output_name};
use crate::access::{Closed, Source};
use crate::error::{Error, FileError};
use crate::format::{Note, Notes, OtherTensor, read_header, shape_of};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};
use xla_shape::ArrayShape;

/// The tensors of one or several `.safetensors` files. Only the headers are read at first.
pub struct Checkpoint {
    pub(super) files: Vec<CheckpointFile>,
    /// The stem of the index, if there is one.
    pub(super) index: Option<String>,
    /// The paths that were given, including that of an index.
    pub(super) inputs: Vec<PathBuf>,
    /// Whether the checkpoint may have other files, so that a rule without a tensor here is not an error.
    is_part: bool,
}

/// A file with tensors, or the files that the devices have in its place.
pub(super) struct CheckpointFile {
    /// Its name, with folders only where an index has them, and without a device.
    pub(super) name: PathBuf,
    /// One file, or the files of the devices, in the order of the devices' numbers.
    parts: Vec<PartFile>,
    /// In the order of the files.
    pub(super) tensors: Vec<Tensor>,
}

/// One of the files.
struct PartFile {
    path: PathBuf,
    source: Result<Closed, Source>,
}

/// The files of a [`CheckpointFile`] while they are read. Each is open only while a slab is read from it, because a process may not have
/// as many files open as a tensor can have parts.
pub(super) struct Opened<'a> {
    file: &'a CheckpointFile,
}

/// A file that is open.
pub(super) enum Held<'a> {
    /// A pipe, which stays open.
    Pipe(&'a Source),
    /// A file that is closed again.
    File(Source),
}

impl Deref for Held<'_> {
    type Target = Source;

    fn deref(&self) -> &Source {
        match self {
            Self::Pipe(source) => source,
            Self::File(source) => source,
        }
    }
}

/// A file of which the header was read.
struct Header {
    path: PathBuf,
    name: PathBuf,
    source: Result<Closed, Source>,
    /// The device whose shards it has, and what it says about them.
    notes: Option<Notes>,
    /// In the order of the file.
    tensors: Vec<Stored>,
}

/// A tensor in a file: its name, its shape as the format has it, and the byte of the file at which it begins.
type Stored = (String, ArrayShape, u64);

/// The index that comes with a model of several files.
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
    metadata: Option<IndexMetadata>,
}

/// What [`Shards`] adds to the metadata of an index.
#[derive(Deserialize)]
struct IndexMetadata {
    /// The files that have no tensors, but name those of other devices.
    #[serde(default)]
    empty_files: Vec<String>,
}

/// The most bytes of an index that are read.
const INDEX: u64 = 100_000_000;

impl Checkpoint {
    /// Opens the files, and reads what they contain. A file whose name ends in `.json` is an index, which names the files.
    ///
    /// Files that [`Shards`] has written are parts of a checkpoint, as their headers say: those of all devices must be given.
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
    /// - Files of devices do not belong together, or the file of a device is missing.
    /// - Two tensors have the same name, or two files have the same name, with or without their extensions.
    pub fn open(paths: impl IntoIterator<Item: AsRef<Path>>) -> Result<Self, Error> {
        let inputs = paths.into_iter().map(|path| path.as_ref().to_owned()).collect::<Vec<_>>();
        let (mut headers, mut was_empty) = (Vec::new(), true);
        let mut index = None::<(&PathBuf, String)>;
        for path in &inputs {
            if path.extension().is_some_and(|extension| extension == "json") {
                let first = headers.len();
                open_index(path, &mut headers)?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let stem = name.trim_end_matches(".json").trim_end_matches(".index");
                // An index without files does not say which device it belongs to.
                let is_empty = headers.len() == first;
                let device = headers.get(first).and_then(Header::device);
                let stem = without_device(stem, device).to_owned();
                match &index {
                    Some((first, known)) if !is_empty && !was_empty && *known != stem => {
                        return Err(Error::OtherIndex { first: (*first).clone(), second: path.clone() });
                    }
                    Some(_) if is_empty || !was_empty => {}
                    _ => (index, was_empty) = (Some((path, stem)), is_empty),
                }
            } else {
                let name = path.file_name().map_or_else(|| path.clone(), PathBuf::from);
                headers.push(Header::open(path.clone(), name)?);
            }
        }
        let index = index.map(|(_, stem)| stem);
        let checkpoint = Self { files: CheckpointFile::all(headers)?, index, inputs, is_part: false };
        let (mut seen, mut names) = (BTreeMap::new(), BTreeMap::new());
        let both = |first: &PathBuf, second: &PathBuf| (first.clone(), second.clone());
        for file in &checkpoint.files {
            let other = names.insert(&file.name, file.path());
            if let Some(other) = other.filter(|&other| other != file.path()) {
                let (first, second) = both(other, file.path());
                return Err(Error::SameName { first, second });
            }
            for tensor in &file.tensors {
                if let Some(other) = seen.insert(&tensor.name, file.path()) {
                    let (first, second) = both(other, file.path());
                    return Err(Error::SameTensor { tensor: tensor.name.clone(), first, second });
                }
            }
        }
        let mut outputs = HashMap::new();
        for file in &checkpoint.files {
            // If two files have the same name for device 0, they have it for every device.
            if let Some(other) = outputs.insert(output_name(&file.name, 0), file.path()) {
                let (first, second) = both(other, file.path());
                return Err(Error::SameShards { first, second });
            }
        }
        Ok(checkpoint)
    }

    /// Opens one file of a checkpoint, or the files that devices have in its place. `name` is the file's name in the checkpoint, as an index
    /// writes it: with folders, if the index has them, and without the number of a device. The plan may have rules for tensors of other files.
    ///
    /// ```
    /// use xla_shape_files::{Checkpoint, ShardPlan, write_array};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("w.safetensors");
    /// write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// let plan = ShardPlan::parse(br#"{ "w": "{devices=[2]<=[2]}", "of another file": "{replicated}" }"#)?;
    /// assert!(Checkpoint::open([&path])?.check(&plan).is_err());
    /// assert!(Checkpoint::open_part([&path], "w.safetensors")?.check(&plan).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a file cannot be read, or is not a `.safetensors` file; if the files are not those of all devices.
    pub fn open_part(paths: impl IntoIterator<Item: AsRef<Path>>, name: impl AsRef<Path>) -> Result<Self, Error> {
        let inputs = paths.into_iter().map(|path| path.as_ref().to_owned()).collect::<Vec<_>>();
        let headers = inputs.iter().map(|path| Header::open(path.clone(), name.as_ref().to_owned()));
        let files = CheckpointFile::all(headers.collect::<Result<_, _>>()?)?;
        match files.as_slice() {
            [first, second, ..] => {
                let (first, second) = (first.path().clone(), second.path().clone());
                Err(Error::SameName { first, second })
            }
            _ => Ok(Self { files, index: None, inputs, is_part: true }),
        }
    }

    /// The files in order, each with its paths and its name in the checkpoint. It has several paths if each device has a part of it.
    /// [`open_part`](Self::open_part) takes the paths and the name.
    ///
    /// ```
    /// # use xla_shape_files::{Checkpoint, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// let checkpoint = Checkpoint::open([&path])?;
    /// assert_eq!(checkpoint.files().next(), Some((vec![&*path], "w.safetensors".as_ref())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn files(&self) -> impl Iterator<Item = (Vec<&Path>, &Path)> {
        self.files.iter().map(|file| (file.parts.iter().map(|part| &*part.path).collect(), file.name.as_path()))
    }

    /// The names and shapes of the tensors, whole and row-major, in the order of the files.
    ///
    /// ```
    /// # use xla_shape_files::{Checkpoint, write_array};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("w.safetensors");
    /// # write_array(&path, &"u8[4]".parse()?, Some("w"), &[1, 2, 3, 4])?;
    /// let checkpoint = Checkpoint::open([&path])?;
    /// let tensors: Vec<_> = checkpoint.tensors().map(|(name, shape)| format!("{name}: {shape}")).collect();
    /// assert_eq!(tensors, ["w: u8[4]{0}"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &ArrayShape)> {
        self.places().map(|(name, shape, _)| (name, shape))
    }

    /// The tensors, each with two numbers: of its file, and of the tensor in that file.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&str, &ArrayShape, (usize, usize))> {
        self.files.iter().enumerate().flat_map(|(file, contents)| {
            let tensors = contents.tensors.iter().enumerate();
            tensors.map(move |(number, tensor)| (tensor.name.as_str(), &tensor.shape, (file, number)))
        })
    }

    /// Checks that a plan has a rule for each tensor, and the checkpoint a tensor for each rule. Whether a rule can be followed for
    /// a device is checked by [`shards`](Self::shards).
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
    /// If a tensor has no rule or a rule no tensor, if a rule cannot be followed for this device, or if a file to write is also read, because
    /// it is the plan, the index, or another file of the checkpoint.
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
fn open_index(path: &Path, files: &mut Vec<Header>) -> Result<(), Error> {
    let wrong = |error| Error::file(path, error);
    let failed = |error| Error::read(path, error);
    let text = Source::open(path)?.beginning(INDEX).map_err(failed)?;
    let index = serde_json::from_slice::<Index>(&text).map_err(|error| wrong(FileError::NotAnIndex(error.into())))?;
    let mut by_file = BTreeMap::<&str, Vec<&str>>::new();
    for (tensor, file) in &index.weight_map {
        by_file.entry(file).or_default().push(tensor);
    }
    for file in index.metadata.iter().flat_map(|metadata| &metadata.empty_files) {
        by_file.entry(file).or_default();
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
        let file = Header::open(path, relative.to_owned())?;
        let own = file.tensors.iter().map(|(own, ..)| own.as_str()).collect::<BTreeSet<_>>();
        for tensor in &listed {
            if !own.contains(tensor) {
                let (tensor, file) = ((*tensor).to_owned(), name.to_owned());
                return Err(wrong(FileError::TensorNotInFile { tensor, file }));
            }
        }
        if let Some(more) = file.tensors.iter().find(|(own, ..)| listed.binary_search(&own.as_str()).is_err()) {
            let (tensor, file) = (more.0.clone(), name.to_owned());
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

impl Header {
    fn open(path: PathBuf, name: PathBuf) -> Result<Self, Error> {
        let mut source = Source::open(&path)?;
        let (metadata, start) = read_header(&mut source, &path)?;
        let wrong = |error| Error::file(&path, error);
        let notes = Notes::of(&metadata).map_err(wrong)?;
        let mut tensors = Vec::new();
        for tensor in metadata.offset_keys() {
            let Some(info) = metadata.info(&tensor) else { continue };
            let (shape, data) = shape_of(&tensor, info).map_err(wrong)?;
            tensors.push((tensor, shape, start + data.start as u64));
        }
        let source = Closed::new(source).map_err(|error| Error::read(&path, error))?;
        Ok(Self { path, name, source, notes, tensors })
    }

    fn device(&self) -> Option<i64> {
        self.notes.as_ref().map(|notes| notes.device)
    }

    /// Its name in the checkpoint.
    fn whole_name(&self) -> PathBuf {
        let Some(device) = self.device() else { return self.name.clone() };
        let stem = self.name.file_stem().unwrap_or_default().to_string_lossy();
        self.name.with_file_name(format!("{}.safetensors", without_device(&stem, Some(device))))
    }
}

impl CheckpointFile {
    /// Groups headers: the files of devices that have the same name without the device's number are one file of the checkpoint.
    fn all(headers: Vec<Header>) -> Result<Vec<Self>, Error> {
        let mut groups = Vec::<(PathBuf, Vec<Header>)>::new();
        let mut numbers = HashMap::<PathBuf, usize>::new();
        for header in headers {
            let name = header.whole_name();
            match header.device().and_then(|_| numbers.get(&name)) {
                Some(&number) => groups[number].1.push(header),
                None => {
                    if header.device().is_some() {
                        numbers.insert(name.clone(), groups.len());
                    }
                    groups.push((name, vec![header]));
                }
            }
        }
        groups.into_iter().map(|(name, headers)| Self::new(name, headers)).collect()
    }

    fn new(name: PathBuf, mut headers: Vec<Header>) -> Result<Self, Error> {
        // What is written does not depend on the order in which the files were named.
        headers.sort_by_key(Header::device);
        let mut file = Self { name, parts: Vec::new(), tensors: Vec::new() };
        let mut before = None;
        let mut known = HashMap::new();
        for (number, header) in headers.into_iter().enumerate() {
            let Header { path, source, notes, tensors, .. } = header;
            let device = notes.as_ref().map(|notes| notes.device);
            if let (Some(device), true) = (device, device == before) {
                let (first, second) = (file.parts[number - 1].path.clone(), path);
                return Err(Error::SameDevice { device, first, second });
            }
            before = device;
            // Every device's file keeps the order of the undivided file. `others` gives the places of the tensors that only other devices
            // have.
            let (mut tensors, mut place) = (tensors.into_iter(), 0);
            for other in notes.iter().flat_map(|notes| &notes.others) {
                for stored in tensors.by_ref().take(other.place.saturating_sub(place)) {
                    file.add(&mut known, number, &path, stored, notes.as_ref())?;
                }
                place = other.place.saturating_add(1);
                let OtherTensor { name, shape, whole, sharding, .. } = other;
                let note = Described { shape: shape.clone(), whole: whole.clone(), sharding: sharding.clone() };
                file.divided(&mut known, (number, &path), name, note)?;
            }
            for stored in tensors {
                file.add(&mut known, number, &path, stored, notes.as_ref())?;
            }
            file.parts.push(PartFile { path, source });
        }
        for tensor in &file.tensors {
            if let Some(device) = tensor.missing() {
                let (file, tensor) = (file.name, tensor.name.clone());
                return Err(Error::NoDevice { file, tensor, device });
            }
        }
        Ok(file)
    }

    /// Adds the part of a tensor that a file has. `known` maps the name of each tensor so far to its number and the number of a file that
    /// has it.
    fn add(
        &mut self,
        known: &mut HashMap<String, (usize, usize)>,
        number: usize,
        path: &Path,
        (name, stored, start): Stored,
        notes: Option<&Notes>,
    ) -> Result<(), Error> {
        let place = Place { file: number, start };
        let Some(Notes { device, tensors, .. }) = notes else {
            self.tensors.push(Tensor::whole(name, stored, place));
            return Ok(());
        };
        let wrong = |error| Error::file(path, error);
        let note: &Note = tensors.get(&name).ok_or_else(|| wrong(FileError::NoNote { tensor: name.clone() }))?;
        let tensor = self.divided(known, (number, path), &name, Described::of(note))?;
        self.tensors[tensor].add((*device, note), &stored, place).map_err(wrong)
    }

    /// The number of the divided tensor that a file describes: a known tensor, or else a new one.
    fn divided(
        &mut self,
        known: &mut HashMap<String, (usize, usize)>,
        (number, path): (usize, &Path),
        name: &str,
        note: Described,
    ) -> Result<usize, Error> {
        let Some(&(tensor, file)) = known.get(name) else {
            let tensor = self.tensors.len();
            known.insert(name.to_owned(), (tensor, number));
            let divided = Tensor::divided(name.to_owned(), note).map_err(|error| Error::file(path, error))?;
            self.tensors.push(divided);
            return Ok(tensor);
        };
        if !self.tensors[tensor].is_divided_as(&note) {
            // If this file has both descriptions, it is not in `parts` yet: its path is `path`.
            let first = self.parts.get(file).map_or(path, |part| &part.path).to_owned();
            let (second, expected, found) = (path.to_owned(), self.tensors[tensor].described(), note.to_string());
            return Err(Error::OtherTensor { tensor: name.to_owned(), first, expected, second, found });
        }
        Ok(tensor)
    }

    /// The path of the first file.
    fn path(&self) -> &PathBuf {
        // There is at least one.
        &self.parts[0].path
    }

    /// The files, to be read.
    pub(super) fn opened(&self) -> Opened<'_> {
        Opened { file: self }
    }
}

impl Opened<'_> {
    /// A file by its number, and its path.
    pub(super) fn get(&self, number: usize) -> Result<(&Path, Held<'_>), Error> {
        let PartFile { path, source } = &self.file.parts[number];
        let held = match source {
            Err(source) => Held::Pipe(source),
            Ok(closed) => Held::File(closed.open(path).map_err(|error| Error::read(path, error))?),
        };
        Ok((path, held))
    }

    pub(super) fn tensor(&self, number: usize) -> &Tensor {
        &self.file.tensors[number]
    }

    /// The name that the files have in common.
    pub(super) fn name(&self) -> &Path {
        &self.file.name
    }
}

/// The name of a file or an index, without its extension, as it was before the checkpoint was divided.
fn without_device(stem: &str, device: Option<i64>) -> &str {
    let known = device.and_then(|device| stem.strip_suffix(&format!(".device-{device}")));
    known.unwrap_or(stem)
}
