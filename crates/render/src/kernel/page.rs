//! Kernels as an HTML page: the lines at the left with what the compiler made of them, the bundles at the right.

use super::text::{answer_of, changed, least_time, of_kernel, overview, sentence, summary};
use crate::draw::{fills, in_page};
use crate::web::{Page, Side, escape, hatching_of_page, push, search, side_by_side, table};
use crate::words::{Grouped, count, shortened};
use crate::{Html, Text};
use std::collections::BTreeSet;
use xla_shape_answers::draw::RegisterDrawing;
use xla_shape_answers::explain::Registers;
use xla_shape_answers::kernel::{BundleText, CompiledKernel, KernelDifference, Kernels, LineEntry};

/// The most drawings and lines of Python that the page has for a kernel, so that a page has a few MB.
const MOST_DRAWINGS: usize = 16;
const MOST_LINES: usize = 500;
/// The most kernels with details.
const MOST_KERNELS: usize = 8;
/// The longest text of a slot and of other entries, in characters.
const LONGEST_SLOT: usize = 100;
const LONGEST: usize = 300;

impl Html for Kernels {
    /// The answer as an HTML page: for each kernel the lines of Python at the left, with operations, relayouts and registers, and the bundles at
    /// the right. A click on a line lights its bundles. The page has no external resources.
    ///
    /// ```
    /// use xla_shape_answers::kernel::Kernels;
    /// use xla_shape_mosaic::kernels;
    /// use xla_shape_render::Html;
    ///
    /// let bundles = "0 : { %v1_v0 = vadd.f32 %v0_v0, 1.0 /* loc(\"k.py\":4:1 to :9) */ } /* exit bundle: %k = custom-call(%x) */\n";
    /// let mut answer = Kernels::default();
    /// answer.add(None, None, &kernels(&[("llo.k.final_bundles.txt", bundles)]));
    /// answer.add_source("k.py", "# a kernel\n\n\no[...] = x[...] + 1");
    /// let page = answer.html();
    /// assert!(page.starts_with("<!doctype html>") && page.contains("o[...] = x[...] + 1") && page.contains("vadd.f32"));
    /// ```
    fn html(&self) -> String {
        let title = match &self.kernels[..] {
            [one] => format!("Kernel {}", shortened(&one.title(), 200)),
            several => count(several.len() as u64, "kernel", "kernels"),
        };
        let mut body = hatching_of_page();
        if let Some(differences) = &self.differences {
            differences.iter().enumerate().for_each(|(number, found)| push_difference(&mut body, number, found));
        } else if self.kernels.len() > 1 {
            let overview = overview(self, 110).to_string();
            push(&mut body, format_args!("<pre tabindex=\"0\">{}</pre>\n", escape(&overview)));
        }
        for (number, kernel) in self.kernels.iter().take(MOST_KERNELS).enumerate() {
            push_kernel(&mut body, number, kernel, self);
        }
        if let Some(left) = self.kernels.len().checked_sub(MOST_KERNELS).filter(|&left| left > 0) {
            push(&mut body, format_args!("<p class=\"hint\">… and {left} more kernels; --format json has all</p>\n"));
        }
        for error in &self.errors {
            push(&mut body, format_args!("<p>{}: {}</p>\n", cell(&error.target), cell(&error.message)));
        }
        Page {
            title: &title,
            heading: &title,
            bar: &search("Search lines and bundles"),
            main: &body,
            style: &fills(),
            script: include_str!("page.js"),
            ..Page::default()
        }
        .html()
    }
}

fn push_kernel(body: &mut String, number: usize, kernel: &CompiledKernel, all: &Kernels) {
    push(body, format_args!("<section class=\"kernel\" id=\"kernel{number}\">\n<h2>{}</h2>\n", cell(&summary(kernel))));
    for note in least_time(kernel).iter().chain(&kernel.notes) {
        push(body, format_args!("<p class=\"hint\">{}</p>\n", cell(note)));
    }
    for (what, times) in &kernel.unread {
        push(body, format_args!("<p class=\"hint\">not understood: {} ({times}x)</p>\n", cell(what)));
    }
    body.push_str("<div class=\"split\">\n<div class=\"lines\">\n");
    push_lines(body, number, kernel, all);
    body.push_str("</div>\n<div class=\"bar\" role=\"separator\" aria-orientation=\"vertical\" aria-label=\"Width of the lines\" tabindex=\"0\"></div>\n");
    body.push_str("<div class=\"bundles\" tabindex=\"0\" role=\"group\" aria-label=\"Bundles\">\n");
    for bundle in &kernel.listing {
        push(body, format_args!("<div class=\"bundle\"><b>{}</b> ", cell(&head(bundle))));
        if bundle.slots.is_empty() {
            body.push_str("<i>empty</i>");
        }
        for slot in &bundle.slots {
            let line = slot.line.map(|line| format!(" data-l=\"{number}-{line}\"")).unwrap_or_default();
            push(body, format_args!("<span{line}>{}</span>", escape(&shortened(&slot.text, LONGEST_SLOT))));
        }
        body.push_str("</div>\n");
    }
    let left = kernel.bundles.unwrap_or(0).saturating_sub(kernel.listing.len() as u64);
    match (kernel.listing.is_empty(), left) {
        (true, _) => body.push_str("<p class=\"hint\">the dump has no bundles for this kernel</p>\n"),
        (_, 0) => {}
        (_, left) => push(body, format_args!("<p class=\"hint\">… and {} more bundles</p>\n", Grouped(left))),
    }
    body.push_str("</div>\n</div>\n");
    push_drawings(body, kernel);
    let mut text = Text::new(110);
    of_kernel(kernel, &mut text);
    push(
        body,
        format_args!(
            "<details class=\"all\"><summary>The answer as text</summary><pre tabindex=\"0\">{}</pre></details>\n</section>\n",
            escape(&text.to_string())
        ),
    );
}

/// The lines of Python; where the file is known, with its text, and with the lines between them.
fn push_lines(body: &mut String, number: usize, kernel: &CompiledKernel, all: &Kernels) {
    if kernel.lines.is_empty() {
        body.push_str("<p class=\"hint\">the dump names no lines of Python</p>\n");
        return;
    }
    body.push_str("<p class=\"hint\">Choose a line: its bundles light up. Arrow keys go to other lines.");
    if !all.has_sources() {
        body.push_str(" With --source FILE, the program writes the text of the lines here.");
    }
    body.push_str("</p>\n");
    let mut before: Option<(&str, usize)> = None;
    for (place, line) in kernel.lines.iter().take(MOST_LINES).enumerate() {
        let (file, row) = line.source.rsplit_once(':').unwrap_or((&line.source, ""));
        let row = row.parse::<usize>().unwrap_or(0);
        if before.is_none_or(|(other, _)| other != file) {
            push(body, format_args!("<h3>{}</h3>\n", cell(file)));
        }
        let text = all.source(file);
        let text_of = |row: usize| text.and_then(|lines| lines.get(row.checked_sub(1)?)).map_or("", String::as_str);
        if let Some((_, last)) =
            before.filter(|(other, last)| *other == file && text.is_some() && row.saturating_sub(*last) < 20)
        {
            for between in last + 1..row {
                push(
                    body,
                    format_args!(
                        "<div class=\"other\"><b>{between}</b> <code>{}</code></div>\n",
                        cell(text_of(between))
                    ),
                );
            }
        }
        before = Some((file, row));
        let bundles = count(line.bundles, "bundle", "bundles");
        let trips = match line.executed {
            Some(executed) if executed == line.bundles => String::new(),
            Some(executed) => format!(", {} with trips", Grouped(executed)),
            None => ", trips not known".to_owned(),
        };
        let moving = match line.moving {
            0 => String::new(),
            moving => format!(", <strong>{} move data</strong>", count(moving, "relayout", "relayouts")),
        };
        let (bare, code) = match text_of(row) {
            "" => (" bare", String::new()),
            code => ("", format!("<code>{}</code>", cell(code))),
        };
        push(
            body,
            format_args!(
                "<div class=\"line{bare}\"><button type=\"button\" data-l=\"{number}-{place}\" aria-pressed=\"false\"><b>{row}</b> {code}\
                 <span class=\"figures\">{bundles}{trips}, {}{moving}</span></button>",
                count(line.slots, "slot", "slots"),
            ),
        );
        push_line_details(body, kernel, &line.source);
        body.push_str("</div>\n");
    }
    if let Some(left) = kernel.lines.len().checked_sub(MOST_LINES).filter(|&left| left > 0) {
        push(body, format_args!("<p class=\"hint\">… and {left} more lines; --format json has all</p>\n"));
    }
}

/// The address of a bundle, its label, and a mark for each loop around it.
fn head(bundle: &BundleText) -> String {
    let marks = ">".repeat(bundle.depth.min(8));
    let head = format!("{:#x} {} {marks}", bundle.address, bundle.label);
    head.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A kernel before and after a change: its figures side by side, and the lines that differ.
fn push_difference(body: &mut String, number: usize, difference: &KernelDifference) {
    let target = difference.target.as_ref().map(|target| format!(" for {target}")).unwrap_or_default();
    let heading = cell(&format!("{}{target}", difference.name));
    if let (Some(before), Some(after)) = (&difference.before, &difference.after) {
        let text = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| Grouped(number).to_string());
        let rows = before.all().into_iter().zip(after.all()).map(|((figure, before), (_, after))| Side {
            name: figure.to_string(),
            numbers: [before, after],
            texts: [before, after].map(text),
            change: changed(before, after),
            why: String::new(),
        });
        push(body, format_args!("<h2>{heading}: {}</h2>\n", cell(&answer_of(before, after))));
        body.push_str(
            "<p class=\"legend\"><span><i class=\"temporary\"></i> before</span><span><i class=\"output\"></i> after</span></p>\n",
        );
        side_by_side(body, &format!("figures{number}"), "Figures", rows.collect());
    } else {
        let side = if difference.before.is_some() { "before" } else { "after" };
        push(body, format_args!("<h2>{heading}: only {side} the change</h2>\n"));
    }
    for note in &difference.notes {
        push(body, format_args!("<p class=\"hint\">{}</p>\n", cell(note)));
    }
    let rows = difference.lines.iter().map(|line| {
        let text = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| Grouped(number).to_string());
        let both = |figure: fn(&LineEntry) -> u64| {
            let [before, after] = [&line.before, &line.after].map(|line| text(line.as_ref().map(figure)));
            if before == after { after } else { format!("{before} \u{2192} {after}") }
        };
        [both(|line| line.bundles), both(|line| line.slots), both(|line| line.moving), line.source.clone()]
    });
    table(
        body,
        &format!("lines{number}"),
        "Lines that differ, by their numbers in each version",
        ["Bundles", "Slots", "Relayouts that move data", "Line"],
        3,
        rows,
    );
}

/// The operations, relayouts and unaligned accesses of a line, which are shown when it is chosen.
fn push_line_details(body: &mut String, kernel: &CompiledKernel, source: &str) {
    let is_here = |other: &Option<String>| other.as_deref() == Some(source);
    body.push_str("<ul hidden>\n");
    for access in kernel.unaligned.iter().filter(|access| is_here(&access.source)) {
        push(
            body,
            format_args!(
                "<li class=\"moving\">{} of {} {}</li>\n",
                cell(&access.operation),
                cell(&access.shape),
                cell(&access.advice)
            ),
        );
    }
    for relayout in kernel.relayouts.iter().flatten().filter(|relayout| is_here(&relayout.source)) {
        let (class, free) = if relayout.free == Some(true) { ("", "free ") } else { (" class=\"moving\"", "") };
        push(body, format_args!("<li{class}>{free}relayout of {}</li>\n", cell(&sentence(relayout))));
    }
    for value in kernel.vectors.get(source).into_iter().flatten() {
        let registers = value.registers.map_or("?".to_owned(), |registers| count(registers, "register", "registers"));
        push(
            body,
            format_args!(
                "<li>{} {} in {}: {registers}</li>\n",
                cell(&value.operation),
                cell(&value.shape),
                cell(&value.layout)
            ),
        );
    }
    body.push_str("</ul>");
}

/// The registers of vectors that relayouts move, or that unaligned loads and stores use.
fn push_drawings(body: &mut String, kernel: &CompiledKernel) {
    let relayouts = kernel.relayouts.iter().flatten().filter(|relayout| relayout.free != Some(true));
    let relayouts = relayouts.flat_map(|relayout| [(&relayout.shape, &relayout.from), (&relayout.shape, &relayout.to)]);
    let accesses = kernel.unaligned.iter().map(|access| (&access.shape, &access.layout));
    let mut seen = BTreeSet::new();
    let mut drawings = relayouts.chain(accesses).filter(|vector| seen.insert(*vector)).filter_map(|(shape, layout)| {
        let registers = Registers::new(&shape.parse().ok()?, layout.parse().ok()?).ok()?;
        Some((format!("{shape} in {layout}: {}", count(registers.registers, "register", "registers")), registers))
    });
    let mut first = true;
    for (title, registers) in drawings.by_ref().take(MOST_DRAWINGS) {
        if std::mem::take(&mut first) {
            body.push_str("<h3>Registers</h3>\n");
        }
        let svg = in_page(&RegisterDrawing::new(&registers));
        push(body, format_args!("<details class=\"registers\"><summary>{}</summary>{svg}</details>\n", cell(&title)));
    }
    let left = drawings.count();
    if left > 0 {
        push(body, format_args!("<p class=\"hint\">… and {left} more; xla-shape draw --vector draws them</p>\n"));
    }
}

/// A text as HTML, shortened.
fn cell(text: &str) -> String {
    escape(&shortened(text, LONGEST))
}
