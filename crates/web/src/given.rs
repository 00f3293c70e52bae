//! The input of the explorer.

use xla_shape_program::{File, Input, PASTED};

/// The default width of the texts of answers, in characters. The program has the same default if it does not write to a terminal.
const WIDTH: usize = 80;

/// The input: texts or files, a second input to compare with, and which reading and view of them the user chose.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Given<'a> {
    /// A text, a file, or the files of a directory.
    pub files: Vec<File<'a>>,
    /// A second input to compare with, such as a later version; empty if nothing is compared.
    pub against: Vec<File<'a>>,
    /// The name of the reading that the user chose, if it is not the likeliest one.
    pub reading: Option<String>,
    /// The name of the view that the user chose, if it is not the first one.
    pub view: Option<String>,
    /// How wide texts are at most, in characters.
    pub width: Option<usize>,
}

impl<'a> Given<'a> {
    /// A text that was pasted.
    ///
    /// ```
    /// assert_eq!(xla_shape_web::Given::text("f32[8]").files[0].bytes, b"f32[8]");
    /// ```
    #[must_use]
    pub fn text(text: &'a str) -> Self {
        Self { files: vec![File { name: PASTED.to_owned(), bytes: text.as_bytes() }], ..Self::default() }
    }

    pub(crate) fn width(&self) -> usize {
        self.width.unwrap_or(WIDTH).clamp(20, 200)
    }

    /// The input without the choices of the user.
    pub(crate) fn input(&self) -> Input<'_> {
        Input { files: &self.files, against: &self.against }
    }
}
