//! Which files of a directory belong to which module.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::sorting::sort;

/// The files of one compilation, as names inside their directory.
///
/// [`dump_files`] finds the compilations of a directory, and [`DumpFiles::beside`] the files of one module. Names alone decide which
/// files belong together:
///
/// - *Long names* are the compiler's (`xla/service/dump.cc`): `PREFIX.after_optimizations.txt` (the module),
///   `PREFIX.after_optimizations.hlo.pb` (the same as a message), `PREFIX.after_optimizations-buffer-assignment.txt`,
///   `…-live-range.txt`, `…-memory-usage-report.txt`. For CPUs and GPUs the device comes before `after_optimizations`:
///   `PREFIX.cpu_after_optimizations.txt`, `PREFIX.sm_8.0_gpu_after_optimizations.txt`. Everything before `after_optimizations`,
///   including the device, is the [`prefix`](Self::prefix). Files with the same prefix belong together.
/// - *Short names* are for copies: `after.hlo` or `after.txt`, `after.hlo.pb`, `buffer-assignment.txt`, `live-range.txt`,
///   `memory-usage-report.txt`, alone or with a prefix, as `PREFIX.after.hlo`.
/// - The user's `stats.json` or `memory_analysis.json` belongs to the module with the same prefix. A file without a prefix serves
///   every module of the directory that has no file of its own ([`statistics_of_folder`](Self::statistics_of_folder)).
///
/// If several files match, the order of the directory does not matter:
///
/// - If a prefix has files with long names and files with short names, and both kinds include a module, they are two compilations. If
///   only one kind includes a module, that compilation takes the files that it lacks from the other kind.
/// - If a file is there in two forms (`after.hlo` and `after.txt`), the one that comes first in the lists above counts.
/// - A module with any other name has no files beside it.
///
/// The `PREFIX.gpu_target_config.pbtxt`, `PREFIX.thunk_sequence.txt` and `PREFIX.thunk_metadata.txt` of a GPU have no device in their names: each
/// belongs to the module whose prefix is `PREFIX` followed by the device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DumpFiles {
    /// The common beginning of the names, such as `module_0003.jit_step.cl_1234` or `module_0001.jit_f.cpu`; it can be empty.
    pub prefix: String,
    /// The optimized module as text.
    pub module: Option<String>,
    /// The optimized module as a proto.
    pub proto: Option<String>,
    /// The [`BufferAssignment`](super::BufferAssignment).
    pub buffer_assignment: Option<String>,
    /// The [`LiveRanges`](super::LiveRanges).
    pub live_range: Option<String>,
    /// The [`UsageReport`](super::UsageReport).
    pub memory_usage_report: Option<String>,
    /// The compiler's memory analysis as JSON, as the user's program wrote it to `stats.json`.
    pub statistics: Option<String>,
    /// The GPU that the compiler was told to compile for.
    pub target_config: Option<String>,
    /// What the GPU does for the program, step by step: its [`Launch`](super::Launch)es.
    pub thunk_sequence: Option<String>,
    /// The instruction of each step in [`thunk_sequence`](Self::thunk_sequence).
    pub thunk_metadata: Option<String>,
    /// Whether the analysis has no prefix although the module has one: it may belong to another module of the directory.
    pub statistics_of_folder: bool,
}

impl DumpFiles {
    /// The files beside the module in the file `module`, which is one of the `names` of a directory. `None` if `module` is not the name
    /// of a dumped module.
    ///
    /// ```
    /// use xla_shape_hlo::dump::DumpFiles;
    ///
    /// let names = ["m1.f.cpu_after_optimizations.txt", "m1.f.cpu_after_optimizations-buffer-assignment.txt",
    ///     "m2.g.cpu_after_optimizations.txt", "stats.json"];
    /// let found = DumpFiles::beside(names, names[0]).unwrap();
    /// assert_eq!(found.prefix, "m1.f.cpu");
    /// assert_eq!(found.buffer_assignment.as_deref(), Some(names[1]));
    /// assert!(found.statistics.is_some() && found.statistics_of_folder);
    /// assert_eq!(DumpFiles::beside(names, "notes.txt"), None);
    /// ```
    #[must_use]
    pub fn beside<'n>(names: impl IntoIterator<Item = &'n str>, module: &str) -> Option<Self> {
        let is_it = |name: &Option<String>| name.as_deref() == Some(module);
        dump_files(names).into_iter().find(|files| is_it(&files.module) || is_it(&files.proto))
    }

    /// The file to read the module from: the text if there is one, otherwise the message.
    ///
    /// ```
    /// use xla_shape_hlo::dump::dump_files;
    ///
    /// let files = dump_files(["m.after_optimizations.hlo.pb", "m.after_optimizations.txt"]);
    /// assert_eq!(files[0].best_module(), Some("m.after_optimizations.txt"));
    /// ```
    #[must_use]
    pub fn best_module(&self) -> Option<&str> {
        self.module.as_deref().or(self.proto.as_deref())
    }

    /// Takes the files that are missing here from `other`.
    fn complete(&mut self, other: Self) {
        let places: [(&mut Option<String>, Option<String>); 6] = [
            (&mut self.module, other.module),
            (&mut self.proto, other.proto),
            (&mut self.buffer_assignment, other.buffer_assignment),
            (&mut self.live_range, other.live_range),
            (&mut self.memory_usage_report, other.memory_usage_report),
            (&mut self.statistics, other.statistics),
        ];
        for (place, found) in places {
            if place.is_none() {
                *place = found;
            }
        }
    }

    const fn has_module(&self) -> bool {
        self.module.is_some() || self.proto.is_some()
    }
}

/// The ends of long names.
const LONG: [(&str, Field); 5] = [
    ("after_optimizations.hlo.pb", |files| &mut files.proto),
    ("after_optimizations.txt", |files| &mut files.module),
    ("after_optimizations-buffer-assignment.txt", |files| &mut files.buffer_assignment),
    ("after_optimizations-live-range.txt", |files| &mut files.live_range),
    ("after_optimizations-memory-usage-report.txt", |files| &mut files.memory_usage_report),
];

/// The ends of short names. Of several files of one kind, the first in this list counts.
const SHORT: [(&str, Field); 9] = [
    ("after.hlo.pb", |files| &mut files.proto),
    ("after_optimizations.hlo", |files| &mut files.module),
    ("after.hlo", |files| &mut files.module),
    ("after.txt", |files| &mut files.module),
    ("buffer-assignment.txt", |files| &mut files.buffer_assignment),
    ("live-range.txt", |files| &mut files.live_range),
    ("memory-usage-report.txt", |files| &mut files.memory_usage_report),
    ("stats.json", |files| &mut files.statistics),
    ("memory_analysis.json", |files| &mut files.statistics),
];

/// The ends of the names of a GPU's files, which do not name the device.
const OF_GPU: [(&str, Field); 3] = [
    ("gpu_target_config.pbtxt", |files| &mut files.target_config),
    ("thunk_sequence.txt", |files| &mut files.thunk_sequence),
    ("thunk_metadata.txt", |files| &mut files.thunk_metadata),
];

/// How the name of a device ends before `after_optimizations`, such as in `jit_f.cpu_after_optimizations.txt`. The names of TPU files have no device.
const DEVICES: [&str; 2] = ["cpu_", "gpu_"];

/// The field for files of one kind.
type Field = fn(&mut DumpFiles) -> &mut Option<String>;

/// The part of a name before `end`, without a period or an underscore between them. `None` unless `end` follows a period or a device, or is
/// the whole name.
fn prefix<'n>(name: &'n str, end: &str) -> Option<&'n str> {
    let before = name.strip_suffix(end)?;
    let is_device = DEVICES.iter().any(|device| before.ends_with(device)) && end.starts_with("after_optimizations");
    match before.strip_suffix('.') {
        Some(before) => Some(before.trim_end_matches('.')),
        None if is_device => before.strip_suffix('_'),
        None => before.is_empty().then_some(""),
    }
}

/// Finds the compilations among the names of a directory's files, sorted by prefix; those without an optimized module are
/// left out. [`DumpFiles`] says which files belong together.
///
/// ```
/// use xla_shape_hlo::dump::dump_files;
///
/// let names = ["module_0001.jit_f.before_optimizations.txt", "module_0001.jit_f.after_optimizations.txt",
///     "module_0001.jit_f.after_optimizations-buffer-assignment.txt", "notes.md"];
/// let found = dump_files(names);
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].prefix, "module_0001.jit_f");
/// assert_eq!(found[0].buffer_assignment.as_deref(), Some(names[2]));
/// ```
#[must_use]
pub fn dump_files<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<DumpFiles> {
    // By prefix, the long names and the short ones.
    let mut found: BTreeMap<String, [DumpFiles; 2]> = BTreeMap::new();
    let mut names: Vec<&str> = names.into_iter().collect();
    sort(&mut names);
    for (style, ends) in [LONG.as_slice(), SHORT.as_slice()].into_iter().enumerate() {
        for (end, place) in ends {
            for name in &names {
                let Some(prefix) = prefix(name, end) else { continue };
                if let Some(files) = found.entry(prefix.to_owned()).or_default().get_mut(style) {
                    prefix.clone_into(&mut files.prefix);
                    // Ends are tried in the order of the list, so a file with an earlier end is preferred.
                    place(files).get_or_insert_with(|| (*name).to_owned());
                }
            }
        }
    }
    let of_folder = found.get("").and_then(|[_, short]| short.statistics.clone());
    let mut compilations: Vec<DumpFiles> = Vec::new();
    for [mut long, mut short] in found.into_values() {
        match (long.has_module(), short.has_module()) {
            (true, true) => {
                // The analysis has only short names.
                long.statistics.clone_from(&short.statistics);
                compilations.extend([long, short]);
            }
            (true, false) => {
                long.complete(short);
                compilations.push(long);
            }
            (false, true) => {
                short.complete(long);
                compilations.push(short);
            }
            (false, false) => {}
        }
    }
    for files in &mut compilations {
        for (end, place) in OF_GPU {
            *place(files) = without_device(&names, end, &files.prefix);
        }
    }
    for files in compilations.iter_mut().filter(|files| !files.prefix.is_empty() && files.statistics.is_none()) {
        files.statistics.clone_from(&of_folder);
        files.statistics_of_folder = of_folder.is_some();
    }
    compilations
}

/// The file with the end `end` for the module with the prefix `of`. The file's name lacks the device, so its prefix is the beginning of the
/// module's; if several files have such a prefix, the longest one counts.
fn without_device(names: &[&str], end: &str, of: &str) -> Option<String> {
    let shared = |name: &&str| {
        let prefix = prefix(name, end)?;
        let rest = of.strip_prefix(prefix)?;
        (prefix.is_empty() || rest.is_empty() || rest.starts_with('.')).then_some(prefix.len())
    };
    let found = names.iter().filter_map(|name| Some((shared(name)?, *name))).max()?;
    Some(found.1.to_owned())
}

/// Chooses one compilation of a directory. The directory itself and the directories in it are searched in the order of their names, and the first
/// one with a compilation counts. If it has several compilations, those with a buffer assignment are preferred, then the one with the largest
/// module; of equally large ones, the last by name. `paths` are the names of files with their directories, separated by `/`, and `size` gives the
/// size of such a file in bytes.
///
/// Returns the directory, the files of that compilation, and the names of the other compilations' modules in the directory. `None` if no
/// directory has a compilation.
///
/// ```
/// use xla_shape_hlo::dump::chosen_dump;
///
/// let sizes = [("d/a.after.hlo", 9), ("d/b.after.hlo", 5), ("d/b.buffer-assignment.txt", 1), ("e/c.after.hlo", 9)];
/// let size = |path: &str| sizes.iter().find(|(known, _)| *known == path).map(|(_, size)| *size);
/// let (folder, files, others) = chosen_dump(sizes.iter().map(|(path, _)| *path), size).unwrap();
/// assert_eq!((folder, files.best_module()), ("d", Some("b.after.hlo")));
/// assert_eq!(others, ["a.after.hlo"]);
/// ```
#[must_use]
pub fn chosen_dump<'n>(
    paths: impl IntoIterator<Item = &'n str>,
    size: impl Fn(&str) -> Option<u64>,
) -> Option<(&'n str, DumpFiles, Vec<String>)> {
    let mut folders = BTreeMap::<&str, Vec<&str>>::new();
    for path in paths {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        folders.entry(folder).or_default().push(name);
    }
    folders.into_iter().find_map(|(folder, names)| {
        let size = |name: &str| if folder.is_empty() { size(name) } else { size(&format!("{folder}/{name}")) };
        let (files, others) = chosen(names, size)?;
        Some((folder, files, others))
    })
}

/// The same for the files in one directory.
fn chosen<'n>(
    names: impl IntoIterator<Item = &'n str>,
    size: impl Fn(&str) -> Option<u64>,
) -> Option<(DumpFiles, Vec<String>)> {
    let mut found = dump_files(names);
    let rank = |files: &DumpFiles| Some((files.buffer_assignment.is_some(), size(files.best_module()?)?));
    let best = (0..found.len()).max_by_key(|&number| found.get(number).map(rank))?;
    let files = found.remove(best);
    Some((files, found.iter().filter_map(DumpFiles::best_module).map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::{DumpFiles, dump_files};
    use alloc::borrow::ToOwned;
    use alloc::format;
    use alloc::string::String;

    #[test]
    fn files_are_told_apart() {
        let found = dump_files([
            "live-range.txt",
            "a.after_optimizations.hlo.pb",
            "after.hlo",
            "a.after_optimizations.txt",
            "memory-usage-report.txt",
            "buffer-assignment.txt",
            "b.buffer-assignment.txt",
            "x_after.hlo",
            "a.after_optimizations-buffer-assignment-values.txt",
        ]);
        assert_eq!(found.len(), 2, "b has no module, and x_after is not a name of a dump");
        assert_eq!(found[0].prefix, "");
        assert_eq!(found[0].module.as_deref(), Some("after.hlo"));
        assert_eq!(found[0].live_range.as_deref(), Some("live-range.txt"));
        assert_eq!(found[1].proto.as_deref(), Some("a.after_optimizations.hlo.pb"));
        assert_eq!((found[1].module.as_deref(), &found[1].live_range), (Some("a.after_optimizations.txt"), &None));
        assert_eq!(found[1].buffer_assignment, None);
        assert!(dump_files([]).is_empty());
    }

    #[test]
    fn names_of_other_devices_are_read() {
        for device in ["cpu", "sm_8.0_gpu", "gfx950_gpu"] {
            for prefix in ["module_0000.jit_f.", ""] {
                let name = |tail: &str| format!("{prefix}{device}_after_optimizations{tail}");
                let names = [name(".txt"), name("-buffer-assignment.txt"), name("-live-range.txt"), name(".hlo.pb")];
                let found = DumpFiles::beside(names.iter().map(String::as_str), &names[0]).unwrap();
                assert_eq!(found.prefix, format!("{prefix}{device}"));
                assert_eq!(found.best_module(), Some(&*names[0]));
                let rest = [found.buffer_assignment, found.live_range, found.proto].map(Option::unwrap);
                assert_eq!(rest, names[1..]);
            }
        }
        // One program compiled for two devices is two compilations.
        let names = ["f.cpu_after_optimizations.txt", "f.gpu_after_optimizations.txt", "f.after_optimizations.txt"];
        assert_eq!(dump_files(names).len(), 3);
        assert!(dump_files(["f.tpu_after_optimizations.txt", "xcpu_after.hlo"]).is_empty());
    }

    #[test]
    fn the_target_of_a_gpu_belongs_to_its_module() {
        let names = [
            "module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt",
            "module_0001.jit_f.gpu_target_config.pbtxt",
            "module_0002.jit_f.sm_9.0_gpu_after_optimizations.txt",
            "module_0002.jit_f.gpu_target_config.pbtxt",
            "module_0002.jit_f2.sm_9.0_gpu_after_optimizations.txt",
            "module_0002.jit_f.thunk_sequence.txt",
        ];
        let steps = dump_files(names).into_iter().map(|files| files.thunk_sequence).collect::<alloc::vec::Vec<_>>();
        assert_eq!(steps, [None, Some(names[5].to_owned()), None]);
        let targets = dump_files(names).into_iter().map(|files| files.target_config).collect::<alloc::vec::Vec<_>>();
        assert_eq!(targets, [Some(names[1].to_owned()), Some(names[3].to_owned()), None]);
        let short = dump_files(["after.hlo", "gpu_target_config.pbtxt"]);
        assert_eq!(short[0].target_config.as_deref(), Some("gpu_target_config.pbtxt"));
    }

    #[test]
    fn the_order_of_a_directory_does_not_matter() {
        let mut names = ["after.txt", "after.hlo", "after_optimizations.hlo", "stats.json", "memory_analysis.json"];
        for _ in 0..names.len() {
            names.rotate_left(1);
            let found = dump_files(names);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].module.as_deref(), Some("after_optimizations.hlo"));
            assert_eq!(found[0].statistics.as_deref(), Some("stats.json"));
        }
    }

    #[test]
    fn long_and_short_names_are_two_compilations_where_both_have_a_module() {
        let both = ["after_optimizations.txt", "after.hlo", "buffer-assignment.txt", "stats.json"];
        let found = dump_files(both);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].best_module(), &found[0].buffer_assignment), (Some("after_optimizations.txt"), &None));
        assert_eq!(found[1].buffer_assignment.as_deref(), Some("buffer-assignment.txt"));
        assert!(found.iter().all(|files| files.statistics.is_some() && !files.statistics_of_folder));
        let one = ["after_optimizations.txt", "buffer-assignment.txt", "after_optimizations-live-range.txt"];
        let found = dump_files(one);
        assert_eq!((found.len(), found[0].buffer_assignment.as_deref()), (1, Some("buffer-assignment.txt")));
        assert_eq!(found[0].live_range.as_deref(), Some(one[2]));
    }

    #[test]
    fn an_analysis_without_a_prefix_is_beside_all_modules_that_have_none() {
        let names = ["a.after.hlo", "b.after.hlo", "b.stats.json", "memory_analysis.json"];
        let found = dump_files(names);
        let statistics = |at: usize| (found[at].statistics.as_deref(), found[at].statistics_of_folder);
        assert_eq!(statistics(0), (Some("memory_analysis.json"), true));
        assert_eq!(statistics(1), (Some("b.stats.json"), false));
    }
}
