//! The seeds of the targets: the texts, messages and modules of the corpus.
//!
//! Targets that make arrays from arbitrary bytes have no seeds.

use crate::{corpus, hlo_modules};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use xla_shape::hlo::Module;
use xla_shape::notations::{AnyLayout, Notation};
use xla_shape::proto::{encode_shape, encode_sharding};
use xla_shape::shard::Sharding;
use xla_shape::{ArrayShape, Shape};

/// Larger seeds make every run slower and find nothing more.
const MAX_SEED: usize = 8 << 10;

/// A seed: an input with which fuzzing begins.
pub struct Seed {
    /// The target of the seed.
    pub target: &'static str,
    /// The name of the seed, unique for the target.
    pub name: String,
    /// The input.
    pub content: Vec<u8>,
}

#[derive(Deserialize)]
struct Called {
    name: String,
    program: String,
}

#[derive(Deserialize)]
struct Form {
    text: String,
}

#[derive(Deserialize)]
struct Row {
    input: String,
}

#[derive(Deserialize)]
struct Bitcast {
    operand: String,
    result: String,
}

#[derive(Deserialize)]
struct Vector {
    layout: String,
}

#[derive(Deserialize)]
struct Sharded {
    text: String,
}

/// All seeds.
///
/// # Panics
/// If a file of the corpus is missing or broken.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    let mut seed = |target, name: &str, content: &[u8]| {
        let content = content.get(..MAX_SEED).unwrap_or(content).to_vec();
        seeds.push(Seed { target, name: name.to_owned(), content });
    };
    let rows: Vec<Row> = corpus("shapes.jsonl");
    // Neighbouring rows are similar, so take every seventh.
    for (number, row) in rows.iter().enumerate().step_by(7) {
        let name = number.to_string();
        seed("shape_text", &name, row.input.as_bytes());
        seed("scan", &name, format!("Allocation: {}, 32.0K; ", row.input).as_bytes());
        let Ok(shape) = row.input.parse::<Shape>() else { continue };
        seed("proto", &name, &encode_shape(&shape));
        seed("serde", &name, &postcard::to_allocvec(&shape).expect("a shape has a structure"));
        seed("serde", &format!("{name}-json"), &serde_json::to_vec(&shape).expect("a shape has a text"));
        if let Ok(array) = row.input.parse::<ArrayShape>() {
            let layout = AnyLayout::of_array(&array).ok();
            for (first, &notation) in Notation::ALL.iter().enumerate() {
                if let Some(Ok(text)) = layout.as_ref().map(|layout| layout.write(notation)) {
                    let first = u8::try_from(first).unwrap_or(0);
                    seed("notation_text", &format!("{name}-{notation}"), &[&[first], text.as_bytes()].concat());
                }
            }
            seed("layout_text", &name, array.layout().to_string().as_bytes());
        }
    }
    // The first four bytes are the sizes of the pieces in which the lines arrive.
    for (number, rows) in rows.chunks(40).enumerate().step_by(5) {
        let lines = rows.iter().map(|row| row.input.as_str()).collect::<Vec<_>>().join("\n");
        seed("check", &number.to_string(), format!("~ !{}{lines}", char::from(0)).as_bytes());
    }
    let forms: Vec<Form> = corpus("hlo_forms.jsonl.zst");
    for (number, form) in forms.iter().enumerate() {
        // Only the entry computation, because the text before it is the same in all forms.
        let entry = form.text.find("ENTRY ").and_then(|start| form.text.get(start..)).unwrap_or(&form.text);
        seed("hlo_module", &format!("form-{number}"), entry.as_bytes());
        if number % 10 == 0
            && let Ok(module) = Module::parse(entry)
            && let Ok(proto) = module.to_proto()
        {
            seed("proto", &format!("module-{number}"), &proto);
        }
    }
    for module in hlo_modules() {
        seed("hlo_module", &module.module, module.text.as_bytes());
        seed("scan", &module.module, module.text.as_bytes());
    }
    for (number, vector) in corpus::<Vector>("vector_registers.jsonl").iter().enumerate() {
        seed("vector_layout", &number.to_string(), vector.layout.as_bytes());
    }
    for row in corpus::<Called>("called_kernels.jsonl.zst") {
        // MLIR's text has `\22` for quotes around the kernel's code.
        let code = row.program.split_once("body").and_then(|(_, rest)| rest.split('\\').nth(2)?.strip_prefix("22"));
        let code = code.and_then(|code| BASE64_STANDARD.decode(code).ok()).unwrap_or_default();
        seed("bytecode", &row.name, &code);
    }
    seed("kernel_dump", "first", &super::kernel_dump::example());
    let shardings: Vec<Sharded> = corpus("shardings.jsonl.zst");
    for (number, sharding) in shardings.iter().enumerate().step_by(13) {
        seed("sharding_text", &number.to_string(), sharding.text.as_bytes());
        if let Ok(sharding) = sharding.text.parse::<Sharding>() {
            seed("proto", &format!("sharding-{number}"), &encode_sharding(&sharding));
        }
    }
    let bitcasts: Vec<Bitcast> = corpus("bitcasts.jsonl");
    let two = |shape: &str| format!("{}\n{}", shape, "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
    for (number, Bitcast { operand, result }) in bitcasts.iter().enumerate().step_by(40) {
        let name = number.to_string();
        seed("decisions", &name, format!("{operand}\n{result}\n{}", "{devices=[2,2]<=[4]}\n{replicated}").as_bytes());
    }
    for (number, [a, b]) in hostile().into_iter().enumerate() {
        seed("decisions", &format!("hostile-{number}"), format!("{a}\n{}", two(&b)).as_bytes());
        seed("shape_text", &format!("hostile-{number}"), a.as_bytes());
    }
    // Answers of all kinds, mostly valid ones.
    for first in 0..40_u8 {
        let answers =
            (0..250_u8).map(|i| if i % 3 == 0 { 200 + (i.wrapping_mul(7) ^ first) % 40 } else { first ^ (i / 5) });
        seed("plugin", &first.to_string(), &answers.collect::<Vec<_>>());
    }
    for kernel in 0..24_u8 {
        let call = (0..90_u8).map(|i| if i == 0 { kernel } else { i.wrapping_mul(37).wrapping_add(kernel) | 1 });
        seed("ffi_call", &kernel.to_string(), &call.collect::<Vec<_>>());
    }
    // The compiler's files for the program that the target `dump` reads.
    seed("dump", "assignment", DUMP.as_bytes());
    seeds
}

/// Pairs of shapes that are designed to take long.
fn hostile() -> Vec<[String; 2]> {
    let mut pairs = Vec::new();
    for tiles in ["(*,*,7)(*,5)(2,3)", "(*,2)", "(2)", "(*,*,1)", "(*,3)(2)", "(*,1)(2,1)", "(2,2)(3)", "(*,*,2)(3,3)"]
    {
        for repeats in [1, 5, 20, 100, 400] {
            let shape = |end: &str| format!("f32[10,20,30]{{2,1,0:T{}{end}}}", tiles.repeat(repeats));
            pairs.extend([[shape(""), shape("(3)")], [shape(""), shape("")], [shape("(1)"), shape("(2,1)")]]);
        }
    }
    for (size, count) in [("1,", 1000), ("2,", 50), ("?,", 200), ("<=3,", 30), ("1,2,", 55), ("3,1,", 30)] {
        let order = (0..=count * size.matches(',').count()).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        let list = size.repeat(count);
        pairs.push([format!("f32[{list}1]"), format!("f32[1,{list}]{{{order}}}").replace(",]", "]")]);
        pairs.push([format!("s4[{list}1]{{{order}:T(2,2)E(4)}}"), format!("s4[{list}1]")]);
    }
    pairs
}

/// The files for the program that the target `dump` reads, with a line of `=` between them.
const DUMP: &str = "\
BufferAssignment:
allocation 0: size 4096, page 0, parameter 0, shape |f32[8,128]| at ShapeIndex {}:
 value: <1 a @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
allocation 1: size 4096, page 0, output shape is |f32[8,128]|, maybe-live-out:
 value: <3 b @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
 value: <4 w{0} @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
allocation 2: size 8704, page 0, preallocated-temp:
 value: <5 y @0> (size=4096,offset=512): f32[8,128]{1,0:T(8,128)}
=
HloLiveRange (max 2):
  InstructionSequence:
    0:a
    1:b
  BufferLiveRange:
    a{}:0-2
    b{}:1-2
=
Memory Space: vmem (color=0)
Total bytes: 16896 (16.5KiB)
";
