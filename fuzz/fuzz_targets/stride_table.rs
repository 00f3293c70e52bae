//! Any layout: places, padding and sizes are those of the reference, by the run-time table and by that of a `const`.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use xla_shape_tests::differential::tables_agree;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Unstructured::new(bytes);
    let Ok(element_type) = xla_shape_fuzz::element_type(&mut input) else { return };
    let Ok(sizes) = xla_shape_fuzz::sizes(&mut input) else { return };
    let Ok(bits) = input.int_in_range(0..=40) else { return };
    let Ok(shape) = xla_shape_fuzz::shape(&mut input, sizes, bits) else { return };
    tables_agree(&shape, element_type).unwrap();
});
