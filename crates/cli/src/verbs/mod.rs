//! One module for each verb of the program: it reads the input, computes the answer and writes it. The table of the verbs is here, and
//! nowhere else: their names, arguments and schemas, and the groups of the help.

pub(crate) mod advise;
mod answers;
pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod compile;
pub(crate) mod convert;
pub(crate) mod cost;
pub(crate) mod draw;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod guard;
pub(crate) mod help;
pub(crate) mod hlo;
pub(crate) mod kernel;
pub(crate) mod manual;
pub(crate) mod mcp;
pub(crate) mod relayout;
pub(crate) mod reshard;
pub(crate) mod rustc;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod shard;
pub(crate) mod thing;
mod tools;
pub(crate) mod tune;

pub use tools::Tools;

use crate::args::*;
use crate::failure::Failure;
use crate::io;
use clap::Subcommand;
use help::HelpArguments;
use serde_json::Value;
use std::path::Path;
use xla_shape_answers::advise::{Advice, Row};
use xla_shape_answers::block::BlockAnswer;
use xla_shape_answers::check::Checked;
use xla_shape_answers::compare::Comparison;
use xla_shape_answers::compile::{Compilation, Target};
use xla_shape_answers::convert::{Conversion, Converted};
use xla_shape_answers::cost::ProgramCost;
use xla_shape_answers::draw::Drawn;
use xla_shape_answers::explain::{Location, OnDevices, Registers};
use xla_shape_answers::fit::Fit;
use xla_shape_answers::guard::claims::{Expectation, Expectations};
use xla_shape_answers::guard::{Check, Checks, Record};
use xla_shape_answers::hlo::{Difference, Report, ShownInstruction, diff};
use xla_shape_answers::kernel::Kernels;
use xla_shape_answers::rank::Ranking;
use xla_shape_answers::reshard::Resharding;
use xla_shape_answers::rustc::Message;
use xla_shape_answers::scan::{Found, Scan, Summary};
use xla_shape_answers::tune::Tuning;
use xla_shape_answers::{json_line, open_schema, schema, schema_named};
use xla_shape_files::{RelayoutDone, ShardsDone, is_stdout, write_whole};
use xla_shape_program::Host;
use xla_shape_render::Show;

/// `only!(value, marker)` expands to the value, for a row of the table that has the marker: `$(only!(value, $marker))?` is nothing for other rows.
macro_rules! only {
    ($value:expr, $marker:ident) => {
        $value
    };
}

/// Creates a schema.
type Schema = fn() -> Value;

/// The verbs, in the groups of the help. A row has the module, whose name is that of the verb; the variant with its arguments; `host` if the verb
/// may start a compiler; and the name and the schema of each form of JSON that the verb writes.
macro_rules! verbs {
    ($($group:literal {
        $($module:ident: $variant:ident($arguments:ident $(, $host:ident)?) { $($name:literal: $schema:expr),* $(,)? })*
    })*) => {
        /// A verb with its arguments.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Verb {
            $($($variant($arguments),)*)*
            Help(HelpArguments),
        }

        /// The verbs in groups, as the help lists them.
        const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$(stringify!($module)),*])),*];

        /// The schemas of what the verbs write as JSON, by name: `hlo diff` is `hlo-diff`.
        pub(crate) const SCHEMAS: &[(&str, Schema)] = &[$($($(($name, $schema),)*)*)*];

        /// The answer of a verb.
        pub(crate) fn answer(verb: &Verb, host: &Host) -> Result<(), Failure> {
            match verb {
                $($(Verb::$variant(arguments) => $module::run(arguments $(, only!(host, $host))?),)*)*
                Verb::Help(arguments) => help::run(arguments),
            }
        }
    };
}

verbs! {
    "A shape" {
        explain: Explain(ExplainArguments) {
            "explain": schema::<OnDevices, OnDevices>,
            "explain-index": schema::<Location, Location>,
            "explain-vector": schema::<Registers, Registers>,
        }
        compare: Compare(CompareArguments) { "compare": schema::<Comparison, Comparison> }
        advise: Advise(AdviseArguments) { "advise": schema::<Advice, Row> }
        draw: Draw(DrawArguments) { "draw": schema::<Drawn, Drawn> }
        convert: Convert(ConvertArguments) { "convert": schema::<Conversion, Converted> }
        reshard: Reshard(ReshardArguments, host) { "reshard": schema::<Resharding, Resharding> }
    }
    "A program" {
        scan: Scan(ScanArguments, host) {
            "scan": schema::<Found, Found>,
            "scan-summary": schema::<Scan, Summary<'_>>,
        }
        hlo: Hlo(HloArguments) {
            "hlo": schema::<Report, Report>,
            "hlo-diff": schema::<Difference, diff::Line<'_>>,
            "hlo-show": schema::<ShownInstruction, ShownInstruction>,
        }
        cost: Cost(CostArguments, host) { "cost": schema::<ProgramCost, ProgramCost> }
        compile: Compile(CompileArguments, host) { "compile": schema::<Compilation, Target> }
        fit: Fit(FitArguments, host) { "fit": schema::<Fit, Fit> }
        guard: Guard(GuardArguments, host) {
            "guard-check": schema::<Checks, Check>,
            "guard-expect": schema::<Expectations, Expectation>,
            "guard-record": schema::<Record, Record>,
        }
        tune: Tune(TuneArguments, host) { "tune": schema::<Tuning, Tuning> }
    }
    "A kernel" {
        block: Block(BlockArguments, host) {
            "block": schema::<BlockAnswer, BlockAnswer>,
            "block-rank": schema::<Ranking, Ranking>,
        }
        kernel: Kernel(KernelArguments, host) { "kernel": schema::<Kernels, Kernels> }
    }
    "Arrays in files" {
        relayout: Relayout(RelayoutArguments) { "relayout": || schema_named::<RelayoutDone>(RelayoutDone::SCHEMA) }
        shard: Shard(ShardArguments) { "shard": || schema_named::<ShardsDone>(ShardsDone::SCHEMA) }
    }
    // These are for pipes, scripts and agents. The help names them below the list, without a group.
    "" {
        rustc: Rustc(RustcArguments) { "rustc": || open_schema::<Message>(Message::SCHEMA) }
        check: Check(CheckArguments) { "check": schema::<Checked<'_>, Checked<'_>> }
        mcp: Mcp(McpArguments, host) {}
    }
}

/// Writes an answer to standard output.
fn show(answer: &impl Show, format: Format) -> Result<(), Failure> {
    show_of(answer, format, &[])
}

/// Writes an answer about these files to standard output.
fn show_of(answer: &impl Show, format: Format, files: &[&Path]) -> Result<(), Failure> {
    // A file name that is not UTF-8 cannot be written in a command. So the commands have only the names before it.
    let files = files.iter().map_while(|file| file.to_str()).collect::<Vec<_>>();
    match format {
        Format::Text => io::print(&answer.text(io::width())),
        Format::Digest => io::print(&answer.brief(&files)),
        Format::Json => io::write(answer.json().as_bytes()),
        Format::Tool => io::write([json_line(&answer.brief(&files).to_string()), answer.json()].concat().as_bytes()),
    }
}

/// Writes the page into `output`, if it is given, and the answer about these files to standard output unless the page is written there.
fn show_with_page(
    answer: &impl Show,
    format: Format,
    files: &[&Path],
    output: Option<&Path>,
    page: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if let Some(path) = output {
        if is_stdout(path) && format.is_json() {
            return Err(Failure::usage("standard output takes the page or JSON, not both"));
        }
        write_whole(path, page().as_bytes())?;
        if is_stdout(path) {
            return Ok(());
        }
    }
    show_of(answer, format, files)
}
