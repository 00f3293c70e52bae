//! What the input can be.
//!
//! Each [`Reading`] has its commands in `question.rs`; `crates/web/src/views.rs` has what the explorer answers to a command.

use super::dumps::{KernelFiles, ModuleDump, is_module, is_profile};
use super::texts::{is_like_a_shape, is_like_a_sharding, shape_and_sharding, two_shapes};
use super::{File, Input};
use crate::read::is_known;
use xla_shape_core::{ElementType, Shape};
use xla_shape_hlo::{Language, OutOfMemory, Utf16, find_shapes, find_spelled_shapes};
use xla_shape_notations::{AnyLayout, Notation};

/// The longest text that is tried as a shape, a sharding or a layout, in bytes.
const LONGEST: usize = 64 << 10;

/// What the input is taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reading {
    /// A shape.
    Shape,
    /// Two shapes to compare.
    Shapes,
    /// Two shapes: an array, and the block of it that a kernel works on.
    Block,
    /// A sharding, with or without the shape before it.
    Sharding,
    /// A layout in another notation.
    Layout(Notation),
    /// Any text with shapes in it, such as a log or an out-of-memory message.
    Log,
    /// A module, alone or with the compiler's files beside it.
    Hlo,
    /// A program in a dialect of MLIR, such as StableHLO, which a compiler takes.
    Source,
    /// A profile: one file, or those of the hosts of a run.
    Profile,
    /// Two modules to compare.
    HloDiff,
    /// Two profiles to compare.
    ProfileDiff,
    /// The compiler's texts about kernels.
    Kernels,
    /// Two dumps of kernels to compare.
    KernelDiff,
}

impl Reading {
    /// The name in links.
    ///
    /// ```
    /// use xla_shape_program::Reading;
    ///
    /// assert_eq!(Reading::HloDiff.name(), "hlo-diff");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Shapes => "shapes",
            Self::Block => "block",
            Self::Sharding => "sharding",
            Self::Layout(notation) => notation.name(),
            Self::Log => "log",
            Self::Hlo => "hlo",
            Self::Source => "mlir",
            Self::Profile => "profile",
            Self::HloDiff => "hlo-diff",
            Self::ProfileDiff => "profile-diff",
            Self::Kernels => "kernels",
            Self::KernelDiff => "kernel-diff",
        }
    }

    /// What it is, in words.
    ///
    /// ```
    /// use xla_shape_program::Reading;
    ///
    /// assert_eq!(Reading::Shape.title(), "a shape");
    /// ```
    #[must_use]
    pub fn title(self) -> String {
        match self {
            Self::Shape => "a shape".to_owned(),
            Self::Shapes => "two shapes to compare".to_owned(),
            Self::Block => "two shapes: an array and a kernel's block of it".to_owned(),
            Self::Sharding => "a sharding".to_owned(),
            Self::Layout(
                notation @ (Notation::Cute | Notation::Mdspan | Notation::Numpy | Notation::Torch | Notation::Onednn),
            ) => {
                format!("a layout of {}", notation.title())
            }
            Self::Layout(notation) => format!("a layout: {}", notation.title()),
            Self::Log => "a log or a message with shapes in it".to_owned(),
            Self::Hlo => "an HLO module".to_owned(),
            Self::Source => "a program in MLIR, such as StableHLO".to_owned(),
            Self::Profile => "a profile".to_owned(),
            Self::HloDiff => "two HLO modules to compare".to_owned(),
            Self::ProfileDiff => "two profiles to compare".to_owned(),
            Self::Kernels => "the compiler's texts about kernels".to_owned(),
            Self::KernelDiff => "two dumps of kernels to compare".to_owned(),
        }
    }
}

impl Reading {
    /// All readings of the input, the most likely one first. There are none if the input is empty, if nothing in it is recognized, or if
    /// it consists of two inputs of different kinds.
    ///
    /// ```
    /// use xla_shape_program::{File, Input, Reading};
    ///
    /// let read = |bytes| Reading::all(Input { files: &[File { name: "oom.txt".to_owned(), bytes }], against: &[] });
    /// assert_eq!(read(b"Used 40.00G of 32.00G hbm."), [Reading::Log]);
    /// assert!(read(b" ").is_empty());
    /// ```
    #[must_use]
    pub fn all(input: Input<'_>) -> Vec<Self> {
        match (input.files, input.against) {
            ([], []) => Vec::new(),
            ([file], []) => of_file(file),
            (files, []) | ([], files) => of_directory(files),
            (before, after) => of_two(before, after),
        }
    }
}

fn of_file(file: &File<'_>) -> Vec<Reading> {
    if is_profile(file) {
        return vec![Reading::Profile];
    }
    if file.bytes.trim_ascii().is_empty() {
        return Vec::new();
    }
    let Some(text) = file.text() else {
        if Utf16::whole(file.bytes).is_some_and(|text| has_shapes(&text)) {
            return vec![Reading::Log];
        }
        // Bytecode, a message, or other bytes that the reader of modules recognizes.
        return match Language::of(file.bytes) {
            Some(_) => vec![Reading::Source],
            None if is_known(file.bytes) => vec![Reading::Hlo],
            None => Vec::new(),
        };
    };
    let mut found = Vec::new();
    if text.len() <= LONGEST {
        of_short_text(text, &mut found);
    }
    let is_module = is_module(file);
    if is_module {
        found.push(Reading::Hlo);
    } else if KernelFiles::find(std::slice::from_ref(file)).is_some() {
        found.push(Reading::Kernels);
    }
    let language = Language::of(file.bytes);
    if language == Some(Language::Mlir) && !found.contains(&Reading::Kernels) {
        found.push(Reading::Source);
    }
    let is_shape = found.first() == Some(&Reading::Shape);
    if is_module || (!is_shape && has_shapes(text)) {
        found.push(Reading::Log);
    }
    if !is_module && language == Some(Language::Hlo) {
        found.push(Reading::Hlo);
    }
    found
}

/// What a text of a few lines can be.
fn of_short_text(text: &str, found: &mut Vec<Reading>) {
    let trimmed = text.trim();
    if text.parse::<Shape>().is_ok() {
        found.push(Reading::Shape);
    }
    if is_like_a_sharding(trimmed) || shape_and_sharding(text).is_some() {
        found.push(Reading::Sharding);
    }
    if two_shapes(text).is_some() {
        found.extend([Reading::Shapes, Reading::Block]);
    }
    let notations =
        Notation::ALL.iter().copied().filter(|&notation| !matches!(notation, Notation::Xla | Notation::Mosaic));
    found.extend(notations.filter(|&notation| AnyLayout::read(notation, trimmed).is_ok()).map(Reading::Layout));
    // If a text looks like a layout or a shape, it is read as one, and the answer is the error with its position.
    if found.is_empty() {
        found.extend(meant_layout(trimmed).map(Reading::Layout));
    }
    let is_part = || {
        let is_layout = trimmed.starts_with('{') && trimmed.ends_with('}') && !trimmed.contains('"');
        is_layout || trimmed.starts_with("T(") || ElementType::from_name(trimmed).is_some()
    };
    if found.is_empty() && (is_like_a_shape(text) || is_part()) {
        found.push(Reading::Shape);
    }
}

/// The notation that the beginning of a one-line text belongs to. The text need not be a valid layout.
fn meant_layout(text: &str) -> Option<Notation> {
    const BEGINNINGS: [(&str, Notation); 8] = [
        ("Sw<", Notation::Cute),
        ("std::layout_", Notation::Mdspan),
        ("memref<", Notation::Memref),
        ("torch.empty(", Notation::Torch),
        ("torch.empty_strided(", Notation::Torch),
        ("torch.as_strided(", Notation::Torch),
        ("np.ndarray(", Notation::Numpy),
        ("np.lib.stride_tricks.as_strided(", Notation::Numpy),
    ];
    let begun = BEGINNINGS.into_iter().find(|(beginning, _)| text.starts_with(beginning)).map(|(_, notation)| notation);
    let is_cute = text.starts_with('(') && text.contains("):(");
    begun.or(is_cute.then_some(Notation::Cute)).filter(|_| !text.contains('\n'))
}

/// Whether a text has a shape or a message about memory.
fn has_shapes(text: &str) -> bool {
    let mut messages = OutOfMemory::default();
    text.lines().any(|line| {
        messages.read_line(1, line);
        find_shapes(line).chain(find_spelled_shapes(line)).next().is_some()
    }) || !messages.is_empty()
}

fn of_directory(files: &[File<'_>]) -> Vec<Reading> {
    let mut found = Vec::new();
    if files.iter().any(is_profile) {
        found.push(Reading::Profile);
    } else if ModuleDump::find(files).is_some() {
        found.push(Reading::Hlo);
    }
    if KernelFiles::find(files).is_some() {
        found.push(Reading::Kernels);
    }
    // Two files may also be two versions of one program.
    if let [first, second] = files {
        found.splice(..0, compared(std::slice::from_ref(first), std::slice::from_ref(second)));
    }
    found
}

/// How two programs are compared, if both are programs.
fn compared(before: &[File<'_>], after: &[File<'_>]) -> Option<Reading> {
    let [before, after] = [before, after].map(|files| match files {
        [file] => (is_profile(file), is_profile(file) || is_module(file)),
        files => (files.iter().any(is_profile), ModuleDump::find(files).is_some()),
    });
    match (before, after) {
        ((true, _), (true, _)) => Some(Reading::ProfileDiff),
        ((_, true), (_, true)) => Some(Reading::HloDiff),
        _ => None,
    }
}

fn of_two(before: &[File<'_>], after: &[File<'_>]) -> Vec<Reading> {
    let mut found = Vec::new();
    let short = |files: &[File<'_>]| match files {
        [file] => file.text().filter(|text| text.len() <= LONGEST).is_some_and(is_like_a_shape),
        _ => false,
    };
    if short(before) && short(after) {
        found.extend([Reading::Shapes, Reading::Block]);
    }
    found.extend(compared(before, after));
    if KernelFiles::find(before).is_some() && KernelFiles::find(after).is_some() {
        found.push(Reading::KernelDiff);
    }
    found
}
