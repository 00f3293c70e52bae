//! A layout in other notations, and code for it, as text.

use crate::words::column_width;
use crate::{Show, Text};
use xla_shape_answers::convert::{Code, Conversion};
use xla_shape_notations::Nearest;

impl Show for Conversion {
    /// For each notation: its name, then the text, or why it has none and the nearest layout that it has.
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        if let Some(shared) = &self.shared {
            text.paragraph(&shared.sentence);
        }
        let names = column_width(self.entries.iter().map(|entry| entry.notation.name().len()));
        for entry in &self.entries {
            let name = entry.notation.name();
            match &entry.text {
                Ok(written) => {
                    // Lines that users copy are not wrapped.
                    let mut first = name;
                    for line in written.lines() {
                        text.verbatim(format_args!("{first:names$}  {line}"));
                        first = "";
                    }
                }
                Err(obstacle) => text.hanging(&format!("{name:names$}  "), &format!("none: {obstacle}")),
            }
            if let Some(Nearest { text: near, view, .. }) = &entry.nearest {
                let mut first = "nearest: ";
                for line in near.lines() {
                    text.verbatim(format_args!("{:names$}  {first}{line}", ""));
                    first = "         ";
                }
                text.verbatim(format_args!("{:names$}  where the array is {view}", ""));
            }
        }
        text
    }
}

impl Show for Code {
    /// The code, as it is.
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.verbatim(self.code.trim_end());
        text
    }
}
