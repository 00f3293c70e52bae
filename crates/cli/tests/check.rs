//! `xla-shape check`, run as a program.

use crate::program::{Command, program_path};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Output, Stdio};
use xla_shape_corpus::corpus;

fn program() -> Command {
    Command::program()
}

fn check(input: impl Into<Vec<u8>>) -> Output {
    program().arg("check").write_stdin(input).output().unwrap()
}

fn answers(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "the last answer is a line too");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_good_line_is_answered_with_its_canonical_text_and_size() {
    let output = check("f32[2, 3]\n");
    assert_eq!(
        std::str::from_utf8(&output.stdout),
        Ok(
            "{\"schema\":\"xla-shape/check/1\",\"input\":\"f32[2, 3]\",\"ok\":true,\"shape\":\"f32[2,3]{1,0}\",\"bytes\":24,\"proto\":\"EAsaAgIDKgcKAgEAgAEBMgIAAA==\"}\n"
        )
    );
    assert!(output.stderr.is_empty());
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_bad_line_is_answered_with_a_message_and_a_span() {
    let output = check("f32[2,3]{1,1}\n");
    let message = "expected every dimension once in minor_to_major, found 1 again";
    let expected = json!({"schema": "xla-shape/check/1", "input": "f32[2,3]{1,1}", "ok": false, "error": {"message": message, "span": [11, 12]}});
    assert_eq!(answers(&output), [expected]);
    assert!(output.stderr.is_empty(), "the answer says it all");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn tiles_that_no_tpu_uses_have_a_hint() {
    let lines = [
        "s8[8,128]{1,0:T(8,128)}",
        "(f32[2], (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)(2,1)}), s8[8,128]{1,0:T(8,128)})",
        "s8[8,128]{1,0:T(8,128)(4,1)}",
        "(token[], s8[3,5])",
    ];
    let output = check(lines.join("\n"));
    let hints = answers(&output).into_iter().map(|answer| answer.get("hint").cloned()).collect::<Vec<_>>();
    let byte = "no TPU uses the tiles (8,128) for s8: 4 rows share a 32-bit word there, expected (8,128)(4,1)";
    let word = "no TPU uses the tiles (8,128)(2,1) for f32: rows do not share 32-bit words there, expected (8,128)";
    assert_eq!(hints, [Some(json!(byte)), Some(json!(word)), None, None]);
    assert_eq!(output.status.code(), Some(0), "such shapes are valid");
}

#[test]
fn an_unbounded_shape_has_no_size() {
    let output = check("f32[?]");
    assert_eq!(
        answers(&output),
        [json!({"schema": "xla-shape/check/1", "input": "f32[?]", "ok": true, "shape": "f32[?]{0}", "bytes": null,
        "proto": "EAsaCoCAgICAgICAgAEqBgoBAIABATIBAQ=="})]
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn every_line_has_one_answer_in_order() {
    for (input, expected) in [
        ("", &[][..]),
        ("\n", &[("", false)]),
        ("\r\n", &[("", false)]),
        ("\n\n", &[("", false), ("", false)]),
        ("s8[]", &[("s8[]", true)]),
        ("s8[]\n", &[("s8[]", true)]),
        ("s8[]\n\nu8[]", &[("s8[]", true), ("", false), ("u8[]", true)]),
        ("s8[]\r\nx\r\nu8[]\r\n", &[("s8[]", true), ("x", false), ("u8[]", true)]),
        ("a\0b\n\t\n", &[("a\0b", false), ("\t", false)]),
        ("é\u{2028}", &[("é\u{2028}", false)]),
    ] {
        let output = check(input);
        let found = answers(&output);
        let found = found.iter().map(|answer| (answer["input"].as_str().unwrap(), answer["ok"].as_bool().unwrap()));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{input:?}");
        let all_good = expected.iter().all(|(_, ok)| *ok);
        assert_eq!(output.status.code(), Some(if all_good { 0 } else { 1 }), "{input:?}");
    }
}

#[test]
fn a_repeated_line_has_the_same_answer() {
    // More lines than the cache holds, each three times; some have a common prefix, and some are bad.
    let lines = (0..20_000).map(|number| match number % 5 {
        0 => format!("f32[{number}"),
        1 => format!(" f32[{number}]"),
        2 => format!("f32[{number}]\r"),
        _ => format!("f32[{number}]"),
    });
    let lines = lines.chain([String::new()]).collect::<Vec<_>>();
    let output = check((lines.join("\n") + "\n").repeat(3));
    let found = answers(&output);
    assert_eq!(found.len(), 3 * lines.len());
    for (answer, line) in found.iter().zip(lines.iter().cycle()) {
        assert_eq!(answer["input"], line.trim_end_matches('\r'));
        assert_eq!(answer["ok"], line.ends_with([']', '\r']), "{line:?}");
    }
    assert!(found.chunks(lines.len()).all(|answers| answers == &found[..lines.len()]));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_line_that_is_not_utf8_is_answered_with_a_span() {
    let output = check(b"f32[\xff]\ns8[]\n\xe2\x82\nf32[\xc3\xa9]\xf0\x9f\x98".to_vec());
    let answers = answers(&output);
    assert_eq!(answers.len(), 4);
    assert_eq!(
        answers[0],
        json!({"schema": "xla-shape/check/1", "input": "f32[\u{fffd}]", "ok": false, "error": {"message": "expected UTF-8, found 0xff", "span": [4, 5]}})
    );
    assert_eq!(answers[1]["ok"], true);
    assert_eq!(answers[2]["error"], json!({"message": "expected UTF-8, found 0xe2 0x82", "span": [0, 2]}));
    assert_eq!(answers[3]["error"], json!({"message": "expected UTF-8, found 0xf0 0x9f 0x98", "span": [7, 10]}));
}

#[test]
fn long_lines_have_answers() {
    const LENGTH: usize = 10_000_000;
    let mut input = b"s8[]\n".to_vec();
    input.resize(input.len() + LENGTH, b'x');
    input.extend_from_slice(b"\nu8[");
    input.resize(input.len() + LENGTH, b' ');
    input.extend_from_slice(b"]\n");
    let output = check(input);
    let answers = answers(&output);
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[1]["input"].as_str().map(str::len), Some(LENGTH));
    assert_eq!(answers[1]["error"]["span"], json!([0, LENGTH]));
    assert_eq!(answers[2]["shape"], "u8[]");
}

#[test]
fn a_line_that_is_too_long_has_an_answer() {
    const LENGTH: usize = 70_000_000;
    let mut input = vec![b'f'; LENGTH];
    input.extend_from_slice(b"\r\ns8[]\n");
    input.resize(input.len() + LENGTH, b'g');
    let answers = answers(&check(input));
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["input"], "f".repeat(1024));
    assert_eq!(answers[0]["error"]["span"], json!([64 << 20, LENGTH]));
    assert_eq!(answers[0]["error"]["message"], "expected a line of at most 67108864 bytes, found 70000000");
    assert_eq!(answers[1]["ok"], true);
    assert_eq!(answers[2]["input"], "g".repeat(1024));
    assert_eq!(answers[2]["error"]["span"], json!([64 << 20, LENGTH]));
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    let answers = answers(&check("(".repeat(1_000_000) + "\ns8[]"));
    assert_eq!((&answers[0]["ok"], &answers[1]["ok"]), (&json!(false), &json!(true)));
}

#[test]
fn an_answer_does_not_wait_for_the_next_line() {
    let mut child = std::process::Command::new(program_path())
        .arg("check")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for size in 0..100 {
        writeln!(input, "u8[{size}]").unwrap();
        let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["bytes"], size);
    }
    drop(input);
    assert!(output.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_closed_pipe_ends_the_program_without_an_error() {
    let mut child = std::process::Command::new(program_path())
        .arg("check")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    // The program may end before all of the input is written.
    let _ = child.stdin.take().unwrap().write_all("s8[]\n".repeat(100_000).as_bytes());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn reads_a_file_or_standard_input() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "s4[3]\nx").unwrap();
    let from_file = program().arg("check").arg(file.path()).write_stdin("u8[]").output().unwrap();
    assert_eq!(answers(&from_file).iter().map(|answer| &answer["ok"]).collect::<Vec<_>>(), [true, false]);
    let from_dash = program().args(["check", "-"]).write_stdin("u8[]").output().unwrap();
    assert_eq!(answers(&from_dash)[0]["input"], "u8[]");
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let output = program().args(["check", "no/such/file"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("error: cannot read `no/such/file`: "), "{message}");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for arguments in [&["check", "--no-such-option"][..], &["check", "a", "b"], &["no-such-verb"], &[]] {
        assert_eq!(program().args(arguments).output().unwrap().status.code(), Some(2), "{arguments:?}");
    }
}

/// XLA's own answers to every text of the corpus.
#[test]
fn agrees_with_xla() {
    // Texts with a line ending cannot be one line of input.
    let rows = corpus::<Value>("shapes.jsonl")
        .into_iter()
        .filter(|row| !row["input"].as_str().unwrap().contains(['\n', '\r']))
        .collect::<Vec<_>>();
    let input = rows.iter().map(|row| format!("{}\n", row["input"].as_str().unwrap())).collect::<String>();
    let answers = answers(&check(input));
    assert_eq!(answers.len(), rows.len());
    for (row, answer) in rows.iter().zip(&answers) {
        assert_eq!(row["input"], answer["input"]);
        match row["expect"].as_str() {
            Some("valid") => {
                let expected = [&json!(true), &row["canonical"], &row["bytes"], &row["proto_b64"]];
                let found = ["ok", "shape", "bytes", "proto"].map(|field| &answer[field]);
                assert_eq!(found, expected, "{}", row["input"]);
            }
            Some("error") => {
                let span = answer["error"]["span"].as_array().unwrap().iter().map(|end| end.as_u64().unwrap() as usize);
                let [start, end] = span.collect::<Vec<_>>()[..] else { panic!("a span has two ends: {answer}") };
                assert!(row["input"].as_str().unwrap().get(start..end).is_some(), "{answer}");
                assert_ne!(answer["error"]["message"], "", "{}", row["input"]);
            }
            _ => assert!(answer["ok"].is_boolean()),
        }
    }
    println!("{} of {} lines agree", rows.len(), rows.len());
}
