//! Decisions about deliberately hard layouts end soon, with an answer, or with an error that says that it is too hard.

use std::fmt::Write;
use xla_shape::hlo::Module;
use xla_shape_core::shard::{ReshardKind, Sharding};
use xla_shape_core::{ArrayShape, ElementType};
use xla_shape_tests::is_thorough;

/// An array whose stride table uses the same intermediate values again and again.
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
    assert_eq!(table(&this).as_ref().canonical(), table(&this).as_ref().canonical());
    assert_eq!(table(&this).as_ref().first_moved(table(&this).as_ref()), Ok(None));
    // Any answer is fine, as long as it comes soon.
    let _ = (this.layout_change_is_bitcast(&that), table(&this).as_ref().first_moved(table(&that).as_ref()));
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
        let _ = (this.stride_table().unwrap().as_ref().canonical(), this.padding_byte_size());
    }
}

/// A chain of loops. Each passes on its state of many arrays unchanged.
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

/// Computations, each of which calls the one before it twice.
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
        // Arrays that are passed on unchanged share one buffer, however long the chain is.
        let argument = timeline.lifetimes().iter().filter(|lifetime| lifetime.start == 0).count();
        assert!(argument >= 1 && timeline.peaks()[&0].bytes > 0);
    }
}

/// A computation with many parameters, and many calls of it without operands.
#[test]
fn calls_without_operands() {
    let count = 8000;
    let mut text = String::from("HloModule m, is_scheduled=true\nf {\n");
    (0..count).for_each(|number| writeln!(text, "p{number} = s32[] parameter({number})").unwrap());
    text += "ROOT r = s32[] add(p0, p0)\n}\nENTRY e {\n";
    (0..count).for_each(|number| writeln!(text, "c{number} = s32[] call(), to_apply=f").unwrap());
    text += "ROOT z = s32[] constant(0)\n}\n";
    // Comparing all 64 million pairs would take too long, so the limit applies.
    assert!(Module::parse(&text).unwrap().memory().timeline().is_none());
}

/// A fused computation overwrites a parameter with many results. Many fusions call it, but have no such results.
#[test]
fn fusions_without_results() {
    let count = if is_thorough() { 12_000 } else { 3_000 };
    let list = |item: &str| vec![item; count].join(",");
    let mut text =
        String::from("HloModule m, is_scheduled=true\nf {\np = s32[4] parameter(0)\nu = s32[1] parameter(1)\n");
    text += "i = s32[] parameter(2)\nd = s32[4] dynamic-update-slice(p, u, i)\n";
    writeln!(text, "ROOT r = ({}) tuple({})\n}}\nENTRY e {{", list("s32[4]"), list("d")).unwrap();
    (0..count).for_each(|number| writeln!(text, "c{number} = s32[] fusion(), kind=kLoop, calls=f").unwrap());
    text += "ROOT z = s32[] constant(0)\n}\n";
    assert!(Module::parse(&text).unwrap().memory().timeline().is_some());
}

#[test]
fn strides_of_many_dimensions() {
    let count = 64_000;
    let ones = format!("f32[{}]", vec!["1"; count].join(",")).parse::<ArrayShape>().unwrap();
    assert_eq!(ones.strides().unwrap(), vec![0; count]);
    let none = format!("f32[0,{}]", vec!["2"; count].join(",")).parse::<ArrayShape>().unwrap();
    assert_eq!(none.strides().unwrap(), vec![0; count + 1]);
    let sizes = [vec![2], vec![1; count], vec![3], vec![1; count]].concat();
    let strides = [vec![1_i64], vec![7; count], vec![2], vec![7; count]].concat();
    let array = ArrayShape::from_strides(ElementType::F32, &sizes, &strides).unwrap();
    assert_eq!(array.strides().unwrap().iter().filter(|&&stride| stride != 0).collect::<Vec<_>>(), [&1, &2]);
}

#[test]
fn lists_of_many_devices() {
    let count = 40_000_i64;
    let list = |from: i64| (from..from + count).map(|device| device.to_string()).collect::<Vec<_>>().join(",");
    let sharding = |text: &str| text.parse::<Sharding>().unwrap();
    let array = format!("f32[{count}]").parse::<ArrayShape>().unwrap();
    let tiles = sharding(&format!("{{devices=[{count}]{}}}", list(0)));
    assert_eq!(tiles.reshard(&tiles, &array).unwrap().kind(), ReshardKind::Nothing);
    let halves = |from| format!("{{devices=[2,{}]{} last_tile_dim_replicate}}", count / 2, list(from));
    let copies = |from| sharding(&halves(from));
    let reshard = copies(0).reshard(&copies(count), &array).unwrap();
    assert!(reshard.transfers().map(|transfer| (transfer.from, transfer.to)).eq((0..count).zip(count..)));
}
