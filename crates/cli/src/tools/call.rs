//! A call of a tool: a process of this program.

use super::paths::Roots;
use super::tools::{Kind, Parameter, Tool};
use crate::io::PROGRESS_MARK;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use xla_shape_program::Host;

/// The most bytes of an answer, and of the warnings and errors beside it.
const MAX_ANSWER: u64 = 64 << 20;
const MAX_SAID: usize = 64 << 10;

/// How often it is looked whether a call is cancelled, and how often its progress is told.
const SOON: Duration = Duration::from_millis(50);
const PROGRESS: Duration = Duration::from_secs(1);

/// The command of a call.
pub(super) struct Call {
    arguments: Vec<OsString>,
    /// The working directory of the call, with the texts that were given inline.
    folder: TempDir,
}

/// How a call ended.
pub(super) enum Outcome {
    Cancelled,
    /// The error: an object with `code` and `message`.
    Failed(Value),
    Answered(Answered),
}

/// What a call answered.
pub(super) struct Answered {
    /// Whether the verdict is good.
    pub(super) ok: bool,
    pub(super) digest: String,
    pub(super) answers: Vec<Value>,
    pub(super) warnings: Vec<String>,
}

impl Call {
    /// The command with these arguments, or why they are refused.
    pub(super) fn new(tool: &Tool, given: &Map<String, Value>, roots: &Roots) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a directory for the call: {error}"))?;
        let known = |name: &String| tool.parameters.iter().any(|parameter| parameter.name == *name);
        if let Some(unknown) = given.keys().find(|name| !known(name)) {
            let names = tool.parameters.iter().map(|parameter| parameter.name.as_str()).collect::<Vec<_>>();
            return Err(format!("unknown argument `{unknown}`; expected {}", names.join(", ")));
        }
        let mut arguments = tool.words.iter().map(OsString::from).collect::<Vec<_>>();
        let mut unnamed: Vec<OsString> = Vec::new();
        let mut missing: Option<&str> = None;
        for parameter in &tool.parameters {
            let value = given.get(&parameter.name).filter(|value| !value.is_null());
            let values = value.map(|value| values(parameter, value, roots, &folder)).transpose()?.unwrap_or_default();
            match (&parameter.option, missing) {
                (Some(option), _) => arguments.extend(words(parameter, option, values)),
                (None, Some(before)) if !values.is_empty() => {
                    return Err(format!("`{}` needs `{before}`", parameter.name));
                }
                (None, _) if values.is_empty() => missing = missing.or(Some(&parameter.name)),
                (None, _) => unnamed.extend(values),
            }
        }
        // After this, nothing is an option.
        arguments.push("--".into());
        arguments.extend(unnamed);
        Ok(Self { arguments, folder })
    }

    /// Runs it. Once `stop` is set, it is ended, with all processes that it started. `tell` gets its progress now and then.
    pub(super) fn run(self, host: &Host, stop: &AtomicBool, mut tell: impl FnMut(Duration, &str)) -> Outcome {
        let failed = |message: String| Outcome::Failed(json!({ "code": "call", "message": message }));
        let Some((program, first)) = host.command.split_first() else {
            return failed("this program does not know its own file".to_owned());
        };
        let mut command = Command::new(program);
        command.args(first).args(&self.arguments).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return failed(format!("the call cannot be started: {error}")),
        };
        let (sender, said) = mpsc::channel();
        let errors = child.stderr.take().map(BufReader::new);
        thread::spawn(move || {
            let lines = errors.into_iter().flat_map(|errors| errors.split(b'\n')).map_while(Result::ok);
            lines.for_each(|line| drop(sender.send(String::from_utf8_lossy(&line).into_owned())));
        });
        let (sender, answer) = mpsc::channel();
        let output = child.stdout.take();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = output.map(|output| output.take(MAX_ANSWER + 1).read_to_end(&mut bytes));
            drop(sender.send(read.map(|_| bytes)));
        });
        let (start, mut told) = (Instant::now(), Duration::ZERO);
        let (mut lines, mut length, mut progress) = (Vec::new(), 0, String::new());
        let mut hear = |line: String, progress: &mut String| {
            if let Some(what) = line.strip_prefix(PROGRESS_MARK) {
                what.clone_into(progress);
            } else if length < MAX_SAID {
                length += line.len();
                lines.push(line);
            }
        };
        let bytes = loop {
            match answer.recv_timeout(SOON) {
                Ok(bytes) => break bytes.unwrap_or_default(),
                Err(RecvTimeoutError::Disconnected) => break Vec::new(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            said.try_iter().for_each(|line| hear(line, &mut progress));
            if stop.load(Ordering::Relaxed) {
                end(&mut child);
                return Outcome::Cancelled;
            }
            if start.elapsed() >= told + PROGRESS {
                told = start.elapsed();
                tell(told, &progress);
            }
        };
        if bytes.len() as u64 > MAX_ANSWER {
            end(&mut child);
            return failed(format!("the answer has more than {MAX_ANSWER} bytes; ask for less, such as with `top`"));
        }
        let code = child.wait().ok().and_then(|status| status.code());
        // The lines end when the process has ended, unless a process that it started has kept the pipe.
        while let Ok(line) = said.recv_timeout(SOON) {
            hear(line, &mut progress);
        }
        answered(code, &bytes, lines)
    }
}

/// What a process has written, as an answer or an error.
fn answered(code: Option<i32>, bytes: &[u8], mut lines: Vec<String>) -> Outcome {
    let text = String::from_utf8_lossy(bytes);
    let mut values = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect::<Vec<_>>();
    let error = lines.iter().rposition(|line| line.starts_with(r#"{"schema":"xla-shape/error/"#));
    let error = error.and_then(|place| serde_json::from_str::<Value>(&lines.remove(place)).ok());
    if values.is_empty() && code != Some(0) {
        let ended =
            || json!({ "code": "call", "message": format!("the call ended without an answer: {}", lines.join("\n")) });
        return Outcome::Failed(error.unwrap_or_else(ended));
    }
    let digest = match values.first() {
        Some(Value::String(digest)) => digest.clone(),
        _ => String::new(),
    };
    values.retain(Value::is_object);
    lines.extend(error.and_then(|error| error["message"].as_str().map(str::to_owned)));
    let warnings = lines.into_iter().filter(|line| !line.trim().is_empty()).collect();
    Outcome::Answered(Answered { ok: code == Some(0), digest, answers: values, warnings })
}

/// Ends a process, with those that it started.
fn end(child: &mut Child) {
    // These fail if the processes have ended.
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}

/// The values of an argument as words.
fn values(parameter: &Parameter, value: &Value, roots: &Roots, folder: &TempDir) -> Result<Vec<OsString>, String> {
    let name = &parameter.name;
    let list = match (parameter.is_list, value) {
        (true, Value::Array(list)) if parameter.together > 1 && list.iter().all(Value::is_array) => {
            let groups = list.iter().filter_map(Value::as_array);
            if groups.clone().any(|group| group.len() != parameter.together) {
                return Err(format!("`{name}`: expected lists of {} values", parameter.together));
            }
            groups.flatten().collect()
        }
        (true, Value::Array(list)) => list.iter().collect(),
        _ => vec![value],
    };
    let word = |(number, value): (usize, &Value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) if matches!(parameter.kind, Kind::Number | Kind::Text) => number.to_string(),
            Value::Bool(is_set) if parameter.kind == Kind::Flag => is_set.to_string(),
            Value::Object(inline) if parameter.kind == Kind::Input => {
                return inline_file(name, number, inline, folder).map(OsString::from);
            }
            _ => return Err(format!("`{name}`: expected {}", expected(parameter.kind))),
        };
        Ok(match parameter.kind {
            Kind::Input => roots.input(&text)?.into(),
            Kind::Output => roots.output(&text)?.into(),
            Kind::CompilerOption => match harmful_option(&text) {
                Some(why) => return Err(format!("`{name}`: {why}")),
                None => text.into(),
            },
            _ => text.into(),
        })
    };
    list.into_iter().enumerate().map(word).collect()
}

/// Why an option of the compiler is refused: it may name a file, which the compiler would write or read.
fn harmful_option(option: &str) -> Option<&'static str> {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let is_value = matches!(value, "true" | "false") || value.parse::<f64>().is_ok();
    (!is_value || name.contains("dump"))
        .then_some("expected NAME=VALUE with a number, true or false, and no option of dumps")
}

fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Flag => "true or false",
        Kind::Number => "a number",
        Kind::Input => "a path, or an object with `text`",
        Kind::Output => "a path",
        Kind::Text | Kind::CompilerOption => "a text",
    }
}

/// Writes a text that was given inline into the directory of the call; its path there.
fn inline_file(argument: &str, number: usize, given: &Map<String, Value>, folder: &TempDir) -> Result<PathBuf, String> {
    let Some(text) = given.get("text").and_then(Value::as_str) else {
        return Err(format!("`{argument}`: expected an object with `text`"));
    };
    let name = match given.get("name").and_then(Value::as_str) {
        Some(name) => name.to_owned(),
        None if number == 0 => argument.to_owned(),
        None => format!("{argument}{number}"),
    };
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    if name.len() > 100
        || !name.starts_with(|first: char| first.is_ascii_alphanumeric())
        || !name.chars().all(is_allowed)
    {
        return Err(format!("`{argument}`: expected a name of letters, digits, `.`, `_` and `-`"));
    }
    let path = folder.path().join(&name);
    if path.exists() {
        return Err(format!("`{argument}`: two texts have the name {name}"));
    }
    fs::write(&path, text).map_err(|error| format!("`{argument}`: {error}"))?;
    Ok(PathBuf::from(name))
}

/// An option with its values as words of the command.
fn words(parameter: &Parameter, option: &str, values: Vec<OsString>) -> Vec<OsString> {
    let with = |value: &OsString| {
        let mut word = OsString::from(format!("{option}="));
        word.push(value);
        word
    };
    match parameter.kind {
        Kind::Flag => values.iter().filter(|value| *value == "true").map(|_| option.into()).collect(),
        _ if parameter.together == 1 => values.iter().map(with).collect(),
        _ => values
            .chunks(parameter.together)
            .flat_map(|group| [OsString::from(option)].into_iter().chain(group.iter().cloned()))
            .collect(),
    }
}
