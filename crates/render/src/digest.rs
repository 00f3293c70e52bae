//! The few lines of an answer that fit into a prompt.

use crate::words::{Grouped, Signed, count};
use crate::{Show, Text, harmless, shell_line};
use std::borrow::Cow;
use xla_shape_answers::cost;
use xla_shape_answers::digest::{Amount, Bundles, Cause, Word};

/// The width of the lines, in characters.
const WIDTH: usize = 120;

/// The most lines of the answer's own text: `HEAD` if causes follow, `ALONE` if none do.
const HEAD: usize = 12;
const ALONE: usize = 28;

/// The most bytes of the answer's own text (`HEAD_BYTES` if causes follow, `ALONE_BYTES` if none do), of a cause's name (`NAME`), and of each of a
/// cause's other texts (`SENTENCE`). A whole digest is then at most 5,000 bytes, which are 2,000 tokens at 2.5 bytes each. Bytes are counted because
/// a letter that is not ASCII may be a token of its own.
const HEAD_BYTES: usize = 1_800;
const ALONE_BYTES: usize = 4_500;
const NAME: usize = 120;
const SENTENCE: usize = 240;

/// How the digest's own lines begin.
const LARGEST: &str = "Largest:";
const NEXT: &str = "Next: xla-shape ";

/// The digest of an answer: its first lines, its largest causes with their lines and remedies, and what to ask next; at most 30 lines.
/// `files` are those that were asked about.
pub(crate) fn digest(answer: &(impl Show + ?Sized), files: &[&str]) -> Text {
    let digest = answer.digest();
    let mut text = Text::new(WIDTH);
    let (lines, bytes) = if digest.causes.is_empty() { (ALONE, ALONE_BYTES) } else { (HEAD, HEAD_BYTES) };
    head(&mut text, &answer.lead(WIDTH), lines, bytes);
    if !digest.causes.is_empty() {
        text.verbatim(LARGEST);
    }
    for cause in &digest.causes {
        // If a source is too long, its end is kept, because that has the line.
        let source = cause.source.as_ref().map(|source| format!(" at {}", end(&one_line(source), NAME)));
        let amount = cause.amount.map(|amount| format!(": {}", in_words(amount)));
        let name = one_line(&cause.name);
        // A cause may be named by its source line. Of a long one, the end is kept, because it has the file and the line.
        let is_instruction = name.starts_with('%');
        text.verbatim(format_args!(
            "  {}{}{}",
            if is_instruction { beginning(&name, NAME) } else { end(&name, NAME) },
            source.unwrap_or_default(),
            amount.unwrap_or_default()
        ));
        let Cause { because, remedy, .. } = cause;
        let remedy = remedy.as_ref().map(|remedy| format!("remedy: {remedy}"));
        for sentence in because.iter().cloned().chain(remedy) {
            text.verbatim(format_args!("    {}", beginning(&one_line(&sentence), SENTENCE)));
        }
    }
    // A command that is too long would be cut, and then not run, so it is left out. So is one that would read standard input again.
    let next = digest.next.iter().filter_map(|words| command(words, files)).filter(|line| line.len() <= SENTENCE);
    for next in next {
        text.verbatim(format_args!("{NEXT}{next}"));
    }
    text
}

/// A command as a line of a shell; `None` if it would read standard input, which has been read already.
fn command(words: &[Word], files: &[&str]) -> Option<String> {
    let word = |word: &Word| match word {
        Word::Text(text) => Some(shell_line([text.as_str()])),
        Word::File(number) => match files.get(*number).copied() {
            Some("-") => None,
            Some(file) => Some(shell_line([file])),
            // If the names of files are not known, the command has these words, which the reader replaces.
            None => Some(["FILE", "AFTER"].get(*number).copied().unwrap_or_default().to_owned()),
        },
    };
    Some(words.iter().map(word).collect::<Option<Vec<_>>>()?.join(" "))
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

/// Like [`beginning`], but keeps the last bytes.
fn end(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let turned = text.chars().rev().collect::<String>();
    beginning(&turned, most).chars().rev().collect::<String>().into()
}

/// The first lines of an answer that is a text, as many as a digest has.
///
/// ```
/// let text = "one\n".repeat(100);
/// assert!(xla_shape_render::first_lines(&text).to_string().ends_with("\n… and 72 more lines; --format json has all\n"));
/// ```
#[must_use]
pub fn first_lines(text: &str) -> Text {
    let (mut whole, mut first) = (Text::new(WIDTH), Text::new(WIDTH));
    whole.verbatim(text.trim_end());
    head(&mut first, &whole, ALONE, ALONE_BYTES);
    first
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
        Amount::MoreBytes(bytes) => {
            let sign = if bytes < 0 { "-" } else { "+" };
            format!("{} ({sign}{})", Signed(bytes), count(bytes.unsigned_abs(), "byte", "bytes"))
        }
        Amount::Cost(cost) => cost.to_string(),
        Amount::Measured(time, runs) => {
            format!("{} in {}", cost::Amount::Time(time), count(runs as u64, "run", "runs"))
        }
        Amount::Bundles(often, bundles) => format!("{}{}", count(bundles, "bundle", "bundles"), with_trips(often)),
        Amount::BundlesChanged(often, [before, after]) => {
            format!("{} -> {}{}", Grouped(before), count(after, "bundle", "bundles"), with_trips(often))
        }
    }
}

const fn with_trips(often: Bundles) -> &'static str {
    match often {
        Bundles::Once => "",
        Bundles::Executed => " with the trips of the loops",
    }
}
