//! `tune`: the best layout of an array that several programs share.

mod cache;
mod share;

use crate::Host;
use crate::args::TuneArguments;
use crate::compiler::{self, CompileError};
use crate::failure::Failure;
use cache::{Cache, Compiler, Flags, Key, hash};
use indicatif::{ProgressBar, ProgressStyle};
pub(crate) use share::{Share, share, weight};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;
use xla_shape_files::contents;
use xla_shape_pjrt::{Error, LayoutMode, LoadOptions, Program, Slice};
use xla_shape_render::cost::{Place, ProgramCost};
use xla_shape_render::harmless;
use xla_shape_render::tune::{Ask, Measured, Options, Program as Weighted, SharedArray, Tuning};

/// The memory that one compiler may need, in bytes: libtpu took up to 2 GB for the programs that were measured.
const COMPILER_BYTES: u64 = 3 << 30;

pub(crate) fn run(arguments: &TuneArguments, host: &Host) -> Result<(), Failure> {
    let names = share::names(arguments.programs.iter().map(PathBuf::as_path));
    let mut unique = HashSet::new();
    if let Some(name) = names.iter().find(|name| !unique.insert(*name)) {
        return Err(Failure::said(format_args!("{name} is given twice")));
    }
    let programs = arguments.programs.iter().map(|path| {
        let failed = |error| Failure::said(format_args!("{}: {error}", path.display()));
        Program::from_bytes(&contents(path)?).map_err(failed)
    });
    let programs = programs.collect::<Result<Vec<_>, Failure>>()?;
    if let Some((name, _)) = names.iter().zip(&programs).find(|(_, program)| program.format() == "hlo") {
        return Err(Failure::said(format_args!(
            "{name} is HLO, and XLA ignores the layouts that HLO asks for: write the program as text of MLIR (JAX: `lowered.as_text()`). Of a \
             module that is compiled already, `xla-shape cost` says without a compiler which layouts would remove copies"
        )));
    }
    let shared = share::places(&arguments.shares, &names, &programs)?;
    // Reports places that no program has before it starts a compiler.
    for (number, program) in programs.iter().enumerate() {
        let places = shared.iter().flat_map(|(_, places)| places).filter(|(owner, _)| *owner == number);
        let modes = places.map(|(_, place)| (share::argument(place), LayoutMode::Auto)).collect();
        let failed = |error| {
            // That it is a program is known by now: the reason alone is what the user needs.
            let reason = match error {
                Error::NotAProgram(reason) => reason,
                other => other.to_string(),
            };
            Failure::said(format_args!("{}: {reason}", names[number]))
        };
        program.with_layout_modes(&modes).map_err(failed)?;
    }
    let mut weights = vec![1; programs.len()];
    for (name, weight) in &arguments.weights {
        weights[share::number(&names, name)?] = *weight;
    }
    let weighted: Vec<_> =
        names.iter().zip(weights).map(|(name, weight)| Weighted { name: name.clone(), weight }).collect();
    let slice = arguments.target.slice.clone().map_err(Failure::said)?;
    let mut compilers = Compilers::new(arguments, host, &programs, &slice)?;
    // Arrays are read from the compiled program, because a device may have only a part of an array.
    let places = |program: usize| {
        let own = shared.iter().flat_map(|(_, places)| places).filter(move |(owner, _)| *owner == program);
        own.map(|(_, place)| (place.clone(), None)).collect::<BTreeMap<_, _>>()
    };
    let today: Vec<_> = (0..programs.len()).map(|program| (program, BTreeMap::new())).collect();
    let preferred = (0..programs.len()).map(|program| (program, places(program)));
    let answers = compilers.compile(&today.iter().cloned().chain(preferred).collect::<Vec<_>>())?;
    let mut compiled = Vec::new();
    for (program, answer) in weighted.iter().zip(answers) {
        compiled.push(
            answer
                .map_err(|error| Failure::said(format_args!("{} does not compile as it is: {error}", program.name)))?,
        );
    }
    let arrays = shared.into_iter().map(|(name, places)| SharedArray::new(&name, places, &weighted, &compiled));
    let arrays = arrays.collect::<Result<Vec<_>, _>>().map_err(Failure::said)?;
    let options = Options {
        generation: slice.generation(),
        all: arguments.all,
        at_most_bytes: arguments.at_most_bytes,
        most: arguments.compiles,
    };
    let mut trouble = None;
    let mut compile = |asks: &[(usize, Ask)]| {
        let asks: Vec<_> = asks.iter().map(|(program, ask)| (*program, ask.places(&arrays, *program))).collect();
        compilers.compile(&asks).unwrap_or_else(|failure| {
            // If no compiler can run, the search ends: later requests have no answer either.
            let message = failure.to_string();
            trouble.get_or_insert(failure);
            vec![Err(message); asks.len()]
        })
    };
    let tuning = Tuning::search(&arrays, &weighted, &options, &mut compile);
    if let Some(failure) = trouble {
        return Err(failure);
    }
    let tuning = tuning.map_err(Failure::said)?.with_kept(compilers.kept);
    compilers.finish();
    super::show(&tuning, arguments.answer.format)?;
    if tuning.has_best() { Ok(()) } else { Err(Failure::Told) }
}

/// The layouts that are requested for a program: one for each place; `None` if the compiler chooses.
type Asked = BTreeMap<Place, Option<xla_shape::Layout>>;

/// Runs each compilation in a process of its own, and remembers the answers.
struct Compilers<'a> {
    host: &'a Host,
    programs: &'a [Program],
    slice: &'a Slice,
    compiler: crate::args::CompilerArguments,
    file: Compiler,
    cache: Option<Cache>,
    /// The answers so far, by the hash of the program's text.
    answers: HashMap<String, Result<Measured, String>>,
    /// How many answers the cache had.
    kept: usize,
    jobs: usize,
    bar: ProgressBar,
}

impl<'a> Compilers<'a> {
    fn new(
        arguments: &'a TuneArguments,
        host: &'a Host,
        programs: &'a [Program],
        slice: &'a Slice,
    ) -> Result<Self, Failure> {
        let mut compiler = arguments.compiler.clone();
        // All processes load the same file, which is part of the cache's key.
        let path = match &compiler.plugin {
            Some(path) => path.clone(),
            None => {
                let options = LoadOptions::new();
                let options = host.python.iter().fold(options, |options, python| options.python(python));
                options.path().map_err(Failure::said)?
            }
        };
        let file = Compiler::at(&path).map_err(|error| Failure::said(format_args!("{}: {error}", path.display())))?;
        compiler.plugin = Some(path);
        let cache = if arguments.no_cache { None } else { Cache::new(arguments.cache.as_deref()) };
        let bar = ProgressBar::new(0);
        // An invalid template would leave the default style.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} of {len} compiled  {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Ok(Self {
            host,
            programs,
            slice,
            compiler,
            file,
            cache,
            answers: HashMap::new(),
            kept: 0,
            jobs: arguments.jobs.map_or_else(jobs, |jobs| jobs as usize),
            bar,
        })
    }

    /// Compiles programs, several at a time. Writes each answer to the cache as soon as it is there.
    fn compile(&mut self, asks: &[(usize, Asked)]) -> Result<Vec<Result<Measured, String>>, Failure> {
        let mut texts = Vec::new();
        let mut queue = VecDeque::<(String, usize, &Asked)>::new();
        let mut queued = HashSet::new();
        for (number, asked) in asks {
            // The text is made again when its turn comes, so that not all texts are in memory at once.
            let name = hash(self.asking(*number, asked).map_err(Failure::said)?.code());
            if !self.answers.contains_key(&name) && queued.insert(name.clone()) {
                match self.cache.as_ref().and_then(|cache| cache.get(&self.key(&name))) {
                    Some(answer) => {
                        self.kept += 1;
                        self.answers.insert(name.clone(), Ok(answer));
                    }
                    None => queue.push_back((name.clone(), *number, asked)),
                }
            }
            texts.push(name);
        }
        self.bar.inc_length(queue.len() as u64);
        // It is written to while the threads read the rest.
        let mut cache = self.cache.take();
        let this = &*self;
        let jobs = this.jobs.min(queue.len());
        let queue = Mutex::new(queue);
        let mut fatal = None;
        let mut made = Vec::<(String, Result<Measured, String>)>::new();
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..jobs {
                let (sender, queue) = (sender.clone(), &queue);
                scope.spawn(move || {
                    loop {
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                        let Some((name, number, asked)) = next else { break };
                        this.bar.set_message(harmless(&words(asked)).into_owned());
                        let answer = this.measure(number, asked);
                        let is_fatal = matches!(answer, Err(CompileError::NoCompiler(_)));
                        // Sending fails if the receiver has ended, after a fatal answer.
                        if sender.send((name, answer)).is_err() || is_fatal {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for (name, answer) in receiver {
                this.bar.inc(1);
                match answer {
                    Ok(measured) => {
                        if let Some(cache) = &mut cache {
                            cache.keep(&this.key(&name), &measured);
                        }
                        made.push((name, Ok(measured)));
                    }
                    // A compiler that crashed or took too long may succeed next time, so this is not cached.
                    Err(CompileError::Refused(message)) => made.push((name, Err(message))),
                    Err(CompileError::NoCompiler(message)) => {
                        fatal = Some(message);
                        break;
                    }
                }
            }
            if fatal.is_some() {
                queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
        });
        self.cache = cache;
        self.answers.extend(made);
        if let Some(message) = fatal {
            return Err(Failure::said(message));
        }
        let unknown = || Err("the compiler was not asked".to_owned());
        Ok(texts.iter().map(|name| self.answers.get(name).cloned().unwrap_or_else(unknown)).collect())
    }

    /// A program with requests for layouts.
    fn asking(&self, number: usize, asked: &Asked) -> xla_shape_pjrt::Result<Program> {
        let mode = |layout: &Option<xla_shape::Layout>| match layout {
            Some(layout) => LayoutMode::Layout(layout.clone()),
            None => LayoutMode::Auto,
        };
        let modes = asked.iter().map(|(place, layout)| (share::argument(place), mode(layout))).collect();
        self.programs[number].with_layout_modes(&modes)
    }

    /// Compiles a program in a process, and says what it costs.
    fn measure(&self, number: usize, asked: &Asked) -> Result<Measured, CompileError> {
        let refused = |error: &dyn std::fmt::Display| CompileError::Refused(error.to_string());
        let program = self.asking(number, asked).map_err(|error| refused(&error))?;
        let said = compiler::start(&self.host.command, &self.compiler, self.slice, program.code())?;
        let module = said.module()?;
        let cost = ProgramCost::new(&module).map_err(|error| refused(&error))?;
        Ok(Measured::new(&cost, said.inputs(), said.outputs(), said.hbm_bytes()))
    }

    fn key(&self, program: &str) -> Key {
        Key {
            program: program.to_owned(),
            device: self.slice.to_string(),
            replicas: self.compiler.replicas,
            partitions: self.compiler.partitions,
            options: self.compiler.options.clone(),
            compiler: self.file.clone(),
            flags: Flags::of_environment(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Says once that answers could not be cached.
    fn finish(self) {
        self.bar.finish_and_clear();
        if let Some(trouble) = self.cache.as_ref().and_then(Cache::trouble) {
            eprintln!("warning: {}", harmless(trouble));
        }
    }
}

/// What is asked, for the progress bar.
fn words(asked: &Asked) -> String {
    let layouts = asked.iter().map(|(place, layout)| {
        let layout = layout.as_ref().map_or_else(|| "any layout".to_owned(), ToString::to_string);
        format!("{layout} at {place}")
    });
    layouts.take(2).collect::<Vec<_>>().join(", ")
}

/// How many compilers run at a time: at most one per core, and only as many as fit into the free memory.
fn jobs() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    // The free memory is known on Linux only.
    let free = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let room = free.map_or(1, |free| usize::try_from(free / COMPILER_BYTES).unwrap_or(1));
    cores.min(room).max(1)
}
