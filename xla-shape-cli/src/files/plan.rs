//! Plans: how each tensor of a checkpoint is divided among devices, and how it lies on them.

use crate::failure::Failure;
use crate::io;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use xla_shape::shard::Sharding;
use xla_shape::tpu::Generation;
use xla_shape::{ArrayShape, Layout};

/// How tensors are divided. As JSON, an object: names, or patterns with `*`, to rules.
#[derive(Debug)]
pub struct ShardPlan {
    name: String,
    rules: Vec<Rule>,
}

/// How the tensors are divided that a pattern names.
#[derive(Debug)]
pub(super) struct Rule {
    pattern: String,
    pub(super) sharding: Sharding,
    order: Order,
}

/// How shards lie in memory.
#[derive(Debug)]
enum Order {
    RowMajor,
    Layout(Layout),
    /// As this generation of TPUs would have it.
    Default(Generation),
}

impl ShardPlan {
    /// Reads a plan from a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not a plan.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        Self::parse(&format!("`{}`", path.display()), &io::read(path)?)
    }

    /// Reads a plan from text; errors call it by this name.
    ///
    /// # Errors
    /// If it is not a plan.
    pub fn parse(name: &str, text: &[u8]) -> Result<Self, Failure> {
        let rules = serde_json::from_slice::<Map<String, Value>>(text)
            .map_err(|error| Failure::said(format_args!("{name} is not a plan: {error}")))?;
        let rule = |(pattern, value): (String, Value)| {
            rule(&pattern, value).map_err(|error| Failure::said(format_args!("{name}: `{pattern}`: {error}")))
        };
        let rules = rules.into_iter().map(rule).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), rules })
    }

    /// The rule for each of these tensors: the one with its name, or else the first whose pattern fits.
    ///
    /// It is an error if a tensor has no rule.
    pub(super) fn rules<'a>(&self, tensors: impl Iterator<Item = &'a str>) -> Result<Vec<&Rule>, Failure> {
        Ok(self.find(tensors)?.into_iter().map(|number| &self.rules[number]).collect())
    }

    /// The same of all tensors of a checkpoint: it is an error if a rule has no tensor, too.
    pub(super) fn all_rules<'a>(&self, tensors: impl Iterator<Item = &'a str>) -> Result<Vec<&Rule>, Failure> {
        let found = self.find(tensors)?;
        let used = found.iter().collect::<BTreeSet<_>>();
        match self.rules.iter().enumerate().find(|(number, _)| !used.contains(number)) {
            // What is said of all others may be said where there are none.
            Some((_, rule)) if rule.pattern != "*" => Err(self.wrong(format!("there is no tensor `{}`", rule.pattern))),
            _ => Ok(found.into_iter().map(|number| &self.rules[number]).collect()),
        }
    }

    fn wrong(&self, message: String) -> Failure {
        Failure::said(format_args!("{}: {message}", self.name))
    }

    /// The numbers of the rules.
    fn find<'a>(&self, tensors: impl Iterator<Item = &'a str>) -> Result<Vec<usize>, Failure> {
        let rules = || self.rules.iter().map(|rule| rule.pattern.as_str()).enumerate();
        let exact = rules().map(|(number, pattern)| (pattern, number)).collect::<HashMap<_, _>>();
        let patterns = rules().filter(|(_, pattern)| pattern.contains('*')).collect::<Vec<_>>();
        let mut found = Vec::new();
        for name in tensors {
            let fitting = || patterns.iter().find(|(_, pattern)| fits(pattern, name)).map(|(number, _)| number);
            let number = exact.get(name).or_else(fitting).copied();
            let number = number.ok_or_else(|| {
                self.wrong(format!(
                    "no rule matches tensor `{name}`; a rule for \"*\" matches every tensor without another rule"
                ))
            })?;
            found.push(number);
        }
        Ok(found)
    }
}

impl Rule {
    /// The shard, which is row-major, as it lies in memory.
    pub(super) fn lay_out(&self, shard: &ArrayShape) -> Result<ArrayShape, String> {
        match &self.order {
            Order::RowMajor => Ok(shard.clone()),
            Order::Layout(layout) => shard.clone().with_layout(layout.clone()).map_err(|error| error.to_string()),
            Order::Default(generation) => shard.clone().with_tpu_layout(*generation).map_err(|error| error.to_string()),
        }
    }
}

fn rule(pattern: &str, value: Value) -> Result<Rule, String> {
    let mut fields = match value {
        Value::String(sharding) => {
            return Ok(Rule { pattern: pattern.into(), sharding: read(&sharding)?, order: Order::RowMajor });
        }
        Value::Object(fields) => fields,
        other => return Err(format!("expected a sharding, or an object with one, found {other}")),
    };
    let mut text = |name: &str| match fields.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("expected a text for `{name}`, found {other}")),
    };
    let (sharding, layout, generation) = (text("sharding")?, text("layout")?, text("generation")?);
    if let Some((name, _)) = fields.iter().next() {
        return Err(format!("expected `sharding`, `layout` or `generation`, found `{name}`"));
    }
    let sharding = read(&sharding.ok_or("expected `sharding`, found none")?)?;
    let order = match (layout, generation) {
        (None, None) => Order::RowMajor,
        (Some(layout), None) => Order::Layout(layout.parse().map_err(|error| format!("layout: {error}"))?),
        (None, Some(name)) => Order::Default(name.parse().map_err(|error| format!("generation: {error}"))?),
        (Some(_), Some(_)) => return Err("expected `layout` or `generation`, found both".into()),
    };
    Ok(Rule { pattern: pattern.into(), sharding, order })
}

fn read(text: &str) -> Result<Sharding, String> {
    text.parse().map_err(|error: xla_shape::ParseError| format!("sharding: {error}, at byte {}", error.span().start))
}

/// Whether a name fits a pattern, in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    // Each part at its first place leaves the most for those after.
    for part in parts {
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("w", "w", true),
            ("w", "w1", false),
            ("*", "", true),
            ("*.w", "layer.1.w", true),
            ("layer.*.w", "layer.1.w", true),
            ("layer.*.w", "layer.1.b", false),
            ("layer.*.w", "layer.w", false),
            ("a*b*c", "abbc", true),
            ("a*b*c", "acb", false),
            ("*aa*aa*", "aaa", false),
            ("**", "x", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
