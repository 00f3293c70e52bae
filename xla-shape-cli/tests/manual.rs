//! What `xla-shape` says about itself.

use assert_cmd::Command;

fn text(arguments: &[&str]) -> String {
    let output = Command::cargo_bin("xla-shape").unwrap().args(arguments).output().unwrap();
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), ("", Some(0)));
    String::from_utf8(output.stdout).unwrap()
}

const VERBS: &[&str] =
    &["explain", "index", "map", "draw", "relayout", "hlo", "scan", "bitcast", "advise", "check", "completions"];

#[test]
fn every_verb_has_help_with_an_example() {
    let help = text(&["--help"]);
    for verb in VERBS {
        assert!(help.contains(&format!("\n  {verb} ")), "{verb}");
        let help = text(&[verb, "--help"]);
        assert!(help.contains("xla-shape ") && help.contains("Example"), "{verb}:\n{help}");
    }
}

#[test]
fn very_many_dimensions_or_tiles_are_no_trouble() {
    for shape in [format!("u8[{}1]", "1,".repeat(39_999)), format!("f32[3]{{0:T{}}}", "(1)".repeat(20_000))] {
        for verb in ["explain", "draw", "advise", "map"] {
            assert!(!text(&[verb, &shape]).is_empty(), "{verb}");
        }
        assert!(text(&["index", &shape, "--linear", "0"]).contains("position 0"));
    }
}

#[test]
fn the_manual_has_every_verb() {
    let manual = text(&["man"]);
    assert!(manual.contains(".TH xla-shape 1"));
    for verb in VERBS {
        assert!(manual.contains(&format!(".SH XLA-SHAPE {}", verb.to_uppercase())), "{verb}");
    }
}

#[test]
fn shells_can_complete_every_verb() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = text(&["completions", shell]);
        assert!(VERBS.iter().all(|verb| script.contains(verb)), "{shell}");
    }
}
