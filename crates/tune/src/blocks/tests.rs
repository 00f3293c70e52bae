//! `blocks` with workers that compile nothing: a program's text says how long its kernel takes.

use super::{Axis, Made, Question, Ranking, Source};
use crate::fake::Fake;
use crate::{Keep, TuneError};
use std::sync::Arc;
use xla_shape_answers::block::Part;
use xla_shape_answers::cost::Seconds;
use xla_shape_answers::rank::{Figures, State};
use xla_shape_program::{CompileError, Host};

/// A text of digits says how many nanoseconds a kernel takes; any other text is refused.
fn made(text: &str) -> Result<Made, CompileError> {
    let figures = |nanoseconds: u64| Figures {
        least_seconds: Some(Seconds::from_picoseconds(nanoseconds * 1000)),
        bundles: Some(nanoseconds),
        ..Figures::default()
    };
    match text.parse() {
        Ok(nanoseconds) => {
            Ok(Made { refused: None, figures: figures(nanoseconds), compiler: Some("fake 1".to_owned()) })
        }
        Err(_) if text == "too large" => {
            Ok(Made { refused: Some("out of VMEM".to_owned()), figures: Figures::default(), compiler: None })
        }
        Err(_) => Err(CompileError::Refused(text.to_owned())),
    }
}

/// A candidate: its kernels, and its program.
#[derive(Clone)]
struct Candidates(Vec<Candidate>);

/// The parts of a candidate's kernels, and its program.
type Candidate = (Vec<Vec<Part>>, Result<String, String>);

impl Source for Candidates {
    fn kernels(&self, at: &[usize]) -> Result<Vec<Vec<Part>>, String> {
        Ok(self.0[at[0]].0.clone())
    }

    fn program(&self, at: &[usize]) -> Result<Arc<[u8]>, String> {
        self.0[at[0]].1.clone().map(|text| text.into_bytes().into())
    }
}

impl Candidates {
    fn of(texts: &[&str]) -> Self {
        Self(texts.iter().map(|text| (Vec::new(), Ok((*text).to_owned()))).collect())
    }

    fn ask(&self, keep: Keep, fake: &Fake<Made>, device: &str) -> Result<Ranking, TuneError> {
        let axis = Axis::new("bm", (0..self.0.len()).map(|number| number.to_string()));
        let host = Host { command: vec![], python: None, notes: |_| {} };
        let question = Question { keep, ..Question::new(vec![axis], device.parse().unwrap()) };
        question.answer(self, &host, Some(fake), &fake.stop, &())
    }
}

#[test]
fn candidates_are_ordered_whatever_comes_first_and_each_that_fails_has_its_reason() {
    let mut candidates = Candidates::of(&["30", "10", "no such operation", "20", "too large", "10"]);
    candidates.0.push((Vec::new(), Err("not traced".to_owned())));
    let fake = Fake::new(made);
    let ranking = candidates.ask(Keep::Nowhere, &fake, "v6e").unwrap();
    let rows = ranking.rows.iter().map(|row| (row.setting["bm"].as_str(), row.state, row.error.as_deref()));
    let expected = [
        ("1", State::Ranked, None),
        ("5", State::Ranked, None),
        ("3", State::Ranked, None),
        ("0", State::Ranked, None),
        ("2", State::Refused, Some("no such operation")),
        ("4", State::Refused, Some("out of VMEM")),
        ("6", State::Missing, Some("not traced")),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    assert_eq!(fake.compilations(), 5, "two candidates have one program");
    assert_eq!((ranking.settings, ranking.search.compilers, ranking.search.cut), (7, vec!["fake 1".to_owned()], false));
    assert_eq!((ranking.device.as_str(), ranking.clock_hz), ("v6e:2x2", Some(1_750_000_000)));
    // The compiler refuses every candidate: that is an answer, too.
    let none = Candidates::of(&["no", "never"]).ask(Keep::Nowhere, &Fake::new(made), "v6e").unwrap();
    assert!(!none.has_best() && none.rows.iter().all(|row| row.state == State::Refused));
}

#[test]
fn blocks_that_a_tpu_does_not_take_are_not_compiled() {
    let candidate = |rows: u64| {
        let array = "f32[8192,1024]".parse().unwrap();
        let block = format!("f32[{rows},1024]").parse().unwrap();
        (vec![vec![Part::Input { array, block }]], Ok("1".to_owned()))
    };
    // Only the program shows whether blocks fit, and these programs call no kernel.
    let candidates = Candidates(vec![candidate(8192), candidate(100)]);
    let ranking = candidates.ask(Keep::Nowhere, &Fake::new(made), "v6e").unwrap();
    let states: Vec<_> = ranking.rows.iter().map(|row| (row.setting["bm"].as_str(), row.state)).collect();
    assert_eq!(states, [("0", State::Ranked), ("1", State::NotAllowed)]);
    let error = ranking.rows[1].error.as_deref().unwrap();
    assert!(error.contains("dimension 0 of the block is 100 long"), "{error}");
}

#[test]
fn a_search_that_was_ended_goes_on_from_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let keep = || Keep::In(folder.path().to_owned());
    let candidates = Candidates::of(&["40", "30", "too large", "20"]);
    let cut = candidates.ask(keep(), &Fake::new(made).stopped_after(1), "v5e").unwrap();
    assert_eq!((cut.search.cut, cut.search.goes_on, cut.rows.len()), (true, true, 1), "{cut:?}");
    let fake = Fake::new(made);
    let all = candidates.ask(keep(), &fake, "v5e").unwrap();
    assert_eq!((all.search.cut, all.search.kept, all.rows.len(), fake.compilations()), (false, 1, 4, 3));
    // Refusals because of memory are cached, too.
    let again = candidates.ask(keep(), &Fake::new(made), "v5e").unwrap();
    assert_eq!((again.search.kept, again.rows), (4, all.rows));
}

#[test]
fn the_question_must_make_sense() {
    let error = |device: &str| Candidates::of(&["1"]).ask(Keep::Nowhere, &Fake::new(made), device).unwrap_err();
    assert_eq!(error("h100").to_string(), "expected a TPU, such as v6e, found h100");
    assert!(matches!(error("v8i"), TuneError::NoCompiler(_)));
    let error = Candidates::of(&[]).ask(Keep::Nowhere, &Fake::new(made), "v6e").unwrap_err();
    assert_eq!(error.to_string(), "the axis \"bm\" has no value");
}
