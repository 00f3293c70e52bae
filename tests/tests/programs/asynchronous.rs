//! The text and the message of a program give the same answer. In the text, asynchronous operations have names of their own; in the message, they
//! have none.

use serde::Deserialize;
use serde_json::Value;
use xla_shape_answers::Answer;
use xla_shape_answers::hlo::Report;
use xla_shape_hlo::Module;
use xla_shape_program::Program;

#[derive(Deserialize)]
struct Row {
    program: String,
    module: String,
}

/// The whole answer without what depends on the numbers of steps, because an asynchronous operation has a step of its own only in the text. Offsets
/// in memory depend on the steps, too.
fn answer(module: Module) -> Value {
    let report = Report::new(&Program::from(module).memory(None), None, 100, None);
    let mut answer: Value = serde_json::from_str(&report.json()).unwrap();
    for peak in answer["at_peak"].as_array_mut().unwrap() {
        for one in peak["largest"].as_array_mut().unwrap() {
            one["live"].take();
            one["offset"].take();
        }
    }
    answer
}

/// The first place at which two answers differ.
fn difference(at: &str, first: &Value, second: &Value) -> Option<String> {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) if first.len() == second.len() => {
            first.iter().find_map(|(key, value)| difference(&format!("{at}.{key}"), value, second.get(key)?))
        }
        (Value::Array(first), Value::Array(second)) if first.len() == second.len() => {
            let pairs = first.iter().zip(second).enumerate();
            pairs.into_iter().find_map(|(index, (first, second))| difference(&format!("{at}[{index}]"), first, second))
        }
        _ => (first != second).then(|| format!("{at}: {first} and {second}")),
    }
}

#[test]
fn text_and_message_have_the_same_answer() {
    let rows: Vec<Row> = xla_shape_tests::corpus("other_memory.jsonl.zst");
    let (mut compared, mut wrong) = (0, Vec::new());
    for row in rows.into_iter().filter(|row| row.module.contains(" async-start(")) {
        let text = Module::parse(&row.module).unwrap();
        let message = Module::from_proto(&text.to_proto().unwrap()).unwrap();
        let found = difference("", &answer(text), &answer(message));
        wrong.extend(found.map(|found| format!("{}: {found}", row.program)));
        compared += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(compared, 7);
}
