//! Texts that a person writes: one shape, two of them, or a shape with its sharding.

use xla_shape_core::shard::{Sharding, ShardingKind};
use xla_shape_core::text::ParseErrorKind;
use xla_shape_core::{ElementType, ParseError, Shape};
use xla_shape_hlo::find_shapes;

/// What may be between two shapes.
const BETWEEN: [&str; 9] = ["\n", "->", "=>", "→", " vs ", " and ", " to ", ";", "|"];

/// Whether a text begins as a shape does and has no space outside of brackets: such a text was meant as a shape, even if it
/// is not a valid one.
pub(super) fn is_like_a_shape(text: &str) -> bool {
    let text = text.trim();
    let Some(bracket) = text.find(['[', '(']) else { return false };
    let (name, rest) = text.split_at(bracket);
    let is_start = match rest.starts_with('(') {
        true => matches!(name, "" | "b"),
        false => ElementType::from_name(name).is_some() || matches!(name, "token" | "opaque") || is_misspelled(name),
    };
    let mut depth = 0_i32;
    let has_words = text.chars().any(|letter| {
        depth += i32::from(matches!(letter, '[' | '(' | '{')) - i32::from(matches!(letter, ']' | ')' | '}'));
        depth <= 0 && letter.is_whitespace()
    });
    is_start && !has_words
}

/// Whether this is a misspelled name of an element type: the parser's error suggests another name.
fn is_misspelled(name: &str) -> bool {
    let error = name.parse::<Shape>().err();
    matches!(error.as_ref().map(ParseError::kind), Some(ParseErrorKind::UnknownElementType { suggestion: Some(_), .. }))
}

/// Two shapes, one after the other.
pub(super) fn two_shapes(text: &str) -> Option<[&str; 2]> {
    let text = text.trim();
    for between in BETWEEN {
        let mut parts = text.split(between).map(str::trim);
        if let (Some(first), Some(second), None) = (parts.next(), parts.next(), parts.next())
            && is_like_a_shape(first)
            && is_like_a_shape(second)
        {
            return Some([first, second]);
        }
    }
    let (first, second) = after_shape(text)?;
    let second = second.trim_start_matches(',').trim();
    is_like_a_shape(second).then_some([first, second])
}

/// A shape and the sharding after it, which may be written as the option `--sharding`.
pub(super) fn shape_and_sharding(text: &str) -> Option<[&str; 2]> {
    let (shape, rest) = after_shape(text.trim())?;
    let rest = rest.trim_start_matches([' ', '\n', '\t', ',']).trim_start_matches("--").trim_start_matches("sharding");
    let sharding = rest.trim_start_matches([' ', '=', '\'', '"']).trim_end_matches(['\'', '"', ' ']);
    is_like_a_sharding(sharding).then_some([shape, sharding])
}

/// Whether a text begins as a sharding does.
pub(super) fn is_like_a_sharding(text: &str) -> bool {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('{') else { return false };
    text.parse::<Sharding>().is_ok()
        || ["devices=", "replicated", "maximal", "manual", "mesh[", "unknown", "unreduced"]
            .iter()
            .any(|word| inner.trim_start().starts_with(word))
}

/// The shape to explain a sharding with if the user gave none: one element for each tile, or a scalar if the sharding has no tiles.
pub(super) fn divided_by(text: &str) -> String {
    let sharding = text.parse::<Sharding>().ok();
    let tiled = sharding.as_ref().and_then(|sharding| sharding.to_tiled().ok());
    let tiles = match tiled.as_ref().map(|tiled| tiled.kind()) {
        Some(ShardingKind::Tiled(tiled)) => tiled.tiles(),
        _ => &[],
    };
    format!("u8[{}]", tiles.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
}

/// The shape that a text begins with, and what is after it.
fn after_shape(text: &str) -> Option<(&str, &str)> {
    let found = find_shapes(text).next().filter(|found| found.span.start == 0)?;
    text.split_at_checked(found.span.end)
}

#[cfg(test)]
mod tests {
    use super::{divided_by, is_like_a_shape, is_like_a_sharding, shape_and_sharding, two_shapes};

    #[test]
    fn shapes_are_told_from_prose() {
        for text in
            ["f32[2,3]", " f32[2, 3]{1,0} ", "f32[2", "f33[2]", "(f32[2], s8[3])", "b(f32[2])", "f32[2]{5}", "token[]"]
        {
            assert!(is_like_a_shape(text), "{text}");
        }
        for text in ["", "f32", "f32[2] is large", "x[2]", "list(f32[2])", "{1,0}", "[2]"] {
            assert!(!is_like_a_shape(text), "{text}");
        }
    }

    #[test]
    fn two_shapes_are_found() {
        for text in [
            "f32[8,4] f32[32]",
            "f32[8,4]\nf32[32]",
            "f32[8,4]->f32[32]",
            " f32[8,4] => f32[32]\n",
            "f32[8,4], f32[32]",
            "f32[8,4] vs f32[32]",
        ] {
            assert_eq!(two_shapes(text), Some(["f32[8,4]", "f32[32]"]), "{text}");
        }
        assert_eq!(two_shapes("f32[8]{5} -> f32[8]"), Some(["f32[8]{5}", "f32[8]"]), "errors are shown");
        for text in ["", "f32[8]", "f32[8] f32[8] f32[8]", "(f32[8], f32[8])", "f32[8] is f32[8]"] {
            assert_eq!(two_shapes(text), None, "{text}");
        }
    }

    #[test]
    fn shardings_are_found() {
        let sharding = "{devices=[4,2]<=[8]}";
        for between in [" ", ", ", ", sharding=", " --sharding ", " --sharding '"] {
            let text = format!("f32[64,128]{between}{sharding}{}", if between.ends_with('\'') { "'" } else { "" });
            assert_eq!(shape_and_sharding(&text), Some(["f32[64,128]", sharding]), "{text}");
        }
        assert!(is_like_a_sharding("{replicated}") && is_like_a_sharding("{devices=[2,0]<=[8]}"));
        assert!(!is_like_a_sharding("{1,0}") && !is_like_a_sharding("{\"json\": 1}") && !is_like_a_sharding(""));
        for (text, array) in [(sharding, "u8[4,2]"), ("{replicated}", "u8[]"), ("no sharding", "u8[]")] {
            assert_eq!(divided_by(text), array);
        }
    }
}
