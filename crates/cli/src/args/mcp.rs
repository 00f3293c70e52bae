//! The verb for agents.

use clap::Args;
use std::path::PathBuf;

/// Answer an agent: every question is a tool of the Model Context Protocol
///
/// The protocol is spoken over standard input and output. A tool takes the arguments of its verb, and answers the JSON of --format json; a long answer comes
/// as a digest with a handle, by which the tool `more` reads the rest. Nothing is written without --write, and no file is read that is not below
/// a directory that --root names: paths with `..` and symbolic links are refused. Texts can be given inline, as {"text": …}. A call can be cancelled,
/// and reports its progress.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape mcp --root .
  xla-shape mcp --root dumps --root models --write")]
pub(crate) struct McpArguments {
    /// A directory whose files the agent may name; may be repeated. Without it, texts are given inline
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,

    /// Also offer tools and arguments that write files: pages, compiled modules, records, `relayout` and `shard`
    #[arg(long)]
    pub(crate) write: bool,
}
