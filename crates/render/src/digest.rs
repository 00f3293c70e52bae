//! The few lines of an answer that fit into a prompt.

use crate::words::{Grouped, Signed, count};
use crate::{Show, Text, harmless};
use std::borrow::Cow;
use xla_shape_answers::digest::{Amount, Cause};

/// The width of the lines, in characters.
const WIDTH: usize = 120;

/// The most lines of the answer's own text with causes after it, and without.
const HEAD: usize = 12;
const ALONE: usize = 28;

/// The most bytes of the answer's own text with causes after it, and without; of the name of a cause, and of its other texts. All of a digest is
/// then at most 5,000 bytes, which are 2,000 tokens at 2.5 bytes each. Bytes are counted because a letter that is not ASCII may be a token of its own.
const HEAD_BYTES: usize = 1_800;
const ALONE_BYTES: usize = 4_500;
const NAME: usize = 120;
const SENTENCE: usize = 240;

/// How the digest's own lines begin.
const LARGEST: &str = "Largest:";
const NEXT: &str = "Next: xla-shape ";

/// The digest of an answer: its first lines, its largest causes with their lines and remedies, and what to ask next; at most 30 lines.
pub(crate) fn digest(answer: &(impl Show + ?Sized)) -> Text {
    let digest = answer.digest();
    let mut text = Text::new(WIDTH);
    let (lines, bytes) = if digest.causes.is_empty() { (ALONE, ALONE_BYTES) } else { (HEAD, HEAD_BYTES) };
    head(&mut text, &answer.text(WIDTH), lines, bytes);
    if !digest.causes.is_empty() {
        text.verbatim(LARGEST);
    }
    for cause in &digest.causes {
        // The end of a source is the line.
        let source = cause.source.as_ref().map(|source| format!(" at {}", end(&one_line(source), NAME)));
        let amount = cause.amount.map(|amount| format!(": {}", in_words(amount)));
        let name = one_line(&cause.name);
        text.verbatim(format_args!(
            "  {}{}{}",
            beginning(&name, NAME),
            source.unwrap_or_default(),
            amount.unwrap_or_default()
        ));
        let Cause { because, remedy, .. } = cause;
        let remedy = remedy.as_ref().map(|remedy| format!("remedy: {remedy}"));
        for sentence in because.iter().cloned().chain(remedy) {
            text.verbatim(format_args!("    {}", beginning(&one_line(&sentence), SENTENCE)));
        }
    }
    for next in &digest.next {
        text.verbatim(format_args!("{NEXT}{}", beginning(&one_line(next), SENTENCE)));
    }
    text
}

/// The text in one line: names may have newlines, and sentences quote messages of several lines.
fn one_line(text: &str) -> String {
    harmless(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// The first bytes of a text, whole characters, as many as fit.
fn beginning(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let mut room = most - '…'.len_utf8();
    let fits = |letter: &char| room.checked_sub(letter.len_utf8()).inspect(|left| room = *left).is_some();
    text.chars().take_while(fits).chain(['…']).collect::<String>().into()
}

/// The same for the last bytes.
fn end(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let turned = text.chars().rev().collect::<String>();
    beginning(&turned, most).chars().rev().collect::<String>().into()
}

/// Adds the first lines of a text, without the empty ones, and says how many others it has.
fn head(digest: &mut Text, text: &Text, lines: usize, mut bytes: usize) {
    let all = text.lines().map(|(_, line)| line).filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
    let mut shown = 0;
    for line in all.iter().take(lines) {
        // A name with a newline must not make a line that looks like one of the digest's own.
        let is_like_own = [LARGEST, "Next:"].iter().any(|own| line.starts_with(own));
        let line = format!("{}{line}", if is_like_own { "  " } else { "" }).replace(['\u{2028}', '\u{2029}'], " ");
        let line = beginning(&line, SENTENCE);
        let Some(left) = bytes.checked_sub(line.len()) else { break };
        bytes = left;
        digest.verbatim(&line);
        shown += 1;
    }
    if let Some(left) = all.len().checked_sub(shown).filter(|&left| left > 0) {
        digest.verbatim(format_args!("… and {}; --format json has all", count(left as u64, "more line", "more lines")));
    }
}

/// An amount with its unit: numbers as in the JSON, times rounded to three digits.
fn in_words(amount: Amount) -> String {
    match amount {
        Amount::Bytes(bytes) => count(bytes, "byte", "bytes"),
        Amount::MoreBytes(bytes) => format!("{} ({bytes:+} bytes)", Signed(bytes)),
        Amount::Cost(cost) => cost.to_string(),
        Amount::Bundles(bundles) => format!("{} bundles", Grouped(bundles)),
    }
}
