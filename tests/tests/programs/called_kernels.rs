//! Kernels that a program calls: this project refuses none that libtpu accepts, and most of those that libtpu refuses.

use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape_answers::kernel::TooLarge;
use xla_shape_core::tpu::Generation;
use xla_shape_mosaic::{WindowOf, called_kernels};
use xla_shape_tests::corpus;

/// A program that calls kernels, and the answers of libtpu.
#[derive(Deserialize)]
struct Row {
    name: String,
    program: String,
    /// For each generation, why libtpu refuses the program; `None` if it accepts it.
    compiles: BTreeMap<String, Option<String>>,
}

#[test]
fn what_does_not_fit_is_known_before_it_is_compiled() {
    let rows: Vec<Row> = corpus("called_kernels.jsonl.zst");
    let (mut refused, mut known) = (0, 0);
    for row in &rows {
        assert!(!called_kernels(&row.program, 1).is_empty(), "{} is read", row.name);
        for (generation, message) in &row.compiles {
            let generation = *Generation::ALL.iter().find(|found| found.topology_name() == generation).unwrap();
            let found = TooLarge::find(&row.program, generation);
            let said = found.iter().map(ToString::to_string).collect::<Vec<_>>();
            if message.is_none() {
                assert!(found.is_empty(), "{} is taken for {generation}: {said:?}", row.name);
            }
            refused += usize::from(message.is_some());
            known += usize::from(!found.is_empty());
        }
    }
    assert!(known * 100 >= refused * 60, "{known} of {refused}");
}

#[test]
fn the_parts_of_a_kernel_are_read_from_its_bytecode() {
    let rows: Vec<Row> = corpus("called_kernels.jsonl.zst");
    let row = rows.iter().find(|row| row.name == "matmul_limit").unwrap();
    let [kernel] = &called_kernels(&row.program, 1)[..] else { panic!("one kernel") };
    assert_eq!((kernel.name.as_str(), kernel.vmem_limit, kernel.is_alone), ("kern", Some(60 << 20), true));
    let parts = kernel.windows.iter().map(|window| {
        let of = match &window.of {
            WindowOf::Input(array) => format!("input of {}", array.without_layout()),
            WindowOf::Output(array) => format!("output of {}", array.without_layout()),
            WindowOf::Scratch => "scratch".to_owned(),
        };
        format!("{} {of}{}", window.block.without_layout(), if window.moves { ", moves" } else { "" })
    });
    assert_eq!(
        parts.collect::<Vec<_>>(),
        [
            "bf16[1024,1024] input of bf16[4096,4096], moves",
            "bf16[1024,1024] input of bf16[4096,4096], moves",
            "bf16[1024,1024] output of bf16[4096,4096], moves",
            "f32[1024,1024] scratch",
        ]
    );
}
