//! The times that the compiler estimates for programs on GPUs. They were compiled for an H100, on a machine without one, with jax 0.12.0.1,
//! `xla_gpu_autotune_level=0` and `XLA_FLAGS=--xla_gpu_collect_cost_model_stats=true`.

use serde_json::Value;
use std::path::PathBuf;
use xla_shape_answers::Answer;
use xla_shape_answers::cost::{Amount, Basis, ProgramCost, Seconds};
use xla_shape_answers::guard::{Check, Record, Recorded};
use xla_shape_core::ElementType;
use xla_shape_core::gpu::Gpu;
use xla_shape_hlo::Module;
use xla_shape_program::Program;
use xla_shape_render::{Html, Show};

fn program(name: &str) -> Program {
    Program::open(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus/gpu").join(name)).unwrap()
}

fn time(microseconds: f64) -> Option<Amount> {
    Some(Amount::Time(Seconds::from_seconds(microseconds * 1e-6).unwrap()))
}

/// The compiler's figures in a line of a module, in microseconds, found without reading it as HLO: the estimate (for a
/// matrix product, by its own model), the estimate from the tiles, and the speed of light.
fn figures(line: &str) -> Option<[Option<f64>; 3]> {
    let (_, rest) = line.split_once("\"reification_cost\":")?;
    let rows: Value = serde_json::from_str(&rest[..=rest.find(']')?]).unwrap();
    let of = |name| rows.as_array().unwrap().iter().find(|row| row["name"] == name)?["exec_time_us"].as_f64();
    Some([of("experimental-gemm-cost-model").or(of("")), of("indexing-cost-model"), of("sol")])
}

#[test]
fn the_total_is_the_sum_of_credible_estimates_and_bounds() {
    let program = program("attention");
    let mut sum = 0.0;
    for [estimate, tiles, light] in program.module().text().lines().filter_map(figures) {
        let bound = if light == Some(0.01) { tiles } else { light }.unwrap();
        let estimate = estimate.unwrap();
        sum += if estimate <= 20.0 * bound { estimate.max(bound) } else { bound };
    }
    let cost = ProgramCost::of(&program).unwrap();
    let total = cost.sums.total.and_then(Amount::time).unwrap().seconds();
    assert!((total * 1e6 - sum).abs() < 1e-3, "{total} {sum}");
    // The compiler estimates 10 s for a softmax, which is far too long; the bound replaces it.
    let bound: Vec<_> = cost.instructions.iter().filter(|found| found.basis == Basis::Bound).collect();
    assert_eq!(bound.iter().map(|found| found.instruction.as_str()).collect::<Vec<_>>(), ["fusion.9"]);
    assert_eq!(bound[0].amount, time(63.6745));
    assert!(bound[0].estimate_seconds.unwrap().seconds() > 10.0);
    let text = cost.text(80).to_string();
    assert!(text.contains("%fusion.9, for which it estimates 10.6 s") && text.contains("63.7 µs"), "{text}");
    assert!(cost.html().contains("by the time of all their runs"));
}

#[test]
fn the_json_has_seconds_beside_cycles() {
    let cost = ProgramCost::of(&program("convolution")).unwrap();
    let answer: Value = serde_json::from_str(&cost.json()).unwrap();
    assert_eq!(answer["cycles"]["once"], Value::Null);
    assert_eq!((&answer["seconds"]["said"], &answer["seconds"]["without"]), (&4.into(), &0.into()));
    let once = answer["seconds"]["once"].as_f64().unwrap();
    let rows = answer["instructions"].as_array().unwrap();
    let sum: f64 = rows.iter().map(|row| row["seconds"].as_f64().unwrap()).sum();
    assert!((once - sum).abs() < 1e-12 && answer["seconds"]["total"] == answer["seconds"]["once"]);
    assert_eq!(rows[0]["total_seconds"], rows[0]["seconds"]);
    assert_eq!(answer["lines"][0]["cycles"], Value::Null);
    assert!(answer["lines"][0]["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_convolution_without_a_figure_counts_its_operations_where_the_gpu_is_known() {
    let program = program("convolution");
    assert_eq!(program.gpu(), Some(Gpu::H100Sxm));
    let cost = ProgramCost::of(&program).unwrap();
    let call = cost.instructions.iter().find(|found| found.instruction == "cudnn-conv.1").unwrap();
    // The operations of windows of 3 x 3, without the parts of windows that lie on padding. Reading and writing the arrays, in bf16, takes less
    // time.
    let operations = 2.0 * 8.0 * 64.0 * 128.0 * (3.0 * 56.0 - 2.0) * (3.0 * 56.0 - 2.0);
    let seconds = operations / Gpu::H100Sxm.operations_per_second(ElementType::Bf16).unwrap() as f64;
    let bytes = 2 * (8 * 64 * 56 * 56 + 128 * 64 * 3 * 3 + 8 * 128 * 56 * 56);
    assert!(seconds > f64::from(bytes) / Gpu::H100Sxm.bytes_per_second() as f64);
    assert_eq!(call.basis, Basis::Operations);
    assert!(cost.text(200).to_string().contains("at their peak: %cudnn-conv.1."));
    let found = call.amount.and_then(Amount::time).unwrap().seconds();
    assert!((found - seconds).abs() < 1e-11, "{found} {seconds}");
    let unknown = ProgramCost::new(program.module()).unwrap();
    assert_eq!((unknown.sums.said, unknown.sums.without), (3, 1));
    assert!(unknown.text(200).to_string().contains("With a GPU named by `--for`"));
}

#[test]
fn transposes_around_a_convolution_name_what_cudnn_wants() {
    let cost = ProgramCost::of(&program("convolution")).unwrap();
    let causes: Vec<_> = cost.copies.iter().map(|copy| copy.cause.to_string()).collect();
    assert_eq!(causes[0], "cuDNN (%cudnn-conv.1) writes NHWC; the result must have {3,2,1,0}");
    assert!(causes[1].ends_with("; cuDNN (%cudnn-conv.1) wants NHWC"), "{}", causes[1]);
    assert!(causes[2].ends_with("; cuDNN (%cudnn-conv.1) wants OHWI"), "{}", causes[2]);
    // Compiled with these three layouts, the program has no transpose.
    let remedies: Vec<_> = cost.remedies().iter().map(|(place, layout)| format!("{layout} at {place}")).collect();
    assert_eq!(remedies, ["{1,3,2,0} at the result", "{1,3,2,0} at parameter 0", "{1,3,2,0} at parameter 1"]);
    let remedy = cost.copies[1].remedy.as_ref().unwrap().to_string();
    assert!(
        remedy.starts_with("cuDNN wants NHWC: pass the array as NHWC, or ask for {1,3,2,0} at parameter 0; in JAX ")
    );
}

#[test]
fn guard_records_seconds() {
    let program = program("convolution");
    let recorded = |text: &str| {
        let module = Module::parse(text).unwrap();
        Recorded::new(&module, Some(1), None, None).unwrap()
    };
    let text = program.module().text();
    let file = Record::new(vec![recorded(text)]).file();
    assert!(file.contains("\"seconds\": 7.199e-6") && file.contains("\"cycles\": null"), "{file}");
    let record = Record::parse(file.as_bytes()).unwrap();
    assert_eq!(record.file(), file);
    let slower = text.replace("\"exec_time_us\":3.8315", "\"exec_time_us\":4.8315");
    let check = Check::new(&record, &recorded(&slower), &[], false, "accept").unwrap();
    assert_eq!(check.exceeded.len(), 1, "{:?}", check.exceeded);
    assert!(
        check.exceeded[0].to_string().starts_with("seconds>2%: 7.20 µs before, 8.20 µs after"),
        "{}",
        check.exceeded[0]
    );
    assert!(check.warnings.is_empty(), "{:?}", check.warnings);
    let limits = ["seconds>2e-6".parse().unwrap()];
    assert!(Check::new(&record, &recorded(&slower), &limits, false, "accept").unwrap().passed);
}

#[test]
fn figures_that_are_no_times_are_errors_with_a_place() {
    let program = program("convolution");
    let text = program.module().text();
    for (found, message) in [
        ("\"fast\"", "expected `exec_time_us` to be a time, found \"fast\""),
        ("-1", "expected `exec_time_us` to be a time, found -1"),
    ] {
        let wrong = text.replacen("\"exec_time_us\":3.8315", &format!("\"exec_time_us\":{found}"), 1);
        let module = Module::parse(&wrong).unwrap();
        let error = ProgramCost::new(&module).unwrap_err();
        assert_eq!(error.to_string(), format!("wrapped_transpose.2: {message}"));
    }
    let long = text.replacen("\"exec_time_us\":3.8315", "\"exec_time_us\":1e300", 1);
    let module = Module::parse(&long).unwrap();
    let cost = ProgramCost::new(&module).unwrap();
    assert!(cost.instructions.iter().any(|found| found.basis == Basis::Bound), "the bound counts");
}

#[test]
fn a_model_that_divides_by_zero_says_nothing() {
    let program = program("convolution");
    let text = program.module().text();
    let times = |text: &str| {
        let module = Module::parse(text).unwrap();
        ProgramCost::new(&module).unwrap().sums.total
    };
    for found in ["Infinity", "-Infinity", "NaN"] {
        // The first instruction loses its estimate, but its bound is just as long.
        let text = text.replacen("\"exec_time_us\":3.8315", &format!("\"exec_time_us\":\"{found}\""), 1);
        assert_eq!(times(&text), times(program.module().text()), "{found}");
    }
}

#[test]
fn an_estimate_of_a_sort_is_one_of_one_pass() {
    let module = Module::parse(
        r#"
HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
f { p = f32[8]{0} parameter(0)
  ROOT s = f32[8]{0} sort(p), dimensions={0}, to_apply=less }
ENTRY e { a = f32[8]{0} parameter(0)
  ROOT b = f32[8]{0} fusion(a), kind=kCustom, calls=f, backend_config={"reification_cost":[
    {"exec_time_us":5,"name":""},{"exec_time_us":3,"name":"sol"}]} }"#,
    )
    .unwrap();
    let cost = ProgramCost::new(&module).unwrap();
    assert_eq!((cost.instructions[0].basis, cost.bounded().count()), (Basis::OnePass, 0));
    let text = cost.text(200).to_string();
    assert!(text.contains("The compiler estimates one pass of a sort, which takes longer: %b."), "{text}");
}
