//! `explain`: what a shape's text means, where its elements lie and what it costs.

mod json;
mod memory;
mod padding;
mod parts;

use crate::args::{ExplainArguments, Format};
use crate::failure::Failure;
use crate::io;
use crate::render::words::{Bytes, Factor, Grouped};
use anstyle::Style;
use std::fmt::{Display, Write as _};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use xla_shape::{ArrayShape, Shape};

pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), Failure> {
    let shape = super::shape_of(&arguments.shape)?;
    let page = match arguments.format {
        Format::Text => page(&shape, io::width()),
        Format::Json => super::json_line(&json::value(&shape)),
    };
    io::print(&page)
}

/// The most lines that a list has before the rest is only counted.
const MAX_LIST: usize = 32;

/// Text that grows line by line; no line is wider than the page, but for a shape or a number that is wider itself.
struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn new(width: usize) -> Self {
        Self { text: String::new(), width }
    }

    fn heading(&mut self, text: &str) {
        let bold = Style::new().bold();
        self.uncut(format_args!("\n{bold}{text}{bold:#}"));
    }

    /// A paragraph; what does not fit into its first line begins where that began.
    fn line(&mut self, text: impl Display) {
        self.wrapped("", &text.to_string());
    }

    /// A line that stays as it is.
    fn uncut(&mut self, text: impl Display) {
        // Writing to memory does not fail.
        let _ = writeln!(self.text, "{text}");
    }

    /// A paragraph behind some first characters.
    fn wrapped(&mut self, first: &str, text: &str) {
        let words = text.trim_start();
        let indent = " ".repeat(text.len() - words.len());
        let initial = format!("{first}{indent}");
        let rest = " ".repeat(initial.chars().count());
        let options = Options::new(self.width)
            .initial_indent(&initial)
            .subsequent_indent(&rest)
            .break_words(false)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        for line in textwrap::wrap(words, options) {
            self.uncut(line.trim_end());
        }
    }

    /// Lines of a first column and a second one, which may have several lines itself.
    fn columns(&mut self, rows: &[(String, String)]) {
        const WIDEST: usize = 24;
        let width = rows.iter().map(|(first, _)| first.chars().count()).filter(|&width| width <= WIDEST).max();
        let width = width.unwrap_or(0);
        for (first, second) in rows {
            let mut first = first.as_str();
            if first.chars().count() > width {
                self.uncut(format_args!("  {first}"));
                first = "";
            }
            for line in second.lines() {
                self.wrapped(&format!("  {first:width$}  "), line);
                first = "";
            }
        }
    }
}

fn page(shape: &Shape, width: usize) -> String {
    let mut page = Page::new(width);
    page.uncut(shape);
    match shape {
        Shape::Array(array) => explain_array(&mut page, array),
        Shape::Buffer(array) => {
            page.heading("What it is");
            page.line("  A buffer: not an array by value, but a place that holds one and that operations write to.");
            page.line("  What follows is about the array in it.");
            explain_array(&mut page, array);
        }
        Shape::Token => {
            page.heading("What it is");
            page.line(
                "  A token: it holds no data and takes no memory. An operation that takes a token runs after the \
                 operation that made it; so tokens keep side effects, such as infeed and send, in order.",
            );
        }
        Shape::Opaque => {
            page.heading("What it is");
            page.line("  An opaque value: something of a backend's own that XLA passes on and does not look into.");
            page.line("  It has no dimensions, no layout and no size.");
        }
        Shape::Tuple(elements) => explain_tuple(&mut page, shape, elements),
    }
    page.text
}

fn explain_array(page: &mut Page, array: &ArrayShape) {
    parts::explain(page, array);
    memory::explain(page, array);
    padding::explain(page, array);
}

fn explain_tuple(page: &mut Page, shape: &Shape, elements: &[Shape]) {
    page.heading("What it is");
    match elements.len() {
        0 => page.line("  An empty tuple: no values, no memory."),
        1 => page.line("  A tuple of 1 value, which lies in a buffer of its own."),
        count => page.line(format_args!("  A tuple of {} values, each in a buffer of its own.", Grouped(count))),
    }
    let rows = elements.iter().take(MAX_LIST).enumerate().map(|(number, element)| {
        let size = match (element.byte_size(), element.unpadded_byte_size()) {
            (Err(error), _) => error.to_string(),
            (Ok(bytes), Ok(unpadded)) if unpadded > 0 && bytes > unpadded => {
                format!("{}, {} what its elements need", Bytes(bytes), Factor(bytes as f64 / unpadded as f64))
            }
            (Ok(bytes), _) => Bytes(bytes).to_string(),
        };
        (format!("{number}"), format!("{element}\n  {size}"))
    });
    page.columns(&rows.collect::<Vec<_>>());
    if elements.len() > MAX_LIST {
        page.line(format_args!("  … and {} more", Grouped(elements.len() - MAX_LIST)));
    }
    page.heading("Size");
    match (shape.byte_size(), shape.padding_byte_size()) {
        (Ok(bytes), Ok(padding)) => {
            page.line(format_args!("  {} in all, of which {} are padding.", Bytes(bytes), Bytes(padding)));
            page.line("  The table of pointers to the values is the runtime's own and not counted.");
        }
        (Err(error), _) | (_, Err(error)) => page.line(format_args!("  Not known: {error}.")),
    }
    if elements.iter().any(|element| element.array().is_some()) {
        page.uncut("\nExplain an element by itself to see how it lies in memory.");
    }
}

#[cfg(test)]
mod tests {
    use xla_shape::Shape;

    /// Whether a line is as narrow as its words let it be: behind its indent and its first column there is one.
    fn is_whole(line: &str) -> bool {
        line.trim().rsplit("  ").next().is_some_and(|words| !words.trim().contains(' '))
    }

    #[test]
    fn has_something_to_say_about_every_shape_of_the_corpus() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpus/shapes.jsonl");
        let rows = std::fs::read_to_string(path).unwrap();
        let mut explained = 0;
        for row in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            if row["expect"] == "valid" {
                let shape: Shape = row["input"].as_str().unwrap().parse().unwrap();
                let page = super::page(&shape, 80);
                assert!(page.starts_with(&shape.to_string()), "{page}");
                assert!(!page.contains("  \n"), "{page}");
                let too_wide = |line: &&str| line.chars().count() > 80 && line.trim().contains(' ') && !is_whole(line);
                assert_eq!(page.lines().skip(1).find(too_wide), None, "{page}");
                assert!(super::json::value(&shape).to_string().starts_with("{\"shape\":"));
                explained += 1;
            }
        }
        assert!(explained > 1000);
    }
}
