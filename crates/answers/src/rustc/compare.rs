//! The differences between two types: the parts of their shapes that differ, and their places in a line.

use super::names::{Part, is_shortened, split};
use super::types::{
    MAX_DEPTH, argument, element, layout, numbers, parts, path, path_name, size_text, splits_text, tile_text,
};

/// The compiler's text for a part that is the same in both types, or not known.
const UNKNOWN: &str = "_";

/// Sentences about the parts in which the shapes of two types differ, such as "tile 0: expected `(8,128)`, found `(16,128)`".
///
/// The types must not be shortened by the compiler, because the difference may be in the part that was left out.
pub(super) fn differences(expected: &str, found: &str) -> Vec<String> {
    let mut answer = Answer::default();
    if !is_shortened(expected) && !is_shortened(found) {
        answer.types(expected, found, 0);
    }
    if answer.sentences.is_empty() && answer.has_another_size && !answer.has_another_type {
        answer.sentences.push("the same shape as another type: `retype` makes one of the other".to_owned());
    }
    answer.sentences
}

#[derive(Default)]
struct Answer {
    sentences: Vec<String>,
    /// Whether a size has the same value but another type.
    has_another_size: bool,
    /// Whether something other than a part of a shape differs.
    has_another_type: bool,
}

impl Answer {
    fn types(&mut self, expected: &str, found: &str, depth: usize) {
        if depth > MAX_DEPTH || expected == found {
            return;
        }
        let Some((expected, found)) = split(expected).zip(split(found)) else { return };
        self.has_another_type |= expected.len() != found.len();
        for parts in expected.iter().zip(&found) {
            match parts {
                (Part::Name(a), Part::Name(b)) if a.name == UNKNOWN || b.name == UNKNOWN => {}
                (Part::Name(a), Part::Name(b)) if a.name == b.name => {
                    let [expected, found] = [a, b].map(|path| path.arguments.as_deref().unwrap_or_default());
                    match (a.name, expected, found) {
                        ("Array", &[a, b, c], &[x, y, z]) => self.arrays([a, b, c], [x, y, z]),
                        _ => self.all(expected, found, depth),
                    }
                }
                (Part::Group(expected), Part::Group(found)) => self.all(expected, found, depth),
                (Part::Lifetime, Part::Lifetime) => {}
                (Part::Mark(a), Part::Mark(b)) if a == b => {}
                // The types are not the same, so their arguments cannot be compared.
                _ => return self.has_another_type = true,
            }
        }
    }

    fn all(&mut self, expected: &[&str], found: &[&str], depth: usize) {
        self.has_another_type |= expected.len() != found.len();
        expected.iter().zip(found).for_each(|(expected, found)| self.types(expected, found, depth + 1));
    }

    /// Compares two texts of one part of a shape. An empty text means the default.
    fn part(&mut self, name: &str, expected: &str, found: &str) {
        if expected != found && expected != UNKNOWN && found != UNKNOWN {
            let quoted = |text: &str| if text.is_empty() { "none".to_owned() } else { format!("`{text}`") };
            self.sentences.push(format!("{name}: expected {}, found {}", quoted(expected), quoted(found)));
        }
    }

    fn arrays(&mut self, expected: [&str; 3], found: [&str; 3]) {
        let [(element, other_element), (dimensions, other_dimensions), (layout, other_layout)] =
            std::array::from_fn(|part| (expected[part], found[part]));
        self.part("element type", self::element(element), self::element(other_element));
        let has_same_rank = self.dimensions(dimensions, other_dimensions);
        self.layouts(layout, other_layout, has_same_rank);
    }

    /// Compares dimensions. Returns whether both have the same number of them, as far as that is known.
    fn dimensions(&mut self, expected: &str, found: &str) -> bool {
        let Some((expected, found)) = tuple(expected).zip(tuple(found)) else { return true };
        if expected.len() != found.len() {
            let sentence = format!("number of dimensions: expected {}, found {}", expected.len(), found.len());
            self.sentences.push(sentence);
            return false;
        }
        for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
            let [size, other] = [expected, found]
                .map(|text| path(text).and_then(|path| size_text(&path)).unwrap_or_else(|| (*text).to_owned()));
            self.has_another_size |= size == other && path_name(expected) != path_name(found);
            self.part(&format!("dimension {number}"), &size, &other);
        }
        true
    }

    fn layouts(&mut self, expected: &str, found: &str, has_same_rank: bool) {
        if expected == UNKNOWN || found == UNKNOWN {
            return;
        }
        let Some((expected, found)) = layout_parts(expected).zip(layout_parts(found)) else {
            return self.part("layout", &layout(expected, 0), &layout(found, 0));
        };
        let [(order, other_order), (tiles, other_tiles), (space, other_space), (rest, other_rest)] =
            std::array::from_fn(|part| (expected[part], found[part]));
        // If the number of dimensions differs, so does the order; this is not worth a sentence.
        if has_same_rank && order != UNKNOWN && other_order != UNKNOWN {
            let text = |order| format!("{{{}}}", numbers(order));
            self.part("order of the dimensions", &text(order), &text(other_order));
        }
        self.tiles(tiles, other_tiles);
        for (name, symbol, default, number, (expected, found)) in [
            ("tail padding", "L", "1", 0, (rest, other_rest)),
            ("element size", "E", "0", 1, (rest, other_rest)),
            ("memory space", "S", "0", 0, (space, other_space)),
            ("metadata prefix", "M", "0", 2, (rest, other_rest)),
        ] {
            let [expected, found] = [expected, found].map(|text| match argument(text, number) {
                _ if text == UNKNOWN => UNKNOWN.to_owned(),
                Some(UNKNOWN) => UNKNOWN.to_owned(),
                None => String::new(),
                Some(value) if value == default => String::new(),
                Some(value) => format!("{symbol}({value})"),
            });
            self.part(name, &expected, &found);
        }
        let [splits, other] =
            [rest, other_rest].map(|text| match path(text).and_then(|path| path.arguments?.get(3).copied()) {
                _ if text == UNKNOWN => UNKNOWN.to_owned(),
                Some(UNKNOWN) => UNKNOWN.to_owned(),
                splits => splits.map_or_else(String::new, splits_text),
            });
        self.part("splits", &splits, &other);
    }

    fn tiles(&mut self, expected: &str, found: &str) {
        let Some((expected, found)) = tuple(expected).zip(tuple(found)) else { return };
        let texts = |tiles: &[&str]| tiles.iter().map(|tile| tile_text(tile)).collect::<Vec<_>>();
        let (expected, found) = (texts(&expected), texts(&found));
        if expected.len() == found.len() {
            for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
                self.part(&format!("tile {number}"), expected, found);
            }
        } else {
            let [expected, found] = [expected, found]
                .map(|tiles| if tiles.is_empty() { String::new() } else { format!("T{}", tiles.concat()) });
            self.part("tiles", &expected, &found);
        }
    }
}

/// The items of a tuple.
fn tuple(text: &str) -> Option<Vec<&str>> {
    parts(text).filter(|(_, length)| text.starts_with('(') && *length == text.len()).map(|(items, _)| items)
}

/// The four arguments of a `Layout`, with their defaults.
fn layout_parts(text: &str) -> Option<[&str; 4]> {
    let layout = path(text).filter(|path| path.name == "Layout" && path.length == text.len())?;
    let arguments = layout.arguments?;
    let mut parts = [UNKNOWN, "()", "Space<0>", "Attributes"];
    parts.iter_mut().zip(arguments).for_each(|(part, argument)| *part = argument);
    Some(parts)
}

/// A line with marks under the differences in the second of two texts, which begins at column `indent`; empty if the texts are the same. `is_said`:
/// whether the lines after it name what is missing. Then the line may be left out if there is nothing to mark.
pub(super) fn marks(expected: &str, found: &str, indent: usize, is_said: bool) -> String {
    if expected == found {
        return String::new();
    }
    let (expected, found) = (words(expected), words(found));
    let same = |(a, b): &(&&str, &&str)| a == b;
    // The difference is between the longest common beginning and the longest common end, which must not overlap: of `a a` and `a`, the
    // beginning takes the only `a`, and nothing is left for the end.
    let before = expected.iter().zip(&found).take_while(same).count();
    let most = expected.len().min(found.len()) - before;
    let behind = expected.iter().rev().zip(found.iter().rev()).take(most).take_while(same).count();
    let width = |words: &[&str]| words.iter().map(|word| word.chars().count()).sum::<usize>();
    let indent = indent + width(found.get(..before).unwrap_or_default());
    let marks = width(found.get(before..found.len() - behind).unwrap_or_default());
    let missing = expected.get(before..expected.len() - behind).unwrap_or_default().concat();
    match marks {
        0 if is_said => format!("{}^\n", " ".repeat(indent)),
        0 => format!("{}^ expected `{missing}` here\n", " ".repeat(indent)),
        marks => format!("{}{}\n", " ".repeat(indent), "^".repeat(marks)),
    }
}

/// A text, split into words and the single characters between them.
pub(super) fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let length = if is_word(first) {
            rest.find(|character| !is_word(character)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, behind) = rest.split_at(length);
        found.push(word);
        rest = behind;
    }
    found
}
