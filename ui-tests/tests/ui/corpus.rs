//! XLA's own texts, given to the macro: it answers as the parser does at run time, in shape, message and place.
//!
//! The cases are written anew at each run. A wrong shape must give exactly one error, under exactly the tokens that the
//! parser points at.

use super::compiler::{FOLDER, Until, compile, plain};
use proc_macro2::{TokenStream, TokenTree};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use xla_shape_core::text::Parser;
use xla_shape_core::{ParseError, Shape};

/// A text and what XLA makes of it, if that is a shape.
struct Row {
    input: String,
    canonical: Option<String>,
}

/// The rows of the corpus whose texts are valid tokens of Rust, and take one line.
fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/shapes.jsonl");
    let text = fs::read_to_string(path).expect("the corpus is part of the repository");
    let rows = text.lines().filter_map(|line| {
        let input = field(line, "input")?.to_owned();
        Some(Row { input, canonical: field(line, "canonical").map(str::to_owned) })
    });
    rows.filter(|row| row.input.len() <= 100 && is_rust(&row.input)).collect()
}

/// A string without escapes in a line of JSON.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    let (value, _) = rest.split_once('"')?;
    (!value.contains('\\')).then_some(value)
}

/// Whether Rust divides the text into the same tokens as the core.
fn is_rust(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '\\' | '$') || c == ' ';
    // Leave out texts with a line comment (`//`), a minus that is separate from its number, or a prefix that Rust reserves for future strings.
    let strange =
        |pair: &[u8]| matches!(pair, b"//" | b"- " | b"##") || pair[0].is_ascii_alphanumeric() && pair[1] == b'#';
    text.chars().all(plain) && !text.as_bytes().windows(2).any(strange) && text.parse().is_ok_and(has_no_exponents)
}

/// Whether no number has an `E`, which Rust reads as an exponent where XLA has an attribute.
fn has_no_exponents(tokens: TokenStream) -> bool {
    tokens.into_iter().all(|token| match token {
        TokenTree::Group(group) => has_no_exponents(group.stream()),
        TokenTree::Literal(literal) => !literal.to_string().contains(['e', 'E']),
        TokenTree::Ident(_) | TokenTree::Punct(_) => true,
    })
}

/// As the macro reads it.
fn parse(text: &str) -> Result<Shape, ParseError> {
    let mut parser = Parser::whole(text).for_types();
    assert!(!xla_shape::legacy::is_next(&parser), "XLA has forgotten these layouts");
    let shape = parser.shape()?;
    parser.finish()?;
    Ok(shape)
}

/// Writes a program for the compiler.
fn write(name: &str, text: &str) -> PathBuf {
    let path = Path::new(FOLDER).join(name);
    fs::write(&path, text).expect("cargo makes the directory");
    path
}

/// Compares texts in constants.
const SAME: &str = "\
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
";

#[test]
fn valid_shapes() {
    let mut program = format!("use xla_shape::shape;\nuse xla_shape::types::ShapeType;\n\nfn main() {{}}\n\n{SAME}\n");
    let mut count = 0;
    // A few hundred texts find the same errors as all of them.
    for row in rows().into_iter().step_by(4) {
        if let (Some(canonical), Ok(_)) = (&row.canonical, parse(&row.input)) {
            writeln!(
                program,
                "const _: () = assert!(same(<shape!({}) as ShapeType>::TEXT, {canonical:?}));",
                row.input
            )
            .expect("in memory");
            count += 1;
        }
    }
    println!("{count} valid shapes");
    assert!(count >= 300);
    let output = compile(&plain(), write("valid_shapes.rs", &program), Until::Checked);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn invalid_shapes() {
    let mut program = String::from("use xla_shape::shape;\nfn main() {}\n");
    let path = Path::new(FOLDER).join("invalid_shapes.rs");
    let mut expected = Vec::new();
    for row in rows() {
        let Err(error) = parse(&row.input) else { continue };
        let span = error.span();
        if span.end > row.input.trim_end().len() || span.start == span.end {
            // If something is missing at the end, there is no token to underline.
            continue;
        }
        let before = format!("type E{} = shape!(", expected.len());
        let line = format!("{before}{});", row.input);
        let number = expected.len() + 3;
        let gutter = " ".repeat(number.to_string().len());
        let column = before.len() + span.start;
        expected.push(format!(
            "error: {error}\n{gutter}--> {}:{number}:{}\n{gutter} |\n{number} | {line}\n{gutter} | {}{}\n",
            path.display(),
            column + 1,
            " ".repeat(column),
            "^".repeat(span.end - span.start),
        ));
        program += &line;
        program += "\n";
    }
    println!("{} invalid shapes", expected.len());
    assert!(expected.len() >= 100);
    expected.push(format!("error: aborting due to {} previous errors\n", expected.len()));
    let output = compile(&plain(), write("invalid_shapes.rs", &program), Until::Checked);
    let shown = String::from_utf8(output.stderr).expect("UTF-8");
    let shown: Vec<_> = shown.split_inclusive("\n\n").map(str::trim_end).collect();
    let expected: Vec<_> = expected.iter().map(|message| message.trim_end()).collect();
    for (shown, expected) in shown.iter().zip(&expected) {
        assert_eq!(shown, expected);
    }
    assert_eq!(shown.len(), expected.len());
}
