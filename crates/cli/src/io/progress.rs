//! The progress bars of slow verbs.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A progress bar on standard error, if that is a terminal. It appears after a moment, even before the first bytes are done.
pub(crate) fn progress(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::new(bytes);
    bar.enable_steady_tick(Duration::from_millis(200));
    // If the template were invalid, the default style would be used.
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// A callback that shows how much of a profile has been read. It shows nothing for small profiles.
pub(crate) fn progress_of_profile() -> impl FnMut(u64, u64) {
    const LARGE: u64 = 64 << 20;
    let mut bar = None;
    move |done, all| {
        if all < LARGE {
            return;
        }
        let bar = bar.get_or_insert_with(|| progress(all));
        bar.set_position(done);
        if done >= all {
            bar.finish_and_clear();
        }
    }
}
