//! `xla-shape explain --vector`, run as a program.

use crate::program::Command;
use serde_json::{Value, json};

/// The answer about a vector in a layout, with further arguments.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let [vector, layout, more @ ..] = arguments else { unreachable!() };
    let mut program = Command::program();
    let output = program.args(["explain", vector, "--vector", layout]).args(more).output().unwrap();
    let [text, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), text, errors)
}

#[test]
fn a_vector_has_registers() {
    let (code, text, errors) = run(&["f32[16,256]", "32,{3,0},(8,128)", "--index", "5,77"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert_eq!(
        text,
        "6 registers, 24,576 bytes (24 KiB), for f32[16,256] in 32,{3,0},(8,128)
  a grid of 3 x 2 registers, in row-major order
  each holds 8 x 128 elements, in 1 tile
  the first element is in row 3 of its register
  in 32,{0,0},(8,128), it would take 4 registers
element [5,77]: register 2, sublane 0, lane 77
"
    );
    let (_, text, _) = run(&["bf16[2,16,256]", "16,{0,0},(16,128)", "--index", "1,5,77", "--format", "json"]);
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        json!({"schema": "xla-shape/explain-vector/1", "vector": "bf16[2,16,256]", "layout": "16,{0,0},(16,128)", "registers": 4,
            "grid": [2, 1, 2], "slice": [16, 128], "index": [1, 5, 77], "register": 2, "sublane": 2, "lane": 77, "part": 1})
    );
    // A mask has the layout of the vector that it masks. A scalar may be in a register.
    assert!(
        run(&["pred[16,128]", "16,{0,0},(16,128)"]).1.starts_with("1 register, 4,096 bytes (4 KiB), for pred[16,128]")
    );
    assert!(
        run(&["f32[]", "32,{0,0},(8,128),-2,-1", "--index", ""])
            .1
            .ends_with("element []: register 0, sublane 0, lane 0\n")
    );
}

#[test]
fn errors_say_what_is_wrong() {
    for (arguments, message) in [
        (&["f32[16,256]", "16,{3,0},(16,128)"][..], "expected a vector layout of 32 bits, as f32 has, found 16"),
        (&["f32[<=16,256]", "32,{3,0},(8,128)"], "that of dimension 0 is dynamic"),
        (&["f32[0,256]", "32,{3,0},(8,128)"], "found size 0 in dimension 0"),
        (&["f32[16,256]", "32,{9,0},(8,128)"], "expected a row offset below 8"),
        (&["f32[16,256]", "32,{3,0}(8,128)"], "expected `,`"),
        (&["f32[16,256]", ""], "expected a number"),
        (&["f32[16,256]", "32,{3,0},(8,128)", "--index", "16,0"], "f32[16,256] has no element [16,0]"),
        (&["f32[16,256]", "32,{3,0},(8,128)", "--index", "1"], "2"),
        (&["token[]", "32,{3,0},(8,128)"], "expected an array"),
        (&["f32[9223372036854775807,3]", "32,{0,0},(8,128)"], "fits in an i64"),
    ] {
        let (code, text, errors) = run(arguments);
        assert_eq!((code, text.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(errors.contains(message), "{arguments:?}: {errors}");
    }
}

/// The element in each part of the registers, as the JSON of a drawing has it.
fn map(vector: &str, layout: &str) -> Vec<Option<u64>> {
    let mut program = Command::program();
    let output = program.args(["draw", vector, "--vector", layout, "--format", "json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{vector} {layout}");
    let answer = serde_json::from_slice::<Value>(&output.stdout).unwrap();
    serde_json::from_value(answer["physical_to_logical"].clone()).unwrap()
}

/// For every place in the registers, a drawing shows the element that `--index` finds there.
#[test]
fn maps_are_those_of_single_elements() {
    for (vector, sizes, layout) in [
        ("f32[16,256]", [16, 256], "32,{3,0},(8,128)"),
        ("bf16[16,200]", [16, 200], "16,{0,0},(16,128)"),
        ("bf16[9,130]", [9, 130], "16,{2,5},(8,128)"),
        ("s8[40,128]", [40, 128], "8,{0,0},(32,128)"),
    ] {
        let places = map(vector, layout);
        let packing = (places.len() as u64 / 1024).max(1);
        for index in [[0, 0], [3, 77], [sizes[0] - 1, sizes[1] - 1]] {
            let at = format!("{},{}", index[0], index[1]);
            let (_, text, _) = run(&[vector, layout, "--index", &at, "--format", "json"]);
            let answer = serde_json::from_str::<Value>(&text).unwrap();
            let [registers, register, sublane, lane, part] =
                ["registers", "register", "sublane", "lane", "part"].map(|key| answer[key].as_u64().unwrap());
            let packing = packing / registers;
            let place = ((register * 8 + sublane) * 128 + lane) * packing + part;
            assert_eq!(places[place as usize], Some(index[0] * sizes[1] + index[1]), "{vector} {layout} {at}");
        }
        // Without replicated offsets, each element has one place.
        let mut found = places.iter().flatten().copied().collect::<Vec<_>>();
        found.sort_unstable();
        assert!(found.into_iter().eq(0..sizes[0] * sizes[1]), "{vector} {layout}");
    }
    // Along a replicated dimension all elements are equal, and each place has the first one.
    for (layout, registers, [rows, columns]) in
        [("32,{*,0},(8,128)", 2, [0, 1]), ("32,{0,*},(8,128)", 2, [1, 0]), ("32,{*,*},(8,128)", 1, [0, 0])]
    {
        let places = map("f32[16,256]", layout);
        let expected = (0..registers * 1024).map(|place| {
            let (register, sublane, lane) = (place / 1024, place / 128 % 8, place % 128);
            Some(rows * 256 * (register * 8 + sublane) + columns * (register * 128 + lane))
        });
        assert_eq!(places, expected.collect::<Vec<_>>(), "{layout}");
    }
    assert_eq!(run(&["f32[16,256]", "", "--for", "v5e"]).0, Some(2));
    assert_eq!(run(&["f32[16,256]", "32,{0,0},(8,128)", "--position", "0"]).0, Some(2));
}
