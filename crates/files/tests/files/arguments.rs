//! The arguments of a program from a checkpoint of several files.

use std::fs;
use xla_shape::hlo::Module;
use xla_shape::{ArrayShape, DynView, Shape};
use xla_shape_files::{Arguments, Checkpoint, write_array};

/// A checkpoint of two files with an index, in which byte `i` of each tensor is `i`.
fn checkpoint(folder: &std::path::Path, tensors: [(&str, &str); 2]) -> Checkpoint {
    let mut map = serde_json::Map::new();
    for (number, (name, shape)) in tensors.iter().enumerate() {
        let shape: ArrayShape = shape.parse().unwrap();
        let bytes: Vec<u8> = (0..shape.byte_size().unwrap()).map(|byte| byte as u8).collect();
        let file = format!("model-{number}.safetensors");
        write_array(folder.join(&file), &shape, Some(name), &bytes).unwrap();
        map.insert((*name).to_owned(), file.into());
    }
    let index = folder.join("model.safetensors.index.json");
    fs::write(&index, serde_json::json!({ "weight_map": map }).to_string()).unwrap();
    Checkpoint::open([index]).unwrap()
}

const PROGRAM: &str = "HloModule m
ENTRY e {
  step = s32[] parameter(2), metadata={op_name=\"step\"}
  w = bf16[9,130]{0,1:T(8,128)(2,1)} parameter(1), metadata={op_name=\"params['w']\"}
  ROOT b = f32[3]{0:T(128)} parameter(0), metadata={op_name=\"params['b']\"}
}";

/// The name of a weight in the checkpoint; other arguments are not weights.
fn weight(parameter: &str) -> Option<String> {
    Some(format!("model.{}", parameter.strip_prefix("params['")?.strip_suffix("']")?))
}

#[test]
fn arrays_come_in_the_layouts_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = checkpoint(folder.path(), [("model.w", "bf16[9,130]"), ("model.b", "f32[3]")]);
    let module = Module::parse(PROGRAM).unwrap();
    let arguments = Arguments::new(&checkpoint, &module, |parameter| weight(&parameter.name)).unwrap();
    let numbers: Vec<_> = arguments.parameters().iter().map(|parameter| parameter.number).collect();
    assert_eq!((numbers, arguments.unused().next()), (vec![0, 1], None));
    for (parameter, row_major) in arguments.parameters().iter().zip(["f32[3]", "bf16[9,130]"]) {
        let Shape::Array(array) = &parameter.shape else { panic!("{parameter}") };
        let row_major: ArrayShape = row_major.parse().unwrap();
        let bytes: Vec<u8> = (0..row_major.byte_size().unwrap()).map(|byte| byte as u8).collect();
        let expected =
            DynView::from_parts(row_major, &bytes).unwrap().relayout(array.layout().clone()).unwrap().into_parts();
        let (shape, loaded) = arguments.load(parameter.number).unwrap().unwrap().into_parts();
        assert_eq!(shape, *array);
        assert_eq!(loaded.as_ref(), expected.1.as_ref(), "{parameter}");
    }
    assert!(arguments.load(2).unwrap().is_none() && arguments.load(usize::MAX).unwrap().is_none());
}

#[test]
fn all_that_does_not_fit_is_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = checkpoint(folder.path(), [("model.w", "f32[9,130]"), ("model.c", "f32[3]")]);
    let module = Module::parse(PROGRAM).unwrap();
    let error = Arguments::new(&checkpoint, &module, |parameter| weight(&parameter.name)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "parameter 0 (`params['b']`) is f32[3]{0:T(128)}, but the checkpoint has no tensor `model.b`\n\
         parameter 1 (`params['w']`) is bf16[9,130]{0,1:T(8,128)(2,1)}, but tensor `model.w` is f32[9,130]{1,0}"
    );
    // A parameter that is a tuple fits no tensor.
    let module = Module::parse("HloModule m\nENTRY e { ROOT t = (f32[3], f32[3]) parameter(0) }").unwrap();
    let error = Arguments::new(&checkpoint, &module, |_| Some("model.c".into())).unwrap_err();
    assert_eq!(error.to_string(), "parameter 0 (`t`) is (f32[3]{0}, f32[3]{0}), but tensor `model.c` is f32[3]{0}");
}

#[test]
fn a_file_that_ends_early_is_an_error_when_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = checkpoint(folder.path(), [("w", "bf16[9,130]"), ("b", "f32[3]")]);
    let module = Module::parse("HloModule m\nENTRY e { ROOT w = bf16[9,130] parameter(0) }").unwrap();
    let arguments = Arguments::new(&checkpoint, &module, |parameter| Some(parameter.name.clone())).unwrap();
    fs::OpenOptions::new().write(true).open(folder.path().join("model-0.safetensors")).unwrap().set_len(100).unwrap();
    assert!(arguments.load(0).unwrap_err().to_string().contains("model-0.safetensors"));
}
