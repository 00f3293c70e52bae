//! `xla-shape shard` of a checkpoint that is divided already: the files of one plan are converted to those of another.

use crate::program::program_path;
use crate::shard::{Tensor, save, tensor};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use xla_shape::ArrayShape;
use xla_shape::shard::Sharding;

struct Work(TempDir);

impl Work {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command with these inputs. In an input, `*` stands for the number of any device.
    fn shard(&self, inputs: &[&str], plan: &Value, device: i64, output: &str) -> Command {
        fs::write(self.path("plan.json"), plan.to_string()).unwrap();
        let inputs = inputs.iter().flat_map(|input| match input.contains('*') {
            true => (0..64).map(|device| input.replace('*', &device.to_string())).collect(),
            false => vec![(*input).to_owned()],
        });
        let inputs = inputs.filter(|input| self.path(input).exists());
        let mut program = Command::new(program_path());
        program.current_dir(self.0.path()).arg("shard").args(inputs);
        program.args(["--plan", "plan.json", "--device", &device.to_string(), "-o", output]).stdin(Stdio::null());
        program
    }

    fn done(&self, inputs: &[&str], plan: &Value, device: i64, output: &str, more: &[&str]) -> Value {
        let done = self.shard(inputs, plan, device, output).args(["--format", "json"]).args(more).output().unwrap();
        assert_eq!((done.status.code(), String::from_utf8(done.stderr).unwrap()), (Some(0), String::new()));
        serde_json::from_slice(&done.stdout).unwrap()
    }

    fn divide(&self, inputs: &[&str], plan: &Value, devices: i64, output: &str, more: &[&str]) {
        for device in 0..devices {
            self.done(inputs, plan, device, output, more);
        }
    }

    fn refused(&self, inputs: &[&str], plan: &Value) -> String {
        let done = self.shard(inputs, plan, 0, "never").output().unwrap();
        assert_eq!(done.status.code(), Some(1));
        assert!(!self.path("never").exists(), "nothing is written");
        String::from_utf8(done.stderr).unwrap().strip_prefix("error: ").unwrap().trim_end().to_owned()
    }
}

/// The shard of a device in its layout, computed element by element, with zeros as padding.
fn by_elements((_, _, sizes, data): &Tensor, sharding: &str, shard: &ArrayShape, device: i64) -> Vec<u8> {
    let sizes = sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
    let whole = ArrayShape::with_default_layout(shard.element_type(), &sizes).unwrap();
    let region = sharding.parse::<Sharding>().unwrap().partition(&whole).unwrap().region(device).unwrap();
    let width = shard.element_bits() as usize / 8;
    let mut made = vec![0; shard.byte_size().unwrap() as usize];
    let table = shard.stride_table().unwrap();
    let mut index = vec![0; sizes.len()];
    for number in 0..region.elements() {
        let (mut rest, mut from) = (number, 0);
        for (i, size) in region.sizes().enumerate().collect::<Vec<_>>().into_iter().rev() {
            (index[i], rest) = (rest % size, rest / size);
        }
        for ((i, start), size) in index.iter().zip(&region.start).zip(&sizes) {
            from = from * size + start + i;
        }
        let (from, to) = (from as usize * width, table.as_ref().linear_index(&index) as usize * width);
        made[to..to + width].copy_from_slice(&data[from..from + width]);
    }
    made
}

fn is_same_folder(a: &Path, b: &Path) {
    let names = |folder: &Path| {
        let mut names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        names.sort();
        names
    };
    assert_eq!(names(a), names(b));
    for name in names(a) {
        assert!(fs::read(a.join(&name)).unwrap() == fs::read(b.join(&name)).unwrap(), "{}", name.display());
    }
}

/// A checkpoint for 8 devices, with other layouts and another order of axes, has the same bytes whether it is made from the undivided checkpoint or
/// from one for 4 devices.
#[test]
fn the_files_of_one_plan_become_those_of_another() {
    let work = Work::new();
    let one = [tensor("embed", Dtype::BF16, &[64, 256], 1), tensor("scale", Dtype::F32, &[16], 2)];
    let two = [
        tensor("w", Dtype::F32, &[24, 48, 10], 3),
        tensor("lone", Dtype::U8, &[5, 7], 4),
        tensor("empty", Dtype::F32, &[0, 8], 5),
    ];
    save(&work.path("a.safetensors"), &one);
    save(&work.path("b.safetensors"), &two);
    let names = |file, tensors: &[Tensor]| tensors.iter().map(|tensor| (tensor.0, file)).collect::<Vec<_>>();
    let weight_map = [names("a.safetensors", &one), names("b.safetensors", &two)].concat();
    let index = json!({ "weight_map": weight_map.into_iter().collect::<HashMap<_, _>>() });
    fs::write(work.path("m.safetensors.index.json"), index.to_string()).unwrap();

    let embed = "{devices=[2,4]<=[4,2]T(1,0)}";
    let four = json!({
        "embed": { "sharding": "{devices=[2,2]<=[4]}", "layout": "{1,0:T(8,128)(2,1)}" },
        "scale": "{devices=[2,2]<=[4] last_tile_dim_replicate}",
        "w": { "sharding": "{mesh['x'=2,'y'=2], [{'x'}, {'y'}, {}]}", "generation": "v5e" },
        "lone": "{maximal device=3}",
        "*": "{replicated}",
    });
    let eight = json!({
        "embed": { "sharding": embed, "layout": "{1,0:T(8,128)}" },
        "scale": "{replicated}",
        // The new shards have three rows, so most of them begin inside a tile of the old shards, which have twelve.
        "w": { "sharding": "{devices=[8,1,1]<=[8]}", "layout": "{1,2,0:T(4,8)(2,1)}" },
        "lone": "{maximal device=6}",
        "*": "{devices=[1,8]<=[8]}",
    });
    work.divide(&["m.safetensors.index.json"], &four, 4, "four", &[]);
    work.divide(&["m.safetensors.index.json"], &eight, 8, "eight", &[]);
    for (inputs, output, slab) in [
        (&["four/m.safetensors.device-*.index.json"][..], "again", "1000000"),
        (&["four/m.safetensors.device-*.index.json"], "slabs", "700"),
    ] {
        work.divide(inputs, &eight, 8, output, &["--slab-bytes", slab]);
        is_same_folder(&work.path("eight"), &work.path(output));
    }
    // The same without an index, with the files in another order.
    let files = ["four/b.device-*.safetensors", "four/a.device-*.safetensors"];
    let done = work.done(&files, &eight, 6, "files", &[]);
    assert_eq!(done["files"][0]["output"], "files/b.device-6.safetensors");
    for name in ["a.device-6.safetensors", "b.device-6.safetensors"] {
        assert!(fs::read(work.path("files").join(name)).unwrap() == fs::read(work.path("eight").join(name)).unwrap());
    }
    // Each element of the result is correct.
    for device in 0..8 {
        let bytes = fs::read(work.path(&format!("again/a.device-{device}.safetensors"))).unwrap();
        let shard = "bf16[32,64]{1,0:T(8,128)}".parse().unwrap();
        let expected = by_elements(&one[0], embed, &shard, device);
        assert!(SafeTensors::deserialize(&bytes).unwrap().tensor("embed").unwrap().data() == expected);
        let bytes = fs::read(work.path(&format!("again/b.device-{device}.safetensors"))).unwrap();
        let shard = "f32[3,48,10]{1,2,0:T(4,8)(2,1)}".parse().unwrap();
        let expected = by_elements(&two[0], "{devices=[8,1,1]<=[8]}", &shard, device);
        assert!(SafeTensors::deserialize(&bytes).unwrap().tensor("w").unwrap().data() == expected);
    }
    // Converting back gives the same names, the same order of the tensors, and the same bytes.
    work.divide(&["again/m.safetensors.device-*.index.json"], &four, 4, "back", &["--slab-bytes", "3000"]);
    is_same_folder(&work.path("four"), &work.path("back"));
    // One device has the whole tensor.
    let done = work.done(&["four/a.device-*.safetensors"], &json!({ "*": "{maximal device=0}" }), 0, "one", &[]);
    let read = done["tensors"].as_array().unwrap().iter().map(|tensor| tensor["bytes_read"].as_u64().unwrap());
    assert_eq!(read.sum::<u64>(), 64 * 256 * 2 + 16 * 4);
    let bytes = fs::read(work.path("one/a.device-0.safetensors")).unwrap();
    assert!(SafeTensors::deserialize(&bytes).unwrap().tensor("embed").unwrap().data() == one[0].3);
}

/// A KV cache on 8 devices with pages of 16 tokens is converted to two groups of 4 devices with pages of 64 tokens, and back.
#[test]
fn pages_of_a_cache_become_larger_and_smaller() {
    let work = Work::new();
    let [pages, heads, d] = [8_usize, 8, 32];
    let small = tensor("kv", Dtype::BF16, &[pages, 2, heads, 16, d], 1);
    // The same tokens in pages of 64.
    let mut large = vec![0; small.3.len()];
    for (number, element) in small.3.chunks(2).enumerate() {
        let (i, rest) = (number % d, number / d);
        let (token, rest) = (rest % 16, rest / 16);
        let (head, rest) = (rest % heads, rest / heads);
        let (kv, page) = (rest % 2, rest / 2);
        let place = (((page / 4 * 2 + kv) * heads + head) * 64 + page % 4 * 16 + token) * d + i;
        large[2 * place..2 * place + 2].copy_from_slice(element);
    }
    let large = ("kv", Dtype::BF16, vec![pages / 4, 2, heads, 64, d], large);
    save(&work.path("small.safetensors"), std::slice::from_ref(&small));
    save(&work.path("kv.safetensors"), std::slice::from_ref(&large));
    let eight = json!({ "*": { "sharding": "{devices=[1,1,8,1,1]<=[8]}", "layout": "{4,3,2,1,0:T(8,128)(2,1)}" } });
    let groups = "{devices=[1,1,2,1,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}";
    let two = json!({ "*": { "sharding": groups, "layout": "{4,3,2,1,0:T(16,128)}" } });
    let with = |plan: &Value, text: &str| {
        let mut plan = plan.clone();
        plan["*"]["rearrange"] = json!(text);
        plan
    };
    fs::rename(work.path("small.safetensors"), work.path("in.safetensors")).unwrap();
    fs::rename(work.path("kv.safetensors"), work.path("small.safetensors")).unwrap();
    work.divide(&["small.safetensors"], &two, 8, "two", &[]);
    fs::rename(work.path("in.safetensors"), work.path("small.safetensors")).unwrap();
    work.divide(&["small.safetensors"], &eight, 8, "eight", &[]);

    let grow = with(&two, "(page part=4) kv head token d -> page kv head (part token) d");
    let shrink = with(&eight, "page kv head (part=4 token) d -> (page part) kv head token d");
    work.divide(&["eight/small.device-*.safetensors"], &grow, 8, "grown", &["--slab-bytes", "5000"]);
    is_same_folder(&work.path("two"), &work.path("grown"));
    work.divide(&["grown/small.device-*.safetensors"], &shrink, 8, "shrunk", &[]);
    is_same_folder(&work.path("eight"), &work.path("shrunk"));
    let bytes = fs::read(work.path("grown/small.device-6.safetensors")).unwrap();
    let expected = by_elements(&large, groups, &"bf16[2,2,4,64,32]{4,3,2,1,0:T(16,128)}".parse().unwrap(), 6);
    assert!(SafeTensors::deserialize(&bytes).unwrap().tensor("kv").unwrap().data() == expected);
    // A tile of 32 tokens spans two parts of 16, which may lie in different pages.
    let mut crossing = grow.clone();
    crossing["*"]["layout"] = json!("{4,3,2,1,0:T(32,128)}");
    assert_eq!(
        work.refused(&["small.safetensors"], &crossing),
        "tensor `kv`: rearrange: a tile of bf16[2,2,4,64,32]{4,3,2,1,0:T(32,128)} spans several axes of a dimension; each tile must divide the innermost axis"
    );
}

/// The program is killed twice and started again. It keeps complete files, and leaves no other files.
#[test]
#[cfg(target_os = "linux")]
fn a_change_of_the_plan_that_is_killed_goes_on() {
    let work = Work::new();
    for name in ["a", "b"] {
        let file = [tensor(name, Dtype::BF16, &[2048, 4096], 1)];
        save(&work.path(&format!("{name}.safetensors")), &file);
    }
    let files = ["a.safetensors", "b.safetensors"];
    let four = json!({ "*": { "sharding": "{devices=[2,2]<=[4]}", "layout": "{1,0:T(8,128)(2,1)}" } });
    let eight = json!({ "*": { "sharding": "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}", "layout": "{0,1:T(8,128)(2,1)}" } });
    work.divide(&files, &four, 4, "four", &[]);
    work.done(&files, &eight, 5, "eight", &[]);
    let inputs = ["four/a.device-*.safetensors", "four/b.device-*.safetensors"];
    let [first, second] = ["a", "b"].map(|name| work.path(&format!("out/{name}.device-5.safetensors")));
    for is_second in [false, true] {
        // Slabs of one byte make the program slow, so that it can be killed in the middle.
        let mut program = work.shard(&inputs, &eight, 5, "out");
        let mut child = program.args(["--slab-bytes", "1"]).stdout(Stdio::null()).spawn().unwrap();
        let counts = format!("/proc/{}/io", child.id());
        let written = || {
            let told = fs::read_to_string(&counts).unwrap_or_default();
            told.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse::<u64>().ok()).unwrap_or_default()
        };
        // Wait until it is in the middle of a file.
        let mut before = None;
        while before.is_none_or(|before| written() < before + 20_000) {
            assert_eq!(child.try_wait().unwrap(), None, "it has not ended");
            if before.is_none() && (!is_second || first.exists()) {
                before = Some(written());
            }
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((first.exists(), second.exists()), (is_second, false));
    }
    let done = work.done(&inputs, &eight, 5, "out", &[]);
    assert_eq!((&done["files"][0]["resumed"], &done["files"][1]["resumed"]), (&json!(true), &json!(false)));
    is_same_folder(&work.path("eight"), &work.path("out"));
}

/// Writes a file of one device, with these notes in its metadata.
fn save_noted(path: &Path, (name, dtype, sizes, data): &Tensor, notes: &Value) {
    let view = TensorView::new(*dtype, sizes.clone(), data).unwrap();
    let metadata = HashMap::from([("xla_shape".to_owned(), notes.to_string())]);
    fs::write(path, serialize([(*name, view)], Some(metadata)).unwrap()).unwrap();
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let work = Work::new();
    save(&work.path("w.safetensors"), &[tensor("w", Dtype::F32, &[8, 4], 1)]);
    work.divide(&["w.safetensors"], &json!({ "*": "{devices=[4,1]<=[4]}" }), 4, "rows", &[]);
    work.divide(&["w.safetensors"], &json!({ "*": "{devices=[1,4]<=[4]}" }), 4, "columns", &[]);
    let plan = json!({ "*": "{replicated}" });
    let rows = |devices: &[i64]| devices.iter().map(|n| format!("rows/w.device-{n}.safetensors")).collect::<Vec<_>>();
    let refused = |inputs: &[String]| work.refused(&inputs.iter().map(String::as_str).collect::<Vec<_>>(), &plan);
    assert_eq!(
        refused(&rows(&[0, 1, 3])),
        "expected the files of all devices of `w.safetensors`: tensor `w` has a shard on device 2, too"
    );
    fs::copy(work.path("rows/w.device-1.safetensors"), work.path("w.device-1.safetensors")).unwrap();
    assert_eq!(
        refused(&[rows(&[0, 1, 2, 3]), vec!["w.device-1.safetensors".to_owned()]].concat()),
        "`rows/w.device-1.safetensors` and `w.device-1.safetensors` are both of device 1"
    );
    assert_eq!(
        refused(&[rows(&[0, 1, 2]), vec!["columns/w.device-3.safetensors".to_owned()]].concat()),
        "the files are not of one checkpoint: tensor `w` is f32[8,4]{1,0} in shards of f32[2,4]{1,0} by {devices=[4,1]<=[4]} in \
         `rows/w.device-0.safetensors`, and f32[8,4]{1,0} in shards of f32[8,1]{1,0} by {devices=[1,4]<=[4]} in \
         `columns/w.device-3.safetensors`"
    );
    assert_eq!(
        refused(&[rows(&[0, 1, 2, 3]), vec!["w.safetensors".to_owned()]].concat()),
        "`rows/w.device-0.safetensors` and `w.safetensors` have the same name"
    );
    let own = tensor("w", Dtype::F32, &[2, 4], 1);
    let note = |whole: &str, shape: &str, start: [u64; 2], sharding: &str| {
        let note = json!({ "shape": shape, "whole": whole, "start": start, "sharding": sharding });
        json!({ "device": 1, "tensors": { "w": note } })
    };
    let rows = "{devices=[4,1]<=[4]}";
    for (notes, message) in [
        (
            json!(3),
            "the metadata's entry `xla_shape` is wrong: invalid type: integer `3`, expected an object with `device` and `tensors` at line 1 column 1",
        ),
        (json!({ "device": 1, "tensors": {} }), "the metadata's entry `xla_shape` does not name tensor `w`"),
        (
            note("f32[8,", "f32[2,4]", [2, 0], rows),
            "tensor `w`: the metadata's entry `xla_shape` is wrong: expected a dimension's size, `<=` and a bound, or `?`, \
             found the end of the text",
        ),
        (
            note("f32[8,4]{0,1}", "f32[2,4]", [2, 0], rows),
            "a .safetensors file holds an array in row-major order, not f32[8,4]{0,1}",
        ),
        (
            note("f32[9,4]", "f32[3,4]", [3, 0], rows),
            "tensor `w`: the metadata's entry `xla_shape` is wrong: expected dimension 0 to have a size divisible by 4, such as 12, \
             found 9",
        ),
        (
            note("f32[8,4]", "f32[4,4]", [2, 0], rows),
            "tensor `w`: by its sharding, a shard is f32[2,4]{1,0}, but the metadata says f32[4,4]{1,0}",
        ),
        (
            note("f32[8,4]", "f32[2,4]", [4, 0], rows),
            "tensor `w`: by its sharding, the shard of device 1 begins at [2, 0], but the metadata says [4, 0]",
        ),
        (
            note("s8[8,4]", "s8[2,4]", [2, 0], rows),
            "tensor `w` should be s8[2,4]{1,0} or its bytes, but is f32[2,4]{1,0}",
        ),
        (
            note("f32[8,4]", "f32[2,4]", [2, 0], "{devices=[4,1]4,5,6,7}"),
            "tensor `w`: the metadata's entry `xla_shape` is wrong: expected a device of the sharding, found 1",
        ),
        (
            note("s4[8,4]", "s4[2,4]{1,0:E(4)}", [2, 0], rows),
            "tensor `w`: elements of 4 bits are not supported in the files of devices",
        ),
    ] {
        save_noted(&work.path("w.device-1.safetensors"), &own, &notes);
        assert_eq!(refused(&["w.device-1.safetensors".to_owned()]), format!("`w.device-1.safetensors`: {message}"));
    }
}

/// An index may list no file for a tensor of its device. This is an error, even if the device's other files are complete.
#[test]
fn a_file_that_an_index_lacks_is_named() {
    let work = Work::new();
    save(&work.path("a.safetensors"), &[tensor("w", Dtype::F32, &[8, 4], 1)]);
    save(&work.path("b.safetensors"), &[tensor("lone", Dtype::U8, &[5], 2)]);
    let index = json!({ "weight_map": { "w": "a.safetensors", "lone": "b.safetensors" } });
    fs::write(work.path("m.safetensors.index.json"), index.to_string()).unwrap();
    let plan = json!({ "w": "{devices=[2,1]<=[2]}", "lone": "{maximal device=1}" });
    work.divide(&["m.safetensors.index.json"], &plan, 2, "two", &[]);
    let read = |device: i64| -> Value {
        serde_json::from_slice(&fs::read(work.path(&format!("two/m.safetensors.device-{device}.index.json"))).unwrap())
            .unwrap()
    };
    assert_eq!(read(0)["metadata"]["empty_files"], json!(["b.device-0.safetensors"]));
    assert!(read(1)["metadata"].get("empty_files").is_none());

    let inputs = ["two/m.safetensors.device-*.index.json"];
    work.done(&inputs, &json!({ "*": "{replicated}" }), 0, "one", &[]);
    let mut index = read(1);
    index["weight_map"].as_object_mut().unwrap().remove("lone");
    fs::write(work.path("two/m.safetensors.device-1.index.json"), index.to_string()).unwrap();
    assert_eq!(
        work.refused(&inputs, &json!({ "*": "{replicated}" })),
        "expected the files of all devices of `b.safetensors`: tensor `lone` has a shard on device 1, too"
    );
    fs::remove_file(work.path("two/b.device-0.safetensors")).unwrap();
    let message = work.refused(&inputs, &json!({ "*": "{replicated}" }));
    assert!(message.starts_with("cannot read `two/b.device-0.safetensors`"), "{message}");
}

/// A checkpoint, divided or not, can have more files than a process may have open.
#[cfg(unix)]
#[test]
fn there_may_be_more_files_than_can_be_open() {
    let work = Work::new();
    let (mut weight_map, mut plan) = (HashMap::new(), serde_json::Map::new());
    for name in (0..64).map(|i| &*format!("w{i}").leak()) {
        let file = format!("{name}.safetensors");
        save(&work.path(&file), &[(name, Dtype::U8, vec![4], vec![1, 2, 3, 4])]);
        weight_map.insert(name, file);
        plan.insert(name.to_owned(), json!("{devices=[2]<=[2]}"));
    }
    fs::write(work.path("m.safetensors.index.json"), json!({ "weight_map": weight_map }).to_string()).unwrap();
    let sharding = "{devices=[64]<=[64]}";
    for device in 0..64_u64 {
        let note = json!({ "shape": "u8[1]{0}", "whole": "u8[64]{0}", "start": [device], "sharding": sharding });
        let part = ("v", Dtype::U8, vec![1], vec![u8::try_from(device).unwrap()]);
        save_noted(
            &work.path(&format!("v.device-{device}.safetensors")),
            &part,
            &json!({ "device": device, "tensors": { "v": note } }),
        );
    }
    let limited = |inputs: &[&str], plan: &Value| {
        let program = work.shard(inputs, plan, 0, "out");
        let mut limited = Command::new("sh");
        limited.current_dir(work.0.path()).args(["-c", "ulimit -n 32; exec \"$0\" \"$@\""]).arg(program.get_program());
        let done = limited.args(program.get_args()).stdin(Stdio::null()).output().unwrap();
        assert_eq!((done.status.code(), String::from_utf8(done.stderr).unwrap()), (Some(0), String::new()));
    };
    limited(&["m.safetensors.index.json"], &Value::Object(plan));
    let written = fs::read(work.path("out/w63.device-0.safetensors")).unwrap();
    assert_eq!(SafeTensors::deserialize(&written).unwrap().tensor("w63").unwrap().data(), [1, 2]);
    limited(&["v.device-*.safetensors"], &json!({ "*": "{replicated}" }));
    let written = fs::read(work.path("out/v.device-0.safetensors")).unwrap();
    assert_eq!(SafeTensors::deserialize(&written).unwrap().tensor("v").unwrap().data(), (0..64).collect::<Vec<u8>>());
}
