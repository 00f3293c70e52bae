//! The JSON Schemas of answers, from their types.

use crate::Answer;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

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
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Object>().to_value();
    tidy(&mut schema);
    add_name(&mut schema, A::SCHEMA);
    let mut whole = Map::new();
    whole.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("$id".into(), json!(A::SCHEMA));
    if let Value::Object(fields) = schema {
        whole.extend(fields.into_iter().filter(|(name, _)| !matches!(name.as_str(), "$schema" | "title")));
    }
    Value::Object(whole)
}

/// Of each description, the first paragraph in one line; no formats, which are Rust's; objects have no other fields than the schema's.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut("description") {
                let paragraph = text.split("\n\n").next().unwrap_or_default();
                *text = paragraph.replace('\n', " ");
            }
            if fields.get("format").is_some_and(Value::is_string) {
                fields.shift_remove("format");
            }
            let alternatives = ["oneOf", "anyOf", "allOf"].iter().any(|list| fields.contains_key(*list));
            if fields.get("properties").is_some_and(Value::is_object) && !alternatives {
                fields.insert("additionalProperties".into(), json!(false));
            }
            fields.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// Adds the field `schema`, which each object of an answer has first.
fn add_name(schema: &mut Value, name: &str) {
    for list in ["oneOf", "anyOf"] {
        if let Some(Value::Array(forms)) = schema.get_mut(list) {
            forms.iter_mut().for_each(|form| add_name(form, name));
            return;
        }
    }
    let Value::Object(fields) = schema else { return };
    let described = json!({ "description": "The form of this object and its version.", "const": name });
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.shift_insert(0, "schema".into(), described);
    }
    if let Some(Value::Array(required)) = fields.get_mut("required") {
        required.insert(0, json!("schema"));
    }
}
