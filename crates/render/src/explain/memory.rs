//! Where the elements are: the tiles step by step, and the formula.

use crate::text::Text;
use crate::words::{Grouped, count, dimension_names};
use xla_shape_answers::formula::{self, Notation};
use xla_shape_core::ArrayShape;
use xla_shape_core::map::Source;
use xla_shape_core::map::StrideTableRef;
use xla_shape_core::tpu::unused_tiles;

/// At most this many tiles are shown.
const MAX_STEPS: usize = 8;
/// At most this many sizes are shown in a line.
const MAX_SIZES: usize = 16;

/// How many characters come before the sizes of a step.
const TITLE: usize = 18;

pub(super) fn explain(page: &mut Text, array: &ArrayShape) {
    let table = match array.stride_table() {
        Ok(table) => table,
        Err(error) => {
            page.heading("In memory");
            page.paragraph(format_args!("  Not known: {error}."));
            return;
        }
    };
    if table.as_ref().positions() == 0 {
        page.heading("In memory");
        page.paragraph("  The array has no elements.");
        return;
    }
    let names = dimension_names(array);
    if array.num_dimensions() + array.layout().tiles().len() > 0 {
        steps(page, array, &names);
    }
    formula(page, array, table.as_ref(), &names);
}

fn steps(page: &mut Text, array: &ArrayShape, names: &[String]) {
    let tiles = array.layout().tiles();
    page.heading("In memory, step by step");
    page.paragraph("  The sizes in memory, most major first. Below each size is the part of the index that it counts.");
    for step in 0..=tiles.len().min(MAX_STEPS) {
        // This does not fail: the table after all tiles exists, and the table after some of them is smaller.
        let Ok(table) = array.stride_table_after_tiles(step) else { return };
        let title = match step.checked_sub(1).and_then(|step| tiles.get(step)) {
            None if tiles.is_empty() => "as it is".into(),
            None => "without tiles".into(),
            Some(tile) if step == 1 => format!("T{tile}"),
            Some(tile) => format!("then {tile}"),
        };
        let (mut rows, mut sizes, mut labels) = (Vec::new(), String::new(), String::new());
        for (number, digit) in table.as_ref().digits().iter().enumerate() {
            if number == MAX_SIZES {
                sizes += " × …";
                break;
            }
            let separator = if number == 0 { "" } else { " × " };
            let label = match digit.term.source {
                Source::Zero => String::new(),
                _ => formula::term(digit.term, names, Notation::Arithmetic).0.replace(' ', ""),
            };
            let size = Grouped(digit.size).to_string();
            let width = size.chars().count().max(label.chars().count());
            if !sizes.is_empty() && TITLE + sizes.chars().count() + separator.len() + width > page.width() {
                rows.push((std::mem::take(&mut sizes), std::mem::take(&mut labels)));
            }
            sizes += &format!("{separator}{size:width$}");
            labels += &format!("{:indent$}{label:width$}", "", indent = separator.chars().count());
        }
        if rows.is_empty() && sizes.is_empty() {
            sizes += "a single element";
        }
        let positions = format!("= {}", count(table.as_ref().positions(), "position", "positions"));
        let last = format!("{}   {positions}", sizes.trim_end());
        let fits = TITLE + last.chars().count() <= page.width();
        rows.push((if fits { last } else { sizes }, labels));
        if !fits {
            rows.push((positions, String::new()));
        }
        let mut title = title.as_str();
        if title.chars().count() > TITLE - 4 {
            page.verbatim(format_args!("  {}", std::mem::take(&mut title)));
        }
        for (sizes, labels) in rows {
            for line in [format!("  {title:14}  {sizes}"), format!("  {:14}  {labels}", "")] {
                if !line.trim().is_empty() {
                    page.verbatim(line.trim_end());
                }
            }
            title = "";
        }
    }
    if tiles.len() > MAX_STEPS {
        page.paragraph(format_args!("  … and {} more tiles", Grouped((tiles.len() - MAX_STEPS) as u64)));
    }
    if let Some(hint) = unused_tiles(array.element_type(), array.layout()) {
        page.paragraph(format_args!("  hint: {}", hint.as_str()));
    }
}

fn formula(page: &mut Text, array: &ArrayShape, table: StrideTableRef<'_>, names: &[String]) {
    page.heading("Where an element is");
    let whole = if names.is_empty() { "the element".into() } else { format!("element [{}]", names.join(",")) };
    page.paragraph(format_args!("  The position of {whole}, in elements from the start:"));
    let plain = formula::position(table, names, Notation::Arithmetic);
    let shifts = formula::position(table, names, Notation::ShiftsAndMasks);
    sum(page, &plain);
    if shifts != plain {
        page.paragraph("  As shifts and masks:");
        sum(page, &shifts);
    }
    let bits = array.element_bits();
    let prefix = array.layout().dynamic_shape_metadata_prefix_bytes();
    let start = if prefix > 0 { format!("{prefix} + ") } else { String::new() };
    match bits {
        8 => page.paragraph(format_args!("  Its byte: {start}position.")),
        _ if bits.is_multiple_of(8) => page.paragraph(format_args!("  Its first byte: {start}position * {}.", bits / 8)),
        _ => page.paragraph(format_args!(
            "  Its first bit is bit position * {bits}; that is byte {start}position * {bits} / 8, where bit 0 is the lowest."
        )),
    }
    if array.layout().split_configs().is_empty() {
        example(page, array, table);
    } else {
        page.paragraph("  This is the position in the whole array, before it is cut into pieces.");
    }
}

/// Writes a sum, wrapped between summands.
fn sum(page: &mut Text, (summands, values): &(Vec<String>, Vec<String>)) {
    let mut line = String::from("    ");
    for (number, summand) in summands.iter().enumerate() {
        let summand = if number == 0 { summand.clone() } else { format!(" + {summand}") };
        if number > 0 && line.chars().count() + summand.chars().count() > page.width() {
            page.verbatim(&line);
            line = String::from("     ");
        }
        line += &summand;
    }
    page.verbatim(&line);
    for (number, value) in values.iter().enumerate() {
        page.hanging(if number == 0 { "    where " } else { "    and   " }, value);
    }
}

fn example(page: &mut Text, array: &ArrayShape, table: StrideTableRef<'_>) {
    let index = table.extents().iter().map(|extent| extent - 1).collect::<Vec<_>>();
    if index.is_empty() || index.len() > MAX_SIZES {
        return;
    }
    let position = table.linear_index(&index);
    let index = index.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let of = array.physical_elements().unwrap_or_default();
    page.paragraph(format_args!(
        "  The last element, [{index}], is at position {}; the array takes {}.",
        Grouped(position),
        count(of, "position", "positions"),
    ));
}
