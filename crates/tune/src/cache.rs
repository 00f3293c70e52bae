//! A cache on disk for the compiler's answers, so that a search that was stopped can continue.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use xla_shape_files::{contents, read_regular, write_regular};
use xla_shape_pjrt::{LoadOptions, Target};
use xla_shape_program::Host;

/// The largest file that is read, in bytes. Answers take a few KiB.
const MAX_BYTES: u64 = 64 << 20;

/// What an answer depends on.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Key {
    /// A hash of the program's text, which contains the requested layouts.
    pub(crate) program: String,
    /// The generation and the topology.
    pub(crate) device: String,
    pub(crate) replicas: Option<u32>,
    pub(crate) partitions: Option<u32>,
    pub(crate) options: Vec<(String, String)>,
    /// Hashes of the description of the GPU and of the results of autotuning, if the user gives them.
    pub(crate) files: [Option<String>; 2],
    /// The compiler that gave the answer: the version that it reports, and the size of its file.
    pub(crate) compiler: Version,
    pub(crate) flags: Flags,
    /// The version of this program, which computes the figures from the compiler's answer.
    pub(crate) version: String,
}

/// Where answers come from: a compiler, and the flags that its process inherits.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Origin {
    pub(crate) compiler: Compiler,
    pub(crate) flags: Flags,
}

/// How the cache identifies a compiler. It assumes that the same version gives the same answers at another path, on another machine, or after a new
/// installation.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) enum Version {
    /// The version that the compiler reports, and the size of its file.
    Said { words: String, bytes: u64 },
    /// The compiler does not report its version, so its file identifies it.
    File(Compiler),
}

impl Version {
    pub(crate) fn new(compiler: &Compiler, words: Option<&str>) -> Self {
        match words {
            Some(words) => Self::Said { words: words.to_owned(), bytes: compiler.bytes },
            None => Self::File(compiler.clone()),
        }
    }
}

impl Origin {
    /// The compiler for these devices that this machine finds with these arguments, and the flags of this process.
    pub(crate) fn here(compiler: &xla_shape_program::Compiler, target: &Target, host: &Host) -> Result<Self, String> {
        let path = match &compiler.plugin {
            Some(path) => path.clone(),
            None => {
                let options = LoadOptions::new().target(target);
                let options = host.python.iter().fold(options, |options, python| options.python(python));
                options.path().map_err(|error| error.to_string())?
            }
        };
        let compiler = Compiler::at(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { compiler, flags: Flags(FLAGS.map(env::var_os)) })
    }
}

/// The environment variables that hold the flags of XLA and libtpu.
const FLAGS: [&str; 2] = ["LIBTPU_INIT_ARGS", "XLA_FLAGS"];

/// The value of each of these variables; `None` if it is not set.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Flags([Option<OsString>; FLAGS.len()]);

/// The file of a compiler, which identifies its version: a file of another version has another size or date.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Compiler {
    path: PathBuf,
    bytes: u64,
    /// When it was written, in seconds since 1970.
    written: u64,
}

impl Compiler {
    /// The file at a path.
    fn at(path: &Path) -> std::io::Result<Self> {
        let found = fs::metadata(path)?;
        let written = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let written = written.map_or(0, |time| time.as_secs());
        Ok(Self { path: path.to_owned(), bytes: found.len(), written })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// A compiler's answer that can be cached.
pub(crate) trait Kept: Clone + Serialize + DeserializeOwned {
    /// The name of the folder, with the version of the file format. Each version of the format has a folder of its own, so a program neither reads
    /// nor changes files of another version.
    const FOLDER: &'static str;

    /// The compiler's version, as it reports it; `None` if it is not known.
    fn version(&self) -> Option<&str>;
}

#[derive(Serialize, Deserialize)]
struct Record<T> {
    key: Key,
    answer: T,
}

/// The version that the compiler in a file reports for a device. The text of the version depends on the device.
#[derive(Serialize, Deserialize)]
struct Known {
    compiler: Compiler,
    device: String,
    version: Version,
}

/// The folder with answers.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// Why an answer could not be written; the user sees this once.
    trouble: Option<String>,
}

impl Cache {
    /// The cache of answers of this kind: in `folder`, or else in the user's cache folder; `None` if the user has none.
    pub(crate) fn new<T: Kept>(folder: Option<&Path>) -> Option<Self> {
        let variable = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let own = || {
            let home = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
            let local = || variable("LOCALAPPDATA");
            Some(home.or_else(local)?.join("xla-shape"))
        };
        let folder = folder.map(Path::to_owned).or_else(own)?;
        Some(Self { folder: folder.join(T::FOLDER), trouble: None })
    }

    fn file(&self, key: &Key) -> PathBuf {
        let text = serde_json::to_vec(key).unwrap_or_default();
        self.folder.join(format!("{}.json", hash(&text)))
    }

    /// The cached answer; `None` if there is none, or if its file cannot be read. The caller then compiles again and overwrites the file.
    pub(crate) fn get<T: Kept>(&self, key: &Key) -> Option<T> {
        let record: Record<T> = serde_json::from_slice(&read_regular(self.file(key), MAX_BYTES).ok()?).ok()?;
        (record.key == *key).then_some(record.answer)
    }

    /// The version that the compiler in this file reports for a device; `None` if it was never asked. A file that was replaced has another size or
    /// date, so it counts as another compiler.
    pub(crate) fn version(&self, compiler: &Compiler, device: &str) -> Option<Version> {
        let file = read_regular(self.version_file(compiler, device), MAX_BYTES).ok()?;
        let known: Known = serde_json::from_slice(&file).ok()?;
        (known.compiler == *compiler && known.device == device).then_some(known.version)
    }

    /// Stores the version that the compiler in this file reports for a device.
    pub(crate) fn keep_version(&mut self, compiler: &Compiler, device: &str, version: &Version) {
        let known = Known { compiler: compiler.clone(), device: device.to_owned(), version: version.clone() };
        self.write(&self.version_file(compiler, device), &known);
    }

    fn version_file(&self, compiler: &Compiler, device: &str) -> PathBuf {
        let text = serde_json::to_vec(&(compiler, device)).unwrap_or_default();
        self.folder.join(format!("compiler-{}.json", hash(&text)))
    }

    /// Writes an answer. If that fails, the search continues, but the answer is not cached.
    pub(crate) fn keep(&mut self, key: &Key, answer: &impl Kept) {
        self.write(&self.file(key), &Record { key: key.clone(), answer: answer.clone() });
    }

    fn write(&mut self, file: &Path, content: &impl Serialize) {
        let written = fs::create_dir_all(&self.folder).map_err(|error| error.to_string()).and_then(|()| {
            let text = serde_json::to_vec(content).map_err(|error| error.to_string())?;
            write_regular(file, &text).map_err(|error| error.to_string())
        });
        if let Err(error) = written {
            self.trouble.get_or_insert(format!("answers are not cached in {}: {error}", self.folder.display()));
        }
    }

    /// Why an answer could not be written.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}

/// Hashes of the contents of the files that a compiler is given. A file that cannot be read counts as missing: the compiler will report why.
pub(crate) fn files_of(compiler: &xla_shape_program::Compiler) -> [Option<String>; 2] {
    [&compiler.config, &compiler.autotune].map(|file| Some(hash(&contents(file.as_ref()?).ok()?)))
}

/// The 128-bit FNV-1a hash, in hexadecimal digits. It is not cryptographic; that is enough, because the files are the user's own.
pub(crate) fn hash(bytes: &[u8]) -> String {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let hash = bytes.iter().fold(START, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::{Cache, Compiler, Flags, Kept as _, Key, Version, hash};
    use crate::{Figures, Measured};
    use std::path::PathBuf;

    #[test]
    fn the_hash_is_fnv_1a() {
        // Test vectors from the authors' page.
        assert_eq!(hash(b""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(hash(b"a"), "d228cb696f1a8caf78912b704e4a8964");
    }

    /// Other users may be able to write to the folder. So the cache does not follow links, wait for pipes, or read endless files.
    #[cfg(unix)]
    #[test]
    fn nothing_but_regular_files_is_read_or_written() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        std::fs::write(&own, "own").unwrap();
        let compiler = Compiler { path: PathBuf::from("/libtpu.so"), bytes: 1, written: 2 };
        let mut cache = Cache::new::<Measured>(Some(folder.path())).unwrap();
        let version = Version::Said { words: "libtpu 1".to_owned(), bytes: 1 };
        cache.keep_version(&compiler, "v5e", &version);
        let entry = cache.version_file(&compiler, "v5e");
        std::fs::rename(&entry, folder.path().join("moved")).unwrap();
        for place in [own.as_path(), &folder.path().join("moved"), "/dev/zero".as_ref(), "/dev/null".as_ref()] {
            std::os::unix::fs::symlink(place, &entry).unwrap();
            assert_eq!(cache.version(&compiler, "v5e"), None, "{place:?}");
            cache.keep_version(&compiler, "v5e", &version);
            assert!(std::fs::symlink_metadata(&entry).unwrap().is_symlink(), "{place:?}");
            assert!(cache.trouble().unwrap().ends_with("not a regular file"), "{:?}", cache.trouble());
            std::fs::remove_file(&entry).unwrap();
        }
        assert_eq!(std::fs::read(&own).unwrap(), b"own");
        assert!(std::process::Command::new("mkfifo").arg(&entry).status().unwrap().success());
        assert_eq!(cache.version(&compiler, "v5e"), None);
        cache.keep_version(&compiler, "v5e", &version);
        // Our answers are never this large: compile again, and overwrite the file.
        std::fs::remove_file(&entry).unwrap();
        std::fs::File::create(&entry).unwrap().set_len(super::MAX_BYTES + 1).unwrap();
        assert_eq!(cache.version(&compiler, "v5e"), None);
        cache.keep_version(&compiler, "v5e", &version);
        assert_eq!(cache.version(&compiler, "v5e"), Some(version));
    }

    #[test]
    fn answers_are_kept_for_their_key_alone() {
        let folder = tempfile::tempdir().unwrap();
        let said = |words: &str, bytes| Version::Said { words: words.to_owned(), bytes };
        let compiler = Compiler { path: PathBuf::from("/libtpu.so"), bytes: 1, written: 2 };
        let key = Key {
            program: hash(b"a program"),
            device: "v5e:2x2".to_owned(),
            replicas: None,
            partitions: Some(2),
            options: vec![("a".to_owned(), "b".to_owned())],
            files: [None, Some(hash(b"results"))],
            compiler: said("libtpu 1", 7),
            flags: Flags([None, Some("--a=1".into())]),
            version: "1".to_owned(),
        };
        let answer = Measured::new(Figures { bytes: 7, ..Figures::default() }, &[], &[]);
        let mut cache = Cache::new::<Measured>(Some(folder.path())).unwrap();
        let get = |cache: &Cache, key: &Key| cache.get::<Measured>(key);
        assert_eq!(get(&cache, &key), None);
        cache.keep(&key, &answer);
        assert_eq!((cache.trouble(), get(&cache, &key)), (None, Some(answer.clone())));
        // Each part of the key counts.
        let with_flags = |flags| Key { flags, ..key.clone() };
        let with_compiler = |compiler| Key { compiler, ..key.clone() };
        let others = [
            Key { program: hash(b"another"), ..key.clone() },
            Key { device: "v6e:2x2".to_owned(), ..key.clone() },
            Key { replicas: Some(1), ..key.clone() },
            Key { partitions: None, ..key.clone() },
            Key { options: vec![], ..key.clone() },
            Key { files: [None, None], ..key.clone() },
            with_compiler(said("libtpu 2", 7)),
            with_compiler(said("libtpu 1", 8)),
            with_compiler(Version::File(compiler.clone())),
            with_flags(Flags([None, None])),
            with_flags(Flags([None, Some("--a=2".into())])),
            with_flags(Flags([Some("--a=1".into()), None])),
            Key { version: "2".to_owned(), ..key.clone() },
        ];
        for other in others {
            assert_eq!(get(&cache, &other), None, "{other:?}");
        }
        // The version is stored for this file only.
        assert_eq!(cache.version(&compiler, "v5e"), None);
        cache.keep_version(&compiler, "v5e", &key.compiler);
        assert_eq!(cache.version(&compiler, "v5e"), Some(key.compiler.clone()));
        assert_eq!(cache.version(&Compiler { written: 3, ..compiler.clone() }, "v5e"), None);
        assert_eq!(cache.version(&compiler, "v6e"), None, "its words speak of the device");
        // A file that cannot be read is not an answer, and is written again.
        std::fs::write(cache.file(&key), "{").unwrap();
        assert_eq!(get(&cache, &key), None);
        cache.keep(&key, &answer);
        assert_eq!(get(&cache, &key), Some(answer.clone()));
        // If nothing can be written, only the answers are lost.
        std::fs::write(folder.path().join("file"), "").unwrap();
        let mut none = Cache::new::<Measured>(Some(&folder.path().join("file"))).unwrap();
        none.keep(&key, &answer);
        assert!(none.trouble().unwrap().starts_with("answers are not cached in "), "{:?}", none.trouble());
        assert!(none.trouble().unwrap().contains(Measured::FOLDER));
    }
}
