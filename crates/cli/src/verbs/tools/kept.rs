//! Stores answers that are too long for a prompt, and returns parts of them.

use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use xla_shape_answers::json_line;
use xla_shape_answers::tool::{More, Part, SHORT, ToolAnswer};

/// The name of the tool that reads stored answers.
pub(super) const NAME: &str = "more";

/// The most answers that are kept, and their most bytes together; beyond that, the oldest are dropped.
const MOST_KEPT: usize = 16;
const MAX_KEPT: usize = 256 << 20;

/// The answers that the caller can still read, the oldest first. They are kept as JSON, which takes less memory than values.
#[derive(Default)]
pub(super) struct Kept {
    answers: VecDeque<(More, String)>,
    made: u64,
}

impl Kept {
    /// The answer, if it is short; otherwise the beginning of `digest` with a handle. `digest` is the digest of the answer, or the whole text if the
    /// answer is only a text.
    pub(super) fn shorten(&mut self, answer: ToolAnswer, digest: String) -> ToolAnswer {
        let answers = answer.answers.as_deref().unwrap_or_default();
        let (whole, bytes) = match answers {
            [] => (json!(digest), digest.len()),
            answers => (json!(answers), answers.iter().map(|answer| json_line(answer).len()).sum()),
        };
        if bytes <= SHORT {
            let text = (answers.is_empty() && !digest.is_empty()).then_some(digest);
            return ToolAnswer { digest: text, ..answer };
        }
        self.made += 1;
        let more = More { handle: format!("a{}", self.made), bytes };
        self.answers.push_back((more.clone(), json_line(&whole)));
        let size = |answers: &VecDeque<(More, String)>| answers.iter().map(|(more, _)| more.bytes).sum::<usize>();
        while self.answers.len() > 1 && (self.answers.len() > MOST_KEPT || size(&self.answers) > MAX_KEPT) {
            self.answers.pop_front();
        }
        let digest = digest.lines().take(30).flat_map(|line| [line, "\n"]).collect::<String>();
        // The digest names the option that shows the whole answer in a shell; an agent calls `more` for that.
        let digest = digest.replace("--format json has all", "`more` has all").chars().take(SHORT).collect();
        ToolAnswer { answers: None, digest: Some(digest), more: Some(more), ..answer }
    }

    /// The part of an answer that these arguments ask for.
    pub(super) fn read(&self, arguments: &Map<String, Value>) -> Result<Part, String> {
        if let Some(unknown) = arguments.keys().find(|name| !["handle", "pointer", "from"].contains(&name.as_str())) {
            return Err(format!("unknown argument `{unknown}`; expected handle, pointer, from"));
        }
        let handle = arguments.get("handle").and_then(Value::as_str).ok_or("`handle`: expected that of an answer")?;
        let kept = self.answers.iter().find(|(more, _)| more.handle == handle);
        let (_, whole) = kept.ok_or_else(|| {
            format!("no answer has the handle {handle}: only the last {MOST_KEPT} long answers are kept")
        })?;
        let given = |name: &str| arguments.get(name).filter(|value| !value.is_null());
        let pointer = given("pointer").map_or(Some(""), Value::as_str).ok_or("`pointer`: expected a text")?;
        let from = given("from").map_or(Some(0), Value::as_u64).ok_or("`from`: expected a whole number from 0 on")?;
        let whole = serde_json::from_str::<Value>(whole).unwrap_or_default();
        let value = whole.pointer(pointer);
        let value =
            value.ok_or_else(|| format!("nothing is at {pointer}; expected a JSON pointer, such as /0/largest"))?;
        Ok(Part::new(value, usize::try_from(from).unwrap_or(usize::MAX)))
    }
}

/// The tool as a client sees it.
pub(super) fn described() -> Value {
    let about = "Read on in a long answer: the value at a JSON pointer, of a list the entries from a number on. Use it when an answer has a handle";
    let text = |about: &str| json!({ "type": "string", "description": about });
    let input = json!({
        "type": "object",
        "properties": {
            "handle": text("The handle in `more` of the answer"),
            "pointer": text("A JSON pointer, such as /0/largest; everything if it is left out"),
            "from": { "type": "integer", "minimum": 0, "description": "The number of the first entry of a list, from 0" },
        },
        "required": ["handle"],
        "additionalProperties": false,
    });
    super::table::described(NAME, about, &input, &[], false)
}
