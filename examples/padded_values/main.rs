//! The ten most padded values of a TPU program.
//!
//! Reads an optimized HLO module, and prints the values with the most padding, the bytes in each memory space, and the peak: the bytes
//! that are needed at the same time.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin padded_values [MODULE.hlo]
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};
use xla_shape::hlo::{self, Module};

/// Reshapes, transposes and pads of arrays of many forms, compiled by XLA for TPU v5e.
const DEFAULT_MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/hlo/v5e__layouts.hlo");

fn main() -> ExitCode {
    let path = env::args().nth(1).unwrap_or_else(|| DEFAULT_MODULE.to_owned());
    match run(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(path: &str) -> Result<(), Box<dyn Error>> {
    let bytes = fs::read(path)?;
    let text = hlo::utf8(&bytes)?;
    let module = Module::parse(text).map_err(|error| error.render(text).to_string())?;
    let memory = module.memory();

    let name = module.name().unwrap_or("a part of a module");
    println!("{name}: {} instructions, {} arrays in memory", module.instructions().len(), memory.buffers().len());
    println!("\n{:>10} {:>10} {:>7}  {:<24} shape", "padding", "bytes", "times", "value");
    for buffer in memory.most_padded(10) {
        let footprint = buffer.footprint;
        let times = footprint.expansion().unwrap_or(1.0);
        println!(
            "{:>10} {:>10} {times:>7.2}  {:<24} {}",
            footprint.padding_bytes(),
            footprint.bytes,
            buffer.instruction.name(),
            buffer.array
        );
    }

    println!("\n{:>5} {:>12} {:>12} {:>12} {:>12}", "space", "parameters", "results", "values", "at once");
    let peaks = memory.peaks().unwrap_or_default();
    for (space, usage) in memory.usage() {
        let peak = peaks.get(&space).map_or_else(|| "?".to_owned(), |peak| peak.bytes.to_string());
        println!(
            "{:>5} {:>12} {:>12} {:>12} {peak:>12}",
            format!("S({space})"),
            usage.parameters.bytes,
            usage.results.bytes,
            usage.values.bytes
        );
    }
    Ok(())
}
