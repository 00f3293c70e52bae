//! Names and columns as people read them.

pub(crate) mod markdown;

use std::borrow::Cow;
pub(crate) use xla_shape_answers::numbers::{
    Bytes, Factor, Grouped, InUnits, Signed, bracketed, count, difference, dimension_name, dimension_names, slice,
    space_name, value_name, why_no_size,
};
use xla_shape_answers::search::Search;

/// Which compilers answered, and how many answers were in the cache: the end of a sentence, without its period.
pub(crate) fn answered_by(search: &Search) -> String {
    // A version may have several lines.
    let versions = search.compilers.iter().map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "));
    let versions = versions.collect::<Vec<_>>().join(", ");
    let by = if versions.is_empty() { versions } else { format!(", by {versions}") };
    let were = if search.kept == 1 { "was" } else { "were" };
    match search.kept {
        0 => by,
        kept => format!("{by}; {} {were} in the cache", count(kept as u64, "answer", "answers")),
    }
}

/// Says that the user ended a search, and whether the next one can continue it.
pub(crate) const fn interrupted(search: &Search) -> &'static str {
    if search.goes_on {
        "It was interrupted. The next run goes on from the answers in the cache."
    } else {
        "It was interrupted. Its answers are not in a cache, so the next run begins anew."
    }
}

/// The width of a column for texts of these lengths, in characters, but at most 160.
pub(crate) fn column_width(lengths: impl Iterator<Item = usize>) -> usize {
    // Formatting cannot pad to more than 65,535 characters.
    const WIDEST: usize = 160;
    lengths.max().unwrap_or(0).min(WIDEST)
}

/// The text; if it is longer than `most` characters, its beginning and `…`, which together have `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect::<String>().into(),
    }
}

/// A compiler's message in one line of at most `most` characters. The text of an instruction, which may be long, is left out where sizes follow it.
pub(crate) fn in_one_line(message: &str, most: usize) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    // `… on stack for %k = bf16[8,128] custom-call(…), …. Scoped allocation with size …`
    let sizes = |line: &str| {
        let (before, rest) = line.split_once(" for %")?;
        let (name, rest) = rest.split_once(" = ")?;
        Some(format!("{before} for %{name}. {}", rest.get(rest.rfind("Scoped allocation")?..)?))
    };
    shortened(&sizes(&line).unwrap_or(line), most).into_owned()
}

/// By how much a number changed, in percent of the number before, if both are known.
pub(crate) fn change_in_percent(before: Option<u64>, after: Option<u64>) -> Option<String> {
    let (before, after) = (before.filter(|&before| before > 0)?, after?);
    let percent = (after as f64 - before as f64) / before as f64 * 100.0;
    // A difference that rounds to 0 is not shown as 0.
    let is_rounded_away = before != after && percent.abs() < 0.05;
    Some(if is_rounded_away { "less than 0.1 %".to_owned() } else { format!("{percent:+.1} %") })
}

#[cfg(test)]
mod tests {
    use super::{change_in_percent, in_one_line, shortened};

    #[test]
    fn a_message_keeps_the_sizes_after_a_long_instruction() {
        let long = "x".repeat(500);
        let sizes = "Scoped allocation with size 17.00M and limit 16.00M exceeded scoped vmem limit by 1020.0K.";
        let message = format!(
            "OOM:\nRan out of memory in memory space vmem while allocating on stack for %k.1 = bf16[8]{{0}} custom-call(%x), {long}. {sizes}"
        );
        let line = in_one_line(&message, 300);
        assert_eq!(
            line,
            format!("OOM: Ran out of memory in memory space vmem while allocating on stack for %k.1. {sizes}")
        );
        assert_eq!(in_one_line(&long, 300), shortened(&long, 300));
        assert_eq!(in_one_line("too\nlarge", 300), "too large");
    }

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
