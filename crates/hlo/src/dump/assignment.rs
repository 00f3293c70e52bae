//! `buffer-assignment.txt`: the allocation and offset of every value (`BufferAssignment::ToString` in
//! `xla/service/buffer_assignment.cc`).

use super::{DumpError, between, wrong};
use crate::account::{Account, HBM_STEP, Role, Totals};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use xla_shape_core::memory_space;
use xla_shape_core::sorting::sort;

/// The compiler's buffer assignment: the allocations of a program, and the offset of every value in them.
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
    counts_gaps: bool,
    live_bytes: Option<u64>,
}

/// An allocation: a contiguous piece of memory (`BufferAllocation` in `xla/service/buffer_assignment.h`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// Its index.
    pub number: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The memory space, which XLA calls the color.
    pub space: u8,
    /// The number of the parameter in it, if it holds one.
    pub parameter: Option<u64>,
    /// Whether it holds a constant.
    pub is_constant: bool,
    /// Whether it is local to a thread inside an operation, such as the parameters of a reduction's computation.
    pub is_thread_local: bool,
    /// Whether it may hold a result when the program ends.
    pub lives_out: bool,
    /// Whether it is a heap for temporaries.
    pub is_heap: bool,
    /// The values in it.
    pub values: Vec<AssignedValue>,
}

/// A value and its place in an [`Allocation`].
///
/// ```
/// use xla_shape_hlo::dump::BufferAssignment;
///
/// let text = "BufferAssignment:
/// allocation 1: size 8704, page 0, preallocated-temp:
///  value: <7 z{1} @0> (size=4096,offset=4608): f32[8,128]{1,0:T(8,128)}
/// ";
/// let assignment = BufferAssignment::parse(text)?;
/// let value = &assignment.allocations()[0].values[0];
/// assert_eq!((value.instruction.as_str(), value.index.as_str()), ("z", "{1}"), "element 1 of the tuple z");
/// assert_eq!((value.offset, value.bytes), (4608, 4096));
/// # Ok::<(), xla_shape_hlo::dump::DumpError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AssignedValue {
    /// The name of the instruction that defines it.
    pub instruction: String,
    /// The shape index in the instruction's shape: `{}` for the whole, `{1,0}` for element 0 of element 1.
    pub index: String,
    /// The bytes reserved for it.
    pub bytes: u64,
    /// Its offset in the allocation, in bytes.
    pub offset: u64,
    /// The shape, as XLA writes it.
    pub shape: String,
    /// Whether it is a phi, which merges several values, such as the state of a loop.
    pub is_phi: bool,
}

impl AssignedValue {
    /// Whether it is a tuple, stored as a table of addresses.
    #[must_use]
    pub fn is_tuple(&self) -> bool {
        self.shape.starts_with('(')
    }

    /// Whether every dimension has size 1, as in `f32[]` and `f32[1,1,1]`.
    pub(crate) fn is_single_element(&self) -> bool {
        between(&self.shape, "[", "]").is_some_and(|(dimensions, _)| {
            dimensions.is_empty() || dimensions.split(',').all(|dimension| dimension == "1")
        })
    }
}

impl Allocation {
    /// How the program uses it.
    ///
    /// ```
    /// use xla_shape_hlo::{Role, dump::BufferAssignment};
    ///
    /// let text = "BufferAssignment:
    /// allocation 0: size 4096, page 0, parameter 0, shape |f32[8,128]| at ShapeIndex {}:
    ///  value: <1 p @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
    /// allocation 1: size 512, page 0, constant:
    ///  value: <2 c @0> (size=512,offset=0): f32[]{:T(128)}
    /// ";
    /// let assignment = BufferAssignment::parse(text)?;
    /// let roles: Vec<_> = assignment.allocations().iter().map(|allocation| allocation.role()).collect();
    /// assert_eq!(roles, [Role::Argument, Role::Constant]);
    /// # Ok::<(), xla_shape_hlo::dump::DumpError>(())
    /// ```
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

impl Allocation {
    /// The bytes of the allocation that are covered by tuple tables (if `tables`) or by arrays at any time.
    fn covered(&self, tables: bool) -> u64 {
        let values = self.values.iter().filter(|value| value.is_tuple() == tables);
        let mut places: Vec<(u64, u64)> =
            values.map(|value| (value.offset, value.offset.saturating_add(value.bytes))).collect();
        sort(&mut places);
        let (mut bytes, mut covered_to) = (0_u64, 0_u64);
        for (begin, end) in places {
            bytes = bytes.saturating_add(end.saturating_sub(begin.max(covered_to)));
            covered_to = covered_to.max(end);
        }
        bytes
    }
}

impl BufferAssignment {
    /// Parses the file.
    ///
    /// ```
    /// use xla_shape_hlo::dump::BufferAssignment;
    ///
    /// let text = "BufferAssignment:
    /// allocation 0: size 4096, page 0, parameter 0, shape |f32[8,128]| at ShapeIndex {}:
    ///  value: <1 p @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
    /// allocation 1: size 512, page 0, constant:
    ///  value: <2 c @0> (size=512,offset=0): f32[]{:T(128)}
    /// ";
    /// let assignment = BufferAssignment::parse(text)?;
    /// assert_eq!(assignment.allocations()[0].values[0].shape, "f32[8,128]{1,0:T(8,128)}");
    /// # Ok::<(), xla_shape_hlo::dump::DumpError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not a buffer assignment, or a line does not have the form that XLA writes.
    pub fn parse(text: &str) -> Result<Self, DumpError> {
        let mut lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
        let expected = "BufferAssignment:";
        if lines.next().is_none_or(|(_, line)| line.trim_end() != expected) {
            return Err(DumpError::NotThisFile { expected });
        }
        let mut allocations: Vec<Allocation> = Vec::new();
        // Releases that write page numbers do not count gaps.
        let mut has_pages = false;
        for (number, line) in lines {
            if let Some(rest) = line.strip_prefix("allocation ") {
                has_pages |= rest.contains(", page ");
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
        Ok(Self { allocations, counts_gaps: !has_pages, live_bytes: None })
    }

    #[cfg(feature = "proto")]
    pub(crate) const fn from_parts(allocations: Vec<Allocation>, counts_gaps: bool, live_bytes: Option<u64>) -> Self {
        Self { allocations, counts_gaps, live_bytes }
    }

    /// Whether the compiler's memory analysis counts the gaps (fragmentation) of the HBM heap a second time among the temporaries.
    ///
    /// This depends on the release. libtpu 0.0.17 and 0.0.42 count the gaps twice; texts without page numbers are from these releases. libtpu 0.0.47
    /// counts them twice, too, but only its message (`from_proto`, with the feature `proto`) shows that it is from this release, because it has
    /// the types of comparisons. libtpu 0.0.50 also counts them twice, but this function returns `false` for its files, because they look like
    /// those of libtpu 0.0.51, which counts them once.
    #[must_use]
    pub const fn counts_gaps(&self) -> bool {
        self.counts_gaps
    }

    /// The peak of live bytes of arrays in the HBM heap, as the compiler counted it. Only a message has it (`from_proto`, with the
    /// feature `proto`).
    #[must_use]
    pub const fn live_bytes(&self) -> Option<u64> {
        self.live_bytes
    }

    /// Adds what only the message of the same compilation contains: [`live_bytes`](Self::live_bytes), and for some releases
    /// whether they [count gaps](Self::counts_gaps).
    #[must_use]
    pub fn completed_by(self, message: &Self) -> Self {
        let counts_gaps = self.counts_gaps || message.counts_gaps;
        Self { counts_gaps, live_bytes: self.live_bytes.or(message.live_bytes), ..self }
    }

    /// The allocations, in the order of the file.
    #[must_use]
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// The program's memory totals in the terms of the compiler's memory analysis, except for the peak: that needs live ranges, and is
    /// 0 here.
    ///
    /// The totals equal the analysis of libtpu 0.0.51 and 0.0.52 to the byte. They also equal the analysis of 0.0.17 and 0.0.42 if
    /// [`live_bytes`](Self::live_bytes) is known. Otherwise [`Account::may_be_more`] bounds how much more the analysis counts.
    ///
    /// A single element needs no memory unless it is broadcast, computed from arrays, or one of several results of an all-reduce. The file has only names,
    /// so this function guesses from the names whether an element is; [`Timeline::with_assignment`](crate::Timeline::with_assignment) looks at the
    /// module.
    ///
    /// ```
    /// use xla_shape_hlo::dump::BufferAssignment;
    ///
    /// let text = "BufferAssignment:
    /// allocation 0: size 4096, page 0, parameter 0, shape |f32[8,128]| at ShapeIndex {}:
    ///  value: <1 p @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
    /// allocation 1: size 512, page 0, constant:
    ///  value: <2 c @0> (size=512,offset=0): f32[]{:T(128)}
    /// ";
    /// let assignment = BufferAssignment::parse(text)?;
    /// assert_eq!(assignment.account().device.arguments, 4096);
    /// # Ok::<(), xla_shape_hlo::dump::DumpError>(())
    /// ```
    #[must_use]
    pub fn account(&self) -> Account {
        let needs_memory =
            |name: &str| ["broadcast", "fusion", "reduce", "slice"].iter().any(|word| name.contains(word));
        self.account_with(0..=u64::MAX, needs_memory)
    }

    /// Like [`account`](Self::account), but with bounds on the peak of live bytes in the HBM heap (`live`). `needs_memory` says whether a single
    /// element needs memory if the instruction with this name computes it.
    pub(crate) fn account_with(&self, live: RangeInclusive<u64>, needs_memory: impl Fn(&str) -> bool) -> Account {
        let in_register =
            |value: &AssignedValue| value.is_tuple() || value.is_single_element() && !needs_memory(&value.instruction);
        let mut account = Account::default();
        for allocation in &self.allocations {
            if allocation.is_thread_local {
                continue;
            }
            let is_host = allocation.space == memory_space::HOST;
            if !allocation.is_heap {
                let totals: &mut Totals = if is_host { &mut account.host } else { &mut account.device };
                totals.add(allocation.role(), allocation.bytes);
                continue;
            }
            let bytes = if allocation.space == memory_space::DEFAULT && self.is_tpu() {
                // An allocation of nothing but scalars and tuples takes no memory.
                if allocation.values.iter().all(in_register) {
                    continue;
                }
                let rounded = allocation.bytes.checked_next_multiple_of(HBM_STEP).unwrap_or(u64::MAX);
                // Index tables of tuples always take their bytes, arrays only while they live. At the peak, the rest of the heap is gaps.
                let [tables, arrays] = [true, false].map(|tables| allocation.covered(tables));
                let least = self.live_bytes.unwrap_or(*live.start()).min(arrays);
                let most = self.live_bytes.unwrap_or(*live.end()).min(arrays);
                account.gaps = account.gaps.saturating_add(rounded.saturating_sub(tables.saturating_add(most)));
                if self.counts_gaps {
                    account.may_be_more = account.may_be_more.saturating_add(most.saturating_sub(least));
                    rounded.saturating_add(rounded.saturating_sub(tables.saturating_add(most)))
                } else {
                    rounded
                }
            } else {
                allocation.bytes
            };
            if bytes > 0 {
                let heap = account.heaps.entry(allocation.space).or_default();
                *heap = heap.saturating_add(bytes);
            }
        }
        account.exact = account.may_be_more == 0;
        let heap = |space: u8| account.heaps.get(&space).copied().unwrap_or(0);
        (account.device.temporaries, account.host.temporaries) =
            (heap(memory_space::DEFAULT), heap(memory_space::HOST));
        account
    }

    /// The bytes of constants, which are live as long as the program runs.
    ///
    /// ```
    /// use xla_shape_hlo::dump::BufferAssignment;
    ///
    /// let text = "BufferAssignment:
    /// allocation 0: size 4096, page 0, parameter 0, shape |f32[8,128]| at ShapeIndex {}:
    ///  value: <1 p @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
    /// allocation 1: size 512, page 0, constant:
    ///  value: <2 c @0> (size=512,offset=0): f32[]{:T(128)}
    /// ";
    /// let assignment = BufferAssignment::parse(text)?;
    /// assert_eq!(assignment.constant_bytes(), 512);
    /// # Ok::<(), xla_shape_hlo::dump::DumpError>(())
    /// ```
    #[must_use]
    pub fn constant_bytes(&self) -> u64 {
        let constants = self.allocations.iter().filter(|a| a.role() == Role::Constant && !a.is_thread_local);
        constants.fold(0, |sum, allocation| allocation.bytes.saturating_add(sum))
    }

    /// Whether the program is compiled for a TPU: only TPU programs have tiled arrays.
    fn is_tpu(&self) -> bool {
        self.allocations.iter().flat_map(|allocation| &allocation.values).any(|value| value.shape.contains(":T("))
    }
}

/// Parses the rest of a line after `allocation `.
fn allocation(text: &str) -> Option<Allocation> {
    let (number, rest) = text.split_once(": size ")?;
    let rest = rest.trim_end().strip_suffix(':')?;
    // The shape between bars can contain commas.
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

/// Parses the rest of a line after `value: `, such as `<7 z{1} @0> (size=4096,offset=512): f32[8,128]{1,0:T(8,128)}`.
fn value(text: &str) -> Option<AssignedValue> {
    let (name, rest) = between(text, "<", " @")?;
    let (_, name) = name.split_once(' ')?;
    let (name, is_phi) = name.strip_suffix(" (phi)").map_or((name, false), |name| (name, true));
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
        is_phi,
    })
}

#[cfg(test)]
mod tests {
    use super::{BufferAssignment, DumpError};
    use crate::account::Role;
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
        assert!(assignment.allocations()[5].values[0].is_phi && account.exact);
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
