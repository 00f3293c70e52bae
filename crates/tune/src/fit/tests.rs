//! `fit` with workers that compile nothing: a program's text says what it needs.

use super::{Axis, Fit, Needed, Question, Setting, Source};
use crate::cache::Origin;
use crate::{Keep, TuneError, Workers};
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use xla_shape_answers::cost::Amount;
use xla_shape_answers::fit::Need;
use xla_shape_program::{CompileError, Host};

/// What a setting has.
type Makes<'a> = dyn Fn(&[usize]) -> Result<String, String> + 'a;

struct Programs<'a>(&'a Makes<'a>);

impl Source for Programs<'_> {
    fn setting(&self, at: &[usize]) -> Result<Setting, String> {
        let code = (self.0)(at)?;
        Ok(Setting { code: code.into_bytes().into(), devices: "v5e".parse().unwrap(), options: Vec::new() })
    }
}

/// Workers to whom the text of a program says how many bytes of 100 it needs; any other text is refused.
#[derive(Default)]
struct Fake {
    compiled: RefCell<usize>,
    /// Set after so many compilations.
    stop: Option<(usize, AtomicBool)>,
    missing: Cell<bool>,
    /// No compiler is found for the programs with this text.
    without: Option<&'static str>,
}

impl Fake {
    fn needed(program: &[u8]) -> Result<Needed, CompileError> {
        let text = String::from_utf8_lossy(program);
        let Ok(bytes) = text.split(' ').next().unwrap_or_default().parse() else {
            return Err(CompileError::Refused(text.into_owned()));
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
}

impl Workers for Fake {
    fn run(&self, requests: &[(&[u8], Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
        let origin: Origin = serde_json::from_value(
            json!({"compiler": {"path": "/libtpu.so", "bytes": 7, "written": 1}, "flags": [null, null]}),
        )
        .unwrap();
        for (number, (program, request)) in requests.iter().enumerate() {
            let request: serde_json::Value = serde_json::from_slice(request).unwrap();
            let answer = if self.missing.get() {
                json!({ "Err": CompileError::NoCompiler("there is none".to_owned()) })
            } else if request.get("Origin").is_some() {
                json!({ "Ok": origin })
            } else if request.get("Version").is_some() {
                json!({ "Ok": "fake 1" })
            } else if self.without.is_some_and(|text| text.as_bytes() == *program) {
                json!({ "Err": CompileError::NoCompiler("there is none".to_owned()) })
            } else {
                *self.compiled.borrow_mut() += 1;
                if let Some((most, stop)) = &self.stop {
                    stop.store(*self.compiled.borrow() > *most, Ordering::Relaxed);
                }
                match Self::needed(program) {
                    Ok(needed) => json!({ "Ok": {"measured": needed, "origin": origin} }),
                    Err(error) => json!({ "Err": error }),
                }
            };
            if !done(number, &serde_json::to_vec(&answer).unwrap()) {
                break;
            }
        }
        Ok(())
    }
}

fn axis(name: &str, values: usize, bisected: bool) -> Axis {
    Axis { name: name.to_owned(), values: (0..values).map(|value| value.to_string()).collect(), bisected }
}

fn ask(axes: &[Axis], keep: Keep, makes: &Makes<'_>, fake: &Fake) -> Result<Fit, TuneError> {
    let host = Host { command: vec![], python: None, notes: |_| {} };
    let never = AtomicBool::new(false);
    let stop = fake.stop.as_ref().map_or(&never, |(_, stop)| stop);
    let question = Question { keep, ..Question::new(axes.to_vec()) };
    question.answer(&Programs(makes), &host, Some(fake), stop, &())
}

/// 40 sizes for each of four kinds of programs, as bisection finds the borders and as all settings show them.
#[test]
fn bisection_has_the_borders_of_all_settings_with_a_quarter_of_the_compilations() {
    // The numbers after the first make each program another one.
    let makes = |at: &[usize]| Ok(format!("{} {at:?}", at[0] * (at[1] + 2) + 7 * at[1]));
    let axes = |bisected| [axis("batch", 40, bisected), axis("kind", 4, false)];
    let (few, all) = (Fake::default(), Fake::default());
    let found = ask(&axes(true), Keep::Nowhere, &makes, &few).unwrap();
    let every = ask(&axes(false), Keep::Nowhere, &makes, &all).unwrap();
    let (few, all) = (few.compiled.into_inner(), all.compiled.into_inner());
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
        let fake = Fake::default();
        let fit = ask(&[axis("batch", 6, false)], keep(), makes, &fake).unwrap();
        (fit, fake.compiled.into_inner())
    };
    let (first, compiled) = run(&makes);
    let (second, again) = run(&makes);
    assert_eq!((compiled, first.kept, again, second.kept), (5, 0, 0, 5));
    assert_eq!(first.rows, second.rows);
    assert_eq!(first.rows[0].need.error.as_deref(), Some("TypeError: no such size"));
    let fits = first.rows.iter().map(|row| row.need.fits).collect::<Vec<_>>();
    assert_eq!(fits, [None, Some(true), Some(true), Some(true), Some(false), Some(false)]);
    // A refusal that is not about memory may not happen again, so it is not kept.
    let dies = |at: &[usize]| if at[0] == 3 { Ok("the compiler died".to_owned()) } else { makes(at) };
    assert_eq!((run(&dies).1, run(&dies).1), (1, 1));
    assert_eq!(run(&dies).0.rows[3].need.error.as_deref(), Some("the compiler died"));
}

#[test]
fn who_ends_it_keeps_what_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let makes = |at: &[usize]| Ok((at[0] * 30).to_string());
    let keep = || Keep::In(folder.path().to_owned());
    let fake = Fake { stop: Some((3, AtomicBool::new(false))), ..Fake::default() };
    let fit = ask(&[axis("batch", 6, false)], keep(), &makes, &fake).unwrap();
    assert_eq!((fit.rows.len(), fit.cut, fit.goes_on), (3, true, true));
    let fake = Fake::default();
    let fit = ask(&[axis("batch", 6, false)], keep(), &makes, &fake).unwrap();
    assert_eq!((fit.rows.len(), fit.cut, fit.kept, fake.compiled.into_inner()), (6, false, 3, 3));
}

#[test]
fn wrong_axes_and_a_missing_compiler_are_errors() {
    let makes = |at: &[usize]| Ok((at[0] * 30).to_string());
    let error = |axes: &[Axis], fake: &Fake| ask(axes, Keep::Nowhere, &makes, fake).unwrap_err().to_string();
    let fake = Fake::default();
    assert_eq!(error(&[axis("batch", 2, false), axis("batch", 2, false)], &fake), "two axes are called \"batch\"");
    assert_eq!(error(&[axis("batch", 0, true)], &fake), "the axis \"batch\" has no value");
    let many = [axis("a", 101, false), axis("b", 100, false)];
    assert_eq!(error(&many, &fake), "the axes have more than 10000 combinations: give fewer values");
    assert_eq!(*fake.compiled.borrow(), 0);
    fake.missing.set(true);
    assert_eq!(error(&[axis("batch", 2, false)], &fake), "there is none");
}

#[test]
fn a_worker_without_a_compiler_loses_only_its_own_setting() {
    let makes = |at: &[usize]| Ok((at[0] * 30).to_string());
    for without in ["0", "60", "150"] {
        let fake = Fake { without: Some(without), ..Fake::default() };
        let fit = ask(&[axis("batch", 6, false)], Keep::Nowhere, &makes, &fake).unwrap();
        assert_eq!(fake.compiled.into_inner(), 5);
        for row in &fit.rows {
            let is_without = (row.at[0] * 30).to_string() == without;
            assert_eq!(
                (row.need.fits.is_none(), row.need.error.as_deref() == Some("there is none")),
                (is_without, is_without)
            );
        }
    }
    let fake = Fake { without: Some("0"), ..Fake::default() };
    let makes = |_: &[usize]| Ok("0".to_owned());
    let error = ask(&[axis("batch", 6, false)], Keep::Nowhere, &makes, &fake).unwrap_err();
    assert_eq!(error, TuneError::NoCompiler("there is none".to_owned()), "none answered");
}

#[test]
fn after_the_end_no_more_programs_are_made() {
    let fake = Fake { stop: Some((0, AtomicBool::new(false))), ..Fake::default() };
    let made = Cell::new(0);
    let makes = |at: &[usize]| {
        made.set(made.get() + 1);
        if at[0] == 2 {
            fake.stop.as_ref().unwrap().1.store(true, Ordering::Relaxed);
        }
        Ok((at[0] * 30).to_string())
    };
    let fit = ask(&[axis("batch", 300, false)], Keep::Nowhere, &makes, &fake).unwrap();
    assert_eq!((made.get(), fit.cut, *fake.compiled.borrow()), (3, true, 0));
}
