//! The user's input: texts and files, what they are, and which commands of the program answer about them.

mod dumps;
mod question;
mod reading;
mod texts;
#[cfg(feature = "files")]
mod thing;

pub use dumps::{KernelFiles, ModuleDump};
pub use question::{Question, path_argument};
pub use reading::Reading;
#[cfg(feature = "files")]
pub use thing::Thing;

/// The name of a text that was pasted. Where a command names a file, the program reads `-` from standard input.
pub const PASTED: &str = "-";

/// A file, or a text that was pasted.
///
/// ```
/// use xla_shape_program::{File, KernelFiles};
///
/// // The contents of two files of a directory, wherever they come from.
/// let files = ["d/mosaic.k.post-relayout-insertion.txt", "d/mosaic.k.post-infer-vector-layout.txt"];
/// let files = files.map(|name| File { name: name.to_owned(), bytes: b"" });
/// assert_eq!(KernelFiles::find(&files).unwrap().path, "d");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File<'a> {
    /// Its name, with its directories, separated by `/`; [`PASTED`] for a text that was pasted. It is never a path to open.
    pub name: String,
    /// What it contains.
    pub bytes: &'a [u8],
}

impl File<'_> {
    /// The directory and the name in it.
    fn place(&self) -> (&str, &str) {
        self.name.rsplit_once('/').unwrap_or(("", &self.name))
    }

    /// The text, if it is one.
    fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.bytes).ok().filter(|text| !text.contains('\0'))
    }
}

/// Texts or files, and optionally others to compare them with.
///
/// ```
/// use xla_shape_program::{File, Input, PASTED, Reading};
///
/// let file = File { name: PASTED.to_owned(), bytes: b"f32[8,1024] -> f32[8192]" };
/// let input = Input { files: &[file], against: &[] };
/// assert_eq!(Reading::all(input), [Reading::Shapes, Reading::Block, Reading::Log]);
/// assert_eq!(Reading::Shapes.questions(input)[0].command, ["compare", "f32[8,1024]", "f32[8192]"]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Input<'g> {
    /// A text, a file, or the files of a directory.
    pub files: &'g [File<'g>],
    /// The second input of a comparison, which is the later one; empty if nothing is compared.
    pub against: &'g [File<'g>],
}

impl<'g> Input<'g> {
    /// The text, if it is the whole input.
    fn alone(self) -> Option<&'g str> {
        match (self.files, self.against) {
            ([file], []) => std::str::from_utf8(file.bytes).ok(),
            _ => None,
        }
    }

    /// The files of the first input that has some.
    fn first(self) -> &'g [File<'g>] {
        if self.files.is_empty() { self.against } else { self.files }
    }

    /// Why the input is not recognised.
    ///
    /// ```
    /// use xla_shape_program::{File, Input};
    ///
    /// let input = Input { files: &[File { name: "notes.txt".to_owned(), bytes: b"nothing" }], against: &[] };
    /// assert!(input.unknown().starts_with("nothing known here"));
    /// ```
    #[must_use]
    pub fn unknown(self) -> &'static str {
        // For a directory, the caller may give the files' names without their contents.
        let is_empty = [self.files, self.against].iter().all(|files| match files {
            [] => true,
            [file] => file.bytes.trim_ascii().is_empty(),
            _ => false,
        });
        match (is_empty, self.against.is_empty()) {
            (true, _) => "expected a text, a file, or a directory with files, found nothing",
            (_, true) if self.files.len() == 1 => {
                "nothing known here. What is known: a shape, two shapes, a sharding, a layout in another notation, a log or an \
                 out-of-memory message, HLO, StableHLO, a profile, a directory of dumps, and the compiler's texts about kernels"
            }
            (_, true) => {
                "expected an optimized module or a dump of kernels among these files, found neither; to read one of them, give it alone"
            }
            (_, false) => {
                "these two cannot be compared: expected two shapes, two HLO modules, two profiles or two dumps of kernels"
            }
        }
    }
}
