//! Finds the files of each kernel in a dump, by their names and contents.

use crate::bundles::{Bundles, Slot};
use crate::kernel::{Kernel, Texts};
use crate::schedule::Schedule;
use crate::vmem::{VmemUse, listed_vmem, vmem_report};
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use xla_shape_core::sorting::{set_of, sort_by};
use xla_shape_mlir::Module;
use xla_shape_mlir::Source;

/// The kind of a file of a dump.
///
/// ```
/// use xla_shape_mosaic::{FileKind, FileName};
///
/// let kind = |name| FileName::parse(name).map(|name| name.kind);
/// assert_eq!(kind("178-000-mosaic-dump-k-post-relayout-insertion.txt"), Some(FileKind::Relayout));
/// assert_eq!(kind("llo.run.1.final_bundles.txt"), Some(FileKind::Bundles));
/// assert_eq!(kind("notes.txt"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum FileKind {
    /// Mosaic's MLIR of a kernel for SparseCore before all stages. It has no vector layouts.
    SparseCore,
    /// Mosaic's MLIR after the stage `infer-vector-layout`.
    Inferred,
    /// Mosaic's MLIR after the stage `relayout-insertion`.
    Relayout,
    /// Mosaic's MLIR after the stage `apply-vector-layout`.
    Applied,
    /// The final bundles of an HLO instruction.
    Bundles,
    /// The analysis of their schedule.
    Schedule,
    /// The slots that each bundle uses.
    Utilization,
    /// The report of vector memory.
    VmemReport,
    /// The back end's text before its stages, which lists the memory of an instruction.
    Allocations,
}

/// The name of a file of a dump, in parts.
///
/// ```
/// use xla_shape_mosaic::{FileKind, FileName};
///
/// let name = FileName::parse("1795445630222111604-run.1-03-final_bundles.txt").unwrap();
/// assert_eq!((name.kind, name.subject, name.time), (FileKind::Bundles, "run.1", Some(1795445630222111604)));
/// assert!(FileName::parse("notes.txt").is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub struct FileName<'a> {
    /// The time in the name. All files of one compilation of a kernel or of an instruction have the same time.
    pub time: Option<u64>,
    /// The name of the kernel or of the HLO instruction.
    pub subject: &'a str,
    /// What the file holds.
    pub kind: FileKind,
}

impl<'a> FileName<'a> {
    /// The parts of a name, as libtpu writes it (`TIME-NUMBER-mosaic-dump-KERNEL-STAGE.txt`, `TIME-INSTRUCTION-NUMBER-STAGE.txt`) or
    /// shortened (`mosaic.KERNEL.STAGE.txt`, `llo.INSTRUCTION.STAGE.txt`). `None` for files that are not needed.
    #[must_use]
    pub fn parse(name: &'a str) -> Option<Self> {
        // The stages of kernels for SparseCore have `mosaic-module` in their names.
        const MOSAIC: [(&str, FileKind); 8] = [
            ("mosaic-module-original.txt", FileKind::SparseCore),
            ("mosaic-module.original.txt", FileKind::SparseCore),
            ("post-infer-vector-layout.txt", FileKind::Inferred),
            ("post-relayout-insertion.txt", FileKind::Relayout),
            ("post-apply-vector-layout.txt", FileKind::Applied),
            ("post-mosaic-module-infer-vector-layout.txt", FileKind::Inferred),
            ("post-mosaic-module-relayout-insertion.txt", FileKind::Relayout),
            ("post-mosaic-module-apply-vector-layout.txt", FileKind::Applied),
        ];
        const STAGES: [(&str, FileKind); 5] = [
            ("schedule-analysis_final_bundles.txt", FileKind::Schedule),
            ("final_bundles.txt", FileKind::Bundles),
            ("final_hlo-static-per-bundle-utilization.txt", FileKind::Utilization),
            ("vmem_report.html", FileKind::VmemReport),
            ("original.txt", FileKind::Allocations),
        ];
        for (stage, kind) in MOSAIC {
            let Some(rest) = name.strip_suffix(stage) else { continue };
            if let Some(subject) = rest.strip_prefix("mosaic.") {
                return Some(Self { time: None, subject: subject.strip_suffix(['.', '-'])?, kind });
            }
            let (before, subject) = rest.split_once("-mosaic-dump-")?;
            let time = before.split('-').next().and_then(|time| time.parse().ok());
            return Some(Self { time, subject: subject.strip_suffix('-')?, kind });
        }
        let (rest, kind) = STAGES.iter().find_map(|(stage, kind)| Some((name.strip_suffix(stage)?, *kind)))?;
        if let Some(subject) = rest.strip_prefix("llo.") {
            return Some(Self { time: None, subject: subject.strip_suffix('.')?, kind });
        }
        let (time, rest) = rest.split_once('-')?;
        let (subject, number) = rest.strip_suffix('-')?.rsplit_once('-')?;
        number.parse::<u64>().ok()?;
        // Mosaic's text of a kernel whose name is a number.
        if subject.ends_with("-mosaic-dump") {
            return None;
        }
        Some(Self { time: Some(time.parse().ok()?), subject, kind })
    }
}

/// The files of a dump about kernels, in groups that belong together, as names and texts. Files with a time in their names belong to one
/// group, in whatever directory they are; each other file belongs to the files in its directory. The files are given as the directory, the name
/// and the text, and are sorted by the first two; files of other kinds are left out.
///
/// ```
/// use xla_shape_mosaic::compilations;
///
/// let file = |folder, name: &str| (folder, name.to_owned(), String::new());
/// let (bundles, mosaic) = ("179-run.1-03-final_bundles.txt", "178-000-mosaic-dump-k-post-relayout-insertion.txt");
/// let groups = compilations([file(0, "llo.f.final_bundles.txt"), file(0, bundles), file(1, mosaic), file(1, "notes.txt")]);
/// assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
/// ```
#[must_use]
pub fn compilations<F: Ord>(files: impl IntoIterator<Item = (F, String, String)>) -> Vec<Vec<(String, String)>> {
    let (mut timed, mut untimed) = (Vec::new(), Vec::<(F, Vec<(String, String)>)>::new());
    let mut files: Vec<_> = files.into_iter().collect();
    sort_by(&mut files, |one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    for (folder, name, text) in files {
        let Some(parts) = FileName::parse(&name) else { continue };
        match untimed.last_mut() {
            _ if parts.time.is_some() => timed.push((name, text)),
            Some((last, group)) if *last == folder => group.push((name, text)),
            _ => untimed.push((folder, alloc::vec![(name, text)])),
        }
    }
    untimed.into_iter().map(|(_, group)| group).chain([timed]).filter(|group| !group.is_empty()).collect()
}

/// A kernel of a dump: the HLO instruction that calls it, and what its files say.
///
/// ```
/// use xla_shape_mosaic::kernels;
///
/// let text = "module @k {\n  func.func @k() {\n    %0 = arith.constant {out_layout = [#xir_tc.vpad<\"none\">]} 0 : i32\n  }\n}";
/// let found = kernels(&[("mosaic.k.post-relayout-insertion.txt", text)]);
/// assert_eq!((found[0].kernel.name.as_deref(), found[0].instruction), (Some("k"), None));
/// assert_eq!(found[0].notes, ["the dump has no bundles of this kernel"]);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DumpedKernel<'a> {
    /// The HLO instruction that calls the kernel; `None` if the dump has only Mosaic's MLIR.
    pub instruction: Option<&'a str>,
    /// What the files say.
    pub kernel: Kernel<'a>,
    /// What is missing or doubtful, as sentences.
    pub notes: Vec<String>,
}

/// An instruction whose bundles are in the dump.
#[derive(Clone, Copy, Default)]
struct Instruction<'a> {
    bundles: Option<&'a str>,
    schedule: Option<&'a str>,
    utilization: Option<&'a str>,
}

impl Instruction<'_> {
    /// Which of its files the dump does not have, as sentences.
    fn missing(&self, what: &str) -> impl Iterator<Item = String> {
        let files = [(self.bundles, "bundles"), (self.utilization, "utilization")];
        let missing = files.into_iter().filter(|(text, _)| text.is_none());
        missing.map(move |(_, file)| alloc::format!("the dump has no {file} for this {what}"))
    }
}

/// The time and the subject of a file's name.
type Key<'a> = (Option<u64>, &'a str);

/// Mosaic's texts of a kernel.
#[derive(Clone, Copy, Default)]
struct Mosaic<'a> {
    /// The text of a kernel for SparseCore.
    sparse_core: Option<&'a str>,
    inferred: Option<&'a str>,
    relayout: Option<&'a str>,
    applied: Option<&'a str>,
}

impl<'a> Mosaic<'a> {
    fn texts(self) -> Texts<'a> {
        let Self { sparse_core, inferred, relayout, applied } = self;
        // The text for SparseCore has no layouts. It has the kernel's name and grid.
        Texts { inferred: inferred.or(sparse_core), relayout, applied, ..Texts::default() }
    }

    /// A sentence about the text that is missing; `None` if none is.
    fn missing(self) -> Option<&'static str> {
        match (self.relayout, self.inferred) {
            (Some(_), _) => None,
            (None, Some(_)) => Some(
                "the dump has no text after relayout insertion: the relayouts are those that the vector layouts need",
            ),
            (None, None) if self.sparse_core.is_some() => {
                Some("a kernel for SparseCore: the dump has no text with its vector layouts")
            }
            (None, None) => Some("the dump has no text of operations for this kernel"),
        }
    }
}

/// The files of a dump, by the time and the subject of their names.
#[derive(Default)]
struct Files<'a> {
    /// The texts of Mosaic: kernels with the text of one of the two stages that have vector layouts.
    texts: BTreeMap<Key<'a>, Mosaic<'a>>,
    instructions: BTreeMap<Key<'a>, Instruction<'a>>,
    /// The reports of vector memory, with their times.
    reports: Vec<(Option<u64>, Vec<VmemUse>)>,
    /// The allocations of each instruction in the back end's text.
    allocations: BTreeMap<Key<'a>, VmemUse>,
}

impl<'a> Files<'a> {
    fn new(files: &[(&'a str, &'a str)]) -> Self {
        let mut found = Self::default();
        for (name, text) in files {
            let Some(name) = FileName::parse(name) else { continue };
            let key = (name.time, name.subject);
            match name.kind {
                FileKind::SparseCore => found.texts.entry(key).or_default().sparse_core = Some(text),
                FileKind::Inferred => found.texts.entry(key).or_default().inferred = Some(text),
                FileKind::Relayout => found.texts.entry(key).or_default().relayout = Some(text),
                FileKind::Applied => found.texts.entry(key).or_default().applied = Some(text),
                FileKind::Bundles => found.instructions.entry(key).or_default().bundles = Some(text),
                FileKind::Schedule => found.instructions.entry(key).or_default().schedule = Some(text),
                FileKind::Utilization => found.instructions.entry(key).or_default().utilization = Some(text),
                FileKind::VmemReport => {
                    if let Some((_, uses)) = vmem_report(text) {
                        found.reports.push((name.time, uses));
                    }
                }
                FileKind::Allocations => {
                    if let Some(listed) = listed_vmem(name.subject, text) {
                        found.allocations.insert(key, listed);
                    }
                }
            }
        }
        // Without one of them, there is nothing to read.
        found.texts.retain(|_, texts| texts.texts().relayout.is_some() || texts.texts().inferred.is_some());
        found
    }

    /// The vector memory of an instruction, by the last report before it; without a report, by the last list.
    fn vmem(&self, time: Option<u64>, name: &str) -> Option<VmemUse> {
        let reported = self.reports.iter().filter(|(at, _)| *at <= time).max_by_key(|(at, _)| *at);
        let reported = reported.and_then(|(_, uses)| uses.iter().find(|entry| entry.instruction == name));
        let listed = || {
            let of_it = |(at, subject): &Key<'_>| *at <= time && *subject == name;
            self.allocations.iter().rfind(|(key, _)| of_it(key)).map(|(_, listed)| listed)
        };
        reported.or_else(listed).cloned()
    }
}

/// Reads the HLO instructions of a dump that XLA compiled itself, without Mosaic: fusions, reductions, copies. They have bundles and vector
/// memory like kernels, but no name, operations or lines.
///
/// ```
/// use xla_shape_mosaic::xla_instructions;
///
/// let schedule = "Schedule analysis:\n\ttotal scheduled bundles: 9\n\t 9.00 scheduled bundles (100.00%): %fusion.1 = f32[8] fusion(%x)\n";
/// let found = xla_instructions(&[("llo.fusion.1.schedule-analysis_final_bundles.txt", schedule)]);
/// assert_eq!((found[0].instruction, found[0].kernel.bundles), (Some("fusion.1"), Some(9)));
/// ```
#[must_use]
pub fn xla_instructions<'a>(files: &[(&'a str, &'a str)]) -> Vec<DumpedKernel<'a>> {
    let files = Files::new(files);
    let mut found = Vec::new();
    for ((time, name), instruction) in &files.instructions {
        let is_own = instruction
            .schedule
            .and_then(|text| Schedule::parse(text).instruction)
            .is_some_and(|hlo| is_named(hlo, name) && !is_kernel(hlo));
        if is_own {
            let mut kernel = Kernel::of_bundles(Texts {
                bundles: instruction.bundles,
                schedule: instruction.schedule,
                utilization: instruction.utilization,
                ..Texts::default()
            });
            kernel.vmem = files.vmem(*time, name);
            let notes = instruction.missing("instruction").collect();
            found.push(DumpedKernel { instruction: Some(name), kernel, notes });
        }
    }
    found
}

/// Reads the kernels of a dump. Each file is a pair of its name and its text; files of other kinds are ignored. The kernels are in the order
/// in which they were compiled.
///
/// An HLO instruction and Mosaic's MLIR belong together if the instruction's bytecode contains the kernel's name. If several kernels have
/// this name, the one that shares the most source lines with the instruction's bundles is taken. If several share equally many, the order of
/// the files decides, and a note says so.
///
/// ```
/// use xla_shape_mosaic::kernels;
///
/// let text = "module @k { \n func.func @k() { \n %0 = arith.constant {out_layout = [#xir_tc.vpad<\"none\">]} 0 : i32\n }\n }";
/// let found = kernels(&[("mosaic.k.post-relayout-insertion.txt", text)]);
/// assert_eq!((found[0].kernel.name.as_deref(), found[0].kernel.operations), (Some("k"), Some(1)));
/// assert_eq!(found[0].notes, ["the dump has no bundles of this kernel"]);
/// ```
#[must_use]
pub fn kernels<'a>(files: &[(&'a str, &'a str)]) -> Vec<DumpedKernel<'a>> {
    let files = Files::new(files);
    let Files { texts, instructions, .. } = &files;
    let mut used: BTreeSet<&Key<'_>> = BTreeSet::new();
    let mut lines = BTreeMap::new();
    let mut found = Vec::new();
    for ((time, name), instruction) in instructions {
        let Some(program) = called_program(name, instruction) else { continue };
        let earlier =
            || texts.keys().filter(|(text_time, _)| text_time.is_none() || time.is_none() || text_time <= time);
        let names = names(&program);
        let named = earlier().filter(|(_, subject)| names.contains(subject.as_bytes())).collect::<Vec<_>>();
        // If there is only one kernel, it is taken even if the program does not contain its name: the form of names may
        // have changed.
        let named = if named.is_empty() && texts.len() == 1 { earlier().collect() } else { named };
        let free = named.iter().copied().filter(|key| !used.contains(key)).collect::<Vec<_>>();
        let alike = most_alike(&free, instruction.bundles, &mut lines, texts);
        let chosen = alike.first().or(named.last()).copied();
        let mut notes = Vec::new();
        if alike.len() > 1 {
            let count = alike.len();
            notes.push(alloc::format!(
                "{count} kernels have this name and these lines; this one was chosen by the order of the files"
            ));
        }
        let mosaic = chosen.and_then(|key| texts.get(key).copied()).unwrap_or_default();
        used.extend(chosen);
        let Instruction { bundles, schedule, utilization } = *instruction;
        let mut kernel = read(Texts { bundles, schedule, utilization, ..mosaic.texts() }, &mut notes);
        kernel.name = kernel.name.or_else(|| chosen.map(|(_, subject)| (*subject).to_owned()));
        kernel.vmem = files.vmem(*time, name);
        notes.extend(mosaic.missing().map(str::to_owned));
        notes.extend(instruction.missing("kernel"));
        found.push(DumpedKernel { instruction: Some(name), kernel, notes });
    }
    for (key, mosaic) in texts.iter().filter(|(key, _)| !used.contains(key)) {
        let mut notes = Vec::new();
        let mut kernel = read(mosaic.texts(), &mut notes);
        notes.extend(mosaic.missing().map(str::to_owned));
        kernel.name = kernel.name.or_else(|| Some(key.1.to_owned()));
        notes.push("the dump has no bundles of this kernel".to_owned());
        found.push(DumpedKernel { instruction: None, kernel, notes });
    }
    found
}

fn read<'a>(texts: Texts<'a>, notes: &mut Vec<String>) -> Kernel<'a> {
    Kernel::read(texts).unwrap_or_else(|error| {
        notes.push(alloc::format!("the text of its operations cannot be read: {error}"));
        Kernel::of_bundles(texts)
    })
}

/// The name of a file without directories, and a line.
type FileLine<'a> = (&'a str, u64);

/// Among the kernels with a name, those whose operations share the most source lines with these bundles. Usually this is one kernel. Kernels
/// that share equally many lines are all returned.
fn most_alike<'a, 'f>(
    candidates: &[&'f Key<'a>],
    bundles: Option<&'a str>,
    known: &mut BTreeMap<Key<'a>, BTreeSet<FileLine<'a>>>,
    texts: &BTreeMap<Key<'a>, Mosaic<'a>>,
) -> Vec<&'f Key<'a>> {
    let (Some(bundles), [_, _, ..]) = (bundles, candidates) else { return candidates.to_vec() };
    let plain = |source: Source<'a>| (source.file.rsplit(['/', '\\']).next().unwrap_or(source.file), source.line);
    let bundles = Bundles::parse(bundles);
    let slots = bundles.bundles().iter().flat_map(|bundle| bundle.slots());
    let wanted = set_of(slots.filter_map(Slot::source).map(plain));
    let scores = candidates.iter().map(|key| {
        // Each text is read once.
        let lines = known.entry(**key).or_insert_with(|| {
            let text = texts.get(*key).and_then(|texts| texts.relayout.or(texts.inferred)).unwrap_or("");
            let Ok(module) = Module::parse(text) else { return BTreeSet::new() };
            module.operations().iter().filter_map(|operation| module.source(operation)).map(plain).collect()
        });
        wanted.intersection(lines).count()
    });
    let scores = scores.collect::<Vec<_>>();
    let best = scores.iter().copied().max().unwrap_or(0);
    candidates.iter().zip(scores).filter(|(_, score)| *score == best).map(|(key, _)| *key).collect()
}

/// Whether an HLO instruction calls a kernel.
fn is_kernel(instruction: &str) -> bool {
    instruction.contains("custom_call_target=\"tpu_custom_call\"")
}

/// Whether a file with this subject is about the instruction. It may also be about a program that has only this instruction. File names have `_` for
/// unusual characters.
fn is_named(instruction: &str, subject: &str) -> bool {
    let plain = |name: &str| name.replace(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')), "_");
    instruction.split(" = ").next().is_some_and(|name| plain(name) == plain(subject))
}

/// The MLIR bytecode in the custom call of a kernel; `None` if the instruction does not call a kernel.
fn called_program(name: &str, instruction: &Instruction<'_>) -> Option<Vec<u8>> {
    if let Some(schedule) =
        instruction.schedule.filter(|text| text.starts_with("Schedule analysis")).map(Schedule::parse)
    {
        let call = schedule.instruction.filter(|call| is_kernel(call) && is_named(call, name))?;
        let body = call.split_once("\"body\":\"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or("");
        return Some(BASE64_STANDARD.decode(body).unwrap_or_default());
    }
    // If there is no schedule analysis, the last bundle names the instruction.
    let last = instruction.bundles?.lines().rev().find(|line| line.contains("exit bundle:"))?;
    last.contains("custom-call(%").then(Vec::new)
}

/// The names that a program in MLIR's bytecode can have: what is between two bytes of zero.
fn names(program: &[u8]) -> BTreeSet<&[u8]> {
    set_of(program.split(|byte| *byte == 0).filter(|name| !name.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::{FileKind, FileName, kernels, xla_instructions};

    #[test]
    fn kernels_for_sparse_core_are_found() {
        for (name, kind, time) in [
            ("mosaic.sc_k-mosaic-module.original.txt", FileKind::SparseCore, None),
            ("17-003-mosaic-dump-sc_k-mosaic-module-original.txt", FileKind::SparseCore, Some(17)),
            ("17-004-mosaic-dump-sc_k-post-mosaic-module-infer-vector-layout.txt", FileKind::Inferred, Some(17)),
            ("mosaic.sc_k.post-mosaic-module-relayout-insertion.txt", FileKind::Relayout, None),
            ("17-004-mosaic-dump-sc_k-post-infer-vector-layout.txt", FileKind::Inferred, Some(17)),
        ] {
            assert_eq!(FileName::parse(name), Some(FileName { time, subject: "sc_k", kind }), "{name}");
        }
        assert_eq!(FileName::parse("mosaic.anonymous-sparsecore-module.original.txt"), None);
        let text = "module @sc_k attributes {stable_mosaic.version = 18 : i64} {\n  func.func @sc_k(%arg0: i32, %in_ref: \
                    memref<512xbf16, #tpu.memory_space<hbm>>) attributes {iteration_bounds = array<i64: 2, 16>, \
                    tpu.core_type = #tpu.core_type<sc_vector_subcore>} {\n    %c = arith.constant 0 : i32\n    return\n  }\n}\n";
        let found = kernels(&[("mosaic.sc_k-mosaic-module.original.txt", text)]);
        let [kernel] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((kernel.kernel.name.as_deref(), kernel.kernel.grid.as_deref()), (Some("sc_k"), Some(&[2, 16][..])));
        let expected = [
            "a kernel for SparseCore: the dump has no text with its vector layouts",
            "the dump has no bundles of this kernel",
        ];
        assert_eq!(kernel.notes, expected);
    }

    /// A dump without Mosaic's texts has only this list.
    #[test]
    fn vector_memory_is_known_from_the_list_of_the_back_end() {
        let list = "  #allocation0 [shape = 'u32[]', space=smem, size = 0x4, offset = 0x4, fixed_abs, tag = 'core index']\n  \
                    #allocation1 [shape = 'u32[144,128]{1,0:T(1,128)}', space=vmem, size = 0x12000, scoped, tag = 'internal scratch']\n    \
                    #allocation2 [shape = 'u8[3145728]{0}', space=vmem, size = 0x300000, scoped, tag = 'scoped memory for k.1']\n    \
                    #allocation4 [shape = 'u8[2097152]{0}', space=vmem, size = 0x200000, scoped, tag = 'scoped memory for k.1']\n";
        let schedule = "Schedule analysis:\n\ttotal scheduled bundles: 9\n\t 9.00 scheduled bundles (100.00%): %k.1 = f32[8] fusion(%x)\n";
        let found = xla_instructions(&[
            ("12-k.1-00-original.txt", list),
            ("13-k.1-07-schedule-analysis_final_bundles.txt", schedule),
        ]);
        let vmem = found[0].kernel.vmem.as_ref().unwrap();
        assert_eq!((vmem.bytes, vmem.parts.len()), (0x512000, 3));
        assert_eq!(vmem.parts[1].tag, "scoped memory for k.1");
        assert_eq!(FileName::parse("17-003-mosaic-dump-5-original.txt"), None);
    }
}
