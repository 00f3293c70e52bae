//! Dumps of kernels that libtpu wrote: our counts agree with the compiler's, and broken, mixed or unknown dumps give an answer or an error.

use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use xla_shape_answers::{Answer, kernel::Kernels};
use xla_shape_mlir::Module;
use xla_shape_mosaic::{
    Bundles, DumpedKernel, FileKind, FileName, Kernel, Relayout, Schedule, Slot, Texts, Utilization, kernels, loops,
    xla_instructions,
};
use xla_shape_render::Show;
use xla_shape_tests::{corpus, every};

/// A kernel compiled for a TPU.
#[derive(Deserialize)]
struct Row {
    kernel: String,
    #[serde(rename = "for")]
    generation: String,
    /// For each instruction that calls a kernel: its number of bundles, and of empty ones, in the compiler's analysis.
    calls: BTreeMap<String, (u64, u64)>,
    /// For each text of Mosaic: how often `out_layout` and relayouts occur, counted without this project.
    texts: Vec<(u64, u64)>,
    files: BTreeMap<String, String>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| corpus("kernel_dumps.jsonl.zst"));

impl Row {
    fn files(&self) -> Vec<(&str, &str)> {
        self.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
    }

    fn of(&self, kind: FileKind) -> impl Iterator<Item = &str> {
        let wanted = move |name: &str| FileName::parse(name).is_some_and(|name| name.kind == kind);
        self.files.iter().filter(move |(name, _)| wanted(name)).map(|(_, text)| text.as_str())
    }
}

#[test]
fn counts_equal_the_compilers() {
    assert!(ROWS.len() >= 60, "{}", ROWS.len());
    for row in ROWS.iter() {
        let name = format!("{} {}", row.kernel, row.generation);
        let files = row.files();
        let found = kernels(&files);
        let calls = found.iter().filter_map(|found| Some((found.instruction?.to_owned(), &found.kernel)));
        let calls = calls.map(|(instruction, kernel)| (instruction, (kernel.bundles.unwrap(), kernel.empty.unwrap())));
        assert_eq!(calls.collect::<BTreeMap<_, _>>(), row.calls, "{name}");
        let texts = found.iter().map(|found| {
            let relayouts = found.kernel.relayouts.as_ref().map_or(0, Vec::len) as u64;
            (found.kernel.operations.unwrap_or(0), relayouts)
        });
        let mut texts = texts.collect::<Vec<_>>();
        texts.sort_unstable();
        assert_eq!(texts, row.texts, "{name}");
        for DumpedKernel { kernel, notes, .. } in &found {
            assert_eq!((notes.as_slice(), &kernel.unread), (&[][..], &BTreeMap::new()), "{name}");
            // The compiler's counts of spills and fills are those of vector registers only, because spills of scalar registers use no vector unit.
            let used = |unit: &str| kernel.units.iter().find(|found| found.name == unit).map(|found| found.used);
            let [stores, loads] = kernel.scalar_spills;
            for (unit, vectors) in [("VSTORE:SPILL", kernel.spills - stores), ("VLOAD:FILL", kernel.fills - loads)] {
                assert!(used(unit).is_none_or(|used| used == vectors), "{name}: {unit} {vectors} {:?}", used(unit));
            }
            assert!(
                kernel.lines.values().all(|line| line.moving <= line.relayouts && line.bundles <= line.slots),
                "{name}"
            );
            let bundles = kernel.bundles.unwrap();
            assert!(kernel.executed.is_none_or(|executed| executed >= bundles), "{name}");
            assert!(
                kernel.executed.is_none_or(|executed| kernel.least.is_none_or(|least| least <= executed)),
                "{name}"
            );
            assert!(kernel.executed_empty <= kernel.executed, "{name}");
            for inside in &kernel.loops {
                assert!(
                    inside.found.last < usize::try_from(bundles).unwrap() && inside.empty <= inside.bundles,
                    "{name}"
                );
                let full = |unit: &xla_shape_mosaic::Unit<'_>| unit.used <= unit.capacity * inside.bundles;
                assert!(inside.units.iter().all(full), "{name}: {inside:?}");
            }
        }
    }
}

/// The parts of a text are read correctly: names of operations, their nesting, attributes and locations.
#[test]
fn operations_are_found_whole() {
    for row in ROWS.iter() {
        for text in row.of(FileKind::Relayout) {
            let module = Module::parse(text).unwrap();
            assert_eq!(module.unread(), [""; 0]);
            for operation in module.operations() {
                assert!(!operation.name().is_empty() && !operation.name().contains(' '), "{operation:?}");
                let parent = operation.parent().map(|parent| module.operations()[parent].name());
                let expected = match operation.name() {
                    "module" => parent.is_none(),
                    "func.func" => parent == Some("module"),
                    "scf.yield" => parent.is_some_and(|parent| parent.starts_with("scf.")),
                    _ => parent.is_some(),
                };
                assert!(expected, "{}: {parent:?} {operation:?}", row.kernel);
            }
            let locations = module.operations().iter().filter(|operation| module.source(operation).is_some()).count();
            assert!(!text.contains("loc(\"kernels.py\"") || locations > 0, "{}", row.kernel);
        }
    }
}

#[test]
fn bundles_rows_and_analyses_agree() {
    for row in ROWS.iter() {
        let subjects =
            row.files.keys().filter_map(|name| FileName::parse(name)).filter(|name| name.kind == FileKind::Bundles);
        for subject in subjects.map(|name| (name.time, name.subject)) {
            let text = |kind| {
                let same = |name: &&String| {
                    FileName::parse(name)
                        .is_some_and(|name| (name.time, name.subject, name.kind) == (subject.0, subject.1, kind))
                };
                row.files.iter().find(|(name, _)| same(name)).map(|(_, text)| text.as_str()).unwrap()
            };
            let bundles = Bundles::parse(text(FileKind::Bundles));
            assert!(bundles.unread() == 0 && !bundles.is_cut_off(), "{subject:?}");
            let addresses = bundles.bundles().iter().map(xla_shape_mosaic::Bundle::address);
            assert!(addresses.eq(0..bundles.bundles().len() as u64), "{subject:?}");
            let utilization = Utilization::parse(text(FileKind::Utilization));
            assert_eq!((utilization.rows().len(), utilization.unread()), (bundles.bundles().len(), 0), "{subject:?}");
            let schedule = Schedule::parse(text(FileKind::Schedule));
            // The compiler's analysis lacks some instructions.
            if let (Some(total), Some(empty)) = (schedule.total, schedule.empty) {
                assert_eq!((total, empty), (bundles.bundles().len() as u64, bundles.empty() as u64), "{subject:?}");
            }
        }
    }
}

#[test]
fn dumps_of_several_runs_are_told_apart() {
    let timed = |row: &&Row| row.files.keys().all(|name| FileName::parse(name).is_some_and(|name| name.time.is_some()));
    let rows = ROWS.iter().filter(timed).take(12).collect::<Vec<_>>();
    assert!(rows.len() > 2);
    let mut files = rows.iter().flat_map(|row| row.files()).collect::<Vec<_>>();
    files.sort_unstable();
    let found = kernels(&files);
    let mut got =
        found.iter().filter_map(|found| Some((found.kernel.bundles?, found.kernel.empty?))).collect::<Vec<_>>();
    let mut expected = rows.iter().flat_map(|row| row.calls.values().copied()).collect::<Vec<_>>();
    got.sort_unstable();
    expected.sort_unstable();
    assert_eq!(got, expected);
    // Each kernel gets the text of its own compilation.
    let operations = |found: &DumpedKernel<'_>| found.kernel.operations.unwrap_or(0);
    let relayouts = |found: &DumpedKernel<'_>| found.kernel.relayouts.as_ref().map_or(0, Vec::len) as u64;
    let mut got = found.iter().map(|found| (operations(found), relayouts(found))).collect::<Vec<_>>();
    let mut expected = rows.iter().flat_map(|row| row.texts.iter().copied()).collect::<Vec<_>>();
    got.sort_unstable();
    expected.sort_unstable();
    assert_eq!(got, expected);
}

#[test]
fn what_is_missing_is_noted() {
    let row = ROWS.iter().find(|row| row.calls.len() == 1 && row.texts.len() == 1).unwrap();
    for kind in [FileKind::Relayout, FileKind::Bundles, FileKind::Schedule, FileKind::Utilization] {
        let mut files = row.files();
        files.retain(|(name, _)| FileName::parse(name).unwrap().kind != kind);
        let found = kernels(&files);
        let [one] = found.as_slice() else { panic!("{kind:?}: {found:?}") };
        match kind {
            FileKind::Relayout => assert_eq!((one.kernel.operations, one.notes.len()), (None, 1)),
            FileKind::Bundles => {
                assert_eq!((one.kernel.bundles.is_some(), one.notes.len(), one.kernel.loops.len()), (true, 1, 0))
            }
            FileKind::Schedule => {
                assert_eq!((one.kernel.bundles, one.notes.len()), (Some(row.calls.values().next().unwrap().0), 0))
            }
            _ => assert_eq!((one.kernel.units.len(), one.notes.len()), (0, 1)),
        }
    }
    // A text without vector layouts: from an earlier stage, or from a compiler that writes them in another way.
    let files = row.files();
    let changed =
        files.iter().map(|(name, text)| (*name, text.replace("out_layout", "result_layout"))).collect::<Vec<_>>();
    let changed = changed.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>();
    let found = kernels(&changed);
    assert_eq!(found[0].kernel.operations, None);
    assert_eq!(found[0].kernel.unread.keys().collect::<Vec<_>>(), ["texts without vector layouts"]);
    // A layout that this version does not know is named.
    let changed =
        files.iter().map(|(name, text)| (*name, text.replace("vpad<\"32,", "vpad<\"64,"))).collect::<Vec<_>>();
    let changed = changed.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>();
    let found = kernels(&changed);
    assert_eq!(found[0].kernel.operations, Some(row.texts[0].0));
    assert!(
        found[0].kernel.unread.keys().any(|what| what.starts_with("the vector layout 64,")),
        "{:?}",
        found[0].kernel.unread
    );
}

#[test]
fn errors_have_lines() {
    for (text, message) in [
        ("module @k {\n  %0 = a.b {x = [1, 2} : i32\n}", "line 2: expected the bracket that closes this one"),
        ("module @k {\n", "line 1: expected the end of the region that begins here, found the end of the text"),
        ("}", "line 1: this bracket closes none that is open"),
        ("a.b )", ""),
        ("a.b ]", "line 1: this bracket closes none that is open"),
        ("module @k {\n a.b \"open\n}", "line 2: expected the end of this string, found the end of the line"),
        ("a.b (\n(\n", "line 2: expected the bracket that closes this one"),
    ] {
        assert_eq!(Module::parse(text).map_or_else(|error| error.to_string(), |_| String::new()), message, "{text}");
    }
    for deep in ["a.b {\n".repeat(300), format!("a.b {}", "[".repeat(300))] {
        assert!(
            Module::parse(&deep).unwrap_err().to_string().ends_with("expected at most 256 nested brackets or regions")
        );
    }
    assert!(kernels(&[]).is_empty());
    assert!(kernels(&[("llo.k.final_bundles.txt", ""), ("notes.txt", "}"), ("mosaic..txt", "")]).is_empty());
    assert_eq!(kernels(&[("mosaic.k.post-relayout-insertion.txt", "")]).len(), 1);
}

/// The trip count of a loop whose counter begins at `first` and has this step. The loop ends when the counter plus `ahead` passes the test.
fn trips(first: i64, step: i64, ahead: i64, test: &str, limit: i64) -> Option<u64> {
    let text = format!(
        "   0   :  {{ %s1 = smov.u32 {first} }}
  0x1 LB: > {{ %s3 = sphi %s1, %s4  ;;  %s4 = sadd.s32 {step}, %s3  ;;  %s8 = sadd.s32 {ahead}, %s3 }}
  0x2   : > {{ %p5 = scmp.{test}.s32.totalorder %s8, {limit} }}
  0x3   : > {{ %6 = sbr.rel (!%p5) target = $region4 }}
"
    );
    let found = loops(&Bundles::parse(&text));
    let [found] = found.as_slice() else { panic!("{found:?}") };
    found.trips
}

#[test]
fn a_loop_may_test_its_counter_plus_any_constant() {
    assert_eq!(trips(0, 1, 1, "ge", 32), Some(32));
    assert_eq!(trips(0, 1, 3, "ge", 32), Some(30));
    assert_eq!(trips(0, 4, 2, "eq", 32), None);
    // Registers have 32 bits.
    assert_eq!(trips(0, 2, 2, "ge", 2_147_483_647), None);
    assert_eq!(trips(0, 1, 1, "gt", 2_147_483_647), None);
}

/// A text of Mosaic with these arguments and attributes of the kernel's function, and these operations.
fn mosaic(arguments: &str, attributes: &str, operations: &str) -> String {
    format!(
        "module @k {{\n  func.func @k({arguments}) attributes {{{attributes}, xir.main}} {{\n    %0 = arith.constant \
         {{out_layout = [#xir_tc.vpad<\"none\">]}} 0 : i32\n{operations}    return\n  }}\n}}\n"
    )
}

fn read(text: &str) -> Kernel<'_> {
    Kernel::read(Texts { relayout: Some(text), ..Texts::default() }).unwrap()
}

#[test]
fn scratch_in_other_memories_is_no_window() {
    let window = |name| format!("%{name}: memref<8x128xf32, #xir.tiled<(8,128),[2,1]>, #xir.memory_space<vmem, tc>>");
    let arguments = [
        "%arg0: i32".to_owned(),
        window("x"),
        window("o"),
        window("scratch"),
        "%counts: memref<4xi32, #xir.memory_space<smem, tc>>".to_owned(),
        "%done: memref<!xir.semaphore, #xir.memory_space<semaphore_mem, tc>>".to_owned(),
    ];
    let attributes = "iteration_bounds = array<i64: 4>, scratch_operands = 3 : i64";
    let text = mosaic(&arguments.join(", "), attributes, "");
    let windows = read(&text).windows;
    let windows = windows.iter().map(|window| (window.name.as_str(), window.bytes, window.buffers)).collect::<Vec<_>>();
    assert_eq!(windows, [("x", Some(4096), 2), ("o", Some(4096), 2), ("scratch", Some(4096), 1)]);
}

#[test]
fn memory_of_unknown_size_has_no_sum() {
    let known = "%x: memref<8x128xf32, #xir.memory_space<vmem, tc>>";
    for tiles in ["", " #xir.tiled<(8,128),[2,1]>,"] {
        let unknown = format!("%y: memref<?x128xf32,{tiles} #xir.memory_space<vmem, tc>>");
        let text = mosaic(&format!("{known}, {unknown}"), "scratch_operands = 0 : i64", "");
        let kernel = read(&text);
        let bytes = kernel.windows.iter().map(|window| window.bytes).collect::<Vec<_>>();
        assert_eq!(bytes, [Some(4096), None]);
        assert_eq!(kernel.unread, BTreeMap::from([("sizes of arguments".to_owned(), 1)]));
        let mut answer = Kernels::default();
        answer.add(None, None, &kernels(&[("mosaic.k.post-relayout-insertion.txt", text.as_str())]));
        let said = answer.text(100).to_string();
        assert!(said.contains("  vector memory: not known, because the sizes of some arguments are not\n"), "{said}");
        assert!(said.contains("        ?  y: "), "{said}");
        assert!(answer.json().contains("\"vmem\":{\"bytes\":null,"), "{}", answer.json());
    }
}

/// The product of the sizes of a grid need not fit into 64 bits.
#[test]
fn a_grid_can_be_huge() {
    let text = mosaic("", "iteration_bounds = array<i64: 4294967296, 4294967296>", "");
    let bundles = " 0x1 LB: > { %1 = a }\n";
    let schedule = "Schedule analysis:\n\t 1.00 scheduled bundles (100.00%): %k.1 = f32[8] custom-call(%x), \
                    custom_call_target=\"tpu_custom_call\"\n";
    let files = [
        ("mosaic.k.post-relayout-insertion.txt", text.as_str()),
        ("llo.k.1.final_bundles.txt", bundles),
        ("llo.k.1.schedule-analysis_final_bundles.txt", schedule),
    ];
    let mut answer = Kernels::default();
    answer.add(None, None, &kernels(&files));
    let said = answer.text(200).to_string();
    assert!(said.contains("x trips over a grid of 4294967296 x 4294967296"), "{said}");
}

/// Many accesses and relayouts: the relayouts that an access causes are looked up by their offsets, not compared one by one.
#[test]
fn many_unaligned_accesses_are_read() {
    let load = "    %1 = xir.vector_load %x[%0] {in_layout = [#xir_tc.vpad<\"none\">], out_layout = \
                [#xir_tc.vpad<\"32,{3,0},(8,128)\">]} : memref<64x128xf32>, vector<8x128xf32>\n";
    let relayout = |from: &str, to: &str| {
        format!(
            "    %2 = xir_tc.relayout {{in_layout = [#xir_tc.vpad<\"32,{from},(8,128)\">], out_layout = \
             [#xir_tc.vpad<\"32,{to},(8,128)\">]}} %1 : vector<8x128xf32>\n"
        )
    };
    let one = [load, &relayout("{3,0}", "{0,0}"), &relayout("{0,0}", "{5,0}"), &relayout("{3,0}", "{3,0}")].concat();
    let times = 1_000;
    let text = mosaic("", "scratch_operands = 0 : i64", &one.repeat(times));
    let kernel = read(&text);
    assert_eq!((kernel.unaligned.len(), kernel.relayouts.unwrap().len()), (times, 3 * times));
    assert!(kernel.unaligned.iter().all(|access| access.relayouts == times as u64));
}

/// Kernels with the same name are told apart by the source lines of their bundles. If that is impossible, a note says so.
#[test]
fn kernels_of_one_name_are_told_apart_by_their_lines() {
    let schedule = |number: u32| {
        format!(
            "Schedule analysis:\n\ttotal scheduled bundles:    {number}\n\t 1.00 scheduled bundles (100.00%): %k.{number} = f32[8] \
             custom-call(%x), custom_call_target=\"tpu_custom_call\", backend_config={{\"body\":\"AGsA\"}}\n"
        )
    };
    let bundles =
        |line: u32| format!(" 0x1   :  {{ %v1_v0 = vadd.f32 %v2_v1, %v3_v2 /* loc(\"k.py\":{line}:8 to :14) */ }}\n");
    let operations = |line: u32, more: &str| {
        let text = mosaic("", "scratch_operands = 0 : i64", &format!("    a.b loc(#loc1)\n{more}"));
        format!("{text}#loc1 = loc(\"dir/k.py\":{line}:8)\n")
    };
    let more = "    %1 = arith.constant {out_layout = [#xir_tc.vpad<\"none\">]} 0 : i32\n";
    let read = |lines: [u32; 2]| {
        let files = [
            ("10-0015-mosaic-dump-k-post-relayout-insertion.txt", operations(7, "")),
            ("11-0015-mosaic-dump-k-post-relayout-insertion.txt", operations(9, more)),
            ("20-k.1-02-schedule-analysis_final_bundles.txt", schedule(1)),
            ("20-k.1-03-final_bundles.txt", bundles(lines[0])),
            ("21-k.2-02-schedule-analysis_final_bundles.txt", schedule(2)),
            ("21-k.2-03-final_bundles.txt", bundles(lines[1])),
        ];
        let files = files.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>();
        let found = kernels(&files);
        let doubt =
            |found: &DumpedKernel<'_>| found.notes.iter().any(|note| note.contains("chosen by the order of the files"));
        found
            .iter()
            .map(|found| (found.instruction.unwrap().to_owned(), found.kernel.operations.unwrap(), doubt(found)))
            .collect::<Vec<_>>()
    };
    assert_eq!(read([9, 7]), [("k.1".to_owned(), 2, false), ("k.2".to_owned(), 1, false)]);
    assert_eq!(read([7, 9]), [("k.1".to_owned(), 1, false), ("k.2".to_owned(), 2, false)]);
    assert_eq!(read([8, 8]), [("k.1".to_owned(), 1, true), ("k.2".to_owned(), 2, false)]);
}

/// The attributes of an instruction may contain line breaks, as in JAX's splash attention.
#[test]
fn an_instruction_may_have_several_lines() {
    // The body is the name `k` between zero bytes.
    let schedule = "Schedule analysis:\n\ttotal scheduled bundles:    9\n\tempty scheduled bundles:    1\n\tnon empty scheduled bundles: 8\n\
                    \t 8.00 scheduled bundles (100.00%): %k.1 = f32[8] custom-call(%x), custom_call_target=\"tpu_custom_call\", \
                    frontend_attributes={kernel_metadata={\n\"a\":1\n}}, backend_config={\"scoped_memory_configs\":[{\"memory_space\":\"1\",\
                    \"size\":\"4096\"}],\"body\":\"AGsA\"}\n\t[opcode]     8 scheduled bundles (100.00%): custom-call (1 instances)\n";
    let text = mosaic("", "scratch_operands = 0 : i64", "");
    let found = kernels(&[
        ("mosaic.k.post-relayout-insertion.txt", &*text),
        ("llo.k.1.schedule-analysis_final_bundles.txt", schedule),
    ]);
    let [one] = &found[..] else { panic!("{found:?}") };
    let kernel = &one.kernel;
    assert_eq!((one.instruction, kernel.bundles, kernel.empty), (Some("k.1"), Some(9), Some(1)));
    assert_eq!((kernel.operations, kernel.vmem_limit), (Some(1), Some(4096)));
}

/// Many operations share a long location, and many instructions have the same long program. Each is read only once.
#[test]
fn what_is_shared_is_read_once() {
    let names = "\"a\" ".repeat(100_000);
    let text = mosaic("", "scratch_operands = 0 : i64", &"    a.b loc(#loc2)\n".repeat(20_000));
    let text = format!("{text}#loc1 = loc(fused<[{names}]>(\"k.py\":4:8))\n#loc2 = loc(\"swap\"(#loc1))\n");
    let module = Module::parse(&text).unwrap();
    let lines = module.operations().iter().filter_map(|operation| module.source(operation)).map(|source| source.line);
    assert!(lines.eq([4; 20_000]));
    // The body is the name `k` between zero bytes, followed by many more zero bytes.
    let schedule = format!(
        "Schedule analysis:\n\t 1.00 scheduled bundles (100.00%): %k.1 = f32[8] custom-call(%x), \
         custom_call_target=\"tpu_custom_call\", backend_config={{\"body\":\"AGsA{}\"}}\n",
        "AAAA".repeat(500_000)
    );
    let texts = (0..2_000).map(|number| format!("mosaic.k{number}.post-relayout-insertion.txt")).collect::<Vec<_>>();
    let mut files = texts.iter().map(|name| (name.as_str(), "")).collect::<Vec<_>>();
    files.push(("mosaic.k.post-relayout-insertion.txt", ""));
    files.push(("llo.k.1.schedule-analysis_final_bundles.txt", &schedule));
    let found = kernels(&files);
    let called = found.iter().filter(|found| found.instruction.is_some()).collect::<Vec<_>>();
    assert_eq!((found.len(), called.len()), (2_001, 1));
    assert_eq!(called.first().and_then(|found| found.kernel.name.as_deref()), Some("k"));
}

/// The time is proportional to the text. Otherwise these texts would take hours.
#[test]
fn long_texts_are_read() {
    let bundle = " 0x1 LB: > { %1 = a /* b */  ;;  %2 = c }\n";
    for text in [
        bundle.repeat(20_000),
        "0x1 : { ".repeat(50_000),
        "0x1 : { /* \n".repeat(50_000),
        format!(" 0x1 : {{ {} }}", "%1 = a ;; ".repeat(50_000)),
        (0..300).map(|depth| format!(" 0x1 LB: {} {{ %1 = a }}\n", ">".repeat(depth))).collect(),
    ] {
        let found = loops(&Bundles::parse(&text));
        assert!(found.len() <= 20_000);
        let files = [("llo.k.final_bundles.txt", text.as_str()), ("llo.k.schedule-analysis_final_bundles.txt", "")];
        assert!(kernels(&files).len() <= 1);
    }
    // An operation with many results and many operands: each result depends on all operands.
    let names = |letter: &str| (0..20_000).map(|number| format!("%{letter}{number}")).collect::<Vec<_>>().join(", ");
    let wide = format!("    {} = a.b {}\n    {} = a.c {}\n", names("x"), names("y"), names("z"), names("x"));
    let (relayouts, applied) = (mosaic("", "", ""), mosaic("", "", &wide));
    let files =
        [("mosaic.k.post-relayout-insertion.txt", &*relayouts), ("mosaic.k.post-apply-vector-layout.txt", &*applied)];
    assert_eq!(kernels(&files).len(), 1);
    for text in [
        "a.b\n".repeat(50_000),
        "#loc = loc(#loc)\n".repeat(20_000),
        "\"".repeat(100_000),
        "a.b %x, %y {c, d = 1}\n".repeat(20_000),
    ] {
        let _ = Module::parse(&text);
    }
}

proptest! {
    /// The trip count of a loop is the number of iterations that it really runs.
    #[test]
    fn trips_are_those_of_the_loop(first in -40_i64..40, step in 1_i64..7, ahead in -9_i64..9, test in prop::sample::select(vec!["ge", "gt", "eq"]), limit in -40_i64..40) {
        let ends = |counter: i64| match test {
            "ge" => counter + ahead >= limit,
            "gt" => counter + ahead > limit,
            _ => counter + ahead == limit,
        };
        let expected = (0..200).find(|trip| ends(first + trip * step)).map(|trip| u64::try_from(trip + 1).unwrap());
        prop_assert_eq!(trips(first, step, ahead, test, limit), expected);
    }

    /// A dump that is cut off or changed anywhere gives an answer or an error. The answer never has more bundles than the files have lines.
    #[test]
    fn broken_dumps_have_answers(row in any::<prop::sample::Index>(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_usize..5, "[{}()\\[\\]<>\"%#:;/* \n0x]{0,3}"), 1..4)) {
        // Use only small dumps, because each case reads all files of one.
        let size = |row: &Row| row.files.values().map(String::len).sum::<usize>();
        let small = ROWS.iter().filter(|row| size(row) < 100_000).collect::<Vec<_>>();
        let row = row.get(&small);
        let mut files = row.files.clone();
        for (file, place, length, new) in &edits {
            let names = files.keys().cloned().collect::<Vec<_>>();
            let text = files.get_mut(file.get(&names)).unwrap();
            if text.is_empty() {
                continue;
            }
            let mut start = place.index(text.len());
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            if *length == 4 {
                text.truncate(start);
            } else {
                let mut end = text.len().min(start + length);
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                text.replace_range(start..end, new);
            }
        }
        let refs = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>();
        for found in kernels(&refs) {
            prop_assert!(found.kernel.loops.iter().all(|inside| inside.found.first <= inside.found.last));
            let used = found.kernel.lines.values().map(|line| line.slots).max();
            prop_assert!(used.is_none_or(|slots| slots <= files.values().map(String::len).sum::<usize>() as u64));
        }
    }
}

/// Compares the relayouts and instructions that follow from the vector layouts alone with those that the compiler made. The rules were not fitted to
/// these kernels.
#[test]
fn layouts_say_which_operands_need_a_relayout() {
    #[derive(Deserialize)]
    struct Unseen {
        kernel: String,
        #[serde(rename = "for")]
        generation: String,
        files: BTreeMap<String, String>,
    }
    let rows: Vec<Unseen> = corpus("kernel_operands.jsonl.zst");
    assert!(rows.len() >= 60, "{}", rows.len());
    let (mut right, mut all) = (0_u64, 0_u64);
    for row in &rows {
        let name = format!("{} {}", row.kernel, row.generation);
        let read = |wanted: &[FileKind]| {
            let files = row.files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
            let files = files.filter(|(name, _)| wanted.contains(&FileName::parse(name).unwrap().kind));
            kernels(&files.collect::<Vec<_>>())
        };
        let (told, known) = (read(&[FileKind::Inferred]), read(&[FileKind::Relayout, FileKind::Applied]));
        assert_eq!(told.len(), known.len(), "{name}");
        for (told, known) in told.iter().zip(&known) {
            assert!(told.notes.iter().any(|note| note.starts_with("the dump has no text after relayout insertion")));
            let (told, known) = (&told.kernel, &known.kernel);
            assert_eq!((told.operations, told.operands), (known.operations, known.operands), "{name}");
            let [told, inserted] = [told, known].map(|kernel| kernel.relayouts.as_deref().unwrap());
            let what = |list: &[Relayout<'_>]| {
                let parts = |one: &Relayout<'_>| (one.from.clone(), one.to.clone(), one.shape.clone());
                list.iter().map(parts).collect::<Vec<_>>()
            };
            assert_eq!(what(told), what(inserted), "{name}");
            assert!(inserted.iter().all(|one| one.instructions.is_some()), "{name}");
            let wrong = told.iter().zip(inserted).filter(|(told, inserted)| told.free != inserted.free).count() as u64;
            all += known.operands.unwrap();
            right += known.operands.unwrap() - wrong;
        }
    }
    assert!(right * 1_000 >= all * 995, "{right} of {all}");
}

/// Most vector instructions have a source line: 92.9 % of all, and 95 % without spills and fills, which belong to no line.
#[test]
fn most_vector_slots_have_a_line() {
    let texts = ROWS.iter().flat_map(|row| row.of(FileKind::Bundles).map(Bundles::parse)).collect::<Vec<_>>();
    let slots = texts.iter().flat_map(|text| text.bundles()).flat_map(|bundle| bundle.slots());
    let slots = slots.filter(|slot| slot.is_vector()).collect::<Vec<_>>();
    let share = |slots: &[&Slot<'_>], per_mille: usize| {
        let known = slots.iter().filter(|slot| slot.source().is_some()).count();
        assert!(known * 1_000 >= slots.len() * per_mille, "{known} of {}", slots.len());
    };
    share(&slots, 929);
    let own = slots.iter().copied().filter(|slot| !slot.is_spill() && !slot.is_fill()).collect::<Vec<_>>();
    assert!(own.len() < slots.len());
    share(&own, 950);
}

/// No instruction is both a kernel and compiled by XLA itself.
#[test]
fn an_instruction_is_a_kernel_or_xlas() {
    for row in every(3, ROWS.iter()) {
        let files = row.files();
        let kernels = kernels(&files).into_iter().filter_map(|found| found.instruction).collect::<Vec<_>>();
        let own = xla_instructions(&files).into_iter().filter_map(|found| found.instruction).collect::<Vec<_>>();
        assert!(own.iter().all(|name| !kernels.contains(name)), "{} {}", row.kernel, row.generation);
    }
    assert!(xla_instructions(&[]).is_empty());
}
