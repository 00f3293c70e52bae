//! Arrays in the memory of a device.

use crate::abi::{
    Api, BufferDestroyArgs, BufferDimensionsArgs, BufferElementTypeArgs, BufferMemoryLayout, BufferMemoryLayoutTiled,
    BufferOnDeviceSizeArgs, BufferReadyEventArgs, BufferToHostBufferArgs, LayoutsBufferMemoryLayoutArgs,
    LayoutsExtension, RawBuffer, TILED,
};
use crate::client::Client;
use crate::element;
use crate::error::{Error, ErrorCode, Result};
use crate::event::Event;
use crate::layout::OwnedLayout;
use crate::plugin::Plugin;
use crate::raw;
use std::ptr::{NonNull, null_mut};
use xla_shape::{ArrayShape, DynBuffer, Layout, TileDimension};

/// An array in the memory of a device.
///
/// No test has run this on a TPU or a GPU: it is tested with a plug-in that pretends to have devices.
#[derive(Debug)]
pub struct DeviceBuffer {
    client: Client,
    raw: NonNull<RawBuffer>,
}

// SAFETY: XLA's buffers may be used from any thread, and the interface demands that of others too.
unsafe impl Send for DeviceBuffer {}
// SAFETY: as above.
unsafe impl Sync for DeviceBuffer {}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        let args = BufferDestroyArgs { buffer: self.raw.as_ptr(), ..Default::default() };
        // SAFETY: the array is the plug-in's and ours to destroy, once.
        let destroyed = unsafe { self.plugin().functions().call(&Api::PJRT_Buffer_Destroy, args) };
        // Nothing is left to do where a plug-in cannot destroy what it made.
        drop(destroyed);
    }
}

impl DeviceBuffer {
    /// # Safety
    /// `raw` is an array of this client that was made for its caller, who hands it over.
    pub(crate) unsafe fn new(client: Client, raw: NonNull<RawBuffer>) -> Self {
        Self { client, raw }
    }

    fn plugin(&self) -> &Plugin {
        self.client.plugin()
    }

    fn raw(&self) -> *mut RawBuffer {
        self.raw.as_ptr()
    }

    /// The array's shape, with its layout on the device; without tiles if the plug-in does not say.
    ///
    /// # Errors
    /// If what the plug-in says is not a valid array.
    pub fn shape(&self) -> Result<ArrayShape> {
        let functions = self.plugin().functions();
        let call = &Api::PJRT_Buffer_ElementType;
        // SAFETY: the array is not destroyed before `self`.
        let args = unsafe { functions.call(call, BufferElementTypeArgs { buffer: self.raw(), ..Default::default() }) }?;
        let element_type = element::from_number(call.name, args.r#type)?;
        let call = &Api::PJRT_Buffer_Dimensions;
        // SAFETY: as above.
        let args = unsafe { functions.call(call, BufferDimensionsArgs { buffer: self.raw(), ..Default::default() }) }?;
        // SAFETY: the list lives as long as the array.
        let sizes = unsafe { raw::list(args.dims, args.num_dims) };
        let sizes = sizes.ok_or_else(|| Error::answer(call.name, "the list is null"))?;
        let sizes = sizes.iter().map(|&size| u64::try_from(size)).collect::<std::result::Result<Vec<_>, _>>();
        let sizes = sizes.map_err(|_| Error::answer(call.name, "a size is negative"))?;
        let array = ArrayShape::with_default_layout(element_type, &sizes)?;
        if !functions.has_layouts() {
            return Ok(array);
        }
        let call = &LayoutsExtension::PJRT_Layouts_PJRT_Buffer_MemoryLayout;
        let args = LayoutsBufferMemoryLayoutArgs { buffer: self.raw(), ..Default::default() };
        // SAFETY: as above.
        let args = unsafe { functions.call_layouts(call, args) }?;
        // SAFETY: the layout was made for this call.
        let layout = unsafe { OwnedLayout::new(self.plugin(), args.layout) };
        Ok(array.with_layout(layout.read(call.name)?)?)
    }

    /// How many bytes it takes on the device.
    ///
    /// # Errors
    /// If the plug-in does not say.
    pub fn byte_size(&self) -> Result<u64> {
        let args = BufferOnDeviceSizeArgs { buffer: self.raw(), ..Default::default() };
        // SAFETY: the array is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(&Api::PJRT_Buffer_OnDeviceSizeInBytes, args) }?;
        Ok(args.on_device_size_in_bytes as u64)
    }

    /// Waits until the array is there.
    ///
    /// # Errors
    /// If what makes it failed.
    pub fn wait(&self) -> Result<()> {
        let args = BufferReadyEventArgs { buffer: self.raw(), ..Default::default() };
        // SAFETY: the array is not destroyed before `self`.
        let args = unsafe { self.plugin().functions().call(&Api::PJRT_Buffer_ReadyEvent, args) }?;
        // SAFETY: the event was made for this call.
        unsafe { Event::new(self.plugin(), args.event) }.wait()
    }

    /// Copies the array into this machine's memory, in the layout that is asked for.
    ///
    /// A layout that the interface cannot say, or that the plug-in refuses, is made here: the array is copied row by row, and
    /// into the layout then.
    ///
    /// # Errors
    /// If the array cannot be copied, the layout does not fit the array, or there is not enough memory.
    pub fn to_host(&self, layout: &Layout) -> Result<DynBuffer> {
        let plain = row_major(&self.shape()?)?;
        let wanted = plain.clone().with_layout(layout.clone())?;
        if let Ok(tiled) = TiledLayout::new(layout) {
            match self.copy(&tiled, wanted.clone()) {
                Err(Error::Plugin { error, .. })
                    if matches!(error.code, ErrorCode::Unimplemented | ErrorCode::InvalidArgument) => {}
                copied => return copied,
            }
        }
        let rows = self.copy(&TiledLayout::new(plain.layout())?, plain)?;
        let mut copy = DynBuffer::zeroed_with(wanted)?;
        rows.relayout_into(&mut copy)?;
        Ok(copy)
    }

    /// Copies the array as the plug-in does it.
    fn copy(&self, layout: &TiledLayout, shape: ArrayShape) -> Result<DynBuffer> {
        let mut raw_layout = layout.raw();
        let mut ask = |dst: *mut u8, dst_size: usize| {
            let args = BufferToHostBufferArgs {
                src: self.raw(),
                host_layout: &raw mut raw_layout,
                dst: dst.cast(),
                dst_size,
                ..Default::default()
            };
            // SAFETY: the array is not destroyed before `self`, the layout is there while the call runs, and `dst` is null, or has
            // `dst_size` bytes that are there until the event has happened.
            unsafe { self.plugin().functions().call(&Api::PJRT_Buffer_ToHostBuffer, args) }
        };
        let size = ask(null_mut(), 0)?.dst_size;
        let mut copy = DynBuffer::zeroed_with(shape)?;
        let bytes = copy.as_bytes_mut();
        if size > bytes.len() {
            let problem = format!("{size} bytes for an array of {}", bytes.len());
            return Err(Error::answer(Api::PJRT_Buffer_ToHostBuffer.name, problem));
        }
        let args = ask(bytes.as_mut_ptr(), bytes.len())?;
        // SAFETY: the event was made for this call.
        let event = unsafe { Event::new(self.plugin(), args.event) };
        let waited = event.wait();
        if waited.is_err() && !matches!(waited, Err(Error::Plugin { .. })) {
            // Nobody can say when the plug-in has written its last byte.
            std::mem::forget(copy);
            return Err(waited.err().unwrap_or_else(|| Error::answer(Api::PJRT_Event_Await.name, "nothing")));
        }
        waited?;
        Ok(copy)
    }
}

/// A layout as the interface takes it: an order and tiles.
pub(crate) struct TiledLayout {
    minor_to_major: Vec<i64>,
    tile_dims: Vec<i64>,
    tile_dim_sizes: Vec<usize>,
}

impl TiledLayout {
    /// Fails for layouts that say more than an order and tiles.
    pub(crate) fn new(layout: &Layout) -> Result<Self> {
        let plain = Layout::new(layout.minor_to_major())?.with_tiles(layout.tiles())?;
        if plain != *layout {
            let problem = format!("the interface has only the order and the tiles of a layout, not all of {layout}");
            return Err(Error::answer("a layout", problem));
        }
        let size = |size: &TileDimension| match size {
            TileDimension::Size(size) => size.cast_signed(),
            // This is how XLA writes `*`.
            TileDimension::Combine => i64::MIN,
        };
        Ok(Self {
            minor_to_major: layout.minor_to_major().iter().map(|&dimension| dimension as i64).collect(),
            tile_dims: layout.tiles().iter().flat_map(|tile| tile.dimensions().iter().map(size)).collect(),
            tile_dim_sizes: layout.tiles().iter().map(|tile| tile.dimensions().len()).collect(),
        })
    }

    /// What the interface takes, pointing into `self`.
    pub(crate) fn raw(&self) -> BufferMemoryLayout {
        BufferMemoryLayout {
            tiled: BufferMemoryLayoutTiled {
                minor_to_major: self.minor_to_major.as_ptr(),
                minor_to_major_size: self.minor_to_major.len(),
                tile_dims: self.tile_dims.as_ptr(),
                tile_dim_sizes: self.tile_dim_sizes.as_ptr(),
                num_tiles: self.tile_dim_sizes.len(),
                ..Default::default()
            },
            r#type: TILED,
            ..Default::default()
        }
    }
}

/// The same array as the interface takes it from this machine: row by row, each element in whole bytes.
pub(crate) fn row_major(shape: &ArrayShape) -> Result<ArrayShape> {
    let sizes = shape.dimensions().iter().map(|size| size.extent()).collect::<Option<Vec<_>>>();
    let sizes = sizes.ok_or_else(|| Error::answer("an array", "a dimension is unbounded"))?;
    Ok(ArrayShape::with_default_layout(shape.element_type(), &sizes)?)
}
