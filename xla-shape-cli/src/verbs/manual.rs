//! `completions` and `man`: what shells and `man` read, made from the arguments themselves.

use crate::args::{Arguments, CompletionsArguments};
use crate::failure::Failure;
use crate::io;
use clap::CommandFactory;

pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "xla-shape", &mut script);
    io::write(&script)
}

/// One page, with every verb in full below the list of them.
pub(crate) fn man() -> Result<(), Failure> {
    let mut command = Arguments::command();
    command.build();
    let mut page = Vec::new();
    let verbs = command.get_subcommands().cloned().collect::<Vec<_>>();
    let rendered = clap_mangen::Man::new(command).render(&mut page).and_then(|()| {
        verbs.into_iter().try_for_each(|verb| {
            let name = format!("xla-shape {}", verb.get_name()).to_uppercase();
            page.extend_from_slice(format!(".SH {name}\n").as_bytes());
            let verb = clap_mangen::Man::new(verb);
            verb.render_synopsis_section(&mut page)?;
            verb.render_description_section(&mut page)?;
            verb.render_options_section(&mut page)?;
            verb.render_extra_section(&mut page)
        })
    });
    rendered.map_err(Failure::Write)?;
    io::write(&page)
}
