//! Where an instruction comes from, in words: its line of the program, and the scopes around it.

use xla_shape_hlo::{Role, Source};

/// The file and the line, such as `train.py:43`.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_answers::source::source_text;
///
/// let module = Module::parse(r#"y = f32[8] negate(x), metadata={source_file="a.py" source_line=7}"#)?;
/// let source = module.sources().get(module.instruction("y").unwrap());
/// assert_eq!(source_text(&source).as_deref(), Some("a.py:7"));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn source_text(source: &Source<'_>) -> Option<String> {
    Some(file_and_line(source.file.as_ref()?, source.line))
}

/// A file and a line, such as `train.py:43`; without a line, only the file.
#[must_use]
pub fn file_and_line(file: &str, line: Option<usize>) -> String {
    line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}

/// The line of the compiled text, if the source is a line of that text: `-:7` is line 7. The compiler uses these sources if the text has no lines of
/// the user's program.
///
/// ```
/// use xla_shape_answers::source::line_of_text;
///
/// assert_eq!((line_of_text("-:7"), line_of_text("train.py:7")), (Some("7"), None));
/// ```
#[must_use]
pub fn line_of_text(source: &str) -> Option<&str> {
    source.strip_prefix("-:")
}

/// Whether the value is a parameter, whose op_name is a path in the caller's data, such as `params['w1']`.
#[must_use]
pub fn is_argument(role: Role) -> bool {
    matches!(role, Role::Argument | Role::Donated)
}

/// The scopes around an operation, outermost first: the parts of its op_name without the last one. For a parameter, the path in
/// the caller's data.
#[must_use]
pub fn path(op_name: Option<&str>, is_argument: bool) -> Vec<String> {
    const MOST: usize = 100;
    match op_name {
        Some(name) if is_argument => {
            let parts = name.split(['[', ']', '.', '\'', '"']).filter(|part| !part.is_empty());
            parts.take(MOST).map(str::to_owned).collect()
        }
        Some(name) => {
            // A slash in parentheses is part of a name, as in `jvp(layer/attention)`.
            let mut depth = 0_usize;
            let mut parts: Vec<&str> = name
                .split(|c| {
                    match c {
                        '(' => depth += 1,
                        ')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    c == '/' && depth == 0
                })
                .take(MOST)
                .collect();
            if parts.len() > 1 {
                parts.pop();
            }
            parts.into_iter().map(str::to_owned).collect()
        }
        None => vec!["(made by the compiler)".to_owned()],
    }
}

/// The scopes around an operation as one text; for an operation without a name, a text that says that the compiler made it.
#[must_use]
pub fn scope_of(op_name: Option<&str>) -> String {
    scope(&path(op_name, false), false)
}

/// The scopes around an operation as one text; for a parameter, the first part of its path.
#[must_use]
pub fn scope(path: &[String], is_argument: bool) -> String {
    let most = if is_argument { 1 } else { path.len() };
    path.iter().take(most).map(String::as_str).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::{path, scope};

    #[test]
    fn scopes_are_parts_of_the_path() {
        for (name, is_argument, parts, whole) in [
            ("jit(step)/layer_3/dot_general", false, &["jit(step)", "layer_3"][..], "jit(step)/layer_3"),
            (
                "jit(f)/jvp(layer/attention)/add",
                false,
                &["jit(f)", "jvp(layer/attention)"],
                "jit(f)/jvp(layer/attention)",
            ),
            ("jvp(layer/attention)", false, &["jvp(layer/attention)"], "jvp(layer/attention)"),
            ("params['w1'].kernel", true, &["params", "w1", "kernel"], "params"),
            ("x", true, &["x"], "x"),
        ] {
            let found = path(Some(name), is_argument);
            assert_eq!(found, parts, "{name}");
            assert_eq!(scope(&found, is_argument), whole, "{name}");
        }
        assert_eq!(scope(&path(None, false), false), "(made by the compiler)");
    }
}
