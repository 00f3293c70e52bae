//! Names in claims: scopes, lines, arguments and memory spaces.

use crate::source::file_and_line;
use std::fmt;
use std::str::FromStr;
use xla_shape_core::memory_space;
use xla_shape_hlo::Source;

/// Implements parsing and printing for a type that keeps the text of the claim unchanged. `$parts` splits the text, which must have at least one
/// part.
macro_rules! text_of {
    ($type:ident, $parts:ident, $expected:literal) => {
        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match $parts(text).next() {
                    Some(_) => Ok(Self(text.to_owned())),
                    None => Err(format!(concat!("expected ", $expected, ", found `{}`"), text)),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// A scope of the user's program: consecutive parts of an operation's name. `attention/softmax` is in
/// `jit(step)/layer_3/attention/softmax/exp`, and also in `jit(step)/jvp(attention)/softmax/exp`.
///
/// ```
/// use xla_shape_answers::guard::claims::Scope;
///
/// let scope: Scope = "attention/softmax".parse()?;
/// assert!(scope.contains("jit(step)/transpose(jvp(attention))/softmax/exp"));
/// assert!(!scope.contains("jit(step)/self_attention/softmax/exp"), "a part is a whole word");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope(String);

/// The words of an operation's name.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(['/', '(', ')']).map(str::trim).filter(|word| !word.is_empty())
}

impl Scope {
    /// Whether an operation with this name is in the scope.
    #[must_use]
    pub fn contains(&self, op_name: &str) -> bool {
        let (name, scope): (Vec<&str>, Vec<&str>) = (words(op_name).collect(), words(&self.0).collect());
        name.windows(scope.len()).any(|part| part == scope)
    }
}

text_of!(Scope, words, "a scope such as layer_3/attention");

/// A file of the user's program, or a line of it: `model.py` or `model.py:40`. The folders may be left out.
///
/// ```
/// use xla_shape_answers::guard::claims::Line;
/// use xla_shape_hlo::Source;
///
/// let line: Line = "model.py:40".parse()?;
/// let source = |line| Source { file: Some("/home/me/model.py".into()), line: Some(line), ..Source::default() };
/// assert!(line.contains(&source(40)) && !line.contains(&source(41)));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    file: String,
    line: Option<usize>,
}

impl Line {
    /// Whether an instruction with this source location comes from the line.
    #[must_use]
    pub fn contains(&self, source: &Source<'_>) -> bool {
        // `model.py` means the file `src/model.py`, too, but not `my_model.py`.
        let is_file = source.file.as_ref().and_then(|file| file.strip_suffix(self.file.as_str()));
        is_file.is_some_and(|folder| folder.is_empty() || folder.ends_with(['/', '\\']))
            && (self.line.is_none() || self.line == source.line)
    }
}

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A colon without a number after it is part of the file's name, as in `c:/model.py`.
        let split = text.rsplit_once(':').and_then(|(file, line)| Some((file, Some(line.parse().ok()?))));
        let (file, line) = split.unwrap_or((text, None));
        if file.is_empty() {
            return Err(format!("expected a file or a line such as model.py:40, found `{text}`"));
        }
        Ok(Self { file: file.to_owned(), line })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&file_and_line(&self.file, self.line))
    }
}

/// The name of an argument, or the first parts of it: `params/w` means `params['w']`; `params` means all of its parts, so `params['w']`, too.
///
/// ```
/// use xla_shape_answers::guard::claims::Path;
///
/// let path: Path = "params/w".parse()?;
/// assert!(path.contains("params['w']") && path.contains("params['w'].scale") && !path.contains("params['wide']"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path(String);

/// The parts of an argument's name.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(['/', '[', ']', '.', '\'', '"']).filter(|part| !part.is_empty())
}

impl Path {
    /// Whether this path means the argument with this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        let mut name = parts(name);
        parts(&self.0).all(|part| name.next() == Some(part))
    }
}

text_of!(Path, parts, "the name of an argument such as params/w");

/// A memory space, by its name on TPUs or by its number: `HBM`, `host`, `1`.
///
/// ```
/// use xla_shape_answers::guard::claims::Space;
///
/// assert_eq!("hbm".parse::<Space>()?, Space(0));
/// assert_eq!(Space(5).to_string(), "host");
/// assert_eq!("ram".parse::<Space>().unwrap_err(), "expected a memory space such as HBM, VMEM, host or 1, found `ram`");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Space(pub u8);

impl FromStr for Space {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = memory_space::from_name(text).or_else(|| text.parse().ok());
        found.map(Self).ok_or_else(|| format!("expected a memory space such as HBM, VMEM, host or 1, found `{text}`"))
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match memory_space::name(self.0) {
            Some(name) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}
