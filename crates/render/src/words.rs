//! Names and columns as people read them.

pub(crate) mod markdown;

use std::borrow::Cow;
pub(crate) use xla_shape_answers::numbers::{
    Bytes, Factor, Grouped, InUnits, Signed, bracketed, count, difference, dimension_name, dimension_names, slice,
    space_name, value_name, why_no_size,
};

/// That answers were in the cache, at the end of a sentence; nothing if none was.
pub(crate) fn kept(answers: usize) -> String {
    let were = if answers == 1 { "was" } else { "were" };
    match answers {
        0 => String::new(),
        _ => format!("; {} {were} in the cache", count(answers as u64, "answer", "answers")),
    }
}

/// The width of a column for texts of these lengths, in characters, but at most 160.
pub(crate) fn column_width(lengths: impl Iterator<Item = usize>) -> usize {
    // Formatting cannot pad to more than 65,535 characters.
    const WIDEST: usize = 160;
    lengths.max().unwrap_or(0).min(WIDEST)
}

/// The text; if it is longer than `most` characters, its beginning with `…`, together `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect::<String>().into(),
    }
}

/// By how much a number changed, in percent of the number before, if both are known.
pub(crate) fn change_in_percent(before: Option<u64>, after: Option<u64>) -> Option<String> {
    let (before, after) = (before.filter(|&before| before > 0)?, after?);
    let percent = (after as f64 - before as f64) / before as f64 * 100.0;
    // A difference is never shown as none.
    let is_rounded_away = before != after && percent.abs() < 0.05;
    Some(if is_rounded_away { "less than 0.1 %".to_owned() } else { format!("{percent:+.1} %") })
}

#[cfg(test)]
mod tests {
    use super::{change_in_percent, shortened};

    #[test]
    fn a_small_change_is_not_shown_as_none() {
        for (before, after, shown) in
            [(1000, 1000, "+0.0 %"), (100_000, 99_999, "less than 0.1 %"), (1000, 999, "-0.1 %")]
        {
            assert_eq!(change_in_percent(Some(before), Some(after)).as_deref(), Some(shown));
        }
    }

    #[test]
    fn long_texts_are_shortened() {
        for (text, short) in [("", ""), ("äöü", "äöü"), ("äöüß", "äö…")] {
            assert_eq!(shortened(text, 3), short);
        }
    }
}
