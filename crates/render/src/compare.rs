//! Two arrays side by side, in words.

use crate::words::{Bytes, space_name};
use crate::{Show, Text};
use xla_shape_answers::DEFAULT_GENERATION;
use xla_shape_answers::compare::{Comparison, Cost, Difference, Kind, Transpose};
use xla_shape_core::memory_space::Platform;

/// A difference, as an entry of a list.
const fn words(difference: Difference) -> &'static str {
    match difference {
        Difference::ElementType => "the element type",
        Difference::Dimensions => "the dimensions",
        Difference::MinorToMajor => "the order of the dimensions in memory",
        Difference::Tiles => "the tiles",
        Difference::ElementBits => "the bits of an element",
        Difference::MemorySpace => "the memory space",
        _ => "other attributes of the layout",
    }
}

/// What an operation moves.
fn say(text: &mut Text, what: &str, cost: &Cost) {
    if cost.free {
        text.paragraph(format_args!("{what}: free. Every byte stays where it is."));
        return;
    }
    text.paragraph(format_args!("{what}: not free. It reads and writes {} together.", Bytes(cost.moved_bytes)));
    text.paragraph(format_args!("  Why: {}.", cost.reason));
    match &cost.free_result {
        Some(result) => text.verbatim(format_args!("  It would be free to {result}")),
        None => text.paragraph("  No layout of the result was found that would make it free."),
    }
}

/// The answer in one paragraph, or two.
fn verdict(text: &mut Text, comparison: &Comparison) {
    let Comparison { kind, reason, .. } = comparison;
    match kind {
        Kind::Identity => text.paragraph(format_args!("The same bytes: {reason}.")),
        Kind::Reshape => text.paragraph(format_args!("The same bytes, as a reshape: {reason}.")),
        Kind::Transpose => text.paragraph(format_args!("The same bytes, as a transpose: {reason}.")),
        Kind::ReshapeTranspose => {
            text.paragraph(
                "The same bytes, but as no single reshape or transpose. An HLO bitcast does several steps at once:",
            );
            text.paragraph(format_args!("  {reason}"));
        }
        _ => text.paragraph(format_args!("Not the same bytes: {reason}.")),
    }
    if let Some(read_as) = &comparison.read_as {
        text.paragraph(format_args!("The bytes of the first, read as the second, are: {read_as}."));
    }
    if let Some(spaces) = comparison.spaces {
        let [from, to] = spaces.map(|space| space_name(space, Platform::Tpu));
        text.paragraph(format_args!(
            "They are in different memory spaces, {from} and {to}, so a copy moves all bytes."
        ));
    }
}

impl Show for Comparison {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        if let Some(on_tpu) = &self.on_tpu {
            let not = if on_tpu.bitcast { "" } else { "not " };
            text.paragraph(format_args!(
                "TPU {DEFAULT_GENERATION} stores them as {} and {}: {not}the same bytes (--for {DEFAULT_GENERATION} says more). \
                 Row-major, as without a layout:",
                on_tpu.from, on_tpu.to
            ));
        }
        verdict(&mut text, self);
        let bytes = |bytes: Option<u64>| bytes.map_or(String::new(), |bytes| format!("  {}", Bytes(bytes)));
        text.verbatim(format_args!("\nfrom {}{}", self.from, bytes(self.from_bytes)));
        text.verbatim(format_args!("  to {}{}", self.to, bytes(self.to_bytes)));
        if !self.differences.is_empty() {
            let words = self.differences.iter().map(|&difference| words(difference)).collect::<Vec<_>>();
            text.paragraph(format_args!("What differs: {}.", words.join(", ")));
        }
        if let Some(generation) = self.generation {
            text.paragraph(format_args!("Shapes without a layout have that of TPU {generation}."));
        }
        match &self.reshape {
            Some(reshape) if self.differences.contains(&Difference::Dimensions) => {
                say(&mut text, "As a reshape", reshape);
            }
            // The first lines already give the reason.
            Some(Cost { free: false, moved_bytes, .. }) => {
                text.paragraph(format_args!(
                    "A copy to the other layout reads and writes {} together.",
                    Bytes(*moved_bytes)
                ));
            }
            _ => {}
        }
        if let Some(Transpose { permutation, cost }) = &self.transpose {
            let numbers = permutation.iter().map(ToString::to_string).collect::<Vec<_>>();
            say(&mut text, &format!("As a transpose by ({})", numbers.join(",")), cost);
        }
        text
    }
}
