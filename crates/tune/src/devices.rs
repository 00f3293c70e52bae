//! A program compiled for devices that a user names.

use crate::{Left, report_of_refused};
use std::str::FromStr;
use xla_shape_answers::DEFAULT_GENERATION;
use xla_shape_answers::compile::Compilation;
use xla_shape_answers::hlo::Device;
use xla_shape_answers::reshard::{Change, ReshardError, Resharding};
use xla_shape_core::gpu::Gpu;
use xla_shape_core::shard::Sharding;
use xla_shape_core::tpu::Generation;
use xla_shape_hlo::Module;
use xla_shape_pjrt::{Error, SliceError, Target, TargetError};
use xla_shape_program::{CompileError, Compiler, CompilerAnswer, Host};

/// Devices of any kind for which a program is compiled, as a user names them.
///
/// ```
/// use xla_shape_answers::hlo::Device;
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_tune::Devices;
///
/// let devices: Devices = "v6e".parse()?;
/// assert_eq!((devices.name.as_str(), devices.device), ("v6e:2x2", Some(Device::Generation(Generation::V6e))));
/// assert_eq!("h100".parse::<Devices>()?.name, "h100");
/// assert_eq!(Devices::default().generation(), Some(Generation::V5e));
/// # Ok::<(), xla_shape_pjrt::TargetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Devices {
    /// Their name, such as v5e:2x2 or h100:8.
    pub name: String,
    /// What is known about one of the devices; `None` for a GPU that is known only by the description that the compiler gets.
    pub device: Option<Device>,
    /// The compiler's name for them, or why the compiler does not know them.
    pub target: Result<Target, String>,
}

impl FromStr for Devices {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        match text.parse::<Target>() {
            Ok(Target::Tpu(slice)) => {
                let chips = slice.to_string();
                let (_, chips) = chips.split_once(':').unwrap_or_default();
                let generation = slice.generation();
                let device = Some(Device::Generation(generation));
                Ok(Self { name: format!("{generation}:{chips}"), device, target: Ok(slice.into()) })
            }
            // The name is that of a device, but the compiler refuses it.
            Err(TargetError::Slice(error @ SliceError::Unsupported(generation))) => {
                let device = Some(Device::Generation(generation));
                Ok(Self { name: text.to_owned(), device, target: Err(error.to_string()) })
            }
            Ok(Target::Gpu(gpus)) => {
                Ok(Self { name: gpus.to_string(), device: gpus.gpu().map(Device::Gpu), target: Ok(gpus.into()) })
            }
            Err(error) => Err(error),
        }
    }
}

/// One host with TPUs of the default generation, for users who name no device.
impl Default for Devices {
    fn default() -> Self {
        let generation = DEFAULT_GENERATION;
        let device = Some(Device::Generation(generation));
        let unknown =
            |error: TargetError| Self { name: generation.to_string(), device, target: Err(error.to_string()) };
        generation.name().parse().unwrap_or_else(unknown)
    }
}

/// The result of compiling a program for some devices.
///
/// ```
/// use xla_shape_program::{Compiler, Host};
/// use xla_shape_tune::{Devices, Made};
///
/// // A host that cannot start this program again cannot compile.
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
    /// The compiler refused the program.
    Refused {
        /// What the compiler says.
        message: String,
        /// What takes the memory, if HBM ran out.
        report: Option<Box<Left>>,
    },
}

impl Made {
    /// Adds this result to a compilation, for the device with this name. Lists have at most `top` entries.
    ///
    /// ```
    /// use xla_shape_answers::compile::Compilation;
    /// use xla_shape_answers::hlo::Device;
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_tune::Made;
    ///
    /// let mut compilation = Compilation::new();
    /// let made = Made::Refused { message: "too large".to_owned(), report: None };
    /// made.add_to(&mut compilation, "v5e:2x2", Device::Generation(Generation::V5e), 5);
    /// assert_eq!(compilation.problem().as_deref(), Some("not compiled for v5e:2x2: too large"));
    /// ```
    pub fn add_to(self, compilation: &mut Compilation, name: &str, device: Device, top: usize) {
        match self {
            Self::Compiled { said, module } => compilation.add(name, device, Ok((&said, &module)), top),
            Self::Refused { message, report: Some(left) } => {
                compilation.add_too_large(name, device, message, left.report);
            }
            Self::Refused { message, report: None } => compilation.add(name, device, Err(message), top),
        }
    }
}

impl Devices {
    /// What is known about the device from its name; `None` if nothing is.
    #[must_use]
    pub const fn device(&self) -> Option<Device> {
        self.device
    }

    /// The GPU that is named; `None` for a TPU.
    #[must_use]
    pub fn gpu(&self) -> Option<Gpu> {
        self.device.and_then(Device::gpu)
    }

    /// The generation of a TPU; `None` for a GPU.
    #[must_use]
    pub fn generation(&self) -> Option<Generation> {
        self.device.and_then(Device::generation)
    }

    /// What is known about one of the devices. The description of a GPU, if there is one, overrides our own table.
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

    /// Compiles a program for these devices.
    ///
    /// # Errors
    /// If there is no compiler, or it refuses the program or the devices.
    pub fn ask(&self, compiler: &Compiler, host: &Host, program: &[u8]) -> Result<CompilerAnswer, CompileError> {
        match &self.target {
            Ok(target) => compiler.compile(host, target, program),
            Err(error) => Err(CompileError::Refused(error.clone())),
        }
    }

    /// The data that move when the sharding of an array changes, and how XLA compiles the change for these devices.
    ///
    /// ```
    /// use xla_shape_answers::reshard::{Change, ReshardError};
    /// use xla_shape_program::{CompileError, Compiler, Host};
    /// use xla_shape_tune::Devices;
    ///
    /// let (array, from, to) = ("f32[8]".parse()?, "{devices=[4]<=[4]}".parse()?, "{replicated}".parse()?);
    /// let (rearrangement, layout, hosts, devices) = (None, None, None, vec![]);
    /// let change = Change { array, from, to, rearrangement, layout, hosts, devices };
    /// // A host that cannot start this program again cannot compile.
    /// let host = Host { command: vec![], python: None, notes: |_| {} };
    /// let asked = |name: &str| name.parse::<Devices>().unwrap().reshard(&change, &Compiler::default(), &host).unwrap_err();
    /// assert!(matches!(asked("v5e:2x2"), ReshardError::NotCompiled(CompileError::NoCompiler(_))));
    /// assert!(matches!(asked("v5e:2x4"), ReshardError::OtherDevices { expected: 8, found: 4, .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Resharding::new`]; also if a sharding does not use exactly these devices, or if XLA does not compile the change.
    pub fn reshard(&self, change: &Change, compiler: &Compiler, host: &Host) -> Result<Resharding, ReshardError> {
        let refused = |error: &String| ReshardError::NotCompiled(CompileError::Refused(error.clone()));
        let target = self.target.as_ref().map_err(refused)?;
        let answer = Resharding::new(change)?;
        let compiled = |through: &[Sharding]| {
            let program = change.program(target.devices(), through)?;
            let said = compiler.compile_with_warnings(host, target, program.as_bytes());
            let said = said.and_then(|(said, notes)| Ok((said.module()?, notes, said)));
            said.map_err(ReshardError::NotCompiled)
        };
        let (module, notes, said) = compiled(&[])?;
        let through = answer.through.as_ref().map(|through| compiled(&through.values)).transpose()?;
        let through = through.as_ref().map(|(module, notes, _)| (module, notes.as_str()));
        Ok(answer.beside_xla((&self.name, target.devices()), &said, (&module, &notes), through))
    }

    /// Compiles a program for these devices, and says why it is refused. If the program is refused, the report has lists of at most `top` entries,
    /// for one memory space if `space` names it.
    ///
    /// # Errors
    /// If there is no compiler. Then no device gets an answer.
    pub fn compile(
        &self,
        compiler: &Compiler,
        host: &Host,
        program: &[u8],
        top: usize,
        space: Option<u8>,
    ) -> Result<Made, CompileError> {
        match self.ask(compiler, host, program).and_then(|said| Ok((said.module()?, said))) {
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
