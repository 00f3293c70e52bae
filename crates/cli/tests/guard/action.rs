//! The action for GitHub: this runs the unchanged text of its steps.

use super::{Folder, MODULE};
use crate::program::program_path;
use std::fs;

/// The shell text of a step of the action.
fn step(name: &str) -> String {
    let action =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.github/actions/guard/action.yml")).unwrap();
    let (_, rest) = action.split_once(&format!("    - name: {name}\n")).unwrap();
    let (_, text) = rest.split_once("      run: |\n").unwrap();
    let lines = text.lines().take_while(|line| line.starts_with("        "));
    lines.map(|line| format!("{}\n", &line[8..])).collect()
}

#[cfg(unix)]
#[test]
fn the_steps_of_the_action_run() {
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    folder.write("slower.hlo", &MODULE.replace("\"300\"", "\"310\""));
    let program = program_path();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let run = |name: &str, variables: &[(&str, &str)]| {
        let mut command = std::process::Command::new("bash");
        command
            .current_dir(folder.0.path())
            .env("PATH", &path)
            .env("GITHUB_STEP_SUMMARY", "summary.md")
            .env("GITHUB_ENV", "env");
        let output = command.args(["-c", &step(name)]).envs(variables.iter().copied()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code().unwrap())
    };
    // Nothing is installed, because the program is there already, and no compiler is requested.
    assert_eq!(run("Install the program", &[]), (String::new(), String::new(), 0));
    assert_eq!(run("Install the compiler", &[("LIBTPU", "")]), (String::new(), String::new(), 0));
    let check = |program: &str, limits: &str| {
        let variables = [("RECORD", "r.json"), ("PROGRAM", program), ("FOR", ""), ("FAIL_IF", limits)];
        run("Compare with the record", &variables)
    };
    let (output, errors, code) = check("m.hlo", "");
    assert!(output.starts_with("### <code>program</code>: passed\n"), "{output}{errors}");
    assert_eq!((errors.as_str(), code), ("", 0));
    let (output, _, code) = check("slower.hlo", "");
    assert!(
        output.contains("**failed**")
            && output.contains("To accept the change: <code>xla-shape guard record r.json slower.hlo</code>"),
        "{output}"
    );
    assert_eq!(code, 1);
    assert_eq!(check("slower.hlo", "cycles>+5% copies>0").2, 0);
    assert_eq!(check("slower.hlo", "cycles>+1% copies>0").2, 1);
    assert_eq!(folder.read("summary.md").matches("### ").count(), 4);
    // Limits may be on several lines; empty lines are ignored.
    for limits in ["copies>0\ncycles>+1%", "copies>0\n\n  cycles>+1%\n", "\tcopies>0\r\ncycles>+1%\r\n"] {
        let (output, errors, code) = check("slower.hlo", limits);
        assert!(output.contains("**failed**"), "{limits:?}: {output}{errors}");
        assert_eq!(code, 1, "{limits:?}");
    }
    for blanks in [" ", "\n", " \n\t\n"] {
        assert_eq!((check("m.hlo", blanks).2, check("slower.hlo", blanks).2), (0, 1), "{blanks:?}");
    }
    // No input is read as another option. If it were, `--help` would exit with 0.
    for limits in ["--help", "--other-devices", "-h", "copies>0 --help", "*", "copies"] {
        let (output, errors, code) = check("slower.hlo", limits);
        assert!(output.is_empty() && errors.contains("invalid value '") && code == 2, "{limits}: {output}{errors}");
    }
    let at = |record: &str, program: &str, devices: &str| {
        let variables = [("RECORD", record), ("PROGRAM", program), ("FOR", devices), ("FAIL_IF", "")];
        run("Compare with the record", &variables)
    };
    assert_ne!(at("--help", "slower.hlo", "").2, 0);
    assert_ne!(at("r.json", "--help", "").2, 0);
    assert_eq!(at("r.json", "slower.hlo", "--help").2, 2);
    for name in ["--format=json", "-h"] {
        fs::copy(folder.0.path().join("slower.hlo"), folder.0.path().join(name)).unwrap();
        let (output, errors, code) = at("r.json", name, "");
        assert!(output.contains(&format!("xla-shape guard record r.json ./{name}</code>")), "{output}{errors}");
        assert_eq!(code, 1);
    }
}
