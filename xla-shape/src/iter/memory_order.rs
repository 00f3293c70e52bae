//! Elements with their indices, in the order of memory.

use super::memory::Memory;
use crate::buffer::{AccessError, Buffer, Bytes, DynShape};
use crate::element::Stored;
use crate::types::{MultiIndex, ValueOf, WholeArray};
use xla_shape_core::Slot;
use xla_shape_relayout::wide::local;

impl<S: WholeArray<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// Calls `f` with every element and its index, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s4[2,2]{0,1:E(4)})>::zeroed();
    /// let mut indices = Vec::new();
    /// x.for_each_indexed(|index, _| indices.push(index));
    /// assert_eq!(indices, [[0, 0], [1, 0], [0, 1], [1, 1]]);
    /// ```
    pub fn for_each_indexed(&self, mut f: impl FnMut(S::Index, ValueOf<S>)) {
        self.for_each_position(|slot, value| slot.element().into_iter().for_each(|index| f(index, value)));
    }

    /// Calls `f` with what is at each position, in the order of memory: elements with their indices, and padding. The second argument is
    /// the value in memory, also for padding.
    ///
    /// Tail padding, which `L(n)` in the layout causes, is left out.
    ///
    /// ```
    /// use xla_shape::{Buffer, Slot, shape};
    ///
    /// let x = Buffer::<shape!(s32[3]{0:T(2)})>::from_fn(|[i]| 10 + i as i32);
    /// let mut found = Vec::new();
    /// x.for_each_position(|slot, value| found.push((slot, value)));
    /// assert_eq!(found[2..], [(Slot::Element([2]), 12), (Slot::Padding, 0)]);
    /// ```
    pub fn for_each_position(&self, mut f: impl FnMut(Slot<S::Index>, ValueOf<S>)) {
        self.shape().with_table(|table| {
            table.for_each_slot(|position, slot| {
                let slot = slot.map(|entries| {
                    let mut index = S::Index::ORIGIN;
                    index.as_mut().copy_from_slice(local(entries));
                    index
                });
                // SAFETY: positions of the table hold elements or padding of this whole array, within its memory.
                f(slot, unsafe { self.cells().read(position as usize) });
            });
        });
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// Calls `f` with every element and its index, in the order of memory.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::zeroed_with("s32[2,2]{0,1}".parse()?)?;
    /// let mut indices = Vec::new();
    /// x.for_each_indexed::<S32>(|index, _| indices.push(index.to_vec()))?;
    /// assert_eq!(indices, [[0, 0], [1, 0], [0, 1], [1, 1]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn for_each_indexed<E: Stored>(&self, mut f: impl FnMut(&[usize], E::Value)) -> Result<(), AccessError> {
        self.for_each_position::<E>(|slot, value| slot.element().into_iter().for_each(|index| f(index, value)))
    }

    /// Calls `f` with what is at each position, in the order of memory: elements with their indices, and padding. The second argument is
    /// the value in memory, also for padding.
    ///
    /// Tail padding, which `L(n)` in the layout causes, is left out.
    ///
    /// ```
    /// use xla_shape::element::S32;
    /// use xla_shape::{DynBuffer, Slot};
    ///
    /// let x = DynBuffer::from_fn_with::<S32>("s32[3]{0:T(2)}".parse()?, |index| 10 + index[0] as i32)?;
    /// let mut found = Vec::new();
    /// x.for_each_position::<S32>(|slot, value| found.push((slot.map(|index| index[0]), value)))?;
    /// assert_eq!(found[2..], [(Slot::Element(2), 12), (Slot::Padding, 0)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn for_each_position<E: Stored>(&self, mut f: impl FnMut(Slot<&[usize]>, E::Value)) -> Result<(), AccessError> {
        self.check_type::<E>()?;
        // SAFETY: `check_type`: the elements are of type `E`.
        let cells = unsafe { self.cells::<E>() };
        self.stride_table().as_ref().for_each_slot(|position, slot| {
            // SAFETY: positions of the table hold elements or padding of this whole array, within its memory.
            f(slot.map(local), unsafe { cells.read(position as usize) });
        });
        Ok(())
    }
}
