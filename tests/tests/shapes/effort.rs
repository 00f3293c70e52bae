//! Decisions about layouts that are made to be hard end soon, with an answer or an error that says so.

use xla_shape_core::ArrayShape;

/// Arrays whose forms share what they are made of, over and over.
fn shared(repeats: usize, end: &str) -> ArrayShape {
    let tiles = "(*,*,7)(*,5)(2,3)".repeat(repeats);
    format!("f32[10,20,30]{{2,1,0:T{tiles}{end}}}").parse().unwrap()
}

#[test]
fn comparing_forms_that_share_what_they_are_made_of() {
    let (this, that) = (shared(20, ""), shared(20, "(3)"));
    assert!(this.layout_change_is_bitcast(&this).unwrap().is_yes());
    assert!(this.reshape_is_bitcast(&this).unwrap().is_yes());
    assert!(this.transpose_is_bitcast(&this, &[0, 1, 2]).unwrap().is_yes());
    assert!(this.decompose_bitcast(&this).is_ok());
    let table = |array: &ArrayShape| array.stride_table().unwrap();
    assert_eq!(table(&this).canonical(), table(&this).canonical());
    assert_eq!(table(&this).first_moved(&table(&this)), Ok(None));
    // Whatever the answer is, there is one.
    let _ = (this.layout_change_is_bitcast(&that), table(&this).first_moved(&table(&that)));
    let _ = (this.reshape_is_bitcast(&that), this.decompose_bitcast(&that));
}

#[test]
fn thousands_of_tiles() {
    for tiles in ["(*,2)", "(2)", "(*,*,1)", "(*,3)(2)", "(*,1)(2,1)"] {
        let array =
            |end: &str| -> ArrayShape { format!("u8[2,3]{{1,0:T{}{end}}}", tiles.repeat(2000)).parse().unwrap() };
        let Ok(this) = format!("u8[2,3]{{1,0:T{}}}", tiles.repeat(2000)).parse::<ArrayShape>() else { continue };
        let that = array("(1)");
        let _ = (this.layout_change_is_bitcast(&that), this.reshape_is_bitcast(&that), this.decompose_bitcast(&that));
        let _ = (this.stride_table().unwrap().canonical(), this.padding_byte_size());
    }
}
