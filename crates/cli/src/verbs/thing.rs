//! Without a verb: what something is, the answer of the first verb about it, and the verbs for more.

use crate::args::{AnyArguments, Format};
use crate::failure::Failure;
use crate::io;
use clap::ValueEnum as _;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use xla_shape_files::contents;
use xla_shape_program::{File, Input, PASTED, Question, Reading, profile_files};
use xla_shape_render::{Text, shell_line};

/// How many files of a directory are named at most, and how deep they are: the others belong to no dump.
const MOST_FILES: usize = 10_000;
const DEEPEST: usize = 32;

/// What was given: a text, a file with its name, or the names of the files of a directory.
#[derive(Debug, Default)]
struct Thing {
    names: Vec<String>,
    /// Empty for a directory of several files: their names tell what it is.
    bytes: Vec<u8>,
}

impl Thing {
    fn read(given: &OsStr) -> Result<Self, Failure> {
        let path = Path::new(given);
        // A text can be longer than a name may be, which is an error of the system.
        let kind = if given == PASTED { None } else { fs::metadata(path).ok() };
        // Of a profile, the verb reads more than the beginning.
        if let Some(first) = kind.as_ref().and_then(|_| profile_files(path)?.into_iter().next()) {
            return Ok(Self { names: vec![path.to_string_lossy().into_owned()], bytes: beginning(&first)? });
        }
        match kind {
            Some(kind) if kind.is_dir() => {
                let mut names = Vec::new();
                add_files(path, 0, &mut names)?;
                names.sort();
                let bytes = if let [alone] = &names[..] { contents(Path::new(alone))? } else { Vec::new() };
                Ok(Self { names, bytes })
            }
            Some(kind) if kind.is_file() => {
                Ok(Self { names: vec![path.to_string_lossy().into_owned()], bytes: contents(path)? })
            }
            // A pipe can be read once only, so it is a text.
            Some(_) => Ok(Self { names: vec![PASTED.to_owned()], bytes: contents(path)? }),
            None if given == PASTED => Ok(Self { names: vec![PASTED.to_owned()], bytes: contents(path)? }),
            None => Ok(Self { names: vec![PASTED.to_owned()], bytes: given.as_encoded_bytes().to_vec() }),
        }
    }

    fn files(&self) -> Vec<File<'_>> {
        self.names.iter().map(|name| File { name: name.clone(), bytes: &self.bytes }).collect()
    }
}

/// The first bytes of a file, of which a profile is known.
fn beginning(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(128).read_to_end(&mut bytes));
    read.map_err(|error| Failure::said(format_args!("{}: {error}", path.display())))?;
    Ok(bytes)
}

/// Adds the names of the files in a directory and below. Links are not followed, and names that begin with a dot are left out.
fn add_files(folder: &Path, depth: usize, names: &mut Vec<String>) -> Result<(), Failure> {
    let failed = |error| Failure::said(format_args!("{}: cannot read this directory: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        if names.len() >= MOST_FILES {
            break;
        }
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() && depth < DEEPEST {
            add_files(&entry.path(), depth + 1, names)?;
        } else if kind.is_file() {
            names.push(entry.path().to_string_lossy().into_owned());
        }
    }
    Ok(())
}

/// Says what something is with the answer of the command that `answer` runs.
pub(crate) fn run(
    arguments: &AnyArguments,
    answer: impl FnOnce(&[String]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut things = arguments.things.iter().map(|given| Thing::read(given)).collect::<Result<Vec<_>, _>>()?;
    let (reading, questions, others) = {
        let files = things.iter().map(Thing::files).collect::<Vec<_>>();
        let input =
            Input { files: files.first().map_or(&[], Vec::as_slice), against: files.get(1).map_or(&[], Vec::as_slice) };
        let readings = Reading::all(input);
        let Some((&reading, others)) = readings.split_first() else { return Err(unknown(arguments, input)) };
        let others = others.iter().filter_map(|reading| reading.questions(input).into_iter().next());
        (reading, reading.questions(input), others.collect::<Vec<_>>())
    };
    let Some((first, more)) = questions.split_first() else {
        return Err(Failure::said(format_args!("this is {}, but nothing can be said about it", reading.title())));
    };
    let is_text = things.iter().any(|thing| thing.names == [PASTED]);
    if is_text && matches!(reading, Reading::Kernels | Reading::KernelDiff) {
        let message =
            "these are the compiler's texts about kernels; give the directory that has them, as to `xla-shape kernel`";
        return Err(Failure::said(message));
    }
    // The verb reads a text from standard input, where it is put.
    let from_stdin = first.command.iter().filter(|word| *word == PASTED).count();
    if from_stdin > 1 {
        return Err(Failure::said("expected at least one of the two in a file, found two texts"));
    }
    if from_stdin == 1
        && let Some(thing) = things.iter_mut().find(|thing| thing.names == [PASTED])
    {
        io::put_into_stdin(&std::mem::take(&mut thing.bytes))?;
    }
    drop(things);
    let mut command = first.command.clone();
    if let Some(format) = arguments.format.filter(|format| *format != Format::Text) {
        let format = format.to_possible_value().map(|value| value.get_name().to_owned());
        command.extend(["--format".to_owned()].into_iter().chain(format));
        return answer(&command);
    }
    let result = answer(&command);
    // After an error that is not an answer, the error stands alone.
    if matches!(result, Ok(()) | Err(Failure::Told | Failure::Unread)) {
        io::write(b"\n")?;
        io::print(&more_about(reading, first, more.iter().chain(&others)))?;
    }
    result
}

/// The error about an input that is nothing known. For a text on the command line, it also says that no such file exists.
fn unknown(arguments: &AnyArguments, input: Input<'_>) -> Failure {
    match &arguments.things[..] {
        [thing] if !thing.is_empty() && thing != PASTED && fs::metadata(thing).is_err() => {
            Failure::said(format_args!("there is no file of this name, and as a text it is {}", input.unknown()))
        }
        _ => Failure::said(input.unknown()),
    }
}

/// What it was taken for, and the commands for more.
fn more_about<'q>(reading: Reading, first: &'q Question, more: impl Iterator<Item = &'q Question>) -> Text {
    let mut text = Text::new(io::width());
    let line = |question: &Question| {
        let words = ["xla-shape"].into_iter().chain(question.command.iter().map(String::as_str));
        shell_line(words)
    };
    text.heading(&format!("This is {}", reading.title()));
    text.paragraph(format_args!("  The same answer, and more (`xla-shape help {}`):", first.verb));
    for question in std::iter::once(first).chain(more) {
        text.verbatim(format_args!("  {}", line(question)));
    }
    text
}
