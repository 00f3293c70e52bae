//! Compilers that hang. They are waited for 20 seconds longer than their limit: a test of `compile` starts them, and one of the last tests
//! reads what came of them.

use crate::compile::{Answer, plugin, run};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// A plug-in may hang in any call, with limits of its own or without.
const CASES: [(&str, &str); 3] = [
    ("module {} // fake:hang-optimized", ""),
    ("module {} // fake:hang-stats", ""),
    // In loading, which has a limit of a minute.
    ("module {}", "hang"),
];

/// The answers, which come in the background from the first look at them.
static ANSWERS: LazyLock<Mutex<Vec<JoinHandle<Answer>>>> = LazyLock::new(|| {
    let start = |(text, kind): (&'static str, &'static str)| {
        thread::spawn(move || {
            let folder = tempfile::tempdir().unwrap();
            let plugin = plugin();
            let variables = [("PJRT_PLUGIN", plugin.to_str().unwrap()), ("PJRT_FAKE", kind)];
            run(folder.path(), text, &variables, &["--time-limit", "1"])
        })
    };
    Mutex::new(CASES.map(start).into())
});

/// Whether all of them still run.
pub(crate) fn have_no_answer() -> bool {
    ANSWERS.lock().unwrap_or_else(PoisonError::into_inner).iter().all(|answer| !answer.is_finished())
}

/// Each says so. Without a limit for the process of the compiler, this does not end.
pub(crate) fn are_ended() {
    let answers = std::mem::take(&mut *ANSWERS.lock().unwrap_or_else(PoisonError::into_inner));
    assert_eq!(answers.len(), CASES.len());
    for (answer, (text, kind)) in answers.into_iter().zip(CASES) {
        let answer = answer.join().unwrap();
        let said = answer.output + &answer.errors;
        assert!(
            said.contains("the compiler's process was ended: it took longer than 1 seconds"),
            "{text} {kind}: {said}"
        );
        assert_eq!(answer.code, 1);
    }
}
