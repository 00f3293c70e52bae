//! The scripts and styles of pages, as pages contain them: without what only their readers need.

/// The text of a script or a style sheet without indentation, empty lines and lines of comments. No string in these files has more than one line.
macro_rules! asset {
    ($file:literal) => {{
        const TEXT: &[u8] = include_bytes!($file);
        const SHORT: [u8; $crate::web::assets::length(TEXT)] = $crate::web::assets::shortened(TEXT);
        const {
            match core::str::from_utf8(&SHORT) {
                Ok(text) => text,
                Err(_) => panic!("the file is not UTF-8"),
            }
        }
    }};
}
pub(crate) use asset;

/// Where the line that begins at `start` has its first character, and where the next line begins.
const fn line(text: &[u8], start: usize) -> (usize, usize) {
    let mut first = start;
    while first < text.len() && text[first] == b' ' {
        first += 1;
    }
    let mut next = first;
    while next < text.len() && text[next] != b'\n' {
        next += 1;
    }
    (first, if next < text.len() { next + 1 } else { next })
}

/// Whether a page needs the line between these places.
const fn is_needed(text: &[u8], first: usize, next: usize) -> bool {
    let is_empty = first == next || text[first] == b'\n';
    let is_comment = next - first >= 2 && text[first] == b'/' && text[first + 1] == b'/';
    !is_empty && !is_comment
}

/// The length of the [`shortened`] text, in bytes.
pub(crate) const fn length(text: &[u8]) -> usize {
    let (mut start, mut length) = (0, 0);
    while start < text.len() {
        let (first, next) = line(text, start);
        if is_needed(text, first, next) {
            length += next - first;
        }
        start = next;
    }
    length
}

/// The lines that a page needs, without their indentation.
pub(crate) const fn shortened<const LENGTH: usize>(text: &[u8]) -> [u8; LENGTH] {
    let mut short = [0; LENGTH];
    let (mut start, mut length) = (0, 0);
    while start < text.len() {
        let (mut first, next) = line(text, start);
        if is_needed(text, first, next) {
            while first < next {
                short[length] = text[first];
                length += 1;
                first += 1;
            }
        }
        start = next;
    }
    short
}

#[cfg(test)]
mod tests {
    use super::{length, shortened};

    #[test]
    fn only_what_a_page_needs_is_left() {
        const TEXT: &[u8] =
            b"// A comment.\nfunction f() {\n  // Another one.\n\n  return 'http://x'; // And a last one.\n}\n}";
        let short: [u8; length(TEXT)] = shortened(TEXT);
        assert_eq!(str::from_utf8(&short), Ok("function f() {\nreturn 'http://x'; // And a last one.\n}\n}"));
        assert_eq!((length(b""), length(b"\n"), length(b"  //"), length(b"\n  a\n"), length(b"a")), (0, 0, 0, 2, 1));
    }
}
