//! The table of tools: each verb with a schema is a tool, and takes its arguments from the verb's definition.

use crate::args::OutputPath;
use crate::verbs::SCHEMAS;
use crate::verbs::help::command;
use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value, json};
use std::any::TypeId;
use std::num::NonZeroU32;
use std::path::PathBuf;
use xla_shape_answers::tool::tool_schema;

/// The arguments of a verb that its tool lacks. The server chooses the format. Only the person who starts the server may name the plug-in, because
/// its code is run.
const LEFT_OUT: [&str; 5] = ["format", "color", "plugin", "help", "version"];

/// A verb as a tool.
pub(super) struct Tool {
    /// Its name, such as `hlo_diff`.
    pub(super) name: String,
    /// The verb, such as `hlo` and `diff`, and the options that the server chooses.
    pub(super) words: Vec<String>,
    pub(super) parameters: Vec<Parameter>,
    /// The tool as a client sees it.
    pub(super) described: Value,
}

/// An argument of a verb that a tool has.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// As the verb defines it.
    pub(super) argument: Arg,
}

/// What the values of an argument are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Flag,
    Text,
    Number,
    /// A file that is read.
    Input,
    /// A file that is written.
    Output,
    /// An option of the compiler and its value.
    CompilerOption,
}

/// The tools. Files are written only with `write`.
pub(super) fn tools(write: bool) -> Vec<Tool> {
    let mut all = command();
    all.build();
    let verbs = all.get_subcommands().flat_map(|verb| {
        let inner = verb.get_subcommands().map(|inner| (vec![verb.get_name(), inner.get_name()], inner));
        std::iter::once((vec![verb.get_name()], verb)).chain(inner)
    });
    verbs.filter_map(|(words, verb)| Tool::new(&words, verb, write)).collect()
}

/// A tool as a client sees it.
pub(super) fn described(name: &str, about: &str, input: &Value, answers: &[Value], writes: bool) -> Value {
    json!({
        "name": name,
        "description": about,
        "inputSchema": input,
        "outputSchema": tool_schema(answers),
        "annotations": { "readOnlyHint": !writes, "openWorldHint": false },
    })
}

impl Tool {
    /// A verb as a tool; `None` if it has no schema, or if it only writes a file and `write` is not set.
    fn new(words: &[&str], verb: &Command, write: bool) -> Option<Self> {
        let own = words.join("-");
        let is_inner = |name: &str| verb.get_subcommands().any(|inner| name == format!("{own}-{}", inner.get_name()));
        let is_own = |name: &str| name.strip_prefix(&own).is_some_and(|form| form.is_empty() || form.starts_with('-'));
        let schemas = SCHEMAS.iter().filter(|(name, _)| is_own(name) && !is_inner(name));
        let schemas = schemas.map(|(_, schema)| schema()).collect::<Vec<_>>();
        let is_output = |parameter: &Parameter| parameter.kind == Kind::Output;
        let parameters = verb.get_arguments().filter(|argument| is_offered(verb, argument)).map(Parameter::new);
        let mut parameters = parameters.collect::<Vec<_>>();
        let can_write = parameters.iter().any(is_output);
        let must_write =
            parameters.iter().any(|parameter| is_output(parameter) && parameter.argument.is_required_set());
        if schemas.is_empty() || (must_write && !write) {
            return None;
        }
        parameters.retain(|parameter| write || !is_output(parameter));
        let has = |id: &str| verb.get_arguments().find(|argument| argument.get_id() == id);
        let forms = has("format").map(Arg::get_possible_values).unwrap_or_default();
        let has_form = forms.iter().any(|form| form.get_name() == "tool").then_some("--format=tool");
        // Do not read files that the input names: the author of the input must not be able to read files of this machine.
        let has_files = has("no_files").map(|_| "--no-files");
        let words = words.iter().copied().chain(has_form).chain(has_files).map(str::to_owned).collect();
        let name = own.replace('-', "_");
        let described = described(&name, &about(verb), &input_schema(&parameters), &schemas, write && can_write);
        Some(Self { name, words, parameters, described })
    }
}

/// What a tool answers, and when to use it. The second part is the paragraph of the verb's help that begins with "Use it".
fn about(verb: &Command) -> String {
    let what = verb.get_about().map(ToString::to_string).unwrap_or_default();
    let help = verb.get_long_about().map(ToString::to_string).unwrap_or_default();
    let when = help.split("\n\n").find(|paragraph| paragraph.starts_with("Use it "));
    when.map_or_else(|| what.clone(), |when| format!("{what}. {}", when.trim_end_matches('.')))
}

/// Whether a tool has this argument of its verb. Arguments that decide the format of the answer are left out.
fn is_offered(verb: &Command, argument: &Arg) -> bool {
    let is_left_out = LEFT_OUT.iter().any(|name| argument.get_id() == name) || argument.is_hide_set();
    let is_form = || verb.get_arg_conflicts_with(argument).iter().any(|other| other.get_id() == "format");
    !is_left_out && !is_form()
}

/// The arguments of a tool as a JSON Schema.
fn input_schema(parameters: &[Parameter]) -> Value {
    let properties = parameters.iter().map(|one| (one.name.clone(), one.schema())).collect::<Map<_, _>>();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let required = parameters.iter().filter(|one| one.argument.is_required_set());
    let required = required.map(|one| one.name.as_str()).collect::<Vec<_>>();
    // Older dialects of JSON Schema forbid an empty list.
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

impl Kind {
    fn of(argument: &Arg) -> Self {
        if !argument.get_action().takes_values() {
            return Self::Flag;
        }
        let kinds = [
            (TypeId::of::<PathBuf>(), Self::Input),
            (TypeId::of::<OutputPath>(), Self::Output),
            (TypeId::of::<(String, String)>(), Self::CompilerOption),
            (TypeId::of::<u64>(), Self::Number),
            (TypeId::of::<u32>(), Self::Number),
            (TypeId::of::<usize>(), Self::Number),
            (TypeId::of::<i64>(), Self::Number),
            (TypeId::of::<f64>(), Self::Number),
            (TypeId::of::<NonZeroU32>(), Self::Number),
        ];
        let of = argument.get_value_parser().type_id();
        kinds.into_iter().find(|(known, _)| of == *known).map_or(Self::Text, |(_, kind)| kind)
    }

    /// What was expected, for an error about a value of another kind.
    pub(super) const fn expected(self) -> &'static str {
        match self {
            Self::Flag => "true or false",
            Self::Number => "a number",
            Self::Input => "a path, or an object with `text`",
            Self::Output => "a path",
            Self::Text | Self::CompilerOption => "a text",
        }
    }
}

impl Parameter {
    fn new(argument: &Arg) -> Self {
        let name = argument.get_long().unwrap_or_else(|| argument.get_id().as_str());
        Self { name: name.replace('-', "_"), kind: Kind::of(argument), argument: argument.clone() }
    }

    /// Whether it can be given several times.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.argument.get_action(), ArgAction::Append)
    }

    /// How many values belong together, such as 2 for an array and its block.
    pub(super) fn together(&self) -> usize {
        self.argument.get_num_args().map_or(1, |count| count.min_values().max(1))
    }

    fn schema(&self) -> Value {
        let names = self.argument.get_possible_values();
        let names = names.iter().map(|value| value.get_name()).collect::<Vec<_>>();
        let one = match self.kind {
            Kind::Flag => json!({ "type": "boolean" }),
            // A number of bytes may have a unit, such as 16MiB.
            Kind::Number => json!({ "type": ["number", "string"] }),
            Kind::Input => json!({ "anyOf": [
                { "type": "string", "description": "A path below a directory of the server" },
                {
                    "type": "object",
                    "properties": { "text": { "type": "string" }, "name": { "type": "string" } },
                    "required": ["text"],
                    "additionalProperties": false,
                    "description": "The text itself, with the name of its file if that matters",
                },
            ]}),
            _ if names.is_empty() => json!({ "type": "string" }),
            // For devices, help does not list the generations, because other names are accepted, too.
            _ if self.argument.is_hide_possible_values_set() => json!({ "type": "string", "examples": names }),
            _ => json!({ "type": "string", "enum": names }),
        };
        let group = match self.together() {
            1 => one,
            count => json!({ "type": "array", "items": one, "minItems": count, "maxItems": count }),
        };
        let mut schema = if self.is_list() { json!({ "type": "array", "items": group }) } else { group };
        schema["description"] = json!(self.argument.get_help().map(ToString::to_string).unwrap_or_default());
        schema
    }
}
