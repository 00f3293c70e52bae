//! The normal form of a stride table, by which layouts are compared: a list of parts in a workspace.
//!
//! A part is `(source % m1 % m2 % …) / divisor · stride`: divisions can always be done last, because
//! `(x / d) % m = (x % (d · m)) / d`. Three rules make a form normal:
//!
//! - A modulus that is a multiple of the next one, or that no index of the array reaches, is removed.
//! - A sum that `*` makes is split into its parts wherever the sizes allow it.
//! - Two parts `u / d` and `(u % d) / e` whose strides continue each other are joined to `u / e`.
//!
//! Why equal maps have equal forms, if no sums remain: the strides of a layout are products of sizes, so the smallest
//! stride is the smallest distance between two elements, and the map modulo the next stride determines the part with
//! the smallest stride. The values of a part determine the part: its divisor is the smallest index with value 1, and
//! its last modulus is the first index at which the value drops. So the parts of equal maps can differ only where one
//! part continues another, and such parts are joined. For sums that cannot be split, only the converse holds: maps with
//! equal forms are equal.
//!
//! Everything is `const`, because types ask too: whether a layout is strided, whether a reshape is a bitcast, `assert_same_map!`. There is
//! one implementation for both; a `const` gives it a workspace of fixed size, a program one that grows.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; indices are below counters, and products are checked or below `positions`"
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

/// A source of parts other than a dimension. Equal nodes of a workspace have the same number.
#[derive(Clone, Copy)]
pub(crate) enum Node {
    /// `parent % modulus`.
    Remainder { parent: Source, modulus: u64 },
    /// The sum of these parts, which is less than `bound`. It is a node because its remainder cannot be written as
    /// parts.
    Sum { parts: Range, bound: u64 },
}

/// A range of parts of a workspace's pool.
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

/// Storage for making normal forms.
pub(crate) struct NormalWorkspace<'a> {
    /// The stack of lists under construction; the last list is the digits.
    pub(crate) parts: &'a mut [Part],
    /// The finished lists, which nodes and values refer to.
    pub(crate) pool: &'a mut [Part],
    pub(crate) nodes: &'a mut [Node],
    /// One for each intermediate value of the table.
    pub(crate) values: &'a mut [Range],
}

/// Why there is no normal form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exhausted {
    /// The workspace is too small; a larger one may do.
    Workspace,
    /// Sums and remainders are nested too deeply, or take too many steps.
    Steps,
}

/// How many more steps normal forms may take; a step visits a part or a node.
pub(crate) struct Budget(usize);

impl Budget {
    /// The budget of one decision: enough for any layout that was not made to be hard.
    pub(crate) const fn for_one_decision() -> Self {
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
    workspace: &'a mut NormalWorkspace<'_>,
    budget: &mut Budget,
) -> Result<Normal<'a>, Exhausted> {
    let NormalWorkspace { parts, pool, nodes, values } = workspace;
    let mut normalizer = Normalizer::new(extents, parts, pool, nodes, budget);
    let digits = normalizer.form(view, values);
    match normalizer.exhausted {
        Some(exhausted) => Err(exhausted),
        None => Ok(Normal {
            digits: slice(normalizer.pool, digits),
            pool: normalizer.pool.split_at(normalizer.num_pool).0,
            nodes: normalizer.nodes.split_at(normalizer.num_nodes).0,
        }),
    }
}

/// Whether both maps have the same normal form for indices below `extents`, none of which is 0.
pub(crate) const fn have_same_form(
    maps: [View<'_>; 2],
    extents: &[u64],
    workspace: &mut NormalWorkspace<'_>,
    budget: &mut Budget,
) -> Result<bool, Exhausted> {
    let NormalWorkspace { parts, pool, nodes, values } = workspace;
    // Both forms share one workspace, in which equal nodes have the same number, so that nodes are compared by number.
    // Comparing them recursively would take exponential time where nodes share subexpressions.
    let mut normalizer = Normalizer::new(extents, parts, pool, nodes, budget);
    let forms = [normalizer.form(maps[0], values), normalizer.form(maps[1], values)];
    match normalizer.exhausted {
        Some(exhausted) => Err(exhausted),
        None => Ok(same_parts(slice(normalizer.pool, forms[0]), slice(normalizer.pool, forms[1]))),
    }
}

/// The parts of a list in the pool.
pub(crate) const fn slice(pool: &[Part], range: Range) -> &[Part] {
    pool.split_at(range.end).0.split_at(range.start).1
}

const fn same_part(this: Part, that: Part) -> bool {
    this.stride == that.stride && this.divisor == that.divisor && this.source.same(that.source)
}

const fn same_parts(these: &[Part], those: &[Part]) -> bool {
    let mut i = 0;
    while i < these.len() && i < those.len() && same_part(these[i], those[i]) {
        i += 1;
    }
    i == these.len() && i == those.len()
}

struct Normalizer<'a, 'e> {
    extents: &'e [u64],
    parts: &'a mut [Part],
    num_parts: usize,
    pool: &'a mut [Part],
    num_pool: usize,
    nodes: &'a mut [Node],
    num_nodes: usize,
    depth: usize,
    budget: &'e mut Budget,
    /// Why the work stopped; if set, the forms made so far are not valid.
    exhausted: Option<Exhausted>,
}

impl<'a, 'e> Normalizer<'a, 'e> {
    const fn new(
        extents: &'e [u64],
        parts: &'a mut [Part],
        pool: &'a mut [Part],
        nodes: &'a mut [Node],
        budget: &'e mut Budget,
    ) -> Self {
        let (num_parts, num_pool, num_nodes) = (0, 0, 0);
        Self { extents, parts, num_parts, pool, num_pool, nodes, num_nodes, depth: 0, budget, exhausted: None }
    }

    /// Makes the normal form of `view`; `values` is scratch space for its intermediate values.
    const fn form(&mut self, view: View<'_>, values: &mut [Range]) -> Range {
        let table = view.table;
        if table.intermediates.len() > values.len() {
            self.exhausted = Some(Exhausted::Workspace);
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

    /// Takes steps from the budget; returns whether work may go on.
    const fn step(&mut self, steps: usize) -> bool {
        if self.exhausted.is_none() && !self.budget.take(steps) {
            self.exhausted = Some(Exhausted::Steps);
        }
        self.exhausted.is_none()
    }

    /// An exclusive upper bound of a source.
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

    /// The largest value of a part, before it is multiplied by its stride.
    const fn max(&self, part: Part) -> u64 {
        (self.bound(part.source) - 1) / part.divisor
    }

    const fn push(&mut self, part: Part) {
        if self.max(part) == 0 {
            return;
        }
        if self.num_parts == self.parts.len() {
            self.exhausted = Some(Exhausted::Workspace);
            return;
        }
        self.parts[self.num_parts] = part;
        self.num_parts += 1;
    }

    /// Moves the list that begins at `start` from the stack to the pool.
    const fn store(&mut self, start: usize) -> Range {
        let range = Range { start: self.num_pool, end: self.num_pool + (self.num_parts - start) };
        if range.end > self.pool.len() {
            self.exhausted = Some(Exhausted::Workspace);
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
    ///
    /// With `T(*,4)` on `f32[3,4]`, the combined value is `i·4 + j`: its quotient by 4 is `i`, and its remainder is `j`. Where neither can
    /// be had, as in the remainder by 3, the sum becomes a node.
    const fn push_cut(&mut self, sum: Range, modulus: u64, divisor: u64, stride: u64) {
        if self.depth == MAX_DECISION_DEPTH {
            self.exhausted = Some(Exhausted::Steps);
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

    /// Appends parts whose sum is congruent to the sum of these, with each part reduced modulo `modulus` where
    /// possible.
    ///
    /// In `(i·6 + j) % 4`, `i·6` is that of `i % 2`, because 2·6 is a multiple of 4.
    const fn push_congruent(&mut self, sum: Range, modulus: u64) {
        let within = max_of(self, slice(self.pool, sum)) < modulus;
        let mut i = sum.start;
        while i < sum.end {
            let part = self.pool[i];
            if within || max_of(self, &[part]) < modulus {
                self.push(part);
            } else {
                // Increasing the part's value by `period` adds a multiple of the modulus.
                let period = modulus / greatest_common_divisor(modulus, part.stride);
                let end = self.num_parts;
                self.push_source(part.source, period.saturating_mul(part.divisor), part.divisor, part.stride);
                self.reduce_strides(end, modulus);
            }
            i += 1;
        }
    }

    /// Reduces the strides from `start` on modulo `modulus`, where the part then stays below the modulus.
    ///
    /// In `((i % 2)·6 + …) % 4`, 6 becomes 2: the part is then at most 2.
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

    /// Appends the parts of `sum / divisor · stride` and returns true, or appends nothing if the quotient is not a sum
    /// of parts.
    ///
    /// With `j < 4`, `(i·4 + j) / 2` is `i·2 + j/2`: 4 is a multiple of 2, and what is left of `j`, `j % 2`, is too small to carry. But
    /// `(i·3 + j) / 2` carries: it is not a sum of parts.
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

    /// Sorts the list that begins at `start` by strides, the largest first, and joins parts that continue each other.
    ///
    /// `f32[16,128]{1,0:T(8,128)}` has the parts `i/8·1024`, `i%8·128` and `j`. The first two are joined to `i·128`, so the array lies as
    /// without tiles.
    const fn coalesce(&mut self, start: usize) {
        self.add_equals(start);
        self.sort(start);
        let (mut i, mut k) = (start, start + 1);
        while k < self.num_parts && self.exhausted.is_none() {
            // In a sum that `*` makes, parts of other dimensions may lie between the two.
            let (major, minor) = (self.parts[i], self.parts[k]);
            if self.continues(major, minor) {
                self.take(k);
                self.take(i);
                self.push_source(major.source, NONE, minor.divisor, minor.stride);
                self.add_equals(start);
                self.sort(start);
                (i, k) = (start, start + 1);
            } else if k + 1 < self.num_parts {
                k += 1;
            } else {
                (i, k) = (i + 1, i + 2);
            }
        }
    }

    /// Merges parts with the same source and divisor: adds their strides. `i·2` and `i·3` are `i·5`.
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
                if this.divisor == that.divisor && this.source.same(that.source) {
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

    /// Whether the two parts are `u / d` and `(u % d) / e`, and their strides continue each other.
    ///
    /// `i/8·1024` and `i%8·128` do: 8 steps of 128 are one of 1024. `i/8·2048` and `i%8·128` do not.
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

    /// The source without its outermost remainders whose moduli are multiples of `modulus`, which a remainder modulo
    /// `modulus` makes redundant.
    ///
    /// `x % 24 % 8` is `x % 8`, so of `x % 24` with 8, `x` is left. `x % 24 % 9` stays.
    const fn without_multiples(&self, mut source: Source, modulus: u64) -> Source {
        while let Source::Intermediate(node) = source
            && let Node::Remainder { parent, modulus: multiple } = self.nodes[node as usize]
            && multiple.is_multiple_of(modulus)
        {
            source = parent;
        }
        source
    }

    /// The node for `source % modulus`, or `source` if it is less: `i % 128` is `i` where there are 100 indices.
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
                && parent.same(source)
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
            self.exhausted = Some(Exhausted::Workspace);
            return Source::Zero;
        }
        self.nodes[self.num_nodes] = node;
        self.num_nodes += 1;
        Source::Intermediate((self.num_nodes - 1) as u32)
    }

    /// The source without the remainders that change no element's value once it is divided by `divisor`.
    ///
    /// With `x < 9`, `x % 8 % 5 / 4` is `x % 5 / 4`: `% 8` changes only `x = 8`, from 3 to 0, and both are 0 after the division. With
    /// `x < 10` it counts, because 9 gives 4, and not 1.
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
            // The modulus that is applied first comes first.
            moduli[MAX_MODULI - 1 - len] = modulus;
            len += 1;
            root = parent;
        }
        let moduli = moduli.split_at(MAX_MODULI - len).1;
        // `first_shift` recurses twice for each modulus.
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

/// An upper bound of the sum of these parts.
const fn max_of(normalizer: &Normalizer<'_, '_>, parts: &[Part]) -> u64 {
    let mut max = 0_u64;
    let mut i = 0;
    while i < parts.len() {
        max = max.saturating_add(parts[i].stride.saturating_mul(normalizer.max(parts[i])));
        i += 1;
    }
    max
}

/// The longest chain of remainders that is simplified; longer ones stay as they are.
const MAX_MODULI: usize = 8;

/// With `t(x) = (x % m1 % m2 % …) / divisor`: the first `x` below `limit` with `t(shift + x) != t(x)`.
///
/// For `t(x) = x % 5 / 4` and a shift of 8, that is 1: `t(9)` is 1, `t(1)` is 0.
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
    // For `x >= wrap`, `(shift + x) % period` is `x - wrap`. So compare `t(wrap + y)` with `t(y)` for `y = x - wrap`.
    let limit = if limit < period { limit } else { period };
    match first_shift(rest, divisor, wrap, limit - wrap) {
        Some(first) => Some(wrap + first),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Digit, StrideTable};
    use super::*;
    use alloc::string::String;
    use alloc::vec::Vec;
    use alloc::{format, vec};
    use core::num::NonZeroU64;

    fn term(source: Source, divisor: u64, modulus: u64) -> Term {
        Term { source, divisor: NonZeroU64::new(divisor).unwrap(), modulus: NonZeroU64::new(modulus) }
    }

    /// A part of dimension 0; a modulus of 0 is none.
    fn row(divisor: u64, modulus: u64) -> Term {
        term(Source::Dimension(0), divisor, modulus)
    }

    fn table(extents: &[u64], digits: &[Digit], values: Vec<Intermediate>) -> StrideTable {
        StrideTable::from_digits(extents, digits, values).unwrap()
    }

    /// The canonical form of a table without sums, as a text: `i/8·2 + j%3·1`.
    fn form(table: &StrideTable) -> String {
        let mapping = table.as_ref().canonical().unwrap();
        assert!(mapping.intermediates().is_empty(), "a sum is left");
        let part = |digit: &Digit| {
            let Source::Dimension(dimension) = digit.term.source else { panic!("a part of a dimension") };
            let letter = char::from(b'i' + dimension as u8);
            let divisor = Some(digit.term.divisor.get()).filter(|&divisor| divisor > 1);
            let divisor = divisor.map(|divisor| format!("/{divisor}")).unwrap_or_default();
            let modulus = digit.term.modulus.map(|modulus| format!("%{modulus}")).unwrap_or_default();
            format!("{letter}{divisor}{modulus}·{}", digit.stride)
        };
        mapping.digits().iter().map(part).collect::<Vec<_>>().join(" + ")
    }

    /// The form of `(i·size + j) / divisor % modulus`, where there are so many of `i` and of `j`.
    fn combined(extents: [u64; 2], size: u64, divisor: u64, modulus: u64) -> String {
        let [major, minor] = [0, 1].map(|dimension| term(Source::Dimension(dimension), 1, 0));
        let most = (extents[0] - 1) * size + extents[1] - 1;
        let minor_size = NonZeroU64::new(size).unwrap();
        let sum = Intermediate::Combine { major, minor, minor_size, size: most + 1 };
        let size = if modulus > 0 { modulus } else { most / divisor + 1 };
        let digit = Digit { term: term(Source::Intermediate(0), divisor, modulus), size, stride: 1 };
        form(&table(&extents, &[digit], vec![sum]))
    }

    #[test]
    fn sums_are_split_as_the_examples_say() {
        assert_eq!(combined([3, 4], 4, 4, 0), "i·1");
        assert_eq!(combined([3, 4], 4, 1, 4), "j·1");
        assert_eq!(combined([3, 2], 6, 1, 4), "i%2·2 + j·1");
        assert_eq!(combined([3, 4], 4, 2, 0), "i·2 + j/2·1");
    }

    #[test]
    fn parts_are_joined_as_the_examples_say() {
        let tiles =
            |stride| [Digit { term: row(8, 0), size: 2, stride }, Digit { term: row(1, 8), size: 8, stride: 128 }];
        assert_eq!(form(&table(&[16], &tiles(1024), vec![])), "i·128");
        assert_eq!(form(&table(&[16], &tiles(2048), vec![])), "i/8·2048 + i%8·128");
        let twice = [3, 2].map(|stride| Digit { term: row(1, 0), size: 16, stride });
        assert_eq!(form(&table(&[16], &twice, vec![])), "i·5");
    }

    #[test]
    fn remainders_that_no_element_sees_are_removed() {
        // `x % first % second / divisor`, for `x` below `extent`.
        let cut = |first, second: u64, divisor: u64, extent| {
            let outer = Intermediate::Term { term: row(1, first), size: first };
            let inner = Intermediate::Term { term: term(Source::Intermediate(0), 1, second), size: second };
            let size = second.div_ceil(divisor);
            let digit = Digit { term: term(Source::Intermediate(1), divisor, 0), size, stride: 1 };
            table(&[extent], &[digit], vec![outer, inner])
        };
        let first_moved = |one: &StrideTable, other: &StrideTable| one.as_ref().first_moved(other.as_ref()).unwrap();
        assert_eq!(first_moved(&cut(24, 8, 1, 100), &cut(8, 8, 1, 100)), None);
        assert!(first_moved(&cut(24, 9, 1, 100), &cut(9, 9, 1, 100)).is_some());
        assert_eq!(first_moved(&cut(8, 5, 4, 9), &cut(5, 5, 4, 9)), None);
        assert_eq!(first_moved(&cut(8, 5, 4, 10), &cut(5, 5, 4, 10)), Some(vec![9]));
        assert_eq!((first_shift(&[5], 4, 8, 1), first_shift(&[5], 4, 8, 2)), (None, Some(1)));
    }
}
