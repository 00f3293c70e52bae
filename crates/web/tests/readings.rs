//! What inputs are taken for, and that every input has an answer.

use xla_shape_web::{File, Given, PASTED, answer};

/// The names of all readings.
fn all(given: &Given<'_>) -> Vec<&'static str> {
    answer(given).readings.into_iter().map(|reading| reading.name).collect()
}

fn names(text: &str) -> Vec<&'static str> {
    all(&Given::text(text))
}

#[test]
fn texts_are_taken_for_what_they_are() {
    for (text, expected) in [
        ("", &[][..]),
        (" \n\t", &[]),
        ("f32[2,3]", &["shape"]),
        ("  bf16[4,128]{1,0:T(8,128)(2,1)}\n", &["shape"]),
        ("(f32[2], s32[])", &["shape"]),
        // It was meant as a shape, so the answer is the error with its position.
        ("f32[2,3", &["shape"]),
        ("f32[2,3]{5}", &["shape"]),
        ("f33[2,3]", &["shape"]),
        ("f32", &["shape"]),
        ("{1,0:T(8,128)}", &["shape"]),
        ("T(8,128)(2,1)", &["shape"]),
        ("f32[6] f32[2,3]", &["shapes", "block", "log"]),
        ("f32[6] -> f32[2,3]", &["shapes", "block", "log"]),
        ("{devices=[2,1]<=[2]}", &["sharding"]),
        ("{replicated}", &["sharding"]),
        ("f32[8,8] {devices=[2,1]<=[2]}", &["sharding", "log"]),
        ("{devices=[2,0]<=[2]}", &["sharding"]),
        ("((2,4),128):((1,256),2)", &["cute"]),
        ("memref<8x128xf32>", &["memref", "log"]),
        // Every notation, as the docs write it.
        ("std::layout_right_padded<128>::mapping<std::extents<std::size_t, 100, 100>>()", &["mdspan"]),
        ("np.ndarray(shape=(5,), dtype=np.float64, strides=(48,))", &["numpy"]),
        ("torch.empty((8, 3, 4, 4), dtype=torch.float16, memory_format=torch.channels_last)", &["torch"]),
        ("- lane=1 -> (0, 1)\n- warp=1 -> (1, 0)\nwhere out dims are: [dim0 (size 2), dim1 (size 2)]", &["linear"]),
        ("f32::blocked:aBc16b::f0 2x32x7", &["onednn"]),
        // These were meant as layouts, so the answer is the error with its position.
        ("Sw<3,4,3> o smem_ptr[16b](unset) o ((8,16),64):((64,512),1)", &["cute"]),
        ("((2,4),128):((1,256))", &["cute"]),
        ("torch.empty((8, 3), memory_format=torch.no_such)", &["torch"]),
        ("tensor<8x128xf32>", &["log"]),
        ("RESOURCE_EXHAUSTED: Used 40.00G of 32.00G hbm.", &["log"]),
        ("allocating f32[8,1]{1,0:T(8,128)} failed\nat f.py:3", &["log"]),
        ("nothing that is known", &[]),
        ("hello[2]", &[]),
        ("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }", &["hlo", "log"]),
        ("HloModule", &["hlo", "log"]),
        ("%f = f32[8] add(%a, %b)", &["log", "hlo"]),
        ("module @jit_f {\n}", &["mlir"]),
        ("   0   :  { %s1_s0 = smov.u32 0  ;;  %v2_v0 = vlaneseq.b32 }", &["kernels"]),
    ] {
        assert_eq!(names(text), expected, "{text:?}");
    }
}

fn file<'a>(name: &str, bytes: &'a [u8]) -> File<'a> {
    File { name: name.to_owned(), bytes }
}

#[test]
fn files_are_taken_for_what_they_are() {
    let module = b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }";
    let mosaic = b"module @k {\n  %0 = arith.constant {out_layout = [#xir_tc.vpad<\"none\">]} 0 : i32\n}";
    let given = |files: &[(&str, &'static [u8])], against: &[(&str, &'static [u8])]| {
        let list = |files: &[(&str, &'static [u8])]| files.iter().map(|(name, bytes)| file(name, bytes)).collect();
        let given = Given { files: list(files), against: list(against), ..Given::default() };
        all(&given)
    };
    assert_eq!(given(&[("m.txt", module)], &[]), ["hlo", "log"]);
    assert_eq!(given(&[("a", module), ("b", module)], &[]), ["hlo-diff"]);
    assert_eq!(given(&[("a.after.hlo", module), ("a.buffer-assignment.txt", b"")], &[]), ["hlo"]);
    assert_eq!(
        given(&[("d/after.hlo", module), ("d/mosaic.k.post-relayout-insertion.txt", mosaic)], &[]),
        ["hlo", "kernels"]
    );
    assert_eq!(given(&[(PASTED, mosaic)], &[])[0], "kernels");
    assert_eq!(given(&[("a.txt", b"x"), ("b.txt", b"y")], &[]), [""; 0]);
    assert_eq!(given(&[("a", module)], &[("b", module)]), ["hlo-diff"]);
    assert_eq!(given(&[(PASTED, b"f32[8]")], &[(PASTED, b"f32[2,4]")]), ["shapes", "block"]);
    assert_eq!(given(&[(PASTED, b"f32[8]")], &[(PASTED, module)]), [""; 0]);
    assert_eq!(given(&[(PASTED, mosaic)], &[(PASTED, mosaic)]), ["kernel-diff"]);
    assert_eq!(given(&[("x.bin", b"\xff\xfe\0")], &[]), [""; 0]);
    assert_eq!(given(&[("x.npy", b"\x93NUMPY\x01\0")], &[]), ["hlo"], "its reader says what it is");
    assert_eq!(given(&[("x.mlirbc", b"ML\xefR\x0d\0")], &[]), ["mlir"]);
    let profile = b"\x0a\x0f\x12\x0d/device:TPU:0";
    assert_eq!(given(&[("p.pb", profile)], &[]), ["profile"]);
    assert_eq!(given(&[("run/vm.trace.json.gz", b"\x1f\x8b")], &[]), ["profile"], "its reader says what it is");
    assert_eq!(given(&[("run/a.xplane.pb", profile), ("run/notes.md", b"notes")], &[]), ["profile"]);
    assert_eq!(given(&[("a", profile)], &[("b", profile)]), ["profile-diff"]);
    assert_eq!(given(&[("a", profile)], &[("b", module)]), ["hlo-diff"]);
}

/// Every input has an answer or an error, without a panic, whatever is chosen.
#[test]
fn every_input_has_an_answer() {
    let inputs: &[&[u8]] = &[
        b"",
        b"\0",
        b"\xff",
        b"PK\x03\x04",
        b"\x93NUMPY\x01\0",
        b"ML\xefR",
        b"{",
        b"((((((((",
        b"f32[99999999999999999999]",
        b"f32[4611686018427387904,4]{1,0:T(8,128)}",
        b"f32[?,<=3] f32[0]",
        b"u8[1000000,1000000] {devices=[1000000,1]<=[1000000]}",
        b"{devices=[9223372036854775807]<=[9223372036854775807]}",
        b"HloModule m\nENTRY e {",
        b"HloModule m\nENTRY e { ROOT p = f32[2]{0} add(p, p) }",
        b"Schedule analysis",
        b"   0   :  {",
        b"xir_tc.vpad<",
        b"(4611686018427387904,4):(4611686018427387904,1)",
        b"\n1. Size: 99999999999999999999999G\n",
    ];
    let mut answers = 0;
    for first in inputs {
        for second in std::iter::once(None).chain(inputs.iter().map(Some)) {
            let against = second.map(|bytes| file("b", bytes)).into_iter().collect::<Vec<_>>();
            let given = Given { files: vec![file(PASTED, first)], against, ..Given::default() };
            let default = answer(&given);
            assert_eq!(default.view.is_none(), default.error.is_some());
            for reading in &default.readings {
                let given = Given { reading: Some(reading.name.to_owned()), ..given.clone() };
                for view in answer(&given).views {
                    let view = answer(&Given { view: Some(view.name.to_owned()), ..given.clone() }).view.unwrap();
                    assert!(!view.text.is_empty() || !view.said.is_empty(), "{:?}", view.command);
                    answers += 1;
                }
            }
        }
    }
    assert!(answers > inputs.len());
}

/// For a text that was meant as a shape, the answer is the program's error, which says what was probably meant. For a text of no known kind, the
/// error lists what can be read.
#[test]
fn texts_that_cannot_be_read_say_what_can() {
    let view = answer(&Given::text("f33[2,3]")).view.unwrap();
    assert_eq!(
        view.said,
        "error: expected an element type, found `f33`; did you mean `f32`?\n  |\n1 | f33[2,3]\n  | ^^^"
    );
    for text in ["hello world", "hello[2]"] {
        let answer = answer(&Given::text(text));
        assert!(answer.error.unwrap().starts_with("nothing known here"), "{text}");
        assert_eq!(answer.view, None);
    }
}

/// If a text of Mosaic has no layouts, the relayouts are in another text, and the answer names that one.
#[test]
fn a_text_of_mosaic_alone_says_what_else_is_needed() {
    let name = "mosaic.first.post-apply-vector-layout.txt";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels/first").join(name);
    let text = std::fs::read(path).unwrap();
    for name in [name, PASTED, "copied.mlir"] {
        let given = Given { files: vec![file(name, &text)], ..Given::default() };
        let answer = answer(&given);
        assert_eq!(answer.reading.unwrap().name, "kernels", "{name}");
        let said = answer.view.unwrap().said;
        assert!(said.contains("such as …-final_bundles.txt or …-post-relayout-insertion.txt"), "{name}: {said}");
        assert!(said.contains("…-post-apply-vector-layout.txt is read only together with"), "{said}");
    }
}

#[test]
fn wrong_choices_count_as_none() {
    let given =
        Given { reading: Some("hlo".to_owned()), view: Some("no such view".to_owned()), ..Given::text("f32[8]") };
    assert_eq!(answer(&given), answer(&Given::text("f32[8]")));
}

/// For a dump of a GPU program, the answer has its memory and its seconds, as the program prints them.
#[test]
fn the_dump_of_a_gpu_is_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/gpu/convolution");
    let names =
        ["after.hlo", "buffer-assignment.txt", "gpu_target_config.pbtxt", "thunk_metadata.txt", "thunk_sequence.txt"];
    let texts = names.map(|name| std::fs::read(folder.join(name)).unwrap());
    let files = names.iter().zip(&texts).map(|(name, text)| file(name, text)).collect::<Vec<_>>();
    let given = Given { files, ..Given::default() };
    assert_eq!(answer(&given).reading.unwrap().name, "hlo");
    let view = |name: &str| {
        let view = answer(&Given { view: Some(name.to_owned()), ..given.clone() }).view.unwrap();
        view.text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let memory = view("hlo");
    assert!(memory.contains("exact: the compiler's own assignment") && memory.contains("on h100"), "{memory}");
    let cost = view("cost");
    assert!(cost.contains("cuDNN (%cudnn-conv.1) writes NHWC") && cost.contains(" µs in one run"), "{cost}");
}
