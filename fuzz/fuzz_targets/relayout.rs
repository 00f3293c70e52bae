//! Any two layouts, any content: every element goes to its place, and no other byte is written.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use xla_shape::relayout::Stores;
use xla_shape_tests::differential::relayout_agrees;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Unstructured::new(bytes);
    let Ok(element_type) = xla_shape_fuzz::element_type(&mut input) else { return };
    let Ok(sizes) = xla_shape_fuzz::sizes(&mut input) else { return };
    let packed = [0, element_type.bits()];
    let Ok(&bits) = input.choose(&packed) else { return };
    let Ok(from) = xla_shape_fuzz::shape(&mut input, sizes.clone(), bits) else { return };
    let Ok(to) = xla_shape_fuzz::shape(&mut input, sizes, bits) else { return };
    let Ok(&stores) = input.choose(&[Stores::Auto, Stores::Regular, Stores::Streaming]) else { return };
    let content = match input.take_rest() {
        [] => &[0x5a, 0xc3, 0x17][..],
        rest => rest,
    };
    relayout_agrees(&from, &to, element_type, content, stores).unwrap();
});
