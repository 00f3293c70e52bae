//! What TPUs choose for a shape (`explain --for`, `check --for`), and `block`, run as programs.

use crate::program::Command;
use serde_json::{Value, json};

fn run(arguments: &[&str], input: &[u8]) -> (String, String, Option<i32>) {
    let output = Command::program().args(arguments).write_stdin(input).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn answers(arguments: &[&str], input: &[u8]) -> Vec<Value> {
    run(arguments, input).0.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_line_is_answered_for_a_tpu() {
    let lines = b"f32[100,200]\n(s4[9,9]{0,1}, token[])";
    let answers = answers(&["check", "--for", "v5e"], lines);
    let shown = answers.iter().map(|answer| (answer["shape"].as_str().unwrap(), &answer["bytes"]));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [("f32[100,200]{0,1:T(8,128)}", &json!(102_400)), ("(s4[9,9]{1,0:T(8,128)(8,1)E(4)}, token[])", &json!(1024))]
    );
    let (_, said, code) = run(&["check", "--for", "v5e"], lines);
    assert_eq!((said.as_str(), code), ("", Some(0)));
}

#[test]
fn a_bad_line_says_what_is_wrong_and_where() {
    let lines = b"f32[3\n(f32[2], s1[2])\nf32[2,?]\n\n\xff\nf32[2] x\n";
    let answers = answers(&["check", "--for", "v5e"], lines);
    let problems =
        answers.iter().map(|answer| (answer["error"]["message"].as_str().unwrap(), &answer["error"]["span"]));
    assert_eq!(
        problems.collect::<Vec<_>>(),
        [
            ("expected `,` or `]`, found the end of the text", &json!([5, 5])),
            ("the layout of s1 on a TPU is not known", &json!([9, 11])),
            ("dimension 1 has no bound; the default layout depends on every size", &json!([6, 7])),
            ("expected a shape, found the end of the text", &json!([0, 0])),
            ("expected UTF-8, found 0xff", &json!([0, 1])),
            ("expected the end of the shape, found `x`", &json!([7, 8])),
        ]
    );
    assert!(answers.iter().all(|answer| answer["ok"] == false));
    assert_eq!(run(&["check", "--for", "v5e"], lines).2, Some(1));
}

#[test]
fn each_named_generation_has_its_choice() {
    let choices = |shape: &str, generations: &str| {
        answers(&["explain", shape, "--for", generations, "--format", "json"], b"")[0]["tpu"].clone()
    };
    let each = choices("bf16[1,3072]", "v2,tpu7x");
    assert_eq!((&each[0]["generations"], &each[0]["bytes"]), (&json!(["v2"]), &json!(24_576)));
    assert_eq!((&each[1]["generations"], &each[1]["bytes"]), (&json!(["v7x"]), &json!(12_288)));
    // Generations with the same choice share an entry, and a generation that is named twice counts once.
    assert_eq!(choices("f32[8]", "v5e,v6e,v5e")[0]["generations"], json!(["v5e", "v6e"]));
    // If `--for` asks for it, the choice is shown also for a shape with a layout.
    assert_eq!(choices("f32[100,200]{1,0}", "v5e")[0]["shape"], "f32[100,200]{0,1:T(8,128)}");
    assert_eq!(answers(&["explain", "f32[100,200]{1,0}", "--format", "json"], b"")[0]["tpu"], Value::Null);
}

#[test]
fn the_choice_of_a_named_tpu_comes_first() {
    let begins = |arguments: &[&str], expected: &str| {
        let (text, said, code) = run(arguments, b"");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with(expected), "{text}");
        assert_eq!((said.as_str(), code), ("", Some(0)));
    };
    let stored = "stores it as f32[100,200]{0,1:T(8,128)} in 102,400 bytes (100 KiB), 1.28x what its elements need.";
    begins(
        &["explain", "f32[100,200]", "--for", "v5e"],
        &format!("f32[100,200]{{1,0}} TPU v5e {stored} Row-major, without tiles: 80,000 bytes"),
    );
    begins(
        &["explain", "f32[100,200]{1,0:T(8,128)}", "--for", "v5e"],
        &format!("f32[100,200]{{1,0:T(8,128)}} TPU v5e {stored} In the layout of the text: 106,496 bytes"),
    );
    begins(
        &["explain", "bf16[1,3072]", "--for", "v3,v5e"],
        "bf16[1,3072]{1,0} TPU v3 stores it as bf16[1,3072]{1,0:T(4,128)(2,1)} in 24,576 bytes",
    );
}

#[test]
fn a_choice_that_is_not_known_is_an_error() {
    for (shape, generations, message) in [
        ("f32[8]", "v5e,v8i", "the layouts that TPU v8i chooses are not known"),
        ("(f32[8], s1[3])", "v5e", "the layout of s1 on a TPU is not known\n  |\n1 | (f32[8], s1[3])\n  |          ^^"),
        ("f32[8", "v5e", "1 | f32[8\n"),
    ] {
        let (text, said, code) = run(&["explain", shape, "--for", generations], b"");
        assert_eq!((text.as_str(), code), ("", Some(1)));
        assert!(said.starts_with("error: ") && said.contains(message), "{said}");
    }
    let (_, said, code) = run(&["explain", "f32[8]", "--for", "v9"], b"");
    assert!(said.contains("expected a generation of TPUs: v2, v3, "), "{said}");
    assert_eq!(code, Some(2));
}

fn block(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::program().arg("block").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn a_block_needs_two_copies_and_may_not_fit() {
    let answer = |limit: &str| -> Value {
        let arguments = ["f32[4096,1000]", "f32[104,1000]", "--for", "v4", "--vmem-limit", limit, "--format", "json"];
        serde_json::from_str(&block(&arguments).0).unwrap()
    };
    let bytes = 104 * 1024 * 4;
    let fitting = answer("851968");
    assert_eq!((&fitting["vmem_bytes"], &fitting["fits"]), (&json!(2 * bytes), &json!(true)));
    let part = &fitting["parts"][0];
    assert_eq!((&part["bytes"], &part["copies"], &part["kind"]), (&json!(bytes), &json!(2), &json!("input")));
    assert_eq!((&part["shape"], &part["padding_bytes"]), (&json!("f32[104,1000]{1,0:T(8,128)}"), &json!(104 * 24 * 4)));
    assert_eq!(answer("851967")["fits"], false);
    let code = |limit: &str| block(&["f32[4096,1000]", "f32[104,1000]", "--for", "v4", "--vmem-limit", limit]).2;
    assert_eq!((code("851968"), code("851967")), (Some(0), Some(1)));
    assert_eq!(answer("1MiB")["fits"], true);
    // The limit is at most the VMEM that the device has.
    assert_eq!(answer("99999999999")["limit_bytes"], 16 << 20);
    let (text, ..) = block(&["f32[4096,1000]", "f32[104,1000]"]);
    let text = text.replace('\n', " ");
    assert!(text.contains("fit into the 16,777,216 bytes (16 MiB) of VMEM that a kernel may use on TPU v5e"), "{text}");
    let older = block(&["f32[4096,1000]", "f32[104,1000]", "--limit", "851967", "--format", "json"]).0;
    assert!(older.contains("\"fits\":false"), "{older}");
}

#[test]
fn the_sum_of_all_blocks_is_compared_with_the_limit() {
    // libtpu: "Scoped allocation with size 64.00M and limit 16.00M exceeded".
    let pair = ["bf16[65536,1024]", "bf16[8192,1024]"];
    let answer = |arguments: &[&str]| -> Value {
        serde_json::from_str(&block(&[arguments, &["--format", "json"]].concat()).0).unwrap()
    };
    assert_eq!(answer(&pair)["fits"], false);
    let [array, block_shape] = pair;
    let both = ["--input", array, block_shape, "--output", array, block_shape];
    let refused = answer(&both);
    assert_eq!((&refused["vmem_bytes"], &refused["limit_bytes"]), (&json!(64 << 20), &json!(16 << 20)));
    let (text, ..) = block(&both);
    let first = "The blocks need 67,108,864 bytes (64 MiB), and do not fit into the 16,777,216 bytes (16 MiB) of VMEM";
    assert!(text.replace('\n', " ").starts_with(first), "{text}");
    assert_eq!(answer(&[&both[..], &["--for", "TPU v5 lite", "--vmem-limit", "64MiB"]].concat())["fits"], true);
    // A fixed block and a scratch buffer have one copy each; 4-bit elements take 8 bits in scratch.
    let whole = "f32[512,512]";
    let more = answer(&["--input", whole, whole, "--fixed", "f32[64,512]", "f32[32,512]", "--scratch", "s4[64,128]"]);
    let copies = more["parts"].as_array().unwrap().iter().map(|part| (&part["copies"], &part["bytes"]));
    let expected = [1 << 20, 32 * 512 * 4, 64 * 128].map(|bytes| (json!(1), json!(bytes)));
    assert_eq!(copies.collect::<Vec<_>>(), expected.each_ref().map(|(copies, bytes)| (copies, bytes)));
    let (_, said, code) = block(&["--input", whole, whole, "--input", whole, "f32[9,512]"]);
    assert!(said.starts_with("error: input 2: dimension 0 of the block is 9 long"), "{said}");
    assert_eq!(code, Some(1));
    for wrong in [&[][..], &["f32[8]"], &["--input", whole], &["--vmem-limit", "5q", whole, whole]] {
        assert_eq!(block(wrong).2, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_block_that_a_tpu_refuses_is_an_error() {
    for (array, shape, message) in [
        (
            "f32[64,300]",
            "f32[8,100]",
            "dimension 1 of the block is 100 long; a TPU takes a multiple of 128, or all 300",
        ),
        ("f32[64,300]", "f32[9,300]", "dimension 0 of the block is 9 long; a TPU takes a multiple of 8, or all 64"),
        (
            "s8[5000]",
            "s8[256]",
            "the block is 256 long; a TPU takes a multiple of 1024, a power of two from 512 on, or all 5000",
        ),
        ("f32[64,300]", "f32[300]", "expected a block with as many dimensions as the array, 2, found 1"),
        ("f32[64,300]", "f32[0,300]", "dimension 0 of the block has no elements"),
        ("f32[]", "f32[]", "a block has at least one dimension; kernels take scalars in SMEM"),
        ("f32[64,300]", "bf16[8,300]", "expected a block of f32 elements, as its array has, found bf16"),
        ("f32[64,?]", "f32[8,128]", "dimension 1 has no bound"),
    ] {
        let (shown, said, code) = block(&[array, shape]);
        assert_eq!((shown.as_str(), code), ("", Some(1)), "{shape}");
        assert!(said.starts_with("error: ") && said.contains(message), "{said}");
    }
}
