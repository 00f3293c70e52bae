//! `hlo_types!` gives the shapes that the parser reads from the same file at run time, and has the compiler watch the file.

use xla_shape::hlo::Module;
use xla_shape::types::ShapeType;
use xla_shape::{Shape, hlo_types};

hlo_types! {
    mod program = "../examples/hlo/v5e__rnn_scan.hlo" {
        type Product = "convolution.3"(Lhs, Rhs);
    }
    mod layouts = "../examples/hlo/v5e__layouts.hlo";
    mod unoptimized = "tests/programs/unoptimized.hlo";
}

const TEXT: &str = include_str!("../../../examples/hlo/v5e__rnn_scan.hlo");

#[test]
fn types_are_what_the_module_says() {
    let module = Module::parse(TEXT).expect("a module of XLA");
    let entry = module.entry().expect("a whole module");
    let parameter = |number| {
        let mut all = entry.instructions();
        all.find(|found| found.parameter_number() == Some(number)).expect("the parameter").shape().clone()
    };
    let parameters = <program::Parameters as ShapeType>::VALUE;
    assert_eq!(Shape::tuple((0..4).map(parameter).collect()), Ok(parameters));
    assert_eq!(<program::Parameter3 as ShapeType>::VALUE, parameter(3));
    assert_eq!(<program::Result as ShapeType>::VALUE, *entry.root().shape());

    let product = module.instruction("convolution.3").expect("the product");
    let operand = |index| product.operand(index).and_then(|operand| operand.shape()).expect("an operand").clone();
    assert_eq!(<program::Product as ShapeType>::VALUE, *product.shape());
    assert_eq!(<program::Lhs as ShapeType>::VALUE, operand(0));
    assert_eq!(<program::Rhs as ShapeType>::VALUE, operand(1));
}

/// If the instructions leave their layouts out, those of `entry_computation_layout` apply: a caller must pass arrays in these.
#[test]
fn layouts_that_instructions_leave_out_are_those_of_the_program() {
    assert_eq!(<unoptimized::Parameter0 as ShapeType>::VALUE.to_string(), "f32[8,64]{0,1}");
    assert_eq!(<unoptimized::Result as ShapeType>::VALUE.to_string(), "f32[64,8]{0,1}");
}

/// Cargo rebuilds a program if a file changes that the compiler lists in the program's `.d` file.
#[test]
fn the_files_are_watched() {
    let dependencies = std::env::current_exe().expect("this test").with_extension("d");
    let dependencies = std::fs::read_to_string(dependencies).expect("the compiler writes it for cargo");
    // This file is only read by `hlo_types!`; the other one is also listed because of `include_str!`.
    assert!(dependencies.contains("v5e__layouts.hlo"));
    assert_eq!(layouts::Result0::default(), layouts::Result0::default());
}
