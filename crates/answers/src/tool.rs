//! The answer of a call of a tool, for an agent whose prompt has little room.

use crate::problem::Problem;
use crate::{Answer as _, json_line, open_schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// A tool returns at most this many bytes of JSON, or characters of a text, at once.
pub const SHORT: usize = 16 << 10;

/// What a call of a tool answers.
///
/// ```
/// use xla_shape_answers::problem::{Code, Problem};
/// use xla_shape_answers::tool::{More, ToolAnswer};
///
/// let busy = Problem { code: Code::Busy, message: "call again later".to_owned(), place: None };
/// let answer = serde_json::to_value(ToolAnswer::refused(&busy))?;
/// assert_eq!((&answer["ok"], &answer["error"]["code"]), (&false.into(), &"busy".into()));
/// assert!(answer.get("answers").is_none());
///
/// let more = More { handle: "a1".to_owned(), bytes: 70_000 };
/// let long = ToolAnswer { ok: true, more: Some(more), ..ToolAnswer::default() };
/// assert_eq!(serde_json::to_value(long)?, serde_json::json!({ "ok": true, "more": { "handle": "a1", "bytes": 70_000 } }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ToolAnswer {
    /// The verdict: false if something does not fit, exceeds a limit or has errors.
    pub ok: bool,
    /// What the verb writes with `--format json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<Value>>,
    /// The beginning of a long answer, at most 30 lines; or the whole of an answer that is a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How to read a long answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<More>,
    /// What the tool `more` read of a long answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// What the program says in addition to the answer, such as parts of a file that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The error, if the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Problem>")]
    pub error: Option<Value>,
}

/// How to read a long answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct More {
    /// The key by which the tool `more` finds the answer.
    pub handle: String,
    /// The length of the answer: the bytes of its JSON, or of its text.
    pub bytes: usize,
}

impl ToolAnswer {
    /// The answer of a call that failed.
    #[must_use]
    pub fn refused(problem: &Problem) -> Self {
        let error = serde_json::from_str(&problem.json()).ok();
        Self { error, ..Self::default() }
    }
}

/// The JSON Schema of the result of a tool whose answers have these forms. Each form is a document of its own, with its `$id`. Without forms, the
/// schema has no `answers`.
///
/// ```
/// use xla_shape_answers::{block::BlockAnswer, schema, tool::tool_schema};
///
/// let schema = tool_schema(&[schema::<BlockAnswer, BlockAnswer>()]);
/// assert_eq!(schema["properties"]["answers"]["items"]["anyOf"][0]["$id"], "xla-shape/block/1");
/// assert!(tool_schema(&[])["properties"].get("answers").is_none());
/// ```
#[must_use]
pub fn tool_schema(forms: &[Value]) -> Value {
    let mut schema = open_schema::<ToolAnswer>("");
    if let Some(fields) = schema["properties"].as_object_mut() {
        let about = fields.remove("answers").map(|answers| answers["description"].clone());
        // JSON Schema forbids an empty `anyOf`.
        if !forms.is_empty() {
            let answers = json!({ "type": "array", "items": { "anyOf": forms }, "description": about });
            fields.insert("answers".to_owned(), answers);
        }
    }
    schema["required"] = json!(["ok"]);
    if let Value::Object(fields) = &mut schema {
        // A client may think that schemas with the same name are the same, and may not know the dialect.
        fields.retain(|name, _| !matches!(name.as_str(), "$schema" | "$id"));
    }
    schema
}

/// As much of a value as a prompt has room for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Part {
    /// The entries of a list, or the characters of a text, from the requested number on. Any other value is here as a whole, but with a sentence in
    /// place of each long part.
    pub value: Value,
    /// How many entries or characters there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
    /// The number to go on from; null at the end.
    pub next: Option<usize>,
}

impl Part {
    /// The part of a value that begins with the entry or character of this number, from 0.
    ///
    /// ```
    /// use serde_json::json;
    /// use xla_shape_answers::tool::Part;
    ///
    /// let list = json!(vec!["x".repeat(6000); 3]);
    /// let first = Part::new(&list, 0);
    /// assert_eq!((first.value.as_array().unwrap().len(), first.of, first.next), (2, Some(3), Some(2)));
    /// assert_eq!(Part::new(&list, 2).next, None);
    ///
    /// let answer = json!({ "list": list, "bytes": 7 });
    /// assert_eq!(Part::new(&answer, 0).value, json!({ "list": "a list of 3: read it with its pointer", "bytes": 7 }));
    /// ```
    #[must_use]
    pub fn new(value: &Value, from: usize) -> Self {
        let (value, of) = match value {
            Value::Array(list) => {
                let mut room = SHORT;
                let entries = list.iter().skip(from).map(outline).enumerate().take_while(|(number, entry)| {
                    let length = json_line(entry).len();
                    // The first entry always fits, so that the next part begins after it.
                    let fits = *number == 0 || length <= room;
                    room = room.saturating_sub(length);
                    fits
                });
                (entries.map(|(_, entry)| entry).collect(), Some(list.len()))
            }
            Value::String(text) if text.len() > SHORT => {
                (text.chars().skip(from).take(SHORT).collect::<String>().into(), Some(text.chars().count()))
            }
            other => (outline(other), None),
        };
        let shown = value.as_array().map_or(SHORT, Vec::len);
        let next = from.saturating_add(shown);
        Self { value, of, next: of.filter(|&of| next < of).map(|_| next) }
    }
}

/// The value; if it is a long object, with a sentence in place of each long field.
fn outline(value: &Value) -> Value {
    match value {
        Value::Object(fields) if json_line(value).len() > SHORT => {
            let each = SHORT / fields.len().max(1);
            fields.iter().map(|(name, value)| (name.clone(), named(value, each))).collect()
        }
        other => named(other, SHORT),
    }
}

/// The value, if its JSON has at most this many bytes; otherwise a sentence.
fn named(value: &Value, most: usize) -> Value {
    let how = "read it with its pointer";
    match value {
        Value::Array(list) if json_line(value).len() > most => json!(format!("a list of {}: {how}", list.len())),
        Value::Object(fields) if json_line(value).len() > most => {
            json!(format!("an object of {} fields: {how}", fields.len()))
        }
        Value::String(text) if text.len() > most.max(200) => json!(format!("a text of {} bytes: {how}", text.len())),
        other => other.clone(),
    }
}
