//! `fit`: which programs fit which devices.

use super::tune::{Progress, interruption, names};
use crate::args::FitArguments;
use crate::failure::Failure;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use xla_shape_program::{Compiler, Host, Opened};
use xla_shape_tune::Devices;
use xla_shape_tune::fit::{Axis, Question, Setting, Source};

pub(crate) fn run(arguments: &FitArguments, host: &Host) -> Result<(), Failure> {
    let files = arguments.programs.iter().map(PathBuf::as_path).collect::<Vec<_>>();
    let stop = interruption()?;
    let programs = Programs::read(&files, arguments)?;
    let question = Question {
        jobs: arguments.search.jobs(),
        keep: arguments.search.keep(),
        compiler: Compiler { options: Vec::new(), ..arguments.compiler.compiler() },
        ..Question::new(programs.axes(&files, arguments.ascending))
    };
    let progress = Progress::new(arguments.answer.format);
    let fit = question.answer(&programs, host, None, &stop, &progress);
    progress.finish();
    let fit = fit.map_err(Failure::said)?;
    // The compilers have finished. From here on, Ctrl-C ends the program at once.
    stop.store(true, Ordering::Relaxed);
    super::show_of(&fit, arguments.answer.format, &files)?;
    if fit.search.cut {
        return Err(Failure::Interrupted);
    }
    if fit.any_fits() { Ok(()) } else { Err(Failure::Told) }
}

/// The program in a file, in a form that a compiler accepts.
pub(super) fn program(path: &Path) -> Result<Arc<[u8]>, Failure> {
    let code = Opened::source(path)?;
    // Return an error before a compiler is started, if this is not a program.
    xla_shape_pjrt::Program::from_bytes(&code)
        .map_err(|error| Failure::said(format_args!("{}: {error}", path.display())))?;
    Ok(Arc::from(code))
}

/// The programs, the devices and the options, each of which is an axis.
struct Programs {
    codes: Vec<Arc<[u8]>>,
    devices: Vec<Devices>,
    /// The values of each option.
    options: Vec<(String, Vec<String>)>,
}

impl Programs {
    fn read(files: &[&Path], arguments: &FitArguments) -> Result<Self, Failure> {
        let codes = files.iter().copied().map(program).collect::<Result<_, Failure>>()?;
        let mut options = Vec::<(String, Vec<String>)>::new();
        for (name, values) in &arguments.compiler.chosen.options {
            let values = values.split(',').map(str::to_owned);
            match options.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => known.extend(values),
                None => options.push((name.clone(), values.collect())),
            }
        }
        Ok(Self { codes, devices: arguments.targets.clone(), options })
    }

    fn axes(&self, files: &[&Path], bisected: bool) -> Vec<Axis> {
        let programs = Axis { bisected, ..Axis::new("program", names(files.iter().copied())) };
        let devices = Axis::new("for", self.devices.iter().map(|devices| devices.name.as_str()));
        let options = self.options.iter().map(|(name, values)| Axis::new(name, values.iter().cloned()));
        [programs, devices].into_iter().chain(options).collect()
    }
}

impl Source for Programs {
    fn setting(&self, at: &[usize]) -> Result<Setting, String> {
        let setting = || {
            let [program, device, options @ ..] = at else { return None };
            let options = self.options.iter().zip(options);
            let options = options.map(|((name, values), &number)| Some((name.clone(), values.get(number)?.clone())));
            Some(Setting {
                code: Arc::clone(self.codes.get(*program)?),
                devices: self.devices.get(*device)?.clone(),
                options: options.collect::<Option<_>>()?,
            })
        };
        setting().ok_or_else(|| "this combination of program, device and options was not asked for".to_owned())
    }
}
