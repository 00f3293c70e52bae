//! `memory-usage-report.txt`: the sizes of the compiler's allocations, added up by memory space
//! (`BufferAssignment::MemoryUsageReport` in `xla/service/buffer_assignment.cc`).

use super::{BufferAssignment, DumpError, between, wrong};
use alloc::collections::BTreeMap;
use alloc::format;

/// A `memory-usage-report.txt`: the bytes of all allocations of each memory space.
///
/// ```
/// use xla_shape_hlo::dump::UsageReport;
///
/// let text = "Memory Space: vmem (color=1)\nTotal bytes: 6291456 (6.00MiB)\n";
/// assert_eq!(UsageReport::parse(text)?.bytes()[&1], 6_291_456);
/// # Ok::<(), xla_shape_hlo::dump::DumpError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UsageReport {
    bytes: BTreeMap<u8, u64>,
    /// The total of all memory spaces, in files of older compilers.
    total: Option<u64>,
}

impl UsageReport {
    /// Parses the file.
    ///
    /// # Errors
    /// If the text is not a memory usage report, or a total is missing.
    pub fn parse(text: &str) -> Result<Self, DumpError> {
        let mut bytes = BTreeMap::new();
        // libtpu 0.0.17 writes a single total.
        if let Some(total) = text.strip_prefix("Total bytes used: ") {
            let total = total.split([' ', '\n']).next().and_then(|total| total.parse().ok());
            let first = text.lines().next().unwrap_or_default();
            let total = total.ok_or_else(|| wrong(1, "the total of all memory spaces", first))?;
            return Ok(Self { bytes, total: Some(total) });
        }
        let mut space = None;
        for (number, line) in (1_usize..).zip(text.lines()) {
            if line.starts_with("Memory Space: ") {
                let color = between(line, "(color=", ")").and_then(|(color, _)| color.parse().ok());
                space = Some(color.ok_or_else(|| wrong(number, "a memory space with its color", line))?);
            } else if let Some(total) = line.strip_prefix("Total bytes: ") {
                let total = total.split(' ').next().and_then(|total| total.parse().ok());
                let (Some(space), Some(total)) = (space.take(), total) else {
                    return Err(wrong(number, "the total of a memory space", line));
                };
                bytes.insert(space, total);
            }
        }
        if bytes.is_empty() {
            return Err(DumpError::NotThisFile { expected: "Memory Space: " });
        }
        Ok(Self { bytes, total: None })
    }

    /// The bytes of each memory space. Empty for a report of libtpu 0.0.17, which has only one total.
    #[must_use]
    pub const fn bytes(&self) -> &BTreeMap<u8, u64> {
        &self.bytes
    }

    /// Checks that a buffer assignment has the same totals.
    ///
    /// # Errors
    /// If a total differs.
    pub fn check(&self, assignment: &BufferAssignment) -> Result<(), DumpError> {
        if let Some(total) = self.total {
            let sum =
                assignment.allocations().iter().fold(0_u64, |sum, allocation| sum.saturating_add(allocation.bytes));
            if sum != total {
                let what = format!("all allocations are {sum} bytes, and the memory usage report has {total}");
                return Err(DumpError::Disagree { what });
            }
        }
        for (&space, &total) in &self.bytes {
            let here = assignment.allocations().iter().filter(|allocation| allocation.space == space);
            let sum = here.fold(0_u64, |sum, allocation| sum.saturating_add(allocation.bytes));
            if sum != total {
                let what = format!(
                    "the allocations of memory space {space} are {sum} bytes, and the memory usage report has {total}"
                );
                return Err(DumpError::Disagree { what });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::BufferAssignment;
    use super::UsageReport;
    use alloc::string::ToString;

    #[test]
    fn totals_are_checked() {
        let report = UsageReport::parse("Memory Space: default (color=0)\nTotal bytes: 12 (12B)\n").unwrap();
        let of = |bytes: u64| {
            let text = alloc::format!("BufferAssignment:\nallocation 0: size {bytes}, page 0, constant:\n");
            BufferAssignment::parse(&text).unwrap()
        };
        assert_eq!(report.check(&of(12)), Ok(()));
        assert_eq!(
            report.check(&of(13)).unwrap_err().to_string(),
            "the files do not belong together: the allocations of memory space 0 are 13 bytes, and the memory usage report has 12"
        );
        let message = |text: &str| UsageReport::parse(text).unwrap_err().to_string();
        assert_eq!(message(""), "the file does not begin with `Memory Space: `");
        assert_eq!(
            message("Total bytes: 1 (1B)"),
            "line 1: expected the total of a memory space, found `Total bytes: 1 (1B)`"
        );
        assert!(message("Memory Space: vmem").contains("expected a memory space with its color"));
    }
}
