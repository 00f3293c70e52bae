//! Which files of a directory belong to which module.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// The files of one compilation: names inside their directory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DumpFiles {
    /// What the names begin with, such as `module_0003.jit_step.cl_1234`; may be empty.
    pub prefix: String,
    /// The optimized module as text.
    pub module: Option<String>,
    /// The optimized module as a proto.
    pub proto: Option<String>,
    /// Where every value lies.
    pub buffer_assignment: Option<String>,
    /// From when to when every value is needed.
    pub live_range: Option<String>,
    /// The totals of each memory space.
    pub memory_usage_report: Option<String>,
    /// The compiler's memory analysis as JSON, which the user's program wrote.
    pub statistics: Option<String>,
}

/// The ends of names, as XLA has them and without what says that it is the optimized module.
const MODULE: [&str; 4] = ["after_optimizations.txt", "after_optimizations.hlo", "after.hlo", "after.txt"];
const PROTO: [&str; 2] = ["after_optimizations.hlo.pb", "after.hlo.pb"];
const ASSIGNMENT: [&str; 2] = ["after_optimizations-buffer-assignment.txt", "buffer-assignment.txt"];
const LIVE_RANGE: [&str; 2] = ["after_optimizations-live-range.txt", "live-range.txt"];
const USAGE: [&str; 2] = ["after_optimizations-memory-usage-report.txt", "memory-usage-report.txt"];

const STATISTICS: [&str; 2] = ["stats.json", "memory_analysis.json"];

/// Where the name of a file of one kind is kept.
type Field = fn(&mut DumpFiles) -> &mut Option<String>;

/// Finds the compilations among the names of a directory's files, sorted by prefix; those without an optimized module are
/// left out.
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
    let mut found: BTreeMap<String, DumpFiles> = BTreeMap::new();
    for name in names {
        let kinds: [(&[&str], Field); 6] = [
            (&PROTO, |files| &mut files.proto),
            (&MODULE, |files| &mut files.module),
            (&ASSIGNMENT, |files| &mut files.buffer_assignment),
            (&LIVE_RANGE, |files| &mut files.live_range),
            (&USAGE, |files| &mut files.memory_usage_report),
            (&STATISTICS, |files| &mut files.statistics),
        ];
        for (ends, place) in kinds {
            let prefix = ends.iter().find_map(|end| name.strip_suffix(end));
            // `x_after.hlo` is a name of its own; what ends a name stands after a point or alone.
            if let Some(prefix) = prefix.filter(|prefix| prefix.is_empty() || prefix.ends_with('.')) {
                let prefix = prefix.trim_end_matches('.').to_owned();
                let files = found.entry(prefix.clone()).or_insert_with(|| DumpFiles { prefix, ..DumpFiles::default() });
                place(files).get_or_insert_with(|| name.to_owned());
                break;
            }
        }
    }
    found.into_values().filter(|files| files.module.is_some() || files.proto.is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::dump_files;

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
        ]);
        assert_eq!(found.len(), 2, "b has no module, and x_after is not a name of a dump");
        assert_eq!(found[0].prefix, "");
        assert_eq!(found[0].module.as_deref(), Some("after.hlo"));
        assert_eq!(found[0].live_range.as_deref(), Some("live-range.txt"));
        assert_eq!(found[1].proto.as_deref(), Some("a.after_optimizations.hlo.pb"));
        assert_eq!((found[1].module.as_deref(), &found[1].live_range), (Some("a.after_optimizations.txt"), &None));
        assert!(dump_files([]).is_empty());
    }
}
