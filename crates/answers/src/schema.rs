//! The JSON Schemas of answers, generated from their types.

use crate::Answer;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The JSON Schema of what an answer writes as JSON: one object, or the object in each line. Its text comes from the documentation of
/// the types.
///
/// ```
/// use xla_shape_answers::{block::BlockAnswer, schema};
///
/// let schema = schema::<BlockAnswer, BlockAnswer>();
/// assert_eq!(schema["$id"], "xla-shape/block/1");
/// assert_eq!(schema["properties"]["fits"]["type"], "boolean");
/// ```
#[must_use]
pub fn schema<A: Answer, Object: JsonSchema>() -> Value {
    schema_named::<Object>(A::SCHEMA)
}

/// The JSON Schema of an object that is not an [`Answer`]. `name` is the name of its form, which each object has in its first field, `schema`.
///
/// ```
/// #[derive(schemars::JsonSchema)]
/// struct Written {
///     /// The bytes of the file.
///     bytes: u64,
/// }
///
/// let schema = xla_shape_answers::schema_named::<Written>("example/1");
/// assert_eq!(schema["required"], serde_json::json!(["schema", "bytes"]));
/// ```
#[must_use]
pub fn schema_named<Object: JsonSchema>(name: &str) -> Value {
    let mut whole = described::<Object>(name, true);
    close(&mut whole);
    whole
}

/// The JSON Schema of an object whose form another program decides. Such an object does not name the schema, and can have any other fields.
///
/// ```
/// use xla_shape_answers::rustc::Message;
///
/// let schema = xla_shape_answers::open_schema::<Message>(Message::SCHEMA);
/// assert!(schema.get("additionalProperties").is_none() && schema.get("required").is_none());
/// ```
#[must_use]
pub fn open_schema<Object: JsonSchema>(name: &str) -> Value {
    described::<Object>(name, false)
}

fn described<Object: JsonSchema>(name: &str, is_named: bool) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Object>().to_value();
    let mut forms = schema.as_object_mut().and_then(|fields| fields.shift_remove("$defs")).unwrap_or_else(|| json!({}));
    // Forms can contain each other, so first distribute the fields within each form.
    let known = forms.clone();
    forms.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(|form| distribute(form, &known));
    inline(&mut schema, &known);
    distribute(&mut schema, &known);
    if is_named {
        add_name(&mut schema, name);
    }
    let mut whole = Map::new();
    whole.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("$id".into(), json!(name));
    if let Value::Object(fields) = schema {
        whole.extend(fields.into_iter().filter(|(name, _)| !matches!(name.as_str(), "$schema" | "title")));
    }
    let mut whole = Value::Object(whole);
    let used = used(&whole, &forms);
    if let Value::Object(all) = &mut forms {
        all.retain(|name, _| used.contains(name));
        if !all.is_empty() {
            whole["$defs"] = forms;
        }
    }
    tidy(&mut whole);
    whole
}

/// The alternatives (`oneOf` or `anyOf`) of a form.
fn alternatives(form: &mut Value) -> Option<&mut Vec<Value>> {
    let list = ["oneOf", "anyOf"].into_iter().find(|list| form.get(list).is_some())?;
    form.get_mut(list)?.as_array_mut()
}

/// The name of the form that a schema refers to.
fn referred(form: &Value) -> Option<&str> {
    form.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

/// Replaces references in the alternatives of an answer by the forms themselves, because each alternative gets the field `schema`.
fn inline(form: &mut Value, known: &Value) {
    for alternative in alternatives(form).into_iter().flatten() {
        if let Some(referred) = referred(alternative).and_then(|name| known.get(name)) {
            *alternative = referred.clone();
        }
        inline(alternative, known);
    }
}

/// If an enum is flattened into a struct, the schema has fields next to alternatives. This adds the fields to each alternative, so that each
/// describes a whole object, without other fields.
fn distribute(form: &mut Value, known: &Value) {
    match form {
        Value::Object(fields) => {
            fields.values_mut().for_each(|value| distribute(value, known));
            let has_fields = fields.get("properties").is_some_and(Value::is_object);
            if has_fields && alternatives(form).is_some() {
                inline(form, known);
                let Value::Object(fields) = &mut *form else { return };
                let (properties, required) = (fields.shift_remove("properties"), fields.shift_remove("required"));
                fields.shift_remove("type");
                for alternative in alternatives(form).into_iter().flatten() {
                    distribute(alternative, known);
                    prepend(alternative, properties.as_ref(), required.as_ref());
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| distribute(item, known)),
        _ => {}
    }
}

/// Adds fields before those of an object.
fn prepend(form: &mut Value, properties: Option<&Value>, required: Option<&Value>) {
    if alternatives(form).is_some() {
        for alternative in alternatives(form).into_iter().flatten() {
            prepend(alternative, properties, required);
        }
        return;
    }
    let mut all = properties.and_then(Value::as_object).cloned().unwrap_or_default();
    all.extend(form.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
    form["properties"] = Value::Object(all);
    let mut names = required.and_then(Value::as_array).cloned().unwrap_or_default();
    names.extend(form.get("required").and_then(Value::as_array).cloned().unwrap_or_default());
    form["required"] = Value::Array(names);
}

/// Adds the field `schema`, which each object of an answer has first.
fn add_name(form: &mut Value, name: &str) {
    let described = json!({ "schema": { "description": "The form of this object and its version.", "const": name } });
    prepend(form, Some(&described), Some(&json!(["schema"])));
}

/// The names of the forms to which a schema refers, directly or through other forms.
fn used(form: &Value, forms: &Value) -> BTreeSet<String> {
    fn visit(value: &Value, forms: &Value, found: &mut BTreeSet<String>) {
        if let Some(name) = referred(value)
            && found.insert(name.to_owned())
            && let Some(form) = forms.get(name)
        {
            visit(form, forms, found);
        }
        match value {
            Value::Object(fields) => fields.values().for_each(|value| visit(value, forms, found)),
            Value::Array(items) => items.iter().for_each(|item| visit(item, forms, found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    visit(form, forms, &mut found);
    found
}

/// Keeps the first paragraph of each description, in one line, and removes the formats, which name Rust's types.
fn tidy(form: &mut Value) {
    match form {
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut("description") {
                let paragraph = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
                // The description comes first, for people.
                fields.shift_insert(
                    fields.keys().position(|key| key == "$id").map_or(0, |id| id + 1),
                    "description".into(),
                    json!(paragraph),
                );
            }
            if fields.get("format").is_some_and(Value::is_string) {
                fields.shift_remove("format");
            }
            fields.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// Objects have only the fields of the schema.
fn close(form: &mut Value) {
    match form {
        Value::Object(fields) => {
            if fields.get("properties").is_some_and(Value::is_object) {
                fields.insert("additionalProperties".into(), json!(false));
                fields.entry("required").or_insert_with(|| json!([]));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
