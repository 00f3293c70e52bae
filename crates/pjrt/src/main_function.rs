//! The parameters and results of `@main` in the text of an MLIR program, and the layouts that are requested for them.

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use xla_shape::Layout;
use xla_shape_mlir::{Signature, Value};

/// A parameter or a result of a program, by its number.
///
/// ```
/// use std::collections::BTreeMap;
/// use xla_shape_pjrt::{Argument, Program};
///
/// let program = Program::from_mlir(b"module { func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>) { return %x } }");
/// let host = BTreeMap::from([(Argument::Result(0), "pinned_host")]);
/// let program = program.with_memory_kinds(&host)?;
/// assert!(String::from_utf8_lossy(program.code()).contains(r#"-> (tensor<2xf32> {mhlo.memory_kind = "pinned_host"})"#));
/// assert_eq!(Argument::Result(0).to_string(), "out0");
/// # Ok::<(), xla_shape_pjrt::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Argument {
    /// A parameter, from 0.
    Parameter(usize),
    /// A result, from 0.
    Result(usize),
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(number) => write!(f, "arg{number}"),
            Self::Result(number) => write!(f, "out{number}"),
        }
    }
}

/// Which layout a program asks for, at a parameter or a result.
///
/// ```
/// use std::collections::BTreeMap;
/// use xla_shape_pjrt::{Argument, LayoutMode, Program};
///
/// let program = Program::from_mlir(b"module { func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) { return %x } }");
/// let modes = BTreeMap::from([
///     (Argument::Parameter(0), LayoutMode::Auto),
///     (Argument::Result(0), LayoutMode::Layout("{0,1}".parse()?)),
/// ]);
/// let asks = program.with_layout_modes(&modes)?;
/// let text = String::from_utf8_lossy(asks.code());
/// assert!(text.contains(r#"%x: tensor<2x3xf32> {mhlo.layout_mode = "auto"}"#));
/// assert!(text.contains(r#"-> (tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"})"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LayoutMode {
    /// The compiler's choice.
    Auto,
    /// This layout.
    Layout(Layout),
}

impl fmt::Display for LayoutMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Layout(layout) => layout.fmt(f),
        }
    }
}

/// The attribute by which JAX asks for layouts.
pub(crate) const LAYOUT_MODE: &str = "mhlo.layout_mode";

/// The attribute by which JAX donates a parameter to a result.
const DONATED: &str = "tf.aliasing_output";

/// Which parameters are donated, each with the result that takes its memory. Empty if the parameters of `@main` cannot be read.
pub(crate) fn donated(text: &str) -> BTreeMap<usize, usize> {
    let Some(main) = Signature::find(text, "main") else { return BTreeMap::new() };
    // `1 : i32`
    let result = |value: &Value<'_>| value.attribute(DONATED)?.split(' ').next()?.parse().ok();
    main.parameters().iter().enumerate().filter_map(|(number, value)| Some((number, result(value)?))).collect()
}

/// The attribute by which JAX asks for a memory.
pub(crate) const MEMORY_KIND: &str = "mhlo.memory_kind";

/// The text of a program in which some parameters and results get an attribute. It replaces an attribute of the same
/// name.
///
/// # Errors
/// If the text has no function `@main`, or the function has no such parameter or result.
pub(crate) fn with_attributes(text: &str, name: &str, values: &BTreeMap<Argument, String>) -> Result<String> {
    let refused = |reason: String| Error::NoLayouts(reason);
    let main = Signature::find(text, "main")
        .ok_or_else(|| refused("its text has no function `@main` whose parameters can be read".to_owned()))?;
    let mut edits = Vec::new();
    for (argument, wanted) in values {
        let (list, number, what) = match argument {
            Argument::Parameter(number) => (main.parameters(), *number, "parameter"),
            Argument::Result(number) => (main.results(), *number, "result"),
        };
        let value = list.get(number);
        let value = value.ok_or_else(|| {
            refused(format!("`@main` has no {what} {number}; they are numbered from 0, and it has {}", list.len()))
        })?;
        let new = with_attribute(value, name, wanted);
        let is_bare = main.has_bare_result() && matches!(argument, Argument::Result(_));
        edits.push((value.range(), if is_bare { format!("({new})") } else { new }));
    }
    edits.sort_by_key(|(place, _)| place.start);
    let mut new = String::with_capacity(text.len() + 64 * edits.len());
    let mut done = 0;
    for (place, value) in edits {
        new.push_str(&text[done..place.start]);
        new.push_str(&value);
        done = place.end;
    }
    new.push_str(&text[done..]);
    Ok(new)
}

/// A parameter or result, such as `tensor<2xf32> {jax.buffer_donor = true} loc("x")`, with this attribute, which replaces one of the same
/// name.
fn with_attribute(value: &Value<'_>, name: &str, wanted: &str) -> String {
    let kept = value.attributes().iter().filter(|(key, _)| *key != name);
    let kept = kept.map(|(key, value)| if value.is_empty() { (*key).to_owned() } else { format!("{key} = {value}") });
    let attributes = kept.chain([format!("{name} = \"{wanted}\"")]).collect::<Vec<_>>().join(", ");
    let space = if value.location().is_empty() { "" } else { " " };
    format!("{} {{{attributes}}}{space}{}", value.type_text(), value.location())
}

#[cfg(test)]
mod tests {
    use super::{Argument, LAYOUT_MODE, LayoutMode, donated, with_attributes};
    use std::collections::BTreeMap;

    fn with_layouts(text: &str, layouts: &BTreeMap<Argument, LayoutMode>) -> crate::Result<String> {
        let values = layouts.iter().map(|(argument, mode)| (*argument, mode.to_string())).collect();
        with_attributes(text, LAYOUT_MODE, &values)
    }

    fn asked(text: &str, layouts: &[(Argument, &str)]) -> Result<String, String> {
        let layouts: BTreeMap<_, _> =
            layouts.iter().map(|(argument, layout)| (*argument, LayoutMode::Layout(layout.parse().unwrap()))).collect();
        with_layouts(text, &layouts).map_err(|error| error.to_string())
    }

    #[test]
    fn layouts_are_asked_for_where_they_belong() {
        use Argument::{Parameter, Result};
        let text = "module @m {\n  func.func public @main(%arg0: tensor<2x3xf32> {jax.donor = true, s = \"a, {)\\\"\"}, %arg1: tensor<4xi32>) \
                    -> (tensor<3x2xf32> {jax.result_info = \"\"}, tensor<i32>) {\n";
        let new = asked(
            text,
            &[(Parameter(0), "{0,1}"), (Parameter(1), "{0:T(128)}"), (Result(0), "{1,0}"), (Result(1), "{}")],
        );
        assert_eq!(
            new.unwrap(),
            "module @m {\n  func.func public @main(%arg0: tensor<2x3xf32> {jax.donor = true, s = \"a, {)\\\"\", mhlo.layout_mode = \"{0,1}\"}, \
             %arg1: tensor<4xi32> {mhlo.layout_mode = \"{0:T(128)}\"}) -> (tensor<3x2xf32> {jax.result_info = \"\", mhlo.layout_mode = \
             \"{1,0}\"}, tensor<i32> {mhlo.layout_mode = \"{}\"}) {\n"
        );
        // A location stays after the attributes. A location whose text looks like the function is not mistaken for it.
        let text = "#loc1 = loc(\"@main(x: y)\")\nfunc.func public @main(%x: tensor<2xf32> {a = 1} loc(\"x\"), %y: tensor<2xf32> loc(#l)) -> tensor<2xf32> {";
        let new = asked(text, &[(Parameter(0), "{0}"), (Parameter(1), "{0}")]).unwrap();
        let expected = "(%x: tensor<2xf32> {a = 1, mhlo.layout_mode = \"{0}\"} loc(\"x\"), %y: tensor<2xf32> {mhlo.layout_mode = \"{0}\"} loc(#l)) ->";
        assert!(new.contains(expected), "{new}");
        // An earlier request is replaced, and a single result may have no parentheses.
        let text = "func.func @main(%x: tensor<2xf32> {mhlo.layout_mode = \"auto\", a = 1}) -> tensor<2xf32> {";
        let expected = "func.func @main(%x: tensor<2xf32> {a = 1, mhlo.layout_mode = \"{0}\"}) -> tensor<2xf32> {";
        assert_eq!(asked(text, &[(Parameter(0), "{0}")]).unwrap(), expected);
        assert_eq!(asked("func.func @main() {", &[]).unwrap(), "func.func @main() {");
    }

    #[test]
    fn the_compiler_may_choose() {
        let modes = BTreeMap::from([(Argument::Result(0), LayoutMode::Auto)]);
        let text = with_layouts("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {", &modes).unwrap();
        assert_eq!(text, "func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32> {mhlo.layout_mode = \"auto\"}) {");
    }

    #[test]
    fn donated_parameters_name_their_results() {
        let text = "func.func @main(%a: tensor<2xf32> {s = \"tf.aliasing_output = 7\", tf.aliasing_output = 1 : i32}, %b: tensor<2xf32>, \
                    %c: tensor<2xf32> {tf.aliasing_output = 0 : i32} loc(\"c\")) -> (tensor<2xf32>, tensor<2xf32>) {";
        assert_eq!(donated(text), BTreeMap::from([(0, 1), (2, 0)]));
        assert_eq!(donated("func.func @main(%a"), BTreeMap::new());
    }

    #[test]
    fn what_is_not_there_is_said() {
        let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {";
        for (argument, said) in [
            (Argument::Parameter(1), "`@main` has no parameter 1; they are numbered from 0, and it has 1"),
            (Argument::Result(2), "`@main` has no result 2; they are numbered from 0, and it has 1"),
        ] {
            let error = asked(text, &[(argument, "{0}")]).unwrap_err();
            assert!(error.ends_with(said), "{error}");
        }
        for text in [
            "",
            "func.func @f() {",
            "func.func @main(%x",
            "func.func @main(%x: tensor<2xf32>,) {",
            "func.func @main(,)",
            "func.func @main(x)",
        ] {
            assert!(asked(text, &[(Argument::Parameter(0), "{0}")]).is_err(), "{text}");
        }
    }
}
