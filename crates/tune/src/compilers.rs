//! The answers of compilers to a search: each is asked for once, and written to the cache as soon as it is there.

use crate::cache::{Cache, Flags, Key, Origin, Version, hash};
use crate::protocol::{Asked, Reply, asking, measure_request, read, version_request};
use crate::{Measured, TuneError, Watch, Workers};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use xla_shape_pjrt::{Program, Target};
use xla_shape_program::{CompileError, Compiler};

/// Which programs are compiled, for which device, and where.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) programs: &'a [Program],
    pub(crate) target: &'a Target,
    pub(crate) workers: &'a dyn Workers,
    /// Once it is set, nothing more is compiled.
    pub(crate) stop: &'a AtomicBool,
    pub(crate) watch: &'a dyn Watch,
}

pub(crate) struct Compilers<'a> {
    setup: Setup<'a>,
    /// The compiler, for the workers.
    compiler: Compiler,
    origin: Origin,
    /// The compiler's version. While it is `None`, not known yet, the cache is not read.
    version: Option<Version>,
    cache: Option<Cache>,
    /// The answers so far, by the hash of the program's text.
    answers: HashMap<String, Result<Measured, String>>,
    /// How many answers the cache had.
    kept: usize,
}

impl<'a> Compilers<'a> {
    /// # Errors
    /// If no worker can answer.
    pub(crate) fn new(
        setup: Setup<'a>,
        compiler: Compiler,
        origin: Origin,
        cache: Option<Cache>,
    ) -> Result<Self, TuneError> {
        let mut new = Self { setup, compiler, origin, version: None, cache, answers: HashMap::new(), kept: 0 };
        new.version = new.find_version()?;
        Ok(new)
    }

    /// The version of the compiler: the one that the cache knows, or what the compiler says. `None` without a cache, or if the compiler
    /// does not answer; the first program then says why.
    fn find_version(&mut self) -> Result<Option<Version>, TuneError> {
        let Some(cache) = &mut self.cache else { return Ok(None) };
        if let Some(version) = cache.version(&self.origin.compiler) {
            return Ok(Some(version));
        }
        let request = version_request(&self.compiler, self.setup.target);
        let mut version = None;
        let ran = self.setup.workers.run(&[(0, request)], &mut |_, answer| {
            let words = read::<Option<String>>(answer).ok();
            version = words.map(|words| Version::new(&self.origin.compiler, words.as_deref()));
            true
        });
        ran.map_err(TuneError::NoCompiler)?;
        if let Some(version) = &version {
            cache.keep_version(&self.origin.compiler, version);
        }
        Ok(version)
    }

    /// Compiles programs. The answers are in the order of the requests; `None` for those that the user did not wait for.
    pub(crate) fn compile(
        &mut self,
        asks: &[(usize, Asked)],
    ) -> Result<Vec<Option<Result<Measured, String>>>, TuneError> {
        let mut names = Vec::new();
        let mut missing = Vec::new();
        let mut unique = HashSet::new();
        for (number, asked) in asks {
            let text = self.setup.programs.get(*number).map(|program| asking(program, asked));
            let Some(Ok(text)) = text else {
                return Err(TuneError::NoCompiler("a program cannot ask for these layouts".to_owned()));
            };
            let name = hash(text.code());
            if !self.answers.contains_key(&name) && unique.insert(name.clone()) {
                match self.cached(&name) {
                    Some(answer) => {
                        self.kept += 1;
                        self.answers.insert(name.clone(), Ok(answer));
                    }
                    None => missing.push((name.clone(), *number, asked)),
                }
            }
            names.push(name);
        }
        self.setup.watch.wanted(missing.len());
        let requests: Vec<_> = missing
            .iter()
            .map(|(_, number, asked)| (*number, measure_request(&self.compiler, self.setup.target, asked)))
            .collect();
        let mut waiting: Vec<_> = missing.iter().map(|(name, _, asked)| Some((name, *asked))).collect();
        let mut fatal = None;
        let (workers, stop) = (self.setup.workers, self.setup.stop);
        self.say(waiting.iter().flatten().next().map(|(_, asked)| *asked));
        let mut ask = |number: usize, answer: &[u8]| {
            // Ctrl-C in a terminal also ends the compilers. Their errors do not mean that the compiler refused the program.
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let Some((name, _)) = waiting.get_mut(number).and_then(Option::take) else { return true };
            self.setup.watch.compiled();
            self.say(waiting.iter().flatten().next().map(|(_, asked)| *asked));
            let answer = match read::<Reply>(answer) {
                Ok(Reply { measured, origin }) => {
                    // Under the compiler that gave it: workers may have different ones.
                    let version = Version::new(&origin.compiler, measured.version());
                    let key = self.key(name, version, origin.flags);
                    if let Some(cache) = &mut self.cache {
                        cache.keep(&key, &measured);
                    }
                    Ok(measured)
                }
                // A compiler that crashed or took too long may succeed next time, so this is not cached.
                Err(CompileError::Refused(message)) => Err(message),
                Err(CompileError::NoCompiler(message)) => {
                    fatal.get_or_insert(message);
                    return false;
                }
            };
            self.answers.insert(name.clone(), answer);
            true
        };
        let ran = if stop.load(Ordering::Relaxed) { Ok(()) } else { workers.run(&requests, &mut ask) };
        if let Some(message) = fatal.or(ran.err()) {
            return Err(TuneError::NoCompiler(message));
        }
        let is_ended = stop.load(Ordering::Relaxed);
        let unknown = || (!is_ended).then(|| Err("the compiler was not asked".to_owned()));
        Ok(names.iter().map(|name| self.answers.get(name).cloned().or_else(unknown)).collect())
    }

    /// Shows what is being compiled.
    fn say(&self, asked: Option<&Asked>) {
        self.setup.watch.compiling(&asked.map_or_else(String::new, words));
    }

    fn cached(&self, program: &str) -> Option<Measured> {
        let key = self.key(program, self.version.clone()?, self.origin.flags.clone());
        self.cache.as_ref()?.get(&key)
    }

    fn key(&self, program: &str, compiler: Version, flags: Flags) -> Key {
        Key {
            program: program.to_owned(),
            device: self.setup.target.to_string(),
            replicas: self.compiler.replicas,
            partitions: self.compiler.partitions,
            options: self.compiler.options.clone(),
            compiler,
            flags,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Says once that answers could not be cached. Returns how many answers the cache had, and whether it has the new ones now.
    pub(crate) fn finish(self) -> (usize, bool) {
        let trouble = self.cache.as_ref().and_then(Cache::trouble);
        if let Some(trouble) = trouble {
            self.setup.watch.warn(trouble);
        }
        (self.kept, self.cache.is_some() && trouble.is_none())
    }
}

/// What is asked, for who watches.
fn words(asked: &Asked) -> String {
    let layouts = asked.iter().map(|(place, requested)| {
        let layout = requested.layout.as_ref().map_or_else(|| "any layout".to_owned(), ToString::to_string);
        let memory = requested.memory.map_or_else(String::new, |memory| format!(" in {}", memory.kind()));
        format!("{layout}{memory} at {place}")
    });
    layouts.take(2).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{Asked, Compilers, Origin, Setup, Workers};
    use crate::cache::Cache;
    use crate::{Figures, Measured, Place, Requested};
    use serde_json::json;
    use std::cell::RefCell;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};
    use xla_shape_pjrt::{Program, Target};
    use xla_shape_program::Compiler;

    fn origin(number: usize) -> Origin {
        let compiler = json!({"path": format!("/{number}/libtpu.so"), "bytes": 7, "written": number});
        serde_json::from_value(json!({"compiler": compiler, "flags": [null, null]})).unwrap()
    }

    fn measured(number: usize) -> Measured {
        Measured::new(Figures { bytes: 7, ..Figures::default() }, &[], &[]).with_compiler(&format!("libtpu {number}"))
    }

    /// Workers of which each has a compiler of its own: request after request, the next one answers.
    struct Several<'a> {
        compilers: &'a [usize],
        /// How many requests for measures there were.
        asked: RefCell<usize>,
        /// Set with the answer of this number.
        stop: Option<(usize, &'a AtomicBool)>,
    }

    impl Workers for Several<'_> {
        fn run(&self, requests: &[(usize, Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
            for (number, (_, request)) in requests.iter().enumerate() {
                let request: serde_json::Value = serde_json::from_slice(request).unwrap();
                if request.get("Version").is_some() {
                    done(number, format!("{{\"Ok\":\"libtpu {}\"}}", self.compilers[0]).as_bytes());
                    continue;
                }
                let asked = *self.asked.borrow();
                let compiler = self.compilers[asked % self.compilers.len()];
                *self.asked.borrow_mut() += 1;
                if let Some((last, stop)) = self.stop {
                    stop.store(asked == last, Ordering::Relaxed);
                }
                let reply = json!({"Ok": {"measured": measured(compiler), "origin": origin(compiler)}});
                if !done(number, &serde_json::to_vec(&reply).unwrap()) {
                    break;
                }
            }
            Ok(())
        }
    }

    /// Workers that have an error instead of a version.
    struct Broken;

    impl Workers for Broken {
        fn run(&self, _: &[(usize, Vec<u8>)], _: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
            Err("interrupted".to_owned())
        }
    }

    /// Four requests: the versions of the compilers that answered (`None` where none did), and how many answers the cache had.
    fn compiled(
        folder: &Path,
        first: usize,
        workers: &dyn Workers,
        stop: &AtomicBool,
    ) -> Result<(Vec<Option<String>>, usize), String> {
        let text = b"module { func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> { return %x } }";
        let programs = [Program::from_mlir(text)];
        let target: Target = "v5e".parse().unwrap();
        let setup = Setup { programs: &programs, target: &target, workers, stop, watch: &() };
        let compilers = Compilers::new(setup, Compiler::default(), origin(first), Cache::new(Some(folder)));
        let mut compilers = compilers.map_err(|error| error.to_string())?;
        let asked = |layout: &str| {
            let requested = Requested { layout: Some(layout.parse().unwrap()), memory: None };
            (0, Asked::from([(Place::Parameter(0, vec![]), requested)]))
        };
        let answers = compilers.compile(&["{2,1,0}", "{1,2,0}", "{0,1,2}", "{0,2,1}"].map(asked)).unwrap();
        let versions = answers.into_iter().map(|answer| Some(answer?.unwrap().version().unwrap().to_owned()));
        Ok((versions.collect(), compilers.finish().0))
    }

    #[test]
    fn each_answer_is_kept_under_the_compiler_that_gave_it() {
        let folder = tempfile::tempdir().unwrap();
        let by = |numbers: [usize; 4]| numbers.map(|number| Some(format!("libtpu {number}"))).to_vec();
        let run = |compilers: &[usize]| {
            let workers = Several { compilers, asked: RefCell::new(0), stop: None };
            let found = compiled(folder.path(), compilers[0], &workers, &AtomicBool::new(false)).unwrap();
            (found, workers.asked.into_inner())
        };
        assert_eq!(run(&[1, 2]), ((by([1, 2, 1, 2]), 0), 4));
        // Each compiler alone has the answers that it gave, and asks for the others.
        assert_eq!(run(&[2]), ((by([2; 4]), 2), 2));
        assert_eq!(run(&[1]), ((by([1; 4]), 2), 2));
        assert_eq!([run(&[1]), run(&[2])], [((by([1; 4]), 4), 0), ((by([2; 4]), 4), 0)]);
        assert_eq!(run(&[3]), ((by([3; 4]), 0), 4));
    }

    #[test]
    fn an_answer_after_the_end_is_neither_shown_nor_kept() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let workers = Several { compilers: &[1], asked: RefCell::new(0), stop: Some((2, &stop)) };
        let answer = || Some("libtpu 1".to_owned());
        assert_eq!(compiled(folder.path(), 1, &workers, &stop), Ok((vec![answer(), answer(), None, None], 0)));
        // Nothing is asked for any more, but what is kept is read.
        assert_eq!(compiled(folder.path(), 1, &workers, &stop), Ok((vec![answer(), answer(), None, None], 2)));
        assert_eq!(workers.asked.into_inner(), 3);
    }

    #[test]
    fn an_error_of_the_workers_is_said_before_anything_is_compiled() {
        let folder = tempfile::tempdir().unwrap();
        let found = compiled(folder.path(), 1, &Broken, &AtomicBool::new(false));
        assert_eq!(found, Err("interrupted".to_owned()));
    }
}
