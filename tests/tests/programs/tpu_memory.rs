//! What the TPU compiler itself says of the memory of its programs, against the estimate and against what its files give.

use base64::Engine;
use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape_hlo::dump::{Allocation, BufferAssignment, LiveRanges, UsageReport};
use xla_shape_hlo::{Account, Module, Timeline};

#[derive(Deserialize)]
struct Program {
    program: String,
    generation: String,
    memory: Statistics,
    module: String,
    buffer_assignment: String,
    live_range: String,
    memory_usage_report: String,
}

/// The compiler's memory analysis.
#[derive(Deserialize)]
struct Statistics {
    argument_size_in_bytes: u64,
    output_size_in_bytes: u64,
    alias_size_in_bytes: u64,
    temp_size_in_bytes: u64,
    host_argument_size_in_bytes: u64,
    host_output_size_in_bytes: u64,
    host_alias_size_in_bytes: u64,
    host_temp_size_in_bytes: u64,
    peak_memory_in_bytes: u64,
}

impl Statistics {
    fn total(&self) -> u64 {
        self.argument_size_in_bytes + self.output_size_in_bytes + self.temp_size_in_bytes - self.alias_size_in_bytes
    }
}

fn programs() -> Vec<Program> {
    xla_shape_tests::corpus("tpu_memory.jsonl.zst")
}

/// How much more `a` is than `b`, as a part of `b`.
fn beyond(a: u64, b: u64) -> f64 {
    if b == 0 { if a == 0 { 0.0 } else { f64::INFINITY } } else { a as f64 / b as f64 - 1.0 }
}

fn given(account: &Account) -> [u64; 6] {
    let (device, host) = (account.device, account.host);
    [device.arguments, device.outputs, device.aliases, host.arguments, host.outputs, host.aliases]
}

fn given_by(memory: &Statistics) -> [u64; 6] {
    [
        memory.argument_size_in_bytes,
        memory.output_size_in_bytes,
        memory.alias_size_in_bytes,
        memory.host_argument_size_in_bytes,
        memory.host_output_size_in_bytes,
        memory.host_alias_size_in_bytes,
    ]
}

/// Prints how far the estimate of each program is off, and checks that few are and none is much too low.
fn check_estimates<'p>(programs: impl ExactSizeIterator<Item = (&'p str, &'p str, &'p str, &'p Statistics, u64)>) {
    let count = programs.len();
    println!("{:28} {:>14} {:>14} {:>8} {:>8} {:>14} {:>8}", "", "HBM", "estimate", "off", "peak", "VMEM", "off");
    let (mut hbm_close, mut peak_close, mut vmem_close) = (0, 0, 0);
    for (program, generation, text, memory, vmem) in programs {
        let name = format!("{program}__{generation}");
        let module = Module::parse(text).unwrap();
        let generation = generation.parse().unwrap();
        let values = module.memory();
        let timeline: Timeline<'_, '_> = values.timeline_on(Some(generation)).unwrap();
        let account = timeline.account();
        assert!(!account.exact && timeline.is_scheduled());
        // What is given and returned is exact.
        assert_eq!(given(account), given_by(memory), "{name}");
        let estimated = account.heaps.get(&1).copied().unwrap_or(0);
        let (total, wanted) = (account.device.total(), memory.total());
        let off = [beyond(total, wanted), beyond(account.peak, memory.peak_memory_in_bytes), beyond(estimated, vmem)];
        println!(
            "{name:28} {wanted:>14} {total:>14} {:>7.2}% {:>7.2}% {vmem:>14} {:>7.2}%",
            off[0] * 100.0,
            off[1] * 100.0,
            off[2] * 100.0
        );
        hbm_close += usize::from(off[0].abs() <= 0.02 || total.abs_diff(wanted) <= 256 << 10);
        peak_close += usize::from(off[1].abs() <= 0.05);
        vmem_close += usize::from(off[2].abs() <= 0.10);
        assert!(off[0] >= -0.02, "{name}: never much too low");
        assert!(estimated <= generation.vmem_bytes(), "{name}: no more than the device has");
    }
    println!("of {count}: HBM {hbm_close}, peak {peak_close}, VMEM {vmem_close} close");
    assert!(hbm_close * 10 >= count * 9);
    assert!(peak_close * 10 >= count * 9);
    assert!(vmem_close * 5 >= count * 4);
}

#[test]
fn estimates_are_close() {
    let programs = programs();
    let heaps = programs.iter().map(|row| {
        let assignment = BufferAssignment::parse(&row.buffer_assignment).unwrap();
        assignment.account().heaps.get(&1).copied().unwrap_or(0)
    });
    let heaps: Vec<u64> = heaps.collect();
    let rows = programs.iter().zip(heaps);
    check_estimates(
        rows.map(|(row, vmem)| (row.program.as_str(), row.generation.as_str(), row.module.as_str(), &row.memory, vmem)),
    );
}

/// Programs that were compiled when the estimate stood already.
#[derive(Deserialize)]
struct Unseen {
    program: String,
    generation: String,
    memory: Statistics,
    /// The bytes of the heap of each memory space.
    heaps: BTreeMap<String, u64>,
    module: String,
    /// The message with the buffer assignment in it, and the same as text, of a few.
    proto: Option<String>,
    buffer_assignment: Option<String>,
}

#[test]
fn estimates_of_programs_that_were_not_looked_at_are_close() {
    let programs: Vec<Unseen> = xla_shape_tests::corpus("tpu_memory_more.jsonl.zst");
    check_estimates(programs.iter().map(|row| {
        let vmem = row.heaps.get("1").copied().unwrap_or(0);
        (row.program.as_str(), row.generation.as_str(), row.module.as_str(), &row.memory, vmem)
    }));
}

#[test]
fn a_message_has_the_assignment_of_the_text() {
    let programs: Vec<Unseen> = xla_shape_tests::corpus("tpu_memory_more.jsonl.zst");
    let mut messages = 0;
    for row in &programs {
        let (Some(proto), Some(text)) = (&row.proto, &row.buffer_assignment) else { continue };
        messages += 1;
        let bytes = base64::engine::general_purpose::STANDARD.decode(proto).unwrap();
        let found = BufferAssignment::from_proto(&bytes).unwrap().unwrap();
        let expected = BufferAssignment::parse(text).unwrap();
        assert_eq!(found.allocations().len(), expected.allocations().len(), "{}", row.program);
        for (found, expected) in found.allocations().iter().zip(expected.allocations()) {
            // The text says of a phi value that it is one, and of a table what it holds.
            let bare = |allocation: &Allocation| {
                let mut allocation = allocation.clone();
                for value in &mut allocation.values {
                    value.meets = false;
                    if value.is_tuple() {
                        value.shape = "()".to_owned();
                    }
                }
                allocation.values.sort_by(|a, b| (&a.instruction, &a.index).cmp(&(&b.instruction, &b.index)));
                allocation
            };
            assert_eq!(bare(found), bare(expected), "{}", row.program);
        }
        assert_eq!(found.account(), expected.account());
        // The message alone makes its module's memory exact.
        let module = Module::from_proto(&bytes).unwrap();
        let timeline = module.memory().timeline_on(None).unwrap().with_assignment(&found).unwrap();
        assert_eq!(timeline.account().device.total(), row.memory.total(), "{}", row.program);
        // Cut anywhere, it is an error or no assignment.
        for length in (0..bytes.len()).step_by(997) {
            let _ = BufferAssignment::from_proto(&bytes[..length]);
        }
    }
    assert!(messages >= 5);
}

#[test]
fn the_files_of_the_compiler_are_exact() {
    for row in programs() {
        let name = format!("{}__{}", row.program, row.generation);
        let module = Module::parse(&row.module).unwrap();
        let assignment = BufferAssignment::parse(&row.buffer_assignment).unwrap();
        UsageReport::parse(&row.memory_usage_report).unwrap().check(&assignment).unwrap();
        let timeline = module.memory().timeline_on(None).unwrap().with_assignment(&assignment).unwrap();
        timeline.check_live_ranges(&LiveRanges::parse(&row.live_range).unwrap()).unwrap();
        let account = timeline.account();
        assert!(account.exact);
        assert_eq!(given(account), given_by(&row.memory), "{name}");
        assert_eq!(account.device.temporaries, row.memory.temp_size_in_bytes, "{name}");
        assert_eq!(account.host.temporaries, row.memory.host_temp_size_in_bytes, "{name}");
        assert_eq!(account.device.total(), row.memory.total(), "{name}");
        // Nothing that is there at one time overlaps in the heap, by the live ranges that we find ourselves.
        for space in [0, 1, 5] {
            let heap: Vec<_> = timeline
                .lifetimes()
                .iter()
                .filter(|lifetime| lifetime.buffer.memory_space() == space && lifetime.offset.is_some())
                .collect();
            for (number, a) in heap.iter().enumerate() {
                for b in &heap[number + 1..] {
                    let (from, to) = (a.offset.unwrap(), b.offset.unwrap());
                    let apart = from + a.bytes <= to || to + b.bytes <= from;
                    let together = a.spans().iter().any(|x| b.spans().iter().any(|y| x.0 < y.1 && y.0 < x.1));
                    let names = [a, b].map(|lifetime| lifetime.buffer.instruction.name());
                    assert!(space == 1 || apart || !together, "{name}: {names:?}");
                }
            }
        }
    }
}

#[test]
fn files_of_another_program_are_refused() {
    let programs = programs();
    let pick = |program: &str| programs.iter().find(|row| row.program == program && row.generation == "v5e").unwrap();
    let (one, other) = (pick("moe"), pick("convnet"));
    let module = Module::parse(&one.module).unwrap();
    let timeline = module.memory().timeline().unwrap();
    let ranges = LiveRanges::parse(&other.live_range).unwrap();
    assert!(
        timeline.check_live_ranges(&ranges).unwrap_err().to_string().starts_with("the file belongs to another module")
    );
    let assignment = BufferAssignment::parse(&other.buffer_assignment).unwrap();
    assert!(timeline.with_assignment(&assignment).unwrap_err().to_string().starts_with("the file belongs to another"));
}
