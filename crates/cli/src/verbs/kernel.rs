//! `kernel`: what the compiler made of Pallas kernels, from a dump, or from a program that it compiles to get one.

use crate::args::{KernelArguments, Target, target};
use crate::failure::Failure;
use std::path::{Path, PathBuf};
use xla_shape::tpu::Generation;
use xla_shape_answers::kernel::Kernels;
use xla_shape_files::{KernelDump, check_outputs, contents, is_stdout, write_whole};
use xla_shape_pjrt::Program;
use xla_shape_program::Host;
use xla_shape_render::Html as _;

pub(crate) fn run(arguments: &KernelArguments, host: &Host) -> Result<(), Failure> {
    let paths = [Some(&arguments.path), arguments.against.as_ref()].into_iter().flatten().chain(&arguments.source);
    let inputs = paths.filter(|path| !path.is_dir()).map(PathBuf::as_path);
    check_outputs(inputs, arguments.html.as_deref())?;
    if let Some(folder) = &arguments.keep {
        std::fs::create_dir(folder).map_err(|error| {
            Failure::said(format_args!("{}: cannot make this directory: {error}", folder.display()))
        })?;
    }
    let (mut answer, mut refused) = kernels(&arguments.path, arguments, host, Side::New(arguments.keep.as_deref()))?;
    if let Some(path) = &arguments.against {
        let (before, also) = kernels(path, arguments, host, Side::Against)?;
        answer.compare(&before);
        refused |= also;
    }
    if let Some(clock) = arguments.clock {
        answer.at_clock(clock * 1e9);
    }
    for path in &arguments.source {
        answer.add_source(&path.to_string_lossy(), &String::from_utf8_lossy(&contents(path)?));
    }
    if let Some(path) = &arguments.html {
        if is_stdout(path) && arguments.answer.format.is_json() {
            return Err(Failure::said("standard output takes the page or JSON, not both"));
        }
        write_whole(path, answer.html().as_bytes())?;
    }
    if arguments.html.as_deref().is_none_or(|path| !is_stdout(path)) {
        super::show(&answer, arguments.answer.format)?;
    }
    if refused { Err(Failure::Told) } else { Ok(()) }
}

/// Which of the two versions of a program is read.
#[derive(Clone, Copy)]
enum Side<'a> {
    /// The version that the answer is about, with the directory in which its dumps are kept.
    New(Option<&'a Path>),
    /// The version to compare with. It may have no kernels: XLA's own code of the same computation.
    Against,
}

/// The kernels of a dump or a program, and whether the compiler refused it for a device.
fn kernels(path: &Path, arguments: &KernelArguments, host: &Host, side: Side<'_>) -> Result<(Kernels, bool), Failure> {
    let mut answer = Kernels::default();
    let mut refused = false;
    if path.is_dir() {
        let [] = arguments.targets.get(1..).unwrap_or_default() else {
            return Err(Failure::said("a dump is of one device: expected at most one after --for"));
        };
        let target = arguments.targets.first();
        let xla = add(&mut answer, None, target.map(|target| target.generation), path, arguments)?;
        if answer.is_empty() && !(matches!(side, Side::Against) && xla > 0) {
            return Err(Failure::said(Kernels::missing(path.display())));
        }
    } else {
        let program = Program::from_bytes(&contents(path)?).map_err(Failure::said)?;
        let by_default = target("v5e").map_err(Failure::said)?;
        let targets = if arguments.targets.is_empty() { vec![by_default] } else { arguments.targets.clone() };
        for target in &targets {
            match compiled(&mut answer, arguments, host, target, &program, side) {
                Ok(()) => {}
                Err(message) => {
                    refused = true;
                    answer.refused(&target.name, &message);
                }
            }
        }
    }
    Ok((answer, refused))
}

/// Compiles a program for a device, and adds the kernels that the compiler dumps.
fn compiled(
    answer: &mut Kernels,
    arguments: &KernelArguments,
    host: &Host,
    target: &Target,
    program: &Program,
    side: Side<'_>,
) -> Result<(), String> {
    let slice = target.slice.as_ref().map_err(Clone::clone)?;
    let cannot = |error: std::io::Error| format!("cannot make a directory for the dump: {error}");
    let temporary;
    let folder = match side {
        Side::New(Some(folder)) => {
            let folder = folder.join(target.name.replace(':', "_"));
            std::fs::create_dir(&folder).map_err(cannot)?;
            folder
        }
        _ => {
            temporary = tempfile::tempdir().map_err(cannot)?;
            temporary.path().to_owned()
        }
    };
    let done = arguments.compiler.compiler().compile_dumping(host, slice, program.code(), &folder);
    let before = answer.len();
    // If the compiler refuses the program, the dump has what it made until then: the kernel's vector memory, for example.
    let added = add(answer, Some(&target.name), Some(target.generation), &folder, arguments);
    // The refusal says more than that a part of the dump cannot be read.
    done.map_err(|error| error.to_string())?;
    let xla = added.map_err(|failure| failure.to_string())?;
    if answer.len() == before && !(matches!(side, Side::Against) && xla > 0) {
        return Err("the compiler dumped no kernel: the program calls none, or the compiler is not libtpu".to_owned());
    }
    Ok(())
}

/// Adds what a dump has, and returns how many instructions of it XLA compiled itself, if these are compared.
fn add(
    answer: &mut Kernels,
    target: Option<&str>,
    generation: Option<Generation>,
    folder: &Path,
    arguments: &KernelArguments,
) -> Result<usize, Failure> {
    let dump = KernelDump::read(folder)?;
    answer.add(target, generation, &dump.kernels());
    let is_compared = arguments.against.is_some();
    Ok(if is_compared { answer.add_xla(target, generation, &dump.xla_instructions()) } else { 0 })
}
