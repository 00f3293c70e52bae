//! Code in C, C++ and Rust that computes a position from an index, and the inverse.

use super::code::Language;
use crate::formula::{self, Notation};
use std::fmt::Write as _;
use std::num::NonZeroU64;
use xla_shape_core::map::{Intermediate, Source, StrideTableRef, Term};
use xla_shape_core::{ArrayShape, StrideTableError};

/// How a language writes the parts of a function.
struct Syntax {
    language: Language,
    /// The text before the name in the declaration of a constant, and of a variable.
    constant: &'static str,
    variable: &'static str,
    /// The statement that returns "no element".
    none: &'static str,
}

impl Syntax {
    const fn of(language: Language) -> Self {
        match language {
            Language::Rust => Self { language, constant: "let ", variable: "let mut ", none: "return None;" },
            Language::Cpp => Self {
                language,
                constant: "const std::size_t ",
                variable: "std::size_t ",
                none: "return std::nullopt;",
            },
            _ => Self { language, constant: "const size_t ", variable: "size_t ", none: "return 0;" },
        }
    }

    /// A line of code that ends the function if a condition holds.
    fn refuse(&self, condition: &str) -> String {
        match self.language {
            Language::Rust => format!("    if {condition} {{\n        {}\n    }}\n", self.none),
            _ => format!("    if ({condition}) {}\n", self.none),
        }
    }
}

/// `value / divisor`, as a shift if possible; in parentheses unless the divisor is 1.
fn quotient(value: &str, divisor: u64) -> String {
    match divisor {
        1 => value.to_owned(),
        _ if divisor.is_power_of_two() => format!("({value} >> {})", divisor.trailing_zeros()),
        _ => format!("({value} / {divisor})"),
    }
}

/// `value % modulus`, as a mask if possible.
fn remainder(value: &str, modulus: u64) -> String {
    if modulus.is_power_of_two() { format!("({value} & {})", modulus - 1) } else { format!("({value} % {modulus})") }
}

/// The code of the function and of its inverse.
pub(super) fn functions(array: &ArrayShape, language: Language, name: &str) -> Result<String, StrideTableError> {
    let placement = array.placement()?;
    let table = placement.table();
    let rank = table.extents().len();
    let syntax = Syntax::of(language);
    let positions = placement.padded_positions();
    let padding = if table.is_exhaustive() && positions == table.positions() { "" } else { " or is padding" };
    let mut code = String::new();
    let (open, rest) = match language {
        Language::Rust => ("//", ""),
        _ => ("/*", " */"),
    };
    // Writing to memory does not fail.
    let _ = writeln!(code, "{open} {array}: {positions} positions, in elements, from 0 on.{rest}");
    code += match language {
        Language::C => "#include <stddef.h>\n\n",
        Language::Cpp => "#include <array>\n#include <cstddef>\n#include <optional>\n\n",
        _ => "\n",
    };
    let comment = |text: &str| match language {
        Language::Rust => format!("/// {text}\n"),
        _ => format!("/* {text} */\n"),
    };
    code += &comment("The position of the element with this index, which is inside of the array.");
    code += &match language {
        Language::C => format!("size_t {name}(const size_t index[]) {{\n"),
        Language::Cpp => {
            format!("constexpr std::size_t {name}([[maybe_unused]] const std::array<std::size_t, {rank}>& index) {{\n")
        }
        _ => format!("pub const fn {name}(index: [usize; {rank}]) -> usize {{\n"),
    };
    let names = (0..rank).map(|dimension| format!("index[{dimension}]")).collect::<Vec<_>>();
    let (sum, values) = formula::position(table, &names, Notation::ShiftsAndMasks);
    let is_constant = !sum.iter().chain(&values).any(|text| text.contains("index["));
    if is_constant {
        code += match language {
            Language::C => "    (void)index;\n",
            Language::Rust => "    let _ = index;\n",
            _ => "",
        };
    }
    for value in &values {
        let _ = writeln!(code, "    {}{value};", syntax.constant);
    }
    let sum = sum.join(" + ");
    let _ = match language {
        Language::Rust => write!(code, "    {sum}\n}}\n\n"),
        _ => write!(code, "    return {sum};\n}}\n\n"),
    };
    let inverse = format!("{name}_inverse");
    let what = match language {
        Language::C => {
            format!(
                "Writes the index of the element at this position, and returns 1; returns 0 if the position is outside{padding}."
            )
        }
        _ => format!("The index of the element at this position; none if the position is outside{padding}."),
    };
    code += &comment(&what);
    if table.positions() == 0 {
        code += &match language {
            Language::C => format!(
                "int {inverse}(size_t position, size_t index[]) {{\n    (void)position;\n    (void)index;\n    return 0;\n}}\n"
            ),
            Language::Cpp => format!(
                "constexpr std::optional<std::array<std::size_t, {rank}>> {inverse}([[maybe_unused]] std::size_t position) {{\n    \
                 return std::nullopt;\n}}\n"
            ),
            _ => format!(
                "pub const fn {inverse}(position: usize) -> Option<[usize; {rank}]> {{\n    let _ = position;\n    None\n}}\n"
            ),
        };
        return Ok(code);
    }
    code += &match language {
        Language::C => format!("int {inverse}(size_t position, size_t index[]) {{\n"),
        Language::Cpp => format!(
            "constexpr std::optional<std::array<std::size_t, {rank}>> {inverse}(std::size_t position) {{\n    std::array<std::size_t, {rank}> index{{}};\n"
        ),
        _ => format!(
            "pub const fn {inverse}(position: usize) -> Option<[usize; {rank}]> {{\n    let mut index = [0; {rank}];\n"
        ),
    };
    if language == Language::C && rank == 0 {
        code += "    (void)index;\n";
    }
    undo(&mut code, &syntax, table);
    code += match language {
        Language::C => "    return 1;\n}\n",
        Language::Cpp => "    return index;\n}\n",
        _ => "    Some(index)\n}\n",
    };
    if language == Language::Rust && !code.contains("] += ") {
        code = code.replace("let mut index = ", "let index = ");
    }
    Ok(code)
}

/// Adds code that takes the value of a term and adds the corresponding part to the term's source.
fn undo_term(code: &mut String, syntax: &Syntax, term: Term, value: &str, room: u64) {
    if let Some(modulus) = term.modulus.map(NonZeroU64::get).filter(|&modulus| modulus < room) {
        *code += &syntax.refuse(&format!("{value} >= {modulus}"));
    }
    let target = match term.source {
        Source::Zero => {
            if room > 1 {
                *code += &syntax.refuse(&format!("{value} != 0"));
            }
            return;
        }
        Source::Dimension(dimension) => format!("index[{dimension}]"),
        Source::Intermediate(number) => format!("v{number}"),
    };
    let _ = match term.divisor.get() {
        1 => writeln!(
            code,
            "    {target} += {};",
            value.strip_prefix('(').and_then(|v| v.strip_suffix(')')).unwrap_or(value)
        ),
        divisor => writeln!(code, "    {target} += {value} * {divisor};"),
    };
}

/// The body of the inverse function.
fn undo(code: &mut String, syntax: &Syntax, table: StrideTableRef<'_>) {
    *code += &syntax.refuse(&format!("position >= {}", table.positions()));
    if syntax.language == Language::C {
        for dimension in 0..table.extents().len() {
            let _ = writeln!(code, "    index[{dimension}] = 0;");
        }
    }
    for number in 0..table.intermediates().len() {
        let zero = if syntax.language == Language::Rust { "v{}: usize = 0" } else { "v{} = 0" };
        let _ = writeln!(code, "    {}{};", syntax.variable, zero.replace("{}", &number.to_string()));
    }
    // Each digit of the position is a part of an index or of an intermediate value. Add it there. In `f32[16,256]{1,0:T(8,128)}`, `position / 2048`
    // gives `index[0] / 8`, so it is added to `index[0]` times 8.
    for (number, digit) in table.digits().iter().enumerate() {
        let whole = quotient("position", digit.stride);
        // The position is below the end, so that the outermost digit needs no remainder.
        let value = if number == 0 { whole } else { remainder(&whole, digit.size) };
        undo_term(code, syntax, digit.term, &value, digit.size);
    }
    // Then split the intermediate values into their parts, the last one first, because it may be computed from those before it.
    for (number, intermediate) in table.intermediates().iter().enumerate().rev() {
        let value = format!("v{number}");
        *code += &syntax.refuse(&format!("{value} >= {}", intermediate.size()));
        match *intermediate {
            Intermediate::Term { term, size } => undo_term(code, syntax, term, &value, size),
            Intermediate::Combine { major, minor, minor_size, .. } => {
                undo_term(code, syntax, major, &quotient(&value, minor_size.get()), u64::MAX);
                undo_term(code, syntax, minor, &remainder(&value, minor_size.get()), minor_size.get());
            }
        }
    }
    // If the index is not in the array, the position is padding.
    if !table.is_exhaustive() {
        for (dimension, extent) in table.extents().iter().enumerate() {
            *code += &syntax.refuse(&format!("index[{dimension}] >= {extent}"));
        }
    }
}
