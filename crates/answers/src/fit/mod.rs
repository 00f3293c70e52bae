//! What fits: the memory and the cost of a program in several settings, and the sizes from which it no longer fits.
//!
//! The crate `xla-shape-tune` asks the compiler, and makes this answer.

mod need;

use crate::Answer;
use crate::amount::{self, Amount};
use crate::digest::{self, Digest};
use crate::search::{Axis, Search, setting};
pub use need::{Held, Need};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Which settings fit. Each setting has one value of every axis.
///
/// ```
/// use xla_shape_answers::cost::Amount;
/// use xla_shape_answers::fit::{Fit, Line, Need, Tried};
/// use xla_shape_answers::search::Axis;
///
/// let batch = Axis { bisected: true, ..Axis::new("batch", ["8", "16", "32"]) };
/// let tried = |value, needed, fits| Tried {
///     at: vec![value],
///     device: Some("v5e:2x2".to_owned()),
///     need: Need { fits: Some(fits), needed_bytes: Some(needed), available_bytes: Some(700), ..Need::default() },
///     amount: Some(Amount::Cycles(needed)),
/// };
/// let line = Line { at: vec![0], largest: Some(1), next: Some(2), closed: true, ..Line::default() };
/// let fit = Fit::new(vec![batch], vec![tried(1, 600, true), tried(2, 900, false)], &[line]);
/// assert_eq!((fit.settings, fit.rows.len(), fit.any_fits(), fit.axes[0].bisected), (3, 2, true, true));
/// let border = &fit.borders[0];
/// assert_eq!((border.largest.as_deref(), border.next.as_deref()), (Some("16"), Some("32")));
/// assert_eq!(fit.rows[border.next_row.unwrap()].short_bytes, Some(200));
/// assert!(fit.rows[0].best && !fit.rows[1].best, "what does not fit is not the best");
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Fit {
    /// The axes.
    pub axes: Vec<Axis>,
    /// For each combination of the other axes' values: where the values of the bisected axis cease to fit. Empty if no axis is bisected.
    pub borders: Vec<Border>,
    /// The settings that were tried, in the order of the axes' values.
    pub rows: Vec<Row>,
    /// How many settings there are.
    pub settings: usize,
    /// How the search went.
    #[serde(flatten)]
    pub search: Search,
}

/// A setting that was tried.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Row {
    /// For each axis, the number of its value.
    #[serde(skip)]
    pub at: Vec<usize>,
    /// The value of each axis, by its name.
    pub setting: BTreeMap<String, String>,
    /// The device, such as "v5e:2x2"; null if no program could be made for this setting.
    #[serde(rename = "for")]
    pub device: Option<String>,
    /// What the program needs.
    #[serde(flatten)]
    pub need: Need,
    /// How many bytes more it needs than are available; null if it fits, or if that is not known.
    pub short_bytes: Option<u64>,
    /// The cost of one run; `None` if the compiler does not say enough for a total, or refused the program.
    #[serde(flatten, serialize_with = "amount::one_run")]
    #[schemars(with = "amount::OneRun")]
    pub amount: Option<Amount>,
    /// Whether it fits, and no other row of its device that fits is better. A row is better if its value of the bisected axis is not smaller, it
    /// takes no more memory and costs no more, and the two are not equal in all of these.
    pub best: bool,
}

/// Where the values of the bisected axis cease to fit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Border {
    /// The bisected axis.
    pub axis: String,
    /// The values of the other axes, by their names.
    pub setting: BTreeMap<String, String>,
    /// The largest value that fits; null if none fits.
    pub largest: Option<String>,
    /// The entry of `rows` for `largest`.
    pub largest_row: Option<usize>,
    /// The smallest value above `largest` that does not fit; null if all fit.
    pub next: Option<String>,
    /// The entry of `rows` for `next`.
    pub next_row: Option<usize>,
    /// Values that do not fit although a larger one does: a larger value can need less memory.
    pub exceptions: Vec<String>,
    /// Values between `largest` and `next` for which it is not known whether they fit: the compiler refused them for a reason other than memory, or
    /// they have no program.
    pub unknown: Vec<String>,
    /// Whether every value between `largest` and `next` was tried. Some were not tried if the user ended the search, or if the compiler refused too
    /// many programs for a reason other than memory.
    pub closed: bool,
    /// Whether the values are not in ascending order of the memory that they need: the last value fits, although the first does not or an earlier one
    /// needs more. In this case, all values were tried.
    pub unordered: bool,
}

/// A compiler's answer about a setting.
///
/// ```
/// use xla_shape_answers::fit::{Fit, Need, Tried};
/// use xla_shape_answers::search::Axis;
///
/// let tried = Tried { at: vec![0], device: None, need: Need::unknown("no such function".to_owned()), amount: None };
/// let axis = Axis::new("batch", ["8"]);
/// assert!(!Fit::new(vec![axis], vec![tried], &[]).any_fits());
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// For each axis, the number of its value.
    pub at: Vec<usize>,
    /// The device; `None` if no program could be made for this setting.
    pub device: Option<String>,
    /// What the program needs.
    pub need: Need,
    /// The cost of one run, if it is known.
    pub amount: Option<Amount>,
}

/// The result of a search along the bisected axis. Values are given by their numbers in the axis.
///
/// ```
/// use xla_shape_answers::fit::{Fit, Line};
/// use xla_shape_answers::search::Axis;
///
/// let batch = Axis { bisected: true, ..Axis::new("batch", ["8", "16"]) };
/// let line = Line { at: vec![0], next: Some(0), unknown: vec![1], ..Line::default() };
/// let fit = Fit::new(vec![batch], Vec::new(), &[line]);
/// assert_eq!(fit.borders[0].unknown, ["16"]);
/// assert_eq!((fit.borders[0].largest.as_deref(), fit.borders[0].next.as_deref()), (None, Some("8")));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Line {
    /// For each axis, the number of its value; for the bisected axis, any number.
    pub at: Vec<usize>,
    /// The largest value that fits.
    pub largest: Option<usize>,
    /// The smallest value above `largest` that does not fit.
    pub next: Option<usize>,
    /// Values that do not fit although a larger one does.
    pub exceptions: Vec<usize>,
    /// Values between `largest` and `next` for which it is not known whether they fit.
    pub unknown: Vec<usize>,
    /// Whether every value between `largest` and `next` was tried.
    pub closed: bool,
    /// Whether the last value fits although the first one does not, or although an earlier one needs more.
    pub unordered: bool,
}

impl Fit {
    /// The answer for the settings that were tried, and the lines along the bisected axis.
    #[must_use]
    pub fn new(axes: Vec<Axis>, mut tried: Vec<Tried>, lines: &[Line]) -> Self {
        tried.sort_by(|one, other| one.at.cmp(&other.at));
        let bisected = axes.iter().position(|axis| axis.bisected);
        let best = tried.iter().map(|one| is_best(one, &tried, bisected)).collect::<Vec<_>>();
        let rows = tried.into_iter().zip(best).map(|(Tried { at, device, need, amount }, best)| Row {
            setting: setting(&axes, &at),
            at,
            device,
            short_bytes: need.short_bytes(),
            need,
            amount,
            best,
        });
        let rows = rows.collect::<Vec<_>>();
        let borders = bisected
            .map_or_else(Vec::new, |along| lines.iter().map(|line| Border::new(&axes, &rows, along, line)).collect());
        let settings = axes.iter().map(|axis| axis.values.len()).product();
        Self { axes, borders, rows, settings, ..Self::default() }
    }

    /// The rows that show what does not fit: the first one beyond each border; if no axis is bisected, all that do not fit.
    ///
    /// ```
    /// # use xla_shape_answers::fit::{Fit, Need, Tried};
    /// # use xla_shape_answers::search::Axis;
    /// let axis = Axis::new("batch", ["8"]);
    /// let need = Need { fits: Some(false), ..Need::unknown("out of memory".to_owned()) };
    /// let fit = Fit::new(vec![axis], vec![Tried { at: vec![0], device: None, need, amount: None }], &[]);
    /// assert_eq!(fit.too_large()[0].setting["batch"], "8");
    /// ```
    #[must_use]
    pub fn too_large(&self) -> Vec<&Row> {
        if self.axes.iter().any(|axis| axis.bisected) {
            return self.borders.iter().filter_map(|border| self.rows.get(border.next_row?)).collect();
        }
        self.rows.iter().filter(|row| row.need.fits == Some(false)).collect()
    }

    /// Whether a setting fits.
    #[must_use]
    pub fn any_fits(&self) -> bool {
        self.rows.iter().any(|row| row.need.fits == Some(true))
    }
}

impl Border {
    fn new(axes: &[Axis], rows: &[Row], along: usize, line: &Line) -> Self {
        let mut others = setting(axes, &line.at);
        let axis = axes.get(along).map(|axis| axis.name.clone()).unwrap_or_default();
        others.remove(&axis);
        let value = |number: usize| axes.get(along).and_then(|axis| axis.values.get(number)).cloned();
        let row = |number: usize| {
            let mut at = line.at.clone();
            *at.get_mut(along)? = number;
            rows.iter().position(|row| row.at == at)
        };
        let values = |numbers: &[usize]| numbers.iter().filter_map(|&number| value(number)).collect();
        Self {
            axis,
            setting: others,
            largest: line.largest.and_then(value),
            largest_row: line.largest.and_then(row),
            next: line.next.and_then(value),
            next_row: line.next.and_then(row),
            exceptions: values(&line.exceptions),
            unknown: values(&line.unknown),
            closed: line.closed,
            unordered: line.unordered,
        }
    }
}

/// Whether a setting fits, and no setting for the same device is better. Unknown figures are neither better nor worse.
fn is_best(one: &Tried, all: &[Tried], bisected: Option<usize>) -> bool {
    let figures = |tried: &Tried| {
        let size = bisected.and_then(|along| tried.at.get(along).copied());
        Some((std::cmp::Reverse(size), tried.need.needed_bytes?, tried.amount?))
            .filter(|_| tried.need.fits == Some(true))
    };
    let Some(own) = figures(one) else { return one.need.fits == Some(true) };
    let is_better = |other: &Tried| {
        figures(other).is_some_and(|(size, bytes, amount)| {
            other.device == one.device
                && size <= own.0
                && bytes <= own.1
                && amount <= own.2
                && (size, bytes, amount) != own
        })
    };
    !all.iter().any(is_better)
}

impl Answer for Fit {
    const SCHEMA: &'static str = "xla-shape/fit/1";

    /// The causes are the first of the [`too_large`](Self::too_large) rows, each with its largest array.
    fn digest(&self) -> Digest {
        let cause = |row: &Row| {
            let name = row.setting.iter().map(|(axis, value)| format!("{axis}={value}")).collect::<Vec<_>>().join(", ");
            let largest = row.need.largest.as_ref();
            digest::Cause {
                name,
                amount: row.short_bytes.map(digest::Amount::Bytes),
                source: largest.and_then(|held| held.source.clone()),
                because: Some(largest.map_or_else(
                    || "it does not fit".to_owned(),
                    |held| format!("it does not fit; the largest array is {}, {}", held.shape, held.role.name()),
                )),
                remedy: None,
            }
        };
        Digest { causes: self.too_large().into_iter().map(cause).take(digest::MOST).collect(), next: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fit, Need, Tried};
    use crate::cost::Amount;
    use crate::search::Axis;

    #[test]
    fn of_rows_that_fit_on_one_device_those_are_the_best_that_no_other_beats() {
        let axis = |name: &str, count: usize, bisected| Axis {
            bisected,
            ..Axis::new(name, (0..count).map(|value| value.to_string()))
        };
        let row = |at: [usize; 2], device: &str, fits, bytes, cycles: Option<u64>| Tried {
            at: at.to_vec(),
            device: Some(device.to_owned()),
            need: Need { fits: Some(fits), needed_bytes: Some(bytes), ..Need::default() },
            amount: cycles.map(Amount::Cycles),
        };
        let rows = [
            (row([0, 0], "v5e", true, 10, Some(10)), true),
            // This takes more memory and more cycles for the same size.
            (row([0, 1], "v5e", true, 11, Some(11)), false),
            // This has a larger size, so it may take more.
            (row([1, 0], "v5e", true, 20, Some(20)), true),
            (row([1, 1], "v5e", true, 15, Some(30)), true),
            (row([2, 0], "v5e", false, 5, Some(5)), false),
            // This is for another device, and its cost is not known.
            (row([0, 2], "v6e", true, 99, Some(99)), true),
            (row([0, 3], "v5e", true, 99, None), true),
        ];
        let axes = vec![axis("batch", 3, true), axis("remat", 4, false)];
        let fit = Fit::new(axes, rows.iter().map(|(row, _)| row.clone()).collect(), &[]);
        for (row, best) in &rows {
            let found = fit.rows.iter().find(|found| found.at == row.at).unwrap();
            assert_eq!(found.best, *best, "{:?}", row.at);
        }
    }
}
