//! Types that the compiler shortened (`...`), and their whole names, which the compiler writes to files that its message names.

use super::compare::words;
use super::is_expected;
use super::types::{MAX_DEPTH, Path, parts, path};

/// At most this many whole names are read for one message.
const MAX_NAMES: usize = 64;

/// The names that are read have at most this many bytes together. A type of `xla-shape` has a few hundred bytes.
const MAX_BYTES: usize = 1 << 16;

/// At most this many files are read for one message.
const MAX_FILES: usize = 8;

/// The whole names of the types in a message.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: Vec<String>,
    /// Whether the first name is the expected type and the second one the found type, if they match the line.
    are_in_order: bool,
}

impl Names {
    /// Reads the names from the files that the texts of a message mention. `read` returns the contents of a file.
    pub(super) fn read(texts: &[&str], mut read: impl FnMut(&str) -> Option<String>) -> Self {
        let mut files: Vec<&str> =
            texts.iter().flat_map(|text| text.lines()).filter_map(long_type_file).take(MAX_FILES).collect();
        files.sort_unstable();
        files.dedup();
        let mut names: Vec<String> = Vec::new();
        let mut bytes = 0_usize;
        for text in files.into_iter().filter_map(&mut read) {
            // The name of a type has no control characters, so a line that has some was not written by the compiler.
            for name in text.lines().map(str::trim).filter(|name| !name.is_empty() && !name.contains(char::is_control))
            {
                if names.len() < MAX_NAMES
                    && bytes + name.len() <= MAX_BYTES
                    && !names.iter().any(|known| known == name)
                {
                    bytes += name.len();
                    names.push(name.to_owned());
                }
            }
        }
        // `expected_found_str_term` in `rustc_trait_selection/src/error_reporting/infer/mod.rs` shortens the expected type first.
        // The file has each name once, in the order of first use. With two comparisons, it is not known which one came first.
        let comparisons = |text: &&str| text.lines().filter(|line| is_expected(line)).count();
        let are_in_order = match names.as_slice() {
            [first, second] if texts.iter().map(comparisons).max() == Some(1) => {
                let mut labels = texts.iter().flat_map(|text| text.lines()).filter_map(label);
                labels.all(|(expected, found)| {
                    let count = |name: &str, part| words(name).iter().filter(|&&word| word == part).count();
                    count(first, expected) >= count(second, expected) && count(second, found) >= count(first, found)
                })
            }
            _ => false,
        };
        Self { names, are_in_order }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The only name that a shortened type can stand for; `None` if several or no names match.
    pub(super) fn whole(&self, shortened: &str) -> Option<&str> {
        let mut fitting = self.iter().filter(|name| stands_for(shortened, name, 0));
        fitting.next().filter(|_| fitting.next().is_none())
    }

    /// The whole names of the expected and the found type; `None` for a type that is not shortened, or whose name is not known.
    pub(super) fn pair(&self, expected: &str, found: &str) -> (Option<&str>, Option<&str>) {
        let whole = |text| if is_shortened(text) { self.whole(text) } else { None };
        if let (true, true, true, [first, second]) =
            (self.are_in_order, is_shortened(expected), is_shortened(found), self.names.as_slice())
            && stands_for(expected, first, 0)
            && stands_for(found, second, 0)
        {
            return (Some(first), Some(second));
        }
        (whole(expected), whole(found))
    }
}

/// Whether the compiler left a part of a type out.
pub(super) fn is_shortened(text: &str) -> bool {
    text.contains("...") || text.contains('…')
}

/// The expected and the found text of a label such as "expected `8`, found `16`".
fn label(line: &str) -> Option<(&str, &str)> {
    let (expected, found) = line.split_once("expected `")?.1.split_once("`, found `")?;
    Some((expected, found.split_once('`')?.0))
}

/// The path of the file with the whole names of types, if the line mentions one.
pub(super) fn long_type_file(line: &str) -> Option<&str> {
    let marks = ['\'', '`', '"'];
    line.contains("has been written to").then(|| line.split(marks))?.find(|part| {
        let name = part.rsplit(['/', '\\']).next().unwrap_or(part);
        name.contains(".long-type-") && name.ends_with(".txt")
    })
}

/// A token of a type, without spaces and without the paths of names.
pub(super) enum Part<'t> {
    Name(Path<'t>),
    Group(Vec<&'t str>),
    /// `...`: a type that the compiler left out.
    LeftOut,
    Lifetime,
    Mark(char),
}

/// The tokens of a type, without a `for<'a>` at its beginning; `None` if a bracket is not closed.
pub(super) fn split(text: &str) -> Option<Vec<Part<'_>>> {
    let mut rest = text.trim();
    if let Some(behind) = rest.strip_prefix("for<") {
        rest = behind.split_once('>')?.1.trim_start();
    }
    let mut found = Vec::new();
    while let Some(next) = rest.chars().next() {
        let (part, length) = if rest.starts_with("...") {
            (Part::LeftOut, 3)
        } else if let Some(length) = lifetime(rest) {
            (Part::Lifetime, length)
        } else if matches!(next, '(' | '[' | '{' | '<') {
            let (items, length) = parts(rest)?;
            (Part::Group(items), length)
        } else {
            match path(rest).filter(|path| path.length > 0) {
                Some(path) => {
                    let length = path.length;
                    (Part::Name(path), length)
                }
                None => (Part::Mark(next), next.len_utf8()),
            }
        };
        found.push(part);
        rest = rest.get(length..)?.trim_start();
    }
    Some(found)
}

/// The length in bytes of the lifetime at the beginning of a text; `None` if there is none, as in the character `'c'`.
fn lifetime(text: &str) -> Option<usize> {
    let length = 1 + path(text.strip_prefix('\'')?)?.length;
    (length > 1 && !text.get(length..)?.starts_with('\'')).then_some(length)
}

/// Whether a shortened type can be the short form of a whole one.
fn stands_for(shortened: &str, whole: &str, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    let Some((shortened, whole)) = split(shortened).zip(split(whole)) else { return false };
    let same = |(shortened, whole): (&Part<'_>, &Part<'_>)| {
        let all = |some: &[&str], others: &[&str]| {
            some.len() == others.len()
                && some.iter().zip(others).all(|(shortened, whole)| stands_for(shortened, whole, depth + 1))
        };
        match (shortened, whole) {
            (Part::Name(a), Part::Name(b)) => {
                let arguments = match (&a.arguments, &b.arguments) {
                    (Some(a), Some(b)) => all(a, b),
                    (None, None) => true,
                    _ => false,
                };
                a.name == b.name && arguments
            }
            (Part::Group(a), Part::Group(b)) => all(a, b),
            (Part::Mark(a), Part::Mark(b)) => a == b,
            (Part::Lifetime, Part::Lifetime) => true,
            _ => false,
        }
    };
    // `...` stands for any number of parts: those before it and those after it must agree.
    match shortened.iter().position(|part| matches!(part, Part::LeftOut)) {
        None => shortened.len() == whole.len() && shortened.iter().zip(&whole).all(same),
        Some(left_out) => {
            let behind = shortened.len() - left_out - 1;
            whole.len() >= shortened.len()
                && shortened.iter().zip(&whole).take(left_out).all(same)
                && shortened.iter().rev().zip(whole.iter().rev()).take(behind).all(same)
        }
    }
}
