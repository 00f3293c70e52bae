//! XLA's own answers, row by row. Each test prints how many rows agree; all must.

use serde::Deserialize;
use xla_shape_answers::draw::Drawing;
use xla_shape_core::{ArrayShape, Shape, Slot};
use xla_shape_render::{Html as _, Show as _, Svg as _};
use xla_shape_tests::corpus;

/// Checks every row: panics with a list of those that disagree, and prints how many agree.
fn report(what: &str, total: usize, failures: &[String]) {
    println!("{what}: {} of {total} agree", total - failures.len());
    assert!(total > 0, "{what}: the corpus is empty");
    let shown = failures.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{what}: {} rows disagree:\n{shown}", failures.len());
}

#[derive(Deserialize)]
struct ShapeRow {
    input: String,
    expect: String,
    canonical: Option<String>,
    bytes: Option<u64>,
}

#[test]
fn drawings_are_small() {
    const MAX_PAGE: usize = 300_000;
    let rows: Vec<ShapeRow> = corpus("shapes.jsonl");
    let arrays = rows.iter().filter_map(|row| row.input.parse::<ArrayShape>().ok());
    let drawn = arrays.filter(|array| array.placement().is_ok()).step_by(20).map(|array| {
        let drawing = Drawing::new(&array).unwrap();
        let page = drawing.html();
        assert!(page.len() <= MAX_PAGE, "{array}: {} bytes", page.len());
        assert!(drawing.svg().len() <= page.len());
        assert!(drawing.text(80).to_string().starts_with(&array.to_string()));
    });
    assert!(drawn.count() > 25);
}

#[test]
fn shape_text() {
    let rows: Vec<ShapeRow> = corpus("shapes.jsonl");
    let failures = rows.iter().filter_map(|row| disagreement(row).map(|why| format!("{}: {why}", row.input)));
    report("shape text", rows.len(), &failures.collect::<Vec<_>>());
}

fn disagreement(row: &ShapeRow) -> Option<String> {
    let parsed = row.input.parse::<Shape>();
    if let Err(error) = &parsed {
        let span = error.span();
        if span.start > span.end || row.input.get(span.start..span.end).is_none() {
            return Some(format!("the span {span:?} of \"{error}\" is not a part of the text"));
        }
    }
    match (row.expect.as_str(), parsed) {
        ("any", _) | ("error", Err(_)) => None,
        ("error", Ok(shape)) => Some(format!("should be an error, is {shape}")),
        ("valid", Err(error)) => Some(format!("should be valid: {error}")),
        ("valid", Ok(shape)) => {
            let text = shape.to_string();
            let again = text.parse::<Shape>();
            if Some(&text) != row.canonical.as_ref() {
                Some(format!("is printed {text}, not {:?}", row.canonical))
            } else if again.as_ref() != Ok(&shape) {
                Some(format!("is another shape when printed and read again: {again:?}"))
            } else if shape.byte_size() != row.bytes {
                Some(format!("takes {:?} bytes, not {:?}", shape.byte_size(), row.bytes))
            } else {
                None
            }
        }
        (other, _) => Some(format!("the corpus expects {other:?}, which means nothing")),
    }
}

#[derive(Deserialize)]
struct SizeRow {
    generation: String,
    shape: String,
    bytes: u64,
}

#[test]
fn sizes_of_real_buffers() {
    let rows: Vec<SizeRow> = corpus("sizes.jsonl");
    let failures = rows.iter().filter_map(|row| {
        let size = row.shape.parse::<ArrayShape>().map(|shape| shape.byte_size());
        (size != Ok(Some(row.bytes)))
            .then(|| format!("{} on {}: {size:?}, not {} bytes", row.shape, row.generation, row.bytes))
    });
    report("sizes of real buffers", rows.len(), &failures.collect::<Vec<_>>());
}

#[derive(Deserialize)]
struct MapRow {
    layout: String,
    physical_elements: u64,
    physical_to_logical: Vec<i64>,
}

#[test]
fn linear_index_maps() {
    let rows: Vec<MapRow> = corpus("linear_index.jsonl");
    let failures =
        rows.iter().filter_map(|row| map_disagreement(row).err().map(|error| format!("{}: {error}", row.layout)));
    report("linear index maps", rows.len(), &failures.collect::<Vec<_>>());
}

fn map_disagreement(row: &MapRow) -> Result<(), String> {
    let shape: ArrayShape = row.layout.parse().map_err(|error| format!("{error}"))?;
    let table = shape.stride_table().map_err(|error| error.to_string())?;
    let sizes = table.as_ref().extents();
    if shape.physical_elements() != Some(row.physical_elements) {
        return Err(format!("{:?} physical elements", shape.physical_elements()));
    }
    for (position, &logical) in (0..).zip(&row.physical_to_logical) {
        let expected = u64::try_from(logical).ok().map(|logical| unravel(logical, sizes));
        let slot = table.as_ref().multi_index(position);
        if slot == Slot::OutOfRange || slot.clone().element() != expected {
            return Err(format!("at {position} lies {slot:?}, not {expected:?}"));
        }
        if let Some(index) = expected
            && table.as_ref().checked_linear_index(&index) != Some(position)
        {
            return Err(format!("{index:?} lies at {}, not {position}", table.as_ref().linear_index(&index)));
        }
    }
    match table.as_ref().multi_index(row.physical_to_logical.len() as u64) {
        Slot::OutOfRange => Ok(()),
        slot => Err(format!("after the end lies {slot:?}")),
    }
}

/// The index of the element with this row-major number.
fn unravel(mut number: u64, sizes: &[u64]) -> Vec<u64> {
    let mut index = vec![0; sizes.len()];
    for (entry, &size) in index.iter_mut().zip(sizes).rev() {
        *entry = number % size;
        number /= size;
    }
    index
}
