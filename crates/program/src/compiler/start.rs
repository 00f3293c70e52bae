//! Starts the process of a compiler, and compiles in that process.

use super::process::run;
use super::{CompileError, Compiler, CompilerAnswer};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use xla_shape_core::gpu::Gpu;
use xla_shape_hlo::proto::{GpuConfig, autotuning_results};
use xla_shape_pjrt::{
    CompileOptions, Compiled, Error, LoadOptions, Plugin, Program, Properties, Property, Target, Topology,
};

/// Who starts compilers: the program `xla-shape`, or the Python package, which contains it.
///
/// ```
/// use xla_shape_pjrt::Target;
/// use xla_shape_program::{CompileError, Compiler, Host};
///
/// // Who does not know how to start the program cannot compile.
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let error = Compiler::default().compile(&host, "v5e".parse::<Target>()?, b"module {}").unwrap_err();
/// assert!(matches!(error, CompileError::NoCompiler(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Host {
    /// The command that starts the program `xla-shape`, with its first arguments. Empty if it is not known; then no compiler can be
    /// started, because the program is not searched for.
    pub command: Vec<OsString>,
    /// The Python interpreter that runs the program, if one does: its packages may have a compiler.
    pub python: Option<PathBuf>,
    /// Takes what a compiler writes to standard error.
    pub notes: fn(&str),
}

impl Host {
    /// A process of the program, which still needs its arguments; `None` if the command is not known.
    #[must_use]
    pub fn process(&self) -> Option<Command> {
        let (program, first) = self.command.split_first()?;
        let mut command = Command::new(program);
        command.args(first);
        Some(command)
    }
}

/// The variable with libtpu's flags.
pub(super) const LIBTPU_FLAGS: &str = "LIBTPU_INIT_ARGS";

/// XLA's options for GPUs: whether it times its choices, which file has the results of earlier timing, whether that file must be
/// complete, and whether XLA writes its estimates of time into the module.
const AUTOTUNE_LEVEL: &str = "xla_gpu_autotune_level";
const AUTOTUNE_RESULTS: &str = "xla_gpu_load_autotune_results_from";
const COMPLETE: &str = "xla_gpu_require_complete_aot_autotune_results";
const ESTIMATES: &str = "xla_gpu_collect_cost_model_stats";

/// The option of XLA that names the directory of dumps.
pub const DUMP_OPTION: &str = "xla_dump_to";

/// The option that makes dumps have modules as text.
const DUMP_TEXT: &str = "xla_dump_hlo_as_text";

/// Variables with which plug-ins write their warnings to standard error, too.
const WARNINGS: [(&str, &str); 3] =
    [("TPU_MIN_LOG_LEVEL", "1"), ("TPU_STDERR_LOG_LEVEL", "1"), ("TF_CPP_MIN_LOG_LEVEL", "1")];

/// The stop flag of compilations that are never stopped.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Compiler {
    /// Compiles a program for one device, in a process of its own.
    ///
    /// # Errors
    /// If the process cannot be started, ends without an answer or takes too long, if there is no compiler, or if it refuses the program.
    pub fn compile(
        &self,
        host: &Host,
        target: impl Into<Target>,
        program: &[u8],
    ) -> Result<CompilerAnswer, CompileError> {
        self.compile_until(&NEVER, host, target, program)
    }

    /// Like [`compile`](Self::compile), but also returns what the compiler writes to standard error, including its warnings, instead of passing it
    /// to `host`.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn compile_with_warnings(
        &self,
        host: &Host,
        target: impl Into<Target>,
        program: &[u8],
    ) -> Result<(CompilerAnswer, String), CompileError> {
        let host = Host { notes: |_| {}, ..host.clone() };
        self.ask(&NEVER, &host, &target.into(), program, &WARNINGS)
    }

    /// Like [`compile`](Self::compile); once `stop` is set, the process is ended.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn compile_until(
        &self,
        stop: &AtomicBool,
        host: &Host,
        target: impl Into<Target>,
        program: &[u8],
    ) -> Result<CompilerAnswer, CompileError> {
        self.ask(stop, host, &target.into(), program, &[]).map(|(said, _)| said)
    }

    /// Compiles in a process with these variables. Also returns what the process writes to standard error.
    fn ask(
        &self,
        stop: &AtomicBool,
        host: &Host,
        target: &Target,
        program: &[u8],
        variables: &[(&str, &str)],
    ) -> Result<(CompilerAnswer, String), CompileError> {
        if let (Target::Gpu(_), Some(file)) = (target, &self.autotune) {
            check_results(file).map_err(|why| CompileError::NoCompiler(format!("{}: {why}", file.display())))?;
        }
        let answer = |compiler: &Self| {
            let mut command = compiler.command(host, target)?;
            command.envs(variables.iter().copied());
            compiler.answer(host, command, program, stop)
        };
        let said = answer(self);
        let untuned = match &said {
            Err(CompileError::Refused(message)) if self.autotune.is_some() => incomplete(message),
            _ => None,
        };
        let Some(untuned) = untuned else { return said };
        // Ask again without the missing results, in a new process: a compiler that has read results once does not compile without them.
        let mut compiler = self.clone();
        match untuned {
            [Some(without), Some(of)] if without >= of => compiler.autotune = None,
            _ => compiler.options.push((COMPLETE.to_owned(), "false".to_owned())),
        }
        let (said, notes) = answer(&compiler)?;
        Ok((CompilerAnswer { untuned: Some(untuned), ..said }, notes))
    }

    /// Like [`compile_until`](Self::compile_until), but the compiler also writes into a directory what it did with kernels: libtpu writes its
    /// texts about them, the compiler for GPUs the dump of the program.
    ///
    /// # Errors
    /// As [`compile`](Self::compile), and if libtpu cannot write to this directory because its path contains white space.
    pub fn compile_dumping(
        &self,
        stop: &AtomicBool,
        host: &Host,
        target: impl Into<Target>,
        program: &[u8],
        folder: &Path,
    ) -> Result<CompilerAnswer, CompileError> {
        let target = target.into();
        if let Target::Gpu(_) = target {
            let mut compiler = self.clone();
            let folder = folder.to_string_lossy().into_owned();
            compiler.options.extend([(DUMP_OPTION.to_owned(), folder), (DUMP_TEXT.to_owned(), "true".to_owned())]);
            return compiler.compile_until(stop, host, target, program);
        }
        let flags = std::env::var_os(LIBTPU_FLAGS).unwrap_or_default();
        let flags = flags_with_dump(flags, folder).map_err(CompileError::NoCompiler)?;
        let mut command = self.command(host, &target)?;
        command.env(LIBTPU_FLAGS, flags);
        self.answer(host, command, program, stop).map(|(said, _)| said)
    }

    /// Compiles a refused program once more, so that the compiler leaves its modules in a directory. The messages are the same as
    /// in the first attempt, so they are not shown again.
    pub fn leave_modules(&self, host: &Host, target: impl Into<Target>, program: &[u8], folder: &Path) {
        let Ok(mut command) = self.command(host, &target.into()) else { return };
        let mut option = OsString::from(format!("{DUMP_OPTION}="));
        option.push(folder);
        command.arg("--option").arg(option);
        drop(run(command, self.limit(), program, &NEVER));
    }

    fn answer(
        &self,
        host: &Host,
        command: Command,
        program: &[u8],
        stop: &AtomicBool,
    ) -> Result<(CompilerAnswer, String), CompileError> {
        let (answer, errors) = run(command, self.limit(), program, stop)?;
        if !errors.is_empty() {
            (host.notes)(&errors);
        }
        Ok((answer?, errors))
    }

    /// The command that compiles for one device: `xla-shape compile` with its hidden option.
    fn command(&self, host: &Host, target: &Target) -> Result<Command, CompileError> {
        let unknown = "cannot start a process for the compiler: the program does not know its own file";
        let mut command = host.process().ok_or_else(|| CompileError::NoCompiler(unknown.to_owned()))?;
        command.args(["compile", "-", "--alone", "--for", &target.to_string()]);
        command.args(["--time-limit", &self.time_limit.to_string()]);
        if let Some(plugin) = &self.plugin {
            command.arg("--plugin").arg(plugin);
        }
        for (name, file) in [("--config", &self.config), ("--autotune", &self.autotune)] {
            if let Some(file) = file {
                command.arg(name).arg(file);
            }
        }
        for (name, number) in [("--replicas", self.replicas), ("--partitions", self.partitions)] {
            if let Some(number) = number {
                command.args([name, &number.to_string()]);
            }
        }
        for (name, value) in &self.options {
            command.args(["--option", &format!("{name}={value}")]);
        }
        // The process would set these variables itself only if it had a single thread.
        command.envs(LoadOptions::new().variables());
        Ok(command)
    }

    /// The description of the GPU, if the user has one.
    ///
    /// # Errors
    /// If the path is not a file, or the file cannot be read.
    pub fn described(&self) -> Result<Option<GpuConfig>, Error> {
        self.config.as_deref().map(read_config).transpose()
    }

    /// Compiles a program in this process, which may not survive it. Parts of the answer that the plug-in does not support are missing.
    ///
    /// # Errors
    /// If the program cannot be read, or the compiler refuses it.
    pub fn compile_here(&self, plugin: &Plugin, target: &Target, program: &[u8]) -> Result<CompilerAnswer, Error> {
        let program = Program::from_bytes(program)?;
        let described = self.described()?;
        let topology = match (target, &described) {
            (Target::Gpu(gpus), Some(config)) => plugin.gpus(gpus, config)?,
            _ => plugin.topology(target)?,
        };
        let gpu = match (target, &described) {
            (Target::Tpu(_), _) => None,
            (Target::Gpu(_), Some(config)) => config.gpu(),
            (Target::Gpu(gpus), None) => gpus.gpu(),
        };
        let bytes_per_second = match &described {
            Some(config) if matches!(target, Target::Gpu(_)) => config.bytes_per_second(),
            _ => gpu.map(Gpu::bytes_per_second),
        };
        let compiled = match target {
            Target::Tpu(_) => topology.compile(&program, &self.pjrt_options())?,
            Target::Gpu(_) => self.compile_for_gpu(&topology, &program)?,
        };
        let memory = compiled.memory()?;
        Ok(CompilerAnswer {
            message: compiled.optimized()?.to_vec(),
            inputs: compiled.inputs()?,
            outputs: compiled.outputs()?,
            input_shardings: compiled.input_shardings()?,
            output_shardings: compiled.output_shardings()?,
            account: memory.account(),
            generated_code: memory.generated_code,
            cost: compiled.cost().map(numbers).unwrap_or_default(),
            autotuned: self.autotuned(target),
            untuned: None,
            bytes_per_second,
            gpu: gpu.map(|gpu| gpu.name().to_owned()),
            fingerprint: compiled.fingerprint().ok(),
            compiler: match target {
                Target::Tpu(_) => topology.platform_version().ok(),
                // For a GPU, `platform_version` would be the name of the GPU.
                Target::Gpu(_) => plugin.package(),
            },
        })
    }

    /// Compiles for a GPU without having one, with the options that this needs: the compiler cannot time its choices. If there is a file with
    /// results of autotuning, an option makes a missing result an error. That is necessary because the compiler silently ignores results of
    /// another GPU, driver or compiler.
    fn compile_for_gpu(&self, topology: &Topology, program: &Program) -> Result<Compiled, Error> {
        let choices = match &self.autotune {
            Some(file) => {
                vec![(AUTOTUNE_RESULTS, file.to_string_lossy().into_owned()), (COMPLETE, "true".to_owned())]
            }
            None => vec![(AUTOTUNE_LEVEL, "0".to_owned())],
        };
        let with = |estimates: bool| {
            let estimates = estimates.then(|| (ESTIMATES, "true".to_owned()));
            topology.compile(program, &self.pjrt_options().or_options(choices.iter().cloned().chain(estimates)))
        };
        match with(true) {
            // The compiler estimates times only for some GPUs, and refuses the others (`Cannot find key: sm_80`). While it times kernels, it
            // mistakes this error for a refusal of every kernel, and gives the same message as for missing results.
            Err(Error::Plugin { .. }) => with(false),
            compiled => compiled,
        }
    }

    fn pjrt_options(&self) -> CompileOptions {
        let mut options = CompileOptions::new().time_limit(Some(self.limit()));
        if let Some(replicas) = self.replicas {
            options = options.replicas(replicas);
        }
        if let Some(partitions) = self.partitions {
            options = options.partitions(partitions);
        }
        for (name, value) in &self.options {
            options = options.option(name, value);
        }
        options
    }

    /// Whether the compiler takes results of autotuning; `None` for TPUs, or if the user's options decide about tuning.
    fn autotuned(&self, target: &Target) -> Option<bool> {
        let is_own = |(name, _): &(String, String)| [AUTOTUNE_LEVEL, AUTOTUNE_RESULTS].contains(&name.as_str());
        let decided = matches!(target, Target::Gpu(_)) && !self.options.iter().any(is_own);
        decided.then_some(self.autotune.is_some())
    }
}

/// For how many instructions results of autotuning are missing, and how many instructions need them. Each is `None` if the message does not say it.
/// The whole is `None` if the compiler refused the program for another reason.
fn incomplete(message: &str) -> Option<[Option<u64>; 2]> {
    let Some((_, rest)) = message.split_once("Failed to get configs for: ") else {
        return message.contains("No cached config found for HLO instr").then_some([None; 2]);
    };
    let (without, rest) = rest.split_once(" out of ")?;
    Some([Some(without.parse().ok()?), Some(rest.split_once(' ')?.0.parse().ok()?)])
}

/// Refuses a file without results of autotuning: the compiler would ignore it.
fn check_results(file: &Path) -> Result<(), String> {
    let bytes = xla_shape_files::contents(file).map_err(|error| error.to_string())?;
    let is_description = || str::from_utf8(&bytes).is_ok_and(|text| text.contains("gpu_device_info"));
    match autotuning_results(&bytes) {
        Some(1..) => Ok(()),
        Some(0) => Err("no results of autotuning are in it".to_owned()),
        None if is_description() => Err("this is the description of a GPU; --config takes it".to_owned()),
        None => {
            Err("expected the results of autotuning that XLA writes with --xla_gpu_dump_autotune_results_to".to_owned())
        }
    }
}

/// The description of a GPU in a file, as text.
fn read_config(file: &Path) -> Result<GpuConfig, Error> {
    let unreadable =
        |why: &dyn std::fmt::Display| Error::Description { path: file.to_owned(), reason: why.to_string() };
    let text = xla_shape_files::contents(file).map_err(|error| unreadable(&error))?;
    let text = std::str::from_utf8(&text).map_err(|error| unreadable(&error))?;
    GpuConfig::parse(text).map_err(|error| unreadable(&error))
}

/// The properties that are numbers.
fn numbers(properties: Properties) -> BTreeMap<String, f64> {
    let number = |property| match property {
        Property::Float(number) => Some(f64::from(number)),
        Property::Integer(number) => Some(number as f64),
        _ => None,
    };
    properties.into_iter().filter_map(|(name, property)| Some((name, number(property)?))).collect()
}

/// The user's flags of libtpu, and the flags that make it dump its texts about kernels into a directory.
fn flags_with_dump(mut flags: OsString, folder: &Path) -> Result<OsString, String> {
    // libtpu divides its flags at white space.
    if folder.to_string_lossy().contains(char::is_whitespace) {
        return Err(format!(
            "libtpu cannot write to {}, because the path contains white space: set TMPDIR to another directory",
            folder.display()
        ));
    }
    for name in ["xla_mosaic_dump_to", "xla_jf_dump_to"] {
        flags.push(format!(" --{name}="));
        flags.push(folder);
    }
    flags.push(" --xla_mosaic_enable_llo_source_annotations=true --xla_mosaic_enable_dump_debug_info=true");
    flags.push(" --xla_jf_dump_llo_text=true --xla_jf_dump_llo_pass_label_regex=final|vmem_report");
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::{flags_with_dump, incomplete};
    use std::path::Path;

    #[test]
    fn missing_results_of_autotuning_are_counted() {
        let message = "Failed to get configs for: 2 out of 3 instructions. See logs for all failures.";
        assert_eq!(incomplete(message), Some([Some(2), Some(3)]));
        assert_eq!(incomplete("No cached config found for HLO instr: %f.1 = f32[8] fusion(%a)"), Some([None; 2]));
        assert_eq!(incomplete("Failed to get configs for: all out of 3 instructions"), None);
    }

    #[test]
    fn a_dump_has_a_folder_without_white_space() {
        let flags =
            |folder| flags_with_dump("--own=1".into(), Path::new(folder)).map(|flags| flags.into_string().unwrap());
        let found = flags("dumps/x").unwrap();
        assert!(found.starts_with("--own=1 --xla_mosaic_dump_to=dumps/x --xla_jf_dump_to=dumps/x --"), "{found}");
        for folder in ["dumps/a b", "dumps/a\tb", " dumps"] {
            let error = flags(folder).unwrap_err();
            assert!(error.contains("white space: set TMPDIR"), "{error}");
        }
    }
}
