//! The JSON Schemas of what verbs write with `--format json`.

use serde_json::Value;
use xla_shape_answers::advise::{Advice, Row};
use xla_shape_answers::block::BlockAnswer;
use xla_shape_answers::check::Checked;
use xla_shape_answers::compare::Comparison;
use xla_shape_answers::compile::{Compilation, Target};
use xla_shape_answers::convert::{Conversion, Converted};
use xla_shape_answers::cost::ProgramCost;
use xla_shape_answers::draw::Drawn;
use xla_shape_answers::explain::{Explanation, Location, Registers};
use xla_shape_answers::guard::{Check, Checks, Record};
use xla_shape_answers::hlo::{Difference, Report, ShownInstruction, diff};
use xla_shape_answers::kernel::Kernels;
use xla_shape_answers::rustc::Message;
use xla_shape_answers::scan::{Found, Scan, Summary};
use xla_shape_answers::tune::Tuning;
use xla_shape_answers::{open_schema, schema, schema_named};
use xla_shape_files::{RelayoutDone, ShardsDone};

/// Makes a schema.
type Schema = fn() -> Value;

/// The schemas by verb: `hlo diff` is `hlo-diff`.
const SCHEMAS: &[(&str, Schema)] = &[
    ("advise", schema::<Advice, Row>),
    ("block", schema::<BlockAnswer, BlockAnswer>),
    ("check", schema::<Checked<'_>, Checked<'_>>),
    ("compare", schema::<Comparison, Comparison>),
    ("compile", schema::<Compilation, Target>),
    ("convert", schema::<Conversion, Converted>),
    ("cost", schema::<ProgramCost, ProgramCost>),
    ("draw", schema::<Drawn, Drawn>),
    ("explain", schema::<Explanation, Explanation>),
    ("explain-index", schema::<Location, Location>),
    ("explain-vector", schema::<Registers, Registers>),
    ("guard-check", schema::<Checks, Check>),
    ("guard-record", schema::<Record, Record>),
    ("hlo", schema::<Report, Report>),
    ("hlo-diff", schema::<Difference, diff::Line<'_>>),
    ("hlo-show", schema::<ShownInstruction, ShownInstruction>),
    ("kernel", schema::<Kernels, Kernels>),
    ("relayout", || schema_named::<RelayoutDone>(RelayoutDone::SCHEMA)),
    ("rustc", || open_schema::<Message>(Message::SCHEMA)),
    ("scan", schema::<Found, Found>),
    ("scan-summary", schema::<Scan, Summary<'_>>),
    ("shard", || schema_named::<ShardsDone>(ShardsDone::SCHEMA)),
    ("tune", schema::<Tuning, Tuning>),
];

/// The names that the argument can have.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(verb, _)| *verb)
}

/// The text of the schema with this name.
pub(crate) fn schema_text(name: &str) -> Option<String> {
    let (_, schema) = SCHEMAS.iter().find(|(verb, _)| *verb == name)?;
    Some(format!("{:#}\n", schema()))
}
