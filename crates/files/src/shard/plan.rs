//! Plans: how each tensor of a checkpoint is divided among devices, and how it is laid out on them.

use crate::access::contents;
use crate::error::{Error, PlanError, ShardError};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use xla_shape::shard::{Rearrangement, Sharding};
use xla_shape::tpu::Generation;
use xla_shape::{ArrayShape, Layout};

/// How the tensors of a checkpoint are divided: rules for names of tensors, and for patterns in which `*` stands for any characters and `?` for one.
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

/// The most bytes of names that are compared with patterns. So many take some seconds.
const MOST_EFFORT: u64 = 1 << 34;

/// How a tensor is divided, and how its shards are laid out.
#[derive(Clone, Debug)]
pub struct ShardRule {
    rearrangement: Option<Rearrangement>,
    sharding: Sharding,
    order: Order,
}

/// How shards are laid out in memory.
#[derive(Clone, Debug)]
enum Order {
    RowMajor,
    Layout(Layout),
    /// The default layout of this generation of TPUs.
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
    /// `sharding` and, if shards are not to be row-major, either `layout` or `generation`, whose default layout they get. With `rearrange`, a
    /// [`Rearrangement`], tensors are reshaped and transposed first.
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
    /// A tensor without a rule is an error. If these are `all` tensors of a checkpoint, then a rule without a tensor is an
    /// error, too.
    pub(super) fn rules<'a>(
        &self,
        tensors: impl Iterator<Item = &'a str> + Clone,
        all: bool,
    ) -> Result<Vec<&ShardRule>, Error> {
        let found = self.find(tensors.clone()).map_err(|error| self.wrong(error))?;
        let used = found.iter().collect::<BTreeSet<_>>();
        match self.rules.iter().enumerate().find(|(number, _)| !used.contains(number)) {
            // The rule for all other tensors (`*`) is allowed even if no other tensors are left.
            Some((_, (pattern, _))) if all && pattern != "*" => {
                let pattern = pattern.clone();
                let taken = tensors.zip(&found).find(|(name, _)| fits(&pattern, name));
                Err(self.wrong(match taken {
                    Some((name, &by)) => {
                        PlanError::TakenRule { pattern, tensor: name.to_owned(), by: self.rules[by].0.clone() }
                    }
                    None => PlanError::UnusedRule { pattern },
                }))
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
        // If two rules have the same name, or two patterns fit, the first counts.
        let exact = rules().rev().map(|(number, pattern)| (pattern, number)).collect::<HashMap<_, _>>();
        // The patterns by the text before their first `*` or `?`. A name is compared with a pattern only if it begins with that text.
        let mut patterns = HashMap::<&str, Vec<(usize, &str)>>::new();
        for (number, pattern) in rules() {
            if let Some((beginning, _)) = pattern.split_once(['*', '?']) {
                patterns.entry(beginning).or_default().push((number, pattern));
            }
        }
        let lengths = patterns.keys().map(|beginning| beginning.len()).collect::<BTreeSet<_>>();
        let mut effort = 0_u64;
        let mut found = Vec::new();
        for name in tensors {
            let mut number = exact.get(name).copied();
            if number.is_none() {
                for patterns in lengths.iter().filter_map(|&length| patterns.get(name.get(..length)?)) {
                    // Only patterns before the best one so far can be better.
                    for &(other, pattern) in
                        patterns.iter().take_while(|(other, _)| number.is_none_or(|best| *other < best))
                    {
                        // A part with `?` may be compared at every place of the name, in the worst case over the whole length of the pattern.
                        let each = if pattern.contains('?') { pattern.len() as u64 } else { 1 };
                        effort = effort.saturating_add((name.len() as u64).saturating_mul(each));
                        if fits(pattern, name) {
                            number = Some(other);
                            break;
                        }
                    }
                    if effort > MOST_EFFORT {
                        return Err(PlanError::TooManyPatterns);
                    }
                }
            }
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
        Self { rearrangement: None, sharding, order: Order::RowMajor }
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

    /// The same rule, for tensors that are reshaped and transposed first; the sharding and the layout apply to the result.
    ///
    /// ```
    /// # use xla_shape_files::ShardRule;
    /// let rule = ShardRule::new("{devices=[1,2]<=[2]}".parse()?).with_rearrangement("a b -> b a".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_rearrangement(self, rearrangement: Rearrangement) -> Self {
        Self { rearrangement: Some(rearrangement), ..self }
    }

    pub(super) const fn rearrangement(&self) -> Option<&Rearrangement> {
        self.rearrangement.as_ref()
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

    /// The shape of the shard in the layout of the rule; `shard` is row-major.
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
    let rearrangement = text("rearrange")?;
    if let Some((field, _)) = fields.into_iter().next() {
        return Err(PlanError::UnknownField { pattern: pattern(), field });
    }
    let sharding = sharding.ok_or_else(|| PlanError::NoSharding { pattern: pattern() })?;
    let mut rule = ShardRule::new(sharding_of(&sharding)?);
    if let Some(text) = rearrangement {
        let rearrangement = text.parse().map_err(|error| PlanError::Rearrangement { pattern: pattern(), error })?;
        rule = rule.with_rearrangement(rearrangement);
    }
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

/// Whether a name fits a pattern, in which `*` stands for any characters and `?` for one.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| after(first, name)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    // If each part is taken at its first place, the most text is left for the parts after it.
    for part in parts {
        let found = match part.contains('?') {
            true => places(rest).find_map(|place| after(part, &rest[place..])),
            false => rest.find(part).map(|place| &rest[place + part.len()..]),
        };
        match found {
            Some(after) => rest = after,
            None => return false,
        }
    }
    // The last part must match the end of the text, so it begins that many characters before.
    let end = places(rest).rev().nth(last.chars().count());
    end.is_some_and(|place| after(last, &rest[place..]).is_some())
}

/// What follows a part of a pattern at the beginning of a text; `None` if the part is not there.
fn after<'t>(part: &str, text: &'t str) -> Option<&'t str> {
    let mut rest = text.chars();
    let fits = |wanted: char| rest.next().is_some_and(|letter| wanted == '?' || wanted == letter);
    part.chars().all(fits).then_some(rest.as_str())
}

/// Where the characters of a text begin, and its end.
fn places(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    text.char_indices().map(|(place, _)| place).chain([text.len()])
}

#[cfg(test)]
mod tests {
    use super::{ShardPlan, fits};
    use crate::error::{Error, PlanError};

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
            ("layer.?.w", "layer.1.w", true),
            ("layer.?.w", "layer.12.w", false),
            ("layer.?.w", "layer..w", false),
            ("*.?", "layer.é", true),
            ("*.?", "layer.", false),
            ("?*", "", false),
            ("*?", "é", true),
            ("a*b?d*e", "abbcdxe", true),
            ("a*b?d*e", "abcxde", false),
            ("*a", "", false),
            ("*", "é", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    fn plan(patterns: impl IntoIterator<Item = String>) -> ShardPlan {
        let rule = || super::ShardRule::new("{replicated}".parse().unwrap());
        patterns.into_iter().fold(ShardPlan::new(), |plan, pattern| plan.with_rule(&pattern, rule()))
    }

    /// Finding rules by the beginnings of patterns is the same as trying all in their order.
    #[test]
    fn the_first_pattern_that_fits_counts() {
        let patterns =
            ["layers.?.wo", "layers.*.wo", "*.w", "layers.1*", "layers.*", "head", "h*", "*d", "*"].map(str::to_owned);
        let plan = plan(patterns.clone());
        let names = ["layers.0.wo", "layers.1.w", "layers.1.x", "layers.2", "head", "hand", "and", "w", "", "layers"];
        let expected = names.map(|name| {
            let own = patterns.iter().position(|pattern| pattern == name);
            own.or_else(|| patterns.iter().position(|pattern| fits(pattern, name))).unwrap()
        });
        assert_eq!(plan.find(names.into_iter()).unwrap(), expected);
    }

    #[test]
    fn a_rule_without_tensors_says_who_has_them() {
        let error = |patterns: &[&str]| {
            let plan = plan(patterns.iter().map(|&pattern| pattern.to_owned()));
            match plan.rules(["layers.0.wo", "layers.1.wo"].into_iter(), true).unwrap_err() {
                Error::Plan { error, .. } => error.to_string(),
                other => panic!("{other}"),
            }
        };
        assert_eq!(
            error(&["layers.*.w*", "layers.*.wo"]),
            "`layers.*.wo` is for no tensor: `layers.*.w*` takes `layers.0.wo`, because it comes first"
        );
        assert_eq!(
            error(&["*0*", "layers.0.wo", "layers.*"]),
            "`*0*` is for no tensor: `layers.0.wo` takes `layers.0.wo`, because it is the tensor's own name"
        );
        assert_eq!(error(&["layers.*.wq", "*"]), "there is no tensor `layers.*.wq`");
    }

    /// With 40,000 names and 10,000 patterns, trying all would be 400 million comparisons.
    #[test]
    fn many_patterns_are_found_by_their_beginnings() {
        let plan = plan((0..10_000).map(|number| format!("layers.{number}.*")));
        let names = (0..40_000).map(|number| format!("layers.{}.{number}", number % 10_000)).collect::<Vec<_>>();
        let found = plan.find(names.iter().map(String::as_str)).unwrap();
        assert!(found.iter().enumerate().all(|(place, &rule)| rule == place % 10_000));
        // Where that does not help, there is a limit.
        let long = "x".repeat(1 << 24);
        let plan = super::tests::plan((0..2000).map(|number| format!("*{number}")));
        assert!(matches!(plan.find([long.as_str()].into_iter()), Err(PlanError::TooManyPatterns)));
    }
}
