//! The layouts in which a kernel loads and stores whole arrays of vector memory.

use super::{ImplicitDimensions, LANES, Offset, SUBLANES, VectorLayout, VectorLayoutError, WORD_BITS};
use crate::layout::dimension::Dimension;
use crate::layout::tile::TileDimension;
use crate::shape::array::ArrayShape;

impl VectorLayout {
    /// The layout of the vector that a kernel gets when it loads all of an array of vector memory. `None` if that is not known: for arrays of
    /// fewer than two dimensions, with dimensions of size 0 or of unknown sizes, or with tiles that blocks of Pallas do not have.
    ///
    /// The tile is that of the memory. Arrays of 32-bit elements with at most 128 columns have their rows one after the other in memory,
    /// whatever their tile is, so they are loaded in tiles of 8 rows; a single row is loaded into all rows of the register. The rules are read
    /// from what libtpu does with such loads (`infer_vector_layout.cc` in `xla/mosaic/dialect/tpu`).
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let loaded = |array: &str| VectorLayout::of_load(&array.parse().unwrap()).unwrap().to_string();
    /// assert_eq!(loaded("bf16[3,256]{1,0:T(4,128)(2,1)}"), "16,{0,0},(4,128)");
    /// assert_eq!(loaded("f32[1,100]{1,0:T(1,128)}"), "32,{*,0},(8,128)");
    /// ```
    #[must_use]
    pub fn of_load(array: &ArrayShape) -> Option<Self> {
        Self::of_memory(array, Offset::Replicated)
    }

    /// The layout that a vector must have to be stored into all of an array of vector memory. `None` if it is not known, see
    /// [`of_load`](Self::of_load).
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let array = "f32[1,100]{1,0:T(1,128)}".parse()?;
    /// assert_eq!(VectorLayout::of_store(&array).unwrap().to_string(), "32,{0,0},(8,128)");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn of_store(array: &ArrayShape) -> Option<Self> {
        Self::of_memory(array, Offset::Fixed(0))
    }

    /// `one_row` is the row offset of an array of 32-bit elements that has a single row of at most 128 columns.
    fn of_memory(array: &ArrayShape, one_row: Offset) -> Option<Self> {
        let (layout, bits) = (array.layout(), array.element_type().bits());
        let (tile, packed) = layout.tiles().split_first()?;
        let [TileDimension::Size(tile_rows), TileDimension::Size(LANES)] = tile.dimensions() else { return None };
        let rows_of_word = WORD_BITS.checked_div(bits)?;
        let is_packed = match packed {
            [] => rows_of_word == 1,
            [packed] => *packed.dimensions() == [TileDimension::Size(rows_of_word), TileDimension::Size(1)],
            _ => false,
        };
        if !is_packed {
            return None;
        }
        let [.., Dimension::Static(rows), Dimension::Static(columns)] = array.dimensions() else { return None };
        if !layout.is_monotonic_with_dim0_major() || array.elements()? == 0 {
            return None;
        }
        let rows_follow = bits == 32 && *columns <= LANES;
        let row = if rows_follow && *rows == 1 { one_row } else { Offset::Fixed(0) };
        let tile_rows = if rows_follow { SUBLANES } else { *tile_rows };
        Self::new(bits, [row, Offset::Fixed(0)], [tile_rows, LANES], ImplicitDimensions::None).ok()
    }

    /// This layout with tiles that fill 8 sublanes, if its tiles fill fewer. Operations across rows, such as reductions and transposes, need
    /// such tiles.
    ///
    /// # Errors
    ///
    /// If a tile of 8 rows cannot hold the elements: 8 rows of elements of fewer than 4 bits do not fill a word.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let compact: VectorLayout = "16,{0,0},(2,128)".parse()?;
    /// assert_eq!(compact.with_whole_tiles()?.to_string(), "16,{0,0},(8,128)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_whole_tiles(&self) -> Result<Self, VectorLayoutError> {
        match self.tile {
            [rows, LANES] if rows < SUBLANES => Self::new(self.bits, self.offsets, [SUBLANES, LANES], self.implicit),
            _ => Ok(*self),
        }
    }
}
