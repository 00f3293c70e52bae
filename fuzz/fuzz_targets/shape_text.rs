//! Any text: an answer; a shape prints as a text that means it; an error points into the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xla_shape::Shape;

fuzz_target!(|text: &str| {
    match text.parse::<Shape>() {
        Ok(shape) => {
            assert_eq!(shape.to_string().parse().as_ref(), Ok(&shape));
            let _ = shape.byte_size();
            if let Shape::Array(array) = &shape {
                let _ = (array.stride_table(), array.padding_byte_size());
            }
        }
        Err(error) => {
            assert!(text.get(error.span().start..error.span().end).is_some(), "{error}");
            assert!(!error.to_string().is_empty());
        }
    }
});
