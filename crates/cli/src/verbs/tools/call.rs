//! A call of a tool: a process of this program.

use super::table::{Kind, Parameter, Tool};
use crate::io::PROGRESS_MARK;
use serde_json::{Map, Value};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use xla_shape_answers::problem::{Code, Problem};
use xla_shape_answers::tool::ToolAnswer;
use xla_shape_files::Roots;
use xla_shape_program::{Host, Until, attend};

/// The most bytes of an answer; then the most lines on standard error, and the most characters of each.
const MAX_ANSWER: u64 = 64 << 20;
const MAX_LINES: usize = 50;
const MAX_LINE: usize = 500;

/// The beginning of the line that `--format json` writes for an error.
const ERROR: &str = r#"{"schema":"xla-shape/error/"#;

/// The interval at which the progress of a call is reported.
const PROGRESS: Duration = Duration::from_secs(1);

/// The command of a call.
pub(super) struct Call {
    arguments: Vec<OsString>,
    /// The working directory of the call, with the texts that were given inline.
    folder: TempDir,
}

impl Call {
    /// The command with these arguments. The error says why they are refused.
    pub(super) fn new(tool: &Tool, given: &Map<String, Value>, roots: &Roots) -> Result<Self, String> {
        if let Some(unknown) = given.keys().find(|name| tool.parameters.iter().all(|known| known.name != **name)) {
            let names = tool.parameters.iter().map(|parameter| parameter.name.as_str()).collect::<Vec<_>>();
            return Err(format!("unknown argument `{unknown}`; expected {}", names.join(", ")));
        }
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a directory for the call: {error}"))?;
        let mut arguments = tool.words.iter().map(OsString::from).collect::<Vec<_>>();
        let mut unnamed = Vec::new();
        let mut missing = None;
        for parameter in &tool.parameters {
            let value = given.get(&parameter.name).filter(|value| !value.is_null());
            let values = value.map(|value| values(parameter, value, roots, &folder)).transpose()?.unwrap_or_default();
            if parameter.argument.is_required_set() && values.is_empty() {
                return Err(format!("`{}` is missing: {}", parameter.name, parameter.kind.expected()));
            }
            match (parameter.argument.get_long(), missing) {
                (Some(option), _) => arguments.extend(words(parameter, option, values)?),
                (None, _) if values.is_empty() => missing = missing.or(Some(&parameter.name)),
                (None, Some(before)) => return Err(format!("`{}` needs `{before}`", parameter.name)),
                (None, None) => unnamed.extend(values),
            }
        }
        // After this, no argument is read as an option.
        arguments.push("--".into());
        arguments.extend(unnamed);
        Ok(Self { arguments, folder })
    }

    /// Runs the command, and returns the answer with its text or digest. If `stop` is set meanwhile, it ends all processes that it started, and
    /// returns `None`. It reports progress to `tell` about once a second.
    pub(super) fn run(
        self,
        host: &Host,
        stop: &AtomicBool,
        mut tell: impl FnMut(Duration, &str),
    ) -> Option<(ToolAnswer, String)> {
        let failed =
            |message: String| (ToolAnswer::refused(&Problem { code: Code::Call, message, place: None }), String::new());
        let Some(mut command) = host.process() else {
            return Some(failed("this program does not know its own file".to_owned()));
        };
        command.args(&self.arguments).current_dir(self.folder.path());
        let (start, mut told) = (Instant::now(), Duration::ZERO);
        let read = |output: std::process::ChildStdout| {
            let mut bytes = Vec::new();
            // One byte more than allowed shows that the answer is too long.
            output.take(MAX_ANSWER + 1).read_to_end(&mut bytes).ok().map(|_| bytes)
        };
        let done = attend(command, b"", Until::Exit, read, |notes| {
            if start.elapsed() >= told + PROGRESS {
                told = start.elapsed();
                tell(told, notes.so_far().lines().rev().find_map(progress).unwrap_or_default());
            }
            !stop.load(Ordering::Relaxed)
        });
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let done = match done {
            Ok(done) => done,
            Err(error) => return Some(failed(format!("the call cannot be started: {error}"))),
        };
        let bytes = done.answer.unwrap_or_default();
        if bytes.len() as u64 > MAX_ANSWER {
            let message = format!("the answer has more than {MAX_ANSWER} bytes; ask for less, such as with `top`");
            return Some(failed(message));
        }
        Some(answered(done.status.success(), &bytes, &done.notes).unwrap_or_else(failed))
    }
}

/// The progress that a line of standard error reports, if it does.
fn progress(line: &str) -> Option<&str> {
    line.strip_prefix(PROGRESS_MARK)
}

/// The output of a process, as an answer with its text or digest, or as an error of the program. `Err` if the output is neither.
fn answered(ok: bool, bytes: &[u8], notes: &str) -> Result<(ToolAnswer, String), String> {
    let text = String::from_utf8_lossy(bytes);
    let mut answers = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect::<Vec<_>>();
    let error = notes.lines().rfind(|line| line.starts_with(ERROR));
    let said = notes.lines().filter(|line| Some(*line) != error && progress(line).is_none() && !line.trim().is_empty());
    let error = error.and_then(|line| serde_json::from_str::<Value>(line).ok());
    if answers.is_empty() && !ok {
        return match error {
            Some(error) => Ok((ToolAnswer { error: Some(error), ..ToolAnswer::default() }, String::new())),
            None => Err(format!(
                "the call ended without an answer: {}",
                said.take(MAX_LINES).collect::<Vec<_>>().join("\n")
            )),
        };
    }
    let digest = match answers.first() {
        Some(Value::String(digest)) => digest.clone(),
        _ => String::new(),
    };
    answers.retain(Value::is_object);
    let message = error.as_ref().and_then(|error| error["message"].as_str());
    let warnings = said.take(MAX_LINES).chain(message).map(|line| line.chars().take(MAX_LINE).collect()).collect();
    Ok((ToolAnswer { ok, answers: Some(answers), warnings, ..ToolAnswer::default() }, digest))
}

/// The values of an argument, as words of the command.
fn values(parameter: &Parameter, value: &Value, roots: &Roots, folder: &TempDir) -> Result<Vec<OsString>, String> {
    let (name, together) = (&parameter.name, parameter.together());
    let list = match value {
        Value::Array(groups) if together > 1 => {
            let groups = groups.iter().map(|group| group.as_array().filter(|group| group.len() == together));
            let groups = groups.collect::<Option<Vec<_>>>();
            groups
                .ok_or_else(|| format!("`{name}`: expected lists of {together} values"))?
                .into_iter()
                .flatten()
                .collect()
        }
        Value::Array(list) if parameter.is_list() => list.iter().collect(),
        one => vec![one],
    };
    let word = |(number, value): (usize, &Value)| {
        let text = match (value, parameter.kind) {
            (Value::String(text), _) => text.clone(),
            (Value::Number(_), Kind::Number | Kind::Text) | (Value::Bool(_), Kind::Flag) => value.to_string(),
            (Value::Object(inline), Kind::Input) => return inline_file(name, number, inline, folder),
            (_, kind) => return Err(format!("`{name}`: expected {}", kind.expected())),
        };
        Ok(match parameter.kind {
            Kind::Input => roots.input(&text).map_err(|error| error.to_string())?.into(),
            Kind::Output => roots.output(&text).map_err(|error| error.to_string())?.into(),
            Kind::CompilerOption if is_harmful(&text) => {
                let expected = "expected NAME=VALUE with a number, true or false, and no option of dumps";
                return Err(format!("`{name}`: {expected}"));
            }
            _ => text.into(),
        })
    };
    list.into_iter().enumerate().map(word).collect()
}

/// Whether an option of the compiler may name a file that the compiler would write or read.
fn is_harmful(option: &str) -> bool {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let is_value = matches!(value, "true" | "false") || value.parse::<f64>().is_ok();
    !is_value || name.contains("dump")
}

/// Writes a text that was given inline into the directory of the call; returns its path.
fn inline_file(
    argument: &str,
    number: usize,
    given: &Map<String, Value>,
    folder: &TempDir,
) -> Result<OsString, String> {
    let text = given.get("text").and_then(Value::as_str);
    let text = text.filter(|_| given.keys().all(|name| name == "text" || name == "name"));
    let text = text.ok_or_else(|| format!("`{argument}`: expected an object with `text`, and maybe `name`"))?;
    let own = || if number == 0 { argument.to_owned() } else { format!("{argument}{number}") };
    let name = given.get("name").map_or_else(|| Some(own()), |name| name.as_str().map(str::to_owned));
    let name = name.unwrap_or_default();
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    if name.len() > 100 || name.starts_with(['.', '_', '-']) || name.is_empty() || !name.chars().all(is_allowed) {
        return Err(format!("`{argument}`: expected a name of letters, digits, `.`, `_` and `-`"));
    }
    let path = folder.path().join(&name);
    if path.exists() {
        return Err(format!("`{argument}`: two texts have the name {name}"));
    }
    fs::write(&path, text).map_err(|error| format!("`{argument}`: {error}"))?;
    Ok(name.into())
}

/// An option with its values as words of the command. It refuses values that would be read as an option.
fn words(parameter: &Parameter, option: &str, values: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let option = OsString::from(format!("--{option}"));
    let mut words = Vec::new();
    for group in values.chunks(parameter.together()) {
        match group {
            [value] if parameter.kind == Kind::Flag => words.extend((value == "true").then(|| option.clone())),
            // After `=`, a value may begin with `-`, such as a negative number.
            [value] => words.push([&option, OsStr::new("="), value].into_iter().collect()),
            _ if group.iter().any(|value| value.as_encoded_bytes().starts_with(b"-")) => {
                return Err(format!("`{}`: no value of it begins with `-`", parameter.name));
            }
            _ => words.extend(std::iter::once(&option).chain(group).cloned()),
        }
    }
    Ok(words)
}
