//! A program compiled for devices that a user names.

use crate::{Left, report_of_refused};
use std::str::FromStr;
use xla_shape_answers::DEFAULT_GENERATION;
use xla_shape_answers::hlo::Device;
use xla_shape_core::tpu::Generation;
use xla_shape_hlo::Module;
use xla_shape_pjrt::{Error, Slice, SliceError, Target, TargetError};
use xla_shape_program::{CompileError, Compiler, CompilerAnswer, Host};

/// TPUs that a program is compiled for, as a user names them.
///
/// ```
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_tune::Tpus;
///
/// let tpus: Tpus = "v5e".parse()?;
/// assert_eq!((tpus.name.as_str(), tpus.generation), ("v5e:2x2", Generation::V5e));
/// assert!(tpus.slice.is_ok() && Tpus::default().name == tpus.name);
/// # Ok::<(), xla_shape_pjrt::SliceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tpus {
    /// Their name, such as v5e:2x2.
    pub name: String,
    /// Their generation.
    pub generation: Generation,
    /// The compiler's name of them, or why the compiler does not know them.
    pub slice: Result<Slice, String>,
}

impl FromStr for Tpus {
    type Err = SliceError;

    fn from_str(text: &str) -> Result<Self, SliceError> {
        match text.parse::<Slice>() {
            Ok(slice) => {
                let chips = slice.to_string();
                let (_, chips) = chips.split_once(':').unwrap_or_default();
                let generation = slice.generation();
                Ok(Self { name: format!("{generation}:{chips}"), generation, slice: Ok(slice) })
            }
            Err(SliceError::Unsupported(generation)) => {
                let error = SliceError::Unsupported(generation).to_string();
                Ok(Self { name: text.to_owned(), generation, slice: Err(error) })
            }
            Err(error) => Err(error),
        }
    }
}

/// Those of one host of the generation that an answer is about if the user names none.
impl Default for Tpus {
    fn default() -> Self {
        let generation = DEFAULT_GENERATION;
        let unknown =
            |error: SliceError| Self { name: generation.to_string(), generation, slice: Err(error.to_string()) };
        generation.name().parse().unwrap_or_else(unknown)
    }
}

/// Devices of any kind that a program is compiled for, as a user names them.
///
/// ```
/// use xla_shape_answers::hlo::Device;
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_tune::Devices;
///
/// let devices: Devices = "v6e".parse()?;
/// assert_eq!((devices.name.as_str(), devices.device), ("v6e:2x2", Some(Device::Generation(Generation::V6e))));
/// assert_eq!("h100".parse::<Devices>()?.name, "h100");
/// # Ok::<(), xla_shape_pjrt::TargetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Devices {
    /// Their name, such as v5e:2x2 or h100:8.
    pub name: String,
    /// What is known of one of them; `None` for a GPU that only its description knows.
    pub device: Option<Device>,
    /// The compiler's name of them, or why the compiler does not know them.
    pub target: Result<Target, String>,
}

impl FromStr for Devices {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        match text.parse::<Target>() {
            Err(TargetError::Slice(SliceError::Unsupported(_))) | Ok(Target::Tpu(_)) => {
                let Tpus { name, generation, slice } = text.parse()?;
                Ok(Self { name, device: Some(Device::Generation(generation)), target: slice.map(Into::into) })
            }
            Ok(Target::Gpu(gpus)) => {
                Ok(Self { name: gpus.to_string(), device: gpus.gpu().map(Device::Gpu), target: Ok(gpus.into()) })
            }
            Err(error) => Err(error),
        }
    }
}

/// What a compiler made of a program for some devices.
///
/// ```
/// use xla_shape_program::{Compiler, Host};
/// use xla_shape_tune::{Devices, Made};
///
/// // Who does not know how to start the program cannot compile.
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let made = "v5e".parse::<Devices>()?.compile(&Compiler::default(), &host, b"module {}", 5, None);
/// assert!(!matches!(made, Ok(Made::Compiled { .. } | Made::Refused { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum Made {
    /// The optimized program.
    Compiled {
        /// What the compiler says about it.
        said: Box<CompilerAnswer>,
        /// The program.
        module: Box<Module>,
    },
    /// Nothing.
    Refused {
        /// What the compiler says.
        message: String,
        /// What takes the memory, if HBM ran out.
        report: Option<Box<Left>>,
    },
}

impl Devices {
    /// What is known of one of the devices. The description of a GPU, if there is one, overrides our own table.
    ///
    /// # Errors
    /// If nothing is known of it, or the description cannot be read.
    pub fn described(&self, compiler: &Compiler) -> Result<Device, Error> {
        let config = match &self.target {
            Ok(Target::Gpu(_)) => compiler.described()?,
            _ => None,
        };
        match config {
            Some(config) => Device::described(&config).ok_or_else(|| Error::Description {
                path: compiler.config.clone().unwrap_or_default(),
                reason: "it has no device_memory_size".to_owned(),
            }),
            None => self.device.ok_or(Error::NoDescription),
        }
    }

    /// Compiles a program for these devices. A report on one that is refused has lists with at most `top` entries, of one memory space if `space`
    /// names it.
    ///
    /// # Errors
    /// If there is no compiler: for no device then.
    pub fn compile(
        &self,
        compiler: &Compiler,
        host: &Host,
        program: &[u8],
        top: usize,
        space: Option<u8>,
    ) -> Result<Made, CompileError> {
        let said = match &self.target {
            Ok(target) => compiler.compile(host, target, program),
            Err(error) => Err(CompileError::Refused(error.clone())),
        };
        match said.and_then(|said| Ok((said.module()?, said))) {
            Ok((module, said)) => Ok(Made::Compiled { said: Box::new(said), module: Box::new(module) }),
            Err(CompileError::Refused(message)) => {
                // Only a TPU's compiler refuses a program that takes too much memory.
                let slice = match &self.target {
                    Ok(Target::Tpu(slice)) => Some(slice),
                    _ => None,
                };
                let report =
                    slice.and_then(|slice| report_of_refused(compiler, host, slice, program, &message, top, space));
                Ok(Made::Refused { message, report: report.map(Box::new) })
            }
            Err(error) => Err(error),
        }
    }
}
