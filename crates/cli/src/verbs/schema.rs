//! `help schema`: the JSON Schema of what a verb writes with `--format json`.

use crate::args::SchemaArguments;
use crate::failure::Failure;
use crate::io;
use crate::schemas::schema_text;

pub(crate) fn run(arguments: &SchemaArguments) -> Result<(), Failure> {
    let text = schema_text(&arguments.verb);
    let text = text.ok_or_else(|| Failure::said(format_args!("unknown schema `{}`", arguments.verb)))?;
    io::write(text.as_bytes())
}
