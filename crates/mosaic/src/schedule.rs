//! The compiler's own counts: the analysis of a schedule, and how many slots of each unit a bundle uses.

use alloc::vec::Vec;

/// The contents of `schedule-analysis_final_bundles`: the counts of bundles, and the HLO instruction that they belong to.
///
/// ```
/// use xla_shape_mosaic::Schedule;
///
/// let schedule = Schedule::parse("Schedule analysis:\n\ttotal scheduled bundles:    21\n\tempty scheduled bundles:    1\n");
/// assert_eq!((schedule.total, schedule.empty), (Some(21), Some(1)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Schedule<'a> {
    /// The number of bundles.
    pub total: Option<u64>,
    /// The number of bundles without slots.
    pub empty: Option<u64>,
    /// The HLO instruction that all bundles belong to, as text. `None` if they belong to several instructions.
    pub instruction: Option<&'a str>,
}

impl<'a> Schedule<'a> {
    /// Reads a file. Skips what it does not understand. Each entry begins with a tab; the attributes of an instruction may contain line breaks.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let (mut schedule, mut instructions) = (Self::default(), 0_usize);
        let number = |text: &str| text.lines().next().and_then(|line| line.trim().parse().ok());
        for entry in text.split("\n\t") {
            let line = entry.lines().next().unwrap_or("");
            if let Some(total) = line.split_once("total scheduled bundles:") {
                schedule.total = number(total.1);
            } else if let Some(empty) = line.split_once("empty scheduled bundles:") {
                // The next line counts the non-empty ones.
                if !empty.0.ends_with("non ") {
                    schedule.empty = number(empty.1);
                }
            } else if let Some((_, instruction)) =
                entry.split_once(" scheduled bundles (").and_then(|(_, rest)| rest.split_once("): %"))
            {
                instructions += 1;
                schedule.instruction = Some(instruction).filter(|_| instructions == 1);
            }
        }
        schedule
    }
}

/// A unit of the TPU, such as `VALU`, and its slots.
///
/// ```
/// use xla_shape_mosaic::Utilization;
///
/// let utilization = Utilization::parse("MATMUL, VALU\n 4 2\n0 2\n1 1\n");
/// let valu = utilization.units()[1];
/// assert_eq!((valu.name, valu.capacity, valu.used), ("VALU", 2, 3));
/// // Of the slots of two bundles, three quarters are used.
/// assert_eq!(valu.used as f64 / (2 * valu.capacity) as f64, 0.75);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit<'a> {
    /// Its name.
    pub name: &'a str,
    /// The unit's slots in one bundle.
    pub capacity: u64,
    /// How many slots of the unit all bundles together use.
    pub used: u64,
}

/// The contents of `final_hlo-static-per-bundle-utilization`: the slots of each unit that each bundle uses.
///
/// ```
/// use xla_shape_mosaic::Utilization;
///
/// let text = "== CAPACTIY:\nMATMUL, VALU\n 4 2\n== UTILIZATION:\n0 2\n1 1\n";
/// let utilization = Utilization::parse(text);
/// assert_eq!((utilization.rows().len(), utilization.units()[1].used), (2, 3));
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Utilization<'a> {
    units: Vec<Unit<'a>>,
    rows: Vec<Vec<u64>>,
    unread: usize,
}

impl<'a> Utilization<'a> {
    /// Reads a file. Counts lines that it does not understand.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let mut found = Self::default();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("=="));
        // The names of the units come first, then their capacities, then a line for each bundle.
        let names = lines.next().unwrap_or("").split(',').map(str::trim).filter(|name| !name.is_empty());
        let capacities = lines.next().and_then(numbers).unwrap_or_default();
        found.units = names.zip(capacities).map(|(name, capacity)| Unit { name, capacity, used: 0 }).collect();
        for line in lines {
            match numbers(line).filter(|row| row.len() == found.units.len()) {
                Some(row) => {
                    for (unit, used) in found.units.iter_mut().zip(&row) {
                        unit.used = unit.used.saturating_add(*used);
                    }
                    found.rows.push(row);
                }
                None => found.unread += 1,
            }
        }
        found
    }

    /// The units, in the order of the file.
    ///
    /// ```
    /// use xla_shape_mosaic::Utilization;
    ///
    /// let utilization = Utilization::parse("MATMUL, VALU\n 4 2\n0 2\n1 1\nno row");
    /// assert_eq!((utilization.units()[0].name, utilization.units()[0].capacity), ("MATMUL", 4));
    /// ```
    #[must_use]
    pub fn units(&self) -> &[Unit<'a>] {
        &self.units
    }

    /// For each bundle, the used slots of each unit.
    ///
    /// ```
    /// use xla_shape_mosaic::Utilization;
    ///
    /// let utilization = Utilization::parse("MATMUL, VALU\n 4 2\n0 2\n1 1\nno row");
    /// assert_eq!(utilization.rows(), [[0, 2], [1, 1]]);
    /// ```
    #[must_use]
    pub fn rows(&self) -> &[Vec<u64>] {
        &self.rows
    }

    /// The number of lines that were not understood.
    ///
    /// ```
    /// use xla_shape_mosaic::Utilization;
    ///
    /// let utilization = Utilization::parse("MATMUL, VALU\n 4 2\n0 2\n1 1\nno row");
    /// assert_eq!(utilization.unread(), 1);
    /// ```
    #[must_use]
    pub const fn unread(&self) -> u64 {
        self.unread as u64
    }
}

fn numbers(line: &str) -> Option<Vec<u64>> {
    line.split_ascii_whitespace().map(|word| word.parse().ok()).collect()
}
