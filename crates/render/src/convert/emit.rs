//! Code that tiles an array, or finds its elements.

use super::{arrays, functions};
use crate::{Show, Text};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use xla_shape_answers::Answer;
use xla_shape_core::{ArrayShape, StrideTableError};

/// What code is written for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Language {
    /// A Python module with NumPy.
    Numpy,
    /// A Python module with JAX.
    Jax,
    /// A Python module with torch.
    Torch,
    /// C99.
    C,
    /// C++17.
    Cpp,
    /// Rust.
    Rust,
}

impl Language {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Numpy, Self::Jax, Self::Torch, Self::C, Self::Cpp, Self::Rust];

    /// The name in arguments and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Numpy => "numpy",
            Self::Jax => "jax",
            Self::Torch => "torch",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Rust => "rust",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().copied().find(|language| language.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.iter().map(|language| language.name()).collect::<Vec<_>>();
            format!("expected one of {}", names.join(", "))
        })
    }
}

/// Code for an array.
///
/// For Python it is a module with `tile(x)`, which makes a one-dimensional array of all positions of a plain array, padding 0; `untile(y)`, which
/// is its inverse; and a function that gives the position of an element. For C, C++ and Rust it is that function and its inverse.
///
/// ```
/// use xla_shape_render::convert::{Code, Language};
///
/// let code = Code::new(&"f32[6,200]{1,0:T(8,128)}".parse()?, Language::Numpy, "linear_index")?;
/// assert!(code.code().contains("x = x.transpose(1, 0, 2)"));
/// let code = Code::new(&"f32[6,200]{1,0:T(8,128)}".parse()?, Language::C, "linear_index")?;
/// assert!(code.code().contains("return (index[1] >> 7) * 1024 + index[0] * 128 + (index[1] & 127);"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Code {
    /// The shape in XLA's text.
    shape: String,
    /// The language of the code.
    language: &'static str,
    /// The name of the function in the code.
    name: String,
    /// The code.
    code: String,
}

impl Code {
    /// The code for this array; `name` is that of the function that gives positions.
    ///
    /// # Errors
    /// If a dimension is unbounded, or the name cannot be one in the language.
    pub fn new(array: &ArrayShape, language: Language, name: &str) -> Result<Self, CodeError> {
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_word || name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(CodeError::Name(name.to_owned()));
        }
        let code = match language {
            Language::Numpy | Language::Jax | Language::Torch => arrays::module(array, language, name)?,
            Language::C | Language::Cpp | Language::Rust => functions::functions(array, language, name)?,
        };
        Ok(Self { shape: array.to_string(), language: language.name(), name: name.to_owned(), code })
    }

    /// The text of the code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }
}

impl Answer for Code {
    const SCHEMA: &'static str = super::SCHEMA;
}

impl Show for Code {
    /// The code, as it is.
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.verbatim(self.code.trim_end());
        text
    }
}

/// Why there is no code.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CodeError {
    /// The elements have no positions.
    StrideTable(StrideTableError),
    /// The name cannot be that of a function.
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
