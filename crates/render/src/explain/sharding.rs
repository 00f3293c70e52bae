//! Which part of a shape each device has, in words.

use super::choices;
use crate::text::Text;
use crate::words::{Bytes, Factor, Grouped, count, slice};
use xla_shape_answers::explain::{Explanation, Shards};
use xla_shape_core::shard::{Partition, Region};

/// At most this many devices are listed.
const MAX_DEVICES: usize = 16;

/// At most this many arrays of a tuple are listed.
const MAX_ARRAYS: usize = 32;

/// Begins with what one device has.
pub(super) fn explain(page: &mut Text, explanation: &Explanation, shards: &Shards) {
    let each = match shards.devices {
        Some(1) => "The one device has".to_owned(),
        Some(devices) => format!("Each of {} devices has", Grouped(devices)),
        None => "Each device has".to_owned(),
    };
    let array = shards.array();
    let what = if array.is_some() { &shards.shard } else { "its part of the values" };
    // If a value is only on some of the devices, the others have fewer bytes.
    let some_lack =
        shards.parts.iter().flatten().any(|part| part.device_count().is_some_and(|n| Some(n) < shards.devices));
    let most = if some_lack { "at most " } else { "" };
    page.paragraph(match shards.bytes_per_device {
        Some(bytes) => format!("{each} {what} in {most}{}.", Bytes(bytes)),
        None => format!("{each} {what}, whose size is not known."),
    });
    choices::stored(page, &explanation.stored_shard(), "a shard");
    page.heading("On the devices");
    page.paragraph(format_args!("  {}", shards.text));
    if shards.bytes_per_device.is_none() {
        return;
    }
    let mut rows = Vec::new();
    if let Some(total) = shards.bytes_total {
        let whole = shards.whole_bytes.filter(|&whole| whole > 0 && whole != total);
        let times = whole.map_or_else(String::new, |whole| {
            format!(", {} what the whole takes in one place", Factor(total as f64 / whole as f64))
        });
        rows.push(("memory of all".to_owned(), format!("{}{times}", Bytes(total))));
    }
    match array {
        Some(part) => one(page, part, rows),
        None => {
            page.columns(&rows);
            page.paragraph("  Each device has:");
            let arrays = shards.parts.iter().enumerate().take(MAX_ARRAYS);
            let rows = arrays.filter_map(|(number, part)| {
                let part = part.as_ref()?;
                let bytes = part.bytes_per_device().map_or_else(String::new, |b| format!("\n  {}", Bytes(b)));
                Some((number.to_string(), format!("{}{bytes}", part.shard())))
            });
            page.columns(&rows.collect::<Vec<_>>());
            if shards.parts.len() > MAX_ARRAYS {
                page.paragraph(format_args!("  … and {} more", Grouped((shards.parts.len() - MAX_ARRAYS) as u64)));
            }
        }
    }
}

fn one(page: &mut Text, part: &Partition, mut rows: Vec<(String, String)>) {
    if let (Some(padding), Some(expansion)) = (part.shard().padding_byte_size(), part.shard().expansion())
        && padding > 0
    {
        let text = format!("{} of a shard, which takes {} what its elements need", Bytes(padding), Factor(expansion));
        rows.push(("padding".to_owned(), text));
    }
    rows.push((
        "copies".to_owned(),
        match part.replication() {
            Some(1) => "one device has each element".to_owned(),
            Some(devices) => format!("{} have each element", count(devices, "device", "devices")),
            None => "every device has all of it".to_owned(),
        },
    ));
    page.columns(&rows);
    if let Err(error) = part.check_even() {
        page.paragraph(format_args!(
            "  It does not divide evenly: {error}. The last shards have fewer elements, or none."
        ));
    }
    let Some(devices) = part.device_count() else { return };
    let rows = part.regions().take(MAX_DEVICES).map(|(device, region)| (format!("device {device}"), held(&region)));
    page.columns(&rows.collect::<Vec<_>>());
    if devices > MAX_DEVICES as u64 {
        page.paragraph(format_args!("  … and {} more", Grouped(devices - MAX_DEVICES as u64)));
    }
}

/// The part of an array that a device has.
fn held(region: &Region) -> String {
    if region.is_empty() { "nothing".to_owned() } else { slice(&region.start, &region.limit) }
}
