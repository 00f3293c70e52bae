//! The shardings of a program, as text.

use crate::text::Text;
use crate::words::{InUnits, count, value_name};
use std::fmt::Write as _;
use xla_shape_answers::hlo::sharding::{Sharded, Shardings, Sum};

pub(super) fn push(text: &mut Text, shardings: &Shardings) {
    text.heading(&format!("Shardings, for {}", count(shardings.devices, "device", "devices")));
    for (what, sum) in [("parameters", &shardings.parameters), ("results", &shardings.results)] {
        if sum.arrays > 0 {
            let _ = writeln!(text, "  {what:10}  {}", in_words(sum));
        }
    }
    if shardings.replicated_bytes > 0 {
        let bytes = InUnits(shardings.replicated_bytes);
        let _ = writeln!(text, "  {bytes} on each device are copies of what other devices have");
    }
    for kind in &shardings.shardings {
        text.hanging("  ", &format!("{}: {}", kind.sharding, in_words(&kind.sum)));
    }
    text.heading("Largest on each device");
    shardings.largest.iter().for_each(|array| line(text, array));
    text.heading("Largest replicated");
    if shardings.replicated.is_empty() {
        let _ = writeln!(text, "  no array is on several devices");
    }
    shardings.replicated.iter().for_each(|array| line(text, array));
}

fn in_words(sum: &Sum) -> String {
    let arrays = count(sum.arrays as u64, "array", "arrays");
    format!("{arrays}, {} in one place, {} on each device", InUnits(sum.bytes), InUnits(sum.bytes_per_device))
}

fn line(text: &mut Text, array: &Sharded) {
    let (bytes, here) = (InUnits(array.bytes).to_string(), InUnits(array.bytes_per_device).to_string());
    let copies = match array.replication {
        1 => String::new(),
        devices => format!("  on {devices} devices each"),
    };
    let name = value_name(&array.name, array.leaf);
    let what = format!("{name}  {} -> {}  {}", array.shape, array.shard, array.sharding);
    text.hanging(&format!("  {here:>10} of {bytes:>10}{copies}  "), &what);
}
