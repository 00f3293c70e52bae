//! Any text: an answer; a layout prints as a text that means it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xla_shape::Layout;

fuzz_target!(|text: &str| {
    match text.parse::<Layout>() {
        Ok(layout) => assert_eq!(layout.to_string().parse().as_ref(), Ok(&layout)),
        Err(error) => assert!(text.get(error.span().start..error.span().end).is_some(), "{error}"),
    }
});
