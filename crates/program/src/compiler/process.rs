//! Runs a process: passes its input, waits for its answer, and ends it together with all processes that it started.

use super::{CompileError, CompilerAnswer};
pub use group::end_with_parent;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many bytes of standard error are kept.
const MAX_NOTES: usize = 16 << 20;

/// The time between two checks of a process.
const SOON: Duration = Duration::from_millis(50);

/// How long the process of a compiler may run in addition to the compiler's time limit: before it compiles, it loads the plug-in and describes the
/// device; afterwards, it asks for the parts of the answer. The process limits some of these calls itself, but a plug-in may hang in any of them.
const BESIDES: Duration = Duration::from_secs(20);

/// How long to wait for the rest of a process's output after it has ended.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// The answer of a compiler's process.
pub(super) type Answer = Result<CompilerAnswer, CompileError>;

/// When a process counts as done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// When it has answered: some compilers take long to exit after that, or never do.
    Answer,
    /// When it has exited, so that its exit status counts.
    Exit,
}

/// What became of a process.
///
/// ```
/// use std::process::ExitStatus;
/// use xla_shape_program::Done;
///
/// let done = Done { answer: Some(7), notes: String::new(), status: ExitStatus::default() };
/// assert_eq!((done.answer, done.status.success()), (Some(7), true));
/// ```
#[derive(Debug)]
pub struct Done<T> {
    /// Its answer; `None` if it gave none, or was ended before.
    pub answer: Option<T>,
    /// What it wrote to standard error.
    pub notes: String,
    /// How it ended.
    pub status: ExitStatus,
}

/// Runs a process until it is done. `read` reads its standard output in a thread. `go_on` is asked now and then, with what the process has written
/// to standard error; if it says no, the process is ended. Processes that this one started end with it.
///
/// This function never waits until a pipe closes: the process may have started another one that outlives it and keeps
/// the pipes open.
///
/// # Errors
/// If the process cannot be started or waited for.
///
/// ```
/// # #[cfg(unix)] {
/// use std::process::{ChildStdout, Command};
/// use xla_shape_program::{Notes, Until, attend};
///
/// let mut command = Command::new("sh");
/// command.args(["-c", "echo begins >&2; echo 7"]);
/// let read = |output: ChildStdout| std::io::read_to_string(output).ok();
/// let done = attend(command, b"", Until::Exit, read, |notes: &Notes| notes.so_far().len() < 1000)?;
/// assert_eq!((done.answer.as_deref(), done.notes.as_str(), done.status.success()), (Some("7\n"), "begins\n", true));
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn attend<T: Send + 'static>(
    mut command: Command,
    input: &[u8],
    until: Until,
    read: impl FnOnce(ChildStdout) -> Option<T> + Send + 'static,
    mut go_on: impl FnMut(&Notes) -> bool,
) -> io::Result<Done<T>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    group::alone(&mut command);
    let mut child = command.spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        let input = input.to_vec();
        // If this fails, the process has ended, and its exit status and standard error say why.
        thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let (sender, answers) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        // Sending fails if the receiver has been dropped.
        thread::spawn(move || read(output).map(|answer| sender.send(answer)));
    }
    let notes = Notes::collect(child.stderr.take());
    let (mut answer, mut has_ended) = (None, false);
    loop {
        match answers.recv_timeout(if has_ended { LAST_WORDS } else { SOON }) {
            Ok(found) => answer = Some(found),
            // Standard output is closed when the process ends, or a moment before.
            Err(RecvTimeoutError::Disconnected) if !has_ended => thread::sleep(Duration::from_millis(1)),
            Err(_) => {}
        }
        if has_ended || (answer.is_some() && until == Until::Answer) || !go_on(&notes) {
            break;
        }
        // The answer may still be in the pipe, so the loop looks for it once more.
        has_ended = group::has_ended(&mut child)?;
    }
    group::end(&mut child);
    let status = child.wait()?;
    Ok(Done { answer, notes: notes.last(), status })
}

/// Runs the process of a compiler: its answer, and what it wrote to standard error. Once `stop` is set or its time is over, the process is ended.
pub(super) fn run(
    command: Command,
    limit: Duration,
    program: &[u8],
    stop: &AtomicBool,
) -> Result<(Answer, String), CompileError> {
    // A limit that an `Instant` cannot represent is never reached.
    let end = Instant::now().checked_add(limit.saturating_add(BESIDES));
    let mut is_late = false;
    let done = attend(command, program, Until::Answer, first_answer, |_| {
        is_late = end.is_some_and(|end| Instant::now() >= end);
        !is_late && !stop.load(Ordering::Relaxed)
    });
    let done =
        done.map_err(|error| CompileError::NoCompiler(format!("cannot start a process for the compiler: {error}")))?;
    match done.answer {
        Some(answer) => Ok((answer, done.notes)),
        None if is_late => Err(CompileError::Refused(format!(
            "the compiler's process was ended: it took longer than {} seconds, and {} more for loading the compiler and asking for the answer",
            limit.as_secs(),
            BESIDES.as_secs()
        ))),
        None if done.status.success() => {
            Err(CompileError::Refused("the process of the compiler gave no answer that can be read".to_owned()))
        }
        None => Err(CompileError::Refused(exit_reason(done.status, &done.notes))),
    }
}

/// Finds the answer in the output of a process. Plug-ins may write other lines to standard output.
fn first_answer(output: ChildStdout) -> Option<Answer> {
    let mut lines = BufReader::new(output).split(b'\n').map_while(io::Result::ok);
    lines.find_map(|line| serde_json::from_slice(&line).ok())
}

/// What a process writes to standard error.
#[derive(Debug)]
pub struct Notes {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl Notes {
    fn collect(errors: Option<ChildStderr>) -> Self {
        let (sender, end) = mpsc::channel();
        let bytes = Arc::<Mutex<Vec<u8>>>::default();
        let own = Arc::clone(&bytes);
        thread::spawn(move || {
            let _sender = sender;
            let Some(mut errors) = errors else { return };
            let mut piece = [0; 8192];
            // Output beyond the limit is read and dropped, because a full pipe would block the process.
            while let Ok(count @ 1..) = errors.read(&mut piece) {
                let mut bytes = own.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MAX_NOTES.saturating_sub(bytes.len());
                bytes.extend(piece.iter().take(count.min(room)));
            }
        });
        Self { bytes, end }
    }

    /// What the process has written so far, up to 16 MiB.
    #[must_use]
    pub fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// Waits a short time for the rest, and returns all.
    fn last(&self) -> String {
        // Nothing is ever sent: the sender is dropped when standard error ends, and that ends the wait.
        let _ = self.end.recv_timeout(LAST_WORDS);
        self.so_far()
    }
}

/// A process, with the processes that it starts. Together they are one process group, which is ended as a whole.
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

    /// Whether it has ended. This does not reap it, so no other process gets its number before [`end`].
    pub(super) fn has_ended(child: &mut Child) -> std::io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
    }

    /// Ends the process and its group. The caller must not have waited for the process before: its number may then belong to
    /// another process.
    pub(super) fn end(child: &mut Child) {
        // This fails if every process of the group has ended.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        let _ = child.kill();
    }

    /// Ends this process and its group when its parent has ended: it has a group of its own, so it does not get the terminal's Ctrl-C.
    pub fn end_with_parent() {
        let parent = std::os::unix::process::parent_id();
        let own = rustix::process::getpid();
        // Another group may contain processes that must not end.
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
