//! Help, manual and completions, and what all verbs have in common.

use crate::program::{Command, program_path};
use std::collections::BTreeSet;
use std::sync::LazyLock;

fn text(arguments: &[&str]) -> String {
    let output = Command::program().args(arguments).output().unwrap();
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), ("", Some(0)));
    String::from_utf8(output.stdout).unwrap()
}

/// The verbs that the help lists, in its order.
static VERBS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let help = text(&["--help"]);
    let lines = listed(&help).into_iter().flat_map(|(_, lines)| lines);
    lines.map(|line| line.split(' ').next().unwrap().to_owned()).collect()
});

/// The lines of the help that list verbs, each with its group.
fn listed(help: &str) -> Vec<(&str, Vec<&str>)> {
    let mut groups = Vec::<(&str, Vec<&str>)>::new();
    for line in help.lines().skip_while(|line| !line.starts_with("A shape:")).take_while(|line| *line != "Options:") {
        match line.strip_prefix("  ") {
            Some(verb) => groups.last_mut().unwrap().1.push(verb),
            None if !line.is_empty() => groups.push((line, Vec::new())),
            None => {}
        }
    }
    groups
}

#[test]
fn the_help_has_few_lines_in_four_groups() {
    let help = text(&["--help"]);
    let groups = listed(&help);
    let names = groups.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    assert_eq!(names, ["A shape:", "A program:", "A kernel:", "Arrays in files:"]);
    let lines = groups.iter().flat_map(|(_, lines)| lines).collect::<Vec<_>>();
    assert!(lines.len() <= 18, "{lines:?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 78), "a line is wider than a terminal: {lines:?}");
    assert_eq!(VERBS.iter().collect::<BTreeSet<_>>().len(), lines.len(), "each verb is in one group");
    assert_eq!((VERBS[0].as_str(), VERBS.last().unwrap().as_str()), ("explain", "help"), "the usual question first");
}

#[test]
fn no_verb_has_another_name() {
    for gone in ["index", "tpu", "vector", "map", "bitcast", "reshape", "serve", "schema", "completions", "man"] {
        for arguments in [&[gone][..], &[gone, "f32[2]", "0", "--format", "json"]] {
            let output = Command::program().args(arguments).output().unwrap();
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
        }
    }
}

#[test]
fn every_verb_has_help_with_an_example() {
    let help = text(&["--help"]);
    for verb in &*VERBS {
        assert!(help.contains(&format!("\n  {verb} ")), "{verb}");
        let help = text(&[verb.as_str(), "--help"]);
        assert!(help.contains(&format!("  xla-shape {verb}")) && help.contains("Example"), "{verb}:\n{help}");
    }
    assert!(text(&["hlo", "diff", "--help"]).contains("Example:\n  xla-shape hlo diff "));
}

#[test]
fn shapes_may_have_very_many_dimensions_or_tiles() {
    for shape in [format!("u8[{}1]", "1,".repeat(39_999)), format!("f32[3]{{0:T{}}}", "(1)".repeat(20_000))] {
        for verb in ["explain", "draw", "advise"] {
            assert!(!text(&[verb, &shape]).is_empty(), "{verb}");
        }
        assert!(text(&["explain", &shape, "--position", "0"]).contains("position 0"));
        assert!(!text(&["explain", &shape, "--for", "v5e"]).is_empty());
        assert!(!text(&["draw", &shape, "--format", "json"]).is_empty());
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    use std::process::{Command, Stdio};
    let (shape, module) =
        ("f32[3000,500]{1,0:T(8,128)}", concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hlo/v5e__rnn_scan.hlo"));
    let commands: &[&[&str]] = &[
        &["--help"],
        &["explain", shape],
        &["explain", shape, "--index", "1,1"],
        &["draw", shape],
        &["draw", shape, "--format", "json"],
        &["draw", shape, "--svg", "-"],
        &["draw", shape, "--html", "-"],
        &["relayout", "/dev/zero", "--from", "u8[4]", "--to", "{0}", "-o", "-"],
        &["hlo", module],
        &["hlo", module, "--html", "-"],
        &["hlo", "diff", module, module],
        &["scan", module],
        &["compare", shape, shape],
        &["advise", shape],
        &["block", shape, shape],
        &["check", module],
        &["help", "completions", "bash"],
        &["help", "schema", "hlo"],
        &["help", "man"],
    ];
    for command in commands {
        let mut program = Command::new(program_path());
        let mut program = program.args(*command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The reading end is closed.
        drop(program.stdout.take());
        let output = program.wait_with_output().unwrap();
        if command[0] == "relayout" {
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains("expected 4 bytes of u8[4]{0} in `/dev/zero`, found 5 or more"), "{said}");
            continue;
        }
        assert_eq!(
            (String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()),
            ("", Some(0)),
            "{command:?}"
        );
    }
}

#[test]
fn a_bad_shape_gets_one_message_with_a_mark_from_every_verb() {
    let bad = "f32[3,5]{1,1}";
    let commands: &[&[&str]] = &[
        &["explain", bad],
        &["explain", bad, "--index", "1,1"],
        &["explain", bad, "--for", "v5e"],
        &["draw", bad],
        &["compare", "f32[3]", bad],
        &["advise", bad],
        &["block", "f32[3]", bad],
        &["relayout", "-", "--from", bad, "--to", "{0}", "-o", "-"],
    ];
    for command in commands {
        let output = Command::program().args(*command).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{command:?}");
        assert!(
            said.starts_with("error: ") && said.contains("1 | f32[3,5]{1,1}\n  |            ^"),
            "{command:?}: {said}"
        );
        assert_eq!(said.matches("error").count(), 1, "{command:?}: {said}");
    }
}

#[test]
fn the_manual_has_every_verb() {
    let manual = text(&["help", "man"]);
    assert!(manual.contains(".TH xla-shape 1"));
    for verb in &*VERBS {
        assert!(manual.contains(&format!(".SH XLA-SHAPE {}", verb.to_uppercase())), "{verb}");
    }
    assert!(manual.contains(".SH XLA-SHAPE HLO DIFF\n") && manual.contains(".SH XLA-SHAPE HELP SCHEMA\n"));
    // The page does not refer to other pages, because there are none.
    assert!(!manual.contains("(1)\n"), "{manual}");
}

#[test]
fn bash_completes_verbs_and_their_options() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("completions");
    std::fs::write(&script, text(&["help", "completions", "bash"])).unwrap();
    for (words, expected) in [
        (&["hl"][..], "hlo\n"),
        (&["explain", "--form"], "--format\n"),
        (&["explain", "--format", "j"], "json\n"),
        (&["hlo", "diff", "--form"], "--format\n"),
        (&["relayout", "--ten"], "--tensor\n"),
        (&["explain", "--for", "v5"], "v5e v5p\n"),
        (&["hlo", "--for", "v6"], "v6e\n"),
        (&["compile", "--for", "v7"], "v7x\n"),
        (&["hlo", "--section", "pe"], "peak\n"),
        (&["help", "schema", "hlo-d"], "hlo-diff\n"),
    ] {
        let all = [&["xla-shape"], words].concat();
        let [.., before, current] = &all[..] else { unreachable!() };
        let (words, last) = (all.join(" "), all.len() - 1);
        let complete = format!(
            ". '{}'; COMP_WORDS=({words}); COMP_CWORD={last}; _xla__shape xla-shape '{current}' '{before}'; echo \"${{COMPREPLY[*]}}\"",
            script.display()
        );
        let output = std::process::Command::new("bash").args(["-c", &complete]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{words}");
    }
}

/// The program's own messages look like the argument parser's: the same style, and colours only if the user wants them.
#[test]
fn messages_have_colours_where_they_are_wanted() {
    let error = |arguments: &[&str]| {
        let mut program = Command::program();
        let output = program.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").args(arguments).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let red = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m ";
    for wrong in [&["explain", "f33[2]"][..], &["explain"], &["hlo", "missing"], &["frobnicate"]] {
        assert!(error(&[&["--color", "always"], wrong].concat()).starts_with(red), "{wrong:?}");
        assert!(error(&[wrong, &["--color=always"]].concat()).starts_with(red), "{wrong:?}");
        for plain in [&["--color", "never"][..], &["--color=auto"], &[]] {
            assert!(error(&[plain, wrong].concat()).starts_with("error: "), "{wrong:?}");
        }
    }
    let marked = error(&["--color=always", "explain", "f33[2]"]);
    assert!(marked.ends_with("  | \u{1b}[1m\u{1b}[31m^^^\u{1b}[0m\n"), "{marked:?}");
    assert!(error(&["--color=often", "draw", "f32[]"]).contains("[possible values: auto, always, never]"));
}

#[test]
fn messages_name_what_was_probably_meant() {
    for (arguments, meant) in [
        (&["explain", "f33[2]"][..], "; did you mean `f32`?"),
        (&["explain", "bf61[2]"], "; did you mean `bf16`?"),
        (&["explain", "float8_e4m3fn[2]"], "; did you mean `f8e4m3fn`?"),
        (&["explain", "tensor<2x3xf32>"], "\nhelp: XLA writes this type as `f32[2,3]`\n"),
        (&["explain", " memref<?x3xf8E4M3FN> ", "--index", "0,0"], "\nhelp: XLA writes this type as `f8e4m3fn[?,3]`\n"),
        (&["explain", "f32[8]", "--for", "v6"], "; did you mean `v6e`?"),
        (&["hlo", "-", "--for", "v6"], "; did you mean `v6e`?; bytes such as 16GiB are read, too"),
        (&["compile", "-", "--for", "v7:2x2"], "; did you mean `v7x`?"),
        (&["draw", "f32[8]", "--svg", "a.PNG"], "expected a name that ends in .svg, found .png: the picture is SVG"),
    ] {
        let output = Command::program().args(arguments).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(meant) && !output.status.success(), "{arguments:?}: {error}");
    }
}

#[test]
fn help_of_a_verb_has_two_names() {
    assert_eq!(text(&["help"]), text(&["--help"]));
    for verb in VERBS.iter().map(String::as_str) {
        assert_eq!(text(&["help", verb]), text(&[verb, "--help"]), "{verb}");
    }
    assert_eq!(text(&["help", "hlo", "diff"]), text(&["hlo", "diff", "--help"]));
    for unknown in [&["help", "frobnicate"][..], &["help", "hlo", "frobnicate"]] {
        let output = Command::program().args(unknown).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{unknown:?}");
    }
}

#[test]
fn shells_can_complete_every_verb() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = text(&["help", "completions", shell]);
        assert!(VERBS.iter().all(|verb| script.contains(verb.as_str())), "{shell}");
    }
}
