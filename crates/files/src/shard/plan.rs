//! Plans: how each tensor of a checkpoint is divided among devices, and how it is laid out on them.

use crate::access::contents;
use crate::error::{Error, PlanError, ShardError};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use xla_shape::shard::Sharding;
use xla_shape::tpu::Generation;
use xla_shape::{ArrayShape, Layout};

/// How the tensors of a checkpoint are divided: rules for names of tensors, and for patterns in which `*` stands for any characters.
/// The rule with a tensor's own name counts, or else the first one whose pattern fits.
///
/// ```
/// use xla_shape::tpu::Generation;
/// use xla_shape_files::{ShardPlan, ShardRule};
///
/// let rule = ShardRule::new("{devices=[8,1]<=[8]}".parse()?).with_tpu_layout(Generation::V5e);
/// let plan = ShardPlan::new().with_rule("layer.*.w", rule).with_rule("*", ShardRule::new("{replicated}".parse()?));
/// # Ok::<(), xla_shape::ParseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ShardPlan {
    /// The file that it was read from.
    path: Option<PathBuf>,
    rules: Vec<(String, ShardRule)>,
}

/// How a tensor is divided, and how its shards are laid out.
#[derive(Clone, Debug)]
pub struct ShardRule {
    sharding: Sharding,
    order: Order,
}

/// How shards are laid out in memory.
#[derive(Clone, Debug)]
enum Order {
    RowMajor,
    Layout(Layout),
    /// As this generation of TPUs would have it.
    Default(Generation),
}

impl ShardPlan {
    /// A plan without rules.
    ///
    /// ```
    /// assert!(xla_shape_files::ShardPlan::new().path().is_none());
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self { path: None, rules: Vec::new() }
    }

    /// The same plan, with one more rule for the tensors that a pattern names.
    ///
    /// ```
    /// use xla_shape_files::{ShardPlan, ShardRule};
    ///
    /// let plan = ShardPlan::new().with_rule("*", ShardRule::new("{devices=[2,1]<=[2]}".parse()?));
    /// # Ok::<(), xla_shape::ParseError>(())
    /// ```
    #[must_use]
    pub fn with_rule(mut self, pattern: impl Into<String>, rule: ShardRule) -> Self {
        self.rules.push((pattern.into(), rule));
        self
    }

    /// Reads a plan from a JSON file; [`parse`](Self::parse) says what is in it. Errors name the file.
    ///
    /// ```
    /// use xla_shape_files::ShardPlan;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("plan.json");
    /// std::fs::write(&path, r#"{ "*": "{replicated}" }"#)?;
    /// assert_eq!(ShardPlan::read(&path)?.path(), Some(&*path));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read, or is not a plan.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let plan = Self::parse(&contents(path)?);
        let plan = plan.map_err(|error| Error::Plan { plan: Some(path.to_owned()), error })?;
        Ok(Self { path: Some(path.to_owned()), ..plan })
    }

    /// Reads a plan from JSON: an object with a name or pattern for each rule. A rule is the text of a sharding, or an object with
    /// `sharding` and, if shards are not to be row-major, either `layout` or `generation`, whose default layout they get.
    ///
    /// ```
    /// use xla_shape_files::{PlanError, ShardPlan};
    ///
    /// let text = r#"{
    ///     "embed": { "sharding": "{devices=[2,4]<=[8]}", "layout": "{1,0:T(8,128)(2,1)}" },
    ///     "layer.*": { "sharding": "{devices=[8,1]<=[8]}", "generation": "v5e" },
    ///     "*": "{replicated}"
    /// }"#;
    /// ShardPlan::parse(text.as_bytes())?;
    /// assert!(matches!(ShardPlan::parse(b"[]"), Err(PlanError::NotAPlan(_))));
    /// # Ok::<(), PlanError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not a plan.
    pub fn parse(json: &[u8]) -> Result<Self, PlanError> {
        let rules = serde_json::from_slice::<Map<String, Value>>(json);
        let rules = rules.map_err(|error| PlanError::NotAPlan(error.into()))?;
        let rules = rules.into_iter().map(|(pattern, value)| {
            let rule = rule(&pattern, value)?;
            Ok((pattern, rule))
        });
        Ok(Self { path: None, rules: rules.collect::<Result<_, _>>()? })
    }

    /// The file that it was read from.
    ///
    /// ```
    /// # use xla_shape_files::ShardPlan;
    /// assert_eq!(ShardPlan::parse(b"{}")?.path(), None);
    /// # Ok::<(), xla_shape_files::PlanError>(())
    /// ```
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The rule for each of these tensors: the one with its name, or else the first whose pattern fits.
    ///
    /// It is an error if a tensor has no rule and, if these are `all` tensors of a checkpoint, if a rule has no tensor.
    pub(super) fn rules<'a>(
        &self,
        tensors: impl Iterator<Item = &'a str>,
        all: bool,
    ) -> Result<Vec<&ShardRule>, Error> {
        let found = self.find(tensors).map_err(|error| self.wrong(error))?;
        let used = found.iter().collect::<BTreeSet<_>>();
        match self.rules.iter().enumerate().find(|(number, _)| !used.contains(number)) {
            // A rule for all other tensors is good even if there are none.
            Some((_, (pattern, _))) if all && pattern != "*" => {
                Err(self.wrong(PlanError::UnusedRule { pattern: pattern.clone() }))
            }
            _ => Ok(found.into_iter().map(|number| &self.rules[number].1).collect()),
        }
    }

    fn wrong(&self, error: PlanError) -> Error {
        Error::Plan { plan: self.path.clone(), error }
    }

    /// The numbers of the rules.
    fn find<'a>(&self, tensors: impl Iterator<Item = &'a str>) -> Result<Vec<usize>, PlanError> {
        let rules = || self.rules.iter().map(|(pattern, _)| pattern.as_str()).enumerate();
        // Of two rules for one name, the first counts, as of patterns.
        let exact = rules().rev().map(|(number, pattern)| (pattern, number)).collect::<HashMap<_, _>>();
        let patterns = rules().filter(|(_, pattern)| pattern.contains('*')).collect::<Vec<_>>();
        let mut found = Vec::new();
        for name in tensors {
            let fitting = || patterns.iter().find(|(_, pattern)| fits(pattern, name)).map(|(number, _)| number);
            let number = exact.get(name).or_else(fitting).copied();
            found.push(number.ok_or_else(|| PlanError::NoRule { tensor: name.to_owned() })?);
        }
        Ok(found)
    }
}

impl ShardRule {
    /// Divides tensors by this sharding, and leaves each shard row-major.
    ///
    /// ```
    /// use xla_shape_files::ShardRule;
    ///
    /// let rule = ShardRule::new("{devices=[2,4]<=[8]}".parse()?);
    /// assert_eq!(rule.sharding().to_string(), "{devices=[2,4]<=[8]}");
    /// # Ok::<(), xla_shape::ParseError>(())
    /// ```
    #[must_use]
    pub const fn new(sharding: Sharding) -> Self {
        Self { sharding, order: Order::RowMajor }
    }

    /// The same, with shards in this layout.
    ///
    /// ```
    /// # use xla_shape_files::ShardRule;
    /// let rule = ShardRule::new("{devices=[2,4]<=[8]}".parse()?).with_layout("{1,0:T(8,128)}".parse()?);
    /// # Ok::<(), xla_shape::ParseError>(())
    /// ```
    #[must_use]
    pub fn with_layout(self, layout: Layout) -> Self {
        Self { order: Order::Layout(layout), ..self }
    }

    /// The same, with shards in the layout that a generation of TPUs gives them by default.
    ///
    /// ```
    /// # use xla_shape_files::ShardRule;
    /// let rule = ShardRule::new("{devices=[2,4]<=[8]}".parse()?).with_tpu_layout(xla_shape::tpu::Generation::V5e);
    /// # Ok::<(), xla_shape::ParseError>(())
    /// ```
    #[must_use]
    pub fn with_tpu_layout(self, generation: Generation) -> Self {
        Self { order: Order::Default(generation), ..self }
    }

    /// How tensors are divided.
    ///
    /// ```
    /// # use xla_shape_files::ShardRule;
    /// let rule = ShardRule::new("{replicated}".parse()?);
    /// assert_eq!(rule.sharding().to_string(), "{replicated}");
    /// # Ok::<(), xla_shape::ParseError>(())
    /// ```
    #[must_use]
    pub const fn sharding(&self) -> &Sharding {
        &self.sharding
    }

    /// The shard, which is row-major, in the layout that it is to have.
    pub(super) fn lay_out(&self, shard: &ArrayShape) -> Result<ArrayShape, ShardError> {
        Ok(match &self.order {
            Order::RowMajor => shard.clone(),
            Order::Layout(layout) => shard.clone().with_layout(layout.clone())?,
            Order::Default(generation) => shard.clone().with_tpu_layout(*generation)?,
        })
    }
}

/// Reads the rule for a pattern.
fn rule(pattern: &str, value: Value) -> Result<ShardRule, PlanError> {
    let pattern = || pattern.to_owned();
    let sharding_of = |text: &str| text.parse().map_err(|error| PlanError::Sharding { pattern: pattern(), error });
    let mut fields = match value {
        Value::String(text) => return Ok(ShardRule::new(sharding_of(&text)?)),
        Value::Object(fields) => fields,
        other => return Err(PlanError::NotARule { pattern: pattern(), found: other.to_string() }),
    };
    let mut text = |field: &'static str| match fields.remove(field) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(PlanError::NotText { pattern: pattern(), field, found: other.to_string() }),
    };
    let (sharding, layout, generation) = (text("sharding")?, text("layout")?, text("generation")?);
    if let Some((field, _)) = fields.into_iter().next() {
        return Err(PlanError::UnknownField { pattern: pattern(), field });
    }
    let sharding = sharding.ok_or_else(|| PlanError::NoSharding { pattern: pattern() })?;
    let rule = ShardRule::new(sharding_of(&sharding)?);
    match (layout, generation) {
        (None, None) => Ok(rule),
        (Some(text), None) => {
            let layout = text.parse().map_err(|error| PlanError::Layout { pattern: pattern(), error })?;
            Ok(rule.with_layout(layout))
        }
        (None, Some(name)) => {
            let generation = name.parse().map_err(|error| PlanError::Generation { pattern: pattern(), error })?;
            Ok(rule.with_tpu_layout(generation))
        }
        (Some(_), Some(_)) => Err(PlanError::LayoutAndGeneration { pattern: pattern() }),
    }
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
