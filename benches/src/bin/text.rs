//! The speed of reading texts: modules, a very large module and its memory, the shapes of instructions, shapes in any text, single shapes, and
//! texts that are designed to be slow. Prints a table, or JSON lines with `--json`.

use benches::time;
use std::collections::HashSet;
use std::hint::black_box;
use std::time::Instant;
use xla_shape_core::Shape;
use xla_shape_corpus::hlo_modules;
use xla_shape_hlo::proto::proto_text;
use xla_shape_hlo::{Module, Opcode, find_shapes, instruction_shapes};

/// Prints figures, for people or for programs.
struct Report {
    json: bool,
}

impl Report {
    fn head(&self, text: &str) {
        if !self.json {
            println!("\n{text}");
        }
    }

    fn line(&self, group: &str, case: &str, value: f64, unit: &str) {
        if self.json {
            let row = serde_json::json!({ "group": group, "case": case, "value": value, "unit": unit });
            println!("{row}");
        } else {
            println!("  {case:<52} {value:>10.2} {unit}");
        }
    }
}

fn main() {
    let report = Report { json: std::env::args().any(|argument| argument == "--json") };
    modules(&report);
    large(&report);
    shapes(&report);
    hostile(&report);
}

fn modules(report: &Report) {
    let modules = hlo_modules();
    for set in ["tpu-hlo", "tpu-hlo-before", "cpu-hlo"] {
        let texts: Vec<_> = modules.iter().filter(|row| row.set == set).map(|row| row.text.as_str()).collect();
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let speed = |seconds: f64| bytes as f64 / seconds / 1e6;
        report.head(&format!("{set}: {} modules, {:.1} MB", texts.len(), bytes as f64 / 1e6));
        let parse = time(|| texts.iter().for_each(|text| drop(black_box(Module::parse(text)))));
        report.line(set, "Module::parse", speed(parse), "MB/s");
        let spans = time(|| _ = black_box(texts.iter().map(|text| instruction_shapes(text).count()).sum::<usize>()));
        report.line(set, "instruction_shapes", speed(spans), "MB/s");
        let found = time(|| _ = black_box(texts.iter().map(|text| find_shapes(text).count()).sum::<usize>()));
        report.line(set, "find_shapes", speed(found), "MB/s");
        let memory: usize =
            texts.iter().filter_map(|text| Module::parse(text).ok()).map(|module| module.memory_bytes()).sum();
        report.line(set, "memory of the model", memory as f64 / bytes as f64, "times the text");
        let parsed: Vec<_> = texts.iter().filter_map(|text| Module::parse(text).ok()).collect();
        let check = time(|| parsed.iter().for_each(|module| drop(black_box(module.check()))));
        report.line(set, "Module::check", speed(check), "MB/s");
        let memory = time(|| parsed.iter().for_each(|module| drop(black_box(module.memory().peaks()))));
        report.line(set, "Module::memory, with peaks", speed(memory), "MB/s");
        let print = time(|| parsed.iter().for_each(|module| drop(black_box(module.to_string()))));
        report.line(set, "Display", speed(print), "MB/s");
        let messages: Vec<_> = parsed.iter().filter_map(|module| module.to_proto().ok()).collect();
        let bytes: usize = messages.iter().map(Vec::len).sum();
        let speed = |seconds: f64| bytes as f64 / seconds / 1e6;
        let read = time(|| messages.iter().for_each(|message| drop(black_box(Module::from_proto(message)))));
        report.line(set, "Module::from_proto, bytes of the message", speed(read), "MB/s");
        let print = time(|| messages.iter().for_each(|message| drop(black_box(proto_text(message)))));
        report.line(set, "  of it the text", speed(print), "MB/s");
    }
}

/// A module of this many bytes: copies of a TPU program, each a computation that the entry calls.
fn repeated(bytes: usize) -> String {
    let modules = hlo_modules();
    let longest = modules.iter().filter(|row| row.set == "tpu-hlo").max_by_key(|row| row.text.len());
    let source = longest.map_or("", |row| &row.text);
    let module = Module::parse(source).unwrap_or_else(|error| panic!("{}", error.render(source)));
    let entry = module.entry().expect("a program has an entry");
    let names: HashSet<_> = module.computations().map(|computation| computation.name()).collect();
    let parameters = entry.instructions().filter(|instruction| instruction.opcode() == Opcode::Parameter);
    let mut parameters: Vec<_> =
        parameters.map(|parameter| (parameter.parameter_number(), parameter.shape().to_string())).collect();
    parameters.sort();
    let computations: String = source
        .split("\n\n")
        .filter(|block| block.starts_with('%') || block.starts_with("ENTRY"))
        .map(|block| format!("\n{}\n", block.trim_start_matches("ENTRY ")))
        .collect();
    let mut text = String::from("HloModule repeated, is_scheduled=true\n");
    let mut calls = String::new();
    for round in 0.. {
        if text.len() >= bytes {
            break;
        }
        for (number, piece) in computations.split('%').enumerate() {
            let end = piece.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).unwrap_or(piece.len());
            let (name, rest) = piece.split_at(end);
            text += if number == 0 { "" } else { "%" };
            text += name;
            if names.contains(name) {
                text += &format!(".r{round}");
            }
            text += rest;
        }
        let operands: Vec<_> = (0..parameters.len()).map(|number| format!("%p{number}")).collect();
        let (shape, operands) = (entry.root().shape(), operands.join(", "));
        calls += &format!("  %call{round} = {shape} call({operands}), to_apply=%{}.r{round}\n", entry.name());
    }
    text += "\nENTRY %main {\n";
    for (number, (_, shape)) in parameters.iter().enumerate() {
        text += &format!("  %p{number} = {shape} parameter({number})\n");
    }
    text + &calls + "  ROOT %end = f32[] constant(0)\n}\n"
}

/// A figure of `/proc/self/status` in bytes, if the system has it.
fn process_memory(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim_start_matches(':').trim().strip_suffix(" kB")?.parse().ok().map(|kilobytes: f64| kilobytes * 1024.0)
}

fn large(report: &Report) {
    const BYTES: usize = 100_000_000;
    report.head("a module of 100 MB: copies of a TPU program");
    let text = repeated(BYTES);
    // Resets the peak memory of the process.
    let counts_anew = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = process_memory("VmRSS");
    let start = Instant::now();
    let module = Module::parse(&text);
    let seconds = start.elapsed().as_secs_f64();
    let peak = process_memory("VmHWM");
    let module = module.unwrap_or_else(|error| panic!("{}", error.render(&text)));
    report.line("large", "Module::parse", text.len() as f64 / seconds / 1e6, "MB/s");
    report.line("large", "instructions", module.instructions().len() as f64 / 1e6, "M");
    report.line("large", "memory of the model", module.memory_bytes() as f64 / text.len() as f64, "times the text");
    if let (true, Some(before), Some(peak)) = (counts_anew, before, peak) {
        report.line("large", "most memory while parsing", (peak - before) / text.len() as f64, "times the text");
    }
    let speed = |seconds: f64| text.len() as f64 / seconds / 1e6;
    let check = time(|| drop(black_box(module.check())));
    report.line("large", "Module::check", speed(check), "MB/s");
    let memory = time(|| assert!(black_box(module.memory().timeline()).is_some()));
    report.line("large", "Module::memory, with its timeline", speed(memory), "MB/s");
}

fn shapes(report: &Report) {
    const RUNS: usize = 10_000;
    report.head("single shapes, parsed");
    let texts = [
        "f32[]",
        "f32[2,3]{1,0}",
        "bf16[100,200]{1,0:T(8,128)(2,1)}",
        "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}",
        "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
        "(f32[2]{0}, s32[], token[])",
    ];
    for text in texts {
        let seconds = time(|| (0..RUNS).for_each(|_| _ = black_box(&black_box(text).parse::<Shape>())));
        report.line("shapes", text, RUNS as f64 / seconds / 1e6, "M/s");
    }
    let modules = hlo_modules();
    let texts: Vec<_> = modules
        .iter()
        .flat_map(|row| instruction_shapes(&row.text).map(|span| &row.text[span.start..span.end]))
        .collect();
    let seconds = time(|| texts.iter().for_each(|text| _ = black_box(&text.parse::<Shape>())));
    report.line("shapes", "those of all instructions", texts.len() as f64 / seconds / 1e6, "M/s");
}

/// A slow case: its name, a function that reads a text, and one that makes a text with this number of pieces.
type Hostile = (&'static str, fn(&str), fn(usize) -> String);

fn module(text: &str) {
    _ = black_box(&Module::parse_with_errors(text));
}

fn shape(text: &str) {
    _ = black_box(&text.parse::<Shape>());
}

fn hostile(report: &Report) {
    let cases: [Hostile; 12] = [
        ("parentheses inside each other", module, |count| format!("x = {}{}", "(".repeat(count), ")".repeat(count))),
        ("brackets that are never closed", module, |count| "x = f32[] add((\n".repeat(count)),
        ("comments that are never closed", module, |count| "x = f32[/*\n".repeat(count)),
        ("operands that are not there", module, |count| format!("e {{\n  a = f32[] add({}b)\n}}", "b, ".repeat(count))),
        ("one long line", module, |count| format!("x = f32[] add(), y=\"{}\"", "z".repeat(count))),
        ("braces that close nothing", module, |count| "}\n".repeat(count)),
        ("a tuple of scalars", shape, |count| format!("({}s32[])", "f32[],".repeat(count))),
        ("a tuple of tiled arrays", shape, |count| format!("({}s32[])", "f32[8,128]{1,0:T(8,128)},".repeat(count))),
        ("digits", shape, |count| format!("f32[{}]", "1".repeat(count))),
        ("tiles", shape, |count| format!("f32[2]{{0:T{}}}", "(1)".repeat(count))),
        ("dimensions", shape, |count| format!("f32[{}1]", "1,".repeat(count))),
        ("comments in a shape, the last never closed", shape, |count| format!("f32[{}/*", "/**/".repeat(count))),
    ];
    report.head(
        "hostile text: time is linear, and where a large model is made, the first use of fresh memory adds to it",
    );
    for (case, read, text) in cases {
        for count in [10_000, 100_000, 1_000_000] {
            let text = text(count);
            let seconds = time(|| read(&text));
            report.line("hostile", &format!("{case}, {count}"), text.len() as f64 / seconds / 1e6, "MB/s");
        }
    }
}
