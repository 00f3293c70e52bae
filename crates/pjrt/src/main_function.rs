//! The parameters and results of `@main` in the text of an MLIR program, and layouts that are asked for them.

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use xla_shape::Layout;

/// A parameter or a result of a program, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Argument {
    /// A parameter, from 0.
    Parameter(usize),
    /// A result, from 0.
    Result(usize),
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(number) => write!(f, "arg{number}"),
            Self::Result(number) => write!(f, "out{number}"),
        }
    }
}

/// Which layout a program asks for, at a parameter or a result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LayoutMode {
    /// The compiler's choice.
    Auto,
    /// This layout.
    Layout(Layout),
}

impl fmt::Display for LayoutMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Layout(layout) => layout.fmt(f),
        }
    }
}

/// Where the types of parameters and results stand in a text, each with its attributes.
#[derive(Debug, PartialEq)]
struct Signature {
    parameters: Vec<Range<usize>>,
    results: Vec<Range<usize>>,
    /// Whether there is one result without parentheses, which cannot have attributes.
    is_bare: bool,
}

/// The attribute by which JAX asks for layouts.
pub(crate) const LAYOUT_MODE: &str = "mhlo.layout_mode";

/// The attribute by which JAX donates a parameter to a result.
const DONATED: &str = "tf.aliasing_output";

/// Which parameters are donated, each with the result that takes its memory. Empty if the parameters of `@main` cannot be read.
pub(crate) fn donated(text: &str) -> BTreeMap<usize, usize> {
    let parameters = Signature::find(text).map(|signature| signature.parameters).unwrap_or_default();
    let result = |range: Range<usize>| {
        let value = &text[range];
        let attributes = &value[end_of(value, |letter, depth| letter == '{' && depth == 0)..];
        let attributes = attributes.strip_prefix('{')?;
        let mut rest = attributes;
        while !rest.is_empty() {
            let end = end_of(rest, |letter, depth| matches!(letter, ',' | '}') && depth == 0);
            let number = rest[..end].trim().strip_prefix(DONATED).and_then(|rest| rest.trim_start().strip_prefix('='));
            if let Some(number) = number {
                return number.trim().split(' ').next()?.parse().ok();
            }
            rest = rest[end..].strip_prefix(',').unwrap_or_default();
        }
        None
    };
    parameters.into_iter().enumerate().filter_map(|(number, range)| Some((number, result(range)?))).collect()
}

/// The attribute by which JAX asks for a memory.
pub(crate) const MEMORY_KIND: &str = "mhlo.memory_kind";

/// The text of a program with an attribute at parameters and results, in place of what stood there.
///
/// # Errors
/// If the text has no function `@main`, or that has no such parameter or result.
pub(crate) fn with_attributes(text: &str, name: &str, values: &BTreeMap<Argument, String>) -> Result<String> {
    let refused = |reason: String| Error::NoLayouts(reason);
    let signature = Signature::find(text)
        .ok_or_else(|| refused("its text has no function `@main` whose parameters can be read".to_owned()))?;
    let mut edits = Vec::new();
    for (argument, wanted) in values {
        let (list, number, what) = match argument {
            Argument::Parameter(number) => (&signature.parameters, *number, "parameters"),
            Argument::Result(number) => (&signature.results, *number, "results"),
        };
        let place = list.get(number).cloned();
        let place =
            place.ok_or_else(|| refused(format!("`@main` has {} {what}, not one of number {number}", list.len())))?;
        let is_bare = signature.is_bare && matches!(argument, Argument::Result(_));
        edits.push((place, wanted, is_bare));
    }
    edits.sort_by_key(|(place, ..)| place.start);
    let mut new = String::with_capacity(text.len() + 64 * edits.len());
    let mut done = 0;
    for (place, wanted, is_bare) in edits {
        new.push_str(&text[done..place.start]);
        let asking = asking(&text[place.clone()], name, wanted)?;
        new.push_str(&if is_bare { format!("({asking})") } else { asking });
        done = place.end;
    }
    new.push_str(&text[done..]);
    Ok(new)
}

/// A type with its attributes, such as `tensor<2xf32> {jax.buffer_donor = true}`, with one more attribute.
fn asking(value: &str, name: &str, wanted: &str) -> Result<String> {
    let ask = format!("{name} = \"{wanted}\"");
    // A location may follow: `tensor<2xf32> {a = 1} loc("x")`.
    let (value, location) = value.split_at(location_start(value));
    let end = end_of(value, |letter, depth| letter == '{' && depth == 0);
    let (type_text, attributes) = value.split_at(end);
    let inner = match attributes.trim() {
        "" => "",
        attributes => attributes.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).ok_or_else(|| {
            Error::NoLayouts(format!(
                "the attributes `{attributes}` of a parameter or result of `@main` cannot be read"
            ))
        })?,
    };
    let mut kept: Vec<&str> = Vec::new();
    let mut rest = inner;
    while !rest.is_empty() {
        let end = end_of(rest, |letter, depth| letter == ',' && depth == 0);
        let (attribute, behind) = rest.split_at(end);
        kept.push(attribute.trim());
        rest = behind.strip_prefix(',').unwrap_or_default();
    }
    let own = kept.into_iter().filter(|attribute| !attribute.is_empty() && !attribute.starts_with(name));
    let list = own.chain([ask.as_str()]).collect::<Vec<_>>().join(", ");
    let space = if location.is_empty() { "" } else { " " };
    Ok(format!("{} {{{list}}}{space}{location}", type_text.trim_end()))
}

/// Where the location of a parameter or a result starts; the text's length if it has none.
fn location_start(value: &str) -> usize {
    let mut start = value.len();
    let mut rest = 0;
    while let Some(part) = value.get(rest..) {
        // A location is at the end, outside of brackets and quotation marks.
        let at = rest + end_of(part, |letter, depth| letter == 'l' && depth == 0);
        match value.get(at..) {
            None | Some("") => break,
            Some(part) if part.starts_with("loc(") && value[..at].ends_with(' ') => {
                start = at;
                break;
            }
            Some(_) => rest = at + 1,
        }
    }
    start
}

impl Signature {
    fn find(text: &str) -> Option<Self> {
        let open = main_start(text)?;
        let (parameters, end) = list(text, open)?;
        // What stands before the type of a parameter is its name.
        let parameters = parameters.into_iter().map(|range| {
            let colon = text[range.clone()].find(':')?;
            Some(trimmed(text, range.start + colon + 1..range.end))
        });
        let parameters = parameters.collect::<Option<Vec<_>>>()?;
        let rest = text[end..].trim_start();
        let Some(arrow) = rest.strip_prefix("->") else {
            return Some(Self { parameters, results: Vec::new(), is_bare: false });
        };
        let start = text.len() - arrow.trim_start().len();
        let is_bare = !text[start..].starts_with('(');
        let results = if is_bare {
            // One result without parentheses has no attributes; behind it comes the body.
            let length = end_of(&text[start..], |letter, depth| depth == 0 && matches!(letter, '{' | ' ' | '\n'));
            let result = start..start + length;
            Vec::from([result])
        } else {
            list(text, start + 1)?.0
        };
        Some(Self { parameters, results, is_bare })
    }
}

/// Where the parameters of `@main` start: after `func.func @main(`, outside of quotation marks.
fn main_start(text: &str) -> Option<usize> {
    let mut done = 0;
    loop {
        let at = done + text.get(done..)?.find("@main(")?;
        let before = text[..at].trim_end();
        let before = before.strip_suffix("public").map_or(before, str::trim_end);
        done = at + "@main(".len();
        if before.ends_with("func.func") {
            return Some(done);
        }
    }
}

/// The items of a list whose parenthesis opens before `start`, and where it ends: behind the closing parenthesis.
fn list(text: &str, start: usize) -> Option<(Vec<Range<usize>>, usize)> {
    let mut items = Vec::new();
    let mut begin = start;
    loop {
        let end = begin + end_of(text.get(begin..)?, |letter, depth| depth == 0 && matches!(letter, ',' | ')'));
        let item = trimmed(text, begin..end);
        let closes = text.get(end..)?.starts_with(')');
        if !item.is_empty() {
            items.push(item);
        } else if !closes || !items.is_empty() {
            return None;
        }
        begin = end + 1;
        if closes {
            return Some((items, begin));
        }
    }
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = range.start + (inner.len() - inner.trim_start().len());
    start..(range.start + inner.trim_end().len()).max(start)
}

/// The position of the first character that `is_end` accepts, given how many brackets are open there; the text's length if there is
/// none. Texts in quotation marks are skipped.
pub(crate) fn end_of(text: &str, is_end: impl Fn(char, usize) -> bool) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let end = text.char_indices().find(|&(_, letter)| {
        if quoted {
            (quoted, escaped) = (escaped || letter != '"', letter == '\\' && !escaped);
            return false;
        }
        if is_end(letter, depth) {
            return true;
        }
        match letter {
            '"' => quoted = true,
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        false
    });
    end.map_or(text.len(), |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::{Argument, LAYOUT_MODE, LayoutMode, donated, with_attributes};
    use std::collections::BTreeMap;

    fn with_layouts(text: &str, layouts: &BTreeMap<Argument, LayoutMode>) -> crate::Result<String> {
        let values = layouts.iter().map(|(argument, mode)| (*argument, mode.to_string())).collect();
        with_attributes(text, LAYOUT_MODE, &values)
    }

    fn asked(text: &str, layouts: &[(Argument, &str)]) -> Result<String, String> {
        let layouts: BTreeMap<_, _> =
            layouts.iter().map(|(argument, layout)| (*argument, LayoutMode::Layout(layout.parse().unwrap()))).collect();
        with_layouts(text, &layouts).map_err(|error| error.to_string())
    }

    #[test]
    fn layouts_are_asked_for_where_they_belong() {
        use Argument::{Parameter, Result};
        let text = "module @m {\n  func.func public @main(%arg0: tensor<2x3xf32> {jax.donor = true, s = \"a, {)\\\"\"}, %arg1: tensor<4xi32>) \
                    -> (tensor<3x2xf32> {jax.result_info = \"\"}, tensor<i32>) {\n";
        let new = asked(
            text,
            &[(Parameter(0), "{0,1}"), (Parameter(1), "{0:T(128)}"), (Result(0), "{1,0}"), (Result(1), "{}")],
        );
        assert_eq!(
            new.unwrap(),
            "module @m {\n  func.func public @main(%arg0: tensor<2x3xf32> {jax.donor = true, s = \"a, {)\\\"\", mhlo.layout_mode = \"{0,1}\"}, \
             %arg1: tensor<4xi32> {mhlo.layout_mode = \"{0:T(128)}\"}) -> (tensor<3x2xf32> {jax.result_info = \"\", mhlo.layout_mode = \
             \"{1,0}\"}, tensor<i32> {mhlo.layout_mode = \"{}\"}) {\n"
        );
        // A location stays behind the attributes, and what a location says is not the function.
        let text = "#loc1 = loc(\"@main(x: y)\")\nfunc.func public @main(%x: tensor<2xf32> {a = 1} loc(\"x\"), %y: tensor<2xf32> loc(#l)) -> tensor<2xf32> {";
        let new = asked(text, &[(Parameter(0), "{0}"), (Parameter(1), "{0}")]).unwrap();
        let expected = "(%x: tensor<2xf32> {a = 1, mhlo.layout_mode = \"{0}\"} loc(\"x\"), %y: tensor<2xf32> {mhlo.layout_mode = \"{0}\"} loc(#l)) ->";
        assert!(new.contains(expected), "{new}");
        // What was asked before is replaced, and one result has no parentheses.
        let text = "func.func @main(%x: tensor<2xf32> {mhlo.layout_mode = \"auto\", a = 1}) -> tensor<2xf32> {";
        let expected = "func.func @main(%x: tensor<2xf32> {a = 1, mhlo.layout_mode = \"{0}\"}) -> tensor<2xf32> {";
        assert_eq!(asked(text, &[(Parameter(0), "{0}")]).unwrap(), expected);
        assert_eq!(asked("func.func @main() {", &[]).unwrap(), "func.func @main() {");
    }

    #[test]
    fn the_compiler_may_choose() {
        let modes = BTreeMap::from([(Argument::Result(0), LayoutMode::Auto)]);
        let text = with_layouts("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {", &modes).unwrap();
        assert_eq!(text, "func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32> {mhlo.layout_mode = \"auto\"}) {");
    }

    #[test]
    fn donated_parameters_name_their_results() {
        let text = "func.func @main(%a: tensor<2xf32> {s = \"tf.aliasing_output = 7\", tf.aliasing_output = 1 : i32}, %b: tensor<2xf32>, \
                    %c: tensor<2xf32> {tf.aliasing_output = 0 : i32} loc(\"c\")) -> (tensor<2xf32>, tensor<2xf32>) {";
        assert_eq!(donated(text), BTreeMap::from([(0, 1), (2, 0)]));
        assert_eq!(donated("func.func @main(%a"), BTreeMap::new());
    }

    #[test]
    fn what_is_not_there_is_said() {
        let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {";
        for (argument, said) in [
            (Argument::Parameter(1), "`@main` has 1 parameters, not one of number 1"),
            (Argument::Result(2), "`@main` has 1 results, not one of number 2"),
        ] {
            let error = asked(text, &[(argument, "{0}")]).unwrap_err();
            assert!(error.ends_with(said), "{error}");
        }
        for text in [
            "",
            "func.func @f() {",
            "func.func @main(%x",
            "func.func @main(%x: tensor<2xf32>,) {",
            "func.func @main(,)",
            "func.func @main(x)",
        ] {
            assert!(asked(text, &[(Argument::Parameter(0), "{0}")]).is_err(), "{text}");
        }
    }
}
