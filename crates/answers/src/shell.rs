//! Commands that people copy into a shell.

use crate::is_control;
use std::borrow::Cow;
use std::fmt::Write as _;

/// A line from which a shell reads exactly these words. The shell may be bash, zsh, or any other that follows POSIX 2024.
///
/// ```
/// use xla_shape_answers::shell_line;
///
/// assert_eq!(shell_line(["xla-shape", "explain", "f32[8]{0}"]), "xla-shape explain 'f32[8]{0}'");
/// assert_eq!(shell_line(["it's"]), r"'it'\''s'");
/// assert_eq!(shell_line(["a\u{1b}[2J\u{202e}b"]), r"$'a\033[2J\342\200\256b'");
/// ```
#[must_use]
pub fn shell_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A word for a shell, in quotes if necessary.
fn word(word: &str) -> Cow<'_, str> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./:=,+@%".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    // Control characters are dangerous even in quotes: a shell may run a pasted line at a line break, a terminal may obey an escape, and a reader
    // may see letters in another order.
    if !word.contains(is_control) {
        return Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")));
    }
    let mut quoted = String::from("$'");
    for letter in word.chars() {
        match letter {
            '\'' | '\\' => quoted.extend(['\\', letter]),
            _ if is_control(letter) => {
                for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a `String` does not fail.
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('\'');
    Cow::Owned(quoted)
}

#[cfg(test)]
mod tests {
    use super::shell_line;

    const WORDS: [&str; 9] = [
        "",
        "plain-1.5:a/b",
        "$HOME `id` $(id)",
        "it's",
        "a\\b'c\n; echo no",
        "\u{1b}[31m\t\u{7f}",
        "\u{202e}olh.a\u{2069}",
        "ü…",
        "*?~#!",
    ];

    #[test]
    fn nothing_in_a_line_controls_a_terminal() {
        assert!(!shell_line(WORDS).contains(crate::is_control));
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_the_same_words() {
        let line = format!("printf '%s\\0' {}", shell_line(WORDS));
        let output = std::process::Command::new("bash").args(["-c", &line]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), WORDS.map(|word| format!("{word}\0")).concat());
    }
}
