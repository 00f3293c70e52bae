//! Arrays as text.

use std::fmt;

/// Longer dimensions are not shown whole.
const LONGEST: usize = 16;

/// How many entries are shown of each end of a long dimension.
const ENDS: usize = 3;

/// Writes one element.
type Element<'a> = dyn Fn(&[usize], &mut fmt::Formatter<'_>) -> fmt::Result + 'a;

/// Writes all elements in brackets, as many as the array has dimensions.
pub(super) fn nested(sizes: &[usize], element: &Element<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    dimension(&mut Vec::with_capacity(sizes.len()), sizes, element, f)
}

fn dimension(
    index: &mut Vec<usize>,
    sizes: &[usize],
    element: &Element<'_>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let depth = index.len();
    let Some(&size) = sizes.get(depth) else { return element(index, f) };
    f.write_str("[")?;
    let mut first = true;
    let is_shown = |i: usize| size <= LONGEST || i < ENDS || i >= size - ENDS;
    let mut i = 0;
    while i < size {
        if !first {
            f.write_str(",")?;
            // Rows have lines of their own, and planes are one more line apart.
            let lines = sizes.len() - depth - 1;
            if lines == 0 {
                f.write_str(" ")?;
            } else {
                (0..lines).try_for_each(|_| f.write_str("\n"))?;
                (0..=depth).try_for_each(|_| f.write_str(" "))?;
            }
        }
        first = false;
        if is_shown(i) {
            index.push(i);
            dimension(index, sizes, element, f)?;
            index.pop();
            i += 1;
        } else {
            f.write_str("…")?;
            i = size - ENDS;
        }
    }
    f.write_str("]")
}
