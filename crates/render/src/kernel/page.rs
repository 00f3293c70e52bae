//! Kernels as an HTML page: the lines at the left with what the compiler made of them, the bundles at the right.

use super::text::{answer_of, changed, least_time, measured_time, of_kernel, overview, sentence, summary};
use crate::draw::{fills, in_page};
use crate::web::{
    Element, Page, Side, asset, element, elements, hatching_of_page, hint, legend, search, side_by_side, table,
};
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
/// The width of texts, in characters.
const WIDTH: usize = 110;
/// The longest text of a slot, in characters.
const LONGEST_SLOT: usize = 100;

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
        let mut main = elements().with(hatching_of_page());
        if let Some(differences) = &self.differences {
            main = main.with_all(differences.iter().enumerate().map(|(number, found)| difference(number, found)));
        } else if self.kernels.len() > 1 {
            main = main.with(text_block(&overview(self, WIDTH)));
        }
        let left = self.kernels.len().saturating_sub(MOST_KERNELS);
        let left = (left > 0).then(|| hint(format_args!("… and {left} more kernels; --format json has all")));
        let kernels = self.kernels.iter().take(MOST_KERNELS).enumerate();
        let errors = self.errors.iter();
        let main = main
            .with_all(kernels.map(|(number, kernel)| kernel_section(number, kernel, self)))
            .with_all(left)
            .with_all(errors.map(|error| element("p").text(format_args!("{}: {}", error.target, error.message))));
        Page {
            title: &title,
            heading: &title,
            bar: search("Search lines and bundles"),
            main,
            style: &[asset!("page.css"), &fills()],
            script: &[asset!("page.js")],
            ..Page::default()
        }
        .html()
    }
}

/// A text whose line breaks are kept.
fn text_block(text: &Text) -> Element {
    element("pre").attribute("tabindex", 0).whole_text(text)
}

fn kernel_section(number: usize, kernel: &CompiledKernel, all: &Kernels) -> Element {
    let unread = kernel.unread.iter().map(|(what, times)| hint(format_args!("not understood: {what} ({times}x)")));
    let bar = element("div")
        .class("bar")
        .attribute("role", "separator")
        .attribute("aria-orientation", "vertical")
        .attribute("aria-label", "Width of the lines")
        .attribute("tabindex", 0);
    let bundles = element("div")
        .class("bundles")
        .attribute("tabindex", 0)
        .attribute("role", "group")
        .attribute("aria-label", "Bundles")
        .with_all(kernel.listing.iter().map(|listed| bundle(number, listed)));
    let left = kernel.bundles.unwrap_or(0).saturating_sub(kernel.listing.len() as u64);
    let left = match (kernel.listing.is_empty(), left) {
        (true, _) => Some(hint("the dump has no bundles for this kernel")),
        (_, 0) => None,
        (_, left) => Some(hint(format_args!("… and {} more bundles", Grouped(left)))),
    };
    let mut text = Text::new(WIDTH);
    of_kernel(kernel, &mut text);
    let as_text =
        element("details").class("all").with(element("summary").text("The answer as text")).with(text_block(&text));
    element("section")
        .class("kernel")
        .id(format_args!("kernel{number}"))
        .with(element("h2").text(summary(kernel)))
        .with_all(least_time(kernel).iter().chain(&measured_time(kernel)).chain(&kernel.notes).map(hint))
        .with_all(unread)
        .with(
            element("div")
                .class("split")
                .with(element("div").class("lines").with(lines(number, kernel, all)))
                .with(bar)
                .with(bundles.with_all(left)),
        )
        .with(drawings(kernel))
        .with(as_text)
}

fn bundle(kernel: usize, bundle: &BundleText) -> Element {
    let slots = bundle.slots.iter().map(|slot| {
        let span = element("span").text(shortened(&slot.text, LONGEST_SLOT));
        slot.line.map_or(span.clone(), |line| span.attribute("data-l", format_args!("{kernel}-{line}")))
    });
    let empty = bundle.slots.is_empty().then(|| element("i").text("empty"));
    let head = element("b").text(head(bundle));
    element("div").class("bundle").with(head).text(" ").with_all(empty).with_all(slots)
}

/// The lines of Python. If the text of their file is known, it is shown, with the lines between them.
fn lines(number: usize, kernel: &CompiledKernel, all: &Kernels) -> Element {
    if kernel.lines.is_empty() {
        return hint("the dump names no lines of Python");
    }
    let how = hint("Choose a line: its bundles light up. Arrow keys go to other lines.");
    let sources = " With --source FILE, the program writes the text of the lines here.";
    let mut shown = elements().with(if all.has_sources() { how } else { how.text(sources) });
    let mut before: Option<(&str, usize)> = None;
    for (place, line) in kernel.lines.iter().take(MOST_LINES).enumerate() {
        let (file, row) = line.source.rsplit_once(':').unwrap_or((&line.source, ""));
        let row = row.parse::<usize>().unwrap_or(0);
        if before.is_none_or(|(other, _)| other != file) {
            shown = shown.with(element("h3").text(file));
        }
        let text = all.source(file);
        let text_of = |row: usize| text.and_then(|lines| lines.get(row.checked_sub(1)?)).map_or("", String::as_str);
        // Lines without bundles are shown between two lines of the same file that have some and are less than 20 lines apart.
        let is_near = |last: usize| text.is_some() && row.saturating_sub(last) < 20;
        let between =
            before.filter(|&(other, last)| other == file && is_near(last)).map_or(row..row, |(_, last)| last + 1..row);
        shown = shown.with_all(between.map(|row| {
            let code = element("code").text(text_of(row));
            element("div").class("other").with(element("b").text(row)).text(" ").with(code)
        }));
        before = Some((file, row));
        let bundles = count(line.bundles, "bundle", "bundles");
        let trips = match line.executed {
            Some(executed) if executed == line.bundles => String::new(),
            Some(executed) => format!(", {} with trips", Grouped(executed)),
            None => ", trips not known".to_owned(),
        };
        let moving = (line.moving > 0).then(|| count(line.moving, "relayout", "relayouts"));
        let moving =
            moving.map(|moving| elements().text(", ").with(element("strong").text(format_args!("{moving} move data"))));
        let figures = format!("{bundles}{trips}, {}", count(line.slots, "slot", "slots"));
        let code = Some(text_of(row)).filter(|code| !code.is_empty());
        let button = element("button")
            .attribute("type", "button")
            .attribute("data-l", format_args!("{number}-{place}"))
            .attribute("aria-pressed", false)
            .with(element("b").text(row))
            .text(" ")
            .with_all(code.map(|code| element("code").text(code)))
            .with(element("span").class("figures").text(figures).with_all(moving));
        let class = if code.is_some() { "line" } else { "line bare" };
        shown = shown.with(element("div").class(class).with(button).with(line_details(kernel, &line.source)));
    }
    let left = kernel.lines.len().saturating_sub(MOST_LINES);
    shown.with_all((left > 0).then(|| hint(format_args!("… and {left} more lines; --format json has all"))))
}

/// The address of a bundle, its label, and a mark for each loop around it.
fn head(bundle: &BundleText) -> String {
    let marks = ">".repeat(bundle.depth.min(8));
    let head = format!("{:#x} {} {marks}", bundle.address, bundle.label);
    head.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A kernel before and after a change: its figures side by side, and the lines that differ.
fn difference(number: usize, difference: &KernelDifference) -> Element {
    let target = difference.target.as_ref().map(|target| format!(" for {target}")).unwrap_or_default();
    let heading = format!("{}{target}", difference.name);
    let figures = match (&difference.before, &difference.after) {
        (Some(before), Some(after)) => {
            let text =
                |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| Grouped(number).to_string());
            let rows = before.all().into_iter().zip(after.all()).map(|((figure, before), (_, after))| Side {
                name: figure.to_string(),
                numbers: [before, after],
                texts: [before, after].map(text),
                change: changed(before, after),
                why: String::new(),
            });
            elements()
                .with(element("h2").text(format_args!("{heading}: {}", answer_of(before, after))))
                .with(legend("", ""))
                .with_all(side_by_side(format_args!("figures{number}"), "Figures", &rows.collect::<Vec<_>>()))
        }
        (before, _) => {
            let side = if before.is_some() { "before" } else { "after" };
            element("h2").text(format_args!("{heading}: only {side} the change"))
        }
    };
    let rows = difference.lines.iter().map(|line| {
        let text = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| Grouped(number).to_string());
        let both = |figure: fn(&LineEntry) -> u64| {
            let [before, after] = [&line.before, &line.after].map(|line| text(line.as_ref().map(figure)));
            if before == after { after } else { format!("{before} \u{2192} {after}") }
        };
        [both(|line| line.bundles), both(|line| line.slots), both(|line| line.moving), line.source.clone()]
    });
    let heading = "Lines that differ, by their numbers in each version";
    let columns = ["Bundles", "Slots", "Relayouts that move data", "Line"];
    let lines = table(format_args!("lines{number}"), heading, columns, 3, rows);
    elements().with(figures).with_all(difference.notes.iter().map(hint)).with_all(lines)
}

/// The operations, relayouts and unaligned accesses of a line, which are shown when it is chosen.
fn line_details(kernel: &CompiledKernel, source: &str) -> Element {
    let is_here = |other: &Option<String>| other.as_deref() == Some(source);
    let unaligned = kernel.unaligned.iter().filter(|access| is_here(&access.source)).map(|access| {
        let text = format!("{} of {} {}", access.operation, access.shape, access.advice);
        element("li").class("moving").text(text)
    });
    let relayouts = kernel.relayouts.iter().flatten().filter(|relayout| is_here(&relayout.source)).map(|relayout| {
        let (class, free) = if relayout.free == Some(true) { ("", "free ") } else { ("moving", "") };
        element("li").class(class).text(format_args!("{free}relayout of {}", sentence(relayout)))
    });
    let values = kernel.vectors.get(source).into_iter().flatten().map(|value| {
        let registers = value.registers.map_or("?".to_owned(), |registers| count(registers, "register", "registers"));
        element("li").text(format_args!("{} {} in {}: {registers}", value.operation, value.shape, value.layout))
    });
    element("ul").attribute("hidden", "").with_all(unaligned).with_all(relayouts).with_all(values)
}

/// Drawings of vectors in registers: those that relayouts move, and those of unaligned loads and stores.
fn drawings(kernel: &CompiledKernel) -> Element {
    let relayouts = kernel.relayouts.iter().flatten().filter(|relayout| relayout.free != Some(true));
    let relayouts = relayouts.flat_map(|relayout| [(&relayout.shape, &relayout.from), (&relayout.shape, &relayout.to)]);
    let accesses = kernel.unaligned.iter().map(|access| (&access.shape, &access.layout));
    let mut seen = BTreeSet::new();
    let mut drawings = relayouts.chain(accesses).filter(|vector| seen.insert(*vector)).filter_map(|(shape, layout)| {
        let registers = Registers::new(&shape.parse().ok()?, layout.parse().ok()?).ok()?;
        Some((format!("{shape} in {layout}: {}", count(registers.registers, "register", "registers")), registers))
    });
    let shown = drawings.by_ref().take(MOST_DRAWINGS).map(|(title, registers)| {
        let picture = in_page(&RegisterDrawing::new(&registers));
        element("details").class("registers").with(element("summary").text(title)).with(picture)
    });
    let shown = shown.collect::<Vec<_>>();
    let heading = (!shown.is_empty()).then(|| element("h3").text("Registers"));
    let left = drawings.count();
    let left = (left > 0).then(|| hint(format_args!("… and {left} more; xla-shape draw --vector draws them")));
    elements().with_all(heading).with_all(shown).with_all(left)
}
