//! `help completions` and `help man`: the completion script and the manual page, generated from the definitions of the arguments.

use super::help::{CompletionsArguments, command};
use crate::failure::Failure;
use crate::io;

pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "xla-shape", &mut script);
    // clap_complete 4.6 uses two different names for a verb in bash scripts if the program's name has a hyphen.
    let script = text(script).replace("xla__subcmd__shape__", "xla__shape__");
    io::write(script.as_bytes())
}

/// Writes one page with all verbs: their list, then a section for each.
pub(crate) fn man() -> Result<(), Failure> {
    let mut command = command();
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page).map_err(Failure::Write)?;
    let mut text = text(page).replace("\n.SH EXTRA\n", "\n.SH EXAMPLES\n");
    for verb in command.get_subcommands() {
        // The list refers to a page for each verb; there is only this page.
        let name = verb.get_name();
        text = text.replace(&format!("\nxla\\-shape\\-{name}(1)\n"), &format!("\nxla\\-shape {name}\n"));
    }
    for verb in command.get_subcommands() {
        text += &section(verb, &format!("xla-shape {}", verb.get_name()))?;
        for inner in verb.get_subcommands().filter(|inner| inner.get_name() != "help") {
            text += &section(inner, &format!("xla-shape {} {}", verb.get_name(), inner.get_name()))?;
        }
    }
    io::write(text.as_bytes())
}

/// The section of the page about a verb.
fn section(verb: &clap::Command, name: &str) -> Result<String, Failure> {
    let mut page = Vec::new();
    let verb = clap_mangen::Man::new(verb.clone());
    let rendered = verb
        .render_synopsis_section(&mut page)
        .and_then(|()| verb.render_description_section(&mut page))
        .and_then(|()| verb.render_options_section(&mut page))
        .and_then(|()| verb.render_extra_section(&mut page));
    rendered.map_err(Failure::Write)?;
    let parts = text(page).replace(".SH EXTRA\n", ".SH EXAMPLES\n").replace(".SH ", ".SS ");
    Ok(format!(".SH {}\n{parts}", name.to_uppercase()))
}

fn text(page: Vec<u8>) -> String {
    String::from_utf8_lossy(&page).into_owned()
}
