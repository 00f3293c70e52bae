//! `help schema`: the JSON Schema of what a verb writes with `--format json`.

use super::SCHEMAS;
use super::help::SchemaArguments;
use crate::failure::Failure;
use crate::io;

/// The names of all schemas, sorted.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names = SCHEMAS.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    names.sort_unstable();
    names
}

pub(crate) fn run(arguments: &SchemaArguments) -> Result<(), Failure> {
    let found = SCHEMAS.iter().find(|(name, _)| *name == arguments.verb);
    let (_, schema) = found.ok_or_else(|| Failure::said(format_args!("unknown schema `{}`", arguments.verb)))?;
    io::write(format!("{:#}\n", schema()).as_bytes())
}
