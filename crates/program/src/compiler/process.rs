//! The process of a compiler: it gets a program, its answer is waited for, and it is ended.

use super::{CompileError, CompilerAnswer};
pub use group::end_with_parent;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many bytes of the compiler's standard error are kept.
const MAX_NOTES: usize = 16 << 20;

/// How often the process is looked at.
const SOON: Duration = Duration::from_millis(50);

/// How long the process may take beyond the time limit of the compiler: it loads the plug-in and describes the device before, and asks for the
/// parts of the answer after. The process has limits of its own for some of these calls. A plug-in may hang in any.
const BESIDES: Duration = Duration::from_secs(20);

/// How long the last lines of standard error are waited for when the process has ended.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// What the process of a compiler says.
pub(super) type Answer = Result<CompilerAnswer, CompileError>;

/// Runs the process of a compiler: its answer, and what it wrote to standard error. Once `stop` is set or its time is over, the process is ended.
///
/// Nothing here waits for a pipe: a process that the compiler started, and that outlives it, may keep all of them open.
pub(super) fn run(
    mut command: Command,
    limit: Duration,
    program: &[u8],
    stop: &AtomicBool,
) -> Result<(Answer, String), CompileError> {
    let failed =
        |error: std::io::Error| CompileError::NoCompiler(format!("cannot start a process for the compiler: {error}"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    group::alone(&mut command);
    let mut child = command.spawn().map_err(failed)?;
    // A limit that no clock reaches is none.
    let end = Instant::now().checked_add(limit.saturating_add(BESIDES));
    if let Some(mut input) = child.stdin.take() {
        let program = program.to_vec();
        // If this fails, the process has ended, and its exit status and standard error say why.
        thread::spawn(move || drop(input.write_all(&program)));
    }
    let answers = child.stdout.take().map(first_answer);
    let errors = child.stderr.take().map(Notes::collect);
    let mut ended = Ended::No;
    let answer = loop {
        match answers.as_ref().map_or(Err(RecvTimeoutError::Disconnected), |answers| answers.recv_timeout(SOON)) {
            // Some compilers take long to exit after the answer, or never do.
            Ok(answer) => break Some(answer),
            // The process closes standard output when it ends.
            Err(RecvTimeoutError::Disconnected) if ended == Ended::No => thread::sleep(Duration::from_millis(1)),
            Err(_) => {}
        }
        if ended == Ended::Yes || stop.load(Ordering::Relaxed) {
            break None;
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            ended = Ended::TooSlow;
            break None;
        }
        if group::has_ended(&mut child).map_err(failed)? {
            // Its answer may still be in the pipe: once more.
            ended = Ended::Yes;
        }
    };
    group::end(&mut child);
    let status = child.wait().map_err(failed)?;
    let errors = errors.map_or_else(Vec::new, |errors| errors.so_far());
    let errors = String::from_utf8_lossy(&errors).into_owned();
    match answer {
        Some(answer) => Ok((answer, errors)),
        None if ended == Ended::TooSlow => Err(CompileError::Refused(format!(
            "the compiler's process was ended: it took longer than {} seconds, and {} more for loading the compiler and asking for the answer",
            limit.as_secs(),
            BESIDES.as_secs()
        ))),
        None if status.success() => {
            Err(CompileError::Refused("the process of the compiler gave no answer that can be read".to_owned()))
        }
        None => Err(CompileError::Refused(exit_reason(status, &errors))),
    }
}

/// Whether and why a process has ended without an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    No,
    Yes,
    TooSlow,
}

/// The answer in what a process writes. Plug-ins may write other lines to standard output.
fn first_answer(output: ChildStdout) -> Receiver<Answer> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut lines = BufReader::new(output).split(b'\n').map_while(std::io::Result::ok);
        if let Some(answer) = lines.find_map(|line| serde_json::from_slice(&line).ok()) {
            // Fails if nobody waits any longer.
            let _ = sender.send(answer);
        }
    });
    receiver
}

/// What a process writes to standard error.
struct Notes {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl Notes {
    fn collect(mut errors: ChildStderr) -> Self {
        let (sender, end) = mpsc::channel();
        let bytes = Arc::<Mutex<Vec<u8>>>::default();
        let own = Arc::clone(&bytes);
        thread::spawn(move || {
            let _sender = sender;
            let mut piece = [0; 8192];
            // What is too much is read and dropped, because a full pipe would block the process.
            while let Ok(count @ 1..) = errors.read(&mut piece) {
                let mut bytes = own.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MAX_NOTES.saturating_sub(bytes.len());
                bytes.extend(piece.iter().take(count.min(room)));
            }
        });
        Self { bytes, end }
    }

    /// What there is, after a short time for the rest.
    fn so_far(&self) -> Vec<u8> {
        // Nothing is sent: the other end is dropped when standard error ends.
        let _ = self.end.recv_timeout(LAST_WORDS);
        std::mem::take(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A process with those that it starts. It has a group of its own, which ends as a whole.
#[cfg(unix)]
mod group {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};
    use std::thread;
    use std::time::Duration;

    pub(super) fn alone(command: &mut Command) {
        command.process_group(0);
    }

    /// Whether it has ended. It is not forgotten then: until it is waited for, its number is that of no other process.
    pub(super) fn has_ended(child: &mut Child) -> std::io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
    }

    /// Ends it and its group. It must not have been waited for.
    pub(super) fn end(child: &mut Child) {
        // This fails if every process of the group has ended.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        let _ = child.kill();
    }

    /// Ends the group of this process when the one that started it has ended: a group of its own does not get the Ctrl-C of the terminal.
    pub fn end_with_parent() {
        let parent = std::os::unix::process::parent_id();
        let own = rustix::process::getpid();
        // Only a group that was made for this process.
        if rustix::process::getpgrp() != own {
            return;
        }
        thread::spawn(move || {
            while std::os::unix::process::parent_id() == parent {
                thread::sleep(Duration::from_millis(200));
            }
            let _ = kill_process_group(own, Signal::KILL);
        });
    }
}

#[cfg(not(unix))]
mod group {
    use std::process::{Child, Command};

    pub(super) fn alone(_command: &mut Command) {}

    pub(super) fn has_ended(child: &mut Child) -> std::io::Result<bool> {
        Ok(child.try_wait()?.is_some())
    }

    pub(super) fn end(child: &mut Child) {
        // An error means that the process has ended.
        let _ = child.kill();
    }

    /// Does nothing here: the system ends the processes of a terminal itself.
    pub fn end_with_parent() {}
}

/// Why a process ended without an answer: libtpu writes the reason and a stack trace.
fn exit_reason(status: ExitStatus, errors: &str) -> String {
    const MOST: usize = 500;
    let lines = || errors.lines().map(str::trim).filter(|line| !line.is_empty());
    // `F1122 08:27:08.375060   12233 shape_util.cc:1058] Check failed: …`
    let fatal = lines().find_map(|line| {
        let rest = line.strip_prefix('F')?.split_once(' ')?.1.trim_start().split_once(' ')?.1.trim_start();
        let (place, words) = rest.split_once(' ')?.1.trim_start().split_once("] ")?;
        Some(format!("{place}: {words}"))
    });
    let why = fatal.or_else(|| lines().next().map(str::to_owned)).unwrap_or_else(|| "it did not say why".to_owned());
    let why = why.chars().take(MOST).collect::<String>();
    format!("the compiler ended its process ({status}): {why}")
}

#[cfg(test)]
mod tests {
    use super::exit_reason;
    use std::process::ExitStatus;

    #[test]
    fn of_what_a_process_wrote_the_reason_is_kept() {
        let words = |errors: &str| {
            let text = exit_reason(ExitStatus::default(), errors);
            text.split_once("): ").unwrap().1.to_owned()
        };
        let fatal = "a note\nF1122 08:27:08.375060   12233 shape_util.cc:1058] Check failed: !count_overflow \n*** Check failure";
        assert_eq!(words(fatal), "shape_util.cc:1058: Check failed: !count_overflow");
        assert_eq!(words("\n  Fatal: no\nmore"), "Fatal: no");
        assert_eq!(words(""), "it did not say why");
        assert_eq!(words(&"x".repeat(10_000)).len(), 500);
    }
}
