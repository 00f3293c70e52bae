//! Another crate's macros turn their arguments into shapes, indices and programs.

use xla_shape_ui_downstream::{Buffer, first, program, shape_of_parts, tiled};

program!(step, "hlo/step.hlo", Product = "dot.3", (X, ..));

#[test]
fn passes() {
    assert_eq!(<tiled!(8, 128)>::TEXT, "bf16[8,128]{1,0:T(8,128)(2,1)}");
    assert_eq!(<shape_of_parts!(s32, [2, 3], {0, 1})>::TEXT, "s32[2,3]{0,1}");
    assert_eq!(<shape_of_parts!(s32, [], {:T(128)})>::TEXT, "s32[]{:T(128)}");
    let matrix = Buffer::<shape_of_parts!(s32, [2, 3], {0, 1})>::from_fn(|_| 7);
    assert_eq!(first!(matrix), 7);
    assert_eq!(step::Product::TEXT, "bf16[16,512]{1,0:T(8,128)(2,1)}");
    assert_eq!(step::X::TEXT, step::Parameter0::TEXT);
}
