//! A program in MLIR inside another text, such as a log.

use super::wrapping::LogLines;
use alloc::borrow::ToOwned;
use alloc::string::String;
use xla_shape_mlir::open_braces;

/// The text of the first whole program in MLIR in a log, a Markdown page or a message; `None` if there is none.
///
/// ```
/// let page = "# A page\n\n```mlir\nmodule @jit_f {\n  func.func public @main() {\n  }\n}\n```\n";
/// assert!(xla_shape_hlo::mlir_text(page).unwrap().starts_with("module @jit_f {"));
/// ```
#[must_use]
pub fn mlir_text(text: &str) -> Option<String> {
    let (mut log, mut reader) = (LogLines::default(), MlirReader::default());
    for line in text.lines() {
        log.unwrap(line).lines().for_each(|line| reader.read_line(line));
    }
    reader.program().map(ToOwned::to_owned)
}

/// Finds the first whole program in MLIR, a `module` with a function `main`, in the lines of a log without their prefixes.
///
/// ```
/// let mut reader = xla_shape_hlo::MlirReader::default();
/// for line in ["E0101 refused:", "module @jit_f {", "  func.func public @main() {", "    return", "  }", "}", "#loc = loc(unknown)", "bye"] {
///     reader.read_line(line);
/// }
/// let program = reader.program().unwrap();
/// assert!(program.starts_with("module @jit_f {") && program.ends_with("}\n#loc = loc(unknown)\n"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct MlirReader {
    text: String,
    state: State,
    /// How many braces are open.
    depth: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    /// No module has begun. The text contains names of locations, such as `#loc`, which can come before a module.
    #[default]
    Before,
    Inside,
    /// The module is closed; names of locations can follow.
    Closed,
    Over,
}

/// The most bytes of a program that are kept.
const MOST_BYTES: usize = 256 << 20;

impl MlirReader {
    /// Reads the next line.
    pub fn read_line(&mut self, line: &str) {
        let is_location = line.trim_start().starts_with("#loc");
        match self.state {
            State::Over => return,
            State::Before if begins(line) => self.state = State::Inside,
            State::Before | State::Closed if is_location => {}
            State::Closed if self.text.contains("@main") => {
                self.state = State::Over;
                return;
            }
            // A kernel, or text between two modules.
            State::Before | State::Closed => {
                *self = Self { state: if begins(line) { State::Inside } else { State::Before }, ..Self::default() };
            }
            State::Inside => {}
        }
        if self.state == State::Before && !is_location {
            return;
        }
        if self.text.len() + line.len() > MOST_BYTES {
            *self = Self { state: State::Over, ..Self::default() };
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
        if self.state == State::Inside {
            self.depth = open_braces(line, self.depth);
            if self.depth == 0 {
                self.state = State::Closed;
            }
        }
    }

    /// The program, if the lines contained a whole one.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        (matches!(self.state, State::Closed | State::Over) && self.text.contains("@main")).then_some(&self.text)
    }
}

/// Whether a module begins with the line.
fn begins(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix("module ");
    rest.is_some_and(|rest| rest.starts_with(['@', '{']) || rest.starts_with("attributes")) && open_braces(line, 0) > 0
}

#[cfg(test)]
mod tests {
    use super::MlirReader;

    fn program(text: &str) -> Option<alloc::string::String> {
        let mut reader = MlirReader::default();
        text.lines().for_each(|line| reader.read_line(line));
        reader.program().map(Into::into)
    }

    #[test]
    fn whole_programs_are_found() {
        let module = "module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n  func.func public @main() {\n    \
                      x {backend_config = \"}}\\\"{\"}\n  }\n}\n";
        let kernel = "module attributes {stable_mosaic.version = 14 : i64} {\n  func.func @k() {\n  }\n}\n";
        let found = Some(module.into());
        assert_eq!(program(module), found);
        assert_eq!(program(&["refused\n", kernel, "at\n", module, "E1000\n", module].concat()), found);
        assert_eq!(program(&["#loc1 = loc(\"a\")\nsays module @x\n", module].concat()), found);
        let located = ["#loc = loc(unknown)\n", module, "#loc1 = loc(\"a\")\n"].concat();
        assert_eq!(program(&[located.as_str(), "more\n"].concat()), Some(located));
        assert_eq!(program(kernel), None);
        assert_eq!(program(module.trim_end().trim_end_matches('}')), None, "it is not whole");
        assert_eq!(program("module @jit_f attributes {} {main} is slow"), None);
    }
}
