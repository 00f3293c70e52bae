//! Why a text is not in MLIR's syntax.

use core::fmt;

/// How deeply regions and brackets may be nested.
pub(crate) const MAX_DEPTH: usize = 256;

/// Why a text is not in MLIR's syntax, with the position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MlirError {
    problem: MlirProblem,
    position: usize,
    line: usize,
}

impl MlirError {
    #[cold]
    pub(crate) const fn new(problem: MlirProblem, position: usize, line: usize) -> Self {
        Self { problem, position, line }
    }

    /// What is wrong.
    ///
    /// ```
    /// use xla_shape_mlir::{MlirProblem, Module};
    ///
    /// let error = Module::parse("module {\n  a.b (\n").unwrap_err();
    /// assert_eq!(error.problem(), MlirProblem::BracketEnd);
    /// ```
    #[must_use]
    pub const fn problem(&self) -> MlirProblem {
        self.problem
    }

    /// The position in the text, in bytes.
    ///
    /// ```
    /// use xla_shape_mlir::{MlirProblem, Module};
    ///
    /// let error = Module::parse("module {\n  a.b (\n").unwrap_err();
    /// assert_eq!(error.position(), 15);
    /// ```
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// The line, from 1.
    ///
    /// ```
    /// use xla_shape_mlir::{MlirProblem, Module};
    ///
    /// let error = Module::parse("module {\n  a.b (\n").unwrap_err();
    /// assert_eq!(error.line(), 2);
    /// ```
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }
}

/// What is wrong with a text in MLIR's syntax.
///
/// ```
/// use xla_shape_mlir::{MlirProblem, Module};
///
/// let error = Module::parse("module {\n  a.b (\n").unwrap_err();
/// assert_eq!((error.line(), error.problem()), (2, MlirProblem::BracketEnd));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MlirProblem {
    /// A closing brace or bracket has no opening one.
    NotOpen,
    /// A region is not closed.
    RegionEnd,
    /// A bracket is not closed, or a bracket of another kind closes it.
    BracketEnd,
    /// A string is not closed.
    StringEnd,
    /// Brackets or regions are nested more deeply than this crate reads.
    TooDeep,
}

impl fmt::Display for MlirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match self.problem {
            MlirProblem::NotOpen => f.write_str("this bracket closes none that is open"),
            MlirProblem::RegionEnd => {
                f.write_str("expected the end of the region that begins here, found the end of the text")
            }
            MlirProblem::BracketEnd => f.write_str("expected the bracket that closes this one"),
            MlirProblem::StringEnd => f.write_str("expected the end of this string, found the end of the line"),
            MlirProblem::TooDeep => write!(f, "expected at most {MAX_DEPTH} nested brackets or regions"),
        }
    }
}

impl core::error::Error for MlirError {}
