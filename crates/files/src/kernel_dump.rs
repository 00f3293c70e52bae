//! The files that the TPU compiler dumps about kernels.

use crate::access::contents;
use crate::dump::names;
use crate::error::Error;
use std::path::Path;
use xla_shape_mosaic::{DumpedKernel, FileName, compilations, kernels, xla_instructions};

/// The files of a directory that are about kernels, with their contents.
///
/// ```
/// use xla_shape_files::KernelDump;
///
/// let folder = tempfile::tempdir()?;
/// let text = "module @k {\n  %0 = arith.constant {out_layout = [#xir_tc.vpad<\"none\">]} 0 : i32\n}";
/// std::fs::write(folder.path().join("mosaic.k.post-relayout-insertion.txt"), text)?;
/// let dump = KernelDump::read(folder.path())?;
/// assert_eq!(dump.kernels()[0].kernel.operations, Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelDump {
    /// For each compilation or directory, the names and texts of its files.
    groups: Vec<Vec<(String, String)>>,
}

impl KernelDump {
    /// Reads the files of a directory and of the directories in it.
    ///
    /// # Errors
    /// If the directory or one of these files cannot be read. Bytes that are not UTF-8 are replaced.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = folder.as_ref();
        // libtpu writes Mosaic's texts and the bundles to two directories, which often have the same parent.
        let entries = std::fs::read_dir(folder).map_err(|error| Error::read(folder, error))?;
        let mut folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>();
        folders.push(folder.to_owned());
        folders.sort();
        let mut texts = Vec::new();
        for (number, folder) in folders.iter().enumerate() {
            let mut names = names(folder)?;
            names.sort();
            for name in names.into_iter().filter(|name| FileName::parse(name).is_some()) {
                let text = String::from_utf8_lossy(&contents(folder.join(&name))?).into_owned();
                texts.push((number, name, text));
            }
        }
        Ok(Self { groups: compilations(texts) })
    }

    /// The kernels that the files are about.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// assert!(xla_shape_files::KernelDump::read(folder.path())?.kernels().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn kernels(&self) -> Vec<DumpedKernel<'_>> {
        self.groups.iter().flat_map(|files| kernels(&pairs(files))).collect()
    }

    /// The HLO instructions that XLA compiled itself, such as fusions.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// assert!(xla_shape_files::KernelDump::read(folder.path())?.xla_instructions().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn xla_instructions(&self) -> Vec<DumpedKernel<'_>> {
        self.groups.iter().flat_map(|files| xla_instructions(&pairs(files))).collect()
    }
}

fn pairs(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}
