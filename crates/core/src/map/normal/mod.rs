//! The normal form of a stride table, by which layouts are compared: a list of parts in a workspace.
//!
//! A part is `(source % m1 % m2 % …) / divisor · stride`: divisions can always be done last, because
//! `(x / d) % m = (x % (d · m)) / d`. Three rules make a form normal:
//!
//! - A modulus that is a multiple of the next one, or that no index of the array reaches, is removed.
//! - A sum that `*` makes is split into its parts wherever the sizes allow it.
//! - Two parts `u / d` and `(u % d) / e` whose strides continue each other are joined to `u / e`.
//!
//! If no sums remain, equal maps have equal forms. Proof: the strides of a layout are products of sizes, so the
//! smallest stride is the smallest distance between two elements. The map modulo the next stride determines the values
//! of the part with the smallest stride. These values determine the part: its divisor is the smallest index with value
//! 1, and its last modulus is the first index at which the value drops. So the parts of equal maps can differ only
//! where one part continues another, and such parts are joined. If there are sums that cannot be split, only the
//! converse holds: maps with equal forms are equal.
//!
//! Everything is `const`, because types ask too: whether a layout is strided, whether a reshape is a bitcast, `assert_same_map!`. There is
//! one implementation for both; a `const` gives it a workspace of fixed size, a program one that grows.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; indices are below counters")]

mod rules;

use super::Source;
use super::terms::View;
use crate::limits::MAX_DECISION_STEPS;
use crate::list::Blank;
use rules::Normalizer;

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

#[cfg(test)]
mod tests;
