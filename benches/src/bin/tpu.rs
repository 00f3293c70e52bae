//! The number of default TPU layouts that are computed per second: for arrays of each number of dimensions, and for all arrays of the corpus.

use benches::time;
use serde::Deserialize;
use std::hint::black_box;
use xla_shape_core::ArrayShape;
use xla_shape_core::tpu::{Generation, default_layout};
use xla_shape_corpus::corpus;

#[derive(Deserialize)]
struct Row {
    shape: ArrayShape,
}

fn main() {
    let rows: Vec<Row> = corpus("tpu_default_layouts.jsonl.zst");
    let shapes = rows.into_iter().map(|row| row.shape).collect::<Vec<_>>();
    for generation in [Generation::V3, Generation::V5e] {
        println!("{generation}");
        let of = |what: &str, shapes: &[&ArrayShape]| {
            let seconds = time(|| {
                for shape in shapes {
                    _ = black_box(default_layout(generation, shape.element_type(), black_box(shape.dimensions())));
                }
            });
            println!("  {what:<16} {:>8.1} million a second", shapes.len() as f64 / seconds / 1e6);
        };
        for count in 0..=8 {
            let some = shapes.iter().filter(|shape| shape.num_dimensions() == count).collect::<Vec<_>>();
            of(&format!("{count} dimensions"), &some);
        }
        of("all", &shapes.iter().collect::<Vec<_>>());
        let texts = shapes.iter().map(|shape| shape.without_layout().to_string()).collect::<Vec<_>>();
        let seconds = time(|| {
            for text in &texts {
                let array: Result<ArrayShape, _> = black_box(text.as_str()).parse();
                _ = black_box(array.map(|array| array.with_tpu_layout(generation)));
            }
        });
        println!("  {:<16} {:>8.1} million a second", "text to shape", texts.len() as f64 / seconds / 1e6);
    }
}
