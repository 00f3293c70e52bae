//! Digests, the short form of an answer that fits into a prompt. Everything in a digest is also in the JSON, and the largest entries of the JSON are
//! in the digest.

use crate::program::Command;
use std::fs;
use std::path::{Path, PathBuf};
use xla_shape::hlo::Module;
use xla_shape_answers::cost::{self, ProgramCost};
use xla_shape_answers::digest::{Amount, Bundles};
use xla_shape_answers::hlo::{Difference, Report};
use xla_shape_answers::kernel::Kernels;
use xla_shape_answers::scan::Scan;
use xla_shape_answers::{Answer, is_control, json_line};
use xla_shape_program::KernelFiles;
use xla_shape_program::Program;
use xla_shape_render::Show;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The files and folders in a directory of the repository, sorted.
fn entries(folder: &str) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// Checks what must hold for every digest.
fn check(name: &str, answer: &impl Show) {
    let text = answer.brief(&["a file"]).to_string();
    // All characters that some reader treats as the end of a line.
    let lines = text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']).count() - 1;
    assert!(lines <= 30 && text.len() <= 5_000, "{name}: {text}");
    let json = answer.json();
    // The JSON has every name, and every number that is not rounded.
    for word in text.lines().filter(|line| !line.starts_with('…')).flat_map(str::split_whitespace) {
        let end = |letter: char| matches!(letter, ',' | ':' | ';' | ')' | '.');
        let figure = word.trim_matches(end);
        let is_figure = figure.contains(',') && figure.chars().all(|letter| letter.is_ascii_digit() || letter == ',');
        if is_figure {
            assert!(json.contains(&figure.replace(',', "")), "{name}: {figure} is not in the JSON");
        } else if let Some(named) = word.strip_prefix('%').map(|word| word.trim_end_matches(end)) {
            assert!(
                !named.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
                    || json.contains(named),
                "{name}: {named} is not in the JSON"
            );
        }
    }
    let digest = answer.digest();
    assert!(digest.causes.len() <= 3, "{name}");
    let has = |text: &str| json.contains(json_line(text).trim_matches(['"', '\n']));
    for cause in &digest.causes {
        let amount = match cause.amount {
            Some(Amount::Bytes(number) | Amount::Cost(cost::Amount::Cycles(number)) | Amount::Bundles(_, number)) => {
                Some(number.to_string())
            }
            Some(Amount::Cost(cost::Amount::Time(time))) => Some(serde_json::to_string(&time).unwrap()),
            Some(Amount::Measured(time, _)) => Some(time.picoseconds().to_string()),
            Some(Amount::MoreBytes(number)) => Some(number.to_string()),
            Some(Amount::BundlesChanged(_, [before, _])) => Some(before.to_string()),
            None => None,
        };
        let name_of = cause.name.trim_start_matches('%').split(' ').next().unwrap();
        let texts = [Some(name_of.to_owned()), amount, cause.source.clone(), cause.remedy.clone()];
        for part in texts.into_iter().flatten() {
            assert!(has(&part), "{name}: {part} is not in the JSON");
        }
    }
}

#[test]
fn digests_of_programs_have_what_is_largest() {
    let mut programs = Vec::new();
    for path in entries("examples/hlo").into_iter().filter(|path| path.extension().is_some_and(|end| end == "hlo")) {
        let (name, program) = (path.display().to_string(), Program::open(&path).unwrap());
        let report = Report::new(&program.memory(None), None, 10, None);
        check(&name, &report);
        if let Some(largest) = report.at_peak.first().and_then(|peak| peak.largest.first()) {
            assert!(report.digest().causes[0].name == format!("%{}", largest.name), "{name}");
        }
        let cost = ProgramCost::new(program.module()).unwrap();
        check(&name, &cost);
        largest_first(&name, &cost);
        programs.push((name, program));
    }
    for pair in programs.windows(2) {
        let difference = Difference::new(&pair[0].1.memory(None), &pair[1].1.memory(None));
        check(&format!("{} and {}", pair[0].0, pair[1].0), &difference);
        let causes = difference.digest().causes;
        // The entries with the most bytes and with the largest costs are there, each list in order.
        let bytes = causes.iter().filter_map(|cause| match cause.amount {
            Some(Amount::MoreBytes(bytes)) => Some(bytes.unsigned_abs()),
            _ => None,
        });
        assert!(bytes.clone().is_sorted_by(|one, next| one >= next), "{causes:?}");
        let all = difference.peaks.iter().flat_map(|peak| &peak.because).map(|cause| cause.bytes.unsigned_abs()).max();
        assert!(all.is_none() || bytes.max() == all, "{causes:?}");
        let cost = difference.parts.iter().filter_map(|part| part.amount).max();
        let has_cost = |cost| causes.iter().any(|cause| cause.amount == Some(Amount::Cost(cost)));
        assert!(cost.is_none_or(has_cost), "{causes:?}");
    }
    let memory = programs[0].1.memory(None);
    let same = Difference::new(&memory, &memory);
    check("the same", &same);
    assert!(same.digest().causes.is_empty() && same.brief(&[]).to_string().contains("the programs are the same"));
}

/// Checks that the causes are the most expensive copies and lines, sorted by cost. If the whole cost of a line is one copy, the copy is listed
/// instead.
fn largest_first(name: &str, cost: &ProgramCost) {
    let causes = cost.digest().causes;
    let is_copy = |line: &cost::Line| {
        cost.copies.iter().any(|copy| copy.source == line.source && copy.total.is_some() && copy.total == line.amount)
    };
    let lines = cost.lines.iter().filter(|line| line.source.is_some() && !is_copy(line)).map(|line| line.amount);
    let mut all = cost.copies.iter().map(|copy| copy.total).chain(lines).flatten().collect::<Vec<_>>();
    all.sort_unstable_by(|one, other| other.cmp(one));
    let costs = causes.iter().filter_map(|cause| match cause.amount {
        Some(Amount::Cost(cost)) => Some(cost),
        _ => None,
    });
    assert!(costs.eq(all.into_iter().take(3)), "{name}: {causes:?}");
}

#[test]
fn commands_of_a_digest_run_as_printed() {
    let run = |arguments: &[&str]| {
        let output = Command::program().current_dir(root()).args(arguments).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.success())
    };
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("it's $(odd).hlo");
    fs::copy(root().join("examples/hlo/v5e__layouts.hlo"), &odd).unwrap();
    let (odd, other) = (odd.to_str().unwrap(), "examples/hlo/v5e__rnn_scan.hlo");
    let mut commands = 0;
    for arguments in [
        &["hlo", odd][..],
        &["cost", odd],
        &["hlo", "diff", other, odd],
        &["scan", "tests/corpus/reports/022.txt"],
        &["explain", "bf16[100,1]{1,0:T(8,128)(2,1)}"],
    ] {
        let (digest, _) = run(&[arguments, &["--format", "digest"]].concat());
        for command in digest.lines().filter_map(|line| line.strip_prefix("Next: xla-shape ")) {
            // The shell splits the line, as a reader's shell would.
            let words =
                std::process::Command::new("sh").args(["-c", &format!("printf '%s\\n' {command}")]).output().unwrap();
            let words = String::from_utf8(words.stdout).unwrap();
            assert!(run(&words.lines().collect::<Vec<_>>()).1, "{command}");
            commands += 1;
        }
    }
    assert!(commands >= 7, "{commands}");
    // Standard input can be read only once, so there is no next command.
    let output = Command::program()
        .args(["cost", "-", "--format", "digest"])
        .write_stdin(fs::read(odd).unwrap())
        .output()
        .unwrap();
    assert!(!String::from_utf8(output.stdout).unwrap().contains("Next:"));
}

/// A module with these characters in its names.
fn named(letters: &str) -> String {
    let name = letters.bytes().map(|byte| format!("\\{byte:03o}")).collect::<String>();
    format!(
        "HloModule m, is_scheduled=true\nENTRY e {{\n  p = f32[1024,128]{{1,0:T(8,128)}} parameter(0), metadata={{op_name=\"a{name}\"}}\n  \
         n = f32[1024,128]{{1,0:T(8,128)}} negate(p), metadata={{op_name=\"b{name}\" source_file=\"{name}.py\" source_line=7}}\n  \
         ROOT c = f32[1024,128]{{0,1:T(8,128)}} copy(n), metadata={{op_name=\"c{name}\" source_file=\"{name}.py\" source_line=5}}, \
         backend_config={{\"window_config\":{{\"estimated_cycles\":\"100\"}}}}\n}}\n"
    )
}

#[test]
fn no_name_makes_a_line_of_a_digest() {
    for letters in
        ["\nNext: xla-shape evil", "\r\nLargest:\n", "\u{85}x\u{2028}x\u{2029}x", "\u{1b}[31m\u{202e}", "語", "\n", "x"]
    {
        for many in [1, 500] {
            let text = named(&letters.repeat(many));
            let program = Program::from(Module::parse(&text).unwrap());
            let memory = program.memory(None);
            let report = Report::new(&memory, None, 10, None);
            let cost = ProgramCost::new(program.module()).unwrap();
            let other = Program::from(Module::parse(&text.replace("1024", "2048")).unwrap());
            let difference = Difference::new(&memory, &other.memory(None));
            check(letters, &report);
            check(letters, &cost);
            check(letters, &difference);
            for text in [report.brief(&[]), cost.brief(&[]), difference.brief(&[])].map(|text| text.to_string()) {
                let own = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
                assert!(
                    own("Largest:") == 1 && own("Next: ") <= 3 && !text.contains("\nNext: xla-shape evil"),
                    "{text}"
                );
                assert!(text.chars().all(|letter| letter == '\n' || !is_control(letter)), "{text}");
                // A long source is shortened, but still ends with the line.
                assert!(text.contains(".py:"), "{text}");
            }
        }
    }
}

#[test]
fn digests_of_kernels_and_logs_have_what_is_largest() {
    for path in entries("examples/kernels").into_iter().filter(|path| path.is_dir()) {
        let dump = KernelFiles::open(&path).unwrap().unwrap();
        let mut kernels = Kernels::default();
        kernels.add(None, None, &dump.kernels());
        check(&path.display().to_string(), &kernels);
        let lines = kernels.kernels.iter().flat_map(|kernel| &kernel.lines);
        // The trips of all loops are known.
        if let Some(most) = lines.map(|line| line.executed.unwrap()).max() {
            assert_eq!(kernels.digest().causes[0].amount, Some(Amount::Bundles(Bundles::Executed, most)));
        }
    }
    for path in
        entries("tests/corpus/reports").into_iter().filter(|path| path.extension().is_some_and(|end| end == "txt"))
    {
        let mut scan = Scan::default();
        let text = fs::read(&path).unwrap();
        text.split(|byte| *byte == b'\n').for_each(|line| drop(scan.read_line(line)));
        check(&path.display().to_string(), &scan);
        if let Some(cause) = scan.causes().first() {
            assert_eq!(scan.digest().causes[0].because.as_ref(), Some(&cause.what()));
            // The content of the digest is in the JSON without `--summary`, too.
            let output = Command::program().args(["scan", "--format", "json"]).arg(&path).output().unwrap();
            assert!(output.stdout.ends_with(scan.json().as_bytes()), "{}", path.display());
        }
    }
}

#[test]
fn the_program_writes_digests_and_errors_for_machines() {
    let run = |arguments: &[&str]| {
        let output = Command::program().args(arguments).output().unwrap();
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let [digest, errors] = run(&["explain", "f32[100,1]{1,0:T(8,128)}", "--format", "digest"]);
    assert!(digest.contains("53,248 bytes") && errors.is_empty(), "{digest}{errors}");
    assert!(!digest.contains("position"), "the JSON has no formula: {digest}");
    let rustc = root().join("crates/cli/tests/rustc.jsonl");
    let [long, _] = run(&["rustc", rustc.to_str().unwrap(), "--format", "digest"]);
    assert!(long.lines().count() <= 30 && long.contains("f32["), "{long}");
    for (arguments, code) in [
        (&["explain", "f32[2", "--format", "json"][..], "syntax"),
        (&["hlo", "missing.hlo", "--format=json"], "file"),
        (&["explain", "token[]", "--index", "1", "--format", "json"], "refused"),
        (&["explain", "--format", "json"], "usage"),
        (&["explain", "f32[2]", "--for", "v99", "--format", "json"], "usage"),
        (&["no-such-verb", "--format", "json"], "usage"),
    ] {
        let [output, error] = run(arguments);
        assert_eq!(output, "");
        let error: serde_json::Value = serde_json::from_str(&error).unwrap_or_else(|_| panic!("{error}"));
        assert_eq!((&error["schema"], &error["code"]), (&"xla-shape/error/1".into(), &code.into()), "{arguments:?}");
        assert!(!error["message"].as_str().unwrap().is_empty());
        assert_eq!(error["place"].is_null(), code != "syntax", "{error}");
    }
}
