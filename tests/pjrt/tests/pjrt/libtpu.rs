//! Tests with libtpu itself, if it is found: in the active Python environment, or where `PJRT_PLUGIN` says.
//!
//! The tests ask it in processes of their own, with the environment variables that it needs.

use std::env;
use std::process::{Child, Command, Output, Stdio};
use xla_shape::tpu::{Generation, default_layout};
use xla_shape::{Dimension, ElementType};
use xla_shape_pjrt::{CompileOptions, Error, LoadOptions, Plugin, Program};

const PART: &str = "XLA_SHAPE_LIBTPU_TEST";

/// Starts this test again in a new process, with one part of it and this environment variable.
fn start(part: &str, variable: Option<(&str, &str)>) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "libtpu::libtpu_answers", "--nocapture"]).env(PART, part);
    for name in ["TPU_SKIP_MDS_QUERY", "ALLOW_MULTIPLE_LIBTPU_LOAD"] {
        command.env_remove(name);
    }
    // The process has several threads, so loading the plug-in must not set environment variables.
    command
        .envs(variable)
        .envs(LoadOptions::new().variables().filter(|&(name, _)| variable.is_none_or(|own| own.0 != name)));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child) -> String {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(status.success(), "{text}");
    text
}

#[test]
fn libtpu_answers() {
    let Ok(part) = env::var(PART) else {
        let first = end(start("find", None));
        if let Some((_, reason)) = first.split_once("SKIPPED: ") {
            println!("libtpu was NOT asked: {reason}");
            return;
        }
        let both = [start("compile", None), start("compile", None)];
        for child in both {
            assert!(end(child).contains("compiled"));
        }
        end(start("layouts", None));
        end(start("variable", Some(("TPU_SKIP_MDS_QUERY", "true"))));
        return;
    };
    if part == "find" {
        // SAFETY: the plug-in is libtpu, as `pip install libtpu` brings it.
        if let Err(error @ Error::NotFound { .. }) = unsafe { Plugin::find() } {
            println!("SKIPPED: {error}");
        }
        return;
    }
    // SAFETY: as above.
    let plugin = unsafe { Plugin::find() }.unwrap();
    let set = |name: &str| env::var(name).unwrap();
    assert_eq!(set("ALLOW_MULTIPLE_LIBTPU_LOAD"), "1");
    assert_eq!(set("TPU_SKIP_MDS_QUERY"), if part == "variable" { "true" } else { "1" });
    let topology = plugin.topology(&"v5e:2x2".parse().unwrap()).unwrap();
    match part.as_str() {
        "compile" => {
            let compile = |text: &str| topology.compile(&Program::from_mlir(text.as_bytes()), &CompileOptions::new());
            let good = "func.func @main(%x: tensor<100x200xf32>) -> tensor<100x200xf32> {
                %y = stablehlo.add %x, %x : tensor<100x200xf32> return %y : tensor<100x200xf32> }";
            let compiled = compile(good).unwrap();
            assert_eq!(compiled.inputs().unwrap()[0].to_string(), "f32[100,200]{0,1:T(8,128)}");
            assert_eq!(compiled.memory().unwrap().device.total(), 2 * 102_400);
            let error = compile("func.func @main(%x: tensor<2xf32>) { return %y }").unwrap_err();
            assert!(matches!(error, Error::Plugin { call: "PJRT_Compile", .. }), "{error}");
            assert!(error.to_string().len() > "PJRT_Compile: ".len(), "{error}");
            assert!(matches!(compile("func.func @main(%x: tensor<?xf32>)").unwrap_err(), Error::Unbounded { .. }));
            println!("compiled");
        }
        "layouts" => {
            let types = [ElementType::F32, ElementType::Bf16, ElementType::S8, ElementType::S4, ElementType::Pred];
            let mut state = 12_345_u64;
            let mut random = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % below
            };
            for number in 0..200 {
                let rank = random(5);
                let sizes = (0..rank).map(|_| random(300)).collect::<Vec<_>>();
                let kind = types[number % types.len()];
                let dimensions = sizes.iter().map(|&size| Dimension::Static(size)).collect::<Vec<_>>();
                let expected = default_layout(Generation::V5e, kind, &dimensions).unwrap().to_string();
                assert_eq!(topology.default_layout(kind, &sizes).unwrap().to_string(), expected, "{kind} {sizes:?}");
            }
        }
        _ => {}
    }
}
