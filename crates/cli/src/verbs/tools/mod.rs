//! The verbs as tools for agents. `mcp` and the Python package offer them.
//!
//! Each call runs this program in a new process. So cancelling a call ends its process, and all its memory is freed. The tools, their arguments and
//! their schemas come from the table of verbs.

mod call;
mod kept;
mod table;

use call::Call;
use kept::Kept;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use table::{Tool, tools};
use xla_shape_answers::problem::{Code, Problem};
use xla_shape_answers::tool::ToolAnswer;
use xla_shape_files::{Roots, RootsError};
use xla_shape_program::Host;

/// The tools, with their long answers so far.
pub struct Tools {
    tools: Vec<Tool>,
    roots: Roots,
    kept: Mutex<Kept>,
}

impl Tools {
    /// The tools. They read files below these directories, and write files only with `write`.
    ///
    /// # Errors
    /// If a root is not a directory.
    pub fn new(roots: &[PathBuf], write: bool) -> Result<Self, RootsError> {
        Ok(Self { tools: tools(write), roots: Roots::new(roots)?, kept: Mutex::default() })
    }

    /// Whether there is a tool with this name.
    pub fn has(&self, name: &str) -> bool {
        name == kept::NAME || self.tools.iter().any(|tool| tool.name == name)
    }

    /// The tools as the Model Context Protocol lists them: with their names, descriptions and JSON Schemas.
    pub fn described(&self) -> Vec<Value> {
        self.tools.iter().map(|tool| tool.described.clone()).chain([kept::described()]).collect()
    }

    /// The answer of a tool to these arguments; `None` if `stop` was set, which ends the call. `tell` gets the progress every second.
    pub fn call(
        &self,
        host: &Host,
        name: &str,
        arguments: &Map<String, Value>,
        stop: &AtomicBool,
        tell: impl FnMut(Duration, &str),
    ) -> Option<ToolAnswer> {
        let refused = |message: String| Some(ToolAnswer::refused(&Problem { code: Code::Usage, message, place: None }));
        // A poisoned lock is fine: a call that panics leaves the stored answers consistent.
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if name == kept::NAME {
            let part = kept().read(arguments);
            return part
                .map_or_else(refused, |part| Some(ToolAnswer { ok: true, part: Some(part), ..Default::default() }));
        }
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else {
            return refused(format!("unknown tool `{name}`"));
        };
        let call = match Call::new(tool, arguments, &self.roots) {
            Ok(call) => call,
            Err(message) => return refused(message),
        };
        let (answer, digest) = call.run(host, stop, tell)?;
        Some(if answer.error.is_some() { answer } else { kept().shorten(answer, digest) })
    }
}
