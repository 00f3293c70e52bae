//! The answers of compilers to a search: each is requested once, and cached as soon as it arrives.

use crate::cache::{Cache, Flags, Kept, Key, Origin, Version, files_of};
use crate::protocol::{Reply, read, version_request};
use crate::{TuneError, Watch, Workers};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use xla_shape_answers::search::Search;
use xla_shape_pjrt::Target;
use xla_shape_program::{CompileError, Compiler};

/// If more workers than this have no compiler and none has answered, the others are not asked.
const MOST_ABSENT: usize = 3;

/// Where compilers run, and who is told about the progress.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) workers: &'a dyn Workers,
    /// Once it is set, nothing more is compiled.
    pub(crate) stop: &'a AtomicBool,
    pub(crate) watch: &'a dyn Watch,
}

/// Something to compile.
#[derive(Clone)]
pub(crate) struct Job {
    /// The text of the program that the worker gets.
    pub(crate) program: Arc<[u8]>,
    /// A hash of the whole program, including what the request changes in it.
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) compiler: Compiler,
    pub(crate) request: Vec<u8>,
    /// What the job is, in words, to show progress.
    pub(crate) words: String,
}

/// The compiler for a device. The text of its version names the device, too.
struct Known {
    origin: Origin,
    /// `None` without a cache, or if the compiler does not answer. Then the cache is not read, and compiling the first program shows why there is no
    /// answer.
    version: Option<Version>,
    /// Hashes of the files that the user gives it.
    files: [Option<String>; 2],
}

/// The program, the devices, the options.
type Name = (String, String, Vec<(String, String)>);

/// The compilers, and their answers of one kind.
pub(crate) struct Compilers<'a, T> {
    setup: Setup<'a>,
    /// The compiler for each device.
    known: HashMap<String, Known>,
    cache: Option<Cache>,
    /// The answers so far.
    answers: HashMap<Name, Result<T, String>>,
    /// The jobs whose worker had no compiler, and why.
    absent: HashMap<Name, String>,
    /// How many answers came from the cache.
    kept: usize,
}

impl<'a, T: Kept> Compilers<'a, T> {
    pub(crate) fn new(setup: Setup<'a>, cache: Option<Cache>) -> Self {
        Self { setup, known: HashMap::new(), cache, answers: HashMap::new(), absent: HashMap::new(), kept: 0 }
    }

    /// Whether [`add`](Self::add) has added the compiler for this device.
    pub(crate) fn has(&self, target: &Target) -> bool {
        self.known.contains_key(&target.to_string())
    }

    /// Adds the compiler for a device.
    ///
    /// # Errors
    /// If no worker can answer.
    pub(crate) fn add(&mut self, compiler: &Compiler, target: &Target, origin: Origin) -> Result<(), TuneError> {
        let version = self.find_version(compiler, target, &origin)?;
        self.known.insert(target.to_string(), Known { origin, version, files: files_of(compiler) });
        Ok(())
    }

    /// The version of the compiler: from the cache, or as the compiler reports it.
    fn find_version(
        &mut self,
        compiler: &Compiler,
        target: &Target,
        origin: &Origin,
    ) -> Result<Option<Version>, TuneError> {
        let Some(cache) = &mut self.cache else { return Ok(None) };
        if let Some(version) = cache.version(&origin.compiler, &target.to_string()) {
            return Ok(Some(version));
        }
        let request = version_request(compiler, target);
        let mut version = None;
        let ran = self.setup.workers.run(&[(&[], request)], &mut |_, answer| {
            let words = read::<Option<String>>(answer).ok();
            version = words.map(|words| Version::new(&origin.compiler, words.as_deref()));
            true
        });
        ran.map_err(TuneError::NoCompiler)?;
        if let Some(version) = &version {
            cache.keep_version(&origin.compiler, &target.to_string(), version);
        }
        Ok(version)
    }

    /// Compiles programs. The answers are in the order of the jobs; `None` for those that the user did not wait for.
    ///
    /// # Errors
    /// If a worker has no compiler.
    pub(crate) fn ask(&mut self, jobs: &[Job]) -> Result<Vec<Option<Result<T, String>>>, TuneError> {
        match self.compile(jobs, 0) {
            Some(message) => Err(TuneError::NoCompiler(message)),
            None => Ok(self.answers_of(jobs, "the compiler was not asked")),
        }
    }

    /// Like [`ask`](Self::ask), but if a worker has no compiler, only its job gets an error.
    ///
    /// # Errors
    /// If no worker answers, and none `has_answered` before.
    pub(crate) fn ask_each(
        &mut self,
        jobs: &[Job],
        has_answered: bool,
    ) -> Result<Vec<Option<Result<T, String>>>, TuneError> {
        let most = if has_answered { usize::MAX } else { MOST_ABSENT };
        let ended = self.compile(jobs, most);
        let is_answer = |job: &Job| self.answers.contains_key(&job.id());
        let why = ended.as_ref().or_else(|| jobs.iter().find_map(|job| self.absent.get(&job.id())));
        match why {
            Some(why) if !has_answered && !jobs.iter().any(is_answer) => Err(TuneError::NoCompiler(why.clone())),
            _ => Ok(self.answers_of(jobs, ended.as_deref().unwrap_or("the compiler was not asked"))),
        }
    }

    /// The answers to jobs. For a job without an answer, there is an error that says why, or `None` if the user ended the search.
    fn answers_of(&self, jobs: &[Job], why: &str) -> Vec<Option<Result<T, String>>> {
        let is_ended = self.setup.stop.load(Ordering::Relaxed);
        let answer = |job: &Job| {
            let absent = self.absent.get(&job.id()).map(String::as_str);
            let error = || absent.or(Some(why).filter(|_| !is_ended)).map(|why| Err(why.to_owned()));
            self.answers.get(&job.id()).cloned().or_else(error)
        };
        jobs.iter().map(answer).collect()
    }

    /// Compiles programs until all have an answer or the search ends. It ends if workers fail, and returns why; it also ends if more than `most`
    /// workers have no compiler and no other worker has answered.
    fn compile(&mut self, jobs: &[Job], most: usize) -> Option<String> {
        // Equal jobs are compiled once, and jobs with an answer in the cache not at all.
        let mut missing = Vec::new();
        let mut unique = HashSet::new();
        for job in jobs {
            let name = job.id();
            if self.answers.contains_key(&name) || !unique.insert(name.clone()) {
                continue;
            }
            match self.cached(job) {
                Some(answer) => {
                    self.kept += 1;
                    self.answers.insert(name, Ok(answer));
                }
                None => missing.push(job),
            }
        }
        self.setup.watch.wanted(missing.len());
        let requests: Vec<_> = missing.iter().map(|job| (&*job.program, job.request.clone())).collect();
        // Jobs that have no answer yet. Progress names the first of them.
        let mut waiting: Vec<_> = missing.iter().copied().map(Some).collect();
        let (mut fatal, mut absent, mut has_answer) = (None, 0, false);
        let (workers, stop) = (self.setup.workers, self.setup.stop);
        self.say(waiting.iter().flatten().next());
        let mut take = |number: usize, answer: &[u8]| {
            // Ctrl-C in a terminal also ends the compilers. Their errors do not mean that the compiler refused the program.
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let Some(job) = waiting.get_mut(number).and_then(Option::take) else { return true };
            self.setup.watch.compiled();
            self.say(waiting.iter().flatten().next());
            let answer = match read::<Reply<T>>(answer) {
                Ok(Reply { measured, origin }) => {
                    let version = self.version(job, &origin, measured.version());
                    let key = self.key(job, version, origin.flags);
                    if let Some(cache) = &mut self.cache {
                        cache.keep(&key, &measured);
                    }
                    Ok(measured)
                }
                // A compiler that crashed or took too long may succeed next time, so this is not cached.
                Err(CompileError::Refused(message)) => Err(message),
                Err(CompileError::NoCompiler(message)) => {
                    absent += 1;
                    self.absent.insert(job.id(), message.clone());
                    // With `most == 0`, the first worker without a compiler ends the search, even if others have answered.
                    let is_over = absent > most && (most == 0 || !has_answer);
                    if is_over {
                        fatal.get_or_insert(message);
                    }
                    return !is_over;
                }
            };
            has_answer = true;
            self.answers.insert(job.id(), answer);
            true
        };
        let ran = if stop.load(Ordering::Relaxed) { Ok(()) } else { workers.run(&requests, &mut take) };
        fatal.or(ran.err())
    }

    /// The version of the compiler that gave an answer: workers may have different ones. A compiler that refuses a program does not report its
    /// version.
    fn version(&self, job: &Job, origin: &Origin, words: Option<&str>) -> Version {
        let known = self.known.get(&job.target.to_string()).filter(|known| known.origin.compiler == origin.compiler);
        let same = known.and_then(|known| known.version.clone()).filter(|_| words.is_none());
        same.unwrap_or_else(|| Version::new(&origin.compiler, words))
    }

    /// Shows what is being compiled.
    fn say(&self, job: Option<&&Job>) {
        self.setup.watch.compiling(job.map_or("", |job| &job.words));
    }

    fn cached(&self, job: &Job) -> Option<T> {
        let known = self.known.get(&job.target.to_string())?;
        self.cache.as_ref()?.get(&self.key(job, known.version.clone()?, known.origin.flags.clone()))
    }

    fn key(&self, job: &Job, compiler: Version, flags: Flags) -> Key {
        let (program, device, options) = job.id();
        let files = self.known.get(&job.target.to_string()).map(|known| known.files.clone());
        Key {
            program,
            device,
            replicas: job.compiler.replicas,
            partitions: job.compiler.partitions,
            options,
            files: files.unwrap_or_default(),
            compiler,
            flags,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Says once that answers could not be cached. Returns the part of the report that is about the cache.
    pub(crate) fn finish(self) -> Search {
        let trouble = self.cache.as_ref().and_then(Cache::trouble);
        if let Some(trouble) = trouble {
            self.setup.watch.warn(trouble);
        }
        Search { kept: self.kept, goes_on: self.cache.is_some() && trouble.is_none(), ..Search::default() }
    }
}

impl Job {
    fn id(&self) -> Name {
        (self.name.clone(), self.target.to_string(), self.compiler.options.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::{Compilers, Job, Origin, Setup, Workers};
    use crate::cache::Cache;
    use crate::protocol::{Asked, measure_request};
    use crate::{Figures, Measured, Place, Requested};
    use serde_json::json;
    use std::cell::RefCell;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use xla_shape_pjrt::Target;
    use xla_shape_program::Compiler;

    fn origin(number: usize) -> Origin {
        let compiler = json!({"path": format!("/{number}/libtpu.so"), "bytes": 7, "written": number});
        serde_json::from_value(json!({"compiler": compiler, "flags": [null, null]})).unwrap()
    }

    fn measured(number: usize) -> Measured {
        Measured::new(Figures { bytes: 7, ..Figures::default() }, &[], &[]).with_compiler(&format!("libtpu {number}"))
    }

    /// Workers with different compilers, which take turns in answering requests.
    struct Several<'a> {
        compilers: &'a [usize],
        /// The number of requests to measure a program.
        asked: RefCell<usize>,
        /// The answer with this number sets the flag to stop.
        stop: Option<(usize, &'a AtomicBool)>,
    }

    impl Workers for Several<'_> {
        fn run(&self, requests: &[(&[u8], Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
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
        fn run(&self, _: &[(&[u8], Vec<u8>)], _: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
            Err("interrupted".to_owned())
        }
    }

    /// Makes four requests. Returns the versions of the compilers that answered (`None` if none did), and how many answers came from the cache.
    fn compiled(
        folder: &Path,
        first: usize,
        workers: &dyn Workers,
        stop: &AtomicBool,
    ) -> Result<(Vec<Option<String>>, usize), String> {
        let target: Target = "v5e".parse().unwrap();
        let setup = Setup { workers, stop, watch: &() };
        let compiler = Compiler::default();
        let mut compilers = Compilers::<Measured>::new(setup, Cache::new::<Measured>(Some(folder)));
        compilers.add(&compiler, &target, origin(first)).map_err(|error| error.to_string())?;
        let job = |layout: &str| {
            let requested = Requested { layout: Some(layout.parse().unwrap()), memory: None };
            let asked = Asked::from([(Place::Parameter(0, vec![]), requested)]);
            Job {
                program: Arc::from(&b"module {}"[..]),
                name: layout.to_owned(),
                request: measure_request(&compiler, &target, &asked),
                target: target.clone(),
                compiler: compiler.clone(),
                words: String::new(),
            }
        };
        let answers = compilers.ask(&["{2,1,0}", "{1,2,0}", "{0,1,2}", "{0,2,1}"].map(job)).unwrap();
        let versions = answers.into_iter().map(|answer| Some(answer?.unwrap().version().unwrap().to_owned()));
        Ok((versions.collect(), compilers.finish().kept))
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
        // If only one of the compilers runs, its own earlier answers come from the cache, and the other programs are compiled again.
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
        // After the stop, no compiler is started, but answers in the cache are read.
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
