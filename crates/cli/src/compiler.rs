//! Runs a compiler in a separate process. Some programs make libtpu abort its process; the answers about other devices must not be
//! lost then.

use crate::args::{CompileArguments, CompilerArguments};
use crate::failure::Failure;
use crate::io;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use xla_shape::hlo::{Module, Totals};
use xla_shape::shard::Sharding;
use xla_shape::{Layout, Shape};
use xla_shape_answers::json_line;
use xla_shape_pjrt::{
    Argument, CompileOptions, Compiled, Error, LoadOptions, MemoryStats, Plugin, Program, Properties, Property, Slice,
};
use xla_shape_render::compile::Compiled as Answered;
use xla_shape_render::harmless;

/// How many bytes of the compiler's standard error are kept.
const MAX_NOTES: usize = 16 << 20;

/// Why there is no compiled program.
#[derive(Serialize, Deserialize)]
pub(crate) enum CompileError {
    /// The compiler refused the program for this device.
    Refused(String),
    /// There is no compiler, so no program can be compiled for any device.
    NoCompiler(String),
}

impl CompileError {
    /// The message for the user.
    pub(crate) fn message(self) -> String {
        match self {
            Self::Refused(message) | Self::NoCompiler(message) => message,
        }
    }
}

/// The compiler's answer, as the process writes it in one line.
#[derive(Serialize, Deserialize)]
struct Message {
    /// The optimized module as HloModuleProto, in base64.
    module: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    input_shardings: Option<Vec<String>>,
    output_shardings: Option<Vec<String>>,
    device: [u64; 4],
    host: [u64; 4],
    peak: u64,
    generated_code: u64,
    /// The bits of each `f64`, because a decimal text could round it.
    cost: BTreeMap<String, u64>,
    fingerprint: Option<String>,
    /// The version of the compiler, in its own words.
    compiler: Option<String>,
}

/// What the compiler says.
pub(crate) struct CompilerAnswer {
    module: Vec<u8>,
    inputs: Vec<Shape>,
    outputs: Vec<Shape>,
    input_shardings: Option<Vec<Sharding>>,
    output_shardings: Option<Vec<Sharding>>,
    memory: MemoryStats,
    cost: BTreeMap<String, f64>,
    fingerprint: Option<String>,
    compiler: Option<String>,
}

/// Compiles the program on standard input in this process, and writes the answer as a line for the process that started this one.
/// `python` is the interpreter that runs the program, if one does.
pub(super) fn compile(arguments: &CompileArguments, python: Option<&Path>) -> Result<(), Failure> {
    process::end_with_parent();
    let bytes = xla_shape_files::contents("-")?;
    let answer = load(arguments.compiler.plugin.as_deref(), python)
        .map_err(|error| CompileError::NoCompiler(error.to_string()))
        .and_then(|plugin| {
            message(arguments, &plugin, &bytes).map_err(|error| CompileError::Refused(error.to_string()))
        });
    io::write(json_line(&answer).as_bytes())
}

/// Loads the plug-in that the user names, otherwise the one in the user's environment.
#[expect(unsafe_code, reason = "loads a compiler, whose code then runs in this process")]
fn load(named: Option<&Path>, python: Option<&Path>) -> Result<Plugin, Error> {
    let mut options = LoadOptions::new();
    if let Some(python) = python {
        options = options.python(python);
    }
    match named {
        // SAFETY: `load` requires a PJRT plug-in whose code the caller would run. The user named the file with `--plugin`, whose help
        // says that it is a PJRT plug-in and that its code is run.
        Some(path) => unsafe { options.load(path) },
        // SAFETY: `find` requires that whoever sets its variables or installs into the active Python environment is trusted. Both are
        // part of the environment of the user, who runs programs from it anyway. The file to compile has no influence on the search.
        None => unsafe { options.find() },
    }
}

fn message(arguments: &CompileArguments, plugin: &Plugin, bytes: &[u8]) -> Result<Message, Error> {
    let program = Program::from_bytes(bytes)?;
    let [target] = arguments.targets.as_slice() else { return Err(Error::NotAProgram("it has one device".to_owned())) };
    let slice = target.name.parse::<Slice>()?;
    let topology = plugin.topology(&slice)?;
    let compiled = topology.compile(&program, &options(&arguments.compiler))?;
    Message::new(&compiled, topology.platform_version().ok())
}

fn options(arguments: &CompilerArguments) -> CompileOptions {
    let mut options = CompileOptions::new().time_limit(Some(arguments.limit()));
    if let Some(replicas) = arguments.replicas {
        options = options.replicas(replicas);
    }
    if let Some(partitions) = arguments.partitions {
        options = options.partitions(partitions);
    }
    for (name, value) in &arguments.options {
        options = options.option(name, value);
    }
    options
}

/// The command that compiles for one device; `None` if this program does not know its own file. It does not search for it.
fn command(
    itself: &[OsString],
    arguments: &CompilerArguments,
    slice: &Slice,
    flags: Option<OsString>,
) -> Option<Command> {
    let (program, first) = itself.split_first()?;
    let mut command = Command::new(program);
    command.args(first).args(["compile", "-", "--alone", "--for", &slice.to_string()]);
    command.args(["--time-limit", &arguments.time_limit.to_string()]);
    if let Some(plugin) = &arguments.plugin {
        command.arg("--plugin").arg(plugin);
    }
    for (name, number) in [("--replicas", arguments.replicas), ("--partitions", arguments.partitions)] {
        if let Some(number) = number {
            command.args([name, &number.to_string()]);
        }
    }
    for (name, value) in &arguments.options {
        command.args(["--option", &format!("{name}={value}")]);
    }
    // The process would set these variables itself only if it had a single thread.
    command.envs(LoadOptions::new().variables());
    if let Some(flags) = flags {
        command.env(LIBTPU_FLAGS, flags);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    process::alone(&mut command);
    Some(command)
}

/// The variable with libtpu's flags.
const LIBTPU_FLAGS: &str = "LIBTPU_INIT_ARGS";

/// The option of XLA that names the directory of dumps.
pub(crate) const DUMP_OPTION: &str = "xla_dump_to";

/// The user's flags of libtpu, and those that make it write what it did with kernels into a directory.
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

/// For a compiler that nothing ends early.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// Starts a process that compiles a program for one device, and returns the compiler's answer.
pub(crate) fn start(
    itself: &[OsString],
    arguments: &CompilerArguments,
    slice: &Slice,
    program: &[u8],
) -> Result<CompilerAnswer, CompileError> {
    start_until(&NEVER, itself, arguments, slice, program)
}

/// Like [`start`]; once `stop` is set, the process is ended.
pub(crate) fn start_until(
    stop: &AtomicBool,
    itself: &[OsString],
    arguments: &CompilerArguments,
    slice: &Slice,
    program: &[u8],
) -> Result<CompilerAnswer, CompileError> {
    compile_in(command(itself, arguments, slice, None), arguments.limit(), program, stop)
}

/// Compiles a program that the compiler refused once more; the compiler leaves its modules in a directory. Its messages are those of the first
/// attempt, so they are not written again.
pub(crate) fn keep_modules(
    itself: &[OsString],
    arguments: &CompilerArguments,
    slice: &Slice,
    program: &[u8],
    folder: &Path,
) {
    let mut command = command(itself, arguments, slice, None);
    if let Some(command) = &mut command {
        let mut option = OsString::from(format!("{DUMP_OPTION}="));
        option.push(folder);
        command.arg("--option").arg(option);
    }
    drop(run(command, arguments.limit(), program, &NEVER));
}

/// Like [`start`]; libtpu also writes what it did with kernels into a directory.
pub(crate) fn start_dumping(
    itself: &[OsString],
    arguments: &CompilerArguments,
    slice: &Slice,
    program: &[u8],
    folder: &Path,
) -> Result<CompilerAnswer, CompileError> {
    let flags = std::env::var_os(LIBTPU_FLAGS).unwrap_or_default();
    let flags = flags_with_dump(flags, folder).map_err(CompileError::NoCompiler)?;
    compile_in(command(itself, arguments, slice, Some(flags)), arguments.limit(), program, &NEVER)
}

fn compile_in(
    command: Option<Command>,
    limit: Duration,
    program: &[u8],
    stop: &AtomicBool,
) -> Result<CompilerAnswer, CompileError> {
    let (answer, errors) = run(command, limit, program, stop)?;
    // The compiler's own messages. An error means that standard error is closed.
    let _ = std::io::stderr().write_all(harmless(&errors).as_bytes());
    let unreadable =
        || CompileError::Refused("the process of the compiler gave an answer that cannot be read".to_owned());
    answer?.answer().ok_or_else(unreadable)
}

/// How often the process is looked at.
const SOON: Duration = Duration::from_millis(50);

/// How long the process may take beyond the time limit of the compiler: it loads the plug-in and describes the device before, and asks for the
/// parts of the answer after. The process has limits of its own for some of these calls. A plug-in may hang in any.
const BESIDES: Duration = Duration::from_secs(20);

/// How long the last lines of standard error are waited for when the process has ended.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// Runs the process of a compiler: its answer, and what it wrote to standard error. Once `stop` is set or its time is over, the process is ended.
///
/// Nothing here waits for a pipe: a process that the compiler started, and that outlives it, may keep all of them open.
fn run(
    command: Option<Command>,
    limit: Duration,
    program: &[u8],
    stop: &AtomicBool,
) -> Result<(Result<Message, CompileError>, String), CompileError> {
    let failed =
        |error: std::io::Error| CompileError::NoCompiler(format!("cannot start a process for the compiler: {error}"));
    let unknown = || failed(std::io::Error::other("the program does not know its own file"));
    let mut child = command.ok_or_else(unknown)?.spawn().map_err(failed)?;
    let end = Instant::now() + limit.saturating_add(BESIDES);
    if let Some(mut input) = child.stdin.take() {
        let program = program.to_vec();
        // If this fails, the process has ended, and its exit status and standard error say why.
        thread::spawn(move || drop(input.write_all(&program)));
    }
    let answers = child.stdout.take().map(first_message);
    let errors = child.stderr.take().map(Notes::collect);
    let mut ended = Ended::No;
    let answer = loop {
        match answers.as_ref().map_or(Err(RecvTimeoutError::Disconnected), |answers| answers.recv_timeout(SOON)) {
            // Some compilers take long to exit after the answer, or never do.
            Ok(answer) => break Some(answer),
            // The process closes standard output when it ends.
            Err(RecvTimeoutError::Disconnected) if ended == Ended::No => thread::sleep(Duration::from_millis(1)),
            Err(_) => {}
        }
        if ended == Ended::Yes || stop.load(Ordering::Relaxed) {
            break None;
        }
        if Instant::now() >= end {
            ended = Ended::TooSlow;
            break None;
        }
        if process::has_ended(&mut child).map_err(failed)? {
            // Its answer may still be in the pipe: once more.
            ended = Ended::Yes;
        }
    };
    process::end(&mut child);
    let status = child.wait().map_err(failed)?;
    let errors = errors.map_or_else(Vec::new, |errors| errors.so_far());
    let errors = String::from_utf8_lossy(&errors).into_owned();
    match answer {
        Some(answer) => Ok((answer, errors)),
        None if ended == Ended::TooSlow => Err(CompileError::Refused(format!(
            "the compiler's process was ended: it took longer than {} seconds, and {} more for loading the compiler and asking for the answer",
            limit.as_secs(),
            BESIDES.as_secs()
        ))),
        None => Err(CompileError::Refused(exit_reason(status, &errors))),
    }
}

/// Whether and why a process has ended without an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    No,
    Yes,
    TooSlow,
}

/// The answer in what a process writes. Plug-ins may write other lines to standard output.
fn first_message(output: ChildStdout) -> Receiver<Result<Message, CompileError>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut lines = BufReader::new(output).split(b'\n').map_while(std::io::Result::ok);
        if let Some(answer) = lines.find_map(|line| serde_json::from_slice(&line).ok()) {
            // Fails if nobody waits any longer.
            let _ = sender.send(answer);
        }
    });
    receiver
}

/// What a process writes to standard error.
struct Notes {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl Notes {
    fn collect(mut errors: ChildStderr) -> Self {
        let (sender, end) = mpsc::channel();
        let bytes = Arc::<Mutex<Vec<u8>>>::default();
        let own = Arc::clone(&bytes);
        thread::spawn(move || {
            let _sender = sender;
            let mut piece = [0; 8192];
            // What is too much is read and dropped, because a full pipe would block the process.
            while let Ok(count @ 1..) = errors.read(&mut piece) {
                let mut bytes = own.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MAX_NOTES.saturating_sub(bytes.len());
                bytes.extend(piece.iter().take(count.min(room)));
            }
        });
        Self { bytes, end }
    }

    /// What there is, after a short time for the rest.
    fn so_far(&self) -> Vec<u8> {
        // Nothing is sent: the other end is dropped when standard error ends.
        let _ = self.end.recv_timeout(LAST_WORDS);
        std::mem::take(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A process with those that it starts. It has a group of its own, which ends as a whole.
#[cfg(unix)]
mod process {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};
    use std::thread;
    use std::time::Duration;

    pub(super) fn alone(command: &mut Command) {
        command.process_group(0);
    }

    /// Whether it has ended. It is not forgotten then: until it is waited for, its number is that of no other process.
    pub(super) fn has_ended(child: &mut Child) -> std::io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
    }

    /// Ends it and its group. It must not have been waited for.
    pub(super) fn end(child: &mut Child) {
        // This fails if every process of the group has ended.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        let _ = child.kill();
    }

    /// Ends the group of this process when the one that started it has ended: a group of its own does not get the Ctrl-C of the terminal.
    pub(super) fn end_with_parent() {
        let parent = std::os::unix::process::parent_id();
        let own = rustix::process::getpid();
        // Only a group that was made for this process.
        if rustix::process::getpgrp() != own {
            return;
        }
        thread::spawn(move || {
            while std::os::unix::process::parent_id() == parent {
                thread::sleep(Duration::from_millis(200));
            }
            let _ = kill_process_group(own, Signal::KILL);
        });
    }
}

#[cfg(not(unix))]
mod process {
    use std::process::{Child, Command};

    pub(super) fn alone(_command: &mut Command) {}

    pub(super) fn has_ended(child: &mut Child) -> std::io::Result<bool> {
        Ok(child.try_wait()?.is_some())
    }

    pub(super) fn end(child: &mut Child) {
        // An error means that the process has ended.
        let _ = child.kill();
    }

    pub(super) fn end_with_parent() {}
}

/// Why a process ended without an answer: libtpu writes the reason and a stack trace.
fn exit_reason(status: ExitStatus, errors: &str) -> String {
    const MOST: usize = 500;
    let lines = || errors.lines().map(str::trim).filter(|line| !line.is_empty());
    // `F1122 08:27:08.375060   12233 shape_util.cc:1058] Check failed: …`
    let fatal = lines().find_map(|line| {
        let rest = line.strip_prefix('F')?.split_once(' ')?.1.trim_start().split_once(' ')?.1.trim_start();
        let (place, words) = rest.split_once(' ')?.1.trim_start().split_once("] ")?;
        Some(format!("{place}: {words}"))
    });
    let why = fatal.or_else(|| lines().next().map(str::to_owned)).unwrap_or_else(|| "it did not say why".to_owned());
    let why = why.chars().take(MOST).collect::<String>();
    format!("the compiler ended its process ({status}): {why}")
}

impl Message {
    /// Collects the compiler's answer; parts that the plug-in does not support are `None`.
    fn new(compiled: &Compiled, compiler: Option<String>) -> Result<Self, Error> {
        let texts = |shapes: Vec<Shape>| shapes.iter().map(ToString::to_string).collect();
        let divided = |shardings: Option<Vec<Sharding>>| {
            shardings.map(|shardings| shardings.iter().map(ToString::to_string).collect())
        };
        let memory = compiled.memory()?;
        let numbers = |totals: Totals| [totals.arguments, totals.outputs, totals.aliases, totals.temporaries];
        Ok(Self {
            module: BASE64_STANDARD.encode(compiled.optimized()?),
            inputs: texts(compiled.inputs()?),
            outputs: texts(compiled.outputs()?),
            input_shardings: divided(compiled.input_shardings()?),
            output_shardings: divided(compiled.output_shardings()?),
            device: numbers(memory.device),
            host: numbers(memory.host),
            peak: memory.peak,
            generated_code: memory.generated_code,
            cost: compiled.cost().map(bits).unwrap_or_default(),
            fingerprint: compiled.fingerprint().ok(),
            compiler,
        })
    }

    fn answer(self) -> Option<CompilerAnswer> {
        let shapes = |texts: Vec<String>| texts.iter().map(|text| text.parse().ok()).collect::<Option<Vec<Shape>>>();
        let divided = |texts: Option<Vec<String>>| match texts {
            Some(texts) => texts.iter().map(|text| text.parse().ok()).collect::<Option<Vec<Sharding>>>().map(Some),
            None => Some(None),
        };
        let totals =
            |[arguments, outputs, aliases, temporaries]: [u64; 4]| Totals { arguments, outputs, aliases, temporaries };
        Some(CompilerAnswer {
            module: BASE64_STANDARD.decode(self.module).ok()?,
            inputs: shapes(self.inputs)?,
            outputs: shapes(self.outputs)?,
            input_shardings: divided(self.input_shardings)?,
            output_shardings: divided(self.output_shardings)?,
            memory: MemoryStats {
                device: totals(self.device),
                host: totals(self.host),
                peak: self.peak,
                generated_code: self.generated_code,
                ..MemoryStats::default()
            },
            cost: self.cost.into_iter().map(|(name, bits)| (name, f64::from_bits(bits))).collect(),
            fingerprint: self.fingerprint,
            compiler: self.compiler,
        })
    }
}

/// The properties that are numbers, as the bits of `f64`.
fn bits(properties: Properties) -> BTreeMap<String, u64> {
    let number = |property| match property {
        Property::Float(number) => Some(f64::from(number)),
        Property::Integer(number) => Some(number as f64),
        _ => None,
    };
    properties.into_iter().filter_map(|(name, property)| Some((name, number(property)?.to_bits()))).collect()
}

impl CompilerAnswer {
    /// The layout that a parameter or a result has.
    pub(crate) fn layout(&self, argument: Argument) -> Option<&Layout> {
        let shape = match argument {
            Argument::Parameter(number) => self.inputs.get(number),
            Argument::Result(number) => self.outputs.get(number),
        };
        Some(shape?.array()?.layout())
    }

    /// The shapes of the parameters.
    pub(crate) fn inputs(&self) -> &[Shape] {
        &self.inputs
    }

    /// The shapes of the results.
    pub(crate) fn outputs(&self) -> &[Shape] {
        &self.outputs
    }

    /// The bytes of HBM that the program takes, without its code.
    pub(crate) fn hbm_bytes(&self) -> u64 {
        self.memory.account().device.total()
    }

    /// The version of the compiler, in its own words.
    pub(crate) fn compiler(&self) -> Option<&str> {
        self.compiler.as_deref()
    }

    /// The optimized module as HloModuleProto.
    pub(crate) fn message(&self) -> &[u8] {
        &self.module
    }

    /// The optimized module.
    pub(crate) fn module(&self) -> Result<Module, CompileError> {
        Module::from_proto(&self.module).map_err(|error| CompileError::Refused(Error::from(error).to_string()))
    }

    pub(crate) fn answered<'a>(&self, module: &'a Module) -> Answered<'a> {
        Answered {
            module,
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            input_shardings: self.input_shardings.clone(),
            output_shardings: self.output_shardings.clone(),
            account: self.memory.account(),
            generated_code: self.memory.generated_code,
            cost: self.cost.clone(),
            fingerprint: self.fingerprint.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{exit_reason, flags_with_dump};
    use std::path::Path;
    use std::process::ExitStatus;

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

    #[test]
    fn of_what_a_process_wrote_the_reason_is_kept() {
        let words = |errors: &str| {
            let text = exit_reason(ExitStatus::default(), errors);
            text.split_once("): ").unwrap().1.to_owned()
        };
        let fatal = "a note\nF1122 08:27:08.375060   12233 shape_util.cc:1058] Check failed: !count_overflow \n*** Check failure";
        assert_eq!(words(fatal), "shape_util.cc:1058: Check failed: !count_overflow");
        assert_eq!(words("\n  Fatal: no\nmore"), "Fatal: no");
        assert_eq!(words(""), "it did not say why");
        assert_eq!(words(&"x".repeat(10_000)).len(), 500);
    }
}
