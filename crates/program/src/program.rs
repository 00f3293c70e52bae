//! A program and where it came from.

use crate::named::{generation_in, gpu_in};
#[cfg(feature = "files")]
use crate::profile;
use crate::read::{Contents, Profiled, ReadError, Unread, program_of_hosts, read};
#[cfg(feature = "files")]
use crate::read::{host_of_trace, median_runs, mlir_inside, program_of, unwrapped};
use crate::statistics::Statistics;
use std::collections::BTreeMap;
#[cfg(feature = "files")]
use std::path::{Path, PathBuf};
#[cfg(feature = "files")]
use std::sync::Arc;
use xla_shape_core::gpu::Gpu;
use xla_shape_core::tpu::Generation;
#[cfg(feature = "files")]
use xla_shape_files::{Dump, Error, contents};
#[cfg(feature = "files")]
use xla_shape_hlo::Language;
use xla_shape_hlo::Module;
use xla_shape_hlo::dump::{BufferAssignment, DumpFiles, Launch};
use xla_shape_hlo::profile::{Profile, ProfiledModule};
use xla_shape_hlo::proto::{GpuConfig, thunk_instructions};

/// An XLA program: its module, and what the compiler says about it.
///
/// ```
/// use xla_shape_program::Program;
///
/// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
/// assert_eq!(program.module().name(), Some("m"));
/// let error = Program::read("notes.txt", b"# notes".to_vec()).unwrap_err();
/// assert!(error.to_string().contains("`xla-shape scan FILE` finds the shapes in any text"));
/// # Ok::<(), xla_shape_program::ReadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    module: Module,
    name: String,
    unread: Option<Unread>,
    /// The buffer assignment in the module's own message.
    pub(crate) assignment: Option<BufferAssignment>,
    pub(crate) beside: Beside,
    /// What the program's own file calls its device.
    pub(crate) device: Option<String>,
    /// The GPU that the user names.
    gpu: Option<Gpu>,
    others: Vec<String>,
    profile: Option<Profiled>,
    /// The files of the profile.
    #[cfg(feature = "files")]
    files: Vec<PathBuf>,
}

/// What the compiler says about a program outside of its module.
#[derive(Clone, Debug)]
pub(crate) enum Beside {
    Nothing,
    /// Files on disk, which are read when they are needed.
    #[cfg(feature = "files")]
    Dump(Dump),
    /// Files that were given with their contents.
    Files(DumpFiles, BTreeMap<String, Vec<u8>>),
    /// A memory analysis, and its name in notes.
    Analysis(String, Statistics),
}

/// A program in the form in which the user has it: compiled, or as the source that a compiler takes.
///
/// ```
/// use xla_shape_program::Opened;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("p.mlir");
/// std::fs::write(&path, "module @jit_f {}")?;
/// assert!(matches!(Opened::open(&path)?, Opened::Source { bytes, .. } if bytes == b"module @jit_f {}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "files")]
#[derive(Clone, Debug)]
pub enum Opened {
    /// An HLO module. It may be compiled already, so its own figures count.
    Program(Box<Program>),
    /// A program in a dialect of MLIR.
    Source {
        /// Its file.
        path: PathBuf,
        /// What the file contains.
        bytes: Vec<u8>,
    },
}

#[cfg(feature = "files")]
impl Opened {
    /// Opens a file, or the largest optimized module of a directory; `-` is standard input.
    ///
    /// ```
    /// use xla_shape_program::Opened;
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("m.hlo"), "HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// assert!(matches!(Opened::open(folder.path().join("m.hlo"))?, Opened::Program(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a file cannot be read, a directory has no optimized module, or the file is neither MLIR nor a module.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_module(path, None)
    }

    /// Like [`open`](Self::open), but `module` names a module of a profile, with or without the number of its program.
    ///
    /// ```
    /// use xla_shape_program::Opened;
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("m.hlo"), "HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// let error = Opened::open_module(folder.path().join("m.hlo"), Some("jit_f")).unwrap_err();
    /// assert!(error.to_string().ends_with("this is no profile, so it has no modules to choose from"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`open`](Self::open). Also if `module` is given and the path is not a profile, or if none or several of its modules have
    /// this name.
    pub fn open_module(path: impl AsRef<Path>, module: Option<&str>) -> Result<Self, OpenError> {
        Self::open_with(path, module, &mut |_, _| ())
    }

    /// Like [`open_module`](Self::open_module), but while a profile is read, `progress` gets the number of bytes read so far, and of
    /// all bytes.
    ///
    /// # Errors
    /// Those of [`open_module`](Self::open_module).
    pub fn open_with(
        path: impl AsRef<Path>,
        module: Option<&str>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, OpenError> {
        if let Some(program) = Program::of_files(path.as_ref(), module, progress)? {
            return Ok(Self::Program(Box::new(program)));
        }
        let dump = Dump::find(path).map_err(OpenError::Files)?;
        let bytes = contents(dump.module()).map_err(OpenError::Files)?;
        let path = || dump.module().to_owned();
        if Language::of(&bytes) == Some(Language::Mlir) {
            return Ok(Self::Source { path: path(), bytes });
        }
        if let Some(inside) = mlir_inside(&bytes) {
            return Ok(Self::Source { path: path(), bytes: inside.into_bytes() });
        }
        Program::of_dump(dump, bytes).map(|program| Self::Program(Box::new(program)))
    }

    /// The bytes of a program for a compiler, from a file or from the largest module of a directory. If the program is in a Markdown fence, in a
    /// log or in a string, only the program is returned. Protobuf's text format becomes the message. `-` is standard input.
    ///
    /// ```
    /// use xla_shape_program::Opened;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("issue.md");
    /// std::fs::write(&path, "```mlir\nmodule @jit_f {\n  func.func public @main() {\n  }\n}\n```\n")?;
    /// assert!(Opened::source(&path)?.starts_with(b"module @jit_f {"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a file cannot be read, a directory has no optimized module, or protobuf's text is broken. The compiler decides whether the bytes are a
    /// program.
    pub fn source(path: impl AsRef<Path>) -> Result<Vec<u8>, OpenError> {
        let dump = Dump::find(path).map_err(OpenError::Files)?;
        let bytes = contents(dump.module()).map_err(OpenError::Files)?;
        unwrapped(&dump.module().display().to_string(), bytes).map_err(OpenError::Read)
    }
}

/// Why a program cannot be opened.
///
/// ```
/// use xla_shape_program::{OpenError, Program};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("notes.txt");
/// assert!(matches!(Program::open(&path), Err(OpenError::Files(_))), "it does not exist");
/// std::fs::write(&path, "# notes")?;
/// assert!(matches!(Program::open(&path), Err(OpenError::Read(_))), "it is not a module");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "files")]
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// A file cannot be read, or a directory has no module.
    Files(Error),
    /// The file is not a module, or nothing of it can be read.
    Read(ReadError),
}

#[cfg(feature = "files")]
impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Files(error) => error.fmt(f),
            Self::Read(error) => error.fmt(f),
        }
    }
}

#[cfg(feature = "files")]
impl std::error::Error for OpenError {}

impl Program {
    /// Opens a file, the largest optimized module of a directory, or a profile in a directory; `-` is standard input. The compiler's files
    /// beside the module are read when [`memory`](Self::memory) needs them.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("m.after_optimizations.txt"), "HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// std::fs::write(folder.path().join("stats.json"), "{\"argument_size_in_bytes\": 32, \"temp_size_in_bytes\": 64}")?;
    /// let program = Program::open(folder.path())?;
    /// assert_eq!(program.memory(None).timeline().unwrap().account().device.temporaries, 64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a file cannot be read, a directory has no optimized module, or the file is not a module.
    #[cfg(feature = "files")]
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_module(path, None)
    }

    /// Like [`open`](Self::open), but `module` names a module of a profile, with or without the number of its program. Without a name, the
    /// program is the module that took the most time.
    ///
    /// ```
    /// use xla_shape_program::{OpenError, Program, ReadError};
    ///
    /// // A profile without modules.
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("host.xplane.pb");
    /// std::fs::write(&path, [&[0x0a, 16, 0x12, 14], &b"/host:metadata"[..]].concat())?;
    /// let error = Program::open_module(&path, Some("jit_f")).unwrap_err();
    /// assert!(matches!(error, OpenError::Read(ReadError::NoModule { modules, .. }) if modules.is_empty()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`open`](Self::open). Also if `module` is given and the path is not a profile, or if none or several of its modules have
    /// this name.
    #[cfg(feature = "files")]
    pub fn open_module(path: impl AsRef<Path>, module: Option<&str>) -> Result<Self, OpenError> {
        Self::open_with(path, module, &mut |_, _| ())
    }

    /// Like [`open_module`](Self::open_module), but while a profile is read, `progress` gets the number of bytes read so far, and of
    /// all bytes.
    ///
    /// # Errors
    /// Those of [`open_module`](Self::open_module).
    #[cfg(feature = "files")]
    pub fn open_with(
        path: impl AsRef<Path>,
        module: Option<&str>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, OpenError> {
        if let Some(program) = Self::of_files(path.as_ref(), module, progress)? {
            return Ok(program);
        }
        let dump = Dump::find(path).map_err(OpenError::Files)?;
        let bytes = contents(dump.module()).map_err(OpenError::Files)?;
        Self::of_dump(dump, bytes)
    }

    /// The program of a profile; `None` if the path stands for something else.
    #[cfg(feature = "files")]
    fn of_files(
        path: &Path,
        module: Option<&str>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Option<Self>, OpenError> {
        let name = path.display().to_string();
        let Some(files) = profile::profile_files(path) else {
            let what = "this is no profile, so it has no modules to choose from";
            return module.map_or(Ok(None), |_| Err(OpenError::Read(ReadError::Form { name, what })));
        };
        let mut found = Profile::default();
        Self::add_files(&mut found, &files, progress)?;
        let contents = program_of(&name, Arc::new(found), module).map_err(OpenError::Read)?;
        Ok(Some(Self { files, ..Self::of_contents(&name, contents) }))
    }

    #[cfg(feature = "files")]
    fn add_files(
        profile: &mut Profile,
        files: &[PathBuf],
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), OpenError> {
        let length = |file: &PathBuf| file.metadata().map_or(0, |file| file.len());
        let all = files.iter().map(length).fold(0, u64::saturating_add);
        let mut before = 0_u64;
        for file in files {
            progress(before, all);
            profile::add(profile, file, &mut |done| progress(before.saturating_add(done), all))
                .map_err(OpenError::Files)?
                .map_err(|error| OpenError::Read(ReadError::Profile { name: file.display().to_string(), error }))?;
            before = before.saturating_add(length(file));
        }
        Ok(())
    }

    /// Reads the profile again, and keeps at most this many events of one run on each device. On the first device, it is the run with the median
    /// time; on every other device, the run with the same number. `None` if the program was not opened from a profile's files.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/v6e.xplane.pb");
    /// let events = Program::open(path)?.events_of_run(1000)?.unwrap();
    /// assert_eq!(events.events()[0].events[0].duration, 75_785_000);
    /// # Ok::<(), xla_shape_program::OpenError>(())
    /// ```
    ///
    /// # Errors
    /// If a file cannot be read any more.
    #[cfg(feature = "files")]
    pub fn events_of_run(&self, most: usize) -> Result<Option<Profile>, OpenError> {
        let Some((profile, module)) = self.profile().zip(self.measured()).filter(|_| !self.files.is_empty()) else {
            return Ok(None);
        };
        let mut events = profile.keeping(module, &median_runs(module.runs()), most);
        Self::add_files(&mut events, &self.files, &mut |_, _| ())?;
        Ok(Some(events))
    }

    #[cfg(feature = "files")]
    fn of_dump(dump: Dump, bytes: Vec<u8>) -> Result<Self, OpenError> {
        let program = Self::read(&dump.module().display().to_string(), bytes).map_err(OpenError::Read)?;
        let others = program.others.iter().chain(dump.others()).cloned().collect();
        Ok(Self { others, beside: Beside::Dump(dump), ..program })
    }

    /// Reads a module, as text or as one of XLA's messages: a module, a program, a snapshot of a run, or a profile. Of a profile, it takes the
    /// module that took the most time. `name` is the file's name for errors.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let text = "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  q = f32[8}\n  ROOT n = f32[8] negate(p)\n}";
    /// let program = Program::read("m.hlo", text.into())?;
    /// assert!(program.unread().unwrap().to_string().starts_with("warning: 1 of 3 instructions could not be read"));
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are not a module, or nothing of it can be read.
    pub fn read(name: &str, bytes: Vec<u8>) -> Result<Self, ReadError> {
        Ok(Self::of_contents(name, read(name, bytes)?))
    }

    /// The program of the profiles of several hosts; `name` names them for errors.
    pub(crate) fn of_hosts(name: &str, hosts: &[&[u8]]) -> Result<Self, ReadError> {
        Ok(Self::of_contents(name, program_of_hosts(name, hosts)?))
    }

    fn of_contents(name: &str, contents: Contents) -> Self {
        let Contents { module, unread, assignment, device, others, profile } = contents;
        Self { name: name.to_owned(), unread, assignment, device, others, profile, ..Self::from(module) }
    }

    /// The profile that it was opened from.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
    /// assert!(program.profile().is_none() && program.measured().is_none());
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    #[must_use]
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref().map(|profiled| &*profiled.profile)
    }

    /// The path of the profile that was read, if the program was opened by another path: that of a trace for viewers
    /// in the same directory.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let profile = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/train.xplane.pb"));
    /// std::fs::write(folder.path().join("host.xplane.pb"), profile)?;
    /// std::fs::write(folder.path().join("host.trace.json.gz"), "")?;
    /// let program = Program::open(folder.path().join("host.trace.json.gz"))?;
    /// assert_eq!(program.instead_of_trace(), Some(&*folder.path().join("host.xplane.pb")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "files")]
    #[must_use]
    pub fn instead_of_trace(&self) -> Option<&Path> {
        host_of_trace(&self.name)?;
        self.files.first().map(PathBuf::as_path)
    }

    /// What the profile measured of this program.
    #[must_use]
    pub fn measured(&self) -> Option<&ProfiledModule> {
        self.profile.as_ref()?.module()
    }

    /// The same program with the compiler's files beside its module: `files` names them, and `read` returns their contents. If a file
    /// cannot be read, it is left out, and a note of [`memory`](Self::memory) says so.
    ///
    /// ```
    /// use xla_shape_hlo::dump::DumpFiles;
    /// use xla_shape_program::Program;
    ///
    /// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
    /// let files = DumpFiles { statistics: Some("stats.json".to_owned()), ..DumpFiles::default() };
    /// let program = program.with_files(files, |_| Some(b"{\"generated_code_size_in_bytes\": 7}".to_vec()));
    /// assert_eq!(program.memory(None).files(), ["stats.json"]);
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    #[must_use]
    pub fn with_files(self, files: DumpFiles, mut read: impl FnMut(&str) -> Option<Vec<u8>>) -> Self {
        let of_compiler = [&files.proto, &files.buffer_assignment, &files.live_range, &files.memory_usage_report];
        let of_gpu = [&files.target_config, &files.thunk_sequence, &files.thunk_metadata];
        let names = of_compiler.into_iter().chain(of_gpu).chain([&files.statistics]);
        let found = names.flatten().filter_map(|name| Some((name.clone(), read(name)?))).collect();
        Self { beside: Beside::Files(files, found), ..self }
    }

    /// The same program with the compiler's memory analysis, in place of files beside its module. `name` is what notes call it.
    ///
    /// ```
    /// use xla_shape_program::{Program, Statistics};
    ///
    /// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
    /// let other = Statistics::parse(b"{\"argument_size_in_bytes\": 7}").unwrap();
    /// let program = program.with_statistics("stats.json", other);
    /// assert!(program.memory(None).notes()[0].starts_with("`stats.json` is ignored: it is of another program"));
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    #[must_use]
    pub fn with_statistics(self, name: &str, statistics: Statistics) -> Self {
        Self { beside: Beside::Analysis(name.to_owned(), statistics), ..self }
    }

    /// The same program without what the compiler says about it, so that its memory is estimated.
    ///
    /// ```
    /// use xla_shape_program::{Program, Statistics};
    ///
    /// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
    /// let program = program.with_statistics("s", Statistics::parse(b"{\"temp_size_in_bytes\": 4}").unwrap());
    /// assert!(program.memory(None).statistics().is_some() && program.estimated().memory(None).statistics().is_none());
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    #[must_use]
    pub fn estimated(self) -> Self {
        Self { beside: Beside::Nothing, assignment: None, ..self }
    }

    /// Its module. If only some instructions of a text could be read, the module has only those.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
    /// assert_eq!(program.module().instructions().len(), 1);
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    #[must_use]
    pub const fn module(&self) -> &Module {
        &self.module
    }

    /// The name of its file; empty if it has none.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
    /// assert_eq!(program.name(), "m.hlo");
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The generation of the TPU that it is for, if the module, the profile around it or the name of its file or folder shows it.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_program::Program;
    ///
    /// let text = b"HloModule m\nENTRY e { ROOT p = f32[8]{0:T(128)} parameter(0) }";
    /// assert_eq!(Program::read("train__v6e/after.hlo", text.to_vec())?.generation(), Some(Generation::V6e));
    /// assert_eq!(Program::read("after.hlo", text.to_vec())?.generation(), None);
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    #[must_use]
    pub fn generation(&self) -> Option<Generation> {
        let named = || generation_in(&self.name).filter(|_| self.module.is_for_tpu());
        let of_profile = || self.device.as_deref().and_then(Generation::from_name);
        self.module.shown_generation().or_else(of_profile).or_else(named)
    }

    /// The GPU that the program is for. The first of these that names one decides: the user, the compiler's description in the directory
    /// of the dump (`gpu_target_config.pbtxt`), the profile that has the program, the name of its file or folder. `None` if none of them
    /// does.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    /// use xla_shape_program::Program;
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("after.hlo"), "HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// let config = "device_description_str: \"NVIDIA H100 80GB HBM3\"";
    /// std::fs::write(folder.path().join("gpu_target_config.pbtxt"), config)?;
    /// assert_eq!(Program::open(folder.path())?.gpu(), Some(Gpu::H100Sxm));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn gpu(&self) -> Option<Gpu> {
        let of_profile = || self.device.as_deref().and_then(Gpu::from_name);
        let named = || gpu_in(&self.name).filter(|_| self.module.is_for_gpu());
        self.gpu.or_else(|| self.gpu_config()?.gpu()).or_else(of_profile).or_else(named)
    }

    /// Says which GPU the program is for, because a module alone does not say it.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    /// use xla_shape_program::Program;
    ///
    /// let mut program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
    /// program.set_gpu(Gpu::L4);
    /// assert_eq!(program.gpu(), Some(Gpu::L4));
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    pub const fn set_gpu(&mut self, gpu: Gpu) {
        self.gpu = Some(gpu);
    }

    /// The compiler's description of the GPU that it is for, if it is in the directory of the dump (`gpu_target_config.pbtxt`).
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("after.hlo"), "HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// std::fs::write(folder.path().join("gpu_target_config.pbtxt"), "gpu_device_info { device_memory_size: 8589934592 }")?;
    /// assert_eq!(Program::open(folder.path())?.gpu_config().unwrap().memory_bytes(), Some(8 << 30));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn gpu_config(&self) -> Option<GpuConfig> {
        GpuConfig::parse(&self.beside(|files| files.target_config.as_ref())?).ok()
    }

    /// The text of a file beside the module; `None` if it is not there or cannot be read.
    fn beside(&self, file: impl Fn(&DumpFiles) -> Option<&String>) -> Option<String> {
        let bytes = match &self.beside {
            #[cfg(feature = "files")]
            Beside::Dump(dump) => dump.read(file(dump.files())?).ok()?,
            Beside::Files(files, found) => found.get(file(files)?)?.clone(),
            Beside::Nothing | Beside::Analysis(..) => return None,
        };
        String::from_utf8(bytes).ok()
    }

    /// The steps that a GPU runs for the program, and the name of each step's instruction by the step's number. Both come from the compiler's
    /// files in the directory of the dump (`thunk_sequence.txt`, `thunk_metadata.txt`), and are empty without them. Parts of these files that
    /// cannot be read are left out.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("after.hlo"), "HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// std::fs::write(folder.path().join("thunk_sequence.txt"), "001: kCopy [source | sink] kCopy")?;
    /// let (steps, names) = Program::open(folder.path())?.launches();
    /// assert_eq!((steps[0].kind.as_str(), names.len()), ("Copy", 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn launches(&self) -> (Vec<Launch>, BTreeMap<u32, String>) {
        let steps = self.beside(|files| files.thunk_sequence.as_ref()).and_then(|text| Launch::parse_all(&text).ok());
        let names = self.beside(|files| files.thunk_metadata.as_ref());
        let names = names.and_then(|text| thunk_instructions(&text).ok());
        (steps.unwrap_or_default(), names.unwrap_or_default())
    }

    /// Which instructions could not be read; `None` if all were.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
    /// assert!(program.unread().is_none());
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    #[must_use]
    pub const fn unread(&self) -> Option<&Unread> {
        self.unread.as_ref()
    }

    /// The names of the other modules in its directory or in its profile.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let text = "HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }";
    /// std::fs::write(folder.path().join("a.after.hlo"), text)?;
    /// std::fs::write(folder.path().join("b.after.hlo"), format!("{text}\n"))?;
    /// assert_eq!(Program::open(folder.path())?.others(), ["a.after.hlo"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn others(&self) -> &[String] {
        &self.others
    }

    /// The same program, with the names of the other modules in its directory.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
    /// assert_eq!(program.with_others(vec!["n.hlo".to_owned()]).others(), ["n.hlo"]);
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    #[must_use]
    pub fn with_others(self, others: Vec<String>) -> Self {
        Self { others, ..self }
    }

    /// All files that may be read for it, the module's first; none if it was not opened from a file.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("m.hlo");
    /// std::fs::write(&path, "HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// assert_eq!(Program::open(&path)?.paths(), [path]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "files")]
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        if let Beside::Dump(dump) = &self.beside { dump.paths().collect() } else { self.files.clone() }
    }
}

/// A module alone, without files of the compiler.
impl From<Module> for Program {
    fn from(module: Module) -> Self {
        let (name, others) = Default::default();
        Self {
            module,
            name,
            unread: None,
            assignment: None,
            beside: Beside::Nothing,
            device: None,
            gpu: None,
            others,
            profile: None,
            #[cfg(feature = "files")]
            files: Vec::new(),
        }
    }
}
