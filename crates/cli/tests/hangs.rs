//! Compilers that hang. The program waits for them 20 seconds longer than their time limit. So a test of `compile` starts them, and one of the last
//! tests reads the answers.

use crate::compile::{Answer, plugin, run};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Plug-ins that hang in different calls.
const CASES: [(&str, &str); 3] = [
    ("module {} // fake:hang-optimized", ""),
    ("module {} // fake:hang-stats", ""),
    // This one hangs while it is loaded, which has a limit of a minute.
    ("module {}", "hang"),
];

/// The answers. The first use of this starts the compilers in the background.
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

/// Whether all of the compilers are still running.
pub(crate) fn have_no_answer() -> bool {
    ANSWERS.lock().unwrap_or_else(PoisonError::into_inner).iter().all(|answer| !answer.is_finished())
}

/// Waits for all answers: each says that the compiler was ended. If the process of the compiler had no time limit, this would never return.
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
