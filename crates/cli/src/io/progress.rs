//! The progress bar of verbs that take long.

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
