//! Finds the files of a profile, and reads them plane by plane.

use crate::read::host_of_trace;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use xla_shape_core::sorting::sort;
use xla_shape_files::Error;
use xla_shape_hlo::profile::{Profile, ProfileError};

/// What the name of one host's profile ends with.
const ENDING: &str = ".xplane.pb";

/// The files of the profile that a path stands for, sorted by name. The path is a profile itself, a run's directory with the profiles of
/// its hosts, a directory that a profiler was given (its last run counts), or a trace for viewers with profiles beside it. `None` if it
/// is something else.
///
/// ```
/// use xla_shape_program::profile_files;
///
/// let folder = tempfile::tempdir()?;
/// let run = folder.path().join("plugins/profile/2026_01_02");
/// std::fs::create_dir_all(&run)?;
/// std::fs::write(run.join("host.xplane.pb"), "")?;
/// std::fs::write(run.join("host.trace.json.gz"), "")?;
/// let found = Some(vec![run.join("host.xplane.pb")]);
/// assert_eq!(profile_files(folder.path()), found);
/// assert_eq!(profile_files(&run.join("host.trace.json.gz")), found);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn profile_files(path: &Path) -> Option<Vec<PathBuf>> {
    if path.is_file() {
        if let Some(host) = host_of_trace(&path.to_string_lossy()) {
            let of_host = PathBuf::from(format!("{host}{ENDING}"));
            let beside =
                if of_host.is_file() { vec![of_host] } else { of_run(path.parent().unwrap_or(Path::new("."))) };
            return (!beside.is_empty()).then_some(beside);
        }
        let mut beginning = Vec::new();
        File::open(path).ok()?.take(128).read_to_end(&mut beginning).ok()?;
        return Profile::is_profile(&beginning).then(|| vec![path.to_owned()]);
    }
    let of_run = of_run(path);
    if !of_run.is_empty() {
        return Some(of_run);
    }
    // The names of runs are the times at which they began.
    let runs = sorted(&path.join("plugins/profile"));
    runs.iter().rev().map(|run| self::of_run(run)).find(|files| !files.is_empty())
}

fn of_run(folder: &Path) -> Vec<PathBuf> {
    let is_profile = |file: &PathBuf| file.to_string_lossy().ends_with(ENDING) && file.is_file();
    sorted(folder).into_iter().filter(is_profile).collect()
}

/// The entries of a directory, sorted by name; none if it cannot be listed.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut entries = entries.collect::<Vec<_>>();
    sort(&mut entries);
    entries
}

/// Adds the profile in a file, with memory for one plane at a time. `progress` is told how many bytes are done.
pub(crate) fn add(
    profile: &mut Profile,
    path: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<Result<(), ProfileError>, Error> {
    let failed = |error| Error::Read { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    add_planes(profile, &mut BufReader::new(file), length, progress).map_err(failed)
}

fn add_planes(
    profile: &mut Profile,
    file: &mut BufReader<File>,
    length: u64,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Result<(), ProfileError>> {
    /// The key of a plane in an `XSpace`, and the keys of its other fields: errors, warnings and names of hosts.
    const PLANE: u64 = 0x0a;
    const TEXTS: [u64; 3] = [0x12, 0x1a, 0x22];
    let mut plane = Vec::new();
    while !file.fill_buf()?.is_empty() {
        let at = file.stream_position()?;
        let field = varint(file)?.zip(varint(file)?);
        let rest = length.saturating_sub(file.stream_position()?);
        let field = field.filter(|(key, size)| (*key == PLANE || TEXTS.contains(key)) && *size <= rest);
        let Some((key, size)) = field else { return Ok(Err(ProfileError::truncated(at))) };
        if key != PLANE {
            file.seek_relative(i64::try_from(size).unwrap_or(i64::MAX))?;
            continue;
        }
        plane.clear();
        // `size` is at most what is left of the file, so this allocates no more than the file has.
        plane.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX))?;
        file.by_ref().take(size).read_to_end(&mut plane)?;
        if let Err(error) = profile.add_plane(&plane) {
            return Ok(Err(error.at(at)));
        }
        progress(at + size);
    }
    Ok(Ok(()))
}

/// Reads a varint of protobuf; `None` if the file ends before the number does, or the number is too long.
fn varint(file: &mut BufReader<File>) -> io::Result<Option<u64>> {
    let mut bytes = Vec::new();
    for byte in file.by_ref().take(10).bytes() {
        let byte = byte?;
        bytes.push(byte);
        if byte < 0x80 {
            return Ok(xla_shape_core::proto::wire::varint(&mut bytes.as_slice()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{add, profile_files as find};
    use std::fs;
    use xla_shape_hlo::profile::{Profile, ProfileErrorKind};

    /// A profile with one plane of this name.
    fn space(name: &str) -> Vec<u8> {
        let length = u8::try_from(name.len()).unwrap();
        [&[0x0a, length + 2, 0x12, length], name.as_bytes()].concat()
    }

    #[test]
    fn a_directory_stands_for_its_last_run() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find(folder.path()), None);
        let runs = folder.path().join("plugins/profile");
        for (run, file) in [("2026_01_02", "b.xplane.pb"), ("2026_01_02", "a.xplane.pb"), ("2025_12_31", "a.xplane.pb")]
        {
            fs::create_dir_all(runs.join(run)).unwrap();
            fs::write(runs.join(run).join(file), space("/device:TPU:0")).unwrap();
        }
        fs::write(runs.join("2026_01_02/a.trace.json.gz"), "").unwrap();
        let last = ["a", "b"].map(|host| runs.join("2026_01_02").join(format!("{host}.xplane.pb")));
        assert_eq!((find(folder.path()), find(&runs.join("2026_01_02"))), (Some(last.to_vec()), Some(last.to_vec())));
        // A trace for viewers stands for the profile of its host, or for the profiles of all hosts.
        assert_eq!(find(&runs.join("2026_01_02/a.trace.json.gz")), Some(last[..1].to_vec()));
        let trace = runs.join("2026_01_02/perfetto_trace.json.gz");
        fs::write(&trace, "").unwrap();
        assert_eq!(find(&trace), Some(last.to_vec()));
        let alone = folder.path().join("a.trace.json.gz");
        fs::write(&alone, "").unwrap();
        assert_eq!(find(&alone), None);
        // The contents, not the name, make a file a profile.
        let path = folder.path().join("p.pb");
        fs::write(&path, space("/host:CPU")).unwrap();
        assert_eq!(find(&path), Some(vec![path.clone()]));
        fs::write(&path, "HloModule m").unwrap();
        assert_eq!(find(&path), None);
    }

    #[test]
    fn a_file_is_read_as_its_bytes_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.xplane.pb");
        let host = b"\x22\x04host";
        let whole = [space("/device:TPU:0"), host.to_vec(), space("/device:TPU:1")].concat();
        for end in 0..=whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let mut profile = Profile::default();
            let read = add(&mut profile, &path, &mut |_| ()).unwrap();
            let expected = Profile::read(&whole[..end]);
            assert_eq!(read.as_ref().err(), expected.as_ref().err(), "{end}");
            assert!(read.is_err() || profile.devices() == expected.unwrap().devices());
        }
        // A plane that says that it is larger than any memory.
        fs::write(&path, [&[0x0a][..], &[0xff; 9], &[1]].concat()).unwrap();
        let error = add(&mut Profile::default(), &path, &mut |_| ()).unwrap().unwrap_err();
        assert_eq!(*error.kind(), ProfileErrorKind::Truncated);
    }
}
