//! The JSON Schemas of what verbs write with `--format json`.

use serde_json::Value;
use xla_shape_answers::block::BlockAnswer;
use xla_shape_answers::compile::{Compilation, Target};
use xla_shape_answers::cost::ProgramCost;
use xla_shape_answers::guard::{Check, Checks, Record};
use xla_shape_answers::hlo::{Difference, Report, ShownInstruction, diff};
use xla_shape_answers::schema;
use xla_shape_answers::tune::Tuning;
use xla_shape_render::advise::{Advice, Row};
use xla_shape_render::compare::Comparison;
use xla_shape_render::convert::{Conversion, Converted};
use xla_shape_render::draw::{Drawing, Drawn};
use xla_shape_render::explain::{Explained, Explanation};
use xla_shape_render::kernel::Kernels;
use xla_shape_render::scan::{Found, Scan, Summary};
use xla_shape_render::{index, vector};

/// Where the schema of a verb is.
#[derive(Clone, Copy)]
enum Source {
    /// Derived from the type of the answer.
    Type(fn() -> Value),
    /// In a file. `crates/cli/schemas` is a link to `docs/schemas`, so that the package of this crate has the files.
    File(&'static str),
}

/// The schemas by verb: `hlo diff` is `hlo-diff`.
const SCHEMAS: &[(&str, Source)] = &[
    ("advise", Source::Type(schema::<Advice, Row>)),
    ("block", Source::Type(schema::<BlockAnswer, BlockAnswer>)),
    ("check", Source::File(include_str!("../schemas/check.json"))),
    ("compare", Source::Type(schema::<Comparison, Comparison>)),
    ("compile", Source::Type(schema::<Compilation, Target>)),
    ("convert", Source::Type(schema::<Conversion, Converted>)),
    ("cost", Source::Type(schema::<ProgramCost, ProgramCost>)),
    ("draw", Source::Type(schema::<Drawing, Drawn>)),
    ("explain", Source::Type(schema::<Explanation, Explained<'_>>)),
    ("explain-index", Source::Type(schema::<index::Location, index::Data<'_>>)),
    ("explain-vector", Source::Type(schema::<vector::Registers, vector::Data<'_>>)),
    ("guard-check", Source::Type(schema::<Checks, Check>)),
    ("guard-record", Source::Type(schema::<Record, Record>)),
    ("hlo", Source::Type(schema::<Report, Report>)),
    ("hlo-diff", Source::Type(schema::<Difference, diff::Line<'_>>)),
    ("hlo-show", Source::Type(schema::<ShownInstruction, ShownInstruction>)),
    ("kernel", Source::Type(schema::<Kernels, Kernels>)),
    ("relayout", Source::File(include_str!("../schemas/relayout.json"))),
    ("rustc", Source::File(include_str!("../schemas/rustc.json"))),
    ("scan", Source::Type(schema::<Found, Found>)),
    ("scan-summary", Source::Type(schema::<Scan, Summary<'_>>)),
    ("shard", Source::File(include_str!("../schemas/shard.json"))),
    ("tune", Source::Type(schema::<Tuning, Tuning>)),
];

/// The names that the argument can have.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(verb, _)| *verb)
}

/// The text of the schema with this name.
pub(crate) fn schema_text(name: &str) -> Option<String> {
    let (_, source) = SCHEMAS.iter().find(|(verb, _)| *verb == name)?;
    Some(match source {
        Source::Type(schema) => format!("{:#}\n", schema()),
        Source::File(text) => (*text).to_owned(),
    })
}
