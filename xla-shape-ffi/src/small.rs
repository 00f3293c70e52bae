//! A list of a few values, on the stack as long as they are few.

/// Values in the order in which they came; the first `N` need no allocation.
pub(crate) struct Few<T, const N: usize> {
    // Of what is `None`, nothing else is written.
    first: [Option<T>; N],
    len: usize,
    rest: Vec<T>,
}

impl<T: Copy, const N: usize> Few<T, N> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { first: [const { None }; N], len: 0, rest: Vec::new() }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) {
        match self.first.get_mut(self.len) {
            Some(place) => *place = Some(value),
            None => self.rest.push(value),
        }
        self.len += 1;
    }

    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first[..self.len.min(N)].iter().flatten().chain(&self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn values_come_back_in_their_order() {
        let mut few = Few::<usize, 3>::new();
        for len in 0..7 {
            assert!(few.iter().copied().eq(0..len));
            few.push(len);
        }
    }
}
