//! Compilers' programs, changed in one place: how often the check finds the change.

use std::collections::BTreeMap;
use xla_shape_core::text::Span;
use xla_shape_core::{Dimension, ElementType, Shape};
use xla_shape_hlo::{Computation, Instruction, Module, Opcode, Severity};
use xla_shape_tests::{cases, hlo_modules, is_thorough};

/// How many places of a module are changed in each way: one by default, more in `scripts/laws.sh`.
fn places() -> usize {
    (cases() / 256).max(1)
}

/// One change: a part of the text, and the new text for it.
type Change = (Span, String);

/// A shape with another size in one dimension.
fn other_size(instruction: Instruction<'_>) -> Option<Change> {
    let array = instruction.shape().array().filter(|_| matches!(instruction.shape(), Shape::Array(_)))?;
    let Dimension::Static(size) = *array.dimensions().first()? else { return None };
    let text = instruction.shape_text();
    let (before, after) = text.split_once('[')?;
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    Some((instruction.shape_span(), format!("{before}[{}{rest}", size + 1)))
}

/// A shape with another element type: of another class, or floats of another precision.
fn other_type(instruction: Instruction<'_>, to: fn(ElementType) -> Option<&'static str>) -> Option<Change> {
    let array = instruction.shape().array().filter(|_| matches!(instruction.shape(), Shape::Array(_)))?;
    let (_, after) = instruction.shape_text().split_once('[')?;
    Some((instruction.shape_span(), format!("{}[{after}", to(array.element_type())?)))
}

const fn other_class(element_type: ElementType) -> Option<&'static str> {
    match element_type {
        ElementType::F32 => Some("s32"),
        ElementType::Bf16 => Some("s16"),
        ElementType::S32 => Some("f32"),
        ElementType::Pred => Some("s8"),
        _ => None,
    }
}

const fn other_precision(element_type: ElementType) -> Option<&'static str> {
    match element_type {
        ElementType::F32 => Some("bf16"),
        ElementType::Bf16 => Some("f32"),
        _ => None,
    }
}

/// A value with its first number increased.
fn next_number(text: &str, by: usize) -> Option<String> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let end = text[start..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |length| start + length);
    let number: usize = text[start..end].parse().ok()?;
    Some(format!("{}{}{}", &text[..start], number + by, &text[end..]))
}

/// An attribute that selects dimensions or elements, with another number.
fn other_attribute(instruction: Instruction<'_>) -> Option<Change> {
    const CHOSEN: &[&str] = &[
        "dimensions",
        "index",
        "slice",
        "padding",
        "iota_dimension",
        "lhs_contracting_dims",
        "rhs_contracting_dims",
        "dynamic_slice_sizes",
        "slice_sizes",
        "index_vector_dim",
    ];
    let attribute = instruction.attributes().find(|attribute| CHOSEN.contains(&attribute.name()))?;
    Some((attribute.value().span(), next_number(attribute.value().text(), 1)?))
}

/// Groups or pairs in which a device is missing or occurs twice.
fn other_groups(instruction: Instruction<'_>) -> Option<Change> {
    let value = instruction.attribute("replica_groups").or_else(|| instruction.attribute("source_target_pairs"))?;
    Some((value.span(), next_number(value.text(), 1)?))
}

/// The attribute that names a called computation, with the name of one that has other shapes.
fn other_computation<'m>(instruction: Instruction<'m>, all: &[Computation<'m>]) -> Option<Change> {
    let names = ["calls", "to_apply", "body", "condition"];
    let value = names.into_iter().find_map(|name| instruction.attribute(name))?;
    let now = instruction.module().computation(value.name().ok()?)?;
    let signature = |computation: Computation<'_>| {
        let parameters = computation.instructions().filter(|found| found.opcode() == Opcode::Parameter);
        let mut shapes: Vec<_> = parameters.map(|found| found.shape().without_layout().to_string()).collect();
        shapes.push(computation.root().shape().without_layout().to_string());
        shapes
    };
    // Take only an earlier computation: a later one may call this one, and the calls would be a cycle.
    let fits = |other: &&Computation<'_>| other.number() < now.number() && signature(**other) != signature(now);
    let other = all.iter().find(fits)?;
    Some((value.span(), format!("%{}", other.name())))
}

/// The operands without one of them.
fn fewer_operands(instruction: Instruction<'_>) -> Option<Change> {
    let count = instruction.operands().len();
    if count < 2 || instruction.opcode() == Opcode::CustomCall {
        return None;
    }
    let (last, before) = (instruction.operand(count - 1)?.span(), instruction.operand(count - 2)?.span());
    Some((Span { start: before.end, end: last.end }, String::new()))
}

#[test]
fn changes_in_one_place_are_found() {
    type Kind = (&'static str, fn(Instruction<'_>) -> Option<Change>, usize);
    // The number is how many changes of a hundred must be found. The others give valid programs: another element of a tuple with the same shape,
    // floats of another precision after optimisation, another axis of a mesh.
    let kinds: &[Kind] = &[
        ("dimension", other_size, 99),
        ("element class", |instruction| other_type(instruction, other_class), 97),
        ("float precision", |instruction| other_type(instruction, other_precision), 70),
        ("attribute", other_attribute, 80),
        ("replica groups and pairs", other_groups, 70),
        (
            "called computation",
            |instruction| {
                let all: Vec<_> = instruction.module().computations().collect();
                other_computation(instruction, &all)
            },
            98,
        ),
        ("operand less", fewer_operands, 100),
    ];
    let mut counts = BTreeMap::<&str, [usize; 3]>::new();
    let mut missed = Vec::new();
    // Large modules mostly repeat the same kinds of instructions. `scripts/laws.sh` includes larger ones.
    let longest = if is_thorough() { 120_000 } else { 60_000 };
    for row in hlo_modules().into_iter().filter(|row| row.text.len() < longest) {
        let module = Module::parse(&row.text).expect("a module of XLA");
        let before = module.check().len();
        for (kind, change, _) in kinds {
            let changes: Vec<_> =
                module.instructions().filter_map(|instruction| Some((instruction, change(instruction)?))).collect();
            let places = places();
            let step = (changes.len() / places).max(1);
            for (instruction, (span, new)) in changes.into_iter().step_by(step).take(places) {
                let text = format!("{}{new}{}", &row.text[..span.start], &row.text[span.end..]);
                let findings = Module::parse(&text).map(|module| {
                    let findings = module.check();
                    (findings.iter().any(|found| found.severity() == Severity::Error), findings.len() > before)
                });
                let [errors, hints, all] = counts.entry(kind).or_default();
                *all += 1;
                match findings {
                    // `Err` means that the text cannot even be read.
                    Err(_) | Ok((true, _)) => *errors += 1,
                    Ok((false, true)) => *hints += 1,
                    Ok((false, false)) => {
                        let line: String = text[span.start.saturating_sub(60)..].chars().take(160).collect();
                        missed.push((*kind, format!("{}: {} {line}", row.module, instruction.name())));
                    }
                }
            }
        }
    }
    for (kind, [errors, hints, all]) in &counts {
        println!("{kind}: of {all}, {errors} are errors and {hints} hints");
    }
    for (kind, _, least) in kinds {
        let [errors, hints, all] = counts.get(kind).copied().unwrap_or_default();
        let examples: Vec<_> =
            missed.iter().filter(|(missed, _)| missed == kind).map(|(_, line)| line.as_str()).collect();
        assert!(
            all > 0 && (errors + hints) * 100 >= all * least,
            "{kind}: {errors} and {hints} of {all}\n{}",
            examples.join("\n")
        );
    }
}
