//! Answers that are longer than a prompt should be: they are kept, and read in parts.

use super::call::Answered;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use xla_shape_answers::json_line;

/// The name of the tool that reads them.
pub(super) const NAME: &str = "more";

/// How many bytes of JSON a result has at most, unless it is a single text.
const SHORT: usize = 16 << 10;

/// How many answers are kept, and their bytes; the oldest are dropped.
const MOST_KEPT: usize = 16;
const MAX_KEPT: usize = 256 << 20;

/// The answers that can be read on, the oldest first.
#[derive(Default)]
pub(super) struct Kept {
    answers: VecDeque<(String, usize, Value)>,
    made: u64,
}

impl Kept {
    /// The result of a call: the whole answer, or its digest with a handle.
    pub(super) fn shown(&mut self, answered: Answered) -> Value {
        let Answered { ok, digest, answers, warnings } = answered;
        let json = answers.iter().map(json_line).collect::<String>();
        let mut content = json!({ "ok": ok });
        if !warnings.is_empty() {
            content["warnings"] = json!(warnings);
        }
        if json.len() <= SHORT {
            if answers.is_empty() && !digest.is_empty() {
                // An answer that is a text.
                content["digest"] = json!(digest.chars().take(SHORT).collect::<String>());
            }
            content["answers"] = Value::Array(answers);
            return result(&content, &json_line(&content));
        }
        self.made += 1;
        let handle = format!("a{}", self.made);
        self.answers.push_back((handle.clone(), json.len(), Value::Array(answers)));
        while self.answers.len() > 1
            && (self.answers.len() > MOST_KEPT
                || self.answers.iter().map(|(_, bytes, _)| bytes).sum::<usize>() > MAX_KEPT)
        {
            self.answers.pop_front();
        }
        content["digest"] = json!(digest);
        content["more"] = json!({ "handle": handle, "bytes": json.len() });
        let rest = format!("The JSON has {} bytes: the tool `{NAME}` with the handle {handle} reads it.", json.len());
        let said = warnings.iter().map(|warning| format!("{warning}\n")).collect::<String>();
        result(&content, &format!("{digest}{said}{rest}"))
    }

    /// The answer of the tool that reads on.
    pub(super) fn answer(&self, arguments: &Map<String, Value>) -> Value {
        let refused = |message: String| super::failed(&json!({ "code": "usage", "message": message }));
        let Some(handle) = arguments.get("handle").and_then(Value::as_str) else {
            return refused("expected the handle of an answer".to_owned());
        };
        let Some((.., kept)) = self.answers.iter().find(|(other, ..)| other == handle) else {
            return refused(format!("no answer has the handle {handle}: only the last {MOST_KEPT} answers are kept"));
        };
        let pointer = arguments.get("pointer").and_then(Value::as_str).unwrap_or_default();
        let Some(value) = kept.pointer(pointer) else {
            return refused(format!("nothing is at {pointer}; expected a JSON pointer, such as /0/largest"));
        };
        let from =
            arguments.get("from").and_then(Value::as_u64).and_then(|from| usize::try_from(from).ok()).unwrap_or(0);
        let content = part(value, from);
        result(&content, &json_line(&content))
    }
}

/// As much of a value as is short: of a list the entries from a number on.
fn part(value: &Value, from: usize) -> Value {
    let Value::Array(list) = value else { return json!({ "ok": true, "value": outline(value, SHORT), "next": null }) };
    let mut length = 0;
    let mut entries = Vec::new();
    for entry in list.iter().skip(from) {
        let entry = outline(entry, SHORT);
        length += json_line(&entry).len();
        if length > SHORT && !entries.is_empty() {
            break;
        }
        entries.push(entry);
    }
    let next = from.saturating_add(entries.len());
    json!({ "ok": true, "value": entries, "of": list.len(), "next": (next < list.len()).then_some(next) })
}

/// The value, if it is short; else with a text in place of each list and object in it that is long.
fn outline(value: &Value, most: usize) -> Value {
    if json_line(value).len() <= most {
        return value.clone();
    }
    match value {
        Value::Array(list) => json!(format!("a list of {}: read it with its pointer", list.len())),
        Value::Object(fields) => {
            let each = most / fields.len().max(1);
            fields.iter().map(|(name, value)| (name.clone(), inner(value, each))).collect::<Map<_, _>>().into()
        }
        // A text, which cannot be divided.
        other => other.clone(),
    }
}

fn inner(value: &Value, most: usize) -> Value {
    match value {
        Value::Object(fields) if json_line(value).len() > most => {
            json!(format!("an object of {} fields: read it with its pointer", fields.len()))
        }
        other => outline(other, most),
    }
}

fn result(content: &Value, text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "structuredContent": content, "isError": false })
}

/// The schema of the results of a tool that answers objects of these forms. Each form is a document of its own, with its `$id`.
pub(super) fn form(forms: &[Value]) -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean", "description": "The verdict: false if something does not fit, exceeds a limit or has errors" },
            "answers": { "type": "array", "items": { "anyOf": forms } },
            "digest": text("The beginning of a long answer: at most 30 lines"),
            "more": {
                "type": "object",
                "properties": {
                    "handle": text("What the tool `more` reads the answers by"),
                    "bytes": { "type": "integer", "description": "The length of the answers as JSON" },
                },
                "required": ["handle", "bytes"],
            },
            "warnings": { "type": "array", "items": { "type": "string" } },
            "error": {
                "type": "object",
                "properties": { "code": text("The kind of the error"), "message": text("What is wrong, and what would be right") },
                "required": ["code", "message"],
            },
        },
        "required": ["ok"],
    })
}

/// The tool as a client sees it.
pub(super) fn described() -> Value {
    json!({
        "name": NAME,
        "description": "Read on in a long answer: the value at a JSON pointer, of a list the entries from a number on",
        "inputSchema": {
            "type": "object",
            "properties": {
                "handle": { "type": "string", "description": "The handle in `more` of the answer" },
                "pointer": { "type": "string", "description": "A JSON pointer, such as /0/largest; the list of answers if it is left out" },
                "from": { "type": "integer", "minimum": 0, "description": "The number of the first entry of a list, from 0" },
            },
            "required": ["handle"],
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    })
}
