//! A program's memory according to the compiler's own buffer assignment.

use super::buffers::{needs_memory_for_one_element, taken_bytes};
use super::live::{Lifetime, Timeline};
use super::totals::ByteDeltas;
use crate::Instruction;
use crate::dump::{Allocation, AssignedValue, BufferAssignment, DumpError, LiveRanges};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use core::ops::RangeInclusive;
use xla_shape_core::memory_space;
use xla_shape_core::sorting::{sort, sort_by_key};

/// A cache of the shape indices of an instruction's arrays, such as `{1,0}`, by instruction number.
#[derive(Default)]
struct Indices(BTreeMap<u32, Vec<String>>);

impl Indices {
    /// The instruction and the shape index by which the compiler's files name an array. For an asynchronous operation in short form, the
    /// files name the result of the wrapped operation.
    fn named<'m>(&mut self, instruction: Instruction<'m>, leaf: usize) -> (&'m str, String) {
        let index = self.get(instruction, leaf);
        let wrapped = instruction.wrapped_name().filter(|_| instruction.is_wrapped_result(leaf));
        match (wrapped, index.strip_prefix("{1")) {
            (Some(name), Some(rest)) => (name, alloc::format!("{{{}", rest.trim_start_matches(','))),
            _ => (instruction.name(), index),
        }
    }

    fn get(&mut self, instruction: Instruction<'_>, leaf: usize) -> String {
        let shape = instruction.shape();
        if shape.tuple_shapes().is_none() {
            return "{}".to_string();
        }
        let indices = self.0.entry(instruction.number()).or_insert_with(|| {
            let arrays = shape.get_leaf_shapes().filter(|(_, leaf)| leaf.array().is_some());
            arrays.map(|(index, _)| written_index(&index)).collect()
        });
        indices.get(leaf).cloned().unwrap_or_default()
    }
}

/// An index as XLA writes it, such as `{1,0}`.
pub(crate) fn written_index(index: &[usize]) -> String {
    let mut text = String::from("{");
    for (place, element) in index.iter().enumerate() {
        // Writing to a `String` does not fail.
        let _ = write!(text, "{}{element}", if place == 0 { "" } else { "," });
    }
    text.push('}');
    text
}

/// Whether the compiler's files call the result by a name that the module does not have. For an asynchronous instruction in short form, the files use
/// the name of the wrapped operation, and only a module from a message has that name.
fn is_named_elsewhere(instruction: Instruction<'_>) -> bool {
    instruction.long_form().is_some() && instruction.wrapped_name().is_none()
}

/// Merges lifetimes that share a buffer of an argument, a result or a constant. Each join is a pair of numbers: of the first
/// lifetime, and of another one, which is merged into it.
fn join(lifetimes: &mut Vec<Lifetime<'_>>, joins: Vec<(usize, usize)>) {
    let mut joined = alloc::collections::BTreeSet::new();
    for (first, other) in joins {
        let Some((values, bytes)) = lifetimes.get(other).map(|other| (other.values.clone(), other.bytes)) else {
            continue;
        };
        if let Some(lifetime) = lifetimes.get_mut(first) {
            lifetime.values.extend(values);
            sort_by_key(&mut lifetime.values, |value| value.start);
            lifetime.bytes = lifetime.bytes.max(bytes);
            joined.insert(other);
        }
    }
    let mut number = 0_usize;
    lifetimes.retain(|_| {
        number += 1;
        !joined.contains(&number.saturating_sub(1))
    });
    for lifetime in lifetimes {
        if lifetime.role.is_always() {
            lifetime.stays();
        }
    }
}

/// A warning that applies to several values: how many, and the text for the first.
#[derive(Default)]
struct Tally {
    count: usize,
    first: Option<String>,
}

impl Tally {
    fn add(&mut self, what: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(what);
    }

    /// The text for all of them; `None` if there are none.
    fn tell(self) -> Option<String> {
        let others = match self.count.saturating_sub(1) {
            0 => String::new(),
            others => format!(", and {others} more like it"),
        };
        self.first.map(|first| format!("{first}{others}"))
    }
}

/// Bounds on the peak of live bytes in the HBM heap as the compiler counts it. The input has, for each offset, tuples of the first and last step
/// of a live range, the last step of its first value, and the bytes. There are two bounds, because the compiler counts a value that takes over
/// the offset of a live value in some cases only.
fn live_bytes(places: BTreeMap<u64, Vec<(usize, usize, usize, u64)>>) -> RangeInclusive<u64> {
    let (mut least, mut most) = (ByteDeltas::default(), ByteDeltas::default());
    for mut spans in places.into_values() {
        sort(&mut spans);
        let mut joined: Option<(usize, usize, u64)> = None;
        for (from, to, first, bytes) in spans {
            match &mut joined {
                Some((_, end, size)) if from <= *end => (*end, *size) = ((*end).max(to), (*size).max(bytes)),
                _ => {
                    if let Some((from, to, bytes)) = joined.replace((from, to, bytes)) {
                        most.add(from, to, bytes);
                    }
                    least.add(from, first, bytes);
                }
            }
        }
        if let Some((from, to, bytes)) = joined {
            most.add(from, to, bytes);
        }
    }
    least.most_at_once()..=most.most_at_once()
}

impl Timeline<'_> {
    /// Replaces the estimate by the offsets and sizes that the compiler chose, from the `buffer-assignment.txt` beside the module.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, dump::BufferAssignment};
    ///
    /// let module = Module::parse("\
    /// HloModule m, is_scheduled=true
    /// ENTRY main {
    ///   a = f32[8,128]{1,0:T(8,128)} parameter(0)
    ///   b = f32[8,128]{1,0:T(8,128)} negate(a)
    ///   ROOT c = f32[8,128]{1,0:T(8,128)} add(a, b)
    /// }")?;
    /// let assignment = BufferAssignment::parse("\
    /// BufferAssignment:
    /// allocation 0: size 4096, page 0, parameter 0, shape |f32[8,128]| at ShapeIndex {}:
    ///  value: <1 a @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
    /// allocation 1: size 4096, page 0, output shape is |f32[8,128]|, maybe-live-out:
    ///  value: <3 c @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
    /// allocation 2: size 8704, page 0, preallocated-temp:
    ///  value: <2 b @0> (size=4096,offset=512): f32[8,128]{1,0:T(8,128)}
    /// ")?;
    /// let timeline = module.memory().timeline().unwrap().with_assignment(&assignment)?;
    /// assert!(timeline.account().exact);
    /// assert_eq!(timeline.account().device.temporaries, 16384);
    /// assert_eq!(timeline.lifetimes()[1].offset, Some(512));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// If the assignment gives a value too few bytes, there is a [warning](Self::warnings).
    ///
    /// # Errors
    /// If the assignment lacks a value, because its sums would be too small, or gives more than half of the values too few bytes: then it belongs to
    /// another module.
    pub fn with_assignment(mut self, assignment: &BufferAssignment) -> Result<Self, DumpError> {
        let mut places: BTreeMap<(&str, &str), (&Allocation, &AssignedValue)> = BTreeMap::new();
        for allocation in assignment.allocations().iter().filter(|allocation| !allocation.is_thread_local) {
            for value in &allocation.values {
                places.insert((&value.instruction, &value.index), (allocation, value));
            }
        }
        let mut indices = Indices::default();
        let mut lifetimes = self.take_assignable();
        let (mut missing, mut smaller) = (Tally::default(), Tally::default());
        let mut spans = BTreeMap::new();
        // The first value at each offset of an allocation.
        let mut together: BTreeMap<(u64, u64), usize> = BTreeMap::new();
        let mut joins = Vec::new();
        for (number, lifetime) in lifetimes.iter_mut().enumerate() {
            let (instruction, leaf) = (lifetime.buffer.instruction, lifetime.buffer.leaf);
            let (name, index) = indices.named(instruction, leaf);
            let Some((allocation, value)) = places.get(&(name, index.as_str())) else {
                lifetime.offset = None;
                if !is_named_elsewhere(instruction) {
                    missing.add(|| format!("it lacks %{name}{index}"));
                }
                continue;
            };
            let bytes = taken_bytes(lifetime.buffer.array);
            if value.bytes < bytes {
                smaller.add(|| format!("%{name}{index} takes {bytes} bytes, and the file gives it {}", value.bytes));
            }
            lifetime.role = allocation.role();
            lifetime.bytes = value.bytes;
            lifetime.offset = allocation.is_heap.then_some(value.offset);
            if !allocation.is_heap {
                let first = *together.entry((allocation.number, value.offset)).or_insert(number);
                joins.extend((first != number).then_some((first, number)));
            }
            if allocation.is_heap && allocation.space == memory_space::DEFAULT {
                let here: &mut Vec<_> = spans.entry(value.offset).or_default();
                let first = |from: usize| lifetime.values.iter().find(|value| value.start == from);
                here.extend(
                    lifetime
                        .live_ranges()
                        .iter()
                        .map(|&(from, to)| (from, to, first(from).map_or(to, |value| value.end), value.bytes)),
                );
            }
        }
        if let Some(what) = missing.tell() {
            return Err(DumpError::Incomplete { what });
        }
        let most_are_smaller = smaller.count * 2 > lifetimes.len();
        let smaller = smaller.tell();
        if most_are_smaller {
            return Err(DumpError::OtherModule { what: smaller.unwrap_or_default() });
        }
        let warnings = Vec::from_iter(smaller);
        join(&mut lifetimes, joins);
        let mut account = assignment.account_with(live_bytes(spans), |name| {
            self.instructions()
                .first()
                .is_some_and(|first| first.module().instruction(name).is_some_and(needs_memory_for_one_element))
        });
        // The CPU compiler does not count temporaries in its peak; those for TPUs and GPUs do.
        let is_for_gpu = self.instructions().first().is_some_and(|first| first.module().is_for_gpu());
        let counts_temporaries = self.is_for_tpu() || is_for_gpu;
        let temporary = if counts_temporaries { self.account().temporary_peak } else { 0 };
        account.temporary_peak = temporary;
        let given = account.given_bytes();
        account.peak = given.saturating_add(assignment.constant_bytes()).saturating_add(temporary);
        self.replace(lifetimes, account, warnings);
        Ok(self)
    }

    /// Checks that the compiler's live ranges cover the values of this module.
    ///
    /// # Errors
    /// If a value has no live range: the file is not complete, or belongs to another module.
    pub fn check_live_ranges(&self, ranges: &LiveRanges) -> Result<(), DumpError> {
        let mut indices = Indices::default();
        for lifetime in self.lifetimes() {
            let (name, index) = indices.named(lifetime.buffer.instruction, lifetime.buffer.leaf);
            let name = format!("{name}{index}");
            if ranges.get(&name).is_none() && !is_named_elsewhere(lifetime.buffer.instruction) {
                return Err(DumpError::Incomplete { what: format!("it has no live range of %{name}") });
            }
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "proto"))]
mod tests {
    use crate::Module;
    use crate::dump::BufferAssignment;
    use alloc::vec::Vec;

    /// The compiler's files name the result of an asynchronous operation after the wrapped operation, even if the module has the short form.
    #[test]
    fn an_operation_that_only_a_message_names_has_its_place() {
        let text = "HloModule m, is_scheduled=true\n\
            w {\n  x = f32[8,128]{1,0:T(8,128)} parameter(0)\n  ROOT inner = f32[8,128]{1,0:T(8,128)} negate(x)\n}\n\
            ENTRY e {\n  a = f32[8,128]{1,0:T(8,128)} parameter(0)\n  \
            s = ((f32[8,128]{1,0:T(8,128)}), f32[8,128]{1,0:T(8,128)}, u32[]{:S(2)}) async-start(a), calls=w\n  \
            d = f32[8,128]{1,0:T(8,128)} async-done(s)\n  ROOT c = f32[8,128]{1,0:T(8,128)} add(a, d)\n}\n";
        let assignment = BufferAssignment::parse(
            "BufferAssignment:\n\
             allocation 0: size 4096, page 0, parameter 0, shape |f32[8,128]| at ShapeIndex {}:\n \
             value: <1 a @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}\n\
             allocation 1: size 4096, page 0, output shape is |f32[8,128]|, maybe-live-out:\n \
             value: <3 c @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}\n\
             allocation 2: size 8704, page 0, preallocated-temp:\n \
             value: <2 inner @0> (size=4096,offset=512): f32[8,128]{1,0:T(8,128)}\n\
             allocation 3: size 4, color 2, page 0, preallocated-temp:\n \
             value: <4 s{2} @2> (size=4,offset=0): u32[]{:S(2)}\n",
        )
        .unwrap();
        let long = Module::parse(text).unwrap();
        let message = Module::from_proto(&long.to_proto().unwrap()).unwrap();
        assert!(message.instruction("s").unwrap().long_form().is_some() && message.instruction("inner").is_none());
        let places = |module: &Module| {
            let timeline = module.memory().timeline().unwrap().with_assignment(&assignment).unwrap();
            assert!(timeline.warnings().is_empty(), "{:?}", timeline.warnings());
            timeline.lifetimes().iter().map(|lifetime| (lifetime.bytes, lifetime.offset)).collect::<Vec<_>>()
        };
        let mut found = [places(&long), places(&message)];
        found.iter_mut().for_each(|places| places.sort_unstable());
        assert_eq!(found[0], found[1]);
        assert!(found[1].contains(&(4096, Some(512))), "{:?}", found[1]);
    }
}
