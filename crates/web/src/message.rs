//! The messages between the page and [`answer`](crate::answer()).
//!
//! A question is the length of a JSON object (4 bytes, little endian), the object, and the bytes of the files, in the order of the object. It has
//! `files` and `against`, lists of `[name, length]`, and optionally `reading`, `view` and `width`. The reply is an [`Answer`](crate::Answer) as JSON.

use crate::{Answer, File, Given, answer};
use serde::Deserialize;

/// A question without the bytes of its files.
#[derive(Deserialize)]
struct Question {
    #[serde(default)]
    files: Vec<(String, usize)>,
    #[serde(default)]
    against: Vec<(String, usize)>,
    reading: Option<String>,
    view: Option<String>,
    width: Option<usize>,
}

/// The reply to a question. It is JSON even if `question` is not valid.
///
/// ```
/// let head = br#"{"files":[["-",6]]}"#;
/// let question = [&(head.len() as u32).to_le_bytes()[..], head, b"f32[8]"].concat();
/// assert!(xla_shape_web::reply(&question).contains(r#""command":["explain","f32[8]"]"#));
/// assert!(xla_shape_web::reply(b"").contains("error"));
/// ```
#[must_use]
pub fn reply(question: &[u8]) -> String {
    let answer = match read(question) {
        Some(given) => answer(&given),
        None => Answer { error: Some("the question is not valid: this is a bug of the page"), ..Answer::default() },
    };
    // This cannot fail: all keys are texts, and no `Serialize` here returns an error.
    serde_json::to_string(&answer).unwrap_or_default()
}

fn read(question: &[u8]) -> Option<Given<'_>> {
    let (length, rest) = question.split_first_chunk::<4>()?;
    let (head, mut bytes) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    let Question { files, against, reading, view, width } = serde_json::from_slice(head).ok()?;
    let mut take = |list: Vec<(String, usize)>| -> Option<Vec<File<'_>>> {
        let file = |(name, length)| {
            let (own, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            Some(File { name, bytes: own })
        };
        list.into_iter().map(file).collect()
    };
    let (files, against) = (take(files)?, take(against)?);
    bytes.is_empty().then_some(Given { files, against, reading, view, width })
}

#[cfg(test)]
mod tests {
    use super::read;

    fn question(head: &str, bytes: &[u8]) -> Vec<u8> {
        [&u32::try_from(head.len()).unwrap().to_le_bytes()[..], head.as_bytes(), bytes].concat()
    }

    #[test]
    fn files_have_their_own_bytes() {
        let question = question(r#"{"files":[["a",2],["b",0]],"against":[["c",1]],"view":"draw"}"#, b"xyz");
        let given = read(&question).unwrap();
        let bytes = given.files.iter().chain(&given.against).map(|file| file.bytes).collect::<Vec<_>>();
        assert_eq!(bytes, [&b"xy"[..], b"", b"z"]);
        assert_eq!(given.view.as_deref(), Some("draw"));
    }

    #[test]
    fn wrong_questions_are_refused() {
        for (head, bytes) in [
            (r#"{"files":[["a",3]]}"#, &b"xy"[..]),
            (r#"{"files":[["a",1]]}"#, b"xy"),
            (r#"{"files":[["a",18446744073709551615],["b",1]]}"#, b"xy"),
            (r#"{"files":[["a",-1]]}"#, b""),
            ("[]", b""),
            ("", b""),
        ] {
            assert_eq!(read(&question(head, bytes)), None, "{head}");
        }
        for length in 0..8 {
            assert_eq!(read(&vec![255; length]), None);
        }
    }
}
