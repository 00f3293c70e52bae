//! `buffer-assignment.txt`: where the compiler put every value.

use super::{DumpError, between, wrong};
use crate::memory::{Account, Role, Totals};
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::memory_space;

/// Where the compiler put every value of a program.
///
/// ```
/// use xla_shape_hlo::dump::BufferAssignment;
///
/// let text = "\
/// BufferAssignment:
/// allocation 0: size 4096, page 0, parameter 0, shape |f32[8,128]| at ShapeIndex {}:
///  value: <3 x @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
/// allocation 1: size 8704, page 0, preallocated-temp:
///  value: <4 y @0> (size=4096,offset=512): f32[8,128]{1,0:T(8,128)}
///  value: <7 z{1} @0> (size=4096,offset=4608): f32[8,128]{1,0:T(8,128)}
/// ";
/// let assignment = BufferAssignment::parse(text)?;
/// let z = &assignment.allocations()[1].values[1];
/// assert_eq!((z.instruction.as_str(), z.index.as_str(), z.offset), ("z", "{1}", 4608));
/// # Ok::<(), xla_shape_hlo::dump::DumpError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BufferAssignment {
    allocations: Vec<Allocation>,
}

/// A piece of memory that the program is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// Its number.
    pub number: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The memory space (XLA's color).
    pub space: u8,
    /// The number of the parameter that lies there.
    pub parameter: Option<u64>,
    /// Whether a constant lies there.
    pub is_constant: bool,
    /// Whether it is inside an operation, such as the operands of a reduction's function.
    pub is_thread_local: bool,
    /// Whether it may hold a result when the program ends.
    pub lives_out: bool,
    /// Whether it is a heap for temporaries.
    pub is_heap: bool,
    /// What lies there.
    pub values: Vec<AssignedValue>,
}

/// A value and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AssignedValue {
    /// The instruction that makes it.
    pub instruction: String,
    /// Which part of the instruction's value: `{}` for the whole, `{1,0}` for the first part of the second.
    pub index: String,
    /// The bytes that are reserved for it.
    pub bytes: u64,
    /// Where it begins in its allocation, in bytes.
    pub offset: u64,
    /// The shape, as XLA writes it.
    pub shape: String,
    /// Whether several values meet there, such as the state of a loop.
    pub meets: bool,
}

impl AssignedValue {
    /// Whether it is a tuple: a table of addresses.
    #[must_use]
    pub fn is_tuple(&self) -> bool {
        self.shape.starts_with('(')
    }

    /// Whether the compiler keeps it in a register and needs no memory for it: a table, or a single number or truth value,
    /// unless a fusion or a reduction makes it of arrays, of which only the name is here.
    fn needs_none(&self) -> bool {
        let is_scalar = self.shape.starts_with("s32[]") || self.shape.starts_with("pred[]");
        self.is_tuple() || is_scalar && !["fusion", "reduce"].iter().any(|word| self.instruction.contains(word))
    }
}

impl Allocation {
    /// What it is to the program.
    #[must_use]
    pub const fn role(&self) -> Role {
        match (self.parameter.is_some(), self.lives_out) {
            (true, true) => Role::Donated,
            (true, false) => Role::Argument,
            (false, true) => Role::Output,
            (false, false) if self.is_constant => Role::Constant,
            (false, false) => Role::Temporary,
        }
    }
}

impl BufferAssignment {
    /// Reads the file.
    ///
    /// # Errors
    /// If it is not such a file, or XLA would not write one of its lines.
    pub fn parse(text: &str) -> Result<Self, DumpError> {
        let mut lines = text.lines().enumerate().map(|(number, line)| (number.saturating_add(1), line));
        let expected = "BufferAssignment:";
        if lines.next().is_none_or(|(_, line)| line.trim_end() != expected) {
            return Err(DumpError::NotThisFile { expected });
        }
        let mut allocations: Vec<Allocation> = Vec::new();
        for (number, line) in lines {
            if let Some(rest) = line.strip_prefix("allocation ") {
                allocations.push(allocation(rest).ok_or_else(|| wrong(number, "an allocation", line))?);
            } else if let Some(rest) = line.strip_prefix(" value: ") {
                let value = value(rest).ok_or_else(|| wrong(number, "a value", line))?;
                let allocation = allocations.last_mut().ok_or_else(|| wrong(number, "an allocation", line))?;
                if value.offset.checked_add(value.bytes).is_none_or(|end| end > allocation.bytes) {
                    return Err(wrong(number, "a value inside its allocation", line));
                }
                allocation.values.push(value);
            } else if line.is_empty() || !line.starts_with(' ') {
                // Other sections, such as totals, come after.
                break;
            }
        }
        Ok(Self { allocations })
    }

    #[cfg(feature = "proto")]
    pub(crate) const fn from_allocations(allocations: Vec<Allocation>) -> Self {
        Self { allocations }
    }

    /// The allocations, in the order of the file.
    #[must_use]
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// What the program takes, in the terms of the compiler's memory analysis and equal to it to the byte, except the peak:
    /// that needs the live ranges, and is 0 here.
    #[must_use]
    pub fn account(&self) -> Account {
        const STEP: u64 = 16 << 10;
        let mut account = Account { exact: true, ..Account::default() };
        for allocation in &self.allocations {
            if allocation.is_thread_local {
                continue;
            }
            let is_host = allocation.space == memory_space::HOST;
            if allocation.is_heap {
                let is_needed = allocation.space != memory_space::DEFAULT
                    || !allocation.values.iter().all(AssignedValue::needs_none);
                let rounded = if allocation.space == memory_space::DEFAULT && self.is_tpu() {
                    allocation.bytes.checked_next_multiple_of(STEP).unwrap_or(u64::MAX)
                } else {
                    allocation.bytes
                };
                if is_needed && rounded > 0 {
                    let heap = account.heaps.entry(allocation.space).or_default();
                    *heap = heap.saturating_add(rounded);
                }
            } else {
                let totals: &mut Totals = if is_host { &mut account.host } else { &mut account.device };
                totals.add(allocation.role(), allocation.bytes);
            }
        }
        let heap = |space: u8| account.heaps.get(&space).copied().unwrap_or(0);
        (account.device.temporaries, account.host.temporaries) =
            (heap(memory_space::DEFAULT), heap(memory_space::HOST));
        account
    }

    /// The bytes of constants, which are in memory as long as the program.
    #[must_use]
    pub fn constant_bytes(&self) -> u64 {
        let constants = self.allocations.iter().filter(|a| a.role() == Role::Constant && !a.is_thread_local);
        constants.fold(0, |sum, allocation| allocation.bytes.saturating_add(sum))
    }

    /// Whether it is of a program for TPU: only there arrays are tiled.
    fn is_tpu(&self) -> bool {
        self.allocations.iter().flat_map(|allocation| &allocation.values).any(|value| value.shape.contains(":T("))
    }
}

/// Reads what stands after `allocation `.
fn allocation(text: &str) -> Option<Allocation> {
    let (number, rest) = text.split_once(": size ")?;
    let rest = rest.trim_end().strip_suffix(':')?;
    // A shape stands between bars; it may have any commas.
    let (head, tail) = match rest.split_once('|') {
        Some((head, tail)) => (head, tail.rsplit_once('|')?.1),
        None => (rest, ""),
    };
    let mut parts = head.split(", ").map(str::trim);
    let bytes = parts.next()?.trim_end_matches(',').parse().ok()?;
    let mut found = Allocation {
        number: number.parse().ok()?,
        bytes,
        space: memory_space::DEFAULT,
        parameter: None,
        is_constant: false,
        is_thread_local: false,
        lives_out: false,
        is_heap: false,
        values: Vec::new(),
    };
    for part in parts.chain(tail.split(", ").map(str::trim)) {
        if let Some(color) = part.strip_prefix("color ") {
            found.space = color.parse().ok()?;
        } else if let Some(parameter) = part.strip_prefix("parameter ") {
            found.parameter = Some(parameter.parse().ok()?);
        } else {
            match part {
                "constant" => found.is_constant = true,
                "thread-local" => found.is_thread_local = true,
                "maybe-live-out" => found.lives_out = true,
                "preallocated-temp" => found.is_heap = true,
                _ => {}
            }
        }
    }
    Some(found)
}

/// Reads what stands after `value: `, such as `<7 z{1} @0> (size=4096,offset=512): f32[8,128]{1,0:T(8,128)}`.
fn value(text: &str) -> Option<AssignedValue> {
    let (name, rest) = between(text, "<", " @")?;
    let (_, name) = name.split_once(' ')?;
    let (name, meets) = name.strip_suffix(" (phi)").map_or((name, false), |name| (name, true));
    let (instruction, index) = match name.find('{') {
        Some(at) => name.split_at(at),
        None => (name, "{}"),
    };
    let (bytes, rest) = between(rest, "(size=", ",offset=")?;
    let (offset, shape) = rest.split_once("): ")?;
    Some(AssignedValue {
        instruction: instruction.into(),
        index: index.into(),
        bytes: bytes.parse().ok()?,
        offset: offset.parse().ok()?,
        shape: shape.trim_end().into(),
        meets,
    })
}

#[cfg(test)]
mod tests {
    use super::{BufferAssignment, DumpError};
    use crate::memory::Role;
    use alloc::string::ToString;

    #[test]
    fn roles_and_totals() {
        let text = "\
BufferAssignment:
allocation 0: size 512, page 0, thread-local:
 value: <2 reduce.5 @0> (size=512,offset=0): f32[]{:T(128)}
allocation 1: size 4096, page 0, parameter 2, shape |(f32[8,128], s32[])| at ShapeIndex {0}, maybe-live-out:
 value: <9 p{0} @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
allocation 2: size 8192, color 5, page 0, parameter 1, shape |f32[16,128]| at ShapeIndex {}:
 value: <8 q @5> (size=8192,offset=0): f32[16,128]{1,0:T(8,128)S(5)}
allocation 3: size 512, page 0, output shape is |(f32[8,128])|, maybe-live-out:
 value: <7 t{} @0> (size=512,offset=0): (f32[8,128]{1,0:T(8,128)})
allocation 4: size 512, page 0, constant:
 value: <6 c @0> (size=512,offset=0): f32[]{:T(128)}
allocation 5: size 20992, page 0, preallocated-temp:
 value: <5 w{0} (phi) @0> (size=4096,offset=16384): f32[8,128]{1,0:T(8,128)}
allocation 6: size 100, color 1, page 0, preallocated-temp:
";
        let assignment = BufferAssignment::parse(text).unwrap();
        let roles = assignment.allocations().iter().map(super::Allocation::role);
        assert!(roles.eq([
            Role::Temporary,
            Role::Donated,
            Role::Argument,
            Role::Output,
            Role::Constant,
            Role::Temporary,
            Role::Temporary
        ]));
        let account = assignment.account();
        assert_eq!((account.device.arguments, account.device.outputs, account.device.aliases), (4096, 4608, 4096));
        assert_eq!((account.device.temporaries, account.device.total()), (32 << 10, 4608 + (32 << 10)));
        assert_eq!((account.host.arguments, account.heaps[&1], assignment.constant_bytes()), (8192, 100, 512));
        assert!(assignment.allocations()[5].values[0].meets && account.exact);
    }

    #[test]
    fn what_is_no_assignment_is_an_error() {
        let message = |text: &str| BufferAssignment::parse(text).unwrap_err().to_string();
        assert_eq!(BufferAssignment::parse(""), Err(DumpError::NotThisFile { expected: "BufferAssignment:" }));
        assert_eq!(message("HloModule m"), "the file does not begin with `BufferAssignment:`");
        assert_eq!(
            message("BufferAssignment:\nallocation 0: big"),
            "line 2: expected an allocation, found `allocation 0: big`"
        );
        assert_eq!(
            message("BufferAssignment:\n value: <1 x @0> (size=1,offset=0): f32[]"),
            "line 2: expected an allocation, found `value: <1 x @0> (size=1,offset=0): f32[]`"
        );
        let outside = "BufferAssignment:\nallocation 0: size 8, page 0:\n value: <1 x @0> (size=8,offset=1): f32[2]";
        assert_eq!(
            message(outside),
            "line 3: expected a value inside its allocation, found `value: <1 x @0> (size=8,offset=1): f32[2]`"
        );
        assert!(message("BufferAssignment:\nallocation 0: size 8:\n value: x").starts_with("line 3: expected a value"));
    }
}
