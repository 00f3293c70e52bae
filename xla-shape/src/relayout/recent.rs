//! The last few of what was made, in the order in which they are replaced.

/// How many are kept.
pub(super) const KEPT: usize = 8;

/// What was made last.
pub(super) struct Recent<T> {
    kept: Vec<T>,
    oldest: usize,
}

impl<T> Recent<T> {
    pub(super) const fn new() -> Self {
        Self { kept: Vec::new(), oldest: 0 }
    }

    /// The one that is wanted, if it was made not long ago.
    pub(super) fn find(&self, is_wanted: impl FnMut(&&T) -> bool) -> Option<&T> {
        self.kept.iter().find(is_wanted)
    }

    /// Keeps one more, in the place of the oldest.
    pub(super) fn keep(&mut self, made: T) {
        if self.kept.len() < KEPT {
            self.kept.push(made);
        } else {
            self.kept[self.oldest] = made;
            self.oldest = (self.oldest + 1) % KEPT;
        }
    }
}
