//! The compiler's output, with shapes in place of types.

use super::beginning;
use xla_shape_answers::rustc::Output;

/// Any text as the compiler's output, and each of its lines as a message in JSON, are accepted. A text without types does not change. If types are
/// shortened and their full names are not available, no advice is given about them.
///
/// # Panics
/// If one of these checks fails.
pub fn rustc(bytes: &[u8]) {
    let text = beginning(bytes);
    let mut output = Output::new(|_| None);
    let mut said: String = text.lines().map(|line| output.line(line)).collect();
    said.push_str(&output.finish());
    // Some types have no brackets, and "expected" begins a comparison of any types, so exclude texts with one of these words.
    if !["<", "types::", "UTerm", "Unbounded", "expected "].iter().any(|name| text.contains(name)) {
        let lines: String = text.lines().flat_map(|line| [line, "\n"]).collect();
        assert_eq!(said, lines);
    }
    let whole =
        text.split('`').filter(|part| part.contains('<') && !part.contains("...") && !part.contains('…')).count();
    if whole == 0 && !text.contains("retype") {
        assert!(!said.contains("retype"), "{said}");
    }
    for line in text.lines() {
        if let Some(message) = output.message(line) {
            let _ = (message.text(), message.json());
        }
    }
}
