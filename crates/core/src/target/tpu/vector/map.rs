//! [`VectorMap`]: from an element to its register, sublane, lane and part, and back.

use super::{ImplicitDimensions, LANES, Offset, SUBLANES, VectorLayout, VectorLayoutError};
use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::layout::tile::Tile;
use crate::map::{Slot, StrideTable};
use crate::shape::array::ArrayShape;
use alloc::vec::Vec;

/// The location of an element in the registers of a vector.
///
/// ```
/// use xla_shape_core::tpu::vector::{Location, VectorLayout};
///
/// let layout: VectorLayout = "32,{0,0},(8,128)".parse()?;
/// // Row 9 is row 1 of the second row of registers; the vector has two registers in a row.
/// let location = layout.map(&[16, 256])?.location(&[9, 5]);
/// assert_eq!(location, Some(Location { register: 2, sublane: 1, lane: 5, part: 0 }));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Location {
    /// The register, in row-major order of [`VectorMap::grid`].
    pub register: u64,
    /// The sublane of the register: 0 to 7.
    pub sublane: u64,
    /// The lane of the sublane: 0 to 127.
    pub lane: u64,
    /// The part of the 32-bit word, where part 0 has the lowest bits: 0 to `packing - 1`.
    pub part: u64,
}

/// The location of each element of a vector in registers.
///
/// It is computed with the stride table of an [array in memory](VectorLayout::array) that is tiled by registers, tiles
/// and words.
///
/// ```
/// use xla_shape_core::tpu::vector::VectorLayout;
///
/// let layout: VectorLayout = "16,{0,0},(16,128)".parse()?;
/// let location = layout.map(&[16, 128])?.location(&[3, 5]).unwrap();
/// assert_eq!((location.sublane, location.lane, location.part), (1, 5, 1)); // rows 2 and 3 share sublane 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct VectorMap {
    layout: VectorLayout,
    sizes: Vec<u64>,
    grid: Vec<u64>,
    table: StrideTable,
}

impl VectorLayout {
    /// The rows and columns of a vector of these sizes, including the implicit dimensions.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "32,{0,0},(8,128),-2".parse()?;
    /// assert_eq!(layout.rows_and_columns(&[256])?, [1, 256]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`VectorLayoutError::NumDimensions`] if the vector has fewer dimensions than the layout cuts,
    /// [`VectorLayoutError::NoElements`] if any of its dimensions has size 0.
    pub const fn rows_and_columns(&self, sizes: &[u64]) -> Result<[u64; 2], VectorLayoutError> {
        let mut rest = sizes;
        let mut dimension: usize = 0;
        while let [size, tail @ ..] = rest {
            if *size == 0 {
                return Err(VectorLayoutError::NoElements { dimension });
            }
            dimension += 1;
            rest = tail;
        }
        match (self.implicit, sizes) {
            (ImplicitDimensions::None, [.., rows, columns]) => Ok([*rows, *columns]),
            (ImplicitDimensions::MostMinor, [.., rows]) => Ok([*rows, 1]),
            (ImplicitDimensions::SecondMostMinor, [.., columns]) => Ok([1, *columns]),
            (ImplicitDimensions::Both, _) => Ok([1, 1]),
            _ => Err(VectorLayoutError::NumDimensions { at_least: self.implicit.cut(), found: sizes.len() }),
        }
    }

    /// The number of registers of a vector of these sizes: those of the last two dimensions, multiplied by the leading
    /// dimensions (`VectorLayout::tileArrayShape` in `xla/mosaic/dialect/tpu/layout.cc`).
    ///
    /// # Errors
    ///
    /// If a vector of these sizes cannot have this layout.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "16,{0,0},(16,128)".parse()?;
    /// assert_eq!(layout.registers(&[2, 128, 256])?, 2 * 8 * 2);
    /// let same_in_all_rows: VectorLayout = "32,{*,0},(8,128)".parse()?;
    /// assert_eq!(same_in_all_rows.registers(&[128, 256])?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn registers(&self, sizes: &[u64]) -> Result<u64, VectorLayoutError> {
        let [rows, columns] = match self.cut_grid(sizes) {
            Ok(grid) => grid,
            Err(error) => return Err(error),
        };
        let Some(mut registers) = rows.checked_mul(columns) else { return Err(VectorLayoutError::TooLarge) };
        let mut rest = self.leading(sizes);
        while let [size, tail @ ..] = rest {
            registers = match registers.checked_mul(*size) {
                Some(registers) => registers,
                None => return Err(VectorLayoutError::TooLarge),
            };
            rest = tail;
        }
        // The elements of all registers are counted in an i64.
        match registers.checked_mul(self.register_elements()) {
            Some(elements) if elements <= i64::MAX as u64 => Ok(registers),
            _ => Err(VectorLayoutError::TooLarge),
        }
    }

    /// The numbers of registers: the leading dimensions, then the rows and the columns of registers.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "32,{0,0},(8,128)".parse()?;
    /// assert_eq!(layout.grid(&[2, 16, 256])?, [2, 2, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a vector of these sizes cannot have this layout.
    pub fn grid(&self, sizes: &[u64]) -> Result<Vec<u64>, VectorLayoutError> {
        self.registers(sizes)?;
        let mut grid = self.leading(sizes).to_vec();
        grid.extend(self.cut_grid(sizes)?);
        Ok(grid)
    }

    /// The location of each element of a vector of these sizes.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "32,{0,0},(8,128)".parse()?;
    /// let location = layout.map(&[16, 256])?.location(&[9, 130]).unwrap();
    /// assert_eq!((location.register, location.sublane, location.lane), (3, 1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a vector of these sizes cannot have this layout.
    pub fn map(&self, sizes: &[u64]) -> Result<VectorMap, VectorLayoutError> {
        let array = self.array(sizes)?;
        let table = array.stride_table().map_err(|_| VectorLayoutError::TooLarge)?;
        Ok(VectorMap { layout: *self, sizes: sizes.to_vec(), grid: self.grid(sizes)?, table })
    }

    /// An array in memory whose positions correspond to the parts of the words of the registers, one register after the
    /// other.
    ///
    /// The rows and columns that the offsets skip come first. Along a replicated dimension, the array is as long as
    /// one register.
    ///
    /// # Errors
    ///
    /// If a vector of these sizes cannot have this layout.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "16,{0,0},(8,128)".parse()?;
    /// assert_eq!(layout.array(&[16, 512])?.to_string(), "u16[16,512]{1,0:T(8,256)(8,128)(2,1)}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn array(&self, sizes: &[u64]) -> Result<ArrayShape, VectorLayoutError> {
        let extents = self.rows_and_columns(sizes)?;
        let mut dimensions: Vec<Dimension> = self.leading(sizes).iter().map(|&size| Dimension::Static(size)).collect();
        for ((offset, extent), slice) in self.offsets.into_iter().zip(extents).zip(self.slice()) {
            dimensions.push(Dimension::Static(match offset {
                Offset::Fixed(offset) => offset.checked_add(extent).ok_or(VectorLayoutError::TooLarge)?,
                Offset::Replicated => slice,
            }));
        }
        let words = Tile::from_sizes([self.packing(), 1]);
        let tiles = match self.tile {
            // One row: the parts of a sublane are filled one after the other.
            [1, _] => [Tile::from_sizes(self.slice()), Tile::from_sizes([LANES]), words],
            tile => [Tile::from_sizes(self.slice()), Tile::from_sizes(tile), words],
        };
        let used = if self.packing() == 1 { 2 } else { 3 };
        let layout = Layout::descending(dimensions.len())
            .with_tiles(tiles.get(..used).unwrap_or(&tiles))
            .map_err(|_| VectorLayoutError::TooLarge)?;
        ArrayShape::new(self.unsigned(), &dimensions, layout).map_err(|_| VectorLayoutError::TooLarge)
    }

    /// The unsigned integer type with the elements' bits.
    const fn unsigned(&self) -> ElementType {
        match self.bits {
            1 => ElementType::U1,
            2 => ElementType::U2,
            4 => ElementType::U4,
            8 => ElementType::U8,
            16 => ElementType::U16,
            _ => ElementType::U32,
        }
    }

    /// The leading dimensions, which are not cut into registers.
    const fn leading<'a>(&self, sizes: &'a [u64]) -> &'a [u64] {
        match sizes.split_at_checked(sizes.len().saturating_sub(self.implicit.cut())) {
            Some((leading, _)) => leading,
            None => &[],
        }
    }

    /// The number of elements that fit in a register.
    #[expect(clippy::arithmetic_side_effects, reason = "at most 32,768")]
    const fn register_elements(&self) -> u64 {
        SUBLANES * LANES * self.packing()
    }

    /// The numbers of registers along the rows and the columns.
    const fn cut_grid(&self, sizes: &[u64]) -> Result<[u64; 2], VectorLayoutError> {
        let [rows, columns] = match self.rows_and_columns(sizes) {
            Ok(extents) => extents,
            Err(error) => return Err(error),
        };
        let ([row, column], [slice_rows, slice_columns]) = (self.offsets, self.slice());
        match (registers_along(row, rows, slice_rows), registers_along(column, columns, slice_columns)) {
            (Some(rows), Some(columns)) => Ok([rows, columns]),
            _ => Err(VectorLayoutError::TooLarge),
        }
    }
}

/// The number of registers for `extent` rows (or columns), where the first one is at `offset` and a register holds
/// `slice`.
const fn registers_along(offset: Offset, extent: u64, slice: u64) -> Option<u64> {
    match offset {
        Offset::Replicated => Some(1),
        Offset::Fixed(offset) => match offset.checked_add(extent) {
            Some(end) => Some(end.div_ceil(slice)),
            None => None,
        },
    }
}

impl VectorMap {
    /// The numbers of registers: the leading dimensions, then the rows and the columns of registers.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "32,{0,0},(8,128)".parse()?;
    /// let map = layout.map(&[16, 256])?;
    /// assert_eq!(map.grid(), [2, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn grid(&self) -> &[u64] {
        &self.grid
    }

    /// The sizes of the vector.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "32,{0,0},(8,128)".parse()?;
    /// let map = layout.map(&[16, 256])?;
    /// assert_eq!(map.sizes(), [16, 256]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The location of the element with this index; `None` if the vector has no such element.
    ///
    /// Along a replicated dimension, every row or column of the register holds the value; this is the first one.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "32,{0,0},(8,128)".parse()?;
    /// let map = layout.map(&[16, 256])?;
    /// let location = map.location(&[9, 130]).unwrap();
    /// assert_eq!((location.register, location.sublane, location.lane, location.part), (3, 1, 2, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "the divisors are constants and a packing of at least 1")]
    pub fn location(&self, index: &[u64]) -> Option<Location> {
        if index.len() != self.sizes.len() || index.iter().zip(&self.sizes).any(|(entry, size)| entry >= size) {
            return None;
        }
        let [row, column] = self.layout.cut_entries(index);
        let mut whole = self.layout.leading(index).to_vec();
        for (offset, entry) in self.layout.offsets.into_iter().zip([row, column]) {
            whole.push(match offset {
                Offset::Fixed(offset) => offset.checked_add(entry)?,
                Offset::Replicated => 0,
            });
        }
        let position = self.table.as_ref().checked_linear_index(&whole)?;
        let (word, part) = (position / self.layout.packing(), position % self.layout.packing());
        let (sublane, lane) = (word / LANES, word % LANES);
        Some(Location { register: sublane / SUBLANES, sublane: sublane % SUBLANES, lane, part })
    }

    /// The element at a location: padding if no element is there, `None` if the location is outside the registers.
    ///
    /// Along a replicated dimension, this is the first element; all others have the same value.
    ///
    /// ```
    /// use xla_shape_core::Slot;
    /// use xla_shape_core::tpu::vector::{Location, VectorLayout};
    ///
    /// let layout: VectorLayout = "32,{0,0},(8,128)".parse()?;
    /// let map = layout.map(&[16, 256])?;
    /// let location = Location { register: 3, sublane: 1, lane: 2, part: 0 };
    /// assert_eq!(map.element(location), Some(Slot::Element(vec![9, 130])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn element(&self, location: Location) -> Option<Slot<Vec<u64>>> {
        let Location { register, sublane, lane, part } = location;
        if sublane >= SUBLANES || lane >= LANES || part >= self.layout.packing() {
            return None;
        }
        let word = register.checked_mul(SUBLANES)?.checked_add(sublane)?.checked_mul(LANES)?.checked_add(lane)?;
        let position = word.checked_mul(self.layout.packing())?.checked_add(part)?;
        if position >= self.table.as_ref().positions() {
            return None;
        }
        let Slot::Element(mut index) = self.table.as_ref().multi_index(position) else { return Some(Slot::Padding) };
        let column = index.pop()?;
        let row = index.pop()?;
        let extents = self.layout.rows_and_columns(&self.sizes).ok()?;
        let mut cut = [0; 2];
        for (entry, ((offset, found), extent)) in
            cut.iter_mut().zip(self.layout.offsets.into_iter().zip([row, column]).zip(extents))
        {
            *entry = match offset {
                Offset::Replicated => 0,
                Offset::Fixed(offset) => match found.checked_sub(offset) {
                    Some(entry) if entry < extent => entry,
                    _ => return Some(Slot::Padding),
                },
            };
        }
        let [row, column] = cut;
        match self.layout.implicit {
            ImplicitDimensions::None => index.extend([row, column]),
            ImplicitDimensions::MostMinor => index.push(row),
            ImplicitDimensions::SecondMostMinor => index.push(column),
            ImplicitDimensions::Both => {}
        }
        // An implicit dimension has one row or column, and of a replicated one only the first counts.
        Some(Slot::Element(index))
    }
}

impl VectorLayout {
    /// The row and the column of an element, including the implicit dimensions.
    const fn cut_entries(&self, index: &[u64]) -> [u64; 2] {
        match (self.implicit, index) {
            (ImplicitDimensions::None, [.., row, column]) => [*row, *column],
            (ImplicitDimensions::MostMinor, [.., row]) => [*row, 0],
            (ImplicitDimensions::SecondMostMinor, [.., column]) => [0, *column],
            _ => [0, 0],
        }
    }
}
