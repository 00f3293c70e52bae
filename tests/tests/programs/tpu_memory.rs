//! The TPU compiler's figures for the memory of its programs, compared with our estimate and with the figures from its files.

use base64::Engine;
use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape_hlo::dump::{Allocation, BufferAssignment, LiveRanges, UsageReport};
use xla_shape_hlo::{Account, Module, Role, Timeline};

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

/// By how much `a` is larger than `b`, as a fraction of `b`.
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

/// Prints the error of the estimate for each program. Checks that few estimates are off, and that none is much too low.
fn check_estimates<'p>(programs: impl ExactSizeIterator<Item = (&'p str, &'p str, &'p str, &'p Statistics, u64)>) {
    let count = programs.len();
    println!("{:28} {:>14} {:>14} {:>8} {:>8} {:>14} {:>8}", "", "HBM", "estimate", "off", "peak", "VMEM", "off");
    let (mut hbm_close, mut peak_close, mut vmem_close) = (0, 0, 0);
    for (program, generation, text, memory, vmem) in programs {
        let name = format!("{program}__{generation}");
        let module = Module::parse(text).unwrap();
        let generation = generation.parse().unwrap();
        let values = module.memory();
        let timeline: Timeline<'_> = values.timeline_on(Some(generation)).unwrap();
        let account = timeline.account();
        assert!(!account.exact && timeline.is_scheduled());
        // The bytes of arguments and results are exact.
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

/// Programs that were compiled after the estimate was written.
#[derive(Deserialize)]
struct Unseen {
    program: String,
    generation: String,
    memory: Statistics,
    /// The bytes of the heap of each memory space.
    heaps: BTreeMap<String, u64>,
    module: String,
    /// For a few programs: the message that contains the buffer assignment, and the buffer assignment as text.
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

/// A text has asynchronous operations in long form. A module that is read from the message has the short form wherever XLA prints it.
#[test]
fn a_message_has_the_estimate_of_its_text() {
    let rows = programs().into_iter().map(|row| (row.program, row.module));
    let unseen: Vec<Unseen> = xla_shape_tests::corpus("tpu_memory_more.jsonl.zst");
    let rows = rows.chain(unseen.into_iter().map(|row| (row.program, row.module)));
    let rows = rows.chain(of_releases().into_iter().map(|row| (row.program, row.module)));
    let (mut short, mut all) = (0, 0);
    for (program, text) in xla_shape_tests::every(3, rows) {
        let module = Module::parse(&text).unwrap();
        let message = Module::from_proto(&module.to_proto().unwrap()).unwrap();
        let device = |module: &Module| module.memory().timeline().unwrap().account().device;
        assert_eq!(device(&message), device(&module), "{program}");
        short += usize::from(message.instructions().any(|found| found.long_form().is_some()));
        all += 1;
    }
    assert!(short * 3 > all, "{short} of {all} programs have asynchronous operations in short form");
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
            // Only the text marks phi values, and gives the shapes of tuples.
            let bare = |allocation: &Allocation| {
                let mut allocation = allocation.clone();
                for value in &mut allocation.values {
                    value.is_phi = false;
                    if value.is_tuple() {
                        value.shape = "()".to_owned();
                    }
                }
                allocation.values.sort_by(|a, b| (&a.instruction, &a.index).cmp(&(&b.instruction, &b.index)));
                allocation
            };
            assert_eq!(bare(found), bare(expected), "{}", row.program);
        }
        // Only the message gives the most bytes that are live at one time.
        assert_eq!(found.account(), expected.completed_by(&found).account());
        // The message alone is enough for an exact answer about its module's memory.
        let module = Module::from_proto(&bytes).unwrap();
        let timeline = module.memory().timeline_on(None).unwrap().with_assignment(&found).unwrap();
        assert_eq!(timeline.account().device.total(), row.memory.total(), "{}", row.program);
        // A message that is cut off anywhere gives an error or no assignment.
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
        // Values that are live at the same time, by our own live ranges, do not overlap in the heap.
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
                    let together =
                        a.live_ranges().iter().any(|x| b.live_ranges().iter().any(|y| x.0 < y.1 && y.0 < x.1));
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
        timeline
            .check_live_ranges(&ranges)
            .unwrap_err()
            .to_string()
            .starts_with("the file is not complete, or belongs")
    );
    let assignment = BufferAssignment::parse(&other.buffer_assignment).unwrap();
    assert!(
        timeline
            .with_assignment(&assignment)
            .unwrap_err()
            .to_string()
            .starts_with("the file is not complete, or belongs")
    );
}

/// Programs as several releases of the compiler dumped them.
#[derive(Deserialize)]
struct OfRelease {
    program: String,
    generation: String,
    libtpu: String,
    memory: BTreeMap<String, u64>,
    module: String,
    buffer_assignment: String,
    live_range: Option<String>,
    memory_usage_report: String,
    proto: Option<String>,
}

impl OfRelease {
    fn of(&self, name: &str) -> u64 {
        self.memory[&format!("{name}_size_in_bytes")]
    }
}

fn of_releases() -> Vec<OfRelease> {
    xla_shape_tests::corpus("tpu_memory_versions.jsonl.zst")
}

#[test]
fn the_files_of_every_release_are_exact() {
    let (mut with_gaps, mut uncertain) = (0, 0);
    for row in of_releases() {
        let name = format!("{}__{} of libtpu {}", row.program, row.generation, row.libtpu);
        let module = Module::parse(&row.module).unwrap();
        let values = module.memory();
        let text = BufferAssignment::parse(&row.buffer_assignment).unwrap();
        UsageReport::parse(&row.memory_usage_report).unwrap().check(&text).unwrap();
        let message = row.proto.as_ref().map(|proto| base64::engine::general_purpose::STANDARD.decode(proto).unwrap());
        let message = message.map(|bytes| BufferAssignment::from_proto(&bytes).unwrap().unwrap());
        for message in [None, message.as_ref()] {
            let assignment = message.iter().fold(text.clone(), |text, message| text.completed_by(message));
            with_gaps += usize::from(assignment.counts_gaps());
            let timeline = values.timeline_on(None).unwrap().with_assignment(&assignment).unwrap();
            assert!(timeline.warnings().is_empty() && timeline.is_assigned(), "{name}: {:?}", timeline.warnings());
            if let Some(ranges) = &row.live_range {
                timeline.check_live_ranges(&LiveRanges::parse(ranges).unwrap()).unwrap();
            }
            let account = timeline.account();
            let (device, host) = (account.device, account.host);
            assert_eq!(
                [device.arguments, device.outputs, device.aliases],
                ["argument", "output", "alias"].map(|part| row.of(part)),
                "{name}"
            );
            assert_eq!(host.temporaries, row.of("host_temp"), "{name}");
            // libtpu 0.0.47 counts gaps, and only its message shows this.
            if row.libtpu == "0.0.47" && message.is_none() {
                continue;
            }
            let more = row.of("temp") - device.temporaries;
            assert!(more <= account.may_be_more, "{name}: {more}");
            assert_eq!(account.exact, account.may_be_more == 0, "{name}");
            assert!(account.exact || message.is_none(), "{name}: the message says how much lives at one time");
            uncertain += usize::from(!account.exact);
        }
    }
    assert!(with_gaps >= 9 && uncertain > 0);
}

#[test]
fn modules_of_older_releases_are_told_from_those_of_newer_ones() {
    let unseen: Vec<Unseen> = xla_shape_tests::corpus("tpu_memory_more.jsonl.zst");
    let newer = programs().into_iter().map(|row| row.module).chain(unseen.into_iter().map(|row| row.module));
    let sign = |text: &str| Module::parse(text).unwrap().sign_of_older_release();
    for text in newer {
        assert_eq!(sign(&text), None, "{}", &text[..200]);
    }
    let mut told = BTreeMap::<String, (usize, usize)>::new();
    for row in of_releases() {
        let (found, all) = told.entry(row.libtpu.clone()).or_default();
        (*found, *all) = (*found + usize::from(sign(&row.module).is_some()), *all + 1);
    }
    for release in ["0.0.17", "0.0.30"] {
        let (found, all) = told[release];
        assert_eq!(found, all, "{release}");
    }
    // Modules for v4 have no VMEM for values.
    assert!(told["0.0.42"].0 > 0);
    assert_eq!(told["0.0.52"].0, 0);
}

#[test]
fn estimates_place_values_as_the_compiler_does() {
    // If several values begin together, the one that ends first is placed first; `recv-done` has its own tuple table; single elements and tuple
    // tables need no memory.
    let mut found = 0;
    for row in of_releases().iter().filter(|row| row.libtpu == "0.0.52") {
        let module = Module::parse(&row.module).unwrap();
        let timeline = module.memory().timeline_on(Some(row.generation.parse().unwrap())).unwrap();
        assert_eq!(timeline.account().device.temporaries, row.of("temp"), "{}", row.program);
        found += 1;
    }
    assert!(found >= 5);
}

/// Programs for CPU, and the files beside them by name.
#[derive(Deserialize)]
struct OnCpu {
    program: String,
    jaxlib: String,
    memory: BTreeMap<String, u64>,
    files: BTreeMap<String, String>,
}

#[test]
fn the_files_of_programs_for_cpu_are_exact() {
    let rows: Vec<OnCpu> = xla_shape_tests::corpus("cpu_memory.jsonl.zst");
    assert!(rows.len() >= 6);
    for row in rows {
        let name = format!("{} of jaxlib {}", row.program, row.jaxlib);
        let files = xla_shape_hlo::dump::dump_files(row.files.keys().map(String::as_str));
        let [files] = files.as_slice() else { panic!("{name}: one compilation, found {files:?}") };
        assert!(files.prefix.ends_with(".cpu"), "{name}");
        let read = |name: &Option<String>| &row.files[name.as_ref().unwrap()];
        let module = Module::parse(read(&files.module)).unwrap();
        let timeline = module.memory().timeline_on(None).unwrap();
        assert!(!timeline.is_for_tpu() && !timeline.account().exact, "{name}");
        let assignment = BufferAssignment::parse(read(&files.buffer_assignment)).unwrap();
        UsageReport::parse(read(&files.memory_usage_report)).unwrap().check(&assignment).unwrap();
        let timeline = timeline.with_assignment(&assignment).unwrap();
        assert!(timeline.warnings().is_empty(), "{name}: {:?}", timeline.warnings());
        let account = timeline.account();
        let device = account.device;
        let wanted = ["argument", "output", "alias", "temp"].map(|part| row.memory[&format!("{part}_size_in_bytes")]);
        assert_eq!([device.arguments, device.outputs, device.aliases, device.temporaries], wanted, "{name}");
        if let Some(&peak) = row.memory.get("peak_memory_in_bytes") {
            assert_eq!(account.peak, peak, "{name}");
        }
        // Values of one allocation count once.
        let most = timeline.bytes()[&0].iter().max().unwrap();
        assert!(*most <= device.total() + assignment.constant_bytes(), "{name}: {most}");
    }
}

/// Programs for devices other than TPUs, with the compiler's memory analysis.
#[derive(Deserialize)]
struct OnOther {
    program: String,
    device: String,
    module: String,
    memory: BTreeMap<String, u64>,
}

/// The rules are those of `crates/hlo/src/memory/sharing.rs`; the programs for CPUs are those of `scripts/data/cpu_memory.py`.
#[test]
fn temporaries_share_memory_with_results_on_cpus_and_gpus() {
    let rows: Vec<OnOther> = xla_shape_tests::corpus("other_memory.jsonl.zst");
    let (mut near, mut all) = (BTreeMap::<String, usize>::new(), BTreeMap::<String, usize>::new());
    for row in rows {
        let module = Module::parse(&row.module).unwrap();
        assert!(module.check().is_empty(), "{}: {:?}", row.program, module.check());
        let timeline = module.memory().timeline_on(None).unwrap();
        let device = timeline.account().device;
        let wanted = ["argument", "output", "alias"].map(|part| row.memory[part]);
        assert_eq!([device.arguments, device.outputs, device.aliases], wanted, "{}", row.program);
        let (found, wanted) = (device.temporaries, row.memory["temp"]);
        let within = |thousandths: u64| found.abs_diff(wanted) * 1000 <= wanted * thousandths;
        match row.device.as_str() {
            "cpu" => assert!(within(1), "{}: {found} and not {wanted}", row.program),
            _ => *near.entry(row.device.clone()).or_default() += usize::from(within(20)),
        }
        *all.entry(row.device).or_default() += 1;
        // Values that share memory count once at each step.
        let most = timeline.bytes().get(&0).map_or(0, |live| live.iter().copied().max().unwrap_or(0));
        let constants = timeline.lifetimes().iter().filter(|lifetime| lifetime.role == Role::Constant);
        let constants = constants.map(|lifetime| lifetime.bytes).sum::<u64>();
        assert!(most <= device.total() + constants, "{}: {most}", row.program);
    }
    assert_eq!((all["cpu"], all["gpu"], near["gpu"]), (50, 16, 15));
}
