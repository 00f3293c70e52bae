//! The names of Python files in the text: of each path, only as much of its end as distinguishes the files.

use std::collections::BTreeMap;
use xla_shape_core::sorting::{map_of, set_of};

/// The short names of files, by their paths.
pub(super) struct FileNames<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> FileNames<'a> {
    /// The names of the files in these sources, each a path, `:` and a line.
    pub(super) fn new(sources: impl Iterator<Item = &'a str>) -> Self {
        let paths = set_of(sources.map(|source| file_and_line(source).0));
        let ends = |path: &'a str| {
            let separators = path.match_indices(['/', '\\']).map(|(at, _)| at + 1).collect::<Vec<_>>();
            separators.into_iter().rev().chain([0]).filter_map(|at| path.get(at..))
        };
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for end in paths.iter().flat_map(|path| ends(path)) {
            *counts.entry(end).or_default() += 1;
        }
        let short = |path: &'a str| ends(path).find(|end| counts.get(end) == Some(&1)).unwrap_or(path);
        Self(map_of(paths.iter().map(|path| (*path, short(path)))))
    }

    /// A source with the short name of its file.
    pub(super) fn short(&self, source: &str) -> String {
        let (path, line) = file_and_line(source);
        let name = self.0.get(path).copied().unwrap_or(path);
        if line.is_empty() { name.to_owned() } else { format!("{name}:{line}") }
    }
}

fn file_and_line(source: &str) -> (&str, &str) {
    source.rsplit_once(':').unwrap_or((source, ""))
}

#[cfg(test)]
mod tests {
    use super::FileNames;

    #[test]
    fn names_are_as_long_as_needed() {
        let sources = [
            "/a/b/kernel.py:3",
            "/a/c/kernel.py:4",
            "/a/c/mask.py:5",
            "/a/b/kernel.py:9",
            "c:\\d\\own.py:1",
            "bare.py:2",
        ];
        let names = FileNames::new(sources.into_iter());
        let short = sources.map(|source| names.short(source));
        assert_eq!(short, ["b/kernel.py:3", "c/kernel.py:4", "mask.py:5", "b/kernel.py:9", "own.py:1", "bare.py:2"]);
        assert_eq!(
            FileNames::new(["kernel.py:1", "x/kernel.py:1"].into_iter()).short("x/kernel.py:1"),
            "x/kernel.py:1"
        );
        assert_eq!(names.short("other.py:7"), "other.py:7");
    }
}
