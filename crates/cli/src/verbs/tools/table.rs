//! The tools: the verbs with a schema, with the arguments that their definitions have.

use crate::args::OutputPath;
use crate::verbs::SCHEMAS;
use crate::verbs::help::command;
use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value, json};
use std::any::TypeId;
use std::num::NonZeroU32;
use std::path::PathBuf;
use xla_shape_answers::tool::tool_schema;

/// The arguments that a tool does not have: the server chooses the form, and whoever starts it names the plug-in, whose code is run.
const LEFT_OUT: [&str; 5] = ["format", "color", "plugin", "help", "version"];

/// A verb as a tool.
pub(super) struct Tool {
    /// Its name, such as `hlo_diff`.
    pub(super) name: String,
    /// What it is for, in one line.
    pub(super) about: String,
    /// The verb, such as `hlo` and `diff`, and the options that the server chooses.
    pub(super) words: Vec<String>,
    pub(super) parameters: Vec<Parameter>,
    /// Whether it can write a file.
    pub(super) writes: bool,
    /// The schemas of the objects that it answers.
    schemas: Vec<Value>,
}

/// An argument of a tool.
pub(super) struct Parameter {
    pub(super) name: String,
    /// The option, such as `--for`; `None` for an argument without a name.
    pub(super) option: Option<String>,
    pub(super) kind: Kind,
    pub(super) is_list: bool,
    /// How many values belong together: an array and its block.
    pub(super) together: usize,
    pub(super) is_required: bool,
    help: String,
    /// Names that are read: all of them, or, if it is open, examples of them.
    names: Vec<String>,
    is_open: bool,
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

impl Kind {
    /// What a value of another kind should be.
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

/// The tools. Files are written only with `write`.
pub(super) fn tools(write: bool) -> Vec<Tool> {
    let mut all = command();
    all.build();
    let mut tools = Vec::new();
    for verb in all.get_subcommands() {
        add(&mut tools, verb, &[verb.get_name()], write);
        for inner in verb.get_subcommands() {
            add(&mut tools, inner, &[verb.get_name(), inner.get_name()], write);
        }
    }
    tools
}

/// Adds a verb, if it has a schema and may be called.
fn add(tools: &mut Vec<Tool>, verb: &Command, words: &[&str], write: bool) {
    let schema = words.join("-");
    let is_inner = |name: &str| verb.get_subcommands().any(|inner| name == format!("{schema}-{}", inner.get_name()));
    let other = format!("{schema}-");
    let schemas = SCHEMAS.iter().filter(|(name, _)| *name == schema || (name.starts_with(&other) && !is_inner(name)));
    let schemas = schemas.map(|(_, schema)| schema()).collect::<Vec<_>>();
    let is_question = SCHEMAS.iter().any(|(name, _)| *name == schema);
    let parameters = verb.get_arguments().filter(|argument| is_offered(verb, argument)).map(Parameter::new);
    let mut parameters = parameters.collect::<Vec<_>>();
    let mut outputs = parameters.iter().filter(|parameter| parameter.kind == Kind::Output);
    let (writes, must_write) = (write && outputs.clone().next().is_some(), outputs.any(|output| output.is_required));
    parameters.retain(|parameter| write || parameter.kind != Kind::Output);
    if !is_question || (must_write && !write) {
        return;
    }
    let has = |id: &str| verb.get_arguments().find(|argument| argument.get_id() == id);
    let forms = has("format").map(Arg::get_possible_values).unwrap_or_default();
    let mut words = words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    if forms.iter().any(|form| form.get_name() == "tool") {
        words.push("--format=tool".to_owned());
    }
    // What the input names is not read: whoever wrote the input may not read files of this machine.
    if has("no_files").is_some() {
        words.push("--no-files".to_owned());
    }
    tools.push(Tool { name: schema.replace('-', "_"), about: about(verb), words, parameters, writes, schemas });
}

/// What a tool answers, and when to use it: the paragraph of the verb's help that says so.
fn about(verb: &Command) -> String {
    let what = verb.get_about().map(ToString::to_string).unwrap_or_default();
    let help = verb.get_long_about().map(ToString::to_string).unwrap_or_default();
    let when = help.split("\n\n").find(|paragraph| paragraph.starts_with("Use it "));
    when.map_or_else(|| what.clone(), |when| format!("{what}. {}", when.trim_end_matches('.')))
}

/// Whether an argument can be given to a tool: those that decide the form of the answer cannot.
fn is_offered(verb: &Command, argument: &Arg) -> bool {
    let is_left_out = LEFT_OUT.iter().any(|name| argument.get_id() == name) || argument.is_hide_set();
    let is_form = || verb.get_arg_conflicts_with(argument).iter().any(|other| other.get_id() == "format");
    !is_left_out && !is_form()
}

impl Parameter {
    fn new(argument: &Arg) -> Self {
        let of = argument.get_value_parser().type_id();
        let is_number = [
            TypeId::of::<u64>(),
            TypeId::of::<u32>(),
            TypeId::of::<usize>(),
            TypeId::of::<i64>(),
            TypeId::of::<f64>(),
            TypeId::of::<NonZeroU32>(),
        ];
        let kind = if !argument.get_action().takes_values() {
            Kind::Flag
        } else if of == TypeId::of::<PathBuf>() {
            Kind::Input
        } else if of == TypeId::of::<OutputPath>() {
            Kind::Output
        } else if of == TypeId::of::<(String, String)>() {
            Kind::CompilerOption
        } else if is_number.iter().any(|number| of == *number) {
            Kind::Number
        } else {
            Kind::Text
        };
        let together = argument.get_num_args().filter(|count| count.min_values() > 1);
        let name = argument.get_long().unwrap_or_else(|| argument.get_id().as_str());
        let names = argument.get_possible_values();
        let names = names.iter().filter(|_| kind != Kind::Flag).map(|value| value.get_name().to_owned());
        Self {
            name: name.replace('-', "_"),
            option: argument.get_long().map(|long| format!("--{long}")),
            kind,
            is_list: matches!(argument.get_action(), ArgAction::Append),
            together: together.map_or(1, |count| count.min_values()),
            is_required: argument.is_required_set(),
            help: argument.get_help().map(ToString::to_string).unwrap_or_default(),
            names: names.collect(),
            // Of devices, help does not list the generations: other names are read, too.
            is_open: argument.is_hide_possible_values_set(),
        }
    }

    fn schema(&self) -> Value {
        let one = match self.kind {
            Kind::Flag => json!({ "type": "boolean" }),
            // Bytes have units, such as 16MiB.
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
            _ if self.names.is_empty() => json!({ "type": "string" }),
            _ if self.is_open => json!({ "type": "string", "examples": self.names }),
            _ => json!({ "type": "string", "enum": self.names }),
        };
        let group = match self.together {
            1 => one,
            count => json!({ "type": "array", "items": one, "minItems": count, "maxItems": count }),
        };
        let mut schema = if self.is_list { json!({ "type": "array", "items": group }) } else { group };
        schema["description"] = json!(self.help);
        schema
    }
}

impl Tool {
    /// The tool as a client sees it.
    pub(super) fn described(&self) -> Value {
        let properties = self.parameters.iter().map(|one| (one.name.clone(), one.schema())).collect::<Map<_, _>>();
        let required = self.parameters.iter().filter(|one| one.is_required).map(|one| one.name.as_str());
        let required = required.collect::<Vec<_>>();
        let mut input = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        // Older dialects of JSON Schema forbid an empty list.
        if !required.is_empty() {
            input["required"] = json!(required);
        }
        json!({
            "name": self.name,
            "description": self.about,
            "inputSchema": input,
            "outputSchema": tool_schema(&self.schemas),
            "annotations": { "readOnlyHint": !self.writes, "openWorldHint": false },
        })
    }
}
