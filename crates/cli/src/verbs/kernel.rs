//! `kernel`: what the compiler made of Pallas kernels, from a dump, or from a program that it compiles to get one.

use crate::Host;
use crate::args::{KernelArguments, Target, target};
use crate::compiler;
use crate::failure::Failure;
use std::path::Path;
use xla_shape::tpu::Generation;
use xla_shape_files::{KernelDump, contents};
use xla_shape_pjrt::Program;
use xla_shape_render::kernel::Kernels;

pub(crate) fn run(arguments: &KernelArguments, host: &Host) -> Result<(), Failure> {
    let mut answer = Kernels::default();
    let mut refused = false;
    if arguments.path.is_dir() {
        let [] = arguments.targets.get(1..).unwrap_or_default() else {
            return Err(Failure::said("a dump is of one device: expected at most one after --for"));
        };
        let target = arguments.targets.first();
        add(&mut answer, None, target.map(|target| target.generation), &arguments.path)?;
        if answer.is_empty() {
            let path = arguments.path.display();
            return Err(Failure::said(format_args!(
                "{path}: expected files of kernels, such as …-final_bundles.txt or …-post-relayout-insertion.txt"
            )));
        }
    } else {
        let program = Program::from_bytes(&contents(&arguments.path)?).map_err(Failure::said)?;
        let by_default = target("v5e").map_err(Failure::said)?;
        let targets = if arguments.targets.is_empty() { vec![by_default] } else { arguments.targets.clone() };
        for target in &targets {
            match compiled(&mut answer, arguments, host, target, &program) {
                Ok(()) => {}
                Err(message) => {
                    refused = true;
                    answer.refused(&target.name, &message);
                }
            }
        }
    }
    super::show(&answer, arguments.answer.format)?;
    if refused { Err(Failure::Told) } else { Ok(()) }
}

/// Compiles the program for a device, and adds the kernels that the compiler dumps.
fn compiled(
    answer: &mut Kernels,
    arguments: &KernelArguments,
    host: &Host,
    target: &Target,
    program: &Program,
) -> Result<(), String> {
    let slice = target.slice.as_ref().map_err(Clone::clone)?;
    let folder = tempfile::tempdir().map_err(|error| format!("cannot make a directory for the dump: {error}"))?;
    compiler::start_dumping(&host.command, &arguments.compiler, slice, program.code(), folder.path())
        .map_err(compiler::CompileError::message)?;
    let before = answer.len();
    add(answer, Some(&target.name), Some(target.generation), folder.path()).map_err(|failure| failure.to_string())?;
    if answer.len() == before {
        return Err("the compiler dumped no kernel: the program calls none, or the compiler is not libtpu".to_owned());
    }
    Ok(())
}

fn add(
    answer: &mut Kernels,
    target: Option<&str>,
    generation: Option<Generation>,
    folder: &Path,
) -> Result<(), Failure> {
    let dump = KernelDump::read(folder)?;
    answer.add(target, generation, &dump.kernels());
    Ok(())
}
