//! A second implementation of the positions of elements. It follows the definition of tiled layouts step by step, is slow, works on vectors, and uses
//! no code of the library. Only the text of a shape leads to the library.

use std::fmt::{self, Display};

/// An array with static sizes in a dense layout.
#[derive(Clone, Debug)]
pub struct ReferenceShape {
    /// The sizes of the dimensions, dimension 0 first.
    pub sizes: Vec<u64>,
    /// The dimensions from the fastest varying one to the slowest.
    pub minor_to_major: Vec<usize>,
    /// The tiles, in the order in which they apply; `None` is `*`.
    pub tiles: Vec<Vec<Option<u64>>>,
    /// `L`: the number of elements is padded to a multiple of this.
    pub tail_alignment: u64,
    /// `E`: the bits of an element; 0 for the usual number of its type.
    pub element_bits: u64,
    /// `M`: the bytes before the elements.
    pub prefix: u64,
}

impl ReferenceShape {
    /// The sizes and an index after every tile has been applied, most major first.
    fn tiled(&self, index: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let major_to_minor = || self.minor_to_major.iter().rev();
        let mut d: Vec<u64> = major_to_minor().map(|&i| self.sizes[i]).collect();
        let mut e: Vec<u64> = major_to_minor().map(|&i| index[i]).collect();
        for tile in &self.tiles {
            while d.len() < tile.len() {
                d.insert(0, 1);
                e.insert(0, 0);
            }
            // The part of `d` and `e` that the tile covers. Each `*` combines its dimension with the next more minor one.
            let mut covered = d.split_off(d.len() - tile.len());
            let mut places = e.split_off(d.len());
            let mut sizes = Vec::new();
            for (i, entry) in tile.iter().enumerate() {
                match entry {
                    Some(size) => sizes.push(*size),
                    None => {
                        places[i + 1] += places[i] * covered[i + 1];
                        covered[i + 1] *= covered[i];
                    }
                }
            }
            let kept = |numbers: Vec<u64>| -> Vec<u64> {
                numbers.into_iter().zip(tile).filter(|(_, entry)| entry.is_some()).map(|(number, _)| number).collect()
            };
            let (covered, places) = (kept(covered), kept(places));
            for i in 0..sizes.len() {
                d.push(covered[i].div_ceil(sizes[i]));
                e.push(places[i] / sizes[i]);
            }
            for i in 0..sizes.len() {
                d.push(sizes[i]);
                e.push(places[i] % sizes[i]);
            }
        }
        (d, e)
    }

    /// The position of an element, in elements.
    #[must_use]
    pub fn linear_index(&self, index: &[u64]) -> u64 {
        let (d, e) = self.tiled(index);
        d.iter().zip(&e).fold(0, |position, (size, digit)| position * size + digit)
    }

    /// The number of positions that the array takes, padding included.
    #[must_use]
    pub fn physical_elements(&self) -> u64 {
        let (d, _) = self.tiled(&vec![0; self.sizes.len()]);
        d.iter().product::<u64>().next_multiple_of(self.tail_alignment)
    }

    /// The bytes that the array takes, if an element of its type takes `type_bytes`.
    #[must_use]
    pub fn byte_size(&self, type_bytes: u64) -> u64 {
        let elements = match self.element_bits {
            0 => self.physical_elements() * type_bytes,
            bits => (self.physical_elements() * bits).div_ceil(8),
        };
        elements + self.prefix
    }

    /// Every index, in row-major order.
    #[must_use]
    pub fn indices(&self) -> Vec<Vec<u64>> {
        self.sizes.iter().fold(vec![vec![]], |indices, &size| {
            indices
                .into_iter()
                .flat_map(|index| (0..size).map(move |i| index.iter().copied().chain([i]).collect()))
                .collect()
        })
    }

    /// For each position, the index of its element, or `None` for padding.
    ///
    /// # Panics
    /// If two elements have the same position, which is impossible in any layout.
    #[must_use]
    pub fn map(&self) -> Vec<Option<Vec<u64>>> {
        let mut map = vec![None; self.physical_elements() as usize];
        for index in self.indices() {
            let position = self.linear_index(&index);
            let before = map[position as usize].replace(index);
            assert!(before.is_none(), "two elements of {self} lie at {position}");
        }
        map
    }
}

/// The text of the shape, without its element type.
impl Display for ReferenceShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<N: ToString>(numbers: &[N]) -> String {
            numbers.iter().map(N::to_string).collect::<Vec<_>>().join(",")
        }
        write!(f, "[{}]{{{}:", list(&self.sizes), list(&self.minor_to_major))?;
        for (i, tile) in self.tiles.iter().enumerate() {
            let entries = tile.iter().map(|entry| entry.map_or("*".to_owned(), |size| size.to_string()));
            write!(f, "{}({})", if i == 0 { "T" } else { "" }, entries.collect::<Vec<_>>().join(","))?;
        }
        write!(f, "L({})E({})M({})}}", self.tail_alignment, self.element_bits, self.prefix)
    }
}
