#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| xla_shape_tests::fuzz::dump(bytes));
