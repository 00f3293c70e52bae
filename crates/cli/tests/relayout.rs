//! `xla-shape relayout`, run as a program.

use crate::program::Command;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::program().current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    fn relayout(&self, arguments: &[&str]) {
        let output = self.run(&[&["relayout"], arguments].concat());
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }

    /// Runs a command that must fail without writing a file. Returns the error message.
    fn error(&self, arguments: &[&str]) -> String {
        let before = fs::read_dir(self.0.path()).unwrap().count();
        let output = self.run(&[&["relayout"], arguments].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?}");
        assert_eq!(fs::read_dir(self.0.path()).unwrap().count(), before, "{arguments:?} wrote a file");
        String::from_utf8(output.stderr).unwrap()
    }
}

fn numbers(count: u32) -> Vec<u8> {
    (1..=count).flat_map(u32::to_le_bytes).collect()
}

#[test]
fn elements_go_where_the_map_says() {
    let folder = Folder::new();
    for (sizes, count, layout) in [
        ("[3,5]", 15, "{1,0:T(2,2)}"),
        ("[20,300]", 6000, "{0,1:T(8,128)}"),
        ("[2,3,4]", 24, "{0,2,1:T(2,4)(2,1)}"),
        ("[2,7,8,11,10]", 12_320, "{4,3,2,1,0:T(*,*,2,*,3)}"),
        ("[6]", 6, "{0:T(4)L(32)}"),
        ("[]", 1, "{:T(8)}"),
    ] {
        let (plain, tiled) = (format!("u32{sizes}"), format!("u32{sizes}{layout}"));
        folder.write("in.bin", &numbers(count));
        folder.relayout(&["in.bin", "--from", &plain, "--to", layout, "-o", "out.bin"]);
        let drawn: Value = serde_json::from_slice(&folder.run(&["draw", &tiled, "--format", "json"]).stdout).unwrap();
        let map = drawn["physical_to_logical"].as_array().unwrap();
        let number = |element: &Value| element.as_u64().map_or(0, |element| u32::try_from(element).unwrap() + 1);
        let expected = map.iter().flat_map(|element| number(element).to_le_bytes());
        assert_eq!(folder.read("out.bin"), expected.collect::<Vec<_>>(), "{tiled}");
        folder.relayout(&["out.bin", "--from", &tiled, "--to", &plain, "-o", "back.bin"]);
        assert_eq!(folder.read("back.bin"), numbers(count), "{tiled}");
    }
}

#[test]
fn npy_gives_its_own_shape() {
    let folder = Folder::new();
    folder.write("in.bin", &numbers(6));
    folder.relayout(&["in.bin", "--from", "u32[2,3]", "-o", "a.npy"]);
    let file = folder.read("a.npy");
    assert!(file.starts_with(b"\x93NUMPY\x01\0v\0{'descr': '<u4', 'fortran_order': False, 'shape': (2,3,), }"));
    assert_eq!(file[128..], numbers(6));
    folder.relayout(&["a.npy", "--permute", "1,0", "-o", "b.npy"]);
    let transposed = [1_u32, 4, 2, 5, 3, 6].map(u32::to_le_bytes).concat();
    assert_eq!(folder.read("b.npy")[128..], transposed);
    folder.relayout(&["a.npy", "--to", "{0,1}", "-o", "c.npy"]);
    let column_major = folder.read("c.npy");
    assert!(String::from_utf8_lossy(&column_major).contains("'fortran_order': True, 'shape': (2,3,)"));
    assert_eq!(column_major[128..], transposed);
    folder.relayout(&["c.npy", "--to", "u32[2,3]{1,0}", "-o", "d.bin"]);
    assert_eq!(folder.read("d.bin"), numbers(6));
}

#[test]
fn npy_of_a_type_that_numpy_does_not_know_takes_it_from_the_given_shape() {
    let folder = Folder::new();
    // The form in which `numpy.save` writes the types of `ml_dtypes`.
    for (descr, shape, count) in [("<V2", "bf16[2,3]", 12), ("<V1", "f8e4m3fn[2,3]", 6), ("<f1", "f8e5m2[2,3]", 6)] {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 3), }}\n");
        let elements = (1..=count).collect::<Vec<u8>>();
        let file = [b"\x93NUMPY\x01\0", &[header.len() as u8, 0][..], header.as_bytes(), &elements].concat();
        folder.write("in.npy", &file);
        folder.relayout(&["in.npy", "--from", shape, "--to", "{1,0}", "-o", "out.bin"]);
        assert_eq!(folder.read("out.bin"), elements);
        let message = folder.error(&["in.npy", "--to", "{1,0}", "-o", "x.bin"]);
        assert!(message.ends_with("give the shape with --from\n"), "{message}");
        let message = folder.error(&["in.npy", "--from", &shape.replace(",3]", ",4]"), "--to", "{1,0}", "-o", "x.bin"]);
        assert!(message.starts_with("error: `in.npy`"), "{message}");
        folder.error(&["in.npy", "--from", "f32[2,3]", "--to", "{1,0}", "-o", "x.bin"]);
    }
}

#[test]
fn safetensors_hold_one_tensor_by_its_name() {
    let folder = Folder::new();
    let (weights, scales) = ([1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0], [7, 8, 9]);
    let view = |dtype, shape: &[usize], data| TensorView::new(dtype, shape.to_vec(), data).unwrap();
    let tensors = [("w", view(Dtype::BF16, &[2, 3], &weights[..])), ("s", view(Dtype::F8_E4M3, &[3], &scales[..]))];
    folder.write("in.safetensors", &safetensors::serialize(tensors, None).unwrap());
    folder.relayout(&["in.safetensors", "--tensor", "w", "--to", "{1,0:T(2,4)(2,1)}", "-o", "w.bin"]);
    assert_eq!(folder.read("w.bin"), [1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0, 0, 0, 0, 0]);
    folder.relayout(&["w.bin", "--from", "bf16[2,3]{1,0:T(2,4)(2,1)}", "--tensor", "v", "-o", "v.safetensors"]);
    let file = folder.read("v.safetensors");
    let tensor = SafeTensors::deserialize(&file).unwrap();
    let tensor = tensor.tensor("v").unwrap();
    assert_eq!((tensor.dtype(), tensor.shape(), tensor.data()), (Dtype::BF16, &[2, 3][..], &weights[..]));
    folder.relayout(&["in.safetensors", "--tensor", "s", "--from", "f8e4m3fn[3]", "-o", "s.safetensors"]);
    folder.relayout(&["s.safetensors", "--to", "f8e4m3fn[3]{0:T(4)}", "-o", "s.bin"]);
    assert_eq!(folder.read("s.bin"), [7, 8, 9, 0]);

    let message = folder.error(&["in.safetensors", "--to", "{0}", "-o", "x.bin"]);
    assert!(message.ends_with("the file has 2 tensors; say which one with --tensor\n"), "{message}");
    let message = folder.error(&["in.safetensors", "--tensor", "x", "--to", "{0}", "-o", "x.bin"]);
    assert!(message.contains("the file has no tensor `x`; it has "), "{message}");
}

#[test]
fn the_header_of_safetensors_covers_the_whole_file() {
    let folder = Folder::new();
    let tensors = [("w", TensorView::new(Dtype::U8, vec![4], &[1, 2, 3, 4]).unwrap())];
    let file = safetensors::serialize(tensors, None).unwrap();
    folder.write("long.safetensors", &[&file[..], &[0]].concat());
    folder.write("short.safetensors", &file[..file.len() - 1]);
    for (name, rest) in [("long", 5), ("short", 3)] {
        let message = folder.error(&[&format!("{name}.safetensors"), "--to", "{0}", "-o", "out.bin"]);
        assert!(message.contains(&format!("its tensors take 4 bytes, but {rest} follow the header")), "{message}");
    }
    for header in ["{\"w\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", "{\"w\":0}", "[]", "{"] {
        let size = (header.len() as u64).to_le_bytes();
        folder.write("bad.safetensors", &[&size[..], header.as_bytes(), &[1, 2, 3]].concat());
        let message = folder.error(&["bad.safetensors", "--to", "{0}", "-o", "out.bin"]);
        assert!(message.contains("`bad.safetensors`: the header is wrong: "), "{message}");
    }
    folder.write("empty.safetensors", b"");
    assert!(folder.error(&["empty.safetensors", "--to", "{0}", "-o", "out.bin"]).contains("does not begin like"));
}

#[test]
fn slabs_come_together_to_the_whole() {
    let folder = Folder::new();
    folder.write("in.bin", &numbers(30 * 300));
    for (to, more) in [("{1,0:T(8,128)}", &[][..]), ("{0,1:T(8,128)}", &[]), ("{1,0:T(4,128)}", &["--permute", "1,0"])]
    {
        let relayout = |slab: &str, out: &str| {
            let arguments = ["in.bin", "--from", "u32[30,300]", "--to", to, "--slab-bytes", slab, "-o", out];
            folder.relayout(&[&arguments[..], more].concat());
            folder.read(out)
        };
        let whole = relayout("1000000", "whole.bin");
        for slab in ["1", "5000", "20000"] {
            assert_eq!(relayout(slab, "parts.bin"), whole, "{to} in slabs of {slab} bytes");
        }
    }
}

/// If the result is written in order, each slab needs a few bytes of every row. Bytes of neighbouring rows are read together; bytes of distant rows
/// are read separately. Otherwise, a slab may read parts of some rows and write parts of some columns.
#[test]
fn short_pieces_are_read_and_written_too() {
    let folder = Folder::new();
    for (rows, columns) in [(5000, 3), (30, 1100), (90, 150)] {
        folder.write("in.bin", &numbers(rows * columns));
        let from = format!("u32[{rows},{columns}]");
        let expected = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column + 1));
        let expected = expected.flat_map(u32::to_le_bytes).collect::<Vec<_>>();
        for slab in ["1", "3000"] {
            let arguments = ["in.bin", "--from", &from, "--to", "{0,1}", "--slab-bytes", slab, "-o"];
            folder.relayout(&[&arguments[..], &["out.bin"]].concat());
            assert!(folder.read("out.bin") == expected, "{from}, {slab}");
            let command = &mut Command::program();
            let output =
                command.current_dir(folder.path(".")).arg("relayout").args(arguments).arg("-").output().unwrap();
            assert!(output.status.success() && output.stdout == expected, "{from}, {slab}, in order");
        }
    }
}

#[test]
fn standard_input_and_output_are_files_too() {
    let output = Command::program()
        .args(["relayout", "-", "--from", "u8[2,3]", "--to", "{0,1}", "-o", "-"])
        .write_stdin([1, 2, 3, 4, 5, 6])
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(0), vec![1, 4, 2, 5, 3, 6]));
}

#[test]
fn what_does_not_fit_is_an_error_and_writes_nothing() {
    let folder = Folder::new();
    folder.write("in.bin", &numbers(6));
    folder.write("bad.npy", b"\x93NUMPY\x01\0\xff\xff{");
    folder.write("bad.safetensors", b"\xff\xff\xff\xff\xff\xff\xff\xff{}");
    let raw = |from: &str, to: &str| folder.error(&["in.bin", "--from", from, "--to", to, "-o", "out.bin"]);
    assert!(raw("u32[7]", "{0}").contains("expected 28 bytes of u32[7]{0} in `in.bin`, found 24"));
    assert!(raw("u32[6", "{0}").contains("1 | u32[6\n  |      ^"));
    assert!(raw("u32[6]", "{0:T()}").contains("1 | {0:T()}"));
    assert!(
        raw("u32[6]", "{1,0}")
            .contains("expected as many dimension numbers in minor_to_major as the array has dimensions (1), found 2")
    );
    assert!(raw("u32[6]", "s32[6]").contains("expected a destination of u32"));
    assert!(raw("u32[?]", "{0}").contains("unbounded"));
    assert!(raw("u32[6]", "{0:T(9000000000,9000000000)}").contains("that fits in an i64"));
    // Systems that can reserve space for files report the full disk before any work.
    let huge = raw("u32[6]", "{0:T(900000000000000)}");
    assert!(huge.contains("not enough memory for") || huge.contains("cannot write `out.bin`"), "{huge}");
    assert!(folder.error(&["in.bin", "--to", "{0}", "-o", "out.bin"]).contains("give it with --from"));
    assert!(folder.error(&["in.bin", "--from", "u32[6]", "-o", "out.bin"]).contains("with --to"));
    assert!(folder.error(&["bad.npy", "--to", "{0}", "-o", "out.bin"]).contains("longer than the file"));
    assert!(folder.error(&["bad.safetensors", "--to", "{0}", "-o", "out.bin"]).contains("`bad.safetensors`: "));
    assert!(folder.error(&["none.npy", "--to", "{0}", "-o", "out.bin"]).contains("cannot read `none.npy`"));
    let bf16 = folder.error(&["in.bin", "--from", "bf16[12]", "-o", "out.npy"]);
    assert!(bf16.contains("NumPy has no element type bf16"), "{bf16}");
    let tiled = folder.error(&["in.bin", "--from", "u32[6]", "--to", "{0:T(8)}", "-o", "out.safetensors"]);
    assert!(tiled.contains("row-major"), "{tiled}");
    let permuted = folder.error(&["in.bin", "--from", "u32[2,3]", "--permute", "0,2", "-o", "out.npy"]);
    assert!(permuted.contains("expected a permutation of the source's 2 dimensions, found [0, 2]"), "{permuted}");
    let folder_missing = folder.error(&["in.bin", "--from", "u32[6]", "--to", "{0}", "-o", "no/out.bin"]);
    assert!(folder_missing.contains("cannot write `no/out.bin`"), "{folder_missing}");
    assert!(!Path::exists(&folder.path("out.bin")));
}
