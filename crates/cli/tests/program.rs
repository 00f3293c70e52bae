//! Runs the program as a command with an input.

use serde_json::Value;
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{self, Output, Stdio};
use std::thread;

/// Where cargo puts the program.
pub(crate) fn program_path() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_xla-shape"))
}

/// Errors in JSON, as the text that the program writes for people.
pub(crate) fn in_words(errors: &str) -> String {
    let message = |line: &str| {
        let error = serde_json::from_str::<Value>(line).ok()?;
        error["message"].as_str().map(str::to_owned)
    };
    errors.lines().map(|line| message(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

/// A command with the given standard input, which is empty by default.
pub(crate) struct Command {
    command: process::Command,
    input: Vec<u8>,
}

impl Command {
    /// The program of this package, without arguments.
    pub(crate) fn program() -> Self {
        Self::new(program_path())
    }

    /// Any other program.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Self { command: process::Command::new(program), input: Vec::new() }
    }

    pub(crate) fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.command.arg(argument);
        self
    }

    pub(crate) fn args(&mut self, arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> &mut Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn envs<'v>(&mut self, variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> &mut Self {
        self.command.envs(variables);
        self
    }

    pub(crate) fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.command.current_dir(folder);
        self
    }

    /// What the command reads from standard input.
    pub(crate) fn write_stdin(&mut self, input: impl Into<Vec<u8>>) -> &mut Self {
        self.input = input.into();
        self
    }

    /// Runs the command until it ends.
    pub(crate) fn output(&mut self) -> io::Result<Output> {
        let mut child = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        thread::scope(|scope| {
            let input = child.stdin.take();
            // A program that does not read its input closes it.
            scope.spawn(|| input.map(|mut input| input.write_all(&self.input)));
            child.wait_with_output()
        })
    }
}
