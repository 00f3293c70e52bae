//! Markdown in which no name or shape becomes markup.

use super::shortened;
use std::fmt::Write as _;

/// A table has at most this many rows; a pull request's comment has at most 65,536 characters.
const MOST_ROWS: usize = 40;
/// The longest name or shape, in characters.
const LONGEST: usize = 200;

/// Appends a table with a heading, unless it has no rows. `rows` are cells that [`code`] or [`plain`] made.
pub(crate) fn table(lines: &mut Vec<String>, heading: &str, columns: &[&str], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    lines.extend([String::new(), format!("**{}**", plain(heading)), String::new()]);
    lines.push(row(columns.iter().map(|&column| column.to_owned())));
    lines.push(row(columns.iter().map(|_| "---".to_owned())));
    let left = rows.len().saturating_sub(MOST_ROWS);
    lines.extend(rows.into_iter().take(MOST_ROWS).map(row));
    if left > 0 {
        lines.extend([String::new(), format!("… and {left} more.")]);
    }
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().collect();
    format!("| {} |", cells.join(" | "))
}

/// A name or a shape as code; no character in it can end the code.
pub(crate) fn code(text: &str) -> String {
    format!("<code>{}</code>", plain(&shortened(text, LONGEST)))
}

/// A text with all characters escaped that have a meaning in Markdown or HTML.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        match letter {
            _ if letter.is_alphanumeric() => plain.push(letter),
            ' ' | '.' | ',' | '-' | '+' | '/' | '%' | '(' | ')' | '=' | ';' => plain.push(letter),
            _ if letter.is_control() => plain.push(' '),
            // Writing to a `String` does not fail.
            _ => _ = write!(plain, "&#{};", u32::from(letter)),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn names_do_not_become_markup() {
        assert_eq!(plain("a|b`<i>`\n@you #1 [x](y)"), "a&#124;b&#96;&#60;i&#62;&#96; &#64;you &#35;1 &#91;x&#93;(y)");
    }
}
