//! The program without a verb: says what the input is, gives the answer of the first verb about it, and names the verbs for more.

use crate::args::{AnyArguments, Format};
use crate::failure::Failure;
use crate::io;
use clap::ValueEnum as _;
use std::path::Path;
use xla_shape_program::{Input, PASTED, Question, Reading, Thing};
use xla_shape_render::{Text, shell_line};

/// Finds out what the input is, lets `answer` run the command about it, and then says what the input is.
pub(crate) fn run(
    arguments: &AnyArguments,
    answer: impl FnOnce(&[String]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut things = arguments.things.iter().map(|given| Thing::open(given)).collect::<Result<Vec<_>, _>>()?;
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
    let is_text = things.iter().any(Thing::is_text);
    if is_text && matches!(reading, Reading::Kernels | Reading::KernelDiff) {
        let message =
            "these are the compiler's texts about kernels; give the directory that has them, as to `xla-shape kernel`";
        return Err(Failure::said(message));
    }
    // A pasted text is passed to the verb as its standard input.
    let from_stdin = first.command.iter().filter(|word| *word == PASTED).count();
    if from_stdin > 1 {
        return Err(Failure::said("expected at least one of the two in a file, found two texts"));
    }
    if from_stdin == 1
        && let Some(thing) = things.iter_mut().find(|thing| thing.is_text())
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
    // If there is only an error and no answer, write nothing after the error.
    if matches!(result, Ok(()) | Err(Failure::Told | Failure::Unread)) {
        io::write(b"\n")?;
        io::print(&more_about(reading, first, more.iter().chain(&others)))?;
    }
    result
}

/// The error about an input that is not recognised. For a text on the command line, it also says that no such file exists.
fn unknown(arguments: &AnyArguments, input: Input<'_>) -> Failure {
    match &arguments.things[..] {
        [thing] if !thing.is_empty() && thing != PASTED && !Path::new(thing).exists() => {
            Failure::said(format_args!("there is no file of this name, and as a text it is {}", input.unknown()))
        }
        _ => Failure::said(input.unknown()),
    }
}

/// The kind of input that was recognised, and the commands for more.
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
