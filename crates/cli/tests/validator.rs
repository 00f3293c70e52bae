//! A validator for the JSON Schemas of the answers. It supports only the keywords that they use.

use serde_json::{Map, Value, json};

/// The mistakes of a value according to a schema, each with its place.
pub(crate) fn mistakes(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Validator { whole: schema, found: &mut found }.value(schema, value, "");
    found
}

/// The value of a keyword, which must be a list.
fn list(rule: &Value) -> &Vec<Value> {
    rule.as_array().unwrap_or_else(|| panic!("{rule} is not a list"))
}

/// The value of a keyword, which must be an object.
fn object(rule: &Value) -> &Map<String, Value> {
    rule.as_object().unwrap_or_else(|| panic!("{rule} is not an object"))
}

fn text(rule: &Value) -> &str {
    rule.as_str().unwrap_or_else(|| panic!("{rule} is not a text"))
}

fn number(rule: &Value) -> f64 {
    rule.as_f64().unwrap_or_else(|| panic!("{rule} is not a number"))
}

/// The part of a schema to which `#/…` refers.
fn definition<'s>(whole: &'s Value, reference: &Value) -> &'s Value {
    let pointer = text(reference).strip_prefix('#').unwrap_or_else(|| panic!("{reference} is in another file"));
    whole.pointer(pointer).unwrap_or_else(|| panic!("{reference} is not there"))
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => panic!("{name} is not a type"),
    }
}

struct Validator<'s, 'f> {
    whole: &'s Value,
    found: &'f mut Vec<String>,
}

impl Validator<'_, '_> {
    /// Whether the value follows the schema. Does not add to the mistakes found so far.
    fn follows(&self, schema: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        Validator { whole: self.whole, found: &mut found }.value(schema, value, "");
        found.is_empty()
    }

    fn value(&mut self, schema: &Value, value: &Value, place: &str) {
        let rules = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return self.found.push(format!("{place}: nothing may stand here")),
            _ => object(schema),
        };
        let properties = rules.get("properties").map(object);
        for (keyword, rule) in rules {
            let is_right = match keyword.as_str() {
                "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "examples" => true,
                "$ref" => {
                    self.value(definition(self.whole, rule), value, place);
                    true
                }
                "type" => match rule {
                    Value::Array(names) => names.iter().any(|name| is_of_type(value, text(name))),
                    name => is_of_type(value, text(name)),
                },
                "const" => value == rule,
                "enum" => list(rule).contains(value),
                "anyOf" => list(rule).iter().any(|form| self.follows(form, value)),
                "oneOf" => list(rule).iter().filter(|form| self.follows(form, value)).count() == 1,
                "minimum" => value.as_f64().is_none_or(|found| found >= number(rule)),
                "maximum" => value.as_f64().is_none_or(|found| found <= number(rule)),
                "minItems" => value.as_array().is_none_or(|list| list.len() as f64 >= number(rule)),
                "maxItems" => value.as_array().is_none_or(|list| list.len() as f64 <= number(rule)),
                "required" => {
                    value.as_object().is_none_or(|fields| list(rule).iter().all(|name| fields.contains_key(text(name))))
                }
                "items" => {
                    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.value(rule, item, &format!("{place}/{number}"));
                    }
                    true
                }
                "properties" | "additionalProperties" => {
                    for (name, field) in value.as_object().into_iter().flatten() {
                        let known = properties.and_then(|properties| properties.get(name));
                        let own = if keyword == "properties" { known } else { known.is_none().then_some(rule) };
                        if let Some(schema) = own {
                            self.value(schema, field, &format!("{place}/{name}"));
                        }
                    }
                    true
                }
                _ => panic!("the schema has the keyword {keyword}, which is not known here"),
            };
            if !is_right {
                self.found.push(format!("{place}: {value} is not as {keyword} says: {rule}"));
            }
        }
    }
}

/// Panics unless every part of a schema has only known keywords, each with a value of the right kind, and every reference leads to a part.
pub(crate) fn assert_well_formed(schema: &Value) {
    fn visit(whole: &Value, schema: &Value) {
        // Validating a value of each type makes every keyword read its rule, which panics if the rule is of the wrong kind.
        for value in [json!(null), json!(true), json!(1), json!(1.5), json!(""), json!([]), json!({})] {
            Validator { whole, found: &mut Vec::new() }.value(schema, &value, "");
        }
        let Value::Object(rules) = schema else { return };
        for (keyword, rule) in rules {
            match keyword.as_str() {
                "$schema" | "$id" | "title" | "description" => drop(text(rule)),
                "required" | "enum" => assert!(!list(rule).is_empty(), "{keyword} is empty"),
                "properties" | "$defs" => object(rule).values().for_each(|part| visit(whole, part)),
                "anyOf" | "oneOf" => {
                    assert!(!list(rule).is_empty(), "{keyword} is empty");
                    list(rule).iter().for_each(|part| visit(whole, part));
                }
                "items" | "additionalProperties" => visit(whole, rule),
                _ => {}
            }
        }
        for name in rules.get("required").into_iter().flat_map(list) {
            let known = rules.get("properties").is_some_and(|fields| object(fields).contains_key(text(name)));
            assert!(known, "{name} is required, and no property");
        }
    }
    visit(schema, schema);
}

#[test]
fn each_keyword_finds_its_mistake() {
    let schema = json!({
        "$defs": {"size": {"type": "integer", "minimum": 0, "maximum": 9}},
        "type": "object",
        "properties": {
            "kind": {"const": "a"},
            "word": {"enum": ["x", "y"]},
            "sizes": {"type": "array", "items": {"$ref": "#/$defs/size"}, "minItems": 1, "maxItems": 2},
            "either": {"anyOf": [{"type": "string"}, {"type": ["null", "boolean"]}]},
            "one": {"oneOf": [{"type": "number"}, {"type": "integer"}]},
            "never": false,
        },
        "required": ["kind"],
        "additionalProperties": {"type": "string"},
    });
    assert_well_formed(&schema);
    let good = json!({"kind": "a", "word": "x", "sizes": [0, 9], "either": null, "one": 1.5, "more": "text"});
    assert_eq!(mistakes(&schema, &good), [""; 0]);
    for (field, value, place) in [
        ("kind", json!("b"), "/kind: \"b\" is not as const says"),
        ("word", json!("z"), "/word: \"z\" is not as enum says"),
        ("sizes", json!(1), "/sizes: 1 is not as type says"),
        ("sizes", json!([]), "/sizes: [] is not as minItems says"),
        ("sizes", json!([1, 2, 3]), "/sizes: [1,2,3] is not as maxItems says"),
        ("sizes", json!([-1]), "/sizes/0: -1 is not as minimum says"),
        ("sizes", json!([10]), "/sizes/0: 10 is not as maximum says"),
        ("sizes", json!([1.5]), "/sizes/0: 1.5 is not as type says"),
        ("either", json!(1), "/either: 1 is not as anyOf says"),
        ("one", json!(1), "/one: 1 is not as oneOf says"),
        ("never", json!(1), "/never: nothing may stand here"),
        ("more", json!(1), "/more: 1 is not as type says"),
    ] {
        let mut wrong = good.clone();
        wrong[field] = value;
        let found = mistakes(&schema, &wrong);
        assert!(matches!(&found[..], [one] if one.starts_with(place)), "{place}: {found:?}");
    }
    assert!(mistakes(&schema, &json!({}))[0].starts_with(": {} is not as required says"));
}

#[test]
#[should_panic(expected = "the schema has the keyword pattern, which is not known here")]
fn a_keyword_that_is_not_known_is_no_rule_that_holds() {
    assert_well_formed(&json!({"pattern": "a"}));
}
