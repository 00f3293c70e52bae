//! The difference between two programs does not depend on the numbers in names that a compiler chooses.

use serde::Deserialize;
use std::collections::HashMap;
use xla_shape_answers::Answer;
use xla_shape_answers::hlo::Difference;
use xla_shape_hlo::{Module, Pairs};
use xla_shape_program::Program;
use xla_shape_render::Show;

#[derive(Deserialize)]
struct Row {
    module: String,
}

fn programs() -> Vec<String> {
    let rows: Vec<Row> = xla_shape_tests::corpus("tpu_memory_more.jsonl.zst");
    rows.into_iter().map(|row| row.module).collect()
}

/// The text with all its names permuted, so that everything has a different name.
fn renumbered(text: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    // The pieces between quotation marks are not names.
    let mut pieces = Vec::new();
    let (mut rest, mut quoted) = (text, false);
    while !rest.is_empty() {
        let end = if quoted {
            let mut escaped = false;
            rest.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            })
        } else {
            rest.find('"')
        };
        let end = end.map_or(rest.len(), |end| end + 1);
        pieces.push((&rest[..end], quoted));
        (rest, quoted) = (&rest[end..], !quoted);
    }
    let mut names: Vec<&str> = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let plain = || pieces.iter().filter(|(_, quoted)| !quoted).map(|(piece, _)| piece);
    for after in plain().flat_map(|piece| piece.split('%').skip(1)) {
        let name = &after[..after.find(|c| !is_name(c)).unwrap_or(after.len())];
        numbers.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        });
    }
    let mut out = String::new();
    for (piece, quoted) in pieces.iter() {
        if *quoted {
            out.push_str(piece);
            continue;
        }
        let mut parts = piece.split('%');
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let end = part.find(|c| !is_name(c)).unwrap_or(part.len());
            let new = names[names.len() - 1 - numbers[&part[..end]]];
            out.extend(["%", new, &part[end..]]);
        }
    }
    out
}

#[test]
fn a_program_with_other_names_is_the_same() {
    let mut texts: Vec<String> = xla_shape_tests::hlo_modules().into_iter().map(|row| row.text).collect();
    texts.extend(programs());
    let texts: Vec<String> = xla_shape_tests::every(4, texts).collect();
    let (mut renamed, mut known) = (0, 0);
    for text in &texts {
        let other = renumbered(text);
        let (before, after) = (Module::parse(text).unwrap(), Module::parse(&other).unwrap());
        let pairs = Pairs::new(&before, &after);
        assert!(before.instructions().all(|instruction| pairs.after(instruction).is_some()));
        renamed += usize::from(before.instructions().zip(after.instructions()).any(|(a, b)| a.name() != b.name()));
        let (before, after) = (Program::from(before), Program::from(after));
        let difference = Difference::new(&before.memory(None), &after.memory(None));
        assert!(difference.is_empty(), "{:?}:\n{}", before.module().name(), difference.text(100));
        let json = difference.json();
        // Some constants in the corpus leave out their elements. Then it is not known whether the programs are the same.
        let same = before.module().is_same_program(after.module());
        assert_ne!(same, Some(false), "{:?}", before.module().name());
        let programs: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(programs["same"].as_bool(), same, "{programs}");
        known += usize::from(same.is_some());
    }
    assert!(renamed * 10 > texts.len() * 9 && known * 10 > texts.len() * 9, "{known} of {}", texts.len());
}

#[test]
fn what_makes_the_difference_at_the_peak_adds_up() {
    // Programs compiled for two generations differ a lot.
    for pair in programs().chunks(2).take(12) {
        let [a, b] = pair else { continue };
        let [before, after] = [a, b].map(|text| Program::from(Module::parse(text).unwrap()));
        for line in Difference::new(&before.memory(None), &after.memory(None)).json().lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            if row["change"] == "peak" {
                let because = row["because"].as_array().unwrap();
                let sum: i64 = because.iter().map(|cause| cause["bytes"].as_i64().unwrap()).sum();
                assert_eq!(Some(sum), row["bytes"].as_i64(), "{row}");
            }
            // Measures, copies, collectives and fusions have no bytes.
            if row["bytes"].is_null() {
                continue;
            }
            let number = |field: &str| row[field].as_i64().unwrap();
            assert_eq!(number("bytes"), number("bytes_after") - number("bytes_before"), "{row}");
        }
    }
}
