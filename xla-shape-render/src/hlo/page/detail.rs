//! How much a page shows.

/// How much a page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Detail {
    pub(super) spaces: usize,
    /// How many values of a memory space have an area of their own, and a lifetime that the page knows.
    pub(super) values: usize,
    /// How many columns a curve has; of more steps, each column shows the fullest of its own.
    pub(super) columns: usize,
    /// How many characters of a name or a shape are shown.
    pub(super) text: usize,
}

impl Detail {
    pub(super) const MOST: Self = Self { spaces: 128, values: 250, columns: 400, text: 1000 };

    /// A little less; in the end one space with one value.
    pub(super) fn smaller(self) -> Self {
        let less = |number: usize, least: usize| (number * 3 / 4).max(least);
        Self {
            spaces: less(self.spaces, 1),
            values: less(self.values, 1),
            columns: less(self.columns, 1),
            text: less(self.text, 40),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Detail;

    #[test]
    fn the_least_is_one_value() {
        let detail = (0..60).fold(Detail::MOST, |detail, _| detail.smaller());
        assert_eq!(detail, Detail { spaces: 1, values: 1, columns: 1, text: 40 }, "ends where all programs fit");
    }
}
