//! A small cache of recent values.

use crate::tuning::CACHED_PLANS;

/// The values that were made last; the oldest is replaced first.
pub(super) struct Recent<T> {
    kept: Vec<T>,
    oldest: usize,
}

impl<T> Recent<T> {
    pub(super) const fn new() -> Self {
        Self { kept: Vec::new(), oldest: 0 }
    }

    /// A value for which the predicate holds, if it is still kept.
    pub(super) fn find(&self, is_wanted: impl FnMut(&&T) -> bool) -> Option<&T> {
        self.kept.iter().find(is_wanted)
    }

    /// Keeps one more value, in place of the oldest.
    pub(super) fn keep(&mut self, made: T) {
        if self.kept.len() < CACHED_PLANS {
            self.kept.push(made);
        } else {
            self.kept[self.oldest] = made;
            self.oldest = (self.oldest + 1) % CACHED_PLANS;
        }
    }
}
