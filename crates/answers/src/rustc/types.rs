//! Rewrites the types of `xla-shape` in a text as shapes.
//!
//! The compiler leaves out parts of a type (`...`, `_`) and has names for others (`M`), so a type may not be a complete shape. Each
//! part is rewritten separately, and an unknown part is left unchanged.

use std::borrow::Cow;
use xla_shape_core::ElementType;
use xla_shape_core::validate::LayoutAttribute;

/// The deepest nesting of types that is rewritten. Deeper types are left unchanged.
pub(super) const MAX_DEPTH: usize = 48;

/// The longest text that is rewritten, in bytes.
const MAX_LENGTH: usize = 1 << 20;

/// The search for closing brackets may read each byte of a text this many times, on average. After that, the rest of the text is left unchanged.
const MAX_READS: usize = 16;

/// Types that are sizes and have arguments.
const SIZES: [&str; 6] = ["Size", "Bounded", "Named", "UInt", "Piece", "Times"];

/// Other types with arguments that are rewritten.
const TYPES: [&str; 5] = ["Array", "Layout", "Tile", "Minor", "Buffer"];

/// Types without arguments that are rewritten, and their text.
const PLAIN: [(&str, &str); 3] =
    [("types::Unbounded", "?"), ("types::Token", "token[]"), ("types::Opaque", "opaque[]")];

/// Types that are sizes and have no arguments. They are rewritten in lists of sizes.
const PLAIN_SIZES: [&str; 2] = ["Unbounded", "UTerm"];

/// The text with shapes where it has types of this library; the same text if it has none.
pub(super) fn with_shapes(text: &str) -> Cow<'_, str> {
    let has = |name: &str| text.match_indices(name).any(|(start, _)| opens(text, start + name.len()));
    let mut plain = PLAIN.iter().map(|(name, _)| *name).chain(PLAIN_SIZES);
    let is_new =
        text.len() <= MAX_LENGTH && (SIZES.into_iter().chain(TYPES).any(has) || plain.any(|name| text.contains(name)));
    if is_new { Cow::Owned(rewritten(text, 0)) } else { Cow::Borrowed(text) }
}

fn rewritten(text: &str, depth: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    let mut reads = text.len() * MAX_READS;
    while let Some(next) = rest.chars().next() {
        let is_path = is_start(next) && !is_part(before);
        if reads == 0 {
            out.push_str(rest);
            break;
        }
        let found = if is_path {
            let path = path(rest);
            // If a bracket is not closed, the search for its end has read the rest of the text.
            let is_whole = path.as_ref().is_some_and(|path| path.arguments.is_some() || !opens(rest, path.length));
            reads = reads.saturating_sub(if is_whole { 1 } else { rest.len() });
            path.map(|path| (path.length, named(&path, depth)))
        } else if next == '(' && depth < MAX_DEPTH {
            let found = parts(rest);
            reads = reads.saturating_sub(found.as_ref().map_or(rest.len(), |(_, length)| *length));
            found.and_then(|(items, length)| Some((length, group(&items, rest.get(..length)?)?)))
        } else {
            None
        };
        let (length, new) = found.unwrap_or_else(|| (next.len_utf8(), next.to_string()));
        out.push_str(&new);
        let (done, behind) = rest.split_at(length);
        before = done.chars().next_back().unwrap_or(' ');
        rest = behind;
    }
    out
}

/// Whether arguments seem to begin at a position.
fn opens(text: &str, position: usize) -> bool {
    text.get(position..).is_some_and(|rest| rest.starts_with('<') || rest.starts_with("::<"))
}

fn is_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// A path with its generic arguments.
pub(super) struct Path<'t> {
    /// The text of the path, without arguments.
    text: &'t str,
    /// Its last segment.
    pub(super) name: &'t str,
    pub(super) arguments: Option<Vec<&'t str>>,
    has_turbofish: bool,
    /// The length of path and arguments, in bytes.
    pub(super) length: usize,
}

/// The path at the beginning of a text.
pub(super) fn path(text: &str) -> Option<Path<'_>> {
    let mut end = 0;
    let mut start = 0;
    loop {
        let word = text.get(end..)?;
        let length = word.find(|character| !is_part(character)).unwrap_or(word.len());
        if length == 0 {
            break;
        }
        (start, end) = (end, end + length);
        match text.get(end..).and_then(|rest| rest.strip_prefix("::")) {
            // `::` continues the path before a name; before `<` it is a turbofish.
            Some(rest) if rest.starts_with(is_start) => end += 2,
            _ => break,
        }
    }
    let written = text.get(..end)?;
    let name = text.get(start..end)?;
    let behind = text.get(end..)?;
    let turbofish = if behind.starts_with("::<") { 2 } else { 0 };
    let arguments = behind.get(turbofish..).filter(|rest| rest.starts_with('<')).and_then(parts);
    let length = match &arguments {
        Some((_, length)) => end + turbofish + length,
        None => end,
    };
    Some(Path {
        text: written,
        name,
        arguments: arguments.map(|(parts, _)| parts),
        has_turbofish: turbofish > 0,
        length,
    })
}

/// For a text that begins with a bracket: the comma-separated items up to the closing bracket, and the length of both brackets and all between them,
/// in bytes.
pub(super) fn parts(text: &str) -> Option<(Vec<&str>, usize)> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    let mut start = 1;
    let mut before = ' ';
    for (position, character) in text.char_indices() {
        match character {
            '<' | '(' | '[' | '{' => depth += 1,
            // The `>` of `->` and `=>` is not a closing bracket.
            '>' if before == '-' || before == '=' => {}
            '>' | ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let last = text.get(start..position)?.trim();
                    if !last.is_empty() {
                        found.push(last);
                    }
                    return Some((found, position + character.len_utf8()));
                }
            }
            ',' if depth == 1 => {
                found.push(text.get(start..position)?.trim());
                start = position + 1;
            }
            _ => {}
        }
        before = character;
    }
    None
}

/// A path, rewritten if it is a type of `xla-shape`.
fn named(path: &Path<'_>, depth: usize) -> String {
    let as_it_is = || path.text.to_owned();
    let Some(arguments) = &path.arguments else {
        let named = PLAIN.iter().find(|(name, _)| path.text.ends_with(name));
        return named.map_or_else(as_it_is, |(_, text)| (*text).to_owned());
    };
    if depth >= MAX_DEPTH {
        return format!("{}<{}>", path.text, arguments.join(", "));
    }
    let whole = match (path.name, arguments.as_slice()) {
        ("Array", [element, dimensions, layout]) => {
            Some(format!("{}{}{}", self::element(element), self::dimensions(dimensions), self::layout(layout, depth)))
        }
        ("Layout", [order, ..]) if is_list(order, "Minor") => Some(layout_text(arguments)),
        ("Tile", [entries]) => Some(format!("T{}", tile(entries))),
        ("Buffer", [shape, memory]) => match path_name(memory) {
            Some("Ref") => Some(format!("View<{}, {}>", lifetime(memory), rewritten(shape, depth + 1))),
            Some("Mut") => Some(format!("ViewMut<{}, {}>", lifetime(memory), rewritten(shape, depth + 1))),
            Some("AlignedBytes") => Some(format!("Buffer<{}>", rewritten(shape, depth + 1))),
            _ => None,
        },
        (name, _) if SIZES.contains(&name) => size_text(path),
        _ => None,
    };
    whole.unwrap_or_else(|| {
        let arguments = arguments.iter().map(|argument| rewritten(argument, depth + 1)).collect::<Vec<_>>();
        let name = if path.text.starts_with("xla_shape::") { path.name } else { path.text };
        let turbofish = if path.has_turbofish { "::" } else { "" };
        format!("{name}{turbofish}<{}>", arguments.join(", "))
    })
}

/// A tuple that is a list of sizes, of dimension numbers or of tiles.
fn group(items: &[&str], tuple: &str) -> Option<String> {
    let is_all = |is_wanted: &dyn Fn(&str) -> bool| {
        let is_one = |item: &&&str| path_name(item).is_some_and(is_wanted);
        items.iter().any(|item| is_one(&item)) && items.iter().all(|item| is_left_out(item) || is_one(&item))
    };
    if is_all(&|name| SIZES.contains(&name) || PLAIN_SIZES.contains(&name)) {
        Some(dimensions(tuple))
    } else if is_all(&|name| name == "Minor") {
        Some(format!("{{{}}}", numbers(tuple)))
    } else if is_all(&|name| name == "Tile") {
        Some(format!("T{}", items.iter().map(|item| tile_text(item)).collect::<String>()))
    } else {
        None
    }
}

/// Whether the compiler left out a part of the text.
fn is_left_out(text: &str) -> bool {
    matches!(text, "..." | "_" | "…")
}

/// The text, with `…` if the compiler left out a part.
fn left_out(text: &str) -> &str {
    if text == "..." { "…" } else { text }
}

/// The last part of a path; `None` if the text is not a path.
pub(super) fn path_name(text: &str) -> Option<&str> {
    path(text).filter(|path| path.length == text.len()).map(|path| path.name)
}

/// Whether a text is a tuple whose items have this name.
fn is_list(text: &str, name: &str) -> bool {
    match parts(text) {
        Some((items, length)) => {
            text.starts_with('(') && length == text.len() && items.iter().all(|item| path_name(item) == Some(name))
        }
        None => false,
    }
}

pub(super) fn element(text: &str) -> &str {
    let name = path_name(text).unwrap_or(text);
    let known = ElementType::ALL.iter().find(|element| element.variant_name() == name);
    known.map_or_else(|| left_out(text), |element| element.name())
}

/// The lifetime of a `Ref` or `Mut`.
fn lifetime(text: &str) -> &str {
    path(text).and_then(|path| path.arguments?.first().copied()).unwrap_or("'_")
}

/// The dimensions in the form of a shape's text.
fn dimensions(text: &str) -> String {
    let Some((items, _)) = parts(text).filter(|(_, length)| text.starts_with('(') && *length == text.len()) else {
        return format!("[{}]", left_out(text));
    };
    let sizes = items
        .iter()
        .map(|item| path(item).and_then(|path| size_text(&path)).unwrap_or_else(|| left_out(item).to_owned()));
    format!("[{}]", sizes.collect::<Vec<_>>().join(","))
}

/// A size, a bound, or an unknown size.
pub(super) fn size_text(path: &Path<'_>) -> Option<String> {
    let arguments = path.arguments.as_deref().unwrap_or_default();
    Some(match (path.name, arguments) {
        ("Size", [number]) => constant(number).to_owned(),
        ("Bounded", [number]) => format!("<={}", constant(number)),
        ("Unbounded", []) => "?".to_owned(),
        ("Named", [_, ..]) if arguments.iter().all(|letter| is_left_out(letter) || is_character(letter)) => {
            let letters = arguments.iter().map(|letter| letter.trim_matches('\''));
            letters.take_while(|&letter| letter != "\\0").collect()
        }
        ("UTerm" | "UInt", _) => typenum(path, 0)?.to_string(),
        ("Piece", [whole, pieces, _]) => computed(whole, pieces, "/", |a, b| a.checked_div(b))?,
        ("Times", [part, count]) => computed(part, count, "*", u64::checked_mul)?,
        _ => return None,
    })
}

/// Whether a text is a character literal of Rust.
fn is_character(text: &str) -> bool {
    text.len() > 2 && text.starts_with('\'') && text.ends_with('\'')
}

/// The text of a size that is computed from another one, such as a quarter of it.
fn computed(of: &str, by: &str, sign: &str, compute: fn(u64, u64) -> Option<u64>) -> Option<String> {
    let of = path(of).and_then(|path| size_text(&path)).unwrap_or_else(|| left_out(of).to_owned());
    let by = constant(by);
    let number = of.parse().ok().zip(by.parse().ok()).and_then(|(of, by)| compute(of, by));
    Some(number.map_or_else(|| format!("{of}{sign}{by}"), |number| number.to_string()))
}

/// A number of `typenum`.
fn typenum(path: &Path<'_>, depth: u32) -> Option<u64> {
    match (path.name, path.arguments.as_deref().unwrap_or_default()) {
        ("UTerm", []) => Some(0),
        ("UInt", [rest, bit]) if depth < u64::BITS => {
            let bit = match path_name(bit)? {
                "B0" => 0,
                "B1" => 1,
                _ => return None,
            };
            typenum(&self::path(rest)?, depth + 1)?.checked_mul(2)?.checked_add(bit)
        }
        _ => None,
    }
}

/// A constant without the braces of an expression.
fn constant(text: &str) -> &str {
    left_out(text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).map_or(text, str::trim))
}

/// The layout in the text of a shape, in braces.
pub(super) fn layout(text: &str, depth: usize) -> String {
    match path(text).filter(|path| path.length == text.len()) {
        Some(Path { name: "Layout", arguments: Some(arguments), .. }) => layout_text(&arguments),
        Some(Path { name: "TpuLayout", arguments: Some(arguments), .. }) => {
            let generation = arguments.first().copied().and_then(path_name).unwrap_or("TPU");
            format!("{{the default of {}}}", generation.to_lowercase())
        }
        Some(path) if path.arguments.is_some() => format!("{{{}}}", rewritten(text, depth + 1)),
        _ => format!("{{{}}}", left_out(text)),
    }
}

/// The text of a layout from its type arguments: the order, and the attributes that are not the default.
fn layout_text(arguments: &[&str]) -> String {
    let order = arguments.first().map_or_else(String::new, |order| numbers(order));
    let mut attributes = String::new();
    match arguments.get(1).copied() {
        None | Some("()") => {}
        Some(tiles) => match parts(tiles).filter(|_| tiles.starts_with('(')) {
            Some((tiles, _)) => {
                attributes.push('T');
                tiles.iter().for_each(|tile| attributes.push_str(&tile_text(tile)));
            }
            None => attributes.push_str(left_out(tiles)),
        },
    }
    let space = arguments.get(2).copied().map(|space| argument(space, 0).unwrap_or_else(|| left_out(space)));
    let rest = arguments.get(3).copied();
    let is_in_rest = |attribute: &LayoutAttribute| *attribute != LayoutAttribute::MemorySpace;
    let in_rest = || LayoutAttribute::NUMBERS.iter().copied().filter(is_in_rest);
    // Write them in the order of the text format. In the type, the splits come after the numbers.
    for attribute in LayoutAttribute::ALL {
        if attribute == LayoutAttribute::SplitConfigs {
            let splits = rest.and_then(|rest| path(rest)?.arguments?.get(in_rest().count()).copied());
            attributes.push_str(&splits.filter(|&splits| splits != "_").map_or_else(String::new, splits_text));
        }
        let Some(default) = attribute.default_number() else { continue };
        let value = match in_rest().position(|found| found == attribute) {
            Some(place) => rest.and_then(|rest| argument(rest, place)),
            None => space,
        };
        // `_` means that the compared type has the same part, so it is left out.
        if let Some(value) = value.filter(|&value| value != default.to_string() && value != "_") {
            attributes.push_str(&format!("{attribute}({value})"));
        }
    }
    if let Some(rest) = rest.filter(|rest| is_left_out(rest)) {
        attributes.push_str(left_out(rest));
    }
    match (order.is_empty(), attributes.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!("{{{order}}}"),
        _ => format!("{{{order}:{attributes}}}"),
    }
}

/// The argument of a type with this number, from 0.
pub(super) fn argument(text: &str, number: usize) -> Option<&str> {
    Some(constant(path(text)?.arguments?.get(number)?))
}

/// The numbers of a list of `Minor`.
pub(super) fn numbers(text: &str) -> String {
    match parts(text).filter(|_| text.starts_with('(')) {
        Some((items, _)) => {
            let numbers = items.iter().map(|item| argument(item, 0).unwrap_or_else(|| left_out(item)));
            numbers.collect::<Vec<_>>().join(",")
        }
        None => left_out(text).to_owned(),
    }
}

/// A list of `Split`.
pub(super) fn splits_text(text: &str) -> String {
    let Some((items, _)) = parts(text).filter(|_| text.starts_with('(')) else {
        return left_out(text).to_owned();
    };
    if items.is_empty() {
        return String::new();
    }
    let split = |item: &&str| {
        let indices = path(item).and_then(|split| split.arguments?.get(1).map(|indices| numbers(indices)));
        let dimension = argument(item, 0).unwrap_or_else(|| left_out(item));
        format!("({dimension}:{})", indices.unwrap_or_else(|| "_".to_owned()))
    };
    format!("SC{}", items.iter().map(split).collect::<String>())
}

/// The entries of a `Tile` in parentheses.
pub(super) fn tile_text(text: &str) -> String {
    argument(text, 0).map_or_else(|| left_out(text).to_owned(), tile)
}

fn tile(entries: &str) -> String {
    match parts(entries).filter(|_| entries.starts_with('(')) {
        Some((items, _)) => {
            let entries = items.iter().map(|item| match path_name(item) {
                Some("Combine") => "*",
                _ => argument(item, 0).unwrap_or_else(|| left_out(item)),
            });
            format!("({})", entries.collect::<Vec<_>>().join(","))
        }
        None => format!("({})", left_out(entries)),
    }
}
