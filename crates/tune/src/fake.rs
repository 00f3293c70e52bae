//! Workers for tests. They compile nothing: a function of the program's text gives the answer of a compiler.

use crate::Workers;
use crate::cache::Origin;
use serde::Serialize;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use xla_shape_program::CompileError;

/// Workers that answer with the result of `measure`. They answer the last request first.
pub(crate) struct Fake<T> {
    measure: fn(&str) -> Result<T, CompileError>,
    /// The programs that were compiled.
    pub(crate) compiled: RefCell<Vec<String>>,
    /// After this number of compilations, `stop` is set.
    stop_after: Option<usize>,
    pub(crate) stop: AtomicBool,
    /// No compiler is found.
    pub(crate) missing: Cell<bool>,
    /// No compiler is found for the programs with this text.
    without: Option<&'static str>,
}

impl<T> Fake<T> {
    pub(crate) fn new(measure: fn(&str) -> Result<T, CompileError>) -> Self {
        let (compiled, stop) = (RefCell::default(), AtomicBool::new(false));
        Self { measure, compiled, stop_after: None, stop, missing: Cell::new(false), without: None }
    }

    pub(crate) fn stopped_after(self, compilations: usize) -> Self {
        Self { stop_after: Some(compilations), ..self }
    }

    pub(crate) fn without(self, program: &'static str) -> Self {
        Self { without: Some(program), ..self }
    }

    /// The number of compilations.
    pub(crate) fn compilations(&self) -> usize {
        self.compiled.borrow().len()
    }
}

impl<T: Serialize> Workers for Fake<T> {
    fn run(&self, requests: &[(&[u8], Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
        let origin: Origin = serde_json::from_value(
            json!({"compiler": {"path": "/libtpu.so", "bytes": 7, "written": 1}, "flags": [null, null]}),
        )
        .unwrap();
        for (number, (program, request)) in requests.iter().enumerate().rev() {
            let request: serde_json::Value = serde_json::from_slice(request).unwrap();
            let text = std::str::from_utf8(program).unwrap();
            let is_about_compiler = request.get("Origin").is_some() || request.get("Version").is_some();
            let answer = if self.missing.get() || (!is_about_compiler && self.without == Some(text)) {
                json!({ "Err": CompileError::NoCompiler("there is none".to_owned()) })
            } else if request.get("Origin").is_some() {
                json!({ "Ok": origin })
            } else if request.get("Version").is_some() {
                json!({ "Ok": "fake 1" })
            } else {
                self.compiled.borrow_mut().push(text.to_owned());
                if self.stop_after.is_some_and(|most| self.compilations() > most) {
                    self.stop.store(true, Ordering::Relaxed);
                }
                match (self.measure)(text) {
                    Ok(measured) => json!({ "Ok": {"measured": measured, "origin": origin} }),
                    Err(error) => json!({ "Err": error }),
                }
            };
            if !done(number, &serde_json::to_vec(&answer).unwrap()) {
                break;
            }
        }
        Ok(())
    }
}
