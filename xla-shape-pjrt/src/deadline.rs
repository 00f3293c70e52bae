//! Calls that must end in time.

use crate::error::{Error, Result};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// As much stack as compilers need; memory is only taken where it is used.
const STACK_BYTES: usize = 64 << 20;

/// Runs `work` and gives its result, or an error if it takes longer than `limit`.
///
/// A plug-in cannot be interrupted: after an error, the work goes on in its thread, and its result is dropped there. So all that
/// it uses belongs to it.
pub(crate) fn within<T: Send + 'static>(
    limit: Option<Duration>,
    call: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = sync_channel(1);
    // Nobody may wait for the result any more.
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
    fn work_that_does_not_end_is_given_up() {
        let (sender, receiver) = channel::<()>();
        let limit = Duration::from_millis(10);
        let waits = move || {
            // Until the test drops the sender.
            let _ = receiver.recv();
            Ok(())
        };
        let error = within(Some(limit), "PJRT_Compile", waits).unwrap_err();
        assert!(matches!(error, Error::TimedOut { call: "PJRT_Compile", .. }));
        assert_eq!(error.to_string(), "PJRT_Compile took longer than 0.01 seconds and was given up");
        drop(sender);
    }

    #[test]
    fn results_and_panics_are_handed_on() {
        assert_eq!(within(None, "work", || Ok(7)).unwrap(), 7);
        assert_eq!(within(Some(Duration::from_secs(60)), "work", || Ok(7)).unwrap(), 7);
        let error = within::<()>(None, "work", || std::panic::resume_unwind(Box::new("no"))).unwrap_err();
        assert_eq!(error.to_string(), "the plug-in's answer to work cannot be used: it panicked");
    }
}
