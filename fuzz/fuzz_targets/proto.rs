//! Any bytes as a message: an answer; a shape is written as a message that means it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xla_shape::proto::{decode_shape, encode_shape};

fuzz_target!(|bytes: &[u8]| {
    match decode_shape(bytes) {
        Ok(shape) => {
            assert_eq!(decode_shape(&encode_shape(&shape)).as_ref(), Ok(&shape));
            assert_eq!(shape.to_string().parse().as_ref(), Ok(&shape));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
