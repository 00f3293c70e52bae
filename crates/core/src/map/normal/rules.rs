//! The rules that make a form normal. Each takes the parts at the end of a list, from a given one on, and rewrites them in place.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; indices are below counters, and products are checked or below `positions`"
)]

use super::super::arithmetic::greatest_common_divisor;
use super::super::terms::View;
use super::super::{Intermediate, Source, Term};
use super::{Budget, Exhausted, NONE, Node, Part, Range, same_part, same_parts, slice};
use crate::limits::MAX_DECISION_DEPTH;
use crate::list::Blank;

pub(super) struct Normalizer<'a, 'e> {
    extents: &'e [u64],
    parts: &'a mut [Part],
    num_parts: usize,
    pub(super) pool: &'a mut [Part],
    pub(super) num_pool: usize,
    pub(super) nodes: &'a mut [Node],
    pub(super) num_nodes: usize,
    depth: usize,
    budget: &'e mut Budget,
    /// Why the work stopped; if set, the forms made so far are not valid.
    pub(super) exhausted: Option<Exhausted>,
}

impl<'a, 'e> Normalizer<'a, 'e> {
    pub(super) const fn new(
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
    pub(super) const fn form(&mut self, view: View<'_>, values: &mut [Range]) -> Range {
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
    /// With `T(*,4)` on `f32[3,4]`, the combined value is `i·4 + j`: its quotient by 4 is `i`, and its remainder is `j`. If the
    /// result has no such parts, as in the remainder by 3, the sum becomes a node.
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
    /// In `(i·6 + j) % 4`, the part `i·6` becomes `(i % 2)·6`, because 2·6 is a multiple of 4.
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

    /// Replaces strides, from part `start` on, by their remainders modulo `modulus`, if the part then stays below the modulus.
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
    /// `f32[16,128]{1,0:T(8,128)}` has the parts `i/8·1024`, `i%8·128` and `j`. The first two are joined to `i·128`, the
    /// same as without tiles.
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
    /// `x % 24` becomes `x` if `modulus` is 8, because `x % 24 % 8` is `x % 8`. It stays if `modulus` is 9.
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

    /// The source without the remainders that make no difference after the division by `divisor`.
    ///
    /// With `x < 9`, `x % 8 % 5 / 4` equals `x % 5 / 4`. The two differ at most for `x = 8`: without `% 8`, the remainder by 5 is 3
    /// instead of 0, and both are 0 after the division. With `x < 10`, `% 8` must stay: without it, `x = 9` would give 4 instead of 1.
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
pub(super) const fn first_shift(moduli: &[u64], divisor: u64, shift: u64, limit: u64) -> Option<u64> {
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
