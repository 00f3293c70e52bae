//! Files that the compiler writes: modules with the files beside them, and dumps of kernels.

use super::{File, PASTED};
use crate::program::Program;
use crate::read::{ReadError, host_of_trace};
use std::collections::BTreeMap;
#[cfg(feature = "files")]
use std::path::Path;
use xla_shape_core::sorting::map_of;
#[cfg(feature = "files")]
use xla_shape_files::{Error, contents, files_below};
use xla_shape_hlo::dump::{DumpFiles, chosen_dump};
use xla_shape_hlo::profile::Profile;
use xla_shape_hlo::proto::{is_message, is_text_format};
use xla_shape_hlo::{Language, LogLines};
use xla_shape_mosaic::{Bundles, DumpedKernel, FileKind, FileName, compilations, kernels, xla_instructions};

/// Whether a file certainly is a module: no other kind of file has this form.
pub(super) fn is_module(file: &File<'_>) -> bool {
    let is_text = || {
        let text = file.text()?;
        let begins = || Language::of(file.bytes) == Some(Language::Hlo) && !text.trim_start().starts_with('%');
        Some(text.contains("\nENTRY ") || begins() || is_wrapped(text) || is_text_format(text))
    };
    is_message(file.bytes) || is_text().unwrap_or(false)
}

/// Whether a text is a log that contains a module, with a prefix before each line.
fn is_wrapped(text: &str) -> bool {
    let mut log = LogLines::default();
    let mut begins = |words: &str| text.lines().any(|line| log.unwrap(line).trim_start().starts_with(words));
    text.contains("HloModule ") && text.contains("ENTRY ") && begins("HloModule ") && begins("ENTRY ")
}

/// A module, and the compiler's other files about it.
///
/// ```
/// use xla_shape_program::{File, ModuleDump};
///
/// let file = |name: &str, bytes| File { name: name.to_owned(), bytes };
/// let module = b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }";
/// let files = [file("d/m.after_optimizations.txt", module), file("d/stats.json", b"{\"temp_size_in_bytes\": 64}")];
/// let dump = ModuleDump::find(&files).unwrap();
/// assert_eq!((dump.path.as_str(), dump.name.as_str()), ("d", "d/m.after_optimizations.txt"));
/// assert_eq!(dump.program()?.memory(None).files(), ["stats.json"]);
/// # Ok::<(), xla_shape_program::ReadError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ModuleDump<'g> {
    /// What a command names: the file, or the directory.
    pub path: String,
    /// The module's file, as the program names it.
    pub name: String,
    bytes: &'g [u8],
    files: DumpFiles,
    others: Vec<String>,
    folder: BTreeMap<&'g str, &'g [u8]>,
    /// In a directory with profiles: the profiles of the hosts.
    hosts: Vec<&'g [u8]>,
}

/// Whether a file is a profile, or a trace for viewers beside one.
pub(super) fn is_profile(file: &File<'_>) -> bool {
    Profile::is_profile(file.bytes) || host_of_trace(&file.name).is_some()
}

/// The profiles of the hosts of the last run among the files of a directory, and the directory of the run.
fn last_run<'g>(files: &'g [File<'_>]) -> Option<(&'g str, Vec<&'g File<'g>>)> {
    let mut runs = BTreeMap::<&str, Vec<&File<'_>>>::new();
    for file in files.iter().filter(|file| Profile::is_profile(file.bytes)) {
        runs.entry(file.place().0).or_default().push(file);
    }
    runs.pop_last()
}

impl<'g> ModuleDump<'g> {
    /// The module in a file, or the module that a directory is about.
    #[must_use]
    pub fn find(files: &'g [File<'_>]) -> Option<Self> {
        if let [file] = files {
            let [path, name] = [file.name.clone(), file.name.clone()];
            let (files, others, folder, hosts) = Default::default();
            return Some(Self { path, name, bytes: file.bytes, files, others, folder, hosts });
        }
        if let Some((path, hosts)) = last_run(files) {
            let path = if path.is_empty() { "." } else { path }.to_owned();
            let hosts = hosts.into_iter().map(|file| file.bytes).collect();
            let (files, others, folder) = Default::default();
            return Some(Self { name: path.clone(), path, bytes: &[], files, others, folder, hosts });
        }
        let all = map_of(files.iter().map(|file| (file.name.as_str(), file.bytes)));
        let size = |path: &str| Some(all.get(path)?.len() as u64);
        let (path, mut files, others) = chosen_dump(all.keys().copied(), size)?;
        let module = files.best_module()?.to_owned();
        // If the module itself is read from the message, the message does not count as a further file beside it.
        files.proto = files.proto.filter(|name| *name != module);
        let in_folder = all.iter().filter_map(|(name, bytes)| {
            let (folder, name) = name.rsplit_once('/').unwrap_or(("", name));
            (folder == path).then_some((name, *bytes))
        });
        let folder = map_of(in_folder);
        let bytes = folder.get(module.as_str())?;
        let path = if path.is_empty() { "." } else { path };
        let [path, name] = [path.to_owned(), format!("{path}/{module}")];
        Some(Self { path, name, bytes, files, others, folder, hosts: Vec::new() })
    }

    /// The program, with the compiler's files beside its module.
    ///
    /// # Errors
    /// If the file is not a module, or nothing of it can be read.
    pub fn program(&self) -> Result<Program, ReadError> {
        if !self.hosts.is_empty() {
            return Program::of_hosts(&self.name, &self.hosts);
        }
        let program = Program::read(&self.name, self.bytes.to_vec())?;
        let read = |name: &str| self.folder.get(name).map(|bytes| bytes.to_vec());
        Ok(program.with_files(self.files.clone(), read).with_others(self.others.clone()))
    }
}

/// The files of a dump of kernels, in groups that belong together, and the sources of the kernels.
///
/// ```
/// use xla_shape_program::{File, KernelFiles};
///
/// let files = ["d/mosaic.k.post-relayout-insertion.txt", "d/kernel.py"].map(|name| File { name: name.to_owned(), bytes: b"" });
/// let dump = KernelFiles::find(&files).unwrap();
/// assert_eq!((dump.path.as_str(), dump.groups().count()), ("d", 1));
/// assert_eq!(dump.sources[0].name, "d/kernel.py");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct KernelFiles<'g> {
    /// The directory that a command names.
    pub path: String,
    groups: Vec<Vec<(String, String)>>,
    /// Files in Python.
    pub sources: Vec<&'g File<'g>>,
}

impl<'g> KernelFiles<'g> {
    /// The texts about kernels among the files; `None` if there are none.
    #[must_use]
    pub fn find(files: &'g [File<'g>]) -> Option<Self> {
        let mut named = Vec::new();
        for file in files {
            let (folder, name) = file.place();
            let name = match files {
                [_] => kernel_name(file)?,
                _ if FileName::parse(name).is_some() => name.to_owned(),
                _ => continue,
            };
            named.push((folder, name, file.bytes));
        }
        // libtpu writes Mosaic's texts and the bundles to two directories, which often have the same parent.
        let path = named.iter().map(|(folder, ..)| *folder).reduce(parent_of_both)?;
        let path = if path.is_empty() { "." } else { path }.to_owned();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let groups = compilations(named.into_iter().map(|(folder, name, bytes)| (folder, name, text(bytes))));
        let sources = files.iter().filter(|file| file.name.ends_with(".py")).collect();
        Some(Self { path, groups, sources })
    }

    /// The kernels that the files are about.
    #[must_use]
    pub fn kernels(&self) -> Vec<DumpedKernel<'_>> {
        self.groups().flat_map(|files| kernels(&files)).collect()
    }

    /// The HLO instructions that XLA compiled itself, such as fusions.
    #[must_use]
    pub fn xla_instructions(&self) -> Vec<DumpedKernel<'_>> {
        self.groups().flat_map(|files| xla_instructions(&files)).collect()
    }

    /// The files of each group, as names and texts.
    pub fn groups(&self) -> impl Iterator<Item = Vec<(&str, &str)>> {
        self.groups.iter().map(|files| files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect())
    }
}

#[cfg(feature = "files")]
impl KernelFiles<'static> {
    /// The texts about kernels in a directory and below, without sources; `None` if there are none. Bytes that are not UTF-8 are replaced.
    ///
    /// ```
    /// use xla_shape_program::KernelFiles;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let text = "module @k {\n  %0 = arith.constant {out_layout = [#xir_tc.vpad<\"none\">]} 0 : i32\n}";
    /// std::fs::write(folder.path().join("mosaic.k.post-relayout-insertion.txt"), text)?;
    /// let dump = KernelFiles::open(folder.path())?.unwrap();
    /// assert_eq!(dump.kernels()[0].kernel.operations, Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the directory or one of these files cannot be read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Option<Self>, Error> {
        let folder = folder.as_ref();
        let paths = files_below(folder)?;
        let is_alone = paths.len() == 1;
        let is_read = |path: &String| is_alone || FileName::parse(path.rsplit('/').next().unwrap_or(path)).is_some();
        let read = |path: String| Ok((contents(folder.join(&path))?, path));
        let read = paths.into_iter().filter(is_read).map(read).collect::<Result<Vec<_>, Error>>()?;
        let files = read.iter().map(|(bytes, name)| File { name: name.clone(), bytes }).collect::<Vec<_>>();
        let found = KernelFiles::find(&files);
        Ok(found.map(|KernelFiles { path, groups, .. }| Self { path, groups, sources: Vec::new() }))
    }
}

/// The deepest directory that contains both directories; a directory contains itself.
fn parent_of_both<'p>(one: &'p str, other: &str) -> &'p str {
    let same = one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other);
    // The `+ 1` is the separator between two parts.
    let end = same.map(|(part, _)| part.len()).reduce(|end, length| end + 1 + length);
    one.get(..end.unwrap_or(0)).unwrap_or(one)
}

/// The name under which a compiler would dump this text: the file's own name if it is such a name, otherwise one that
/// its contents suggest.
fn kernel_name(file: &File<'_>) -> Option<String> {
    let (_, name) = file.place();
    if FileName::parse(name).is_some_and(|name| !matches!(name.kind, FileKind::VmemReport | FileKind::Allocations)) {
        return Some(name.to_owned());
    }
    let text = file.text()?;
    let stem = if name == PASTED { "pasted" } else { name.split('.').next()? };
    // A text in which vectors are registers, or have no layouts yet, shows no relayouts. With the name of the stage `apply-vector-layout`, the
    // answer says which text shows them. Only MLIR counts, because a message about an operation may show a layout, too.
    let is_mlir = Language::of(file.bytes) == Some(Language::Mlir);
    let has_layouts = is_mlir && (text.contains("xir_tc.vpad<") || text.contains("#tpu.vpad<"));
    if text.contains(".roll_vectors ") || (!has_layouts && text.contains("stable_mosaic.version")) {
        return Some(format!("mosaic.{stem}.post-apply-vector-layout.txt"));
    }
    if has_layouts {
        return Some(format!("mosaic.{stem}.post-relayout-insertion.txt"));
    }
    if text.starts_with("Schedule analysis") {
        return Some(format!("llo.{stem}.schedule-analysis_final_bundles.txt"));
    }
    // Bundles have these brackets, which are rare elsewhere.
    let is_bundles = text.contains(":  {") && !Bundles::parse(text).bundles().is_empty();
    is_bundles.then(|| format!("llo.{stem}.final_bundles.txt"))
}
