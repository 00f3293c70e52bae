//! `xla-shape rustc`, run as a program: the compiler's output with shapes in place of types.

use crate::program::Command;
use serde_json::{Value, json};

fn run(arguments: &[&str], input: &str) -> String {
    let mut program = Command::program();
    let output = program.arg("rustc").args(arguments).write_stdin(input).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
    String::from_utf8(output.stdout).unwrap()
}

/// The answer about the compiler's output for a case of `ui-tests`.
fn golden(case: &str) -> String {
    let path = format!("{}/../../ui-tests/tests/fail/types/{case}.stderr", env!("CARGO_MANIFEST_DIR"));
    run(&[], &std::fs::read_to_string(path).unwrap())
}

#[test]
fn types_become_shapes_and_differences_are_marked() {
    let text = golden("wrong_order");
    let lines = "  = note: expected reference `&Buffer<bf16[8,128]{1,0:T(8,128)(2,1)}>`
             found reference `&Buffer<bf16[8,128]{0,1:T(8,128)(2,1)}>`
                                                  ^^^
                              order of the dimensions: expected `{1,0}`, found `{0,1}`
";
    assert!(text.contains(lines), "{text}");
    // Code is not changed.
    assert!(text.contains("8 |     kernel(&Buffer::<shape!(bf16[8,128]{0,1:T(8,128)(2,1)})>::zeroed());\n"));

    let text = golden("layout_missing");
    assert!(text.contains("found reference `&Buffer<bf16[8,128]{1,0}>`\n"), "{text}");
    assert!(text.contains("^\n                              tiles: expected `T(8,128)(2,1)`, found none\n"), "{text}");

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
        // Other types, and types without an end, are not changed.
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
fn hostile_input_takes_linear_time() {
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
fn bytes_that_are_not_utf8_are_copied_to_text_but_not_to_json() {
    let program = |format: &str| {
        let mut program = Command::program();
        program.args(["rustc", "--format", format]).write_stdin(&b"f\xff Size<8>\n"[..]).output().unwrap().stdout
    };
    assert_eq!(program("text"), b"f\xff Size<8>\n");
    assert_eq!(program("json"), b"");
}

/// For each mistake in `rustc.jsonl`, the differences that the answer names: one line for each part of the shape.
const DIFFERENCES: [(&str, &str); 25] = [
    ("tile", "tile 0: expected `(8,128)`, found `(16,128)`"),
    ("tile_by_reference", "tile 0: expected `(8,128)`, found `(4,128)`"),
    ("second_tile", "tile 1: expected `(2,1)`, found `(4,1)`"),
    ("tile_missing", "tiles: expected `T(8,128)(2,1)`, found `T(8,128)`"),
    ("dimension", "dimension 1: expected `128`, found `256`"),
    ("element_type", "element type: expected `bf16`, found `f32`"),
    ("memory_space", "memory space: expected `S(1)`, found none"),
    ("order", "order of the dimensions: expected `{1,0}`, found `{0,1}`"),
    ("rank", "number of dimensions: expected 2, found 3"),
    ("element_size", "element size: expected `E(4)`, found none"),
    ("tail_padding", "tail padding: expected `L(1024)`, found none"),
    ("bound", "dimension 0: expected `<=8`, found `8`"),
    (
        "three_parts",
        "element type: expected `bf16`, found `f32`\ndimension 1: expected `128`, found `256`\n\
         tiles: expected `T(8,128)(2,1)`, found `T(16,128)`",
    ),
    ("prefix", "metadata prefix: expected `M(16)`, found none"),
    ("splits", "splits: expected `SC(0:8,32)`, found `SC(0:8,16)`"),
    ("tuple", "tile 0: expected `(8,128)`, found `(16,128)`"),
    ("function", "tile 0: expected `(16,_)`, found `(8,128)`"),
    ("generic_size", "dimension 0: expected `128`, found `256`"),
    ("generic_tile", "tile 0: expected `(8,128)`, found `(16,128)`"),
    ("generic_result", "tile 0: expected `(8,_)`, found `(16,_)`"),
    ("trait", ""),
    ("another_type", "the same shape as another type: `retype` makes one of the other"),
    // `retype` alone does not help, because more than the element type differs.
    ("buffer_of_another_type", ""),
    // The shapes are equal, so there is no difference to name.
    ("view", ""),
    // The file has three names, and it is not known which comparison each belongs to.
    ("two_comparisons", ""),
];

/// The lines of an answer that name the differing parts, after the line with `found` and without marks.
fn said(text: &str) -> String {
    let is_said = |line: &&str| line.contains(": expected ") && !line.contains("note:") || line.contains("`retype`");
    text.lines().filter(is_said).map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_difference_is_named_for_every_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.long-type-1.txt");
    let rows = include_str!("rustc.jsonl").lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let rows = rows.collect::<Vec<_>>();
    assert_eq!(rows.len(), DIFFERENCES.len());
    for (row, (mistake, differences)) in rows.iter().zip(DIFFERENCES) {
        assert_eq!(row["mistake"], mistake);
        std::fs::write(&path, row["names"].as_str().unwrap_or_default()).unwrap();
        let message = row["message"].to_string().replace("NAMES", path.to_str().unwrap());
        let message: Value = serde_json::from_str(&message).unwrap();
        let text = run(&[], message["rendered"].as_str().unwrap());
        assert_eq!(said(&text), differences, "{text}");
        assert!(!text.contains("which is") || mistake == "trait", "{text}");
        assert_eq!(run(&[], &format!("{message}\n")).trim_end(), text.trim_end());
        // The JSON messages for editors have the same lines.
        let answer: Value = serde_json::from_str(&run(&["--format", "json"], &format!("{message}\n"))).unwrap();
        assert_eq!(answer["rendered"].as_str().unwrap().trim_end(), text.trim_end());
        let notes = answer["children"].as_array().unwrap().iter().map(|note| said(note["message"].as_str().unwrap()));
        assert_eq!(notes.filter(|note| !note.is_empty()).collect::<Vec<_>>().join("\n"), differences);

        // Without the file, a shortened type is not compared.
        std::fs::remove_file(&path).unwrap();
        let text = run(&[], message["rendered"].as_str().unwrap());
        let lines = text.lines().collect::<Vec<_>>();
        let is_shortened = lines
            .windows(2)
            .any(|lines| lines[0].contains("= note: expected") && format!("{}{}", lines[0], lines[1]).contains('…'));
        assert_eq!(said(&text), if is_shortened { "" } else { differences }, "{text}");
    }
}

#[test]
fn a_shortened_type_is_not_compared() {
    let line = "expected struct `Buffer<Array<F32, (Size<8>, Size<128>), Layout<..., ...>>, ...>`\n   \
                found struct `Buffer<Array<F32, (Size<8>, Size<128>), Layout<..., ...>>, ...>`\n";
    let shape = "`Buffer<f32[8,128]{…:…}, ...>`";
    assert_eq!(run(&[], line), format!("expected struct {shape}\n   found struct {shape}\n"));
    // The label names the other order, so it is not known which name is which.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.long-type-1.txt");
    let name = |rows| {
        format!(
            "Buffer<Array<F32, (Size<8>, Size<128>), Layout<(Minor<1>, Minor<0>), (Tile<(Size<{rows}>,)>,)>>, Ref<'_>>\n"
        )
    };
    let text = |label: &str| {
        let note = format!("= note: the full name for the type has been written to '{}'", path.display());
        run(&[], &format!("{line}  | {label}\n{note}\n"))
    };
    std::fs::write(&path, name(8) + &name(16)).unwrap();
    assert!(text("^ expected `8`, found `16`").contains("tile 0: expected `(8)`, found `(16)`\n"));
    let text = text("^ expected `16`, found `8`");
    assert!(text.contains(&format!("found struct {shape}\n  |")) && !text.contains("tile 0"), "{text}");
    assert!(text.contains("they are `View<'_, f32[8,128]{1,0:T(8)}>`\n"), "{text}");
}

#[test]
fn lines_are_kept_until_their_message_ends() {
    let mut output = xla_shape_answers::rustc::Output::new(|_| None);
    assert_eq!(output.line("   Compiling a v0.1.0"), "   Compiling a v0.1.0\n");
    assert_eq!(output.line("expected `Size<8>`"), "");
    assert_eq!(output.line(""), "expected `8`\n\n");
    assert_eq!(output.line("expected `Size<8>`"), "");
    let long = "x".repeat(1 << 20);
    assert_eq!(output.line(&long), format!("expected `8`\n{long}\n"));
}
