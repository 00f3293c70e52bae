//! A compiler in a process of its own. Some programs make libtpu end its process, which must not take the answers about other
//! devices with it.

use crate::args::CompileArguments;
use crate::failure::Failure;
use crate::io;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;
use xla_shape::Shape;
use xla_shape::hlo::{Module, Totals};
use xla_shape::shard::Sharding;
use xla_shape_pjrt::{
    CompileOptions, Compiled, Error, LoadOptions, MemoryStats, Plugin, Program, Properties, Property, Slice,
};
use xla_shape_render::compile::Compiled as Answered;
use xla_shape_render::{harmless, json_line};

/// Why there is no compiled program.
#[derive(Serialize, Deserialize)]
pub(super) enum Trouble {
    /// This program is not compiled for this device.
    Refused(String),
    /// No program is compiled for any device.
    NoCompiler(String),
}

/// What the compiler says, as the process writes it in one line.
#[derive(Serialize, Deserialize)]
struct Message {
    /// In base64.
    module: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    input_shardings: Option<Vec<String>>,
    output_shardings: Option<Vec<String>>,
    device: [u64; 4],
    host: [u64; 4],
    peak: u64,
    generated_code: u64,
    /// The bits of each number, because a text would round it.
    cost: BTreeMap<String, u64>,
    fingerprint: Option<String>,
}

/// What the compiler says.
pub(super) struct Said {
    module: Vec<u8>,
    inputs: Vec<Shape>,
    outputs: Vec<Shape>,
    input_shardings: Option<Vec<Sharding>>,
    output_shardings: Option<Vec<Sharding>>,
    memory: MemoryStats,
    cost: BTreeMap<String, f64>,
    fingerprint: Option<String>,
}

/// Compiles in this process the program that standard input has, and writes a line for the process that started this one.
pub(super) fn compile(arguments: &CompileArguments) -> Result<(), Failure> {
    let bytes = io::read("-".as_ref())?;
    let answer = arguments
        .plugin
        .as_ref()
        .map_or_else(Plugin::find, Plugin::load)
        .map_err(|error| Trouble::NoCompiler(error.to_string()))
        .and_then(|plugin| message(arguments, &plugin, &bytes).map_err(|error| Trouble::Refused(error.to_string())));
    io::write(json_line(&answer).as_bytes())
}

fn message(arguments: &CompileArguments, plugin: &Plugin, bytes: &[u8]) -> Result<Message, Error> {
    let program = Program::from_bytes(bytes)?;
    let [target] = arguments.targets.as_slice() else { return Err(Error::NotAProgram("it has one device".to_owned())) };
    let slice = target.name.parse::<Slice>()?;
    let compiled = plugin.topology(&slice)?.compile(&program, &options(arguments))?;
    Message::new(&compiled)
}

fn options(arguments: &CompileArguments) -> CompileOptions {
    let limit = Duration::from_secs(arguments.time_limit);
    let mut options = CompileOptions::new().time_limit(Some(limit));
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

/// The arguments of the process that compiles for one device.
fn command(itself: &[OsString], arguments: &CompileArguments, slice: &Slice) -> Command {
    let (program, first) =
        itself.split_first().map_or_else(|| ("xla-shape".into(), &[][..]), |(program, first)| (program.clone(), first));
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
    // It sets them itself where nothing else runs there; that is sure here.
    command.envs(LoadOptions::new().variables());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts a process that compiles a program for one device, and gives what the compiler says there.
pub(super) fn start(
    itself: &[OsString],
    arguments: &CompileArguments,
    slice: &Slice,
    program: &[u8],
) -> Result<Said, Trouble> {
    let failed =
        |error: std::io::Error| Trouble::NoCompiler(format!("cannot start a process for the compiler: {error}"));
    let mut child = command(itself, arguments, slice).spawn().map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        // A process that ends before it has read everything says more by how it ended.
        let _ = input.write_all(program);
    }
    let errors = child.stderr.take().map(|mut errors| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was written before it broke is kept.
            let _ = errors.read_to_end(&mut bytes);
            bytes
        })
    });
    let answer = child.stdout.take().and_then(|output| {
        // Plug-ins may write lines of their own.
        let mut lines = BufReader::new(output).split(b'\n').map_while(std::io::Result::ok);
        lines.find_map(|line| serde_json::from_slice::<Result<Message, Trouble>>(&line).ok())
    });
    if answer.is_some() {
        // Nothing is left to do in it, and some compilers take long to end, or do not. It may have ended.
        let _ = child.kill();
    }
    let status = child.wait().map_err(failed)?;
    let errors = errors.and_then(|errors| errors.join().ok()).unwrap_or_default();
    let Some(answer) = answer else {
        return Err(Trouble::Refused(last_words(status, &String::from_utf8_lossy(&errors))));
    };
    // What the compiler noted. Where nobody listens, nobody misses it.
    let _ = std::io::stderr().write_all(harmless(&String::from_utf8_lossy(&errors)).as_bytes());
    let unreadable = || Trouble::Refused("the process of the compiler gave an answer that cannot be read".to_owned());
    answer?.said().ok_or_else(unreadable)
}

/// How a process ended that did not answer: libtpu writes why, and where the stack was.
fn last_words(status: ExitStatus, errors: &str) -> String {
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
    /// What a plug-in does not say is left out.
    fn new(compiled: &Compiled) -> Result<Self, Error> {
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
        })
    }

    fn said(self) -> Option<Said> {
        let shapes = |texts: Vec<String>| texts.iter().map(|text| text.parse().ok()).collect::<Option<Vec<Shape>>>();
        let divided = |texts: Option<Vec<String>>| match texts {
            Some(texts) => texts.iter().map(|text| text.parse().ok()).collect::<Option<Vec<Sharding>>>().map(Some),
            None => Some(None),
        };
        let totals =
            |[arguments, outputs, aliases, temporaries]: [u64; 4]| Totals { arguments, outputs, aliases, temporaries };
        Some(Said {
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
        })
    }
}

/// The properties that are numbers.
fn bits(properties: Properties) -> BTreeMap<String, u64> {
    let number = |property| match property {
        Property::Float(number) => Some(f64::from(number)),
        Property::Integer(number) => Some(number as f64),
        _ => None,
    };
    properties.into_iter().filter_map(|(name, property)| Some((name, number(property)?.to_bits()))).collect()
}

impl Said {
    /// The message of the optimized module.
    pub(super) fn message(&self) -> &[u8] {
        &self.module
    }

    /// The optimized module.
    pub(super) fn module(&self) -> Result<Module<'static>, Trouble> {
        Module::from_proto(&self.module).map_err(|error| Trouble::Refused(Error::from(error).to_string()))
    }

    pub(super) fn answered<'a>(&self, module: &'a Module<'a>) -> Answered<'a> {
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
    use super::last_words;
    use std::process::ExitStatus;

    #[test]
    fn of_what_a_process_wrote_the_reason_is_kept() {
        let words = |errors: &str| {
            let text = last_words(ExitStatus::default(), errors);
            text.split_once("): ").unwrap().1.to_owned()
        };
        let fatal = "a note\nF1122 08:27:08.375060   12233 shape_util.cc:1058] Check failed: !count_overflow \n*** Check failure";
        assert_eq!(words(fatal), "shape_util.cc:1058: Check failed: !count_overflow");
        assert_eq!(words("\n  Fatal: no\nmore"), "Fatal: no");
        assert_eq!(words(""), "it did not say why");
        assert_eq!(words(&"x".repeat(10_000)).len(), 500);
    }
}
