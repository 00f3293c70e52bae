//! Writes what the targets begin with: the texts, messages and modules of the corpus of the tests.
//!
//! The targets that make arrays of arbitrary bytes begin with nothing.

use serde::Deserialize;
use std::error::Error;
use std::fs;
use std::path::Path;
use xla_shape::proto::encode_shape;
use xla_shape::{ArrayShape, Shape};
use xla_shape_tests::{corpus, hlo_modules};

/// Larger seeds make every run slower and tell nothing new.
const MAX_SEED: usize = 8 << 10;

#[derive(Deserialize)]
struct Row {
    input: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let seed = |target: &str, name: &str, content: &[u8]| {
        let folder = root.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("seed-{name}")), content.get(..MAX_SEED).unwrap_or(content))
    };
    let rows: Vec<Row> = corpus("shapes.jsonl");
    // Neighbouring rows are alike.
    for (number, row) in rows.iter().enumerate().step_by(7) {
        let name = number.to_string();
        seed("shape_text", &name, row.input.as_bytes())?;
        seed("scan", &name, format!("Allocation: {}, 32.0K; ", row.input).as_bytes())?;
        let Ok(shape) = row.input.parse::<Shape>() else { continue };
        seed("proto", &name, &encode_shape(&shape))?;
        seed("serde", &name, &postcard::to_allocvec(&shape)?)?;
        seed("serde", &format!("{name}-json"), &serde_json::to_vec(&shape)?)?;
        if let Ok(array) = row.input.parse::<ArrayShape>() {
            seed("layout_text", &name, array.layout().to_string().as_bytes())?;
        }
    }
    // The first four bytes say in what pieces the lines come in.
    for (number, rows) in rows.chunks(40).enumerate().step_by(5) {
        let lines = rows.iter().map(|row| row.input.as_str()).collect::<Vec<_>>().join("\n");
        seed("check", &number.to_string(), format!("~ !{}{lines}", char::from(0)).as_bytes())?;
    }
    for module in hlo_modules() {
        seed("hlo_module", &module.module, module.text.as_bytes())?;
        seed("scan", &module.module, module.text.as_bytes())?;
    }
    Ok(())
}
