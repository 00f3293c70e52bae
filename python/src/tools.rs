//! The questions as tools for agents.

use crate::error::shape_error;
use crate::host;
use crate::room::Text;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use xla_shape_answers::json_line;
use xla_shape_program::Host;

/// The tools of `xla-shape mcp`, without a server. They take and return JSON; `xla_shape.tools.Tools` takes and returns Python values.
#[pyclass(frozen, module = "xla_shape._native")]
pub(crate) struct Tools {
    tools: xla_shape_cli::Tools,
    host: Host,
}

#[pymethods]
impl Tools {
    #[new]
    fn new(py: Python<'_>, roots: Vec<PathBuf>, write: bool) -> PyResult<Self> {
        let host = host(&py.import("xla_shape._native")?)?;
        Ok(Self { tools: xla_shape_cli::Tools::new(&roots, write).map_err(shape_error)?, host })
    }

    /// The tools as a JSON list.
    fn described(&self) -> Text<String> {
        Text(json_line(&self.tools.described()))
    }

    /// The answer of a tool as JSON. The arguments are a JSON object.
    fn call(&self, py: Python<'_>, name: &str, arguments: &str) -> PyResult<Text<String>> {
        let arguments = serde_json::from_str(arguments).map_err(shape_error)?;
        let stop = AtomicBool::new(false);
        let mut raised = None;
        let answer = py.detach(|| {
            self.tools.call(&self.host, name, &arguments, &stop, |_, _| {
                // Ctrl-C ends the call.
                raised = Python::attach(|py| py.check_signals()).err();
                stop.store(raised.is_some(), Ordering::Relaxed);
            })
        });
        match (answer, raised) {
            (Some(answer), _) => Ok(Text(json_line(&answer))),
            (None, Some(raised)) => Err(raised),
            (None, None) => Err(shape_error("the call was ended")),
        }
    }
}
