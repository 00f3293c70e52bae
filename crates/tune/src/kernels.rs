//! The kernels of a program: from a dump, or from a program that is compiled to get one.

use crate::Devices;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use xla_shape_answers::kernel::{Kernels, TooLarge};
use xla_shape_core::tpu::Generation;
use xla_shape_files::Error as FilesError;
use xla_shape_pjrt::{Error as PjrtError, Program};
use xla_shape_program::{Compiler, Host, KernelFiles};

/// Where the kernels of one version of a program are.
///
/// ```
/// use xla_shape_program::{Compiler, Host};
/// use xla_shape_tune::{KernelSource, Version, kernels};
///
/// // A directory without the compiler's files has no kernels.
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let folder = tempfile::tempdir()?;
/// let found = kernels(&KernelSource::Dump(folder.path()), &[], &Compiler::default(), &host, Some(Version::New));
/// assert!(found.unwrap_err().to_string().contains("expected files of kernels"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum KernelSource<'a> {
    /// A directory that the compiler filled, for one device.
    Dump(&'a Path),
    /// A program, which is compiled.
    Program {
        /// Its file, as [`Program::from_bytes`] reads it.
        code: &'a [u8],
        /// The directory that keeps the dumps, one for each device.
        keep: Option<&'a Path>,
        /// Whether to ask the compiler even if a kernel's blocks alone need more VMEM than the kernel may use.
        anyway: bool,
    },
}

/// Which of the two versions in a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// The one that the answer is about.
    New,
    /// The version before. It may have no kernels, if XLA itself compiled the same computation.
    Before,
}

/// Why there is no answer about kernels.
///
/// ```
/// use xla_shape_tune::KernelsError;
///
/// assert!(KernelsError::Devices(2).to_string().starts_with("a dump is of one device"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum KernelsError {
    /// The user names several devices, but a dump is from one device.
    Devices(usize),
    /// A directory has no files about kernels.
    Missing(PathBuf),
    /// A dump cannot be read.
    Files(FilesError),
    /// The code is not a program that can be compiled.
    Program(PjrtError),
}

impl fmt::Display for KernelsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Devices(count) => write!(f, "a dump is of one device: expected at most one, found {count}"),
            Self::Missing(path) => f.write_str(&Kernels::missing(path.display())),
            Self::Files(error) => error.fmt(f),
            Self::Program(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for KernelsError {}

/// The kernels of a dump, or of a program that is compiled for each of these devices. If a device's compiler refuses the program, the answer says
/// so. Without a device, the program is compiled for [`Devices::default`]. If two versions are compared, `version` says which one this is.
///
/// # Errors
/// If a dump has no kernels or cannot be read, or the code is not a program.
pub fn kernels(
    source: &KernelSource<'_>,
    devices: &[Devices],
    compiler: &Compiler,
    host: &Host,
    version: Option<Version>,
) -> Result<Kernels, KernelsError> {
    let mut answer = Kernels::default();
    match *source {
        KernelSource::Dump(folder) => {
            if devices.len() > 1 {
                return Err(KernelsError::Devices(devices.len()));
            }
            let generation = devices.first().and_then(Devices::generation);
            let xla = add(&mut answer, None, generation, folder, version).map_err(KernelsError::Files)?;
            if answer.is_empty() && !(version == Some(Version::Before) && xla > 0) {
                return Err(KernelsError::Missing(folder.to_owned()));
            }
        }
        KernelSource::Program { code, keep, anyway } => {
            let program = Program::from_bytes(code).map_err(KernelsError::Program)?;
            let default = [Devices::default()];
            for named in if devices.is_empty() { &default } else { devices } {
                // Check this before a directory for the dump is made.
                if let (false, Some(generation)) = (anyway || compiler.limits_vmem(), named.generation())
                    && let Some(found) = too_large(program.code(), generation)
                {
                    answer.refused(&named.name, &format!("{found} {NOT_ASKED}"));
                    continue;
                }
                let compile = |folder: &Path| {
                    let target = named.target.as_ref().map_err(Clone::clone)?;
                    let done = compiler.compile_dumping(&AtomicBool::new(false), host, target, program.code(), folder);
                    Ok(done.map(drop).map_err(|error| error.to_string()))
                };
                if let Err(message) = add_compiled(&mut answer, named, keep, version, compile) {
                    answer.refused(&named.name, &message);
                }
            }
            answer.note_unlike_memory();
        }
    }
    Ok(answer)
}

/// The text after an error of [`too_large`].
const NOT_ASKED: &str =
    "The compiler was not asked, because it would refuse the program; --anyway (in Python, anyway=True) asks it.";

/// An error if a kernel of a program certainly does not fit. This takes no time; the compiler may need minutes.
pub(crate) fn too_large(program: &[u8], generation: Generation) -> Option<String> {
    let found = str::from_utf8(program).map(|program| TooLarge::find(program, generation)).unwrap_or_default();
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    (!found.is_empty()).then(|| found.join("\n"))
}

/// Adds the kernels that the compiler dumps for a device. `compile` makes the compiler fill a directory. Its outer error means that the compiler was
/// not asked; its inner error, that the compiler refused the program.
fn add_compiled(
    answer: &mut Kernels,
    devices: &Devices,
    keep: Option<&Path>,
    version: Option<Version>,
    compile: impl FnOnce(&Path) -> Result<Result<(), String>, String>,
) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot make a directory for the dump: {error}");
    let temporary;
    let folder = match keep {
        Some(folder) => {
            let folder = folder.join(devices.name.replace(':', "_"));
            std::fs::create_dir(&folder).map_err(cannot)?;
            folder
        }
        None => {
            temporary = tempfile::tempdir().map_err(cannot)?;
            temporary.path().to_owned()
        }
    };
    let done = compile(&folder)?;
    let before = (answer.len(), answer.launches.len());
    // If the compiler refuses the program, the dump has what was written before that: the kernel's vector memory, for example.
    let added = add(answer, Some(&devices.name), devices.generation(), &folder, version);
    // If the program was refused, return that error, and not an error in reading the incomplete dump.
    done?;
    let xla = added.map_err(|error| error.to_string())?;
    if (answer.len(), answer.launches.len()) == before && !(version == Some(Version::Before) && xla > 0) {
        return Err("the compiler dumped no kernel: the program calls none, or the compiler is neither libtpu nor XLA's for GPUs".to_owned());
    }
    Ok(())
}

/// Adds what a dump has. If versions are compared, returns how many of its instructions XLA compiled itself.
fn add(
    answer: &mut Kernels,
    name: Option<&str>,
    generation: Option<Generation>,
    folder: &Path,
    version: Option<Version>,
) -> Result<usize, FilesError> {
    let dump = KernelFiles::open(folder)?;
    answer.add(name, generation, &dump.as_ref().map(KernelFiles::kernels).unwrap_or_default());
    // Only a directory with an optimized module shows the kernels that a GPU launches.
    if let Ok(program) = xla_shape_program::Program::open(folder) {
        answer.add_launches(name, &program);
    }
    let xla = dump.as_ref().filter(|_| version.is_some()).map(KernelFiles::xla_instructions);
    Ok(xla.map_or(0, |xla| answer.add_xla(name, generation, &xla)))
}
