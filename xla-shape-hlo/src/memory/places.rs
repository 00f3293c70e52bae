//! The places that values take, and what each is to the program.

use super::schedule::{Schedule, Span};
use super::values::Values;
use super::{Buffer, Footprint};
use crate::{Computation, Module, Opcode};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use xla_shape_core::{ArrayShape, Shape, memory_space};

/// What a place in memory is to the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Role {
    /// A parameter.
    Argument,
    /// A parameter whose memory a result reuses, because the caller donated it (`input_output_alias`).
    Donated,
    /// A result.
    Output,
    /// A constant.
    Constant,
    /// Anything else.
    Temporary,
}

impl Role {
    /// The name in reports, such as `argument`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Donated => "donated",
            Self::Output => "output",
            Self::Constant => "constant",
            Self::Temporary => "temporary",
        }
    }

    /// Whether the memory is taken as long as the program runs.
    pub(super) const fn is_always(self) -> bool {
        !matches!(self, Self::Temporary)
    }
}

/// A value that lies in a place for some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident<'m> {
    pub(super) instruction: u32,
    pub(super) leaf: Option<usize>,
    pub(super) shape: &'m Shape,
    pub(super) span: Span,
    /// Whether it only holds what others made, such as the state of a loop.
    pub(super) meets: bool,
}

/// A place in memory: values that have one address, in the order in which they lie there.
#[derive(Clone, Debug)]
pub(super) struct Place<'m> {
    pub(super) tenants: Vec<Resident<'m>>,
    pub(super) role: Role,
    /// The memory space.
    pub(super) space: u8,
    /// The bytes of the largest; 0 for a table of addresses, whose size depends on the device.
    pub(super) bytes: u64,
    /// For a table of addresses, how many.
    pub(super) addresses: Option<usize>,
}

impl<'m> Place<'m> {
    /// The array that lies there first; `None` for a table of addresses.
    pub(super) fn buffer<'a>(&self, module: &'m Module<'a>) -> Option<Buffer<'m, 'a>> {
        let first = self.tenants.first()?;
        let array = first.shape.array()?;
        let instruction = module.instruction_at(first.instruction)?;
        let footprint = Footprint::of(array).unwrap_or_default();
        Some(Buffer { instruction, leaf: first.leaf?, array, footprint })
    }

    /// The spans of the values, joined where they touch.
    pub(super) fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for tenant in &self.tenants {
            match spans.last_mut() {
                Some(last) if tenant.span.start <= last.end => last.end = last.end.max(tenant.span.end),
                _ => spans.push(tenant.span),
            }
        }
        spans
    }

    /// Whether the compiler keeps it in a register instead: numbers and truth values, as loops count with. What a fusion or a
    /// reduction makes of arrays comes from the vector unit and goes through memory.
    pub(super) fn is_scalar_control(&self, module: &Module<'_>) -> bool {
        self.tenants.iter().all(|tenant| {
            let array = tenant.shape.array().filter(|array| array.num_dimensions() == 0);
            let opcode = module.instruction_at(tenant.instruction).map(|made| made.opcode());
            array.is_some_and(|array| matches!(array.element_type().name(), "s32" | "pred"))
                && !matches!(opcode, Some(Opcode::Fusion | Opcode::Reduce))
        })
    }
}

/// The bytes that the compiler reserves for an array. On TPU an array without tiles takes whole lines of 1,024 elements,
/// semaphores excepted.
pub(super) fn reserved_bytes(array: &ArrayShape, is_tpu: bool) -> u64 {
    const LINE: u64 = 1024;
    let bytes = array.byte_size().unwrap_or(0);
    let layout = array.layout();
    if !is_tpu || !layout.tiles().is_empty() || layout.memory_space() == memory_space::SEMAPHORE {
        return bytes;
    }
    let elements = array.elements().unwrap_or(0);
    let lines = elements.div_ceil(LINE).saturating_mul(LINE);
    bytes.checked_mul(lines).and_then(|bytes| bytes.checked_div(elements)).unwrap_or(bytes)
}

/// Whether a module is one for TPU: only there arrays are tiled.
pub(super) fn is_tpu(module: &Module<'_>) -> bool {
    let tiled = |array: &ArrayShape| !array.layout().tiles().is_empty();
    module.shapes().iter().flat_map(super::arrays).any(tiled)
}

/// Every place that the values of a module take: those of the program's parameters first, then in the order of time.
pub(super) fn places<'m, 'a>(
    module: &'m Module<'a>,
    computations: &[Computation<'m, 'a>],
    values: &Values<'m>,
    schedule: &Schedule,
) -> Vec<Place<'m>> {
    let spans = schedule.spans(module, computations, values);
    let mut groups: BTreeMap<u32, Vec<Resident<'m>>> = BTreeMap::new();
    for ((number, value), span) in (0_u32..).zip(values.values()).zip(&spans) {
        if let Some(span) = *span {
            let resident = Resident {
                instruction: value.instruction,
                leaf: value.leaf,
                shape: value.shape,
                span,
                meets: value.meets,
            };
            groups.entry(values.group(number)).or_default().push(resident);
        }
    }
    // What lives when the program ends is a result.
    let mut results = alloc::collections::BTreeSet::new();
    for computation in computations.iter().filter(|computation| super::runs(**computation)) {
        results.extend(values.of(computation.root().number()).map(|value| values.group(value)));
    }
    let is_tpu = is_tpu(module);
    let mut places: Vec<Place<'m>> = groups
        .into_iter()
        .map(|(group, mut tenants)| {
            let opcode =
                |resident: &Resident<'_>| module.instruction_at(resident.instruction).map(|made| made.opcode());
            let is_given = |resident: &Resident<'_>| {
                module
                    .instruction_at(resident.instruction)
                    .is_some_and(|made| made.opcode() == Opcode::Parameter && super::runs(made.computation()))
            };
            let role = match (tenants.iter().any(is_given), results.contains(&group)) {
                (true, true) => Role::Donated,
                (true, false) => Role::Argument,
                (false, true) => Role::Output,
                _ if tenants.iter().any(|tenant| opcode(tenant) == Some(Opcode::Constant)) => Role::Constant,
                _ => Role::Temporary,
            };
            tenants.sort_by_key(|tenant| tenant.span);
            hand_over(&mut tenants);
            let first = tenants.first();
            let addresses = first.and_then(|first| first.shape.tuple_shapes()).map(<[Shape]>::len);
            let space = first.and_then(|first| first.shape.array()).map_or(0, |array| array.layout().memory_space());
            let bytes = tenants.iter().filter_map(|tenant| tenant.shape.array());
            let bytes = bytes.map(|array| reserved_bytes(array, is_tpu)).max().unwrap_or(0);
            Place { tenants, role, space, bytes, addresses }
        })
        .collect();
    places.sort_by_key(|place| {
        let given = matches!(place.role, Role::Argument | Role::Donated);
        (!given, place.tenants.first().map(|first| (first.span.start, first.instruction, first.leaf)))
    });
    places
}

/// Lets each value that lies at the same place end where the next one begins.
fn hand_over(tenants: &mut [Resident<'_>]) {
    for number in 1..tenants.len() {
        if let Some([before, after]) = tenants.get_mut(number.saturating_sub(1)..=number)
            && before.span.end >= after.span.start
        {
            after.span.end = after.span.end.max(before.span.end);
            before.span.end = after.span.start;
        }
    }
}
