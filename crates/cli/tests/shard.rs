//! `xla-shape shard`, run as a program: a checkpoint is divided among devices, and joined again.

use crate::program::Command;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;
use xla_shape::ArrayShape;
use xla_shape::relayout::{Options, Plan};
use xla_shape::shard::{Region, Sharding};

/// A tensor: its name, element type, sizes and bytes.
pub(crate) type Tensor = (&'static str, Dtype, Vec<usize>, Vec<u8>);

pub(crate) fn tensor(name: &'static str, dtype: Dtype, sizes: &[usize], seed: u8) -> Tensor {
    let bytes = sizes.iter().product::<usize>() * dtype.bitsize() / 8;
    let data = (0..bytes).map(|i| (i as u8).wrapping_mul(31).wrapping_add((i >> 8) as u8).wrapping_add(seed)).collect();
    (name, dtype, sizes.to_vec(), data)
}

pub(crate) fn save(path: &Path, tensors: &[Tensor]) {
    let views =
        tensors.iter().map(|(name, dtype, sizes, data)| (*name, TensorView::new(*dtype, sizes.clone(), data).unwrap()));
    fs::write(path, serialize(views, None).unwrap()).unwrap();
}

struct Work {
    folder: TempDir,
}

impl Work {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn plan(&self, plan: &Value) {
        fs::write(self.path("plan.json"), plan.to_string()).unwrap();
    }

    fn run(&self, inputs: &[&str], device: i64, more: &[&str]) -> Output {
        let mut program = Command::program();
        program.current_dir(self.folder.path()).arg("shard").args(inputs);
        program.args(["--plan", "plan.json", "--device", &device.to_string(), "-o", "out"]).args(more);
        program.output().unwrap()
    }

    fn good(&self, inputs: &[&str], device: i64, more: &[&str]) -> Value {
        let output = self.run(inputs, device, &[&["--format", "json"], more].concat());
        assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs a command that must fail without writing a file. Returns the error message.
    fn bad(&self, inputs: &[&str], device: i64) -> String {
        let output = self.run(inputs, device, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(!self.path("out").exists(), "nothing is written");
        let message = String::from_utf8(output.stderr).unwrap();
        message.strip_prefix("error: ").unwrap().trim_end().to_owned()
    }
}

/// Copies a row-major shard to its place in the whole tensor, and marks its bytes as covered.
fn place(shard: &[u8], region: &Region, sizes: &[u64], width: usize, whole: &mut [Option<u8>]) {
    let mut done = 0;
    while let Some(run) = region.row_major_run(sizes, done) {
        let length = (run.end - run.start) as usize * width;
        let (from, to) = (done as usize * width, run.start as usize * width);
        for (byte, room) in shard[from..from + length].iter().zip(&mut whole[to..to + length]) {
            assert!(room.replace(*byte).is_none_or(|before| before == *byte), "copies are equal");
        }
        done += run.end - run.start;
    }
}

#[test]
fn the_union_over_all_devices_is_the_whole() {
    let work = Work::new();
    let one = [
        tensor("embed", Dtype::BF16, &[64, 48], 1),
        tensor("layer.0.w", Dtype::F32, &[16, 24, 10], 2),
        tensor("scale", Dtype::F32, &[], 3),
    ];
    let two = [tensor("layer.1.w", Dtype::F32, &[16, 24, 10], 4), tensor("empty", Dtype::U8, &[0, 8], 5)];
    save(&work.path("a.safetensors"), &one);
    save(&work.path("b.safetensors"), &two);
    let weight_map = [&one[..], &two[..]].concat();
    let weight_map = weight_map.iter().map(|(name, ..)| {
        (name.to_string(), if one.iter().any(|(own, ..)| own == name) { "a.safetensors" } else { "b.safetensors" })
    });
    let index = json!({ "metadata": {}, "weight_map": weight_map.collect::<HashMap<_, _>>() });
    fs::write(work.path("m.safetensors.index.json"), index.to_string()).unwrap();
    let plan = json!({
        "embed": { "sharding": "{devices=[2,4]<=[4,2]T(1,0)}", "layout": "{1,0:T(8,128)(2,1)}" },
        "layer.*.w": { "sharding": "{mesh['x'=2,'y'=4], [{'x'}, {'y'}, {}]}" },
        "layer.1.w": { "sharding": "{devices=[1,8,1]<=[8]}", "generation": "v5e" },
        "scale": "{replicated}",
        "*": "{devices=[1,8]<=[8]}",
    });
    work.plan(&plan);
    for input in ["m.safetensors.index.json", "a.safetensors b.safetensors"] {
        for slab in ["1000000", "1", "700"] {
            let _ = fs::remove_dir_all(work.path("out"));
            let inputs = input.split(' ').collect::<Vec<_>>();
            let tensors = [&one[..], &two[..]].concat();
            let mut wholes = tensors.iter().map(|(.., data)| vec![None; data.len()]).collect::<Vec<_>>();
            for device in 0..8 {
                let answer = work.good(&inputs, device, &["--slab-bytes", slab]);
                for (tensor, whole) in tensors.iter().zip(&mut wholes) {
                    let (name, dtype, sizes, _) = tensor;
                    let entry =
                        answer["tensors"].as_array().unwrap().iter().find(|entry| entry["name"] == *name).unwrap();
                    let file = fs::read(work.path(entry["output"].as_str().unwrap())).unwrap();
                    let file = SafeTensors::deserialize(&file).unwrap();
                    let view = file.tensor(name).unwrap();
                    let shape: ArrayShape = entry["shape"].as_str().unwrap().parse().unwrap();
                    let row_major = ArrayShape::new(
                        shape.element_type(),
                        shape.dimensions(),
                        xla_shape::Layout::descending(sizes.len()),
                    );
                    let row_major = row_major.unwrap();
                    assert_eq!(view.dtype(), if shape == row_major { *dtype } else { Dtype::U8 });
                    assert_eq!(entry["bytes"], view.data().len());
                    let mut data = vec![0; row_major.byte_size().unwrap() as usize];
                    Plan::new(&shape, &row_major, &Options::new()).unwrap().run(view.data(), &mut data).unwrap();
                    let pattern = ["embed", "layer.1.w", "scale"].into_iter().find(|own| own == name);
                    let rule = &plan[pattern.unwrap_or(if *name == "empty" { "*" } else { "layer.*.w" })];
                    let text = rule.as_str().or_else(|| rule["sharding"].as_str()).unwrap();
                    let whole_shape: ArrayShape = entry["whole"].as_str().unwrap().parse().unwrap();
                    let region =
                        text.parse::<Sharding>().unwrap().partition(&whole_shape).unwrap().region(device).unwrap();
                    assert_eq!(entry["start"], json!(region.start));
                    let sizes = sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
                    place(&data, &region, &sizes, dtype.bitsize() / 8, whole);
                }
            }
            for ((name, .., data), whole) in tensors.iter().zip(wholes) {
                let whole = whole.into_iter().collect::<Option<Vec<_>>>().unwrap();
                assert!(whole == *data, "{name}");
            }
        }
    }
}

#[test]
fn finished_files_are_left_and_others_are_made() {
    let work = Work::new();
    save(&work.path("w.safetensors"), &[tensor("w", Dtype::F32, &[4, 4], 1)]);
    work.plan(&json!({ "w": "{devices=[2,1]<=[2]}" }));
    let written = |answer: Value| answer["files"][0].clone();
    let first = written(work.good(&["w.safetensors"], 1, &[]));
    assert_eq!((&first["output"], &first["resumed"]), (&json!("out/w.device-1.safetensors"), &json!(false)));
    let made = fs::read(work.path("out/w.device-1.safetensors")).unwrap();
    assert_eq!(first["bytes"], made.len());
    assert_eq!(written(work.good(&["w.safetensors"], 1, &[]))["resumed"], true);
    // The file is written again if it is too short, or was made by another plan or from another source.
    fs::write(work.path("out/w.device-1.safetensors"), &made[..made.len() - 1]).unwrap();
    assert_eq!(written(work.good(&["w.safetensors"], 1, &[]))["resumed"], false);
    assert_eq!(fs::read(work.path("out/w.device-1.safetensors")).unwrap(), made);
    work.plan(&json!({ "w": "{devices=[1,2]<=[2]}" }));
    assert_eq!(written(work.good(&["w.safetensors"], 1, &[]))["resumed"], false);
    save(&work.path("w.safetensors"), &[tensor("w", Dtype::F32, &[4, 4], 2)]);
    assert_eq!(written(work.good(&["w.safetensors"], 1, &[]))["resumed"], false);
    // A device without shards gets a file without tensors.
    work.plan(&json!({ "w": "{maximal device=0}" }));
    assert_eq!(written(work.good(&["w.safetensors"], 1, &[]))["tensors"], 0);
    assert_eq!(written(work.good(&["w.safetensors"], 0, &[]))["tensors"], 1);
}

/// Dates, lengths and names do not matter: a file is kept if it already has the right bytes, otherwise it is written again.
#[test]
#[cfg(unix)]
fn only_the_bytes_decide_whether_a_file_is_kept() {
    use std::os::unix::fs::MetadataExt;

    let work = Work::new();
    let date = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let dated = |path: &Path| fs::File::options().write(true).open(path).unwrap().set_modified(date).unwrap();
    let checkpoint = |name: &str, seed: u8| {
        save(&work.path(name), &[tensor("w", Dtype::F32, &[40, 256], seed), tensor("b", Dtype::BF16, &[300], seed)]);
        // Old dates, as `tar`, `cp -p` and container images set them.
        dated(&work.path(name));
    };
    work.plan(&json!({
        "w": { "sharding": "{devices=[2,1]<=[2]}", "layout": "{1,0:T(8,128)}" },
        "b": { "sharding": "{replicated}", "generation": "v5e" },
    }));
    let output = work.path("out/w.device-1.safetensors");
    let run = |more: &[&str]| work.good(&["w.safetensors"], 1, more)["files"][0]["resumed"] == true;
    checkpoint("w.safetensors", 1);
    assert!(!run(&[]));
    let first = fs::read(&output).unwrap();
    let number = fs::metadata(&output).unwrap().ino();
    assert!(run(&["--slab-bytes", "1000"]));
    assert_eq!(fs::metadata(&output).unwrap().ino(), number, "it is the same file");
    let kept = work.run(&["w.safetensors"], 1, &[]);
    assert_eq!(kept.stdout, b"kept out/w.device-1.safetensors, which has the same bytes\n");
    // The same weights with another date do not change the result.
    fs::copy(work.path("w.safetensors"), work.path("copy")).unwrap();
    fs::rename(work.path("copy"), work.path("w.safetensors")).unwrap();
    assert!(run(&[]));
    // Other weights change the result, even with the same length and date, or behind a hard link.
    checkpoint("w.safetensors", 2);
    assert!(!run(&[]));
    let second = fs::read(&output).unwrap();
    assert!(second.len() == first.len() && second != first);
    assert!(run(&[]));
    checkpoint("old.safetensors", 1);
    fs::remove_file(work.path("w.safetensors")).unwrap();
    fs::hard_link(work.path("old.safetensors"), work.path("w.safetensors")).unwrap();
    assert!(!run(&[]));
    assert_eq!(fs::read(&output).unwrap(), first);
    // One wrong byte is found: in the header, in elements, and in padding.
    let header = 8 + u64::from_le_bytes(first[..8].try_into().unwrap()) as usize;
    assert!(first.len() > header + 24 * 256 * 4, "there is padding");
    for place in [0, 8, header - 1, header, header + 5000, header + 20 * 256 * 4, first.len() - 1] {
        let mut wrong = first.clone();
        wrong[place] ^= 1;
        fs::write(&output, &wrong).unwrap();
        dated(&output);
        assert!(!run(&[]), "byte {place}");
        assert_eq!(fs::read(&output).unwrap(), first, "byte {place}");
    }
    // Files that an interrupted run could leave: a shorter file, reserved space that was not filled, a part, a temporary file.
    let zeros = vec![0; first.len()];
    let half = [&first[..first.len() / 2], &zeros[first.len() / 2..]].concat();
    for wrong in [&first[..first.len() - 1], &first[..header], &[], &zeros, &half, &[&first[..], b"x"].concat()] {
        fs::write(work.path("out/.xla-shape-abcdef"), wrong).unwrap();
        fs::write(&output, wrong).unwrap();
        assert!(!run(&[]));
        assert_eq!(fs::read(&output).unwrap(), first);
    }
    // A hard link to the old file keeps the old contents.
    fs::write(&output, &half).unwrap();
    fs::hard_link(&output, work.path("other")).unwrap();
    assert!(!run(&[]));
    assert!(fs::read(work.path("other")).unwrap() == half && fs::read(&output).unwrap() == first);
    let number = fs::metadata(&output).unwrap().ino();
    assert!(!run(&["--force"]));
    assert_ne!(fs::metadata(&output).unwrap().ino(), number);
    assert_eq!(fs::read(&output).unwrap(), first);
}

/// The output would overwrite the input.
#[test]
#[cfg(unix)]
fn shards_do_not_replace_the_checkpoint_or_the_plan() {
    use std::os::unix::fs::symlink;

    let work = Work::new();
    save(&work.path("w.safetensors"), &[tensor("w", Dtype::U8, &[4], 1)]);
    work.plan(&json!({ "*": "{replicated}" }));
    fs::create_dir(work.path("out")).unwrap();
    let output = work.path("out/w.device-0.safetensors");
    for input in ["w.safetensors", "plan.json"] {
        let before = fs::read(work.path(input)).unwrap();
        for link in [|from: &Path, to: &Path| symlink(from, to), |from: &Path, to: &Path| fs::hard_link(from, to)] {
            link(&work.path(input), &output).unwrap();
            for more in [&[][..], &["--force"]] {
                let done = work.run(&["w.safetensors"], 0, more);
                let message =
                    format!("the output `out/w.device-0.safetensors` is the same file as the input `{input}`");
                assert!(String::from_utf8(done.stderr).unwrap().contains(&message), "{input}");
                assert_eq!((done.status.code(), fs::read(work.path(input)).unwrap()), (Some(1), before.clone()));
            }
            fs::remove_file(&output).unwrap();
        }
    }
}

/// Others may put anything into the output folder. The program does not wait for pipes there, and does not write through links.
#[test]
#[cfg(unix)]
fn only_regular_files_are_kept_or_replaced() {
    use std::os::unix::fs::symlink;

    let work = Work::new();
    save(&work.path("w.safetensors"), &[tensor("w", Dtype::U8, &[4], 1)]);
    work.plan(&json!({ "*": "{replicated}" }));
    fs::write(work.path("i.index.json"), json!({ "weight_map": { "w": "w.safetensors" } }).to_string()).unwrap();
    fs::create_dir(work.path("out")).unwrap();
    fs::write(work.path("own"), "own").unwrap();
    for (input, output) in [("w.safetensors", "w.device-0.safetensors"), ("i.index.json", "i.device-0.index.json")] {
        let output = work.path("out").join(output);
        let places: [&dyn Fn(); 3] = [
            &|| assert!(std::process::Command::new("mkfifo").arg(&output).status().unwrap().success()),
            &|| symlink("../own", &output).unwrap(),
            &|| symlink("/dev/null", &output).unwrap(),
        ];
        for put in places {
            put();
            for more in [&[][..], &["--force"]] {
                let done = work.run(&[input], 0, more);
                let message = String::from_utf8(done.stderr).unwrap();
                assert!(message.contains("not a regular file") && done.status.code() == Some(1), "{message}");
            }
            fs::remove_file(&output).unwrap();
        }
    }
    assert_eq!(fs::read(work.path("own")).unwrap(), b"own");
}

/// A header of a few KiB can claim any number of dimensions.
#[test]
fn more_dimensions_than_any_array_has_are_refused() {
    let work = Work::new();
    work.plan(&json!({ "*": "{replicated}" }));
    for (rank, fits) in [(64, true), (65, false), (10_000, false)] {
        save(&work.path("w.safetensors"), &[tensor("w", Dtype::U8, &vec![1; rank], 1)]);
        match fits {
            true => drop(work.good(&["w.safetensors"], 0, &[])),
            false => {
                let message = String::from_utf8(work.run(&["w.safetensors"], 0, &[]).stderr).unwrap();
                assert!(
                    message.contains(&format!("an array of {rank} dimensions, and at most 64 are read")),
                    "{message}"
                );
            }
        }
    }
}

#[test]
fn nothing_is_written_where_something_is_wrong() {
    let work = Work::new();
    save(&work.path("w.safetensors"), &[tensor("a", Dtype::F32, &[4, 4], 1), tensor("b", Dtype::F32, &[6], 1)]);
    let input = ["w.safetensors"];
    for (plan, message) in [
        (
            json!({ "a": "{replicated}" }),
            "`plan.json`: no rule matches tensor `b`; a rule for \"*\" matches every tensor without another rule",
        ),
        (json!({ "c": "{replicated}", "*": "{replicated}" }), "`plan.json`: there is no tensor `c`"),
        (
            json!({ "a": "{replicated}", "b": "{devices=[4]<=[4]}" }),
            "tensor `b`: expected dimension 0 to have a size divisible by 4, such as 8, found 6",
        ),
        (
            json!({ "*": "{devices=[2]<=[2]}" }),
            "tensor `a`: expected a sharding of 2 dimensions, as the array has, found one of 1",
        ),
        (
            json!({ "a": "{devices=[2,1]<=[2]}", "b": "{devices=[6]<=[6]}" }),
            "tensor `a`: expected a device of the sharding, found 5",
        ),
        (
            json!({ "*": "{devices=[2" }),
            "`plan.json`: `*`: sharding: expected `,` or `]`, found the end of the text, at byte 11",
        ),
        (json!({ "*": 3 }), "`plan.json`: `*`: expected a sharding, or an object with one, found 3"),
        (json!({ "*": {} }), "`plan.json`: `*`: expected `sharding`, found none"),
        (
            json!({ "*": { "sharding": "{replicated}", "order": "{1,0}" } }),
            "`plan.json`: `*`: expected `sharding`, `layout`, `generation` or `rearrange`, found `order`",
        ),
        (
            json!({ "*": { "sharding": "{replicated}", "layout": "{1,0}", "generation": "v5e" } }),
            "`plan.json`: `*`: expected `layout` or `generation`, found both",
        ),
        (
            json!({ "*": { "sharding": "{replicated}", "layout": "{1,0}" } }),
            "tensor `b`: expected as many dimension numbers in minor_to_major as the array has dimensions (1), found 2",
        ),
        (
            json!({ "*": { "sharding": "{replicated}", "rearrange": "a b b" } }),
            "`plan.json`: `*`: rearrange: expected `->` between two sides at byte 5",
        ),
        (
            json!({ "*": { "sharding": "{replicated}", "rearrange": "a b -> b a" } }),
            "tensor `b`: rearrange: expected an array of 2 dimensions, as the left side has, found one of 1",
        ),
        (
            json!({ "*": "{unreduced}" }),
            "tensor `a`: expected a sharding that gives elements to devices, found {unreduced}",
        ),
        (
            json!({ "*": "{manual}" }),
            "tensor `a`: expected a sharding that says what each device has, found `{manual}`",
        ),
        (json!([]), "`plan.json` is not a plan: invalid type: sequence, expected a map at line 1 column 0"),
    ] {
        work.plan(&plan);
        assert_eq!(work.bad(&input, 5), message);
    }
    work.plan(&json!({ "*": "{replicated}" }));
    for (files, message) in [
        (
            json!({ "a": "../w.safetensors" }),
            "expected names of files in the same folder or below, found \"../w.safetensors\"",
        ),
        (
            json!({ "a": "/w.safetensors" }),
            "expected names of files in the same folder or below, found \"/w.safetensors\"",
        ),
        (
            json!({ "a": "w.safetensors", "b": "w.safetensors", "c": "w.safetensors" }),
            "it lists the tensor `c` in \"w.safetensors\", which does not have it",
        ),
        (json!({ "a": "w.safetensors" }), "it does not list the tensor `b`, which \"w.safetensors\" has"),
    ] {
        fs::write(work.path("i.json"), json!({ "weight_map": files }).to_string()).unwrap();
        assert_eq!(work.bad(&["i.json"], 0), format!("`i.json`: {message}"));
    }
    fs::copy(work.path("w.safetensors"), work.path("w.bin")).unwrap();
    let message = work.bad(&["w.safetensors", "w.bin"], 0);
    assert_eq!(message, "both `w.safetensors` and `w.bin` have a tensor `a`");
    save(&work.path("w.bin"), &[tensor("c", Dtype::F32, &[4, 4], 1)]);
    let message = work.bad(&["w.safetensors", "w.bin"], 0);
    assert_eq!(message, "the shards of `w.safetensors` and `w.bin` would go into the same file: rename one of them");
    save(&work.path("x.safetensors"), &[tensor("a", Dtype::F32, &[4, 4], 1)]);
    let message = work.bad(&["w.safetensors", "x.safetensors"], 0);
    assert_eq!(message, "both `w.safetensors` and `x.safetensors` have a tensor `a`");
    let message = work.bad(&["missing.safetensors"], 0);
    assert!(message.starts_with("cannot read `missing.safetensors`"), "{message}");
}
