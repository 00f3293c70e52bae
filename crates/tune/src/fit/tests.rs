//! Tests `fit` with workers that compile nothing: a program's text says how much memory it needs.

use super::{Axis, Fit, Needed, Question, Setting, Source};
use crate::fake::Fake;
use crate::needed::refused;
use crate::{Keep, TuneError};
use serde::Deserialize;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use xla_shape_answers::cost::Amount;
use xla_shape_answers::fit::Need;
use xla_shape_corpus::corpus;
use xla_shape_program::{CompileError, Host};

/// The program of a setting.
type Makes<'a> = dyn Fn(&[usize]) -> Result<String, String> + 'a;

struct Programs<'a>(&'a Makes<'a>);

impl Source for Programs<'_> {
    fn setting(&self, at: &[usize]) -> Result<Setting, String> {
        let code = (self.0)(at)?;
        Ok(Setting { code: code.into_bytes().into(), devices: "v5e".parse().unwrap(), options: Vec::new() })
    }
}

/// The text of a program is one of these: the number of bytes that it needs, of 100; a number that only tells programs apart, followed by `compiled
/// BYTES`, or by `refused` and a message; or else the message of a refusal.
fn needed(text: &str) -> Result<Needed, CompileError> {
    let (number, rest) = text.split_once(' ').unwrap_or((text, ""));
    if let Some(bytes) = rest.strip_prefix("compiled ") {
        let need = Need { fits: Some(true), needed_bytes: bytes.parse().ok(), ..Need::default() };
        return Ok(Needed { need, amount: None, compiler: Some("fake 1".to_owned()) });
    }
    let message = rest.strip_prefix("refused\n");
    let (None, Ok(bytes)) = (message, number.parse()) else {
        return refused(message.unwrap_or(text).to_owned(), |_| None);
    };
    let fits = bytes <= 100;
    let need = Need {
        fits: Some(fits),
        needed_bytes: Some(bytes),
        available_bytes: Some(100),
        error: (!fits).then(|| "out of memory".to_owned()),
        ..Need::default()
    };
    let compiler = fits.then(|| "fake 1".to_owned());
    Ok(Needed { need, amount: fits.then_some(Amount::Cycles(bytes)), compiler })
}

fn axis(name: &str, values: usize, bisected: bool) -> Axis {
    Axis { bisected, ..Axis::new(name, (0..values).map(|value| value.to_string())) }
}

fn ask(axes: &[Axis], keep: Keep, makes: &Makes<'_>, fake: &Fake<Needed>) -> Result<Fit, TuneError> {
    let host = Host { command: vec![], python: None, notes: |_| {} };
    let question = Question { keep, ..Question::new(axes.to_vec()) };
    question.answer(&Programs(makes), &host, Some(fake), &fake.stop, &())
}

/// The borders of 40 sizes, for each of four kinds of programs: bisection finds the same borders as trying every setting.
#[test]
fn bisection_has_the_borders_of_all_settings_with_a_quarter_of_the_compilations() {
    // The first number is what the program needs; the numbers after it only make each program different.
    let makes = |at: &[usize]| Ok(format!("{} {at:?}", at[0] * (at[1] + 2) + 7 * at[1]));
    let axes = |bisected| [axis("batch", 40, bisected), axis("kind", 4, false)];
    let (few, all) = (Fake::new(needed), Fake::new(needed));
    let found = ask(&axes(true), Keep::Nowhere, &makes, &few).unwrap();
    let every = ask(&axes(false), Keep::Nowhere, &makes, &all).unwrap();
    let (few, all) = (few.compilations(), all.compilations());
    assert!(all == 160 && few * 4 <= all, "{few} of {all}");
    assert_eq!(found.borders.len(), 4);
    for border in &found.borders {
        let own = every.rows.iter().filter(|row| row.setting["kind"] == border.setting["kind"]);
        let (fit, not): (Vec<_>, Vec<_>) = own.partition(|row| row.need.fits == Some(true));
        let value = |at: Option<usize>| at.map(|at| at.to_string());
        assert_eq!(border.largest, value(fit.iter().map(|row| row.at[0]).max()));
        assert_eq!(border.next, value(not.iter().map(|row| row.at[0]).min()));
        assert!(border.closed && border.exceptions.is_empty());
        assert_eq!(found.rows[border.largest_row.unwrap()].setting["batch"], border.largest.clone().unwrap());
    }
}

#[test]
fn a_second_run_compiles_nothing_and_what_is_refused_is_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let makes = |at: &[usize]| match at[0] {
        0 => Err("TypeError: no such size".to_owned()),
        1 => Ok("1".to_owned()),
        size => Ok((size * 30).to_string()),
    };
    let keep = || Keep::In(folder.path().to_owned());
    let run = |makes: &Makes<'_>| {
        let fake = Fake::new(needed);
        let fit = ask(&[axis("batch", 6, false)], keep(), makes, &fake).unwrap();
        (fit, fake.compilations())
    };
    let (first, compiled) = run(&makes);
    let (second, again) = run(&makes);
    assert_eq!((compiled, first.search.kept, again, second.search.kept), (5, 0, 0, 5));
    assert_eq!(first.rows, second.rows);
    assert_eq!(first.rows[0].need.error.as_deref(), Some("TypeError: no such size"));
    let fits = first.rows.iter().map(|row| row.need.fits).collect::<Vec<_>>();
    assert_eq!(fits, [None, Some(true), Some(true), Some(true), Some(false), Some(false)]);
    // A refusal that is not about memory may not happen again, so it is not cached.
    let dies = |at: &[usize]| if at[0] == 3 { Ok("the compiler died".to_owned()) } else { makes(at) };
    assert_eq!((run(&dies).1, run(&dies).1), (1, 1));
    assert_eq!(run(&dies).0.rows[3].need.error.as_deref(), Some("the compiler died"));
}

#[test]
fn who_ends_it_keeps_what_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let makes = |at: &[usize]| Ok((at[0] * 30).to_string());
    let keep = || Keep::In(folder.path().to_owned());
    let fake = Fake::new(needed).stopped_after(3);
    let fit = ask(&[axis("batch", 6, false)], keep(), &makes, &fake).unwrap();
    assert_eq!((fit.rows.len(), fit.search.cut, fit.search.goes_on), (3, true, true));
    let fake = Fake::new(needed);
    let fit = ask(&[axis("batch", 6, false)], keep(), &makes, &fake).unwrap();
    assert_eq!((fit.rows.len(), fit.search.cut, fit.search.kept, fake.compilations()), (6, false, 3, 3));
}

#[test]
fn wrong_axes_and_a_missing_compiler_are_errors() {
    let makes = |at: &[usize]| Ok((at[0] * 30).to_string());
    let error = |axes: &[Axis], fake: &Fake<Needed>| ask(axes, Keep::Nowhere, &makes, fake).unwrap_err().to_string();
    let fake = Fake::new(needed);
    assert_eq!(error(&[axis("batch", 2, false), axis("batch", 2, false)], &fake), "two axes are called \"batch\"");
    assert_eq!(error(&[axis("batch", 0, true)], &fake), "the axis \"batch\" has no value");
    let many = [axis("a", 101, false), axis("b", 100, false)];
    assert_eq!(error(&many, &fake), "the axes have more than 10000 combinations: give fewer values");
    assert_eq!(fake.compilations(), 0);
    fake.missing.set(true);
    assert_eq!(error(&[axis("batch", 2, false)], &fake), "there is none");
}

#[test]
fn a_worker_without_a_compiler_loses_only_its_own_setting() {
    let makes = |at: &[usize]| Ok((at[0] * 30).to_string());
    for without in ["0", "60", "150"] {
        let fake = Fake::new(needed).without(without);
        let fit = ask(&[axis("batch", 6, false)], Keep::Nowhere, &makes, &fake).unwrap();
        assert_eq!(fake.compilations(), 5);
        for row in &fit.rows {
            let is_without = (row.at[0] * 30).to_string() == without;
            assert_eq!(
                (row.need.fits.is_none(), row.need.error.as_deref() == Some("there is none")),
                (is_without, is_without)
            );
        }
    }
    let fake = Fake::new(needed).without("0");
    let makes = |_: &[usize]| Ok("0".to_owned());
    let error = ask(&[axis("batch", 6, false)], Keep::Nowhere, &makes, &fake).unwrap_err();
    assert_eq!(error, TuneError::NoCompiler("there is none".to_owned()), "none answered");
}

#[test]
fn after_the_end_no_more_programs_are_made() {
    let fake = Fake::new(needed).stopped_after(0);
    let made = Cell::new(0);
    let makes = |at: &[usize]| {
        made.set(made.get() + 1);
        if at[0] == 2 {
            fake.stop.store(true, Ordering::Relaxed);
        }
        Ok((at[0] * 30).to_string())
    };
    let fit = ask(&[axis("batch", 300, false)], Keep::Nowhere, &makes, &fake).unwrap();
    assert_eq!((made.get(), fit.search.cut, fake.compilations()), (3, true, 0));
}

/// The compiler's answers about a program in 40 sizes, recorded by `scripts/data/fit_borders.py`.
#[derive(Deserialize)]
struct Recorded {
    program: String,
    values: Vec<u64>,
    outcomes: Vec<Outcome>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// It compiled the program, which needs this number of bytes.
    Bytes(u64),
    /// It refused the program.
    Message(String),
    /// JAX did not make a program.
    Missing(String),
}

impl Recorded {
    /// How many sizes have a program.
    fn programs(&self) -> usize {
        self.outcomes.iter().filter(|outcome| !matches!(outcome, Outcome::Missing(_))).count()
    }

    /// The answer about all sizes (if `bisected`, about those around the border only), and how many programs were compiled.
    fn ask(&self, bisected: bool) -> (Fit, usize) {
        let makes = |at: &[usize]| match &self.outcomes[at[0]] {
            Outcome::Bytes(bytes) => Ok(format!("{} compiled {bytes}", at[0])),
            Outcome::Message(message) => Ok(format!("{} refused\n{message}", at[0])),
            Outcome::Missing(message) => Err(message.clone()),
        };
        let fake = Fake::new(needed);
        let axis = Axis { bisected, ..Axis::new("size", self.values.iter().map(u64::to_string)) };
        let fit = ask(&[axis], Keep::Nowhere, &makes, &fake).unwrap();
        (fit, fake.compilations())
    }
}

#[test]
fn bisection_has_the_borders_of_programs_that_the_compiler_was_asked_about_in_every_size() {
    let mut recorded: Vec<Recorded> = corpus("fit_borders.jsonl.zst");
    // The memory of this program goes up and down from size to size, so its sizes have no border. Only the fourth fits, and bisection does not find
    // it.
    let place = recorded.iter().position(|row| row.program == "transform_of_any_size").unwrap();
    let irregular = recorded.remove(place);
    let fits = |fit: &Fit| fit.rows.iter().filter(|row| row.need.fits == Some(true)).count();
    assert_eq!((fits(&irregular.ask(true).0), fits(&irregular.ask(false).0)), (0, 1));
    assert!(recorded.len() >= 12);
    let (mut compiled, mut settings) = (0, 0);
    for row in &recorded {
        let name = &row.program;
        let ((found, few), (every, all)) = (row.ask(true), row.ask(false));
        assert_eq!((row.outcomes.len(), every.rows.len(), all), (40, 40, row.programs()), "{name}");
        (compiled, settings) = (compiled + few, settings + row.outcomes.len());
        let is = |at: usize, compiles: bool| matches!(row.outcomes[at], Outcome::Bytes(_)) == compiles;
        let largest = (0..40).rev().find(|&at| is(at, true)).unwrap();
        let is_refused = |at: &usize| matches!(row.outcomes[*at], Outcome::Message(_));
        let next = (largest + 1..40).find(is_refused).unwrap();
        let value = |at: usize| Some(row.values[at].to_string());
        let border = &found.borders[0];
        assert_eq!((&border.largest, &border.next, border.closed), (&value(largest), &value(next), true), "{name}");
        let beyond = &found.rows[border.next_row.unwrap()].need;
        let Outcome::Message(message) = &row.outcomes[next] else { unreachable!() };
        assert_eq!((beyond.fits, beyond.error.as_ref()), (Some(false), Some(message)), "{name}");
        let needs = found.rows[border.largest_row.unwrap()].need.needed_bytes;
        assert!(matches!(row.outcomes[largest], Outcome::Bytes(bytes) if Some(bytes) == needs), "{name}");
        // For each size that bisection tries, the figures are the same as in the search that tries every size.
        assert!(found.rows.iter().all(|row| every.rows[row.at[0]].need == row.need), "{name}");
        // Some sizes do not fit although larger ones do, because the compiler chooses another way to compute for them.
        let exceptions: Vec<_> = (0..largest).filter(is_refused).map(|at| row.values[at].to_string()).collect();
        assert!(exceptions.iter().eq(&border.exceptions), "{name}: {exceptions:?}");
        assert!(!exceptions.is_empty() || few * 4 <= 40, "{name}: {few}");
    }
    assert!(compiled * 4 <= settings, "{compiled} of {settings}");
    assert!(recorded.iter().any(|row| !row.ask(true).0.borders[0].exceptions.is_empty()));
}

/// Each kind of refusal that `scripts/refusals.py` makes, at sizes around the border of 40 sizes.
#[test]
fn what_the_compiler_refuses_is_a_row_with_the_cause_and_loses_no_other() {
    #[derive(Deserialize)]
    struct Refusal {
        kind: String,
        message: String,
    }
    let refusals: Vec<Refusal> = corpus("reports/refusals.jsonl");
    let kinds: BTreeMap<_, _> = refusals.iter().map(|refusal| (refusal.kind.as_str(), &refusal.message)).collect();
    assert!(kinds.len() >= 12, "{:?}", kinds.keys());
    for (kind, message) in kinds {
        let is_memory = Need::of_refusal(message.clone()).fits == Some(false);
        // The search tries size 20 first. 22 is the largest size that fits, and 23 is the next one.
        for refused in [20, 22, 23] {
            let place = format!("{kind} at {refused}");
            // Sizes up to 22 fit.
            let makes = |at: &[usize]| match at[0] {
                at if at == refused => Ok(format!("{at} refused\n{message}")),
                at => Ok(format!("{} {at}", 4 * at + 10)),
            };
            let folder = tempfile::tempdir().unwrap();
            let keep = || if refused == 22 { Keep::In(folder.path().to_owned()) } else { Keep::Nowhere };
            let fake = Fake::new(needed);
            let fit = ask(&[axis("size", 40, true)], keep(), &makes, &fake).unwrap();
            let compiled = fake.compilations();
            assert!(compiled <= 11, "{place}: {compiled}");
            let border = &fit.borders[0];
            let largest = if refused == 22 { "21" } else { "22" };
            assert_eq!((border.largest.as_deref(), border.closed), (Some(largest), true), "{place}");
            let (own, rest): (Vec<_>, Vec<_>) = fit.rows.iter().partition(|row| row.at[0] == refused);
            assert_eq!((own.len(), own[0].need.error.as_ref()), (1, Some(message)), "{place}");
            assert_eq!(own[0].need.fits, is_memory.then_some(false), "{place}");
            assert!(rest.iter().all(|row| row.need.fits == Some(row.at[0] <= 22)), "{place}");
            assert_eq!(!border.unknown.is_empty(), !is_memory && refused != 20, "{place}");
            if refused != 22 {
                continue;
            }
            // A program that was refused for a reason other than memory is compiled again; the other answers are in the cache.
            let again = Fake::new(needed);
            let second = ask(&[axis("size", 40, true)], keep(), &makes, &again).unwrap();
            let compiled = again.compilations();
            assert_eq!((compiled, second.rows), (usize::from(!is_memory), fit.rows), "{place}");
        }
    }
}
