//! `hlo`: what the values of a program take in memory.

use super::hint;
use crate::args::{Format, HloArguments, HloDiffArguments, HloVerb};
use crate::failure::Failure;
use crate::io;
use std::fmt::Display;
use std::path::Path;
use xla_shape::ParseError;
use xla_shape::hlo::{Module, utf8};
use xla_shape_render::hlo::{Difference, Report, check_space, page};

pub(crate) fn run(arguments: &HloArguments) -> Result<(), Failure> {
    if let Some(HloVerb::Diff(arguments)) = &arguments.verb {
        return diff(arguments);
    }
    let Some(file) = &arguments.file else { return Err(Failure::said("no file is given")) };
    let bytes = io::read(file)?;
    let module = parse(file, &bytes)?;
    if let Some(space) = arguments.space {
        check_space(&module, space).map_err(Failure::said)?;
    }
    let report = Report::new(&module, arguments.top, arguments.space);
    if let Some(path) = &arguments.html {
        if arguments.format == Format::Json && path.as_os_str() == "-" {
            return Err(Failure::said("standard output takes the page or JSON, not both"));
        }
        io::write_file(path, page(&module, &report, arguments.space).as_bytes())?;
        if path.as_os_str() == "-" {
            return Ok(());
        }
    }
    super::show(&report, arguments.format)
}

fn diff(arguments: &HloDiffArguments) -> Result<(), Failure> {
    let (before, after) = (io::read(&arguments.before)?, io::read(&arguments.after)?);
    let (before, after) = (parse(&arguments.before, &before)?, parse(&arguments.after, &after)?);
    super::show(&Difference::new(&before, &after), arguments.format)
}

/// The module in a file, whole or not at all.
fn parse<'a>(file: &Path, bytes: &'a [u8]) -> Result<Module<'a>, Failure> {
    let shown = |error: &ParseError, text: &str, message: &dyn Display| {
        let (line, column) = error.line_column(text);
        let help = hint::of(bytes).map_or(String::new(), |hint| format!("\nhelp: {hint}"));
        Failure::Shape(format!("{message}\n  in {}:{line}:{column}{help}", file.display()))
    };
    let text = utf8(bytes).map_err(|error| {
        let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        shown(&error, valid, &format_args!("error: {error}"))
    })?;
    let module = Module::parse(text).map_err(|error| shown(&error, text, &error.render(text)))?;
    if module.computations().len() == 0 {
        return Err(Failure::said(format_args!("{} has no computations: it is no HLO module", file.display())));
    }
    Ok(module)
}
