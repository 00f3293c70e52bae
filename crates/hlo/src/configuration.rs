//! Configurations of instructions, compared by what they mean: the order of keys in JSON does not matter.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use xla_shape_core::sorting::{map_of, sort_by_key};
use xla_shape_core::text::MAX_NESTING;

/// What the compiler for TPUs writes after XLA dumps the module: the text that PJRT returns has it, and the text of the dump does not.
const LATE: [&str; 9] = [
    "bf16_mapped_op_count",
    "collective_algorithm_config",
    "convolution_algorithm_config",
    "integer_config",
    "mask_aggregator_config",
    "megacore_config",
    "retry_config",
    "used_scoped_memory_configs",
    "window_config",
];

/// Whether two configurations are the same. `None` if one of them lacks what the compiler writes late, so that it is not known.
pub(crate) fn is_same_config(one: &str, other: &str) -> Option<bool> {
    if one == other {
        return Some(true);
    }
    let (Some(Json::Object(one)), Some(Json::Object(other))) = (Json::read(one), Json::read(other)) else {
        return Some(Json::read(one).is_some_and(|one| Some(one) == Json::read(other)));
    };
    let (one, other): (BTreeMap<_, _>, BTreeMap<_, _>) = (map_of(one), map_of(other));
    let mut is_known = true;
    for (key, value, against) in
        one.iter().map(|(key, value)| (key, value, &other)).chain(other.iter().map(|(key, value)| (key, value, &one)))
    {
        let found = against.get(key);
        if found == Some(value) {
            continue;
        }
        if !LATE.contains(&key.trim_matches('"')) || !(value.is_empty() || found.is_none_or(Json::is_empty)) {
            return Some(false);
        }
        is_known &= value.is_empty() && found.is_none_or(Json::is_empty);
    }
    is_known.then_some(true)
}

/// A JSON value. Strings, numbers and words keep their text.
#[derive(PartialEq, Eq)]
enum Json<'a> {
    /// The members, sorted by key.
    Object(Vec<(&'a str, Self)>),
    List(Vec<Self>),
    Text(&'a str),
}

impl<'a> Json<'a> {
    /// `None` if the text is not one value, or nested too deeply.
    fn read(mut text: &'a str) -> Option<Self> {
        let value = Self::value(&mut text, 0)?;
        text.trim_start().is_empty().then_some(value)
    }

    fn value(rest: &mut &'a str, depth: usize) -> Option<Self> {
        if depth > MAX_NESTING {
            return None;
        }
        if eat(rest, '{') {
            let mut members = Vec::new();
            if !eat(rest, '}') {
                loop {
                    let key = string(rest)?;
                    members.push((key, eat(rest, ':').then(|| Self::value(rest, depth.saturating_add(1)))??));
                    if !eat(rest, ',') {
                        break;
                    }
                }
                eat(rest, '}').then_some(())?;
            }
            sort_by_key(&mut members, |(key, _)| *key);
            return Some(Self::Object(members));
        }
        if eat(rest, '[') {
            let mut items = Vec::new();
            if !eat(rest, ']') {
                loop {
                    items.push(Self::value(rest, depth.saturating_add(1))?);
                    if !eat(rest, ',') {
                        break;
                    }
                }
                eat(rest, ']').then_some(())?;
            }
            return Some(Self::List(items));
        }
        if rest.starts_with('"') {
            return string(rest).map(Self::Text);
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, ',' | ']' | '}')).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end).filter(|(word, _)| !word.is_empty())?;
        *rest = after;
        Some(Self::Text(word))
    }

    const fn is_empty(&self) -> bool {
        match self {
            Self::Object(members) => members.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Text(_) => false,
        }
    }
}

/// Skips spaces, and then the character, if it is there.
fn eat(rest: &mut &str, expected: char) -> bool {
    *rest = rest.trim_start();
    rest.strip_prefix(expected).is_some_and(|after| {
        *rest = after;
        true
    })
}

/// Reads a string, with its quotation marks.
fn string<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start();
    let mut is_escaped = false;
    let end = text.strip_prefix('"')?.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    // The quotation marks are one byte each.
    let (string, after) = text.split_at_checked(end.checked_add(2)?)?;
    *rest = after;
    Some(string)
}

#[cfg(test)]
mod tests {
    use super::is_same_config;
    use alloc::string::String;

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let same = [
            (r#"{"a":[],"b":{"c":["0","2"],"d":1}}"#, r#"{"b":{"d":1, "c":["0","2"]}, "a":[ ]}"#),
            (r#"{"x\"":"{,}"}"#, r#"{ "x\"" : "{,}" }"#),
            ("not JSON", "not JSON"),
        ];
        for (one, other) in same {
            assert_eq!(is_same_config(one, other), Some(true), "{one} {other}");
        }
        let differs = [
            (r#"{"a":["0","2"]}"#, r#"{"a":["2","0"]}"#),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            ("{}", r#"{"b":[]}"#),
            ("not JSON", "{}"),
            (r#"{"window_config":{"n":"1"}}"#, r#"{"window_config":{"n":"2"}}"#),
            (r#"{"a":1"#, r#"{"a":1 "#),
        ];
        for (one, other) in differs {
            assert_eq!(is_same_config(one, other), Some(false), "{one} {other}");
            assert_eq!(is_same_config(other, one), Some(false), "{one} {other}");
        }
        let deep = |end: &str| String::from_utf8([b"[".repeat(9999), b"]".repeat(9999)].concat()).unwrap() + end;
        assert_eq!(is_same_config(&deep(""), &deep(" ")), Some(false), "compared as a text");
    }

    #[test]
    fn what_the_compiler_writes_late_may_be_missing() {
        for (one, other) in [
            (r#"{"flag_configs":[],"window_config":{"n":"1"}}"#, r#"{"flag_configs":[]}"#),
            (r#"{"used_scoped_memory_configs":["8"]}"#, r#"{"used_scoped_memory_configs":[]}"#),
        ] {
            assert_eq!((is_same_config(one, other), is_same_config(other, one)), (None, None), "{one} {other}");
        }
        let (one, other) = (r#"{"flag_configs":[1],"window_config":{"n":"1"}}"#, r#"{"flag_configs":[]}"#);
        assert_eq!((is_same_config(one, other), is_same_config(other, one)), (Some(false), Some(false)));
        assert_eq!(is_same_config("{}", r#"{"used_scoped_memory_configs":[]}"#), Some(true));
    }
}
