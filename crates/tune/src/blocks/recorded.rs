//! The search with a compiler whose answers were recorded: what libtpu made of each candidate of 28 kernels. `scripts/data/block_ranking.py` writes them,
//! with a slow, independent count of the bundles and the copies.

use super::{Axis, Made, Question, Ranking, Source};
use crate::Keep;
use crate::fake::Fake;
use crate::tests::corpus;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use xla_shape_answers::block::Part;
use xla_shape_answers::cost::Seconds;
use xla_shape_answers::rank::{Figures, Limit, Row, State, Tried};
use xla_shape_core::tpu::Generation;
use xla_shape_mosaic::kernels;
use xla_shape_program::{CompileError, Host};

#[derive(Deserialize)]
struct Recorded {
    kernel: String,
    #[serde(rename = "for")]
    device: String,
    held_back: bool,
    axes: Vec<(String, Vec<String>)>,
    /// In the order of the values, the last axis first.
    candidates: Vec<Candidate>,
}

#[derive(Deserialize)]
struct Candidate {
    /// For each kernel its blocks: the kind, the array and the block.
    #[serde(default)]
    blocks: Vec<Vec<(String, String, String)>>,
    /// As StableHLO.
    program: Option<String>,
    /// Why JAX made no program.
    missing: Option<String>,
    /// Why the compiler refused it.
    message: Option<String>,
    /// What the compiler made of it.
    #[serde(flatten)]
    compiled: Option<Compiled>,
}

#[derive(Deserialize)]
struct Compiled {
    bundles: String,
    mosaic: String,
    /// The bundles that execute.
    executed: u64,
    /// The bytes that the grid copies.
    copied: u64,
    /// Those before its first step, and those after its last one.
    first: u64,
    last: u64,
}

impl Compiled {
    /// What the compiler's files say.
    fn read(&self, generation: Generation) -> Figures {
        let bundles = whole(&self.bundles);
        let files = [("llo.k.final_bundles.txt", &*bundles), ("mosaic.k.post-relayout-insertion.txt", &*self.mosaic)];
        Figures::new(&kernels(&files), generation)
    }

    /// What the independent counts say.
    fn counted(&self, generation: Generation) -> Figures {
        let seconds = Seconds::from_seconds(self.seconds(generation));
        let (bundles, copied_bytes) = (Some(self.executed), Some(self.copied));
        Figures {
            least_seconds: seconds,
            limited_by: Some(Limit::Bundles),
            bundles,
            copied_bytes,
            ..Figures::default()
        }
    }

    /// The least time, by the independent counts.
    fn seconds(&self, generation: Generation) -> f64 {
        let speed = generation.speed().unwrap();
        let bandwidth = (speed.hbm_bandwidth * generation.cores_per_device()) as f64;
        let bundles = self.executed as f64 / speed.clock as f64;
        (self.copied as f64 / bandwidth).max((self.first + self.last) as f64 / bandwidth + bundles)
    }
}

/// The bundles of a file of the compiler: `12 >` stands for twelve bundles in a loop that do something, `12 -` for some outside of loops, and `12` for empty ones.
fn whole(reduced: &str) -> String {
    let (mut text, mut address) = (String::new(), 0_u64);
    let mut add = |bundle: &str| {
        text.push_str(&format!("{address:#x} {bundle}\n"));
        address += 1;
    };
    for line in reduced.lines() {
        let words: Vec<_> = line.split(' ').filter(|word| !word.is_empty()).collect();
        match words[..] {
            [count] if !line.contains('{') => (0..count.parse().unwrap()).for_each(|_| add(":  {}")),
            [count, marks] if !line.contains('{') => {
                let bundle = format!(": {} {{ %1 = vother }}", marks.trim_matches('-'));
                (0..count.parse().unwrap()).for_each(|_| add(&bundle));
            }
            _ => add(line),
        }
    }
    text
}

impl Recorded {
    fn generation(&self) -> Generation {
        self.device.parse().unwrap()
    }

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

    /// The answer, and how many candidates were compiled. `backwards`, the values of the axes have the opposite order.
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

/// What the last line of a program says, a comment: the figures, or why it is refused.
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
        let said = compiled.as_ref().map(|made| made.counted(self.recorded.generation())).ok_or(message);
        Ok(format!("{program}\n// {}", serde_json::to_string(&said).unwrap()).into_bytes().into())
    }
}

#[test]
fn what_is_not_compiled_would_be_refused_and_what_is_compiled_is_ranked() {
    let recorded: Vec<Recorded> = corpus("block_ranking.jsonl.zst");
    assert_eq!((recorded.len(), recorded.iter().filter(|case| case.held_back).count()), (28, 9));
    let mut states = BTreeMap::<_, usize>::new();
    for case in &recorded {
        let (name, generation) = (&case.kernel, case.generation());
        let (ranking, compiled) = case.ask(false);
        assert_eq!(ranking.rows.len(), case.candidates.len(), "{name}");
        for row in &ranking.rows {
            *states.entry(row.state.as_str()).or_default() += 1;
            let found = case.of_row(row);
            let expected: &[_] = match (&found.compiled, &found.message) {
                (Some(_), _) => &[State::Ranked],
                // We may not foresee that the compiler refuses it, or that JAX does.
                (None, Some(_)) => &[State::TooLarge, State::Refused],
                (None, None) => &[State::NotAllowed, State::Missing],
            };
            assert!(expected.contains(&row.state), "{name}, {:?}: {} {:?}", row.setting, row.state, row.error);
        }
        let asked = ranking.rows.iter().filter(|row| matches!(row.state, State::Ranked | State::Refused)).count();
        assert_eq!(compiled, asked, "{name}");
        let times = ranking.ranked().map(|row| case.of_row(row).compiled.as_ref().unwrap().seconds(generation));
        assert!(times.is_sorted(), "{name}");
        let best = |ranking: &Ranking| ranking.ranked().map(|row| row.figures.clone()).collect::<Vec<_>>();
        assert_eq!(best(&case.ask(true).0), best(&ranking), "{name}: the order of the values changes the answer");
    }
    // Of the programs that the compiler refuses, we foresee 31; of those that JAX refuses, all.
    assert_eq!(states, BTreeMap::from([("not allowed", 57), ("ranked", 293), ("refused", 25), ("too large", 31)]));
}

/// The bundles of the smallest candidate of each kernel: those of all take too long to read without optimization.
fn bundles_and_copies_are_those_of_an_independent_count(device: &str) {
    let mut recorded: Vec<Recorded> = corpus("block_ranking.jsonl.zst");
    recorded.retain(|case| case.device == device);
    for case in &recorded {
        let compiled = case.candidates.iter().filter_map(|candidate| candidate.compiled.as_ref());
        let made = compiled.min_by_key(|made| whole(&made.bundles).lines().count()).unwrap();
        let figures = made.read(case.generation());
        assert_eq!(figures.copied_bytes, Some(made.copied), "{}", case.kernel);
        // The bundles after a branch that is taken, four or six, execute, too, but are not counted.
        let bundles = figures.bundles.unwrap();
        assert!(
            bundles <= made.executed && bundles * 100 >= made.executed * 93,
            "{}: {bundles}, {}",
            case.kernel,
            made.executed
        );
    }
}

#[test]
fn bundles_and_copies_on_v5e_are_those_of_an_independent_count() {
    bundles_and_copies_are_those_of_an_independent_count("v5e");
}

#[test]
fn bundles_and_copies_on_v6e_are_those_of_an_independent_count() {
    bundles_and_copies_are_those_of_an_independent_count("v6e");
}

#[test]
fn bundles_and_copies_on_v7x_are_those_of_an_independent_count() {
    bundles_and_copies_are_those_of_an_independent_count("v7x");
}

/// Of all candidates, unlike the test above. In an optimized build it takes seconds: `scripts/laws.sh` runs it.
#[test]
#[ignore = "reads all candidates, which takes two minutes without optimization; scripts/laws.sh runs it"]
fn our_first_candidate_is_the_best_by_an_independent_count() {
    let recorded: Vec<Recorded> = corpus("block_ranking.jsonl.zst");
    for case in &recorded {
        let generation = case.generation();
        let compiled =
            case.candidates.iter().enumerate().filter_map(|(at, found)| Some((at, found.compiled.as_ref()?)));
        let tried = compiled.map(|(at, made)| Tried { at: vec![at], made: Ok(made.read(generation)) }).collect();
        let axis = Axis::new("candidate", (0..case.candidates.len()).map(|at| at.to_string()));
        let ranking = Ranking::new(&case.device, vec![axis], tried);
        let seconds = |row: &Row| {
            let at: usize = row.setting["candidate"].parse().unwrap();
            case.candidates[at].compiled.as_ref().unwrap().seconds(generation)
        };
        let least = ranking.ranked().map(seconds).fold(f64::MAX, f64::min);
        assert_eq!(seconds(ranking.ranked().next().unwrap()), least, "{}", case.kernel);
        for row in ranking.ranked() {
            let at: usize = row.setting["candidate"].parse().unwrap();
            let (bundles, executed) =
                (row.figures.bundles.unwrap(), case.candidates[at].compiled.as_ref().unwrap().executed);
            assert!(bundles <= executed && bundles * 100 >= executed * 93, "{}: {bundles}, {executed}", case.kernel);
        }
    }
}
