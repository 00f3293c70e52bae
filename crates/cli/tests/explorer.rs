//! The explorer and the program give the same answers: each view of the explorer names a command, which the program runs here.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xla_shape_web::{File, Given, PASTED, View, answer};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Some rows of a file of the corpus, evenly spaced.
fn rows(name: &str, count: usize) -> Vec<Value> {
    let text = fs::read_to_string(project("tests/corpus").join(name)).unwrap();
    let lines = text.lines().collect::<Vec<_>>();
    lines.iter().step_by(lines.len() / count).take(count).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn word<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap()
}

/// What the program writes to standard output and to standard error.
fn program(view: &View, folder: &Path, input: &[u8], options: &[&str]) -> [String; 2] {
    let mut child = Command::new(env!("CARGO_BIN_EXE_xla-shape"))
        .args(&view.command)
        .args(options)
        .current_dir(folder)
        .env("COLUMNS", "80")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input closes it.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
}

/// Compares every view, for every way to read the input, with the program. Returns the number of views.
#[track_caller]
fn compare(given: &Given<'_>, folder: &Path) -> usize {
    let input = given.files.first().map_or(&b""[..], |file| file.bytes);
    let first = answer(given);
    let mut seen = BTreeSet::new();
    for reading in &first.readings {
        let needs_compiler = reading.name == "mlir";
        let of_reading = answer(&Given { reading: Some(reading.name.to_owned()), ..given.clone() });
        for choice in &of_reading.views {
            let (named, name) = (Some(reading.name.to_owned()), Some(choice.name.to_owned()));
            let view = answer(&Given { reading: named, view: name, ..given.clone() }).view.unwrap();
            if !seen.insert(view.command.clone()) {
                continue;
            }
            if needs_compiler {
                assert!(view.text.is_empty() && view.said.contains("compile"), "{}", view.said);
                continue;
            }
            let [text, said] = program(&view, folder, input, &[]);
            assert_eq!(view.text, text, "{:?}", view.command);
            assert_eq!(view.said.trim_end(), said.trim_end(), "{:?}", view.command);
            if !text.is_empty() {
                let [json, _] = program(&view, folder, input, &["--format", "json"]);
                assert_eq!(view.json, json, "{:?}", view.command);
            }
            if let Some(page) = &view.page {
                let [of_program, _] = program(&view, folder, input, &["--html", "-"]);
                // The program reads the file once more to show the events of a run. The explorer cannot, but the rest is equal.
                if reading.name == "profile" && choice.name == "cost" {
                    let tables = |page: &str| {
                        page.split_once("id=\"measured-lines\"").unwrap().1.split_once("</main>").unwrap().0.to_owned()
                    };
                    assert_eq!((tables(page), of_program.contains("id=\"run\"")), (tables(&of_program), true));
                } else {
                    assert_eq!(*page, of_program, "{:?}", view.command);
                }
            }
            if let Some(svg) = &view.svg {
                assert_eq!(*svg, program(&view, folder, input, &["--svg", "-"])[0], "{:?}", view.command);
            }
        }
    }
    seen.len()
}

/// Texts that people paste, valid and not.
fn texts() -> Vec<String> {
    let mut texts = Vec::new();
    texts.extend(rows("shapes.jsonl", 15).iter().map(|row| word(row, "input").to_owned()));
    for (number, row) in rows("bitcasts.jsonl", 6).iter().enumerate() {
        let between = [" ", "\n", " -> "][number % 3];
        texts.push(format!("{}{between}{}", word(row, "operand"), word(row, "result")));
    }
    for row in rows("partitions.jsonl", 5) {
        let sizes = row["sizes"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join(",");
        texts.push(word(&row, "hlo").to_owned());
        texts.push(format!("f32[{sizes}] {}", word(&row, "mesh")));
        texts.push(format!("bf16[{sizes}], sharding={}", word(&row, "hlo")));
    }
    for row in rows("sizes.jsonl", 3) {
        let shape = row.as_object().unwrap().values().find_map(Value::as_str).unwrap();
        texts.push(format!("RESOURCE_EXHAUSTED: out of memory while allocating {shape} for %fusion.{}", texts.len()));
        texts.push(format!(
            "Used 40.00G of 32.00G hbm. Exceeded hbm capacity by 8.00G.\r\n  1. Size: 4.00G\n     Shape: {shape}"
        ));
    }
    texts.extend(
        [
            "(4,2):(2,1)",
            "((2,4),128):((1,256),2)",
            "memref<4x8xf32, strided<[8, 1]>>",
            "memref<8x128xbf16, #tpu.tiled<(8,128)(2,1),[1,1]>>",
            "tensor<2x3xf32>",
            "{1,0:T(8,128)}",
            "T(8,128)(2,1)",
            "shape=(4, 8) strides=(32, 4) itemsize=4",
            "aBcd16b",
            "(f32[2,3]{1,0}, (s32[], token[]), bf16[4,128]{1,0:T(8,128)(2,1)S(1)})",
            "f32[2,3",
            "f32[3]{0:T(2,2",
            "{devices=[2,0]<=[8]}",
            "{replicated}",
            "f32[16,256] 32,{3,0},(8,128)",
            "nothing at all",
            "\u{202e}f32[2]\u{1b}[2J\0",
            "<script>alert(1)</script> f32[8,1]{1,0:T(8,128)}",
            "module @jit_f {\n  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32>\n}",
            "HloModule m\n\nENTRY e {\n  ROOT p = f32[8] parameter(0)\n}\n",
            "HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n  ROOT q = f32[9] add(p, p)\n}\n",
            "HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n  ROOT q = f32[8] nonsense(\n}\n",
            "HloModule",
            "HloModule m",
            "%fusion.3 = bf16[20,300]{1,0:T(8,128)(2,1)} fusion(%p), kind=kLoop, calls=%f",
        ]
        .map(str::to_owned),
    );
    texts
}

#[test]
fn texts_have_the_answers_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let texts = texts();
    assert!(texts.len() >= 65, "{}", texts.len());
    let compared = std::thread::scope(|scope| {
        let folder = folder.path();
        let halves = texts.chunks(texts.len().div_ceil(2));
        let running = halves.map(|texts| {
            scope.spawn(move || texts.iter().map(|text| compare(&Given::text(text), folder)).sum::<usize>())
        });
        running.collect::<Vec<_>>().into_iter().map(|half| half.join().unwrap()).sum::<usize>()
    });
    assert!(compared > texts.len(), "most texts have several views: {compared} of {}", texts.len());
}

/// Files of the project, under the names that they have in a directory.
fn files(folder: &str, names: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    names.iter().map(|(path, name)| (format!("{folder}{name}"), fs::read(project(path)).unwrap())).collect()
}

fn folder(path: &str, name: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = fs::read_dir(project(path))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (format!("{name}/{}", entry.file_name().into_string().unwrap()), fs::read(entry.path()).unwrap()))
        .collect::<Vec<_>>();
    files.sort();
    files
}

fn given<'a>(files: &'a [(String, Vec<u8>)], against: &'a [(String, Vec<u8>)]) -> Given<'a> {
    let list =
        |files: &'a [(String, Vec<u8>)]| files.iter().map(|(name, bytes)| File { name: name.clone(), bytes }).collect();
    Given { files: list(files), against: list(against), ..Given::default() }
}

#[test]
fn files_have_the_answers_of_the_program() {
    let step = ("examples/hlo/v5e__gather_step.hlo", "examples/hlo/v5e__gather_step_transposed.hlo");
    let scan = "examples/hlo/v5e__rnn_scan.hlo";
    let message =
        xla_shape::hlo::Module::parse(&fs::read_to_string(project(scan)).unwrap()).unwrap().to_proto().unwrap();
    let cases = [
        (files("", &[(scan, "module.hlo")]), vec![], "hlo"),
        (files("", &[("examples/hlo/v5e__host_offload.hlo", PASTED)]), vec![], "hlo"),
        (vec![("module.hlo.pb".to_owned(), message)], vec![], "hlo"),
        (files("", &[("tests/corpus/profiles/train.xplane.pb", "train.xplane.pb")]), vec![], "profile"),
        (
            files("run/", &[("tests/corpus/profiles/train.xplane.pb", "a.xplane.pb"), ("README.md", "notes.md")]),
            vec![],
            "profile",
        ),
        (vec![("array.npy".to_owned(), b"\x93NUMPY\x01\0\xff".to_vec())], vec![], "hlo"),
        (files("", &[(step.0, "a.hlo"), (step.1, "b.hlo")]), vec![], "hlo-diff"),
        (files("", &[(step.0, "a.hlo")]), files("", &[(step.1, "b.hlo")]), "hlo-diff"),
        (files("dump/", &[(step.0, "a.after.hlo"), (scan, "b.after.hlo"), ("README.md", "notes.md")]), vec![], "hlo"),
        (files("", &[(step.0, "a.after.hlo"), (scan, "b.after.hlo"), ("README.md", "notes.md")]), vec![], "hlo"),
        (folder("examples/kernels/first", "first"), vec![], "kernels"),
        (folder("examples/kernels/softmax", "softmax"), vec![], "kernels"),
        (folder("examples/kernels/first", "first"), folder("examples/kernels/aligned", "aligned"), "kernel-diff"),
        (folder("examples/kernels/softmax_xla", "xla"), folder("examples/kernels/softmax", "softmax"), "kernel-diff"),
        (vec![("a".to_owned(), b"f32[8]".to_vec())], vec![("b".to_owned(), b"f32[2,4]\n".to_vec())], "shapes"),
    ];
    for (files, against, reading) in &cases {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files.iter().chain(against) {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if name != PASTED {
                fs::write(path, bytes).unwrap();
            }
        }
        let given = given(files, against);
        assert_eq!(answer(&given).reading.unwrap().name, *reading);
        assert!(compare(&given, folder.path()) > 0);
    }
}
