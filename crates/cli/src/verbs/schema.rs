//! `schema`: the JSON Schema of what a verb writes with `--format json`.

use crate::args::SchemaArguments;
use crate::failure::Failure;
use crate::io;

/// The verbs with their schemas. `crates/cli/schemas` is a link to `docs/schemas`, so that the package of this crate has the files.
macro_rules! schemas {
    ($($verb:literal)*) => {
        [$(($verb, include_str!(concat!("../../schemas/", $verb, ".json")))),*]
    };
}

const SCHEMAS: [(&str, &str); 25] = schemas! {
    "advise" "block" "check" "compare" "compile" "convert" "cost" "draw" "explain" "guard-check" "guard-record" "hlo" "hlo-diff"
    "hlo-show" "index" "kernel" "map" "relayout" "rustc" "scan" "scan-summary" "shard" "tpu" "tune" "vector"
};

/// The names that the argument can have.
pub(crate) fn names() -> [&'static str; SCHEMAS.len()] {
    SCHEMAS.map(|(verb, _)| verb)
}

pub(crate) fn run(arguments: &SchemaArguments) -> Result<(), Failure> {
    let schema = SCHEMAS.iter().find(|(verb, _)| *verb == arguments.verb);
    let (_, schema) = schema.ok_or_else(|| Failure::said(format_args!("there is no schema of {}", arguments.verb)))?;
    io::write(schema.as_bytes())
}
