//! Calls with a time limit.

use crate::error::{Error, Result};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// The stack size of the thread, enough for compilers. The system provides memory only for the part that is used.
const STACK_BYTES: usize = 64 << 20;

/// Runs `work` in a thread and returns its result, or an error if it takes longer than `limit`.
///
/// A plug-in cannot be interrupted: after a timeout, the thread continues and drops the result. So `work` must own everything that it uses.
pub(crate) fn within<T: Send + 'static>(
    limit: Option<Duration>,
    call: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = sync_channel(1);
    // Sending fails after a timeout, when the receiver is gone; then the result is dropped.
    let run = move || drop(sender.send(work()));
    thread::Builder::new().name(call.to_owned()).stack_size(STACK_BYTES).spawn(run)?;
    let received = match limit {
        Some(limit) => receiver.recv_timeout(limit),
        None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    match (received, limit) {
        (Ok(result), _) => result,
        (Err(RecvTimeoutError::Timeout), Some(limit)) => Err(Error::TimedOut { call, limit }),
        (Err(_), _) => Err(Error::answer(call, "it panicked")),
    }
}

#[cfg(test)]
mod tests {
    use super::within;
    use crate::Error;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn work_that_does_not_end_is_an_error() {
        let (sender, receiver) = channel::<()>();
        let limit = Duration::from_millis(10);
        let waits = move || {
            // Returns when the test drops the sender.
            let _ = receiver.recv();
            Ok(())
        };
        let error = within(Some(limit), "PJRT_Compile", waits).unwrap_err();
        assert!(matches!(error, Error::TimedOut { call: "PJRT_Compile", .. }));
        assert_eq!(error.to_string(), "PJRT_Compile took longer than 0.01 seconds and was abandoned");
        drop(sender);
    }

    #[test]
    fn results_are_returned_and_panics_are_errors() {
        assert_eq!(within(None, "work", || Ok(7)).unwrap(), 7);
        assert_eq!(within(Some(Duration::from_secs(60)), "work", || Ok(7)).unwrap(), 7);
        let error = within::<()>(None, "work", || std::panic::resume_unwind(Box::new("no"))).unwrap_err();
        assert_eq!(error.to_string(), "the plug-in's answer to work cannot be used: it panicked");
    }
}
