//! `xla-shape convert`, run as a program. The code that it writes is compiled and run, too.
//!
//! If the compiler or library of a language is missing, the test says so and leaves the language out. `PYTHON` names the Python to run.

use crate::program::Command;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Output;
use xla_shape::{ArrayShape, Slot};
use xla_shape_answers::convert::{Code, Language};

fn run(arguments: &[&str]) -> Output {
    Command::program().arg("convert").args(arguments).output().unwrap()
}

fn lines(arguments: &[&str]) -> Vec<Value> {
    let output = run(&[arguments, &["--format", "json"]].concat());
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr)), (Some(0), "".into()), "{arguments:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        // Each line names its schema. It is removed, because the tests are about the rest.
        assert_eq!(line.as_object_mut().unwrap().remove("schema"), Some("xla-shape/convert/1".into()));
        line
    };
    text.lines().map(line).collect()
}

#[test]
fn a_notation_has_a_text_or_a_reason() {
    assert_eq!(
        lines(&["bf16[8,128]{1,0:T(8,128)(2,1)}", "--to", "cute"]),
        [json!({"notation": "cute", "text": "((2,4),128):((1,256),2)"})]
    );
    let [padded] = &lines(&["bf16[6,200]{1,0:T(8,128)(2,1)}", "--to", "cute"])[..] else { panic!("one line") };
    assert_eq!((&padded["position"], padded.get("text")), (&json!(768), None));
    assert_eq!(padded["nearest"], json!({"text": "((2,3),(128,2)):((1,256),(2,1024))", "view": "[0:6, 0:200]"}));
    let [cut] = &lines(&["bf16[6,200]{1,0:T(8,128)(2,1)}", "--to", "numpy"])[..] else { panic!("one line") };
    assert_eq!((&cut["index"], cut.get("text")), (&json!([2, 0]), None));
    // The answer names an element that shows the reason: its position differs, or it takes another number of bits.
    for (arguments, index, reason) in [
        (
            &["--from", "cute", "((2,4)):((4,1))", "--to", "mosaic"][..],
            json!([2]),
            "no list of tiles within the limit gives this map: element [2] would be elsewhere",
        ),
        (&["s4[2,8]{1,0:E(4)}", "--to", "numpy"], json!([0, 0]), "an element takes 8 bits in NumPy, and 4 here"),
    ] {
        let [line] = &lines(arguments)[..] else { panic!("one line") };
        assert_eq!((&line["index"], &line["reason"]), (&index, &json!(reason)));
    }
    assert_eq!(lines(&["f32[2,3]"]).len(), 8);
    assert_eq!(lines(&["f32[2,3]", "--to", "cute,torch"]).len(), 2);
}

#[test]
fn foreign_texts_are_read() {
    for (notation, text, expected) in [
        ("cute", "((2,4),128):((1,256),2)", "f32[8,128]{1,0:T(2,1)}"),
        ("numpy", "np.ndarray(shape=(2, 3), dtype=np.int16, strides=(2, 4))", "s16[2,3]{0,1}"),
        ("torch", "torch.empty((2, 3, 4, 5), memory_format=torch.channels_last)", "f32[2,3,4,5]{1,3,2,0}"),
        ("torch", "torch.zeros(2, 3, dtype=torch.float16, device='cuda')", "f16[2,3]{1,0}"),
        ("memref", "memref<16x200xbf16, strided<[256, 1]>>", "bf16[16,200]{1,0:T(256)}"),
        (
            "mosaic",
            "memref<16x256xbf16, #tpu.tiled<(8,128)(2,1),[2,1]>, #tpu.memory_space<vmem>>",
            "bf16[16,256]{1,0:T(8,128)(2,1)}",
        ),
        ("onednn", "f32::blocked:aBc16b::f0 2x32x7", "f32[2,32,7]{2,1,0:T(16,1)}"),
        ("mdspan", "std::layout_left::mapping<std::extents<int, 2, 3>>()", "f32[2,3]{0,1}"),
        (
            "linear",
            "- offset=1 -> (1, 0)\n  offset=2 -> (0, 1)\nwhere out dims are: [dim0 (size 2), dim1 (size 2)]",
            "f32[2,2]{0,1}",
        ),
    ] {
        assert_eq!(lines(&["--from", notation, text]), [json!({"notation": "xla", "text": expected})], "{text}");
    }
    let bf16 = lines(&["--from", "cute", "8:1", "--element-type", "bf16"]);
    assert_eq!(bf16[0]["text"], "bf16[8]{0}");
    let [overlap] = &lines(&["--from", "torch", "torch.as_strided(x, (3, 3), (1, 1))"])[..] else { panic!("one line") };
    assert_eq!((&overlap["sharing"], &overlap["shared"]), (&json!("overlaps"), &json!([[0, 1], [1, 0]])));
    assert_eq!((&overlap["index"], &overlap["position"]), (&json!([1, 0]), &json!(1)));
    let [repeats] = &lines(&["--from", "torch", "torch.as_strided(x, (3, 3), (0, 1))"])[..] else { panic!("one line") };
    assert_eq!((&repeats["sharing"], &repeats["index"]), (&json!("repeats"), &json!([1, 0])));
}

/// What is wrong with a text in a notation, and which bytes the error marks.
fn error(notation: &str, text: &str) -> (String, std::ops::Range<usize>) {
    let notation = xla_shape_notations::Notation::from_name(notation).unwrap();
    match xla_shape_notations::AnyLayout::read(notation, text) {
        Ok(layout) => panic!("{text}: {layout:?}"),
        Err(error) => (error.to_string(), error.span().into()),
    }
}

#[test]
fn errors_have_positions() {
    for (notation, text, message, place) in [
        ("cute", "", "expected a size, or `(` and sizes, found the end of the text", 0..0),
        ("cute", "(4,8)", "expected `:` and the strides, found the end of the text", 5..5),
        ("cute", "(4,8):(8)", "expected as many strides as sizes, found `)`", 8..9),
        ("cute", "(4,x):(8,1)", "expected a size, or `(` and sizes, found `x`", 3..4),
        ("cute", "(4,8):(8,1@0)", "expected a stride that is a number: `@` makes coordinates, found `@`", 10..11),
        ("cute", "9223372036854775808:1", "expected a number that fits in an i64, found `9223372036854775808`", 0..19),
        ("cute", "9223372036854775807:2", "expected positions that fit in an i64, found larger ones", 0..21),
        (
            "linear",
            "",
            "expected `- NAME=1 -> (…)`, `- NAME is a size 1 dimension`, or `where out dims are:`, found the end of the text",
            0..0,
        ),
        ("linear", "- a=2 -> (1)", "expected the next power of two, found `2`", 4..5),
        (
            "mdspan",
            "std::layout_up",
            "expected `layout_right`, `layout_left`, `layout_stride`, `layout_right_padded<N>` or `layout_left_padded<N>`, found `layout_up`",
            5..14,
        ),
        (
            "numpy",
            "np.ndarray(shape=(2, 3))",
            "expected `dtype=` and the type of the elements: strides are in bytes, found the end of the text",
            24..24,
        ),
        (
            "numpy",
            "np.ndarray((2,), dtype=np.int32, strides=(6,))",
            "expected bytes that are whole elements, found `(`",
            41..42,
        ),
        (
            "numpy",
            "torch.empty((2, 3, 4, 5), dtype=torch.float32, memory_format=torch.channels_last)",
            "expected a call of NumPy, found `torch`",
            0..5,
        ),
        (
            "numpy",
            "empty((2, 3), dtype=float32, memory_format=channels_last)",
            "expected each argument once: `shape`, `dtype`, `strides`, `offset` or `order`, the last four with their names, found `channels_last`",
            43..56,
        ),
        (
            "numpy",
            "np.zeros((2, 3), dtype=np.int32, order='K')",
            "expected the order `'C'` or `'F'`, found `'`",
            39..40,
        ),
        ("torch", "np.zeros((2, 3))", "expected a call of torch, found `np`", 0..2),
        (
            "torch",
            "torch.empty((2, 3), 4)",
            "expected each argument once: sizes, `dtype`, and `memory_format` or strides, found `4`",
            20..21,
        ),
        (
            "torch",
            "torch.empty((2,), size=(3,), size=(4,))",
            "expected each argument once: sizes, `dtype`, and `memory_format` or strides, found `(`",
            34..35,
        ),
        ("torch", "torch.zeros(2, -3)", "expected sizes of at least 0, found `-`", 15..16),
        ("numpy", "np.ndarray((-2,), dtype=np.int32)", "expected sizes of at least 0, found `(`", 11..12),
        (
            "torch",
            "torch.empty_strided((2,), (-1,))",
            "expected strides of at least 0: torch has no negative ones, found `(`",
            26..27,
        ),
        (
            "memref",
            "memref<2x?xf32>",
            "expected a static size: positions are unknown until it is known, found `?`",
            9..10,
        ),
        ("memref", "memref<2xfoo>", "expected an element type, found `foo`", 9..12),
        (
            "memref",
            "memref<2xf32, affine_map<(d0) -> (d0 * d0)>>",
            "expected a constant: the product of two dimensions is not affine, found `d0`",
            39..41,
        ),
        (
            "mosaic",
            "memref<8x128xf32, #tpu.tiled<(8,128)(3,1),[1,1]>>",
            "expected a tile that divides the tile before it, found `(`",
            36..37,
        ),
        ("onednn", "aBc16b 2x32", "expected the letter of a dimension that has a size, found `c16b`", 2..6),
        ("onednn", "aBc 2x32x7", "expected a small letter: no block follows, found `Bc`", 1..3),
        ("onednn", "ab", "expected the size of a dimension, found the end of the text", 2..2),
    ] {
        assert_eq!(error(notation, text), (message.to_owned(), place), "{text}");
    }
    let deep = |open: &str, inner: &str, close: &str| open.repeat(1000) + inner + &close.repeat(1000);
    for (notation, text) in [
        ("cute", format!("{}:{}", deep("(", "1", ")"), deep("(", "1", ")"))),
        ("memref", format!("memref<2xf32, affine_map<(d0) -> ({})>>", deep("(", "d0", ")"))),
        ("memref", format!("memref<2xf32, affine_map<(d0) -> ({}d0)>>", "- ".repeat(1000))),
        ("memref", format!("memref<2xf32, 1 : {}>", deep("<", "1", ">"))),
    ] {
        assert_eq!(error(notation, &text).0, "expected at most 200 nested brackets, found more", "{notation}");
    }
    let output = run(&["--from", "cute", "(4,8):(8)"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = "error: expected as many strides as sizes, found `)`\n  |\n1 | (4,8):(8)\n  |         ^\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), shown);
    for wrong in
        [&["f32[2]", "--to", "cuda"][..], &["f32[2]", "--emit", "cobol"], &["f32[2]", "--emit", "c", "--to", "cute"]]
    {
        assert_eq!(run(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

/// Shapes whose code is run: plain, tiled, padded, combined, uneven, empty, scalar, with tail padding.
const SHAPES: &[&str] = &[
    "f32[]",
    "f32[7]",
    "f32[0,3]",
    "f32[2,3]{0,1}",
    "f32[6,200]{1,0:T(8,128)}",
    "bf16[6,200]{1,0:T(8,128)(2,1)}",
    "bf16[16,256]{1,0:T(8,128)(2,1)}",
    "s8[33,5,3]{1,0,2:T(8,128)(4,1)}",
    "f32[2,3,4,5]{1,3,2,0}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "u8[3]{0:T(2)(3)}",
    "u8[10]{0:T(256)L(512)}",
    "u8[5]{0:T(2,1)}",
    "f32[1,1,9]{0,2,1:T(2,3)(3,2)}",
    "u8[5,7]{1,0:T(3,4)(2,3)L(64)}",
];

fn shapes() -> impl Iterator<Item = ArrayShape> {
    SHAPES.iter().map(|text| text.parse().unwrap())
}

/// The row-major number of the element at each position, and -1 for padding.
fn positions(array: &ArrayShape) -> Vec<i64> {
    let placement = array.placement().unwrap();
    let extents = placement.table().extents();
    let number = |position| match placement.slot(position) {
        Slot::Element(index) => {
            index.iter().zip(extents).fold(0, |number, (&i, &size)| number * size as i64 + i as i64)
        }
        _ => -1,
    };
    (0..placement.padded_positions()).map(number).collect()
}

fn code(array: &ArrayShape, language: Language, name: &str) -> String {
    Code::new(array, language, name).unwrap().code
}

/// Whether a program is installed.
fn has(program: &str) -> bool {
    let found =
        std::process::Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("left out: there is no `{program}`");
    }
    found
}

/// Runs a command in a folder; it must succeed, and write nothing to standard error.
fn succeeds(folder: &Path, program: &str, arguments: &[&str]) {
    let output = std::process::Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.is_empty(),
        "{program} {arguments:?}: {}{said}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// Values in braces, separated by commas.
fn braces<T: ToString>(list: &[T]) -> String {
    list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[test]
fn c_finds_every_element() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "#include <stddef.h>\n#include <stdio.h>\n".to_owned();
    let mut main = String::new();
    for (number, array) in shapes().enumerate() {
        let rank = array.num_dimensions();
        let sizes = array.placement().unwrap().table().extents().to_vec();
        let expected = positions(&array);
        text += &code(&array, Language::C, &format!("f{number}"));
        let _ = write!(
            main,
            "    {{
        static const long long expected[] = {{{}, -1}};
        static const size_t sizes[] = {{{}, 1}};
        for (size_t p = 0; p <= {}; p++) {{
            size_t index[{rank} + 1];
            long long number = -1;
            if (f{number}_inverse(p, index)) {{
                number = 0;
                for (size_t d = 0; d < {rank}; d++) number = number * (long long)sizes[d] + (long long)index[d];
                if (f{number}(index) != p) return printf(\"f{number}: position %zu\\n\", p), 1;
            }}
            if (number != expected[p]) return printf(\"f{number}: %lld at position %zu\\n\", number, p), 1;
        }}
    }}\n",
            braces(&expected),
            braces(&sizes),
            expected.len(),
        );
    }
    let _ = write!(text, "int main(void) {{\n{}    return 0;\n}}\n", main.replace("{, ", "{"));
    fs::write(folder.path().join("all.c"), &text).unwrap();
    for compiler in ["gcc", "clang"] {
        if has(compiler) {
            succeeds(
                folder.path(),
                compiler,
                &["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-Wno-type-limits", "all.c", "-o", compiler],
            );
            succeeds(folder.path(), &folder.path().join(compiler).to_string_lossy(), &[]);
        }
    }
}

#[test]
fn cpp_finds_every_element() {
    let folder = tempfile::tempdir().unwrap();
    let (mut text, mut main) = ("#include <cstdio>\n".to_owned(), String::new());
    for (number, array) in shapes().enumerate() {
        let sizes = array.placement().unwrap().table().extents().to_vec();
        let expected = positions(&array);
        text += &code(&array, Language::Cpp, &format!("f{number}"));
        let _ = write!(
            main,
            "    {{
        static const long long expected[] = {{{}, -1}};
        static const std::size_t sizes[] = {{{}, 1}};
        for (std::size_t p = 0; p <= {}; p++) {{
            long long number = -1;
            if (const auto index = f{number}_inverse(p)) {{
                number = 0;
                for (std::size_t d = 0; d < index->size(); d++) number = number * (long long)sizes[d] + (long long)(*index)[d];
                if (f{number}(*index) != p) return std::printf(\"f{number}: position %zu\\n\", p), 1;
            }}
            if (number != expected[p]) return std::printf(\"f{number}: %lld at position %zu\\n\", number, p), 1;
        }}
    }}\n",
            braces(&expected),
            braces(&sizes),
            expected.len(),
        );
    }
    let _ = write!(text, "int main() {{\n{}    return 0;\n}}\n", main.replace("{, ", "{"));
    fs::write(folder.path().join("all.cpp"), &text).unwrap();
    for compiler in ["g++", "clang++"] {
        if has(compiler) {
            succeeds(
                folder.path(),
                compiler,
                &["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-Wno-type-limits", "all.cpp", "-o", compiler],
            );
            succeeds(folder.path(), &folder.path().join(compiler).to_string_lossy(), &[]);
        }
    }
}

#[test]
fn rust_finds_every_element() {
    let folder = tempfile::tempdir().unwrap();
    let (mut text, mut main) = (String::new(), String::new());
    for (number, array) in shapes().enumerate() {
        let sizes = array.placement().unwrap().table().extents().to_vec();
        let expected = positions(&array);
        text += &code(&array, Language::Rust, &format!("f{number}"));
        let _ = writeln!(
            main,
            "    check(\"f{number}\", f{number}, f{number}_inverse, &[{}], &[{}]);",
            braces(&expected),
            braces(&sizes),
        );
    }
    // All shapes share one function, so the compiler compiles it only once for each number of dimensions.
    text += "fn check<const N: usize>(
    name: &str, position: fn([usize; N]) -> usize, inverse: fn(usize) -> Option<[usize; N]>, expected: &[i64], sizes: &[i64],
) {
    for (p, &expected) in expected.iter().chain(&[-1]).enumerate() {
        let mut number = -1;
        if let Some(index) = inverse(p) {
            assert_eq!(position(index), p);
            number = index.iter().zip(sizes).fold(0, |number, (&i, &size)| number * size + i as i64);
        }
        assert_eq!(number, expected, \"{name} at {p}\");
    }
}\n";
    let _ = write!(text, "fn main() {{\n{main}}}\n");
    fs::write(folder.path().join("all.rs"), &text).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    if has(&rustc) {
        succeeds(
            folder.path(),
            &rustc,
            &["--edition=2021", "-D", "warnings", "-A", "unused_comparisons", "all.rs", "-o", "all"],
        );
        succeeds(folder.path(), &folder.path().join("all").to_string_lossy(), &[]);
    }
}

/// The Python to run, if it has this module.
fn python_with(module: &str) -> Option<String> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let found = std::process::Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    println!("left out: `{python}` has no module {module}; PYTHON names another");
    None
}

#[test]
fn python_tiles_and_untiles() {
    for (language, module, array) in [
        (Language::Numpy, "numpy", "__import__('numpy').arange"),
        (Language::Jax, "jax", "__import__('jax.numpy').numpy.arange"),
        (Language::Torch, "torch", "__import__('torch').arange"),
    ] {
        let Some(python) = python_with(module) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let mut main = String::new();
        for (number, shape) in shapes().enumerate() {
            fs::write(folder.path().join(format!("f{number}.py")), code(&shape, language, "linear_index")).unwrap();
            let expected = positions(&shape).iter().map(|number| number + 1).collect::<Vec<_>>();
            let _ = write!(
                main,
                "import f{number} as f
count = 1
for size in f.SHAPE: count *= size
x = {array}(1, count + 1).reshape(f.SHAPE)
y = f.tile(x)
assert y.tolist() == [{}], f.__doc__
assert f.untile(y).tolist() == x.tolist(), f.__doc__
places = y.tolist()
assert all(places[f.linear_index(*i)] == n for n, i in enumerate(itertools.product(*map(range, f.SHAPE)), 1)), f.__doc__\n",
                braces(&expected),
            );
        }
        let main = format!("import itertools\n{main}");
        fs::write(folder.path().join("main.py"), main).unwrap();
        succeeds(folder.path(), &python, &["main.py"]);
    }
}

#[test]
fn the_program_writes_the_code() {
    let output = run(&["f32[6,200]{1,0:T(8,128)}", "--emit", "c", "--name", "position"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("size_t position(const size_t index[]) {"), "{text}");
    assert!(text.contains("int position_inverse(size_t position, size_t index[]) {"), "{text}");
    let written = lines(&["f32[6,200]{1,0:T(8,128)}", "--emit", "numpy"]);
    assert_eq!((&written[0]["language"], &written[0]["name"]), (&json!("numpy"), &json!("linear_index")));
    assert!(written[0]["code"].as_str().unwrap().contains("def tile(x):"));
    for arguments in [&["f32[?]", "--emit", "c"][..], &["f32[2]", "--emit", "c", "--name", "1x"]] {
        assert_eq!(run(arguments).status.code(), Some(1), "{arguments:?}");
    }
}
