//! Finds the things in a program that a claim is about.

use super::claim::{Arguments, Claim, Operation, Results};
use super::fused::fusions;
use super::select::{Line, Path, Scope, Space};
use crate::cost::{Cause, CopyCost, ProgramCost};
use crate::hlo::{Measure, Quantity, measure};
use crate::source::source_text;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_core::gpu::Speed;
use xla_shape_core::memory_space::DEFAULT;
use xla_shape_core::sorting::{set_of, sort_by_key};
use xla_shape_core::{ArrayShape, ElementType, Layout, Shape};
use xla_shape_hlo::cost::Costs;
use xla_shape_hlo::{Alias, Collective, Instruction, Memory, Module, Opcode, Source, Totals};

/// A field of a claim that does not hold.
///
/// ```
/// use xla_shape_answers::guard::claims::{Claims, Expectation};
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("HloModule m\nENTRY e { p = f32[8]{0} parameter(0) ROOT n = f32[8]{0} negate(p) }")?;
/// let claims = Claims::parse("[[instructions]]\nopcode = 'negate'\ncount = 2")?;
/// let claim = &Expectation::new(&claims, &module, None).claims[0];
/// assert_eq!((claim.differs[0].expected.as_str(), claim.differs[0].found.as_deref()), ("2", Some("1")));
/// assert_eq!((claim.instead[0].name.as_str(), claim.instead[0].shape.as_str()), ("n", "f32[8]{0}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Differs {
    /// The name of the field.
    pub field: &'static str,
    /// What the claim says.
    pub expected: String,
    /// What the program has; null if it is not known.
    pub found: Option<String>,
    /// What the program has, if it is a number of bytes.
    #[serde(skip)]
    pub bytes: Option<u64>,
}

/// Something in the program.
///
/// ```
/// use xla_shape_answers::guard::claims::{Claims, Expectation, Instead};
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("HloModule m\nENTRY e { a = f32[8]{0} parameter(0) ROOT b = f32[8]{0} negate(a) }")?;
/// let claims = Claims::parse("[[instructions]]\nopcode = 'negate'\ncount = 0")?;
/// let found = Expectation::new(&claims, &module, None);
/// let instead: &Instead = &found.claims[0].instead[0];
/// assert_eq!((instead.name.as_str(), instead.shape.as_str()), ("b", "f32[8]{0}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Instead {
    /// The name of the instruction.
    pub name: String,
    /// Its opcode.
    pub opcode: String,
    /// The shape of its value, or of the part that the claim is about.
    pub shape: String,
    /// The bytes that were counted; null if they were not, or are not known.
    pub bytes: Option<u64>,
    /// How often the body of a loop runs each time; null if it is not known, and for everything else.
    pub trips: Option<u64>,
    /// Why a copy is there, as a sentence; null for everything else.
    pub because: Option<Cause>,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// The answer about the memory of the whole program has at most this many arrays.
const MOST_ARRAYS: usize = 10;

/// A program, and the facts about it to which claims refer.
pub(super) struct Seen<'m> {
    pub(super) module: &'m Module,
    /// The arrays with buffers; `None` if they are not known.
    pub(super) memory: Option<Memory<'m>>,
    pub(super) totals: Option<Totals>,
    pub(super) costs: Costs<'m>,
    /// `None` if the compiler's figures cannot be read.
    pub(super) cost: Option<ProgramCost>,
    pub(super) collectives: Vec<Collective<'m>>,
    aliases: Vec<Alias>,
    /// The source location of each instruction, by its number.
    sources: Vec<Source<'m>>,
}

/// A thing in the program that a claim is about.
pub(super) struct Thing<'m> {
    at: Instruction<'m>,
    shape: String,
    /// The bytes that the claim counts, for all runs together; `None` if they are not known.
    bytes: Option<u64>,
    trips: Option<u64>,
    because: Option<Cause>,
    /// Whether it is uncertain that the claim is about this thing.
    is_doubtful: bool,
    /// The fields of the claim that do not hold for this thing.
    pub(super) wrong: Vec<Differs>,
    /// The fields of a claim about the program that count this thing, such as `memory`.
    figures: &'static [&'static str],
    op_name: Option<String>,
    source: Option<String>,
}

/// All things that a claim is about.
#[derive(Default)]
pub(super) struct Found<'m> {
    pub(super) things: Vec<Thing<'m>>,
    /// For fields whose number does not come from counting the things: the least and the largest possible number; `None` if it is not known.
    numbers: BTreeMap<&'static str, Option<[u64; 2]>>,
    /// A field that is about all things together, and does not hold for them.
    pub(super) differs: Option<Differs>,
    /// If the claim names something that the program lacks: the names that the program has.
    pub(super) names: Vec<String>,
    /// Whether the program has nothing in the scope, or from the line.
    pub(super) is_about_nothing: bool,
}

impl<'m> Found<'m> {
    /// The least and the largest possible value of the number that a field bounds.
    pub(super) fn number(&self, field: &str) -> Option<[u64; 2]> {
        if let Some(number) = self.numbers.get(field) {
            return *number;
        }
        let sure = self.things.iter().filter(|thing| !thing.is_doubtful);
        if field == "count" {
            return Some([sure.count() as u64, self.things.len() as u64]);
        }
        let least = sure.fold(0_u64, |sum, thing| sum.saturating_add(thing.bytes.unwrap_or(0)));
        let is_known = self.things.iter().all(|thing| !thing.is_doubtful && thing.bytes.is_some());
        Some([least, if is_known { least } else { u64::MAX }])
    }

    /// The things that the answer shows, the largest first. If no thing is wrong by itself, and none is counted in a number of the program, these
    /// are all things. Otherwise, these are only the wrong things, and the things that a wrong number counts.
    pub(super) fn instead(&self, differs: &[Differs]) -> Vec<Instead> {
        let is_judged = |thing: &Thing<'m>| !thing.wrong.is_empty() || !thing.figures.is_empty();
        let some_are_judged = self.things.iter().any(is_judged);
        let is_part = |thing: &Thing<'m>| differs.iter().any(|differs| thing.figures.contains(&differs.field));
        let is_shown = |thing: &&Thing<'m>| !some_are_judged || !thing.wrong.is_empty() || is_part(thing);
        let mut things: Vec<_> = self.things.iter().filter(is_shown).collect();
        sort_by_key(&mut things, |thing| std::cmp::Reverse(thing.bytes));
        let instead = |thing: &Thing<'m>| Instead {
            name: thing.at.name().to_owned(),
            opcode: thing.at.opcode().to_string(),
            shape: thing.shape.clone(),
            bytes: thing.bytes,
            trips: thing.trips,
            because: thing.because.clone(),
            op_name: thing.op_name.clone(),
            source: thing.source.clone(),
        };
        things.into_iter().map(instead).collect()
    }

    /// What is found if the number of things and their bytes are not known.
    fn unknown() -> Self {
        Self { numbers: [("count", None), ("bytes", None)].into(), ..Self::default() }
    }

    fn of(things: Vec<Thing<'m>>, names: Vec<String>) -> Self {
        Self { things, names, ..Self::default() }
    }
}

/// The bytes of the device's memory that a program takes.
pub(super) fn totals(program: &xla_shape_program::Program) -> Option<Totals> {
    program.memory(None).timeline().map(|timeline| timeline.account().device)
}

/// Each different text once, in order.
fn distinct(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    set_of(texts).into_iter().collect()
}

impl<'m> Seen<'m> {
    pub(super) fn new(module: &'m Module, totals: Option<Totals>, speed: Option<Speed>) -> Self {
        let memory = module.memory();
        let estimated = || memory.timeline_on(None).map(|timeline| timeline.account().device);
        let totals = totals.or_else(estimated);
        let memory = Some(memory).filter(|memory| !memory.buffers().is_empty());
        let locations = module.sources();
        let aliases = module.attribute("input_output_alias").and_then(|value| value.aliases().ok());
        Self {
            module,
            memory,
            totals,
            costs: module.costs_with_errors().0,
            cost: ProgramCost::at(module, speed).ok(),
            collectives: module.collectives(),
            aliases: aliases.unwrap_or_default(),
            sources: module.instructions().map(|instruction| locations.get(instruction)).collect(),
        }
    }

    /// The source location of an instruction.
    pub(super) fn source(&self, instruction: Instruction<'m>) -> &Source<'m> {
        // There is one for every instruction of the module.
        &self.sources[instruction.number() as usize]
    }

    fn thing(&self, at: Instruction<'m>, shape: String, bytes: Option<u64>) -> Thing<'m> {
        let source = self.source(at);
        Thing {
            at,
            shape,
            bytes,
            trips: None,
            because: None,
            is_doubtful: false,
            wrong: Vec::new(),
            figures: &[],
            op_name: source.op_name.as_deref().map(str::to_owned),
            source: source_text(source),
        }
    }

    fn whole(&self, at: Instruction<'m>) -> Thing<'m> {
        self.thing(at, at.shape().to_string(), None)
    }

    fn is_at(&self, instruction: Instruction<'m>, scope: Option<&Scope>, line: Option<&Line>) -> bool {
        let source = self.source(instruction);
        scope.is_none_or(|scope| source.op_name.as_deref().is_some_and(|name| scope.contains(name)))
            && line.is_none_or(|line| line.contains(source))
    }

    /// Finds the things that the claim is about.
    pub(super) fn find(&self, claim: &Claim) -> Found<'m> {
        let (scope, line) = match claim {
            Claim::Arrays(claim) => (&claim.scope, &claim.line),
            Claim::Instructions(claim) => (&claim.scope, &claim.line),
            Claim::CustomCalls(claim) => (&claim.scope, &claim.line),
            Claim::Copies(claim) => (&claim.scope, &claim.line),
            Claim::Collectives(claim) => (&claim.scope, &claim.line),
            Claim::Loops(claim) => (&claim.scope, &claim.line),
            Claim::Fused(claim) => (&claim.scope, &None),
            Claim::Program(_) | Claim::Arguments(_) | Claim::Results(_) => (&None, &None),
        };
        let (scope, line) = (scope.as_ref(), line.as_ref());
        let is_at = |instruction: Instruction<'m>| self.is_at(instruction, scope, line);
        let mut found = match claim {
            Claim::Program(_) => self.figures(),
            Claim::Arguments(claim) => self.arguments(claim),
            Claim::Results(claim) => self.results(claim),
            Claim::Arrays(claim) => match &self.memory {
                None => Found::unknown(),
                Some(memory) => {
                    let arrays = memory.buffers().iter().filter(|buffer| {
                        claim.element_type.is_none_or(|element_type| buffer.array.element_type() == element_type)
                            && claim.size.is_none_or(|size| size.0.allows(buffer.footprint.bytes))
                            && claim.memory.is_none_or(|space| space.0 == buffer.memory_space())
                            && is_at(buffer.instruction)
                    });
                    let thing = arrays.map(|buffer| {
                        self.thing(buffer.instruction, buffer.array.to_string(), Some(buffer.footprint.bytes))
                    });
                    Found::of(thing.collect(), Vec::new())
                }
            },
            Claim::Instructions(claim) => {
                let has = |shape: Option<&Shape>, wanted| {
                    shape.is_some_and(|shape| shape.arrays().any(|array| array.element_type() == wanted))
                };
                let all = self.module.instructions().filter(|&found| {
                    claim.opcode.is_none_or(|opcode| Operation::of(found) == opcode.0 || found.opcode() == opcode.0)
                        && claim.result.is_none_or(|wanted| has(Some(found.shape()), wanted))
                        && claim.operand.is_none_or(|wanted| found.operands().any(|one| has(one.shape(), wanted)))
                        && is_at(found)
                });
                let names = distinct(self.module.instructions().map(|found| Operation::of(found).to_string()));
                Found::of(all.map(|found| self.whole(found)).collect(), names)
            }
            Claim::CustomCalls(claim) => {
                let all = self.module.instructions().filter(|found| Operation::of(*found) == Opcode::CustomCall);
                let all: Vec<_> = all.collect();
                let is_named = |found: Instruction<'m>| {
                    claim.name.as_deref().is_none_or(|name| self.is_named(found, name)) && is_at(found)
                };
                let chosen = all.iter().filter(|found| is_named(**found)).map(|found| self.whole(*found)).collect();
                Found::of(chosen, distinct(all.iter().map(|found| call_name(*found))))
            }
            Claim::Copies(_) if self.cost.is_none() => Found::unknown(),
            Claim::Copies(claim) => {
                let copies = self.copies().map(|(_, copy)| copy).filter(|copy| {
                    // A copy that the compiler inserted has the location of its operand.
                    let operand = copy.at.operand(0).and_then(|operand| operand.instruction());
                    let made =
                        if self.source(copy.at).op_name.is_some() { copy.at } else { operand.unwrap_or(copy.at) };
                    claim.size.is_none_or(|size| copy.bytes.is_some_and(|bytes| size.0.allows(bytes))) && is_at(made)
                });
                Found::of(copies.collect(), Vec::new())
            }
            Claim::Collectives(claim) => {
                let all = self.collectives.iter().filter(|found| {
                    claim.opcode.is_none_or(|opcode| Operation::of(found.instruction) == opcode.0)
                        && is_at(found.instruction)
                });
                let thing = |found: &Collective<'m>| {
                    let bytes = found.runs.and_then(|runs| found.bytes_out.checked_mul(runs));
                    self.thing(found.instruction, found.instruction.shape().to_string(), bytes)
                };
                let names = distinct(self.collectives.iter().map(|found| Operation::of(found.instruction).to_string()));
                Found::of(all.map(thing).collect(), names)
            }
            Claim::Loops(claim) => {
                let loops = self.costs.loops().iter().filter(|found| is_at(found.instruction));
                let chosen = |trips: Option<u64>| match (claim.trips, trips) {
                    (Some(wanted), Some(trips)) => wanted.0.allows(trips),
                    _ => true,
                };
                let things = loops.filter(|found| chosen(found.trips)).map(|found| Thing {
                    trips: found.trips,
                    is_doubtful: claim.trips.is_some() && found.trips.is_none(),
                    ..self.whole(found.instruction)
                });
                let trips = self.costs.loops().iter().filter_map(|found| Some(found.trips?.to_string()));
                Found::of(things.collect(), distinct(trips))
            }
            Claim::Fused(_) => {
                let inside: Vec<_> = self.module.instructions().filter(|found| is_at(*found)).collect();
                let (fusions, outside) = fusions(self.module, &inside);
                let count = fusions.len() as u64;
                let differs = Differs {
                    field: "outside",
                    expected: "0".to_owned(),
                    found: Some(outside.len().to_string()),
                    bytes: None,
                };
                let is_whole = outside.is_empty();
                let shown = if is_whole { fusions } else { outside };
                Found {
                    numbers: [("count", Some([count; 2]))].into(),
                    differs: (!is_whole).then_some(differs),
                    ..Found::of(shown.into_iter().map(|found| self.whole(found)).collect(), Vec::new())
                }
            }
        };
        found.is_about_nothing = (scope.is_some() || line.is_some()) && !self.module.instructions().any(is_at);
        if found.is_about_nothing {
            found.names = self.places(scope);
        }
        found
    }

    /// The scopes of the program, or its lines.
    fn places(&self, scope: Option<&Scope>) -> Vec<String> {
        let is_absent = |scope: &Scope| {
            !self.sources.iter().any(|source| source.op_name.as_deref().is_some_and(|name| scope.contains(name)))
        };
        if scope.is_some_and(is_absent) {
            let scope = |source: &Source<'_>| Some(source.op_name.as_deref()?.rsplit_once('/')?.0.to_owned());
            return distinct(self.sources.iter().filter_map(scope));
        }
        distinct(self.sources.iter().filter_map(source_text))
    }

    /// Whether a custom call has this name: its target, its own name without a number, or a part of its operation's name.
    fn is_named(&self, call: Instruction<'m>, name: &str) -> bool {
        let in_scope = || {
            let op_name = self.source(call).op_name.as_deref()?;
            Some(name.parse::<Scope>().ok()?.contains(op_name))
        };
        target(call).is_some_and(|target| target == name) || base(call.name()) == name || in_scope().unwrap_or(false)
    }

    fn figures(&self) -> Found<'m> {
        let totals = |of: fn(Totals) -> u64| self.totals.map(of);
        let figure =
            |of: Measure| measure(of, self.module, totals(Totals::total), self.cost.as_ref()).map(Quantity::number);
        let numbers = [
            ("memory", figure(Measure::Memory)),
            ("arguments", totals(|totals| totals.arguments)),
            ("outputs", totals(|totals| totals.outputs)),
            ("aliased", totals(|totals| totals.aliases)),
            ("temporaries", totals(|totals| totals.temporaries)),
            ("cycles", figure(Measure::Cycles)),
            ("copies", figure(Measure::Copies)),
            ("collectives", figure(Measure::Collectives)),
            ("fusions", figure(Measure::Fusions)),
        ];
        let mut found = Found {
            numbers: numbers.into_iter().map(|(name, one)| (name, one.map(|one| [one; 2]))).collect(),
            ..Found::default()
        };
        // List the largest of the arrays that the numbers include.
        if let Some(memory) = &self.memory {
            let largest = memory.in_space(DEFAULT).largest(MOST_ARRAYS);
            found.things.extend(largest.iter().map(|buffer| {
                let is_argument = buffer.instruction.opcode() == Opcode::Parameter;
                Thing {
                    figures: if is_argument { &["memory", "arguments"] } else { &["memory", "outputs", "temporaries"] },
                    ..self.thing(buffer.instruction, buffer.array.to_string(), Some(buffer.footprint.bytes))
                }
            }));
        }
        let copies = self.copies().filter(|(copy, _)| copy.changes_layout());
        found.things.extend(copies.map(|(_, copy)| Thing { figures: &["copies"], ..copy }));
        let collectives = self.collectives.iter().map(|found| self.whole(found.instruction));
        found.things.extend(collectives.map(|thing| Thing { figures: &["collectives"], ..thing }));
        found
    }

    /// The copies that do more than prefetch an array.
    fn copies(&self) -> impl Iterator<Item = (&CopyCost, Thing<'m>)> {
        let copies = self.cost.iter().flat_map(|cost| &cost.copies);
        let copies = copies.filter(|copy| copy.is_copy());
        copies.filter_map(|copy| {
            let at = self.module.instruction_at(copy.number)?;
            let bytes = copy.to.parse::<ArrayShape>().ok().and_then(|array| array.byte_size());
            let mut thing = self.thing(at, format!("{} -> {}", copy.from, copy.to), bytes);
            thing.because = Some(copy.cause.clone());
            thing.op_name.clone_from(&copy.op_name);
            thing.source.clone_from(&copy.source);
            Some((copy, thing))
        })
    }

    /// The name of a parameter in the user's program; if it has none, the name of the instruction.
    pub(super) fn argument_name(&self, parameter: Instruction<'m>) -> &str {
        self.source(parameter).op_name.as_deref().unwrap_or_else(|| parameter.name())
    }

    /// Whether a result has the memory of a part of a parameter.
    pub(super) fn is_aliased(&self, number: usize, index: &[usize]) -> bool {
        self.aliases.iter().any(|alias| alias.parameter == number && alias.parameter_index == index)
    }

    fn arguments(&self, claim: &Arguments) -> Found<'m> {
        let Some(entry) = self.module.entry() else { return Found::default() };
        let parameters = entry.parameters_by_number();
        let chosen = parameters.iter().filter(|(number, parameter)| {
            claim.number.is_none_or(|wanted| wanted as usize == *number)
                && claim.name.as_ref().is_none_or(|path: &Path| path.contains(self.argument_name(*parameter)))
        });
        let things = chosen.flat_map(|&(number, parameter)| {
            leaves(parameter.shape()).into_iter().map(move |(index, array)| {
                let aliased = claim.aliased.map(|wanted| (wanted, self.is_aliased(number, &index)));
                self.judged(parameter, array, claim.element_type, claim.layout.as_ref(), claim.memory, aliased)
            })
        });
        let names = parameters.iter().map(|(_, parameter)| self.argument_name(*parameter).to_owned());
        Found::of(things.collect(), names.collect())
    }

    fn results(&self, claim: &Results) -> Found<'m> {
        let Some(entry) = self.module.entry() else { return Found::default() };
        let root = entry.root();
        let leaves = leaves(root.shape());
        let count = leaves.len();
        let chosen = leaves.into_iter().enumerate();
        let chosen = chosen.filter(|(number, _)| claim.number.is_none_or(|wanted| wanted as usize == *number));
        let things = chosen.map(|(_, (index, array))| {
            let is_aliased = self.aliases.iter().any(|alias| alias.result_index == index);
            let aliased = claim.aliased.map(|wanted| (wanted, is_aliased));
            self.judged(root, array, claim.element_type, claim.layout.as_ref(), claim.memory, aliased)
        });
        Found::of(things.collect(), (0..count).map(|number| number.to_string()).collect())
    }

    /// An array, with its differences from what a claim says.
    fn judged(
        &self,
        at: Instruction<'m>,
        array: &ArrayShape,
        element_type: Option<ElementType>,
        layout: Option<&Layout>,
        memory: Option<Space>,
        aliased: Option<(bool, bool)>,
    ) -> Thing<'m> {
        let mut thing = self.thing(at, array.to_string(), array.byte_size());
        let mut differ = |field, expected: String, found: String| {
            thing.wrong.push(Differs { field, expected, found: Some(found), bytes: None });
        };
        if let Some(wanted) = element_type.filter(|wanted| *wanted != array.element_type()) {
            differ("element_type", wanted.to_string(), array.element_type().to_string());
        }
        if let Some(wanted) = layout.filter(|wanted| !has_layout(array.layout(), wanted)) {
            differ("layout", wanted.to_string(), array.layout().to_string());
        }
        let space = Space(array.layout().memory_space());
        if let Some(wanted) = memory.filter(|wanted| *wanted != space) {
            differ("memory", wanted.to_string(), space.to_string());
        }
        if let Some((wanted, found)) = aliased.filter(|(wanted, found)| wanted != found) {
            differ("aliased", wanted.to_string(), found.to_string());
        }
        thing
    }
}

/// The arrays of a shape, with the index of each.
fn leaves(shape: &Shape) -> Vec<(Vec<usize>, &ArrayShape)> {
    let leaves = shape.get_leaf_shapes();
    leaves.filter_map(|(index, leaf)| Some((index.to_vec(), leaf.array()?))).collect()
}

/// Whether a layout is as a claim says. If the claim has only an order, only the order is compared.
fn has_layout(found: &Layout, wanted: &Layout) -> bool {
    let order = wanted.minor_to_major();
    let is_order =
        wanted.to_string() == format!("{{{}}}", order.iter().map(usize::to_string).collect::<Vec<_>>().join(","));
    if is_order { found.minor_to_major() == order } else { found == wanted }
}

/// A name without the number that XLA adds: `k.1` is `k`.
fn base(name: &str) -> &str {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    base.strip_suffix('.').filter(|base| !base.is_empty()).unwrap_or(name)
}

/// The target of a custom call.
fn target(call: Instruction<'_>) -> Option<String> {
    Some(call.attribute("custom_call_target")?.string().ok()?.into_owned())
}

/// The name that a claim would use for a custom call: its kernel's name, or its target.
pub(super) fn call_name(call: Instruction<'_>) -> String {
    let own = base(call.name());
    match target(call) {
        Some(target) if own.starts_with("custom-call") || target != "tpu_custom_call" => target,
        _ => own.to_owned(),
    }
}
