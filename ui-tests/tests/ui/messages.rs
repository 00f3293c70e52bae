//! The compiler's messages, without the parts that depend on the machine or on line numbers of the library.

/// The messages about a program, as they are kept in the file beside it.
///
/// Only lines of the program have numbers. The standard library's folder is `$RUST`.
pub(crate) fn messages(output: &str, program: &str) -> String {
    let messages = output.split("\n\n").map(|message| message.trim_matches('\n'));
    let messages = messages.filter(|message| !message.is_empty() && !is_summary(message));
    let mut messages: Vec<_> = messages.map(|message| message_of(message, program)).collect();
    // Remove repeated messages, as Cargo does.
    messages.dedup();
    let mut text = messages.join("\n\n");
    text.push('\n');
    text
}

/// Whether this message only sums up the others.
fn is_summary(message: &str) -> bool {
    let starts = ["error: aborting due to ", "Some errors have detailed ", "For more information about "];
    starts.iter().any(|start| message.starts_with(start))
}

/// One message.
fn message_of(message: &str, program: &str) -> String {
    let Some(width) = message.lines().find_map(arrow) else { return message.to_owned() };
    let lines = without_other_implementations(without_other_numbers(message, program, width));
    // The compiler makes the margin as wide as the largest line number.
    let kept = lines.iter().filter_map(|line| Some(margin(line, width)?.trim_start().len())).max().unwrap_or(0).max(1);
    with_margin(lines, width, kept).join("\n")
}

/// Where the arrow of ` --> file` is.
fn arrow(line: &str) -> Option<usize> {
    let text = line.trim_start();
    (text.starts_with("--> ") || text.starts_with("::: ")).then_some(line.len() - text.len())
}

/// The margin of a line that has one: spaces, and then its number if it is a line of code.
fn margin(line: &str, width: usize) -> Option<&str> {
    let margin = line.get(..width)?;
    margin.trim_start().bytes().all(|byte| byte.is_ascii_digit()).then_some(margin)
}

/// The lines of a message. Lines of files other than the program lose their numbers.
fn without_other_numbers(message: &str, program: &str, width: usize) -> Vec<String> {
    let mut is_other = false;
    let lines = message.lines().map(|line| {
        if arrow(line).is_some() {
            is_other = !line.contains(&format!(" {program}:"));
            return if is_other { without_position(line) } else { line.to_owned() };
        }
        let is_code = line.starts_with("...") || line.get(width..).is_some_and(|rest| rest.starts_with(" |"));
        is_other &= is_code;
        match margin(line, width) {
            Some(_) if is_other => format!("{:width$}{}", "", &line[width..]),
            _ => line.to_owned(),
        }
    });
    lines.collect()
}

/// `--> /rustc/59807616e1fa/library/core/src/iter/mod.rs:22:29` becomes `--> $RUST/core/src/iter/mod.rs`.
fn without_position(line: &str) -> String {
    let line = line.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    match line.split_once("/rustc/").and_then(|(before, rest)| Some((before, rest.split_once("/library/")?.1))) {
        Some((before, file)) => format!("{before}$RUST/{file}"),
        None => line.to_owned(),
    }
}

/// A message lists types that implement a trait. At most this many are kept, so that a new type changes no message.
const MAX_IMPLEMENTATIONS: usize = 8;

/// Shortens the lists of types that implement a trait, and removes the number of types that the compiler itself leaves out.
fn without_other_implementations(lines: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut listed = None;
    for line in lines {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.starts_with("= help: the following types implement trait ")
            || text.starts_with("= help: the following other types implement trait ")
        {
            listed = Some(0);
        } else if indent < 12 {
            listed = None;
        } else if let Some(count) = &mut listed {
            *count += 1;
            if *count > MAX_IMPLEMENTATIONS {
                if *count == MAX_IMPLEMENTATIONS + 1 {
                    kept.push(format!("{:width$}and $N others", "", width = indent - 2));
                }
                continue;
            }
        }
        if text.starts_with("and ") && text.ends_with(" others") {
            kept.push(format!("{:indent$}and $N others", ""));
        } else {
            kept.push(line.trim_end().to_owned());
        }
    }
    kept
}

/// The lines with a margin of `kept` columns in place of `width`.
fn with_margin(lines: Vec<String>, width: usize, kept: usize) -> Vec<String> {
    let mut is_text = true;
    let lines = lines.into_iter().map(|line| {
        if let Some(rest) = line.strip_prefix("...").filter(|rest| rest.trim_start().starts_with('|')) {
            return format!("...{}", &rest[width - kept..]);
        }
        let rest = margin(&line, width).map_or("", |_| line[width..].trim_start());
        if ["|", "=", "-->", ":::", "+", "-", "~"].iter().any(|start| rest.starts_with(start)) {
            is_text = false;
        } else if !line.starts_with(' ') {
            // A heading, which may continue on other lines.
            is_text = true;
        }
        if is_text { line } else { line[width - kept..].to_owned() }
    });
    lines.collect()
}
