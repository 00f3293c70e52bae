//! Generates code that tiles an array, or finds its elements.

use super::{arrays, functions};
use crate::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use xla_shape_core::{ArrayShape, StrideTableError};

words! {
    /// What code is written for.
    pub enum Language {
        /// A Python module with NumPy.
        Numpy = "numpy",
        /// A Python module with JAX.
        Jax = "jax",
        /// A Python module with torch.
        Torch = "torch",
        /// C99.
        C = "c",
        /// C++17.
        Cpp = "cpp",
        /// Rust.
        Rust = "rust",
    }
}

impl Language {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Numpy, Self::Jax, Self::Torch, Self::C, Self::Cpp, Self::Rust];
}

impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().copied().find(|language| language.as_str() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.iter().map(|language| language.as_str()).collect::<Vec<_>>();
            format!("expected one of {}", names.join(", "))
        })
    }
}

/// Code for an array.
///
/// For Python, the code is a module with three functions: `tile(x)` turns a plain array into a one-dimensional array of all positions, with 0 as
/// padding; `untile(y)` is its inverse; and a third function gives the position of an element. For C, C++ and Rust, the code is the function for
/// positions, and its inverse.
///
/// ```
/// use xla_shape_answers::convert::{Code, Language};
///
/// let code = Code::new(&"f32[6,200]{1,0:T(8,128)}".parse()?, Language::Numpy, "linear_index")?;
/// assert!(code.code.contains("x = x.transpose(1, 0, 2)"));
/// let code = Code::new(&"f32[6,200]{1,0:T(8,128)}".parse()?, Language::C, "linear_index")?;
/// assert!(code.code.contains("return (index[1] >> 7) * 1024 + index[0] * 128 + (index[1] & 127);"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Code {
    /// The shape in XLA's text.
    pub shape: String,
    /// The language of the code.
    pub language: Language,
    /// The name of the function in the code.
    pub name: String,
    /// The code.
    pub code: String,
}

impl Code {
    /// The code for this array; `name` is the name of the function for positions.
    ///
    /// # Errors
    /// If a dimension is unbounded, or the name is not valid for a function in the language.
    pub fn new(array: &ArrayShape, language: Language, name: &str) -> Result<Self, CodeError> {
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_word || name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(CodeError::Name(name.to_owned()));
        }
        let code = match language {
            Language::Numpy | Language::Jax | Language::Torch => arrays::module(array, language, name)?,
            Language::C | Language::Cpp | Language::Rust => functions::functions(array, language, name)?,
        };
        Ok(Self { shape: array.to_string(), language, name: name.to_owned(), code })
    }
}

impl Answer for Code {
    const SCHEMA: &'static str = super::SCHEMA;
}

/// Why there is no code.
///
/// ```
/// use xla_shape_answers::convert::{Code, CodeError, Language};
///
/// let array = "f32[6,200]{1,0:T(8,128)}".parse()?;
/// assert_eq!(Code::new(&array, Language::C, "2d").unwrap_err(), CodeError::Name("2d".to_owned()));
/// let error = Code::new(&"f32[?,200]".parse()?, Language::C, "position").unwrap_err();
/// assert!(matches!(error, CodeError::StrideTable(_)), "{error}");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CodeError {
    /// The elements have no positions.
    StrideTable(StrideTableError),
    /// The name is not valid for a function.
    Name(String),
}

impl From<StrideTableError> for CodeError {
    fn from(error: StrideTableError) -> Self {
        Self::StrideTable(error)
    }
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StrideTable(error) => error.fmt(f),
            Self::Name(name) => write!(f, "expected letters, digits and `_` as the name of a function, found `{name}`"),
        }
    }
}

impl std::error::Error for CodeError {}
