//! The VMEM that the blocks of a kernel need, in words.

use crate::tpu::{cost, named};
use crate::words::{Bytes, column_width, count};
use crate::{Show, Text};
use xla_shape_answers::block::{BlockAnswer, BlockAnswers, LimitOf, Measured, PartKind, Vector};
use xla_shape_core::tpu::DOUBLE_BUFFERED;

impl Show for BlockAnswer {
    fn text(&self, width: usize) -> Text {
        let Self { generation, parts, vmem_bytes, limit_bytes, most_bytes, fits, fitting, assumed, .. } = self;
        let mut text = Text::new(width);
        let verdict = if *fits { "fit into" } else { "do not fit into" };
        let (needed, limit) = (Bytes(*vmem_bytes), Bytes(*limit_bytes));
        text.paragraph(format_args!(
            "The blocks need {needed}, and {verdict} the {limit} of VMEM that a kernel may use on {}.",
            named(generation, *assumed)
        ));
        match self.limit_of() {
            Some(LimitOf::Default) => text.paragraph(format_args!(
                "That is the compiler's limit if the kernel gives no vmem_limit_bytes (--vmem-limit), which can be at most {}.",
                Bytes(*most_bytes)
            )),
            Some(LimitOf::Compiler) => text.paragraph(format_args!("The compiler gives no kernel more than that.")),
            None => {}
        }
        if !fits {
            text.paragraph(
                fitting
                    .as_ref()
                    .map_or_else(|| "No smaller blocks are known that fit.".to_owned(), ToString::to_string),
            );
        }
        text.paragraph("What the kernel computes needs more where its values do not fit into registers.");
        text.paragraph("");
        let kinds = column_width(parts.iter().map(|part| part.kind.as_str().len()));
        for Measured { kind, array, shape, bytes, expansion, copies, vector, vector_unknown, .. } in parts {
            let of = array.as_ref().map_or(String::new(), |array| format!(" of {array}"));
            text.verbatim(format_args!("  {kind:kinds$}  {shape}{of}"));
            let each = cost(Some(*bytes), Some(*expansion));
            let what = match (kind, *copies) {
                (_, DOUBLE_BUFFERED) => "twice, because the next block is copied while the kernel works on this one",
                (PartKind::Scratch, _) => "once",
                (PartKind::Fixed, _) => "once, because it is the same in every step",
                _ => "once, because it is all of the array",
            };
            text.paragraph(format_args!("  {:kinds$}  {each}; {what}", ""));
            if let Some(vector) = vector {
                text.paragraph(format_args!("  {:kinds$}  {}", "", sentence(vector, *kind == PartKind::Output)));
            }
            if let Some(why) = vector_unknown {
                let verb = if *kind == PartKind::Output { "stores" } else { "loads" };
                text.paragraph(format_args!("  {:kinds$}  relayouts of {verb} are not known: {why}", ""));
            }
        }
        text
    }
}

impl Show for BlockAnswers {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        for (number, answer) in self.answers.iter().enumerate() {
            if number > 0 {
                text.paragraph("");
            }
            text.verbatim(answer.text(width).to_string().trim_end());
        }
        text
    }

    /// The verdict for each generation comes first, before all explanations.
    fn lead(&self, width: usize) -> Text {
        match self.answers.as_slice() {
            [answer] => answer.lead(width),
            answers => {
                let mut text = Text::new(width);
                for answer in answers {
                    let BlockAnswer { generation, vmem_bytes, limit_bytes, fits, fitting, .. } = answer;
                    let verdict = if *fits { "fit into" } else { "do not fit into" };
                    let (needed, limit) = (Bytes(*vmem_bytes), Bytes(*limit_bytes));
                    let smaller = fitting.as_ref().map_or(String::new(), |found| format!(" {found}"));
                    text.paragraph(format_args!(
                        "{generation}: the blocks need {needed}, and {verdict} {limit}.{smaller}"
                    ));
                }
                text
            }
        }
    }
}

/// What the load or store of a whole block takes: registers and relayouts.
fn sentence(vector: &Vector, is_stored: bool) -> String {
    let Vector { layout, registers, whole_tiles, relayout } = vector;
    let (verb, side) = if is_stored { ("stored", "from") } else { ("loaded", "into") };
    let registers = count(*registers, "register", "registers");
    match relayout.is_empty() {
        true => format!("{verb} as a whole, {registers} in {layout}; no relayout"),
        false => format!(
            "{verb} as a whole, {registers} in {layout}: operations across rows, such as reductions, need a relayout {side} \
             {whole_tiles}, which {}; elementwise operations usually need none",
            relayout.join(", ")
        ),
    }
}
