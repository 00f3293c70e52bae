//! Errors are types with data: a caller finds what is wrong without reading a message.

use safetensors::serialize;
use safetensors::tensor::{Dtype, TensorView};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use xla_shape::ArrayShape;
use xla_shape::relayout::RelayoutError;
use xla_shape::shard::ShardingError;
use xla_shape_files::{
    ArrayFile, Checkpoint, Destination, Error, FileError, Missing, PlanError, Relayout, RelayoutOptions, ShardError,
    ShardPlan, ShardRule, write_array,
};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file with six bytes.
    fn raw(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, [1, 2, 3, 4, 5, 6]).unwrap();
        path
    }

    /// A `.safetensors` file with one tensor of six bytes.
    fn tensor(&self, name: &str, tensor: &str) -> PathBuf {
        let path = self.path(name);
        write_array(&path, &shape("u8[2,3]"), Some(tensor), &[1, 2, 3, 4, 5, 6]).unwrap();
        path
    }
}

fn shape(text: &str) -> ArrayShape {
    text.parse().unwrap()
}

fn rule(sharding: &str) -> ShardRule {
    ShardRule::new(sharding.parse().unwrap())
}

#[test]
fn what_is_missing_is_known() {
    let folder = Folder::new();
    let raw = folder.raw("a.bin");
    assert_eq!(ArrayFile::open(&raw, None, None).unwrap_err().missing(), Some(Missing::Shape));
    let source = ArrayFile::open(&raw, None, Some(&shape("u8[6]"))).unwrap();
    let error = |output: &str, options| Relayout::new(&source, folder.path(output), &options).unwrap_err();
    assert_eq!(error("b.bin", RelayoutOptions::new()).missing(), Some(Missing::Destination));
    assert_eq!(error("b.npy", RelayoutOptions::new().transposed(&[1])).missing(), None);
    // A destination that is given as row-major is not missing.
    let options = RelayoutOptions::new().to(Destination::RowMajor);
    assert!(Relayout::new(&source, folder.path("b.bin"), &options).is_ok());
    assert!(Relayout::new(&source, folder.path("b.npy"), &RelayoutOptions::default()).is_ok());

    let header =
        br#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}"#;
    let two = [&(header.len() as u64).to_le_bytes()[..], header, b"xy"].concat();
    fs::write(folder.path("two.safetensors"), two).unwrap();
    let error = |tensor| ArrayFile::open(folder.path("two.safetensors"), tensor, None).unwrap_err();
    assert_eq!(error(None).missing(), Some(Missing::Tensor));
    let Error::File { error: FileError::NoTensor { tensor, names }, .. } = error(Some("c")) else { panic!() };
    assert_eq!((tensor.as_str(), names), ("c", vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn arrays_that_are_not_in_the_file_are_refused() {
    let folder = Folder::new();
    let raw = folder.raw("a.bin");
    let open = |text: &str| ArrayFile::open(&raw, None, Some(&shape(text))).unwrap_err();
    let Error::Length { path, found, has_more, .. } = open("u8[7]") else { panic!() };
    assert_eq!((path, found, has_more), (raw.clone(), 6, false));
    assert!(matches!(open("u8[2,?]"), Error::Relayout(RelayoutError::UnboundedDimension { dimension: 1, .. })));
    let tensor = folder.tensor("a.safetensors", "w");
    let other = ArrayFile::open(&tensor, None, Some(&shape("u8[3,2]"))).unwrap_err();
    let Error::OtherShape { found, expected, .. } = other else { panic!() };
    assert_eq!((*found, *expected), (shape("u8[2,3]"), shape("u8[3,2]")));
    let error = ArrayFile::open(folder.path("none.npy"), None, None).unwrap_err();
    assert_eq!(
        error.io().map(|(path, error)| (path, error.kind())),
        Some((&*folder.path("none.npy"), std::io::ErrorKind::NotFound))
    );
    let unbounded = write_array(folder.path("c.bin"), &shape("u8[?]"), None, &[]).unwrap_err();
    assert!(matches!(unbounded, Error::Relayout(RelayoutError::UnboundedDimension { dimension: 0, .. })));
    let outputs = fs::read_dir(folder.0.path()).unwrap().count();
    for (name, text) in [("c.bin", "u8[7]"), ("c.npy", "bf16[3]"), ("c.safetensors", "u8[2,3]{0,1}")] {
        assert!(write_array(folder.path(name), &shape(text), None, &[0; 6]).is_err(), "{name} {text}");
    }
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), outputs, "nothing is written");
}

#[test]
fn an_output_is_not_the_input() {
    let folder = Folder::new();
    let raw = folder.raw("a.bin");
    let source = ArrayFile::open(&raw, None, Some(&shape("u8[2,3]"))).unwrap();
    let options = RelayoutOptions::new().to("{0,1}".parse().unwrap());
    let Err(Error::OutputIsInput { output, input }) = Relayout::new(&source, folder.path("./a.bin"), &options) else {
        panic!()
    };
    assert_eq!((output, input), (folder.path("./a.bin"), raw.clone()));
    assert_eq!(fs::read(&raw).unwrap(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn destinations_that_do_not_go_with_the_source_are_refused() {
    let folder = Folder::new();
    let source = ArrayFile::open(folder.raw("a.bin"), None, Some(&shape("u8[2,3]"))).unwrap();
    let new = |to: &str, permutation: &[usize]| {
        let options = RelayoutOptions::new().to(to.parse().unwrap()).transposed(permutation);
        Relayout::new(&source, folder.path("b.bin"), &options).unwrap_err()
    };
    assert!(matches!(new("(u8[2,3])", &[0, 1]), Error::NotAnArray(_)));
    assert!(matches!(new("{0,1}", &[0, 2]), Error::Relayout(RelayoutError::InvalidPermutation { .. })));
    assert!(matches!(new("{0,1}", &[0, 0]), Error::Relayout(RelayoutError::InvalidPermutation { .. })));
    assert!(matches!(new("{0,1}", &[0]), Error::Relayout(RelayoutError::Invalid(_))));
    assert!(matches!(new("u8[2,3]", &[1, 0]), Error::Relayout(RelayoutError::DimensionMismatch { .. })));
}

#[test]
fn plans_of_values_and_of_json_are_the_same() {
    let folder = Folder::new();
    let checkpoint = Checkpoint::open(&[folder.tensor("w.safetensors", "w")]).unwrap();
    let json = r#"{ "w": { "sharding": "{devices=[2,1]<=[2]}", "layout": "{0,1:T(2,4)}" }, "*": "{replicated}" }"#;
    let values = ShardPlan::new()
        .with_rule("w", rule("{devices=[2,1]<=[2]}").with_layout("{0,1:T(2,4)}".parse().unwrap()))
        .with_rule("*", rule("{replicated}"));
    let made = [ShardPlan::parse(json.as_bytes()).unwrap(), values].map(|plan| {
        let done = checkpoint.shards(&plan, 1, folder.path("out")).unwrap().run(true, &|_| {}).unwrap();
        (fs::read(folder.path("out/w.device-1.safetensors")).unwrap(), done)
    });
    assert!(made[0] == made[1]);
    // If two rules have the same name, or patterns that fit, the first counts.
    for pattern in ["w", "*"] {
        let plan =
            ShardPlan::new().with_rule(pattern, rule("{replicated}")).with_rule(pattern, rule("{devices=[2,1]<=[2]}"));
        let part = Checkpoint::open_part([folder.path("w.safetensors")], Path::new("w.safetensors")).unwrap();
        let done = part.shards(&plan, 0, folder.path("out")).unwrap().run(false, &|_| {}).unwrap();
        assert_eq!(done.tensors[0].bytes, 6, "{pattern}");
    }
}

#[test]
fn what_is_wrong_with_a_plan_has_its_pattern_and_its_tensor() {
    let folder = Folder::new();
    let checkpoint = Checkpoint::open(&[folder.tensor("w.safetensors", "w")]).unwrap();
    let shards = |plan: ShardPlan| checkpoint.shards(&plan, 5, folder.path("out")).unwrap_err();
    let Error::Plan { plan: None, error: PlanError::NoRule { tensor } } = shards(ShardPlan::new()) else { panic!() };
    assert_eq!(tensor, "w");
    let unused = shards(ShardPlan::new().with_rule("*", rule("{replicated}")).with_rule("v", rule("{replicated}")));
    assert!(matches!(unused, Error::Plan { error: PlanError::UnusedRule { pattern }, .. } if pattern == "v"));
    for (sharding, expected) in [
        ("{devices=[1,2]<=[2]}", "expected dimension 1 to have a size divisible by 2"),
        ("{devices=[2,1]<=[2]}", "expected a device"),
        ("{devices=[2]<=[2]}", "expected a sharding of 2 dimensions"),
    ] {
        let Error::Shard { tensor, error: ShardError::Sharding(error) } =
            shards(ShardPlan::new().with_rule("*", rule(sharding)))
        else {
            panic!("{sharding}")
        };
        assert!(tensor == "w" && error.to_string().starts_with(expected), "{sharding}: {error}");
        assert_eq!(matches!(error, ShardingError::NoSuchDevice { device: 5 }), expected == "expected a device");
    }
    let layout = shards(ShardPlan::new().with_rule("*", rule("{replicated}").with_layout("{0}".parse().unwrap())));
    assert!(matches!(layout, Error::Shard { error: ShardError::Layout(_), .. }));
    let split = shards(ShardPlan::new().with_rule("*", rule("{unreduced}")));
    assert!(matches!(split, Error::Shard { error: ShardError::NoElements(_), .. }));
    assert!(!folder.path("out").exists(), "nothing is written");

    fs::write(folder.path("plan.json"), r#"{ "w": { "sharding": "{replicated}", "layout": "{0,}" } }"#).unwrap();
    let read = ShardPlan::read(folder.path("plan.json")).unwrap_err();
    let Error::Plan { plan: Some(path), error: PlanError::Layout { pattern, error } } = read else { panic!() };
    assert_eq!((path, pattern.as_str(), error.span().start), (folder.path("plan.json"), "w", 3));
}

#[test]
fn a_checkpoint_has_each_name_once() {
    let folder = Folder::new();
    let [w, v] = [("w.safetensors", "w"), ("v.safetensors", "w")].map(|(name, tensor)| folder.tensor(name, tensor));
    let same = Checkpoint::open(&[w.clone(), v.clone()]).unwrap_err();
    assert!(matches!(same, Error::SameTensor { tensor, first, second } if tensor == "w" && first == w && second == v));
    // The shards of both would be in `w.device-0.safetensors`.
    fs::rename(folder.tensor("u.safetensors", "u"), folder.path("w.bin")).unwrap();
    let both = Checkpoint::open(&[w, folder.path("w.bin")]);
    assert!(matches!(both, Err(Error::SameShards { second, .. }) if second == folder.path("w.bin")));
    let archive = folder.raw("x.npz");
    assert!(matches!(ArrayFile::open(&archive, None, None), Err(Error::File { error: FileError::Archive { .. }, .. })));
    assert!(matches!(
        Checkpoint::open(&[folder.raw("x.safetensors")]),
        Err(Error::File { error: FileError::NotSafetensors, .. })
    ));
}

/// The files of a checkpoint of which device 1 alone has a tensor.
#[test]
fn a_tensor_that_another_device_alone_has_is_not_lost() {
    let folder = Folder::new();
    let whole = folder.path("m.safetensors");
    let u8s = |values: &'static [u8]| TensorView::new(Dtype::U8, vec![4], values).unwrap();
    fs::write(&whole, serialize([("a", u8s(b"1234")), ("b", u8s(b"abcd"))], None).unwrap()).unwrap();
    let plan = ShardPlan::parse(br#"{ "a": "{maximal device=1}", "b": "{devices=[2]<=[2]}" }"#).unwrap();
    let divide = |paths: &[PathBuf], plan: &ShardPlan, output: &str| {
        let checkpoint = Checkpoint::open(paths).unwrap();
        [0, 1].map(|device| {
            checkpoint.shards(plan, device, folder.path(output)).unwrap().run(false, &|_| {}).unwrap();
            folder.path(&format!("{output}/m.device-{device}.safetensors"))
        })
    };
    let one = divide(std::slice::from_ref(&whole), &plan, "one");
    let missing = Checkpoint::open(&one[..1]).unwrap_err();
    assert!(matches!(missing, Error::NoDevice { tensor, device: 1, .. } if tensor == "a"));
    let halves = ShardPlan::parse(br#"{ "*": "{devices=[2]<=[2]}" }"#).unwrap();
    let [again, expected] = [divide(&one, &halves, "again"), divide(&[whole], &halves, "expected")];
    for (again, expected) in again.iter().zip(&expected) {
        assert!(fs::read(again).unwrap() == fs::read(expected).unwrap(), "{}", again.display());
    }
}

#[test]
fn the_name_of_an_index_is_that_of_its_checkpoint() {
    let folder = Folder::new();
    folder.tensor("w.safetensors", "w");
    folder.tensor("v.safetensors", "v");
    let index = |name: &str, tensor: &str| {
        let path = folder.path(&format!("{name}.index.json"));
        fs::write(&path, format!(r#"{{ "weight_map": {{ "{tensor}": "{tensor}.safetensors" }} }}"#)).unwrap();
        path
    };
    let (first, second) = (index("m", "w"), index("n", "v"));
    let two = Checkpoint::open([&first, &second]).unwrap_err();
    assert_eq!(
        two.to_string(),
        format!("expected indices of one checkpoint, found `{}` and `{}`", first.display(), second.display())
    );
    let plan = ShardPlan::parse(br#"{ "*": "{maximal device=1}" }"#).unwrap();
    let checkpoint = Checkpoint::open([&first]).unwrap();
    let indices = [0, 1, 2].map(|device| {
        checkpoint.shards(&plan, device, folder.path("out")).unwrap().run(false, &|_| {}).unwrap();
        folder.path(&format!("out/m.device-{device}.index.json"))
    });
    // Devices 0 and 2 have nothing, and an index that says so.
    let again = Checkpoint::open(&indices).unwrap();
    again.shards(&plan, 1, folder.path("again")).unwrap().run(false, &|_| {}).unwrap();
    assert!(folder.path("again/m.device-1.index.json").exists());
}

#[test]
fn notes_that_cannot_be_are_refused() {
    let folder = Folder::new();
    let path = folder.path("w.device-0.safetensors");
    let open = |device: i64, shape: &str, start: &[u64], sharding: &str| {
        let start = format!("{start:?}");
        let notes = format!(
            r#"{{ "device": {device}, "tensors": {{ "w": {{ "shape": "{shape}", "whole": "{shape}", "start": {start}, "sharding": "{sharding}" }} }} }}"#
        );
        let view = TensorView::new(Dtype::U8, vec![4], b"1234").unwrap();
        let metadata = HashMap::from([("xla_shape".to_owned(), notes)]);
        fs::write(&path, serialize([("w", view)], Some(metadata)).unwrap()).unwrap();
        Checkpoint::open([&path]).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(open(0, "u8[4]", &[0], "{replicated}"), Ok(()));
    let many = format!("u8[4{}]", ",1".repeat(4999));
    for ((device, shape, start, sharding), message) in [
        ((0, "u8[4]", vec![0], "{unreduced}"), "gives elements to devices, found {unreduced}"),
        (
            (0, "u8[4]", vec![0], "{devices=[2,2]<=[4] last_tile_dims={unreduced}}"),
            "gives elements to devices, found {devices=[2,2]<=[4] last_tile_dims={unreduced}}",
        ),
        ((0, &many, vec![0; 5000], "{replicated}"), "5000"),
        ((0, "u8[<=4]", vec![0], "{replicated}"), "expected static sizes, found <=4"),
        ((-1, "u8[4]", vec![0], "{replicated}"), "expected a device of at least 0, found -1"),
    ] {
        let error = open(device, shape, &start, sharding).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}
