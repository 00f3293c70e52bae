//! Compares the compiler's estimates with measured times.

use std::collections::BTreeMap;
use xla_shape_core::sorting::{map_of, sort_by};
use xla_shape_hlo::Instruction;
use xla_shape_hlo::cost::{Costs, InstructionCost, Unit};
use xla_shape_hlo::profile::{InstructionTimes, ProfiledModule};

/// An instruction counts as different from its estimate if its mean time is more than this many times the estimate, or the estimate more than this
/// many times the mean time.
pub(super) const DIFFERS: f64 = 1.5;

/// The length of a cycle is a median over the instructions that have both cycles and a time. There must be at least this many of them.
const FEWEST: usize = 3;

/// The compiler's figures for a program that was measured.
pub(super) struct Estimates<'c> {
    costs: BTreeMap<u32, &'c InstructionCost<'c>>,
    unit: Unit,
    picoseconds_per_cycle: Option<f64>,
}

/// The estimate of an instruction, compared with its times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Expected {
    pub(super) picoseconds: Option<u64>,
    /// The mean time divided by the estimate.
    pub(super) over: Option<f64>,
    pub(super) differs: bool,
}

impl<'c> Estimates<'c> {
    pub(super) fn new(costs: &'c Costs<'c>, measured: &ProfiledModule) -> Self {
        let by_number = map_of(costs.instructions().iter().map(|cost| (cost.instruction.number(), cost)));
        let by_name = map_of(measured.instructions());
        let ratios = costs.instructions().iter().filter_map(|cost| {
            let times = by_name.get(cost.instruction.name())?;
            let cycles = cost.figure.known().filter(|cycles| *cycles > 0)?;
            Some((times.mean_of_executions()? as f64 / cycles as f64, times.own))
        });
        let picoseconds_per_cycle = match costs.unit() {
            Unit::Cycles => median(ratios.filter(|(ratio, _)| *ratio > 0.0).collect()),
            Unit::Picoseconds => None,
        };
        Self { costs: by_number, unit: costs.unit(), picoseconds_per_cycle }
    }

    pub(super) const fn picoseconds_per_cycle(&self) -> Option<f64> {
        self.picoseconds_per_cycle
    }

    pub(super) fn cost(&self, instruction: Instruction<'_>) -> Option<&'c InstructionCost<'c>> {
        self.costs.get(&instruction.number()).copied()
    }

    /// Compares the estimate of an instruction with its times.
    pub(super) fn compare(&self, cost: Option<&InstructionCost<'_>>, times: &InstructionTimes) -> Expected {
        let figure = cost.and_then(|cost| cost.figure.known()).filter(|figure| *figure > 0);
        let picoseconds = figure.and_then(|figure| match self.unit {
            Unit::Picoseconds => Some(figure),
            Unit::Cycles => Some((figure as f64 * self.picoseconds_per_cycle?).round() as u64),
        });
        let over = picoseconds.filter(|expected| *expected > 0).zip(times.mean_of_executions());
        let over = over.map(|(expected, mean)| mean as f64 / expected as f64);
        let differs = over.is_some_and(|over| !(1.0 / DIFFERS..=DIFFERS).contains(&over));
        Expected { picoseconds, over, differs }
    }
}

/// The weighted median of numbers; `None` if there are too few.
fn median(mut all: Vec<(f64, u64)>) -> Option<f64> {
    if all.len() < FEWEST {
        return None;
    }
    sort_by(&mut all, |(one, _), (other, _)| one.total_cmp(other));
    let half = all.iter().map(|(_, weight)| u128::from(*weight)).sum::<u128>() / 2;
    let mut before = 0;
    let middle = all.iter().find(|(_, weight)| {
        before += u128::from(*weight);
        before > half
    });
    middle.or(all.last()).map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_where_half_of_the_weight_is() {
        assert_eq!(median(vec![(1.0, 1), (2.0, 1)]), None);
        assert_eq!(median(vec![(9.0, 1), (1.0, 1), (2.0, 1)]), Some(2.0));
        assert_eq!(median(vec![(9.0, 5), (1.0, 1), (2.0, 1)]), Some(9.0));
        assert_eq!(median(vec![(3.0, 0), (1.0, 0), (2.0, 0)]), Some(3.0));
    }
}
