//! Texts that are written to a terminal.

use super::beginning;
use xla_shape_render::{harmless, harmless_but_colours};

/// Whether a terminal acts on this character, or the character changes the direction of the text after it.
fn controls(c: char) -> bool {
    let turns =
        |c| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !matches!(c, '\n' | '\t')) || turns(c)
}

/// Any text: control characters are escaped. If colours are allowed, only they pass. Harmless text does not change.
///
/// # Panics
/// If one of these checks fails.
pub fn terminal(bytes: &[u8]) {
    let text = beginning(bytes);
    let plain = harmless(text);
    assert!(!plain.contains(controls), "{plain:?}");
    assert_eq!(harmless(&plain), plain);

    let coloured = harmless_but_colours(text);
    for (i, part) in coloured.split('\u{1b}').enumerate() {
        let after = if i == 0 {
            part
        } else {
            let numbers = part.strip_prefix('[').expect("an escape begins a colour");
            numbers
                .trim_start_matches(|c: char| c.is_ascii_digit() || ";:".contains(c))
                .strip_prefix('m')
                .expect("a colour")
        };
        assert!(!after.contains(controls), "{coloured:?}");
    }
    assert_eq!(harmless_but_colours(&coloured), coloured);
    if !text.contains(controls) {
        assert_eq!((plain.as_ref(), coloured.as_ref()), (text, text));
    }
}
