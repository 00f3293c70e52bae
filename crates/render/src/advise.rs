//! The layouts of an array on a TPU or a GPU, in words.

use crate::explain::gpu::wanted;
use crate::tpu::{cost, named};
use crate::words::{Factor, InUnits, column_width, count};
use crate::{Show, Text};
use xla_shape_answers::advise::{Advice, Choice, GpuAdvice, Room, Row};

/// Whose choice the layout is, and what it saves or costs.
fn remark(row: &Row) -> String {
    let as_it_is = if row.is_given && row.choice != Some(Choice::Given) { "as it is, " } else { "" };
    let what = match row.choice {
        Some(Choice::Both) => "the device's choice, in the natural order",
        Some(Choice::Default) => "the device's choice",
        Some(Choice::Natural) => "the natural order",
        Some(Choice::Convolution) => "for convolutions",
        Some(Choice::Product) => "for products",
        Some(_) => "as it is",
        None => "another order",
    };
    let amount = InUnits(row.saved_bytes.unsigned_abs());
    let difference = match row.saved_bytes {
        0 if matches!(row.choice, Some(Choice::Both | Choice::Default)) => String::new(),
        0 => ": takes the same".to_owned(),
        1.. => format!(": saves {amount}"),
        _ => format!(": costs {amount}"),
    };
    let orders = match row.orders {
        1 => String::new(),
        2 => "; so does 1 more".to_owned(),
        orders => format!("; so do {} more", orders - 1),
    };
    format!("{as_it_is}{what}{difference}{orders}")
}

impl Show for Advice {
    fn text(&self, width: usize) -> Text {
        let Self { rows, given, has_layout, changed, generation, assumed, hidden } = self;
        let mut text = Text::new(width);
        let (layouts, merges): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.change.is_none());
        let device = named(generation, *assumed);
        if *has_layout {
            text.paragraph(format_args!("{given} takes {}.", cost(given.byte_size(), given.expansion())));
        }
        if changed != given {
            text.verbatim(format_args!("What if it were {changed}:"));
        }
        if let Some(default) = layouts.first() {
            let without = changed.without_layout();
            let cost = cost(Some(default.bytes), Some(default.expansion));
            text.paragraph(format_args!("{device} stores {without} in {cost}."));
        }
        text.verbatim("");
        let column = column_width(rows.iter().map(|row| row.shape.chars().count()));
        for row in &layouts {
            show(&mut text, column, row, &remark(row));
        }
        if *hidden > 0 {
            text.verbatim(format_args!("  … and {} (--top)", count(*hidden as u64, "other size", "other sizes")));
        }
        if !merges.is_empty() {
            text.heading("What would take less");
            for row in &merges {
                let saved = InUnits(row.saved_bytes.unsigned_abs());
                let change = row.change.as_deref().unwrap_or_default();
                show(&mut text, column, row, &format!("{change}: saves {saved}"));
            }
            text.paragraph(
                "  Merge by `x.reshape(…)`. `xla-shape compare` says whether the reshape itself moves the data.",
            );
        }
        room_words(&mut text, &layouts);
        in_jax(&mut text, self);
        text
    }
}

/// A row of the table of layouts.
fn show(text: &mut Text, column: usize, row: &Row, remark: &str) {
    let (bytes, expansion) = (InUnits(row.bytes).to_string(), Factor(row.expansion).to_string());
    text.row(&format!("  {:column$}  {bytes:>9}  {expansion:>7}", row.shape), remark);
}

impl Show for GpuAdvice {
    fn text(&self, width: usize) -> Text {
        let Self { rows, given, has_layout, changed, orders, gpu } = self;
        let mut text = Text::new(width);
        if *has_layout {
            text.paragraph(format_args!("{given} takes {}.", cost(given.byte_size(), given.expansion())));
        }
        if changed != given {
            text.verbatim(format_args!("What if it were {changed}:"));
        }
        if let Some(default) = rows.first() {
            let cost = cost(Some(default.bytes), Some(default.expansion));
            text.paragraph(format_args!("GPU {gpu} stores {} in {cost}.", changed.without_layout()));
        }
        text.verbatim("");
        let column = column_width(rows.iter().map(|row| row.shape.chars().count()));
        for row in rows {
            show(&mut text, column, row, &remark(row));
        }
        text.heading("What operations want");
        for order in orders {
            text.paragraph(format_args!("  On {gpu}, {}: {}", wanted(order.operation, order.order), order.shape));
        }
        text.paragraph(match orders.as_slice() {
            [] => "  No operation is known to want another order of such an array. Without tiles, each order takes the same bytes.",
            _ => "  Without tiles, each order takes the same bytes, but in another order the compiler makes a transposed copy.",
        });
        if let Some(row) = self.for_jax() {
            let what = if row.choice == Some(Choice::Product) { "products" } else { "convolutions" };
            text.heading("In JAX");
            in_jax_words(&mut text, &format!("an array that only {what} read"), row);
        }
        text
    }
}

/// Says which dimensions could be longer without taking more bytes.
fn room_words(text: &mut Text, layouts: &[&Row]) {
    let rooms = layouts.iter().flat_map(|row| &row.room);
    let words =
        rooms.map(|Room { dimension, size, free }| format!("dimension {dimension} could be {free} instead of {size}"));
    let words = words.collect::<Vec<_>>();
    if !words.is_empty() {
        text.heading("What the padding has room for");
        text.paragraph(format_args!("  In the same bytes, {}.", words.join(", and ")));
    }
}

/// Says how to ask JAX for a layout other than the device's default.
fn in_jax(text: &mut Text, advice: &Advice) {
    let Some(row) = advice.for_jax() else { return };
    let what = if row.choice == Some(Choice::Natural) { "the natural order" } else { "the order that takes less" };
    let cost = match row.saved_bytes {
        ..0 => format!(", which costs {}", InUnits(row.saved_bytes.unsigned_abs())),
        _ => String::new(),
    };
    text.heading("In JAX");
    in_jax_words(text, &format!("{what}{cost}"), row);
}

fn in_jax_words(text: &mut Text, what: &str, row: &Row) {
    let layout = row.jax.as_deref().unwrap_or_default();
    text.paragraph(format_args!(
        "  The device's own choice needs nothing. For {what}, `from jax.experimental.layout import Format, Layout` \
         and give `Format({layout}, sharding)` to `jax.device_put`, or as `in_shardings` or `out_shardings` to `jax.jit`."
    ));
}
