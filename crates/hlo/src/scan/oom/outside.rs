//! Memory outside of the pools of XLA's runtimes: of the host, and of a GPU's driver.

use super::lines::{between, sentence_size, size};
use super::{AmountCause, ReportedAmount};
use alloc::borrow::ToOwned;

/// The amount in a line about such memory.
pub(super) fn amount(line: u64, text: &str) -> Option<ReportedAmount> {
    let after = |words: &str| text.split_once(words).map(|(_, rest)| rest);
    let amount = |cause, what: &str, bytes| ReportedAmount {
        line,
        what: what.to_owned(),
        bytes,
        cause,
        ..ReportedAmount::default()
    };
    // `failed to alloc 2147483648 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory`, and in the next line `could not allocate pinned host
    // memory of size: 2147483648`
    let pinned = between(text, "failed to alloc ", " bytes on host").and_then(|bytes| bytes.parse().ok());
    let pinned = pinned.or_else(|| size(after("pinned host memory of size: ")?.split(' ').next()?));
    if let Some(bytes) = pinned {
        return Some(amount(AmountCause::PinnedHost, "pinned memory of the host", bytes));
    }
    // NumPy: `Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64`
    if let Some((bytes, _)) = after("Unable to allocate ").and_then(|rest| rest.split_once(" for an array with shape "))
    {
        return Some(amount(AmountCause::HostArray, "requested of the host", sentence_size(bytes)?));
    }
    // Linux: `Memory cgroup out of memory: Killed process 12345 (python) total-vm:123456kB, anon-rss:98765432kB`
    if let Some(rest) = after("Killed process ") {
        let digits = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok();
        let bytes = rest.split_once("anon-rss:").and_then(|(_, rest)| digits(rest)?.checked_mul(1024))?;
        let is_container = text.contains("emory cgroup") || text.contains("CONSTRAINT_MEMCG");
        let cause = if is_container { AmountCause::ContainerKilled } else { AmountCause::HostKilled };
        let name = rest.split_once('(').and_then(|(_, rest)| super::lines::name(rest));
        return Some(ReportedAmount { name, ..amount(cause, "held by the process", bytes) });
    }
    // `Failed to allocate 209715200 bytes for new constant`
    if let Some((bytes, _)) = after("Failed to allocate ").and_then(|rest| rest.split_once(" bytes for new constant")) {
        return Some(amount(AmountCause::Constant, "constant", bytes.parse().ok()?));
    }
    // `failed to allocate 528.00M (553648128 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory`
    let driver = after("failed to allocate ").and_then(|rest| between(rest, "(", " bytes) from device"));
    driver.and_then(|bytes| Some(amount(AmountCause::Driver, "requested of the driver", bytes.parse().ok()?)))
}
