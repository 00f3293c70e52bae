//! Any bytes: every shape that is found in them is what its place in the text says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xla_shape::Shape;
use xla_shape::hlo::{find_shapes, instruction_shapes};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut end = 0;
    for found in find_shapes(&text) {
        assert!(found.span.start >= end, "found shapes overlap");
        end = found.span.end;
        assert_eq!(text[found.span.start..end].parse::<Shape>().as_ref(), Ok(&found.shape));
    }
    for span in instruction_shapes(&text) {
        assert!(text.get(span.start..span.end).is_some());
    }
});
