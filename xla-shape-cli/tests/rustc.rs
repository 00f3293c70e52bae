//! `rustc`: what the compiler says, with shapes where it has types.

use assert_cmd::Command;
use serde_json::{Value, json};

fn run(arguments: &[&str], input: &str) -> String {
    let mut program = Command::cargo_bin("xla-shape").unwrap();
    let output = program.arg("rustc").args(arguments).write_stdin(input).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
    String::from_utf8(output.stdout).unwrap()
}

/// What the compiler says of a case of `ui-tests`.
fn golden(case: &str) -> String {
    let path = format!("{}/../ui-tests/tests/fail/types/{case}.stderr", env!("CARGO_MANIFEST_DIR"));
    run(&[], &std::fs::read_to_string(path).unwrap())
}

#[test]
fn shapes_stand_for_types_and_what_differs_is_marked() {
    let text = golden("wrong_order");
    let lines = "  = note: expected reference `&Buffer<bf16[8,128]{1,0:T(8,128)(2,1)}>`
             found reference `&Buffer<bf16[8,128]{0,1:T(8,128)(2,1)}>`
                                                  ^^^
";
    assert!(text.contains(lines), "{text}");
    // Code stays as it is.
    assert!(text.contains("8 |     kernel(&Buffer::<shape!(bf16[8,128]{0,1:T(8,128)(2,1)})>::zeroed());\n"));

    let text = golden("layout_missing");
    assert!(text.contains("found reference `&Buffer<bf16[8,128]{1,0}>`\n"), "{text}");
    assert!(text.contains("^ expected `:T(8,128)(2,1)` here\n"), "{text}");

    let text = golden("wrong_element_type");
    assert!(text.contains("expected `&Buffer<bf16[…,…]{…}>`, found `&Buffer<f32[8,…]{…}>`\n"), "{text}");
    assert!(golden("tuples_differ").contains("expected tuple `(f32[8,128]{1,0:T(8,128)}, s32[])`\n"));
    assert!(golden("generic_sizes_differ").contains("`&View<'_, f32[128,_]{1,0:T(8,128)}>`\n"));
}

#[test]
fn parts_of_shapes_are_read_wherever_they_are() {
    for (types, shapes) in [
        ("`Array<E, (Size<M>, Size<{ 2 * N }>), L>`", "`E[M,2 * N]{L}`"),
        (
            "Array<S4, (Bounded<8>, Unbounded), Layout<(Minor<0>, Minor<1>), (), Space<5>, Attributes<64, 4, 16>>>",
            "s4[<=8,?]{0,1:L(64)E(4)S(5)M(16)}",
        ),
        (
            "Array<F32, (Size<64>,), Layout<(Minor<0>,), (), Space<0>, Attributes<1, 0, 16, (Split<0, (Size<8>, Size<32>)>,)>>>",
            "f32[64]{0:SC(0:8,32)M(16)}",
        ),
        (
            "Array<F32, (UInt<UInt<UTerm, B1>, B0>,), Layout<(Minor<0>,), (Tile<(Combine, Size<4>)>,)>>",
            "f32[2]{0:T(*,4)}",
        ),
        ("Array<F32, (Piece<Size<64>, 4, 0>, Times<Size<2>, 3>), _>", "f32[16,6]{_}"),
        ("Array<F32, _, TpuLayout<V5e, F32, _>>", "f32[_]{the default of v5e}"),
        ("Array<F32, (Named<'r', 'o', 'w', 's'>, Size<8>), _>", "f32[rows,8]{_}"),
        ("Part<Array<F32, (), Layout<()>>, P>", "Part<f32[], P>"),
        ("Vec<(Size<8>, Size<128>)>", "Vec<[8,128]>"),
        ("fn(Buffer<Array<Pred, (Size<1>,), _>, Mut<'a>>) -> Size<2>", "fn(ViewMut<'a, pred[1]{_}>) -> 2"),
        ("Named<'r', 'o', 'w'>", "row"),
        ("Named<'a, T>", "Named<'a, T>"),
        ("(Named<'r'>, Size::<8>)", "[r,8]"),
        ("expected `types::Token`, found `xla_shape::types::Opaque`", "expected `token[]`, found `opaque[]`"),
        ("Piece<_, 4, 0>", "_/4"),
        ("Times<_, 4>", "_*4"),
        ("(UTerm, UTerm)", "[0,0]"),
        // What is none of ours, or has no end, stays as it is.
        ("Layout<u8>: a Size< b", "Layout<u8>: a Size< b"),
        ("alloc::Layout for Vec<T>, (Size<8>, u8", "alloc::Layout for Vec<T>, (8, u8"),
    ] {
        assert_eq!(run(&[], types), format!("{shapes}\n"));
    }
    let two_types_of_one_shape =
        "expected struct `Array<F32, (Size<2>,), _>`\n   found struct `Array<F32, (UInt<UInt<UTerm, B1>, B0>,), _>`\n";
    assert!(
        run(&[], two_types_of_one_shape).ends_with("the same shape as another type: `retype` makes one of the other\n")
    );
}

#[test]
fn hostile_input_takes_no_long_time() {
    for text in ["(Size<", "Array<", "Size<8>, (", "((((", "a<(b<[", "UInt<UInt<", "\u{1b}[", "{\"message\":"] {
        let text = text.repeat(20_000);
        assert!(run(&[], &text).len() >= text.len() / 8);
    }
}

#[test]
fn messages_in_json_are_read_and_written() {
    let message = json!({
        "reason": "compiler-message",
        "message": {
            "message": "expected `Size<8>`",
            "spans": [{ "label": "found `Array<F32, (Size<9>,), _>`", "text": [{ "text": "let x: Size<8>;" }] }],
            "children": [{ "message": "Minor<1>", "spans": [] }],
            "rendered": "error: expected `Size<8>`\n1 | let x: Size<8>;\n",
        },
    });
    let input = format!("{message}\n{{\"reason\":\"build-finished\",\"success\":false}}\n");
    assert_eq!(run(&[], &input), "error: expected `8`\n1 | let x: Size<8>;\n");
    let output = run(&["--format", "json"], &input);
    let lines = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    assert_eq!(lines[0]["message"]["message"], "expected `8`");
    assert_eq!(lines[0]["message"]["spans"][0]["label"], "found `f32[9]{_}`");
    assert_eq!(lines[0]["message"]["spans"][0]["text"][0]["text"], "let x: Size<8>;");
    assert_eq!(lines[1], json!({ "reason": "build-finished", "success": false }));
}

#[test]
fn a_type_in_a_file_of_its_own_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.long-type-123.txt");
    std::fs::write(&path, "Buffer<Array<F32, (Size<8>, Size<128>), Layout<(Minor<1>, Minor<0>)>>>\n").unwrap();
    let line = format!("  = note: the full name for the type has been written to '{}'\n", path.display());
    assert_eq!(run(&[], &line), format!("{line}           which is `Buffer<f32[8,128]{{1,0}}>`\n"));
    let line = "  = note: the full name for the type has been written to '/no/such/a.long-type-1.txt'\n";
    assert_eq!(run(&[], line), line);
}

#[test]
fn what_is_no_text_stays_as_it_is_but_is_no_json() {
    let program = |format: &str| {
        let mut program = Command::cargo_bin("xla-shape").unwrap();
        program.args(["rustc", "--format", format]).write_stdin(&b"f\xff Size<8>\n"[..]).output().unwrap().stdout
    };
    assert_eq!(program("text"), b"f\xff Size<8>\n");
    assert_eq!(program("json"), b"");
}
