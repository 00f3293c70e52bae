//! `schema`: the JSON Schema of what a verb writes with `--format json`.

use crate::args::SchemaArguments;
use crate::failure::Failure;
use crate::io;
use serde_json::Value;
use xla_shape_answers::block::BlockAnswer;
use xla_shape_answers::schema;

/// The verbs with their schemas, each as a text. `crates/cli/schemas` is a link to `docs/schemas`, so that the package of this crate has the files.
macro_rules! schemas {
    ($($verb:literal)*) => {
        [$(($verb, include_str!(concat!("../../schemas/", $verb, ".json")))),*]
    };
}

const WRITTEN: [(&str, &str); 22] = schemas! {
    "advise" "check" "compare" "compile" "convert" "cost" "draw" "explain" "explain-index" "explain-vector" "guard-check" "guard-record" "hlo" "hlo-diff"
    "hlo-show" "kernel" "relayout" "rustc" "scan" "scan-summary" "shard" "tune"
};

/// The verbs whose schemas come from the types of their answers.
const DERIVED: &[(&str, fn() -> Value)] = &[("block", schema::<BlockAnswer, BlockAnswer>)];

/// The names that the argument can have.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> =
        WRITTEN.iter().map(|(verb, _)| *verb).chain(DERIVED.iter().map(|(verb, _)| *verb)).collect();
    names.sort_unstable();
    names
}

pub(crate) fn run(arguments: &SchemaArguments) -> Result<(), Failure> {
    let verb = arguments.verb.as_str();
    if let Some((_, schema)) = DERIVED.iter().find(|(name, _)| *name == verb) {
        return io::write(format!("{:#}\n", schema()).as_bytes());
    }
    let schema = WRITTEN.iter().find(|(name, _)| *name == verb);
    let (_, schema) = schema.ok_or_else(|| Failure::said(format_args!("there is no schema of {verb}")))?;
    io::write(schema.as_bytes())
}
