//! The question: which programs, which arrays they share, and how to search.

use crate::cache::{Cache, Kept, Origin, hash};
use crate::compilers::{Compilers, Job, Setup};
use crate::error::Setting;
use crate::protocol::{Asked, asking, measure_request, origin};
use crate::share::{self, Share};
use crate::workers::Threads;
use crate::{
    Ask, Compiled, Measured, Memory, Options, Program as Weighted, Requested, SharedArray, TuneError, Workers, advise,
    jobs, search,
};
use std::collections::{BTreeMap, HashSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use xla_shape_answers::search::Search;
use xla_shape_answers::tune::Tuning;
use xla_shape_core::tpu::Generation;
use xla_shape_hlo::Module;
use xla_shape_pjrt::{Error, Format, Program, Target};
use xla_shape_program::{Compiler, Host};

/// The compiler chooses the layout.
const ANY: Requested = Requested { layout: None, memory: None };

/// A question about arrays that programs share.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use xla_shape_program::Host;
/// use xla_shape_tune::{Given, Question};
///
/// // Modules that are compiled already need no compiler.
/// let module = "HloModule m, is_scheduled=true
/// ENTRY e { a = f32[100,1]{1,0:T(8,128)} parameter(0)
///   ROOT b = f32[100,1]{0,1:T(1,128)} copy(a) }";
/// let programs = vec![Given { name: "m".into(), file: "m.hlo".into(), code: module.into() }];
/// let question = Question::new(programs, vec!["w=arg0".parse()?], "v5e".parse()?);
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let tuning = question.answer(&host, None, &AtomicBool::new(false), &())?;
/// assert_eq!(tuning.advice.unwrap()[0].layouts[0].layout.layout, "{0,1:T(1,128)}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Question {
    /// The programs: all as text of MLIR, or all compiled already.
    pub programs: Vec<Given>,
    /// The arrays that they share.
    pub shares: Vec<Share>,
    /// The memories that arrays may be in, by their names, the preferred one first. Other arrays stay where each program has them.
    pub memories: Vec<(String, Vec<Memory>)>,
    /// How often programs run, relative to each other. A program that is not named has the weight 1.
    pub weights: Vec<(String, NonZeroU32)>,
    /// The TPU or the GPUs.
    pub target: Target,
    /// Whether to try every combination of layouts.
    pub all: bool,
    /// Whether to try other tiles, too.
    pub tilings: bool,
    /// The most bytes of HBM that a program may take.
    pub at_most_bytes: Option<u64>,
    /// The most compilations, including those with cached answers.
    pub most: Option<usize>,
    /// How many compilers run at a time on this machine; `None` for as many as fit into its memory and cores.
    pub jobs: Option<NonZeroUsize>,
    /// Where answers are kept.
    pub keep: Keep,
    /// The compiler.
    pub compiler: Compiler,
}

/// A program of a question.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use xla_shape_program::Host;
/// use xla_shape_tune::{Given, Question};
///
/// let given = Given { name: "p".into(), file: "p.mlir".into(), code: b"module {}".to_vec() };
/// let question = Question::new(vec![given.clone(), given], vec![], "v5e".parse()?);
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let error = question.answer(&host, None, &AtomicBool::new(false), &()).unwrap_err();
/// assert_eq!(error.to_string(), "p is given twice");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Given {
    /// The name that other parts of the question, and the answer, use for it.
    pub name: String,
    /// The file, for errors about its contents; the name of the program if it was not read from a file.
    pub file: String,
    /// The program.
    pub code: Vec<u8>,
}

/// Where the answers of compilers are kept.
///
/// ```
/// assert_eq!(xla_shape_tune::Keep::default(), xla_shape_tune::Keep::Own);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Keep {
    /// In the user's cache folder.
    #[default]
    Own,
    /// In another folder.
    In(PathBuf),
    /// Nowhere.
    Nowhere,
}

impl Keep {
    /// The cache for answers of this kind, if there is one.
    pub(crate) fn cache<T: Kept>(&self) -> Option<Cache> {
        match self {
            Self::Own => Cache::new::<T>(None),
            Self::In(folder) => Cache::new::<T>(Some(folder)),
            Self::Nowhere => None,
        }
    }
}

/// Is told about the progress of a search, and gets its warnings.
///
/// ```
/// use std::cell::Cell;
/// use xla_shape_tune::Watch;
///
/// /// Counts what is left.
/// #[derive(Default)]
/// struct Left(Cell<usize>);
///
/// impl Watch for Left {
///     fn wanted(&self, compilations: usize) {
///         self.0.set(self.0.get() + compilations);
///     }
///     fn compiled(&self) {
///         self.0.set(self.0.get() - 1);
///     }
///     fn compiling(&self, _what: &str) {}
///     fn warn(&self, _warning: &str) {}
/// }
///
/// let left = Left::default();
/// left.wanted(3);
/// left.compiled();
/// assert_eq!(left.0.get(), 2);
/// ```
pub trait Watch {
    /// This many more compilations are needed.
    fn wanted(&self, compilations: usize);

    /// One compilation has finished.
    fn compiled(&self);

    /// What is being compiled now, in words.
    fn compiling(&self, what: &str);

    /// A warning about something that does not change the answer.
    fn warn(&self, warning: &str);
}

/// Ignores everything.
impl Watch for () {
    fn wanted(&self, _compilations: usize) {}

    fn compiled(&self) {}

    fn compiling(&self, _what: &str) {}

    fn warn(&self, _warning: &str) {}
}

impl Question {
    /// A question about programs, with defaults for everything else.
    #[must_use]
    pub fn new(programs: Vec<Given>, shares: Vec<Share>, target: Target) -> Self {
        Self {
            programs,
            shares,
            memories: Vec::new(),
            weights: Vec::new(),
            target,
            all: false,
            tilings: false,
            at_most_bytes: None,
            most: None,
            jobs: None,
            keep: Keep::Own,
            compiler: Compiler::default(),
        }
    }

    /// The best layouts. For modules that are compiled already: advice, without a compiler.
    ///
    /// - `workers`: where compilers run; `None` for processes of this machine.
    /// - `stop`: once it is set, nothing more is compiled, and the answer is the best so far.
    ///
    /// # Errors
    /// If the parts of the question do not fit together, a program cannot be read or compiled, no compiler can answer, or the search fails.
    pub fn answer(
        &self,
        host: &Host,
        workers: Option<&dyn Workers>,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> Result<Tuning, TuneError> {
        let names: Vec<_> = self.programs.iter().map(|given| given.name.clone()).collect();
        if names.is_empty() {
            return Err(TuneError::NoPrograms);
        }
        let mut unique = HashSet::new();
        if let Some(name) = names.iter().find(|name| !unique.insert(*name)) {
            return Err(TuneError::GivenTwice { program: name.clone() });
        }
        match self.sources(&names)? {
            Some(programs) => self.search(&names, &programs, host, workers, stop, watch),
            None => self.advice(&names),
        }
    }

    /// The programs as a compiler takes them; `None` if all are compiled already.
    fn sources(&self, names: &[String]) -> Result<Option<Vec<Program>>, TuneError> {
        let programs = self.programs.iter().map(|given| match Program::from_bytes(&given.code) {
            Ok(program) => Ok(Some(program)),
            // Compiled modules can only give advice.
            Err(Error::Optimized) => Ok(None),
            Err(error) => Err(TuneError::Program { program: given.file.clone(), message: error.to_string() }),
        });
        let programs = programs.collect::<Result<Vec<_>, TuneError>>()?;
        let is_hlo =
            |program: &Option<Program>| program.as_ref().is_some_and(|program| program.format() == Format::Hlo);
        if let Some((name, _)) = names.iter().zip(&programs).find(|(_, program)| is_hlo(program)) {
            return Err(TuneError::Hlo { program: name.clone() });
        }
        let compiled = names.iter().zip(&programs).find(|(_, program)| program.is_none());
        let sources: Vec<Program> = programs.iter().flatten().cloned().collect();
        match compiled {
            None => Ok(Some(sources)),
            Some(_) if sources.is_empty() => Ok(None),
            Some((name, _)) => Err(TuneError::Mixed { program: name.clone() }),
        }
    }

    fn search(
        &self,
        names: &[String],
        programs: &[Program],
        host: &Host,
        workers: Option<&dyn Workers>,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> Result<Tuning, TuneError> {
        let donated: Vec<_> = programs.iter().map(Program::donated).collect();
        let shared = share::places(&self.shares, names, &donated)?;
        share::check_memories(&self.shares, &self.memories)?;
        // The requests for a program, if the compiler chooses the layout of each shared array.
        let any = |program: usize| {
            let own = shared.iter().flat_map(|(_, places)| places).filter(move |(owner, _)| *owner == program);
            own.map(|(_, place)| (place.clone(), ANY)).collect::<BTreeMap<_, _>>()
        };
        // Report wrong places now, before a compiler is started.
        for (number, (program, name)) in programs.iter().zip(names).enumerate() {
            let unknown = |error: Error| TuneError::Program { program: name.clone(), message: error.to_string() };
            asking(program, &any(number)).map_err(unknown)?;
        }
        let weighted = self.weighted(names)?;
        let threads = Threads::new(host, self.jobs.map_or_else(jobs, NonZeroUsize::get), stop);
        let mut compiler = self.compiler.clone();
        let origin = match workers {
            Some(workers) => origin(workers, &compiler, &self.target).map_err(TuneError::NoCompiler)?,
            None => {
                let origin = Origin::here(&compiler, &self.target, host).map_err(TuneError::NoCompiler)?;
                // This makes all processes load the same file.
                compiler.plugin = Some(origin.compiler.path().to_owned());
                origin
            }
        };
        let setup = Setup { workers: workers.unwrap_or(&threads), stop, watch };
        let mut compilers = Compilers::<Measured>::new(setup, self.keep.cache::<Measured>());
        compilers.add(&compiler, &self.target, origin)?;
        let codes: Vec<Arc<[u8]>> = programs.iter().map(|program| Arc::from(program.code())).collect();
        let jobs = |asks: &[(usize, Asked)]| {
            let job = |(number, asked): &(usize, Asked)| {
                let program = programs.get(*number).and_then(|program| asking(program, asked).ok());
                let (program, code) = program.zip(codes.get(*number))?;
                Some(Job {
                    program: Arc::clone(code),
                    name: hash(program.code()),
                    target: self.target.clone(),
                    compiler: compiler.clone(),
                    request: measure_request(&compiler, &self.target, asked),
                    words: words(asked),
                })
            };
            let jobs = asks.iter().map(job).collect::<Option<Vec<_>>>();
            jobs.ok_or_else(|| TuneError::NoCompiler("a program cannot ask for these layouts".to_owned()))
        };
        // Arrays are read from the compiled program, because a device may have only a part of an array.
        let today = (0..programs.len()).map(|program| (program, BTreeMap::new()));
        let preferred = (0..programs.len()).map(|program| (program, any(program)));
        let answers = compilers.ask(&jobs(&today.chain(preferred).collect::<Vec<_>>())?)?;
        let mut compiled = Vec::new();
        for (program, answer) in weighted.iter().zip(answers) {
            let program = program.name.clone();
            let failed = match answer {
                Some(Ok(measured)) => {
                    compiled.push(measured);
                    continue;
                }
                Some(Err(message)) => TuneError::Today { program, message },
                None => TuneError::Unfinished { program },
            };
            compilers.finish();
            return Err(failed);
        }
        let arrays = shared.into_iter().map(|(name, places)| SharedArray::new(&name, places, &weighted, &compiled));
        let arrays = share::with_memories(arrays.collect::<Result<Vec<_>, _>>()?, &self.memories);
        let options = Options {
            generation: self.generation(),
            all: self.all,
            tilings: self.tilings,
            at_most_bytes: self.at_most_bytes,
            most: self.most,
        };
        let mut trouble = None;
        let mut compile = |asks: &[(usize, Ask)]| {
            let asks: Vec<_> = asks.iter().map(|(program, ask)| (*program, ask.places(&arrays, *program))).collect();
            jobs(&asks).and_then(|jobs| compilers.ask(&jobs)).unwrap_or_else(|error| {
                // If no compiler can run, the search ends, because later requests would get no answer either.
                let message = error.to_string();
                trouble.get_or_insert(error);
                vec![Some(Err(message)); asks.len()]
            })
        };
        let tuning = search(&arrays, &weighted, &options, &mut compile);
        if let Some(error) = trouble {
            return Err(error);
        }
        let Search { kept, goes_on, .. } = compilers.finish();
        let tuning = tuning?;
        Ok(Tuning { search: Search { kept, goes_on, ..tuning.search }, ..tuning })
    }

    /// What compiled modules say about the layouts of shared arrays.
    fn advice(&self, names: &[String]) -> Result<Tuning, TuneError> {
        if let Some(setting) = self.setting_of_compilers() {
            return Err(TuneError::NeedsCompiler { setting });
        }
        let opened = self.programs.iter().map(|given| {
            let read = xla_shape_program::Program::read(&given.file, given.code.clone());
            read.map_err(|error| TuneError::Program { program: given.name.clone(), message: error.to_string() })
        });
        let opened = opened.collect::<Result<Vec<_>, _>>()?;
        let donated: Vec<_> = opened.iter().map(|program| donated(program.module())).collect();
        let shared = share::places(&self.shares, names, &donated)?;
        let programs = self.weighted(names)?;
        let mut all = Vec::new();
        for (program, name) in opened.iter().zip(names) {
            let unread = |error: xla_shape_hlo::cost::CostError| error.to_string();
            let compiled = Compiled::new(program.module()).map_err(unread);
            all.push(compiled.map_err(|message| TuneError::Program { program: name.clone(), message })?);
        }
        let measured: Vec<_> = all.iter().map(|one| one.measured.clone()).collect();
        let arrays = shared.into_iter().map(|(name, places)| SharedArray::new(&name, places, &programs, &measured));
        let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
        Ok(advise(&arrays, &programs, self.generation(), &all))
    }

    /// The generation of the TPU; `None` for a GPU.
    fn generation(&self) -> Option<Generation> {
        match &self.target {
            Target::Tpu(slice) => Some(slice.generation()),
            Target::Gpu(_) => None,
        }
    }

    /// A setting of this question that applies only if a compiler runs.
    fn setting_of_compilers(&self) -> Option<Setting> {
        let compiler = &self.compiler;
        let settings = [
            (!self.memories.is_empty(), Setting::Memory),
            (self.jobs.is_some(), Setting::Jobs),
            (matches!(self.keep, Keep::In(_)), Setting::Cache),
            (self.keep == Keep::Nowhere, Setting::NoCache),
            (compiler.plugin.is_some(), Setting::Plugin),
            (compiler.replicas.is_some(), Setting::Replicas),
            (compiler.partitions.is_some(), Setting::Partitions),
            (!compiler.options.is_empty(), Setting::Option),
            (compiler.time_limit != Compiler::TIME_LIMIT, Setting::TimeLimit),
            (self.all, Setting::All),
            (self.tilings, Setting::Tilings),
            (self.most.is_some(), Setting::Compiles),
            (self.at_most_bytes.is_some(), Setting::AtMostBytes),
        ];
        settings.into_iter().find_map(|(is_given, setting)| is_given.then_some(setting))
    }

    /// The programs with their weights.
    fn weighted(&self, names: &[String]) -> Result<Vec<Weighted>, TuneError> {
        let mut weights = vec![1; names.len()];
        for (name, weight) in &self.weights {
            weights[share::number(names, name)?] = weight.get();
        }
        Ok(names.iter().zip(weights).map(|(name, weight)| Weighted { name: name.clone(), weight }).collect())
    }
}

/// The donated parameters of a module, each with the result that takes its memory.
fn donated(module: &Module) -> BTreeMap<usize, usize> {
    let aliases = module.attribute("input_output_alias").and_then(|value| value.aliases().ok()).unwrap_or_default();
    let whole = aliases.iter().filter(|alias| alias.parameter_index.is_empty() && alias.result_index.len() <= 1);
    whole.map(|alias| (alias.parameter, alias.result_index.first().copied().unwrap_or(0))).collect()
}

/// What is requested, in words, to show progress.
fn words(asked: &Asked) -> String {
    let layouts = asked.iter().map(|(place, requested)| {
        let layout = requested.layout.as_ref().map_or_else(|| "any layout".to_owned(), ToString::to_string);
        let memory = requested.memory.map_or_else(String::new, |memory| format!(" in {}", memory.kind()));
        format!("{layout}{memory} at {place}")
    });
    layouts.take(2).collect::<Vec<_>>().join(", ")
}
