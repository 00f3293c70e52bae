//! Tests the search with recorded answers of libtpu about the candidates of 28 kernels. `scripts/data/block_ranking.py` records them.
//! `tests/tests/programs/block_ranking.rs` tests how the compiled kernels are read.

use super::{Axis, Made, Question, Ranking, Source};
use crate::Keep;
use crate::fake::Fake;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use xla_shape_answers::block::Part;
use xla_shape_answers::cost::Seconds;
use xla_shape_answers::rank::{Figures, Limit, Row, State};
use xla_shape_corpus::corpus;
use xla_shape_program::{CompileError, Host};

#[derive(Deserialize)]
struct Recorded {
    kernel: String,
    #[serde(rename = "for")]
    device: String,
    held_back: bool,
    axes: Vec<(String, Vec<String>)>,
    /// All combinations of the values; the last axis varies fastest.
    candidates: Vec<Candidate>,
}

#[derive(Deserialize)]
struct Candidate {
    /// For each kernel its blocks: the kind, the array and the block.
    #[serde(default)]
    blocks: Vec<Vec<(String, String, String)>>,
    /// The program, as StableHLO.
    program: Option<String>,
    /// Why JAX made no program.
    missing: Option<String>,
    /// Why the compiler refused it.
    message: Option<String>,
    /// The compiler's figures, if it compiled the program.
    #[serde(flatten)]
    compiled: Option<Compiled>,
}

#[derive(Deserialize)]
struct Compiled {
    /// The number of bundles that execute.
    executed: u64,
}

impl Compiled {
    /// Figures in which each bundle takes a picosecond.
    fn figures(&self) -> Figures {
        let least_seconds = Some(Seconds::from_picoseconds(self.executed));
        Figures { least_seconds, limited_by: Some(Limit::Bundles), bundles: Some(self.executed), ..Figures::default() }
    }
}

impl Recorded {
    fn candidate(&self, at: &[usize]) -> &Candidate {
        let number = self.axes.iter().zip(at).fold(0, |number, ((_, values), at)| number * values.len() + at);
        &self.candidates[number]
    }

    fn of_row(&self, row: &Row) -> &Candidate {
        let at = |(name, values): &(String, Vec<String>)| {
            values.iter().position(|value| *value == row.setting[name]).unwrap()
        };
        self.candidate(&self.axes.iter().map(at).collect::<Vec<_>>())
    }

    /// The answer, and how many candidates were compiled. With `backwards`, each axis lists its values in reverse.
    fn ask(&self, backwards: bool) -> (Ranking, usize) {
        let axis = |(name, values): &(String, Vec<String>)| {
            let values = values.iter().cloned();
            Axis::new(name, if backwards { values.rev().collect::<Vec<_>>() } else { values.collect() })
        };
        let question = Question {
            keep: Keep::Nowhere,
            ..Question::new(self.axes.iter().map(axis).collect(), self.device.parse().unwrap())
        };
        let host = Host { command: vec![], python: None, notes: |_| {} };
        let (fake, source) = (Fake::new(made), Programs { recorded: self, backwards });
        let ranking = question.answer(&source, &host, Some(&fake), &fake.stop, &()).unwrap();
        (ranking, fake.compilations())
    }
}

/// The answer that the last line of a program has as a comment: the figures, or why the program is refused.
fn made(text: &str) -> Result<Made, CompileError> {
    let (_, said) = text.rsplit_once("// ").unwrap();
    let said: Result<Figures, String> = serde_json::from_str(said).unwrap();
    let figures = said.map_err(CompileError::Refused)?;
    Ok(Made { refused: None, figures, compiler: Some("libtpu 0.0.52".to_owned()) })
}

struct Programs<'a> {
    recorded: &'a Recorded,
    backwards: bool,
}

impl Programs<'_> {
    fn candidate(&self, at: &[usize]) -> &Candidate {
        let axes = at.iter().zip(&self.recorded.axes);
        let at = axes.map(|(&at, (_, values))| if self.backwards { values.len() - 1 - at } else { at });
        self.recorded.candidate(&at.collect::<Vec<_>>())
    }
}

impl Source for Programs<'_> {
    fn kernels(&self, at: &[usize]) -> Result<Vec<Vec<Part>>, String> {
        let part = |(kind, array, block): &(String, String, String)| {
            let [array, block] = [array, block].map(|text| text.parse().unwrap());
            if kind == "input" { Part::Input { array, block } } else { Part::Output { array, block } }
        };
        Ok(self.candidate(at).blocks.iter().map(|blocks| blocks.iter().map(part).collect()).collect())
    }

    fn program(&self, at: &[usize]) -> Result<Arc<[u8]>, String> {
        let Candidate { program, missing, message, compiled, .. } = self.candidate(at);
        let Some(program) = program else { return Err(missing.clone().unwrap()) };
        let said = compiled.as_ref().map(Compiled::figures).ok_or(message);
        Ok(format!("{program}\n// {}", serde_json::to_string(&said).unwrap()).into_bytes().into())
    }
}

#[test]
fn what_is_not_compiled_would_be_refused_and_what_is_compiled_is_ranked() {
    let recorded: Vec<Recorded> = corpus("block_ranking.jsonl.zst");
    assert_eq!((recorded.len(), recorded.iter().filter(|case| case.held_back).count()), (28, 9));
    let mut states = BTreeMap::<_, usize>::new();
    for case in &recorded {
        let name = &case.kernel;
        let (ranking, compiled) = case.ask(false);
        assert_eq!(ranking.rows.len(), case.candidates.len(), "{name}");
        for row in &ranking.rows {
            *states.entry(row.state.as_str()).or_default() += 1;
            let found = case.of_row(row);
            let expected: &[_] = match (&found.compiled, &found.message) {
                (Some(_), _) => &[State::Ranked],
                // The search need not predict that the compiler or JAX refuses a candidate.
                (None, Some(_)) => &[State::TooLarge, State::Refused],
                (None, None) => &[State::NotAllowed, State::Missing],
            };
            assert!(expected.contains(&row.state), "{name}, {:?}: {} {:?}", row.setting, row.state, row.error);
        }
        let asked = ranking.rows.iter().filter(|row| matches!(row.state, State::Ranked | State::Refused)).count();
        assert_eq!(compiled, asked, "{name}");
        let executed = ranking.ranked().map(|row| case.of_row(row).compiled.as_ref().unwrap().executed);
        assert!(executed.is_sorted(), "{name}");
        let best = |ranking: &Ranking| ranking.ranked().map(|row| row.figures.clone()).collect::<Vec<_>>();
        assert_eq!(best(&case.ask(true).0), best(&ranking), "{name}: the order of the values changes the answer");
    }
    // The search predicts 31 of the 56 refusals of the compiler, and all of the refusals of JAX.
    assert_eq!(states, BTreeMap::from([("not allowed", 57), ("ranked", 293), ("refused", 25), ("too large", 31)]));
}
