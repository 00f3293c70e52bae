//! Where compilers run: in processes of this machine, or where the caller's workers are.

use super::cache::Origin;
use crate::Host;
use crate::args::CompilerArguments;
use crate::compiler::{self, CompileError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use xla_shape::Layout;
use xla_shape_pjrt::{LayoutMode, Program, Slice};
use xla_shape_render::cost::{Place, ProgramCost};
use xla_shape_render::tune::Measured;

/// The memory that one compiler may need, in bytes: libtpu took up to 2 GB for the programs that were measured.
const COMPILER_BYTES: u64 = 3 << 30;

/// Runs compilers for a search.
pub trait Workers {
    /// Calls [`answer`] with each request and the text of its program, on any machine and in any order. Passes each answer to `done` as
    /// soon as it is there, with the number of its request, until `done` returns false.
    ///
    /// requests: the number of a program, and the request.
    ///
    /// # Errors
    /// If no worker can answer. Then the search ends.
    fn run(&self, requests: &[(usize, Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String>;
}

/// The layouts that are requested for a program: one for each place; `None` if the compiler chooses.
pub(super) type Asked = BTreeMap<Place, Option<Layout>>;

/// What a worker does. It has the text of the program too.
#[derive(Serialize, Deserialize, Debug)]
enum Request {
    /// Says which compiler it has.
    Origin { compiler: CompilerArguments },
    /// Compiles the program with these layouts.
    Measure { compiler: CompilerArguments, device: String, layouts: Vec<(Place, Option<String>)> },
}

/// A request to compile a program with these layouts.
pub(super) fn measure_request(compiler: &CompilerArguments, slice: &Slice, asked: &Asked) -> Vec<u8> {
    let layouts = asked.iter().map(|(place, layout)| (place.clone(), layout.as_ref().map(ToString::to_string)));
    let request =
        Request::Measure { compiler: compiler.clone(), device: slice.to_string(), layouts: layouts.collect() };
    serde_json::to_vec(&request).unwrap_or_default()
}

/// Asks the workers which compiler they have.
pub(super) fn origin(workers: &dyn Workers, compiler: &CompilerArguments) -> Result<Origin, String> {
    let request = serde_json::to_vec(&Request::Origin { compiler: compiler.clone() }).unwrap_or_default();
    let mut found = Err("the workers did not answer".to_owned());
    workers.run(&[(0, request)], &mut |_, answer| {
        found = read(answer).map_err(CompileError::message);
        true
    })?;
    found
}

/// The content of an answer.
pub(super) fn read<T: for<'a> Deserialize<'a>>(answer: &[u8]) -> Result<T, CompileError> {
    let unreadable = |error| CompileError::NoCompiler(format!("the answer of a worker cannot be read: {error}"));
    serde_json::from_slice::<Result<T, CompileError>>(answer).map_err(unreadable)?
}

/// The answer to a request about a program. A compiler runs in a process of its own, so one that crashes costs only this answer.
pub fn answer(host: &Host, program: &[u8], request: &[u8]) -> Vec<u8> {
    let said = match serde_json::from_slice(request) {
        Ok(Request::Origin { compiler }) => {
            serde_json::to_vec(&Origin::here(&compiler, host).map_err(CompileError::NoCompiler))
        }
        Ok(Request::Measure { compiler, device, layouts }) => {
            serde_json::to_vec(&measured(host, program, &compiler, &device, layouts))
        }
        Err(error) => {
            let message = format!("the request cannot be read, perhaps because it is of another version: {error}");
            serde_json::to_vec(&Err::<(), _>(CompileError::NoCompiler(message)))
        }
    };
    said.unwrap_or_default()
}

fn measured(
    host: &Host,
    program: &[u8],
    compiler: &CompilerArguments,
    device: &str,
    layouts: Vec<(Place, Option<String>)>,
) -> Result<Measured, CompileError> {
    let refused = |error: &dyn std::fmt::Display| CompileError::Refused(error.to_string());
    let slice = device.parse::<Slice>().map_err(|error| refused(&error))?;
    let parsed = |(place, text): (Place, Option<String>)| Ok((place, text.map(|text| text.parse()).transpose()?));
    let asked = layouts.into_iter().map(parsed).collect::<Result<Asked, xla_shape::ParseError>>();
    let asked = asked.map_err(|error| refused(&error))?;
    let program = Program::from_bytes(program).and_then(|program| asking(&program, &asked));
    let program = program.map_err(|error| refused(&error))?;
    let said = compiler::start(&host.command, compiler, &slice, program.code())?;
    let module = said.module()?;
    let cost = ProgramCost::new(&module).map_err(|error| refused(&error))?;
    let measured = Measured::new(&cost, said.inputs(), said.outputs(), said.hbm_bytes());
    Ok(match said.compiler() {
        Some(version) => measured.with_compiler(version),
        None => measured,
    })
}

/// A program with requests for layouts.
pub(super) fn asking(program: &Program, asked: &Asked) -> xla_shape_pjrt::Result<Program> {
    let mode = |layout: &Option<Layout>| match layout {
        Some(layout) => LayoutMode::Layout(layout.clone()),
        None => LayoutMode::Auto,
    };
    let modes = asked.iter().map(|(place, layout)| (super::share::argument(place), mode(layout))).collect();
    program.with_layout_modes(&modes)
}

/// Threads of this process, each of which waits for one compiler at a time.
pub(super) struct Threads<'a> {
    host: &'a Host,
    programs: &'a [Program],
    number: usize,
}

impl<'a> Threads<'a> {
    pub(super) const fn new(host: &'a Host, programs: &'a [Program], number: usize) -> Self {
        Self { host, programs, number }
    }
}

impl Workers for Threads<'_> {
    fn run(&self, requests: &[(usize, Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
        let queue = Mutex::new(requests.iter().enumerate());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..self.number.min(requests.len()) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some((number, (program, request))) = next() {
                        let answer = answer(self.host, self.programs[*program].code(), request);
                        // Fails if the receiver has ended, because no more answers are wanted.
                        if sender.send((number, answer)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for (number, answer) in receiver {
                if !done(number, &answer) {
                    break;
                }
            }
        });
        Ok(())
    }
}

/// How many compilers should run at a time on this machine: at most one per core, and only as many as fit into the free memory.
pub fn jobs() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    // The free memory is known on Linux only.
    let free = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let room = free.map_or(1, |free| usize::try_from(free / COMPILER_BYTES).unwrap_or(1));
    cores.min(room).max(1)
}
