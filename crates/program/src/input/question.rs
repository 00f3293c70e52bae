//! The commands of the program that answer about an input.

use super::dumps::{KernelFiles, ModuleDump};
use super::texts::{divided_by, shape_and_sharding, two_shapes};
use super::{Input, Reading};
use std::borrow::Cow;
use xla_shape_core::ArrayShape;
use xla_shape_notations::{AnyLayout, Notation};

/// What can be asked about an input, as a command of the program.
///
/// ```
/// use xla_shape_program::{File, Input, Reading};
///
/// let input = Input { files: &[File { name: "m.hlo".to_owned(), bytes: b"HloModule m" }], against: &[] };
/// let question = &Reading::Hlo.questions(input)[0];
/// assert_eq!(question.verb, "hlo");
/// assert_eq!(question.command.join(" "), "hlo m.hlo", "after the name of the program");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Question {
    /// The verb, such as `explain` or `hlo diff`.
    pub verb: &'static str,
    /// What the answer is, in words.
    pub title: &'static str,
    /// The command, without the name of the program. If the program reads a pasted text as a file, the file is `-`, standard input.
    pub command: Vec<String>,
}

impl Question {
    fn new(verb: &'static str, title: &'static str, words: &[&str]) -> Self {
        let words = verb.split(' ').chain(words.iter().copied());
        Self { verb, title, command: words.map(str::to_owned).collect() }
    }
}

/// The questions about an array.
const OF_ARRAY: [(&str, &str); 4] =
    [("explain", "Explanation"), ("draw", "Picture"), ("advise", "Advice"), ("convert", "Other notations")];

impl Reading {
    /// What can be asked about an input with this reading; the usual question comes first.
    ///
    /// ```
    /// use xla_shape_program::{File, Input, Reading};
    ///
    /// let input = Input { files: &[File { name: "--x.hlo".to_owned(), bytes: b"HloModule m" }], against: &[] };
    /// let questions = Reading::Hlo.questions(input);
    /// assert_eq!(questions.iter().map(|question| question.verb).collect::<Vec<_>>(), ["hlo", "cost"]);
    /// assert_eq!(questions[0].command, ["hlo", "./--x.hlo"]);
    /// ```
    #[must_use]
    pub fn questions(self, input: Input<'_>) -> Vec<Question> {
        let text = input.alone().unwrap_or_default();
        let of_array = |text: &str, count: usize| {
            OF_ARRAY
                .into_iter()
                .take(count)
                .map(|(verb, title)| Question::new(verb, title, &[text]))
                .collect::<Vec<_>>()
        };
        match self {
            Self::Shape => {
                let text = text.trim();
                // A tuple can be explained, but the other questions are about a single array.
                of_array(text, if text.parse::<ArrayShape>().is_ok() { OF_ARRAY.len() } else { 1 })
            }
            Self::Sharding => {
                let alone = text.trim();
                let of_tiles = divided_by(alone);
                let [shape, sharding] = shape_and_sharding(text).unwrap_or([&of_tiles, alone]);
                let words = [shape, "--sharding", sharding];
                OF_ARRAY.into_iter().take(2).map(|(verb, title)| Question::new(verb, title, &words)).collect()
            }
            Self::Shapes => vec![Question::new("compare", "Comparison", &two(input))],
            Self::Block => vec![Question::new("block", "Block", &two(input))],
            Self::Layout(notation) => {
                let text = text.trim();
                let mut questions = vec![Question::new("convert", "In XLA", &["--from", notation.name(), text])];
                questions.extend(in_xla(notation, text).into_iter().flat_map(|array| of_array(&array.to_string(), 2)));
                questions
            }
            Self::Log => {
                let file = input.first().first();
                file.map(|file| Question::new("scan", "Shapes and memory", &[&path_argument(&file.name)]))
                    .into_iter()
                    .collect()
            }
            Self::Hlo | Self::Source | Self::Profile => {
                let Some(dump) = ModuleDump::find(input.first()) else { return Vec::new() };
                let path = path_argument(&dump.path);
                let all = match self {
                    Self::Source => [("compile", "Memory and layouts"), ("cost", "Cost")],
                    Self::Profile => [("cost", "Measured times"), ("hlo", "Memory")],
                    _ => [("hlo", "Memory"), ("cost", "Cost")],
                };
                all.into_iter().map(|(verb, title)| Question::new(verb, title, &[&path])).collect()
            }
            Self::HloDiff | Self::ProfileDiff => {
                let [before, after] = match (input.files, input.against) {
                    // Of two files that were given together, the first is the earlier version.
                    (files, []) => {
                        let (before, after) = files.split_at(files.len().min(1));
                        [before, after]
                    }
                    (before, after) => [before, after],
                };
                let (Some(before), Some(after)) = (ModuleDump::find(before), ModuleDump::find(after)) else {
                    return Vec::new();
                };
                vec![Question::new("hlo diff", "Changes", &[&path_argument(&before.path), &path_argument(&after.path)])]
            }
            Self::Kernels => {
                let dump = KernelFiles::find(input.first());
                dump.map(|dump| Question::new("kernel", "Kernels", &[&path_argument(&dump.path)])).into_iter().collect()
            }
            Self::KernelDiff => {
                let (before, after) = (KernelFiles::find(input.files), KernelFiles::find(input.against));
                let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
                let words = [&path_argument(&after.path), "--against", &path_argument(&before.path)];
                vec![Question::new("kernel", "Changes", &words)]
            }
        }
    }
}

/// The two shapes of an input: one after the other in a text, or each in a file.
fn two(input: Input<'_>) -> [&str; 2] {
    let of_files = || match (input.files, input.against) {
        ([first], [second]) => Some([first.text()?.trim(), second.text()?.trim()]),
        _ => None,
    };
    input.alone().and_then(two_shapes).or_else(of_files).unwrap_or_default()
}

/// The XLA array for a layout in another notation; `None` if XLA has no such array.
fn in_xla(notation: Notation, text: &str) -> Option<ArrayShape> {
    AnyLayout::read(notation, text).ok()?.to_array().ok()
}

/// The name of a file as an argument of the program: `./` before a name that would be an option. `-` alone is standard input.
///
/// ```
/// use xla_shape_program::path_argument;
///
/// assert_eq!(path_argument("--html=x"), "./--html=x");
/// assert_eq!(path_argument("m.hlo"), "m.hlo");
/// assert_eq!(path_argument("-"), "-");
/// ```
#[must_use]
pub fn path_argument(path: &str) -> Cow<'_, str> {
    match path.starts_with('-') && path != "-" {
        true => Cow::Owned(format!("./{path}")),
        false => Cow::Borrowed(path),
    }
}
