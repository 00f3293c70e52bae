//! Decisions about layouts that are made to be hard end soon, with an answer or an error that says so.

use std::fmt::Write;
use xla_shape::hlo::Module;
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

/// One loop after the other, each with a state of many arrays that it hands on as it is.
fn loops(count: usize) -> String {
    let state = format!("({})", vec!["f32[8]"; count].join(","));
    let mut text = String::from("HloModule m, is_scheduled=true\n");
    let mut entry = format!("ENTRY e {{ p0 = {state} parameter(0)\n");
    for number in 0..count {
        writeln!(text, "c{number} {{ p = {state} parameter(0)\n ROOT a = pred[] constant(false) }}").unwrap();
        writeln!(text, "b{number} {{ ROOT p = {state} parameter(0) }}").unwrap();
        let next = number + 1;
        writeln!(entry, "p{next} = {state} while(p{number}), condition=c{number}, body=b{number}").unwrap();
    }
    writeln!(text, "{entry} ROOT r = {state} copy(p{count}) }}").unwrap();
    text
}

/// Computations each of which calls the one before it twice.
fn calls(count: usize) -> String {
    let mut text = String::from("HloModule m, is_scheduled=true\nc0 { ROOT p = f32[8] parameter(0) }\n");
    for number in 1..count {
        let callee = number - 1;
        writeln!(text, "c{number} {{ p = f32[8] parameter(0)\n x = f32[8] call(p), to_apply=c{callee}").unwrap();
        writeln!(text, " ROOT y = f32[8] call(x), to_apply=c{callee} }}").unwrap();
    }
    writeln!(text, "ENTRY e {{ p = f32[8] parameter(0)\n ROOT a = f32[8] call(p), to_apply=c{} }}", count - 1).unwrap();
    text
}

#[test]
fn programs_whose_values_go_through_many_hands() {
    for text in [loops(60), calls(500)] {
        let module = Module::parse(&text).unwrap();
        assert!(module.check().is_empty());
        let memory = module.memory();
        let timeline = memory.timeline().unwrap();
        // What is handed on as it is has one place, however many hands there are.
        let argument = timeline.lifetimes().iter().filter(|lifetime| lifetime.made == 0).count();
        assert!(argument >= 1 && timeline.peaks()[&0].bytes > 0);
    }
}
