//! `xla-shape compare` and `xla-shape advise`, run as programs.

use crate::program::Command;
use serde_json::{Value, json};

fn run(arguments: &[&str]) -> String {
    let output = Command::program().args(arguments).output().unwrap();
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), ("", Some(0)));
    String::from_utf8(output.stdout).unwrap()
}

fn compare(arguments: &[&str]) -> Value {
    serde_json::from_str(&run(&[&["compare", "--format", "json"], arguments].concat())).unwrap()
}

#[test]
fn a_bitcast_has_a_kind() {
    for (from, to, kind) in [
        ("f32[2,3]{1,0}", "f32[2,3]{1,0}", "identity"),
        ("f32[1,128]{1,0}", "f32[1,128]{0,1}", "identity"),
        ("f32[6,2,3]{2,1,0}", "f32[36]{0}", "reshape"),
        ("f32[2,3]{1,0}", "f32[3,2]{0,1}", "transpose"),
        ("f32[6,2,3,257]{3,1,0,2:T(2,128)}", "f32[257,2,3,6]{0,1,3,2:T(2,128)}", "transpose"),
        ("bf16[2,8,8,256]{3,2,0,1:T(8,128)(2,1)}", "bf16[64,512]{1,0:T(8,128)(2,1)}", "reshape+transpose"),
    ] {
        let answer = compare(&[from, to]);
        assert_eq!(
            (&answer["bitcast"], &answer["same_bytes"], &answer["kind"]),
            (&json!(true), &json!(true), &json!(kind))
        );
        assert_eq!(answer["plain"], kind != "reshape+transpose");
        assert_eq!(answer["differences"] == json!([]), from == to);
        let text = run(&["compare", from, to]);
        let begins = match kind {
            "identity" => "The same bytes: ".to_owned(),
            "reshape+transpose" => "The same bytes, but as no single reshape or transpose.".to_owned(),
            _ => format!("The same bytes, as a {kind}: "),
        };
        assert!(text.starts_with(&begins), "{text}");
    }
}

#[test]
fn the_answer_no_has_a_reason() {
    let pair = ["bf16[256,128]{1,0:T(8,128)(2,1)}", "bf16[256,128]{1,0:T(8,128)}"];
    let tiled = compare(&pair);
    assert_eq!(
        (&tiled["bitcast"], &tiled["same_bytes"], &tiled["kind"]),
        (&json!(false), &json!(true), &json!("none"))
    );
    assert_eq!((&tiled["differences"], &tiled["read_as"].is_string()), (&json!(["tiles"]), &true));
    let reason = tiled["reason"].as_str().unwrap();
    assert!(reason.starts_with("element (0,1) moves from position 2 to 1; the second tile differs"));
    let text = run(&[&["compare"], &pair[..]].concat());
    assert!(text.contains("A copy to the other layout reads and writes 131,072 bytes"), "{text}");
    let larger = compare(&["f32[6]{0}", "f32[7]{0}"]);
    assert_eq!(
        (&larger["bitcast"], &larger["same_bytes"], &larger["kind"]),
        (&json!(false), &json!(false), &json!("none"))
    );
    assert_eq!((&larger["reshape"], &larger["transpose"]), (&json!(null), &json!(null)));
    assert!(run(&["compare", "f32[6]{0}", "f32[7]{0}"]).starts_with("Not the same bytes: "));
}

#[test]
fn what_differs_is_named() {
    let differences = |from: &str, to: &str| compare(&[from, to])["differences"].clone();
    let tiled = "f32[8,128]{1,0:T(8,128)}";
    for (other, expected) in [
        ("s32[8,128]{1,0:T(8,128)}", json!(["element_type"])),
        ("f32[8,<=128]{1,0:T(8,128)}", json!(["dimensions"])),
        ("f32[8,128]{0,1:T(8,128)}", json!(["minor_to_major"])),
        ("f32[8,128]{1,0:T(4,128)}", json!(["tiles"])),
        ("f32[8,128]{1,0:T(8,128)S(1)}", json!(["memory_space"])),
        ("f32[8,128]{1,0:T(8,128)L(2048)}", json!(["attributes"])),
        ("f32[1024]{0}", json!(["dimensions", "tiles"])),
    ] {
        assert_eq!(differences(tiled, other), expected, "{other}");
    }
    assert_eq!(differences("s4[8]{0}", "s4[8]{0:E(4)}"), json!(["element_bits"]));
    // Arrays with equal bytes in two memories still need a copy.
    let text =
        run(&["compare", tiled, "f32[8,128]{1,0:T(8,128)S(1)}"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("different memory spaces, S(0) HBM and S(1) VMEM, so a copy moves all bytes"), "{text}");
}

#[test]
fn a_tpu_chooses_missing_layouts() {
    let pair = ["f32[8,1024]", "f32[8192]"];
    let named = |pair: [&str; 2]| {
        let text = run(&["compare", pair[0], pair[1], "--for", "TPU v5 lite"]);
        (text, compare(&[pair[0], pair[1], "--for", "v5e"]))
    };
    // In row-major order, this is a free reshape. On a TPU, the bytes are the same, too, but a tile holds parts of eight rows, so it is no reshape.
    // The text begins with the TPU.
    let text = run(&["compare", pair[0], pair[1]]).split_whitespace().collect::<Vec<_>>().join(" ");
    let lead = "TPU v5e stores them as f32[8,1024]{1,0:T(8,128)} and f32[8192]{0:T(1024)}: the same bytes (--for v5e says more). \
                Row-major, as without a layout: The same bytes, as a reshape: ";
    assert!(text.starts_with(lead), "{text}");
    assert_eq!(compare(&pair)["generation"], Value::Null);
    let (text, answer) = named(pair);
    assert!(text.starts_with("The same bytes, but as no single reshape or transpose."), "{text}");
    assert!(text.contains("Shapes without a layout have that of TPU v5e."), "{text}");
    assert_eq!((&answer["plain"], &answer["generation"]), (&json!(false), &json!("v5e")));
    let bare = run(&["compare", "f32[100,200]", "f32[20000]"]);
    assert!(
        bare.split_whitespace().collect::<Vec<_>>().join(" ").contains(": not the same bytes (--for v5e"),
        "{bare}"
    );
    // Layouts in the text are kept, and the answer does not mention a TPU.
    let pair = ["f32[8,1024]{1,0}", "f32[8192]{0}"];
    let (text, answer) = named(pair);
    assert!(text.starts_with("The same bytes, as a reshape: ") && !text.contains("TPU"), "{text}");
    assert_eq!(answer["generation"], Value::Null);
    assert_eq!(run(&["compare", pair[0], pair[1]]), text);
}

#[test]
fn an_explanation_is_about_the_named_tpu() {
    let text = run(&["explain", "bf16[100,200]", "--for", "v5litepod-4"]);
    assert!(text.contains("TPU v5e stores it as") && !text.contains("v4"), "{text}");
    let text = run(&["explain", "s4[64,128]", "--for", "v4"]);
    assert!(text.contains("TPU v4 stores it as") && !text.contains("v5e"), "{text}");
    let answer: Value =
        serde_json::from_str(&run(&["explain", "(f32[8,128], s32[4])", "--for", "v6e", "--format", "json"])).unwrap();
    for leaf in answer["tuple_shapes"].as_array().unwrap() {
        assert_eq!(leaf["tpu"].as_array().unwrap().len(), 1);
        assert_eq!(leaf["tpu"][0]["generations"], json!(["v6e"]));
    }
}

#[test]
fn yes_and_no_exit_with_0_and_other_shapes_with_1() {
    let code = |from: &str, to: &str| {
        let output = Command::program().args(["compare", from, to]).output().unwrap();
        assert_eq!(output.status.code() == Some(1), output.stdout.is_empty() && !output.stderr.is_empty());
        output.status.code()
    };
    assert_eq!(code("f32[6]", "f32[2,3]"), Some(0));
    assert_eq!(code("f32[6]", "f32[7]"), Some(0));
    assert_eq!(code("f32[6]", "f32[7"), Some(1));
    assert_eq!(code("f32[6]", "token[]"), Some(1));
}

#[test]
fn a_reshape_is_free_or_names_its_cost_and_a_free_layout() {
    let reshape = |arguments: &[&str]| compare(arguments)["reshape"].clone();
    let free = compare(&["f32[4,8,128]{2,1,0:T(8,128)}", "f32[32,128]{1,0:T(8,128)}"]);
    assert_eq!(free["transpose"], json!(null));
    let free = &free["reshape"];
    assert_eq!((&free["free"], &free["moved_bytes"]), (&json!(true), &json!(0)));
    assert_eq!(free["free_result"], "f32[32,128]{1,0:T(8,128)}");

    let moves = reshape(&["bf16[32,2,192]{2,1,0:T(2,128)(2,1)}", "bf16[64,192]{1,0:T(8,128)(2,1)}"]);
    assert_eq!((&moves["free"], &moves["moved_bytes"]), (&json!(false), &json!(65_536)));
    assert_eq!(moves["free_result"], "bf16[64,192]{1,0:T(2,128)(2,1)}");
    assert!(moves["reason"].as_str().unwrap().starts_with("element (0,0,128) moves from position 256"), "{moves}");

    // The same sizes in another order could be a reshape or a transpose: the answer has both.
    let both = compare(&["f32[2,3]{1,0}", "f32[3,2]{0,1}"]);
    assert_eq!((&both["reshape"]["free"], &both["reshape"]["free_result"]), (&json!(false), &json!("f32[3,2]{1,0}")));
    assert_eq!((&both["transpose"]["free"], &both["transpose"]["permutation"]), (&json!(true), &json!([1, 0])));
    let text = run(&["compare", "f32[2,3]{1,0}", "f32[3,2]{0,1}"]);
    assert!(text.contains("As a reshape: not free.") && text.contains("As a transpose by (1,0): free."), "{text}");

    // A single row of tiles has the same bytes as an array of one dimension.
    let line = compare(&["f32[8,128]", "f32[1024]", "--for", "v5e"]);
    assert_eq!((&line["from"], &line["reshape"]["free"]), (&json!("f32[8,128]{1,0:T(8,128)}"), &json!(true)));
    // No layout makes this reshape free.
    let none = reshape(&["f32[100,200]", "f32[20000]", "--for", "v5e"]);
    assert_eq!((&none["free"], &none["free_result"]), (&json!(false), &json!(null)));
    // A layout in the text is kept, even if it is the default layout.
    let written = compare(&["f32[8,1024]{1,0}", "f32[8192]{0}", "--for", "v5e"]);
    assert_eq!((&written["from"], &written["to"]), (&json!("f32[8,1024]{1,0}"), &json!("f32[8192]{0}")));
    assert_eq!(written["reshape"]["free"], true);
    // Without tiles, the result is free.
    let untiled = reshape(&["f32[8,128]{1,0:T(8,128)}", "f32[128,8]", "--for", "v5e"]);
    assert_eq!((&untiled["free"], &untiled["free_result"]), (&json!(false), &json!("f32[128,8]{1,0}")));
}

#[test]
fn shapes_that_cannot_be_compared_are_an_error() {
    for (from, to, message) in [
        ("f32[?]", "f32[6]", "dimension 0"),
        ("s1[6]", "s1[2,3]", "the layout of s1 on a TPU is not known"),
        ("(f32[6], f32[6])", "f32[6]", "expected an array, found"),
    ] {
        let output = Command::program().args(["compare", from, to, "--for", "v5e"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("error: ") && said.contains(message), "{said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    }
}

fn advise(arguments: &[&str]) -> Vec<Value> {
    let rows = run(&[&["advise", "--format", "json"], arguments].concat());
    rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

#[test]
fn the_devices_choice_comes_first_and_the_given_layout_is_compared_with_it() {
    let shape = "bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}";
    let rows = advise(&[shape]);
    assert_eq!((&rows[0]["choice"], &rows[0]["bytes"]), (&json!("default and natural"), &json!(1_u64 << 30)));
    assert_eq!(
        (&rows[1]["shape"], &rows[1]["choice"], &rows[1]["saved_bytes"]),
        (&json!(shape), &json!("given"), &json!(-3_i64 << 30))
    );
    let others = rows[2..].iter().map(|row| row["bytes"].as_u64().unwrap()).collect::<Vec<_>>();
    assert!(others.is_sorted_by(|a, b| a < b), "of equal layouts, one: {others:?}");
    // One layout for each order of the two most minor dimensions, and the given layout.
    assert_eq!(rows.iter().map(|row| row["orders"].as_u64().unwrap()).sum::<u64>(), 12 + 1);
    assert_eq!(advise(&[shape, "--top", "3"]).len(), 3);
    // A layout in the text counts as given, even if it is the default layout.
    let choices = |shape| advise(&[shape]).iter().map(|row| row["choice"].clone()).collect::<Vec<_>>();
    assert!(choices("f32[100,200]{1,0}").contains(&json!("given")));
    assert!(!choices("f32[100,200]").contains(&json!("given")));
}

#[test]
fn a_merge_of_dimensions_is_suggested() {
    let text = run(&["advise", "bf16[1,3072]"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("TPU v5e (--for names another generation) stores bf16[1,3072] in 12,288 bytes (12 KiB)"),
        "{text}"
    );
    let rows = advise(&["bf16[1,3072]", "--for", "v3"]);
    assert_eq!(rows[0]["bytes"], 24_576);
    let merge = rows.last().unwrap();
    assert_eq!((&merge["change"], &merge["bytes"]), (&json!("merge dimensions 0 and 1"), &json!(6144)));
}

#[test]
fn errors_have_no_advice() {
    for (arguments, error) in [
        (["advise", "s1[3,3]", "--for", "v5e"], "error: the layout of s1 on a TPU is not known"),
        (["advise", "f32[3,3]", "--for", "v8t"], "error: the layouts that TPU v8t chooses are not known"),
    ] {
        let output = Command::program().args(arguments).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        assert!(String::from_utf8(output.stderr).unwrap().starts_with(error));
    }
}

#[test]
fn what_if_changes_dimensions_before_the_comparison() {
    let first = |change: &[&str]| {
        let arguments = [&["advise", "f32[100,1]{1,0:T(8,128)}", "--format", "json", "--top", "1"], change].concat();
        serde_json::from_str::<Value>(&run(&arguments)).unwrap()
    };
    assert_eq!(first(&["--what-if", "1=128"])["shape"], "f32[100,128]{1,0:T(8,128)}");
    assert_eq!(first(&["--what-if", "0,1"])["shape"], "f32[1,100]{1,0:T(1,128)}");
    assert_eq!(first(&["--what-if", "0,1", "--what-if", "0=8"])["bytes"], 4096);
    let output = Command::program().args(["advise", "f32[3]", "--what-if", "1=2"]).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: dimension 1 does not exist: the array has 1 dimension\n"
    );
    let usage = Command::program().args(["advise", "f32[3]", "--what-if", "x"]).output().unwrap();
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn what_a_gpu_does_with_a_shape_is_said() {
    let words = |arguments: &[&str]| run(arguments).split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(&["explain", "f32[8,64,56,56]", "--for", "h100,a100-80"]);
    for said in [
        "On a GPU h100, a100-80 store it as f32[8,64,56,56]{3,2,1,0} in 6,422,528 bytes (6.12 MiB).",
        "On h100, convolutions want the channels last (NHWC), so of an array N,C,H,W: f32[8,64,56,56]{1,3,2,0}",
        "On a100-80, convolutions want N,C,H,W in row-major order (NCHW): f32[8,64,56,56]{3,2,1,0}",
        "Temporary buffers begin at multiples of 256 bytes.",
    ] {
        assert!(text.contains(said), "{text}");
    }
    assert!(!text.contains("TPU") && !text.contains("packed"), "{text}");
    let text = words(&["explain", "(token[], s4[7,33])", "--for", "v5e,l4"]);
    assert!(text.contains("On a TPU By default, TPUs choose: {1} s4[7,33]{1,0:T(8,128)(8,1)E(4)}"), "{text}");
    assert!(text.contains("l4 stores {1} as s4[7,33]{1,0:E(4)} in 116 bytes."), "{text}");
    assert!(text.contains("Elements of less than 8 bits are packed, also across rows."), "{text}");

    let text = words(&["advise", "s8[1024,256]{0,1:T(8,128)(4,1)}", "--for", "b200", "--what-if", "1=512"]);
    for said in [
        "GPU b200 stores s8[1024,512] in 524,288 bytes (512 KiB).",
        "products want the dimension that they sum over to vary fastest, so of a matrix that is summed over its first dimension: s8[1024,512]{0,1}",
        "For an array that only products read, ",
        "`Format(Layout(major_to_minor=(1, 0)), sharding)`",
    ] {
        assert!(text.contains(said), "{text}");
    }
    let text = words(&["advise", "f32[100,200]", "--for", "h100"]);
    assert!(text.contains("No operation is known to want another order of such an array."), "{text}");
}
