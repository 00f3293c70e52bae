//! Lets the caller end a copy early where one thread makes it in one go.

/// Asks from time to time whether a copy goes on.
pub(super) struct Pulse<'a> {
    left: usize,
    goes_on: &'a dyn Fn() -> bool,
}

impl<'a> Pulse<'a> {
    /// How many elements are copied before the next question. They take too little time for a user to notice; the question may take as
    /// long as a thousand elements.
    const ELEMENTS: usize = 1 << 18;

    pub(super) const fn new(goes_on: &'a dyn Fn() -> bool) -> Self {
        Self { left: Self::ELEMENTS, goes_on }
    }

    /// Counts elements that were copied; returns whether to copy more.
    #[inline]
    pub(super) fn after(&mut self, elements: usize) -> bool {
        self.left = self.left.saturating_sub(elements);
        if self.left > 0 {
            return true;
        }
        self.left = Self::ELEMENTS;
        (self.goes_on)()
    }
}
