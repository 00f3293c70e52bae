//! The normal form of a stride table, as a list of parts over a workspace: what equality of layouts is decided on.
//!
//! A part is `(source % m1 % m2 % …) / divisor · stride`: divisions can always be done last, because
//! `(x / d) % m = (x % (d · m)) / d`. Three rules make it normal. A modulus that is a multiple of the next one, or that
//! no element of the array reaches, says nothing and goes. A sum that `*` makes is taken apart wherever the sizes allow.
//! Two parts `u / d` and `(u % d) / e` whose strides continue each other are one part `u / e`.
//!
//! Why equal maps have equal forms: the strides of a layout are products of sizes, so the smallest one is the smallest
//! distance of two elements, and its part is read off the map modulo the next one; a part without sums is read off its
//! own values, its divisor being the index of the first 1 and its last modulus the index of the first step down. So
//! parts can differ in equal maps only where one of them continues the other, and those are merged. For parts of sums
//! that cannot be taken apart only the converse holds: equal forms are equal maps.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; every index is below a counter, and products are checked or below `positions`"
)]

use super::arithmetic::greatest_common_divisor;
use super::terms::View;
use super::{Intermediate, Source, Term};
use crate::limits::{MAX_DECISION_DEPTH, MAX_DECISION_STEPS};
use crate::list::Blank;

/// No modulus: larger than any size.
pub(crate) const NONE: u64 = u64::MAX;

/// `source / divisor · stride`.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) stride: u64,
    /// A dimension, or a node of the workspace.
    pub(crate) source: Source,
    pub(crate) divisor: u64,
}

/// What a part may be cut out of beside a dimension. Equal nodes of a workspace have one number.
#[derive(Clone, Copy)]
pub(crate) enum Node {
    /// `parent % modulus`.
    Remainder { parent: Source, modulus: u64 },
    /// The sum of these parts, which is less than `bound`; no plain parts give a remainder of it.
    Sum { parts: Range, bound: u64 },
}

/// Consecutive parts of a workspace.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Blank for Part {
    const BLANK: Self = Self { stride: 0, source: Source::Zero, divisor: 1 };
}

impl Blank for Node {
    const BLANK: Self = Self::Remainder { parent: Source::Zero, modulus: 1 };
}

impl Blank for Range {
    const BLANK: Self = Self { start: 0, end: 0 };
}

/// Where a normal form is made.
pub(crate) struct Room<'a> {
    /// The list that is being made; the digits in the end.
    pub(crate) parts: &'a mut [Part],
    /// The lists that nodes and values refer to.
    pub(crate) pool: &'a mut [Part],
    pub(crate) nodes: &'a mut [Node],
    /// One for each intermediate value of the table.
    pub(crate) values: &'a mut [Range],
}

/// Why there is no normal form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shortage {
    /// The room is too small.
    Space,
    /// Sums of remainders of sums of remainders, and so on, nest too deeply or take too long.
    Effort,
}

/// How many steps normal forms may still take: parts and nodes that are looked at.
pub(crate) struct Effort(usize);

impl Effort {
    /// Enough for a decision about any layout that is not made to be hard.
    pub(crate) const fn of_a_decision() -> Self {
        Self(MAX_DECISION_STEPS)
    }

    const fn take(&mut self, steps: usize) -> bool {
        self.0 = self.0.saturating_sub(steps);
        self.0 > 0
    }
}

/// A table in normal form.
pub(crate) struct Normal<'a> {
    pub(crate) digits: &'a [Part],
    pub(crate) pool: &'a [Part],
    pub(crate) nodes: &'a [Node],
}

/// The normal form of `view` for indices below `extents`, none of which is 0.
pub(crate) const fn normal<'a>(
    view: View<'_>,
    extents: &[u64],
    room: &'a mut Room<'_>,
    effort: &mut Effort,
) -> Result<Normal<'a>, Shortage> {
    let Room { parts, pool, nodes, values } = room;
    let mut state = State::new(extents, parts, pool, nodes, effort);
    let digits = state.form(view, values);
    match state.shortage {
        Some(shortage) => Err(shortage),
        None => Ok(Normal {
            digits: slice(state.pool, digits),
            pool: state.pool.split_at(state.num_pool).0,
            nodes: state.nodes.split_at(state.num_nodes).0,
        }),
    }
}

/// Whether both maps have the same normal form for indices below `extents`, none of which is 0.
pub(crate) const fn have_same_form(
    maps: [View<'_>; 2],
    extents: &[u64],
    room: &mut Room<'_>,
    effort: &mut Effort,
) -> Result<bool, Shortage> {
    let Room { parts, pool, nodes, values } = room;
    // Both are made in one room, where equal nodes have one number: forms are never compared node by node, which takes
    // exponentially long where nodes share what they are made of.
    let mut state = State::new(extents, parts, pool, nodes, effort);
    let forms = [state.form(maps[0], values), state.form(maps[1], values)];
    match state.shortage {
        Some(shortage) => Err(shortage),
        None => Ok(same_parts(slice(state.pool, forms[0]), slice(state.pool, forms[1]))),
    }
}

/// The parts of a list that is kept in the pool.
pub(crate) const fn slice(pool: &[Part], range: Range) -> &[Part] {
    pool.split_at(range.end).0.split_at(range.start).1
}

const fn same_source(this: Source, that: Source) -> bool {
    match (this, that) {
        (Source::Zero, Source::Zero) => true,
        (Source::Dimension(this), Source::Dimension(that))
        | (Source::Intermediate(this), Source::Intermediate(that)) => this == that,
        _ => false,
    }
}

const fn same_part(this: Part, that: Part) -> bool {
    this.stride == that.stride && this.divisor == that.divisor && same_source(this.source, that.source)
}

const fn same_parts(these: &[Part], those: &[Part]) -> bool {
    let mut i = 0;
    while i < these.len() && i < those.len() && same_part(these[i], those[i]) {
        i += 1;
    }
    i == these.len() && i == those.len()
}

struct State<'a, 'e> {
    extents: &'e [u64],
    parts: &'a mut [Part],
    num_parts: usize,
    pool: &'a mut [Part],
    num_pool: usize,
    nodes: &'a mut [Node],
    num_nodes: usize,
    depth: usize,
    effort: &'e mut Effort,
    /// If set, what has been made is not valid.
    shortage: Option<Shortage>,
}

impl<'a, 'e> State<'a, 'e> {
    const fn new(
        extents: &'e [u64],
        parts: &'a mut [Part],
        pool: &'a mut [Part],
        nodes: &'a mut [Node],
        effort: &'e mut Effort,
    ) -> Self {
        let (num_parts, num_pool, num_nodes) = (0, 0, 0);
        Self { extents, parts, num_parts, pool, num_pool, nodes, num_nodes, depth: 0, effort, shortage: None }
    }

    /// Makes the normal form of `view`; `values` is room for its intermediate values.
    const fn form(&mut self, view: View<'_>, values: &mut [Range]) -> Range {
        let table = view.table;
        if table.intermediates.len() > values.len() {
            self.shortage = Some(Shortage::Space);
            return Range::BLANK;
        }
        let mut i = 0;
        while i < table.intermediates.len() {
            match table.intermediates[i] {
                Intermediate::Term { term, .. } => self.push_term(view, values, term, 1),
                Intermediate::Combine { major, minor, minor_size, .. } => {
                    self.push_term(view, values, major, minor_size.get());
                    self.push_term(view, values, minor, 1);
                }
            }
            self.coalesce(0);
            values[i] = self.store(0);
            i += 1;
        }
        let mut i = 0;
        while i < table.digits.len() {
            self.push_term(view, values, table.digits[i].term, table.digits[i].stride);
            i += 1;
        }
        self.coalesce(0);
        self.store(0)
    }

    /// Counts steps; whether there may be more.
    const fn step(&mut self, steps: usize) -> bool {
        if self.shortage.is_none() && !self.effort.take(steps) {
            self.shortage = Some(Shortage::Effort);
        }
        self.shortage.is_none()
    }

    /// A source is always less than this.
    const fn bound(&self, source: Source) -> u64 {
        match source {
            Source::Zero => 1,
            Source::Dimension(dimension) => self.extents[dimension as usize],
            Source::Intermediate(node) => match self.nodes[node as usize] {
                Node::Remainder { modulus, .. } => modulus,
                Node::Sum { bound, .. } => bound,
            },
        }
    }

    /// The largest value that a part's digit may have.
    const fn max(&self, part: Part) -> u64 {
        (self.bound(part.source) - 1) / part.divisor
    }

    const fn push(&mut self, part: Part) {
        if self.max(part) == 0 {
            return;
        }
        if self.num_parts == self.parts.len() {
            self.shortage = Some(Shortage::Space);
            return;
        }
        self.parts[self.num_parts] = part;
        self.num_parts += 1;
    }

    /// Takes the list that begins at `start` into the pool.
    const fn store(&mut self, start: usize) -> Range {
        let range = Range { start: self.num_pool, end: self.num_pool + (self.num_parts - start) };
        if range.end > self.pool.len() {
            self.shortage = Some(Shortage::Space);
            self.num_parts = start;
            return Range::BLANK;
        }
        while self.num_parts > start {
            self.num_parts -= 1;
            self.pool[range.start + (self.num_parts - start)] = self.parts[self.num_parts];
        }
        self.num_pool = range.end;
        range
    }

    /// Appends the parts of `term · stride`.
    const fn push_term(&mut self, view: View<'_>, values: &[Range], term: Term, stride: u64) {
        let divisor = term.divisor.get();
        let modulus = match term.modulus {
            Some(modulus) => modulus.get().saturating_mul(divisor),
            None => NONE,
        };
        match term.source {
            Source::Zero => {}
            Source::Intermediate(value) => self.push_cut(values[value as usize], modulus, divisor, stride),
            Source::Dimension(dimension) if view.dimensions.is_empty() => {
                self.push_source(Source::Dimension(dimension), modulus, divisor, stride);
            }
            Source::Dimension(dimension) => {
                let whole = view.dimensions[dimension as usize];
                let unit = whole.divisor.get();
                let source = match whole.modulus {
                    Some(size) => self.remainder(whole.source, size.get().saturating_mul(unit)),
                    None => whole.source,
                };
                self.push_source(source, modulus.saturating_mul(unit), divisor.saturating_mul(unit), stride);
            }
        }
    }

    /// Appends the parts of `source % modulus / divisor · stride`.
    const fn push_source(&mut self, source: Source, modulus: u64, divisor: u64, stride: u64) {
        if !self.step(1) {
            return;
        }
        let source = self.without_multiples(source, modulus);
        if let Source::Intermediate(node) = source
            && let Node::Sum { parts, .. } = self.nodes[node as usize]
        {
            return self.push_cut(parts, modulus, divisor, stride);
        }
        let source = self.remainder(source, modulus);
        let source = self.without_unseen(source, divisor);
        self.push(Part { stride, source, divisor });
    }

    /// Appends the parts of `(the sum of these) % modulus / divisor · stride`.
    const fn push_cut(&mut self, sum: Range, modulus: u64, divisor: u64, stride: u64) {
        if self.depth == MAX_DECISION_DEPTH {
            self.shortage = Some(Shortage::Effort);
        }
        if !self.step(1 + sum.end - sum.start) {
            return;
        }
        self.depth += 1;
        let start = self.num_parts;
        self.push_congruent(sum, modulus);
        self.coalesce(start);
        let rest = self.store(start);
        let is_remainder = max_of(self, slice(self.pool, rest)) < modulus;
        if let [Part { stride: 1, source, divisor: unit }] = *slice(self.pool, rest) {
            self.push_source(source, modulus.saturating_mul(unit), divisor.saturating_mul(unit), stride);
        } else if !is_remainder || !self.push_quotient(rest, divisor, stride) {
            let mut source = self.sum(rest);
            if !is_remainder {
                source = self.remainder(source, modulus);
            }
            let source = self.without_unseen(source, divisor);
            self.push(Part { stride, source, divisor });
        }
        self.depth -= 1;
    }

    /// Appends parts whose sum is congruent to the sum of these, and as small as may be.
    const fn push_congruent(&mut self, sum: Range, modulus: u64) {
        let within = max_of(self, slice(self.pool, sum)) < modulus;
        let mut i = sum.start;
        while i < sum.end {
            let part = self.pool[i];
            if within || max_of(self, &[part]) < modulus {
                self.push(part);
            } else {
                // Steps of the part by this many change nothing modulo the modulus.
                let period = modulus / greatest_common_divisor(modulus, part.stride);
                let end = self.num_parts;
                self.push_source(part.source, period.saturating_mul(part.divisor), part.divisor, part.stride);
                self.reduce_strides(end, modulus);
            }
            i += 1;
        }
    }

    /// Reduces strides in the list from `start` on by the modulus where the part then stays less than it.
    const fn reduce_strides(&mut self, start: usize, modulus: u64) {
        let mut i = start;
        while i < self.num_parts {
            let part = Part { stride: self.parts[i].stride % modulus, ..self.parts[i] };
            if max_of(self, &[part]) < modulus {
                self.parts[i] = part;
            }
            i += 1;
        }
    }

    /// Appends the parts of the sum's quotient and is true; or appends nothing, if no parts give it.
    const fn push_quotient(&mut self, sum: Range, divisor: u64, stride: u64) -> bool {
        let start = self.num_parts;
        let mut rest = 0_u64;
        let mut i = sum.start;
        while i < sum.end {
            let part = self.pool[i];
            let (whole, part) = (part.stride / divisor, Part { stride: part.stride % divisor, ..part });
            if whole > 0 {
                self.push_source(part.source, NONE, part.divisor, whole.saturating_mul(stride));
            }
            let part_max = max_of(self, &[part]);
            if part_max < divisor {
                rest = rest.saturating_add(part_max);
            } else if divisor.is_multiple_of(part.stride) {
                let cut = (divisor / part.stride).saturating_mul(part.divisor);
                let end = self.num_parts;
                self.push_source(part.source, cut, part.divisor, part.stride);
                rest = rest.saturating_add(max_of(self, self.parts.split_at(self.num_parts).0.split_at(end).1));
                self.num_parts = end;
                self.push_source(part.source, NONE, cut, stride);
            } else {
                rest = NONE;
            }
            i += 1;
        }
        if rest >= divisor {
            self.num_parts = start;
        }
        rest < divisor
    }

    /// Sorts the list that begins at `start` by strides, the largest first, and merges what continues each other.
    const fn coalesce(&mut self, start: usize) {
        self.add_equals(start);
        self.sort(start);
        let mut i = start;
        while i + 1 < self.num_parts && self.shortage.is_none() {
            let (major, minor) = (self.parts[i], self.parts[i + 1]);
            if self.continues(major, minor) {
                self.take(i + 1);
                self.take(i);
                self.push_source(major.source, NONE, minor.divisor, minor.stride);
                self.add_equals(start);
                self.sort(start);
                i = start;
            } else {
                i += 1;
            }
        }
    }

    /// Adds the strides of parts that are always equal.
    const fn add_equals(&mut self, start: usize) {
        let len = self.num_parts - start;
        if !self.step(len.saturating_mul(len)) {
            return;
        }
        let mut i = start;
        while i < self.num_parts {
            let mut k = i + 1;
            while k < self.num_parts {
                let (this, that) = (self.parts[i], self.parts[k]);
                if this.divisor == that.divisor && same_source(this.source, that.source) {
                    self.parts[i].stride = this.stride.saturating_add(that.stride);
                    self.take(k);
                } else {
                    k += 1;
                }
            }
            i += 1;
        }
    }

    /// Removes a part from the list.
    const fn take(&mut self, mut i: usize) {
        self.num_parts -= 1;
        while i < self.num_parts {
            self.parts[i] = self.parts[i + 1];
            i += 1;
        }
    }

    /// Whether the two parts are `u / d` and `(u % d) / e`, and their strides fit.
    const fn continues(&mut self, major: Part, minor: Part) -> bool {
        if !major.divisor.is_multiple_of(minor.divisor)
            || minor.stride.saturating_mul(major.divisor / minor.divisor) != major.stride
        {
            return false;
        }
        let start = self.num_parts;
        self.push_source(major.source, major.divisor, minor.divisor, minor.stride);
        let continues = self.num_parts == start + 1 && same_part(self.parts[start], minor);
        self.num_parts = start;
        continues
    }

    const fn sort(&mut self, start: usize) {
        let mut i = start;
        while i < self.num_parts {
            let mut k = i;
            while k > start && self.parts[k - 1].stride < self.parts[k].stride {
                (self.parts[k - 1], self.parts[k]) = (self.parts[k], self.parts[k - 1]);
                k -= 1;
            }
            i += 1;
        }
    }

    /// The source before the remainders that one by `modulus` makes needless.
    const fn without_multiples(&self, mut source: Source, modulus: u64) -> Source {
        while let Source::Intermediate(node) = source
            && let Node::Remainder { parent, modulus: multiple } = self.nodes[node as usize]
            && multiple.is_multiple_of(modulus)
        {
            source = parent;
        }
        source
    }

    /// The node for `source % modulus`, or `source` if it is less.
    const fn remainder(&mut self, source: Source, modulus: u64) -> Source {
        if self.bound(source) <= modulus {
            return source;
        }
        let source = self.without_multiples(source, modulus);
        if !self.step(self.num_nodes) {
            return Source::Zero;
        }
        let mut i = 0;
        while i < self.num_nodes {
            if let Node::Remainder { parent, modulus: known } = self.nodes[i]
                && known == modulus
                && same_source(parent, source)
            {
                return Source::Intermediate(i as u32);
            }
            i += 1;
        }
        self.node(Node::Remainder { parent: source, modulus })
    }

    /// The node for the sum of these parts.
    const fn sum(&mut self, sum: Range) -> Source {
        if !self.step(self.num_nodes) {
            return Source::Zero;
        }
        let mut i = 0;
        while i < self.num_nodes {
            if let Node::Sum { parts, .. } = self.nodes[i]
                && parts.end - parts.start == sum.end - sum.start
            {
                self.step(sum.end - sum.start);
                if same_parts(slice(self.pool, parts), slice(self.pool, sum)) {
                    return Source::Intermediate(i as u32);
                }
            }
            i += 1;
        }
        self.node(Node::Sum { parts: sum, bound: max_of(self, slice(self.pool, sum)).saturating_add(1) })
    }

    const fn node(&mut self, node: Node) -> Source {
        if self.num_nodes == self.nodes.len() {
            self.shortage = Some(Shortage::Space);
            return Source::Zero;
        }
        self.nodes[self.num_nodes] = node;
        self.num_nodes += 1;
        Source::Intermediate((self.num_nodes - 1) as u32)
    }

    /// The source without the remainders that no element shows once it is divided by `divisor`.
    const fn without_unseen(&mut self, source: Source, divisor: u64) -> Source {
        let mut moduli = [0; MAX_MODULI];
        let mut len = 0;
        let mut root = source;
        while let Source::Intermediate(node) = root
            && let Node::Remainder { parent, modulus } = self.nodes[node as usize]
        {
            if len == MAX_MODULI {
                return source;
            }
            // The last one that was taken stands first.
            moduli[MAX_MODULI - 1 - len] = modulus;
            len += 1;
            root = parent;
        }
        let moduli = moduli.split_at(MAX_MODULI - len).1;
        // Each remainder is looked at twice for each before it.
        self.step(1 << len);
        let mut seen = root;
        let mut i = 0;
        while i < len {
            let rest = moduli.split_at(i + 1).1;
            let bound = self.bound(seen);
            if bound > moduli[i] && first_shift(rest, divisor, moduli[i], bound - moduli[i]).is_some() {
                seen = self.remainder(seen, moduli[i]);
            }
            i += 1;
        }
        seen
    }
}

/// No sum of these parts is larger.
const fn max_of(state: &State<'_, '_>, parts: &[Part]) -> u64 {
    let mut max = 0_u64;
    let mut i = 0;
    while i < parts.len() {
        max = max.saturating_add(parts[i].stride.saturating_mul(state.max(parts[i])));
        i += 1;
    }
    max
}

/// Chains of more remainders are left as they are.
const MAX_MODULI: usize = 8;

/// With `t(x) = (x % m1 % m2 % …) / divisor`: the first `x` below `limit` with `t(shift + x) != t(x)`.
const fn first_shift(moduli: &[u64], divisor: u64, shift: u64, limit: u64) -> Option<u64> {
    let Some((&period, rest)) = moduli.split_first() else {
        let first = divisor.saturating_sub(shift);
        return if shift > 0 && first < limit { Some(first) } else { None };
    };
    let shift = shift % period;
    if shift == 0 {
        return None;
    }
    let wrap = period - shift;
    if let Some(first) = first_shift(rest, divisor, shift, if limit < wrap { limit } else { wrap }) {
        return Some(first);
    }
    if limit <= wrap {
        return None;
    }
    // From here on the shifted one has wrapped and is after by the same as it was ahead.
    let limit = if limit < period { limit } else { period };
    match first_shift(rest, divisor, wrap, limit - wrap) {
        Some(first) => Some(wrap + first),
        None => None,
    }
}
