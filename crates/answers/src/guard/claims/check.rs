//! Checks claims against a module: which claims hold, and for the others, what the module has instead.

use super::bound::Bound;
use super::claim::{Claim, Field, Role, Table};
use super::file::Claims;
use super::found::{Differs, Found, Instead, Seen, totals};
use crate::{Answer, answer_line};
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::gpu::Speed;
use xla_shape_hlo::{Module, Totals};
use xla_shape_program::{CompileError, CompilerAnswer, Program};

words! {
    /// Whether a claim holds.
    pub enum ClaimState {
        /// It holds.
        Holds = "holds",
        /// It does not hold.
        Fails = "fails",
        /// Unknown: the module does not say, or has nothing that the claim is about. The claim counts as failed.
        Unknown = "unknown",
    }
}

/// Which claims hold for each device that a program was compiled for.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::guard::claims::{Claims, Expectation, Expectations};
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0) }")?;
/// let claims = Claims::parse("[[instructions]]\nopcode = 'copy'\ncount = 0")?;
/// let found = Expectations { programs: vec![Expectation::new(&claims, &module, None)] };
/// assert!(found.programs[0].passed && found.json().contains("\"state\":\"holds\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Expectations {
    /// One for each device.
    pub programs: Vec<Expectation>,
}

/// Which claims hold for a compiled program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Expectation {
    /// The device, such as "v5e:2x2"; null if nobody named it.
    pub device: Option<String>,
    /// The name of the module; null if it has none.
    pub module: Option<String>,
    /// What the compiler says its version is; null if it is not known.
    pub compiler: Option<String>,
    /// Whether every claim holds.
    pub passed: bool,
    /// The claims, in the order of their file.
    pub claims: Vec<CheckedClaim>,
}

impl Expectation {
    /// The claims that do not hold, or for which that is not known.
    pub fn broken(&self) -> impl Iterator<Item = &CheckedClaim> {
        self.claims.iter().filter(|claim| claim.state != ClaimState::Holds)
    }
}

/// A claim, and whether it holds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedClaim {
    /// The line of its table in the file of claims, from 1.
    pub line: usize,
    /// What it is about.
    pub table: Table,
    /// The claim on one line.
    pub claim: String,
    /// Whether it holds.
    pub state: ClaimState,
    /// What is not as the claim says.
    pub differs: Vec<Differs>,
    /// What is there instead. For a number: all things that were counted, the largest first. For a property: each thing that does not have it.
    pub instead: Vec<Instead>,
    /// How many more such things the program has.
    pub more: usize,
    /// If the program has nothing that the claim names: what it has instead, such as the names of its arguments.
    pub names: Vec<String>,
}

/// For each claim, the answer lists at most this many things, and at most this many names.
const MOST: usize = 50;

impl Expectation {
    /// Checks the claims. `totals` are the bytes of memory that the program takes, if the compiler reports them; otherwise they are estimated.
    ///
    /// ```
    /// use xla_shape_answers::guard::claims::{Claims, ClaimState, Expectation};
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0), metadata={op_name=\"x\"} }")?;
    /// let claims = Claims::parse("[[arguments]]\nname = 'y'\naliased = true")?;
    /// let claim = &Expectation::new(&claims, &module, None).claims[0];
    /// assert_eq!((claim.state, claim.names.as_slice()), (ClaimState::Fails, &["x".to_owned()][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(claims: &Claims, module: &Module, totals: Option<Totals>) -> Self {
        Self::with(claims, &Seen::new(module, totals, None))
    }

    fn with(claims: &Claims, seen: &Seen<'_>) -> Self {
        let claims: Vec<_> = claims.iter().map(|(line, claim)| CheckedClaim::new(line, claim, seen)).collect();
        Self {
            device: None,
            module: seen.module.name().map(str::to_owned),
            compiler: None,
            passed: claims.iter().all(|claim| claim.state == ClaimState::Holds),
            claims,
        }
    }

    /// Checks claims about a program that is compiled already. `device` is the name of its device, if it is known.
    #[must_use]
    pub fn of_program(claims: &Claims, program: &Program, device: Option<&str>) -> Self {
        let speed = program.gpu().map(Speed::from);
        let found = Self::with(claims, &Seen::new(program.module(), totals(program), speed));
        Self { device: device.map(str::to_owned), ..found }
    }

    /// Checks claims about a program that a compiler has compiled for a device.
    ///
    /// # Errors
    /// If the compiled module cannot be read.
    pub fn of_compiled(claims: &Claims, said: &CompilerAnswer, device: &str) -> Result<Self, CompileError> {
        let module = said.module()?;
        let found = Self::with(claims, &Seen::new(&module, Some(said.account.device), said.speed()));
        let compiler = said.compiler.as_ref().map(|compiler| compiler.split_whitespace().collect::<Vec<_>>().join(" "));
        Ok(Self { device: Some(device.to_owned()), compiler, ..found })
    }
}

impl Expectations {
    /// The answer about several programs.
    #[must_use]
    pub const fn new(programs: Vec<Expectation>) -> Self {
        Self { programs }
    }

    /// Whether every claim holds for every program.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.programs.iter().all(|program| program.passed)
    }
}

impl Answer for Expectations {
    const SCHEMA: &'static str = "xla-shape/guard-expect/1";

    fn json(&self) -> String {
        self.programs.iter().map(|program| answer_line(Self::SCHEMA, program)).collect()
    }
}

/// Whether what a field says is true.
enum Verdict {
    Holds,
    Fails(Option<String>),
    Unknown,
}

impl CheckedClaim {
    fn new(line: usize, claim: &Claim, seen: &Seen<'_>) -> Self {
        let found = seen.find(claim);
        let mut state = ClaimState::Holds;
        let mut differs = Vec::new();
        let mut fields = claim.fields();
        if let Claim::Fused(fused) = claim
            && fused.count.is_none()
        {
            let one = Bound { least: 1, most: 1 };
            fields.push(Field { name: "count", text: "1".to_owned(), role: Role::Bounds(one) });
        }
        for field in fields {
            let number = found.number(field.name);
            let verdict = match field.role {
                Role::Selects => continue,
                Role::Bounds(bound) | Role::BoundsBytes(bound) => bounded(bound, number),
                Role::Says => said(&field, &found),
            };
            let (worse, text) = match verdict {
                Verdict::Holds => continue,
                Verdict::Fails(text) => (ClaimState::Fails, text),
                Verdict::Unknown if state == ClaimState::Fails => (ClaimState::Fails, None),
                Verdict::Unknown => (ClaimState::Unknown, None),
            };
            state = worse;
            let is_bytes = matches!(field.role, Role::BoundsBytes(_)) && text.is_some();
            let bytes = number.filter(|_| is_bytes).map(|[least, _]| least);
            differs.push(Differs { field: field.name, expected: field.text, found: text, bytes });
        }
        if let Some(whole) = found.differs.clone() {
            state = ClaimState::Fails;
            differs.push(whole);
        }
        // A claim about nothing does not count as true: a scope or a line that the program lacks is a mistake, or was removed.
        if found.is_about_nothing && state == ClaimState::Holds {
            state = ClaimState::Unknown;
        }
        let is_silent = state == ClaimState::Holds;
        let instead = if is_silent { Vec::new() } else { found.instead(&differs) };
        let more = instead.len().saturating_sub(MOST);
        let names = if is_silent || !found.things.is_empty() { Vec::new() } else { found.names };
        Self {
            line,
            table: claim.table(),
            claim: claim.to_string(),
            state,
            differs,
            instead: instead.into_iter().take(MOST).collect(),
            more,
            names: names.into_iter().take(MOST).collect(),
        }
    }
}

/// Whether a number from `least` to `most` is allowed; `None` if the number is not known.
fn bounded(bound: Bound, number: Option<[u64; 2]>) -> Verdict {
    let Some([least, most]) = number else { return Verdict::Unknown };
    if bound.allows(least) && bound.allows(most) {
        return Verdict::Holds;
    }
    // Some possible numbers are allowed and others are not, so the answer is not known.
    if least < most && least <= bound.most && bound.least <= most {
        return Verdict::Unknown;
    }
    Verdict::Fails(Some(if least == most { least.to_string() } else { format!("at least {least}") }))
}

/// Whether all things are as the field says. [`Verdict::Fails`] if there are none.
fn said(field: &Field, found: &Found<'_>) -> Verdict {
    let wrong = found.things.iter().find_map(|thing| thing.wrong.iter().find(|wrong| wrong.field == field.name));
    match wrong {
        Some(wrong) => Verdict::Fails(wrong.found.clone()),
        None if found.things.is_empty() => Verdict::Fails(None),
        None => Verdict::Holds,
    }
}
