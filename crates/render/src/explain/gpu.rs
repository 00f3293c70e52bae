//! What GPUs do with the arrays of a shape, in words.

use super::MAX_LIST;
use crate::words::{Bytes, Grouped};
use crate::{Show, Text};
use xla_shape_answers::explain::{GpuArray, GpuOperation, OnDevices, WantedOrder};
use xla_shape_core::gpu::Gpu;

impl Show for OnDevices {
    fn text(&self, width: usize) -> Text {
        let mut page = self.explanation().text(width);
        explain(&mut page, self.arrays());
        page
    }

    fn lead(&self, width: usize) -> Text {
        let mut page = self.explanation().lead(width);
        explain(&mut page, self.arrays());
        page
    }
}

fn explain(page: &mut Text, arrays: &[GpuArray]) {
    let Some(first) = arrays.first() else { return };
    page.heading("On a GPU");
    for array in arrays.iter().take(MAX_LIST) {
        let place = if array.index.is_empty() {
            "it".to_owned()
        } else {
            format!("{{{}}}", array.index.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
        };
        let (names, stores) = (names(&array.gpus), if array.gpus.len() == 1 { "stores" } else { "store" });
        let bytes = array.bytes.map_or_else(String::new, |bytes| format!(" in {}", Bytes(bytes)));
        page.paragraph(format_args!("  {names} {stores} {place} as {}{bytes}.", array.shape));
        for order in &array.orders {
            let names = self::names(&order.gpus);
            page.paragraph(format_args!("    On {names}, {}: {}", wanted(order.operation, order.order), order.shape));
        }
    }
    if arrays.len() > MAX_LIST {
        page.paragraph(format_args!("  … and {} more arrays", Grouped((arrays.len() - MAX_LIST) as u64)));
    }
    page.paragraph("  This is row-major, without tiles or padding, unless the program asks for another order.");
    if arrays.iter().any(|array| array.packed) {
        page.paragraph("  Elements of less than 8 bits are packed, also across rows.");
    }
    if arrays.iter().any(|array| !array.orders.is_empty()) {
        page.paragraph("  An operation that wants another order gets a transposed copy. `xla-shape cost FILE --for GPU --try` finds these copies in a program.");
    }
    page.paragraph(format_args!("  Temporary buffers begin at multiples of {} bytes.", first.alignment));
}

fn names(gpus: &[Gpu]) -> String {
    gpus.iter().map(|gpu| gpu.name()).collect::<Vec<_>>().join(", ")
}

/// Which order of dimensions an operation wants, and for which of its arrays.
pub(crate) fn wanted(operation: GpuOperation, order: WantedOrder) -> &'static str {
    match (operation, order) {
        (GpuOperation::Convolution, WantedOrder::ChannelsLast) => {
            "convolutions want the channels last (NHWC), so of an array N,C,H,W"
        }
        (GpuOperation::Convolution, _) => "convolutions want N,C,H,W in row-major order (NCHW)",
        (GpuOperation::Product, _) => {
            "products want the dimension that they sum over to vary fastest, so of a matrix that is summed over its first dimension"
        }
        _ => "an operation wants another order",
    }
}
