//! Finds shapes and messages about memory in a text.

use crate::answer::Answer;
use pyo3::prelude::*;
use serde::Serialize;
use xla_shape::hlo::{ReportedAllocation, ReportedAmount};
use xla_shape_render::scan::{Found, Scan};
use xla_shape_render::{Answer as Rendered, Text};

/// The shapes and the messages about memory of a text, as data.
#[derive(Serialize)]
struct Scanned {
    amounts: Vec<Amount>,
    largest: Vec<Allocation>,
    most_padded: Vec<Allocation>,
    shapes: Vec<Row>,
    #[serde(skip)]
    scan: Scan,
}

/// See [`ReportedAmount`].
#[derive(Serialize)]
struct Amount {
    line: u64,
    what: String,
    is_part: bool,
    bytes: u64,
    limit: Option<u64>,
}

impl Amount {
    fn new(amount: &ReportedAmount) -> Self {
        let ReportedAmount { line, what, is_part, bytes, limit } = amount.clone();
        Self { line, what, is_part, bytes, limit }
    }
}

/// See [`ReportedAllocation`].
#[derive(Clone, Serialize)]
struct Allocation {
    line: u64,
    rank: u64,
    shape: Option<String>,
    bytes: u64,
    padding_bytes: Option<u64>,
    op_name: Option<String>,
    source: Option<String>,
    kind: Option<String>,
    tag: Option<String>,
}

impl Allocation {
    fn new(found: &ReportedAllocation) -> Self {
        Self {
            line: found.line,
            rank: found.rank,
            shape: found.shape.as_ref().map(ToString::to_string),
            bytes: found.bytes,
            padding_bytes: found.unpadded_bytes.and_then(|unpadded| found.bytes.checked_sub(unpadded)),
            op_name: found.operator.clone(),
            source: found.source.clone(),
            kind: found.kind.clone(),
            tag: found.tag.clone(),
        }
    }
}

/// A shape at its first place.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    first: Found,
    times: usize,
}

impl Rendered for Scanned {
    const SCHEMA: &'static str = "xla-shape/scanned/1";

    fn text(&self, width: usize) -> Text {
        self.scan.text(width)
    }
}

/// What an error's message says about memory. `bool()` is no if it says that memory ran out, else unknown.
#[pyfunction]
pub(crate) fn out_of_memory(py: Python<'_>, message: &str) -> Answer {
    let (found, says_so) = scanned(py, message);
    found.judged(if says_so { Ok(false) } else { Err("the message does not say that memory ran out".to_owned()) })
}

/// The shapes in a text, such as a log, and what its messages about memory say. `bool()` is whether it has any.
///
/// `amounts` are how much is needed, and of how much; `largest` and `most_padded` list the allocations, each with op_name and source
/// where the message has them; `shapes` are all shapes.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn scan(py: Python<'_>, text: &str) -> Answer {
    scanned(py, text).0
}

/// The answer, and whether the text has messages about memory.
fn scanned(py: Python<'_>, text: &str) -> (Answer, bool) {
    py.detach(|| {
        let mut scan = Scan::default();
        text.lines().for_each(|line| drop(scan.read_line(line.as_bytes())));
        let most_padded = scan.allocations().into_iter().map(Allocation::new).collect::<Vec<_>>();
        let mut largest = most_padded.clone();
        largest.sort_by_key(|allocation| std::cmp::Reverse(allocation.bytes));
        let messages = scan.messages();
        let says_so = !(messages.amounts.is_empty() && messages.without_sizes.is_empty());
        let amounts = messages.amounts.iter().map(Amount::new).collect();
        let shapes = scan.shapes().into_iter().map(|(first, times)| Row { first: first.clone(), times }).collect();
        let is_empty = scan.is_empty();
        (Answer::new(Scanned { amounts, largest, most_padded, shapes, scan }).judged(Ok(!is_empty)), says_so)
    })
}
