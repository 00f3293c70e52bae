//! The few lines of an answer that fit into a prompt.

use crate::words::{Grouped, Signed, count, shortened};
use crate::{Show, Text};
use xla_shape_answers::digest::{Amount, Cause};

/// The width of the lines, in characters.
const WIDTH: usize = 120;

/// The most lines of the answer's own text with causes after it, and without.
const HEAD: usize = 12;
const ALONE: usize = 28;

/// The most characters of the answer's own text with causes after it, and without; of the name of a cause, and of its other texts. All of a digest is
/// then at most 5,000 characters, which are at most 2,000 tokens at 2.5 characters each.
const HEAD_CHARACTERS: usize = 1_800;
const ALONE_CHARACTERS: usize = 4_500;
const NAME: usize = 120;
const SENTENCE: usize = 240;

/// The digest of an answer: its first lines, its largest causes with their lines and remedies, and what to ask next; at most 30 lines.
pub(crate) fn digest(answer: &(impl Show + ?Sized)) -> Text {
    let digest = answer.digest();
    let mut text = Text::new(WIDTH);
    let (lines, characters) =
        if digest.causes.is_empty() { (ALONE, ALONE_CHARACTERS) } else { (HEAD, HEAD_CHARACTERS) };
    head(&mut text, &answer.text(WIDTH), lines, characters);
    if !digest.causes.is_empty() {
        text.verbatim("Largest:");
    }
    for cause in &digest.causes {
        let source = cause.source.as_ref().map(|source| format!(" at {}", shortened(source, NAME)));
        let amount = cause.amount.map(|amount| format!(": {}", in_words(amount)));
        text.verbatim(format_args!(
            "  {}{}{}",
            shortened(&cause.name, NAME),
            source.unwrap_or_default(),
            amount.unwrap_or_default()
        ));
        let Cause { because, remedy, .. } = cause;
        let remedy = remedy.as_ref().map(|remedy| format!("remedy: {remedy}"));
        for sentence in because.iter().cloned().chain(remedy) {
            // A sentence may quote a message of several lines.
            let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
            text.verbatim(format_args!("    {}", shortened(&sentence, SENTENCE)));
        }
    }
    for next in &digest.next {
        text.verbatim(format_args!("Next: xla-shape {}", shortened(next, SENTENCE)));
    }
    text
}

/// Adds the first lines of a text, without the empty ones, and says how many others it has.
fn head(digest: &mut Text, text: &Text, lines: usize, mut characters: usize) {
    let all = text.lines().map(|(_, line)| line).filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
    let mut shown = 0;
    for line in all.iter().take(lines) {
        let line = shortened(line, SENTENCE);
        let Some(left) = characters.checked_sub(line.chars().count()) else { break };
        characters = left;
        digest.verbatim(&line);
        shown += 1;
    }
    if let Some(left) = all.len().checked_sub(shown).filter(|&left| left > 0) {
        digest.verbatim(format_args!("… and {left} more lines; --format json has all"));
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
