//! [`Signature`]: a function's parameters and results.

use crate::scanner::{Scanner, dictionary};
use alloc::vec::Vec;
use core::ops::Range;

/// The parameters and results of a function.
///
/// ```
/// use xla_shape_mlir::Signature;
///
/// let text = "func.func public @main(%x: tensor<2xf32> {a = 1}, %y: tensor<4xi32> loc(\"y\")) -> (tensor<i32>, tensor<f32>) {";
/// let main = Signature::find(text, "main").unwrap();
/// assert_eq!((main.parameters().len(), main.results().len()), (2, 2));
/// assert_eq!(main.parameters()[1].type_text(), "tensor<4xi32>");
/// ```
#[derive(Clone, Debug)]
pub struct Signature<'a> {
    parameters: Vec<Value<'a>>,
    results: Vec<Value<'a>>,
    has_bare_result: bool,
}

/// A parameter or a result of a function: `%x: tensor<2xf32> {a = 1} loc("x")`. All parts but the type are optional.
///
/// ```
/// use xla_shape_mlir::Signature;
///
/// let text = "func.func @f(%x: tensor<2xf32> {a = 1} loc(\"x\")) {";
/// let f = Signature::find(text, "f").unwrap();
/// let x = &f.parameters()[0];
/// assert_eq!((x.name(), x.type_text(), x.attribute("a"), x.location()), ("%x", "tensor<2xf32>", Some("1"), "loc(\"x\")"));
/// assert_eq!(&text[x.range()], "tensor<2xf32> {a = 1} loc(\"x\")");
/// ```
#[derive(Clone, Debug)]
pub struct Value<'a> {
    name: &'a str,
    type_text: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    location: &'a str,
    range: Range<usize>,
}

impl<'a> Signature<'a> {
    /// Finds `func.func [public|private] @NAME(…)` in a text. `None` if it is missing or its brackets do not match. The body may be
    /// missing or invalid.
    ///
    /// ```
    /// use xla_shape_mlir::Signature;
    ///
    /// assert!(Signature::find("func.func @main(%x: tensor<2xf32>", "main").is_none());
    /// assert!(Signature::find("func.func @other() {", "main").is_none());
    /// ```
    #[must_use]
    pub fn find(text: &'a str, function: &str) -> Option<Self> {
        let mut scanner = Scanner::from(text, parameters_start(text, function)?);
        let parameters = values(&mut scanner, true)?;
        scanner.skip_space();
        if !scanner.eat("->") {
            return Some(Self { parameters, results: Vec::new(), has_bare_result: false });
        }
        scanner.skip_space();
        if scanner.eat("(") {
            let results = values(&mut scanner, false)?;
            return Some(Self { parameters, results, has_bare_result: false });
        }
        // A single result without parentheses is just a type. After it come the body or the function's attributes.
        let start = scanner.position();
        let end = scanner.pass_until(|byte| byte == b'{' || byte.is_ascii_whitespace()).ok()?;
        let result = Value::read(text, start..end, false)?;
        Some(Self { parameters, results: Vec::from([result]), has_bare_result: true })
    }

    /// The parameters, in order.
    #[must_use]
    pub fn parameters(&self) -> &[Value<'a>] {
        &self.parameters
    }

    /// The results, in order.
    #[must_use]
    pub fn results(&self) -> &[Value<'a>] {
        &self.results
    }

    /// Whether there is a single result without parentheses. To give it attributes, add the parentheses.
    ///
    /// ```
    /// use xla_shape_mlir::Signature;
    ///
    /// assert!(Signature::find("func.func @f() -> tensor<2xf32> {", "f").unwrap().has_bare_result());
    /// ```
    #[must_use]
    pub const fn has_bare_result(&self) -> bool {
        self.has_bare_result
    }
}

impl<'a> Value<'a> {
    /// Its name, with `%`. Results have none: "".
    #[must_use]
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// Its type, as text.
    #[must_use]
    pub const fn type_text(&self) -> &'a str {
        self.type_text
    }

    /// Its attributes, as text. An attribute without a value has the text "".
    #[must_use]
    pub fn attributes(&self) -> &[(&'a str, &'a str)] {
        &self.attributes
    }

    /// The value of an attribute, as text.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Its location with `loc(` and `)`, or "".
    #[must_use]
    pub const fn location(&self) -> &'a str {
        self.location
    }

    /// Where its type, attributes and location are in the text, in bytes.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    fn read(text: &'a str, range: Range<usize>, is_named: bool) -> Option<Self> {
        let (name, range) = if is_named {
            let colon = range.start.checked_add(text.get(range.clone())?.find(':')?)?;
            (text.get(range.start..colon)?.trim(), colon.checked_add(1)?..range.end)
        } else {
            ("", range)
        };
        let range = trimmed(text, range)?;
        let value = text.get(range.clone())?;
        // The attributes begin with a brace, the location with `loc(`, both outside of the type's brackets.
        let mut scanner = Scanner::new(value);
        let mut before = b' ';
        let type_end = scanner.pass_until(|byte| {
            let begins = byte == b'{' || byte == b'l' && before.is_ascii_whitespace();
            before = byte;
            begins
        });
        let (type_text, rest) = value.split_at_checked(type_end.ok()?)?;
        let (attributes, location) = if rest.starts_with('{') {
            let mut scanner = Scanner::new(rest);
            scanner.balanced().ok()?;
            rest.split_at_checked(scanner.position())?
        } else {
            ("", rest)
        };
        let (type_text, location) = (type_text.trim(), location.trim());
        let is_whole = !type_text.is_empty() && (location.is_empty() || location.starts_with("loc("));
        is_whole.then(|| Self { name, type_text, attributes: dictionary(attributes), location, range })
    }
}

/// The position after `func.func @NAME(`.
fn parameters_start(text: &str, function: &str) -> Option<usize> {
    let mut done = 0_usize;
    loop {
        let at = done.checked_add(text.get(done..)?.find('@')?)?;
        done = at.checked_add(1)?;
        let after = text.get(done..)?.strip_prefix(function).and_then(|rest| rest.strip_prefix('('));
        let before = text.get(..at)?.trim_end();
        let visibility = ["public", "private"].into_iter().find_map(|word| before.strip_suffix(word));
        if let Some(after) = after
            && visibility.map_or(before, str::trim_end).ends_with("func.func")
        {
            return text.len().checked_sub(after.len());
        }
    }
}

/// The values of a list whose parenthesis has been passed. Passes the closing parenthesis.
fn values<'a>(scanner: &mut Scanner<'a>, are_named: bool) -> Option<Vec<Value<'a>>> {
    let mut values = Vec::new();
    loop {
        let start = scanner.position();
        let end = scanner.pass_until(|byte| matches!(byte, b',' | b')')).ok()?;
        let is_last = scanner.eat(")");
        if !is_last && !scanner.eat(",") {
            return None;
        }
        // `()` is a list without values; anywhere else, an empty item is an error.
        if is_last && values.is_empty() && scanner.text().get(start..end)?.trim().is_empty() {
            return Some(values);
        }
        values.push(Value::read(scanner.text(), start..end, are_named)?);
        if is_last {
            return Some(values);
        }
    }
}

fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let inner = text.get(range.clone())?;
    let start = range.end.checked_sub(inner.trim_start().len())?;
    Some(start..start.checked_add(inner.trim().len())?)
}

#[cfg(test)]
mod tests {
    use super::Signature;
    use alloc::format;
    use alloc::string::String;

    fn types(text: &str) -> Option<String> {
        let main = Signature::find(text, "main")?;
        let list = |values: &[super::Value<'_>]| {
            values.iter().map(|value| format!("[{}|{}]", value.name(), value.type_text())).collect::<String>()
        };
        Some(format!("{}->{}", list(main.parameters()), list(main.results())))
    }

    #[test]
    fn types_end_outside_of_brackets_and_strings() {
        for (text, expected) in [
            ("func.func @main() {", "->"),
            ("func.func private @main( )", "->"),
            (
                "func.func @main(%a: (i32) -> i64, %b: !f<\"),\">) -> i1 attributes {x} {",
                "[%a|(i32) -> i64][%b|!f<\"),\">]->[|i1]",
            ),
            (
                "func.func @main(%a: tensor<2xf32, #b<5, ?>>) -> tensor<3xf32>{",
                "[%a|tensor<2xf32, #b<5, ?>>]->[|tensor<3xf32>]",
            ),
            ("call @main(%0)\nfunc.func public @main(%a: vector<4xlocal>) -> ()", "[%a|vector<4xlocal>]->"),
            (
                "#l = loc(\"@main(x: y)\")\nfunc.func @main(%a: i1 loc(#l)) -> (i2 {b = \"{\"}, i3 loc(#l))",
                "[%a|i1]->[|i2][|i3]",
            ),
        ] {
            assert_eq!(types(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_has_no_signature() {
        for text in [
            "",
            "func.func @mains() {",
            "func.func @main(%x",
            "func.func @main(%x: i1,) {",
            "func.func @main(,)",
            "func.func @main(x)",
            "func.func @main(%x: )",
            "func.func @main(%x: i1]",
            "func.func @main(%x: tuple<tensor<2xf32>)",
            "func.func @main(%x: i1 {a = 1} b)",
            "func.func @main(%x: i1 {a = \"1})",
            "func.func @main() -> (i1",
            "func.func @main() -> ",
        ] {
            assert_eq!(types(text), None, "{text}");
        }
        let deep = format!("func.func @main(%x: {}", "<".repeat(100_000));
        assert_eq!(types(&deep), None);
    }
}
