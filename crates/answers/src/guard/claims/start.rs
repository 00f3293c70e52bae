//! The claims that are true of a program today, as a start for a file.

use super::bound::{Bound, Bytes, Count};
use super::claim::{Arguments, Arrays, Claim, Collectives, CustomCalls, Instructions, Loops, Operation, Program};
use super::file::Claims;
use super::found::{Seen, call_name, totals};
use super::select::Space;
use std::collections::BTreeMap;
use xla_shape_core::memory_space::DEFAULT;
use xla_shape_core::sorting::{set_of, sort_by_key};
use xla_shape_core::{ElementType, Layout};
use xla_shape_hlo::{Module, Opcode, Totals};
use xla_shape_program::{CompileError, CompilerAnswer};

/// At most this many arguments get a claim in the file, the largest ones.
const MOST_ARGUMENTS: usize = 30;

/// A bound that allows no more than today.
const fn at_most(most: u64) -> Bound {
    Bound { least: 0, most }
}

/// A bound that allows exactly as many as today.
const fn exactly(number: u64) -> Count {
    Count(Bound { least: number, most: number })
}

impl Claims {
    /// The claims that are true of a program today: its memory, its largest array, its products by element type, its kernels, collectives and loops,
    /// and the layouts of its largest arguments. `totals` is as for [`Expectation::new`](super::Expectation::new).
    ///
    /// ```
    /// use xla_shape_answers::guard::claims::{Claims, Expectation};
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0), metadata={op_name=\"x\"} }")?;
    /// let claims = Claims::of(&module, None);
    /// assert!(claims.to_string().contains("name = \"x\"\nlayout = \"{0}\"\n"));
    /// assert!(Expectation::new(&claims, &module, None).passed);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn of(module: &Module, totals: Option<Totals>) -> Self {
        let seen = Seen::new(module, totals, None);
        let mut claims = vec![figures(&seen)];
        claims.extend(largest(&seen));
        claims.extend(products(module));
        let calls = module.instructions().filter(|found| Operation::of(*found) == Opcode::CustomCall);
        claims.extend(counted(calls.map(call_name)).into_keys().filter_map(|name| {
            // Other calls may have this name as a part of theirs, so let the claim itself count the calls.
            let claim = Claim::CustomCalls(CustomCalls { name: Some(name), ..CustomCalls::default() });
            let count = seen.find(&claim).things.len() as u64;
            let Claim::CustomCalls(claim) = claim else { return None };
            Some(Claim::CustomCalls(CustomCalls { count: Some(exactly(count)), ..claim }))
        }));
        claims.extend(collectives(&seen));
        let trips = seen.costs.loops().iter().filter_map(|found| found.trips);
        // A loop with an unknown trip count could have any number of trips, so no claim about loops would be certain.
        let all_are_known = seen.costs.loops().iter().all(|found| found.trips.is_some());
        claims.extend(counted(trips).into_iter().filter(|_| all_are_known).map(|(trips, count)| {
            Claim::Loops(Loops { trips: Some(exactly(trips)), count: Some(exactly(count)), ..Loops::default() })
        }));
        claims.extend(arguments(&seen));
        claims.into_iter().collect()
    }

    /// The claims that are true of a program that is compiled already.
    #[must_use]
    pub fn of_program(program: &xla_shape_program::Program) -> Self {
        Self::of(program.module(), totals(program))
    }

    /// The claims that are true of a program that a compiler has compiled.
    ///
    /// # Errors
    /// If the compiled module cannot be read.
    pub fn of_compiled(said: &CompilerAnswer) -> Result<Self, CompileError> {
        Ok(Self::of(&said.module()?, Some(said.account.device)))
    }
}

/// The values, and how often each occurs.
fn counted<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_insert(0) += 1);
    counts
}

fn figures(seen: &Seen<'_>) -> Claim {
    let of = |bytes: fn(Totals) -> u64| seen.totals.map(|totals| Bytes(at_most(bytes(totals))));
    let count = |number: Option<usize>| number.map(|number| Count(at_most(number as u64)));
    let copies = seen.cost.as_ref().map(|cost| cost.copies.iter().filter(|copy| copy.changes_layout()).count());
    Claim::Program(Program {
        memory: of(Totals::total),
        temporaries: of(|totals| totals.temporaries),
        copies: count(copies),
        collectives: count(Some(seen.collectives.len())),
        ..Program::default()
    })
}

/// The claim that no array is larger than the program's largest one.
fn largest(seen: &Seen<'_>) -> Option<Claim> {
    let arrays = seen.memory.as_ref()?.buffers().iter().filter(|buffer| buffer.memory_space() == DEFAULT);
    let bytes = arrays.map(|buffer| buffer.footprint.bytes).max()?;
    Some(Claim::Arrays(Arrays {
        size: Some(Bytes(Bound { least: bytes.checked_add(1)?, most: u64::MAX })),
        memory: Some(Space(DEFAULT)),
        count: Some(exactly(0)),
        ..Arrays::default()
    }))
}

/// Claims about how many products have operands of each element type. If there are products but none in f32, there is a claim about that, too.
fn products(module: &Module) -> Vec<Claim> {
    let mut claims = Vec::new();
    for opcode in [Opcode::Dot, Opcode::Convolution] {
        let products = module.instructions().filter(|found| Operation::of(*found) == opcode);
        let types = products.flat_map(|product| {
            let operands = product.operands().filter_map(|operand| operand.shape()?.array());
            set_of(operands.map(|array| array.element_type().name()))
        });
        let mut types = counted(types);
        if !types.is_empty() {
            types.entry(ElementType::F32.name()).or_insert(0);
        }
        claims.extend(types.into_iter().map(|(name, count)| {
            Claim::Instructions(Instructions {
                opcode: Some(Operation(opcode)),
                operand: ElementType::from_name(name),
                count: Some(exactly(count)),
                ..Instructions::default()
            })
        }));
    }
    claims
}

fn collectives(seen: &Seen<'_>) -> Vec<Claim> {
    let mut all = BTreeMap::<_, (u64, Option<u64>)>::new();
    for found in &seen.collectives {
        let Some(opcode) = Opcode::ALL.iter().find(|opcode| **opcode == Operation::of(found.instruction)) else {
            continue;
        };
        let (count, bytes) = all.entry(*opcode).or_insert((0, Some(0)));
        *count += 1;
        let more = found.runs.and_then(|runs| found.bytes_out.checked_mul(runs));
        *bytes = bytes.zip(more).and_then(|(sum, more)| sum.checked_add(more));
    }
    let claim = |(opcode, (count, bytes)): (Opcode<'static>, (u64, Option<u64>))| {
        Claim::Collectives(Collectives {
            opcode: Some(Operation(opcode)),
            count: Some(Count(at_most(count))),
            bytes: bytes.map(|bytes| Bytes(at_most(bytes))),
            ..Collectives::default()
        })
    };
    all.into_iter().map(claim).collect()
}

/// Claims about the largest arguments: the order of their dimensions, and that they are donated.
fn arguments(seen: &Seen<'_>) -> Vec<Claim> {
    let parameters = seen.module.entry().map(|entry| entry.parameters_by_number()).unwrap_or_default();
    let names = counted(parameters.iter().map(|(_, parameter)| seen.argument_name(*parameter)));
    let mut arrays: Vec<_> =
        parameters.iter().filter_map(|(number, found)| Some((*number, *found, found.shape().array()?))).collect();
    sort_by_key(&mut arrays, |(number, _, array)| (std::cmp::Reverse(array.byte_size()), *number));
    arrays.truncate(MOST_ARGUMENTS);
    let claim = |(number, parameter, array): (usize, xla_shape_hlo::Instruction<'_>, &xla_shape_core::ArrayShape)| {
        let name = seen.argument_name(parameter);
        // Use the name instead of the number if it means only this argument.
        let path = name.parse().ok().filter(|path: &super::Path| {
            names.keys().filter(|other| path.contains(other)).count() == 1 && names.get(name) == Some(&1)
        });
        let order = array.layout().minor_to_major();
        Claim::Arguments(Arguments {
            number: if path.is_some() { None } else { u32::try_from(number).ok() },
            name: path,
            layout: Layout::new(order).ok(),
            aliased: seen.is_aliased(number, &[]).then_some(true),
            ..Arguments::default()
        })
    };
    arrays.into_iter().map(claim).collect()
}
