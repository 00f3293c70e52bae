//! A program's memory as the compiler assigned it.

use super::live::Timeline;
use crate::Instruction;
use crate::dump::{Allocation, AssignedValue, BufferAssignment, DumpError, LiveRanges};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

/// The indices of the arrays of a result, such as `{1,0}`, by the number of its instruction; made once for each.
#[derive(Default)]
struct Indices(BTreeMap<u32, Vec<String>>);

impl Indices {
    fn of(&mut self, instruction: Instruction<'_, '_>, leaf: usize) -> String {
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

/// Whether the result is called by a name that the module does not show: that of the operation in a computation of its own,
/// of which the text has the short form.
fn hides_its_result(instruction: Instruction<'_, '_>) -> bool {
    instruction.opcode().long_form().is_some()
}

impl Timeline<'_, '_> {
    /// The same with the places and sizes that the compiler chose, from the file beside the module; all numbers are exact
    /// then.
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
    /// # Errors
    /// If the assignment is one of another module.
    pub fn with_assignment(mut self, assignment: &BufferAssignment) -> Result<Self, DumpError> {
        let mut places: BTreeMap<(&str, &str), (&Allocation, &AssignedValue)> = BTreeMap::new();
        for allocation in assignment.allocations().iter().filter(|allocation| !allocation.is_thread_local) {
            for value in &allocation.values {
                places.insert((&value.instruction, &value.index), (allocation, value));
            }
        }
        let mut indices = Indices::default();
        let mut lifetimes = self.lifetimes().to_vec();
        for lifetime in &mut lifetimes {
            let (instruction, leaf) = (lifetime.buffer.instruction, lifetime.buffer.leaf);
            let index = indices.of(instruction, leaf);
            let Some((allocation, value)) = places.get(&(instruction.name(), index.as_str())) else {
                if hides_its_result(instruction) {
                    lifetime.offset = None;
                    continue;
                }
                let what = format!("it has no place for %{}{index}", instruction.name());
                return Err(DumpError::OtherModule { what });
            };
            if value.bytes < lifetime.buffer.footprint.bytes {
                let (bytes, name) = (lifetime.buffer.footprint.bytes, instruction.name());
                let what = format!("%{name}{index} takes {bytes} bytes, and the file gives it {}", value.bytes);
                return Err(DumpError::OtherModule { what });
            }
            lifetime.role = allocation.role();
            lifetime.bytes = value.bytes;
            lifetime.offset = allocation.is_heap.then_some(value.offset);
        }
        let mut account = assignment.account();
        let temporary = self.account().temporary_peak;
        account.temporary_peak = temporary;
        let given = account.given_bytes();
        account.peak = given.saturating_add(assignment.constant_bytes()).saturating_add(temporary);
        self.replace(lifetimes, account);
        Ok(self)
    }

    /// Checks that the compiler's live ranges are those of this module.
    ///
    /// # Errors
    /// If they are of another module.
    pub fn check_live_ranges(&self, ranges: &LiveRanges) -> Result<(), DumpError> {
        let mut indices = Indices::default();
        for lifetime in self.lifetimes() {
            let index = indices.of(lifetime.buffer.instruction, lifetime.buffer.leaf);
            let name = format!("{}{index}", lifetime.buffer.instruction.name());
            if ranges.of(&name).is_none() && !hides_its_result(lifetime.buffer.instruction) {
                return Err(DumpError::OtherModule { what: format!("it does not say how long %{name} is needed") });
            }
        }
        Ok(())
    }
}
