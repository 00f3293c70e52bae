//! Dumps of kernels that libtpu wrote: the counts are the compiler's, and broken, mixed or unknown dumps give an answer or an error.

use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use xla_shape_mosaic::{Bundles, DumpedKernel, FileKind, FileName, Module, Schedule, Utilization, kernels};
use xla_shape_tests::corpus;

/// A kernel compiled for a TPU.
#[derive(Deserialize)]
struct Row {
    kernel: String,
    #[serde(rename = "for")]
    generation: String,
    /// For each instruction that calls a kernel, its bundles and how many are empty, by the compiler's analysis.
    calls: BTreeMap<String, (u64, u64)>,
    /// For each text of Mosaic, the occurrences of `out_layout` and of relayouts, counted without this crate.
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
            assert!(
                kernel.lines.values().all(|line| line.moving <= line.relayouts && line.bundles <= line.slots),
                "{name}"
            );
            let bundles = kernel.bundles.unwrap();
            assert!(kernel.executed.is_none_or(|executed| executed >= bundles), "{name}");
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

/// The parts of a text are where the text says: names of operations, their nesting, attributes and locations.
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
            // Some instructions have no analysis.
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
    // Each has the text of its own run.
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
    // A text without vector layouts, as before that stage or of a compiler that writes others.
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

/// The effort is linear in the length of the text. Otherwise these texts would take hours.
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
        let found = xla_shape_mosaic::loops(&Bundles::parse(&text));
        assert!(found.len() <= 20_000);
        let files = [("llo.k.final_bundles.txt", text.as_str()), ("llo.k.schedule-analysis_final_bundles.txt", "")];
        assert!(kernels(&files).len() <= 1);
    }
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
    /// A dump that was cut off or changed anywhere gives an answer or an error, and never more bundles than lines.
    #[test]
    fn broken_dumps_have_answers(row in any::<prop::sample::Index>(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_usize..5, "[{}()\\[\\]<>\"%#:;/* \n0x]{0,3}"), 1..4)) {
        // The small ones, because each case reads all files.
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
