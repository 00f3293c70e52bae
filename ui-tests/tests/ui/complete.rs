//! Every error that the text of a shape can have has a case, and each wrong shape of a case gives one error, in the words
//! and at the place of the parser at run time.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use xla_shape::legacy;
use xla_shape_core::ParseError;
use xla_shape_core::text::{ParseErrorKind, Parser};

/// One line `type X = shape!(…);` of a case.
struct Case {
    file: PathBuf,
    /// Counted from 1.
    line: usize,
    /// Counted from 1.
    column: usize,
    text: String,
}

/// The lines of the cases that are about the text of a shape.
fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/fail/syntax", "tests/fail/rules", "tests/fail/limits"];
    let folders = folders.map(|folder| fs::read_dir(root.join(folder)).expect("a folder"));
    let files = folders.into_iter().flatten().map(|entry| entry.expect("an entry").path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    let cases = files.flat_map(|file| {
        let source = fs::read_to_string(&file).expect("a readable file");
        let cases = source.lines().zip(1..).filter_map(|(code, line)| {
            let (before, rest) = code.split_once("shape!(")?;
            let text = rest.strip_suffix(");")?.to_owned();
            Some(Case { file: file.clone(), line, column: before.len() + "shape!(".len() + 1, text })
        });
        cases.collect::<Vec<_>>()
    });
    cases.collect()
}

/// The error of the parser for a text at run time.
fn error(text: &str) -> Option<ParseError> {
    let mut parser = Parser::whole(text).for_types();
    let read = if legacy::is_next(&parser) { legacy::parse(&mut parser).map(drop) } else { parser.shape().map(drop) };
    read.and_then(|()| parser.finish()).err()
}

/// The names of the variants in an error.
fn variants(error: &ParseError) -> Vec<String> {
    let kind = error.kind();
    let inner = match kind {
        ParseErrorKind::Unexpected { expected, .. } => Some(variant("Expected", expected)),
        ParseErrorKind::Invalid(error) => Some(variant("ValidationError", error)),
        ParseErrorKind::NotAType(error) => Some(variant("TypeLimitError", error)),
        _ => None,
    };
    [variant("ParseErrorKind", kind)].into_iter().chain(inner).collect()
}

/// The name of an enum's variant, such as `Expected::Shape`.
fn variant(name: &str, value: &impl Debug) -> String {
    format!("{name}::{}", first_word(&format!("{value:?}")))
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

/// The variants that an enum of the core has, read from its source.
fn declared(file: &str, name: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/core/src").join(file);
    let source = fs::read_to_string(path).expect("the core's source");
    let (_, body) = source.split_once(&format!("pub enum {name} {{\n")).expect("the enum");
    let (body, _) = body.split_once("\n}").expect("its end");
    let names = body.lines().filter_map(|line| line.strip_prefix("    "));
    let names = names.map(first_word).filter(|word| word.starts_with(char::is_uppercase));
    names.map(|word| format!("{name}::{word}")).collect()
}

const HLO: &str = "only in the text of HLO modules";
const INDEX: &str = "only in the text of an index";
const NOTATION: &str = "only in the text of another notation, such as CuTe's";
const TPU: &str = "only in `tpu_shape!`";
const LEXER: &str = "the lexer says first that the number does not fit in an i64";

/// The enums of the core for errors in shapes, each with the file that declares it.
const ENUMS: [(&str, &str); 4] = [
    ("text/error.rs", "ParseErrorKind"),
    ("text/error.rs", "Expected"),
    ("layout/error.rs", "ValidationError"),
    ("shape/type_limits.rs", "TypeLimitError"),
];

/// The variants that no shape in Rust source can cause, and why.
const UNREACHABLE: &[(&str, &str)] = &[
    ("ParseErrorKind::CannotInferShape", HLO),
    ("ParseErrorKind::DuplicateName", HLO),
    ("ParseErrorKind::Index", INDEX),
    ("ParseErrorKind::InvalidUtf8", HLO),
    ("ParseErrorKind::NoDefaultLayout", TPU),
    ("ParseErrorKind::NoEntry", HLO),
    ("ParseErrorKind::NoInstructions", HLO),
    ("ParseErrorKind::SecondEntry", HLO),
    ("ParseErrorKind::SecondRoot", HLO),
    ("ParseErrorKind::Sharding", "only in the text of a sharding"),
    ("ParseErrorKind::TextTooLong", HLO),
    ("ParseErrorKind::TooDeep", HLO),
    ("ParseErrorKind::TooDeeplyNested", NOTATION),
    ("ParseErrorKind::TooManyErrors", HLO),
    ("ParseErrorKind::UnclosedBracket", HLO),
    ("ParseErrorKind::UnclosedComment", "Rust has taken the comments away"),
    ("ParseErrorKind::UnclosedString", HLO),
    ("ParseErrorKind::UnknownInstruction", HLO),
    ("ParseErrorKind::VectorLayout", "only in the text of a vector layout"),
    ("Expected::Computation", HLO),
    ("Expected::DimensionLetter", INDEX),
    ("Expected::Generation", TPU),
    ("Expected::HloAttribute", HLO),
    ("Expected::HloAttributeValue", HLO),
    ("Expected::IndexEntry", INDEX),
    ("Expected::Instruction", HLO),
    ("Expected::Layout", "only where a layout stands alone"),
    ("Expected::Name", HLO),
    ("Expected::NoLayout", TPU),
    ("Expected::Opcode", HLO),
    ("Expected::Operand", HLO),
    ("Expected::ParameterNumber", HLO),
    ("Expected::TableRow", HLO),
    ("ValidationError::AttributeTooLarge", LEXER),
    ("ValidationError::DimensionTooLarge", LEXER),
    ("ValidationError::EmptySplit", "the grammar wants an index"),
    ("ValidationError::TileDimensionTooLarge", LEXER),
];

#[test]
fn every_error_has_a_case() {
    let reached: BTreeSet<String> =
        cases().iter().filter_map(|case| error(&case.text)).flat_map(|error| variants(&error)).collect();
    let declared: BTreeSet<String> = ENUMS.into_iter().flat_map(|(file, name)| declared(file, name)).collect();
    let unreachable: BTreeSet<String> = UNREACHABLE.iter().map(|(variant, _)| (*variant).to_owned()).collect();
    let missing: Vec<_> = declared.difference(&unreachable).filter(|variant| !reached.contains(*variant)).collect();
    assert!(missing.is_empty(), "no case has {missing:?}; write one in `tests/fail`, or say why there is none");
    let stale: Vec<_> = unreachable.iter().filter(|v| reached.contains(*v) || !declared.contains(*v)).collect();
    assert!(stale.is_empty(), "{stale:?} can be reached or is gone");
}

#[test]
fn each_wrong_shape_is_answered_once_as_at_run_time() {
    let mut count = 0;
    for case in cases() {
        let place = format!("{}:{}", case.file.display(), case.line);
        let error = error(&case.text).unwrap_or_else(|| panic!("{place}: the shape is valid"));
        let shown = fs::read_to_string(case.file.with_extension("stderr")).expect("the case has been blessed");
        let name = case.file.file_name().expect("a file").to_string_lossy();
        let arrow = format!("{name}:{}:", case.line);
        let lines: Vec<&str> = shown.lines().collect();
        let errors: Vec<_> = lines.windows(2).filter(|pair| pair[1].contains(&arrow)).collect();
        let [[message, at]] = errors[..] else { panic!("{place}: {} errors, not one", errors.len()) };
        // The parser sees only the first character of a string or a lifetime.
        let expected = format!("error: {error}");
        let expected = expected.trim_end_matches('`');
        assert!(message.starts_with(expected), "{place}: {message:?} is not {expected:?}");
        // If something is missing at the end, the error is shown under the last token.
        let start = error.span().start;
        if start < case.text.len() {
            assert!(at.ends_with(&format!(":{}", case.column + start)), "{place}: {at}, not at {start} of the shape");
        }
        count += 1;
    }
    println!("{count} wrong shapes, each with one error");
    assert!(count >= 200);
}
