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

/// An array in the memory of a device (`PJRT_Buffer`).
///
/// It is tested with a plug-in that imitates devices, not with a real TPU or GPU.
#[derive(Debug)]
pub struct DeviceBuffer {
    client: Client,
    raw: NonNull<RawBuffer>,
}

// SAFETY: the functions of the interface may be called from any thread, also for the same buffer (*threads*).
unsafe impl Send for DeviceBuffer {}
// SAFETY: as above.
unsafe impl Sync for DeviceBuffer {}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        let args = BufferDestroyArgs { buffer: self.raw.as_ptr(), ..Default::default() };
        // SAFETY: the buffer belongs to `self` (*objects*) and is destroyed here only; `self` keeps its client alive.
        let destroyed = unsafe { self.plugin().functions().call(&Api::PJRT_Buffer_Destroy, args) };
        // `drop` cannot report an error; the object then leaks inside the plug-in.
        drop(destroyed);
    }
}

impl DeviceBuffer {
    /// # Safety
    /// `raw` is a buffer that a call has created with this client. The caller gives up ownership of it: nobody else uses or destroys it.
    pub(crate) unsafe fn new(client: Client, raw: NonNull<RawBuffer>) -> Self {
        Self { client, raw }
    }

    fn plugin(&self) -> &Plugin {
        self.client.plugin()
    }

    fn raw(&self) -> *mut RawBuffer {
        self.raw.as_ptr()
    }

    /// The array's shape with its layout on the device. If the plug-in does not report layouts, the layout is row-major without
    /// tiles.
    ///
    /// ```no_run
    /// # fn example(buffer: &xla_shape_pjrt::DeviceBuffer) -> xla_shape_pjrt::Result<()> {
    /// println!("{}", buffer.shape()?); // such as f32[100,200]{0,1:T(8,128)}
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in refuses a call, or its answers do not form a valid shape.
    pub fn shape(&self) -> Result<ArrayShape> {
        let functions = self.plugin().functions();
        let call = &Api::PJRT_Buffer_ElementType;
        // SAFETY: `self` keeps the buffer alive (*objects*); the arguments have no other pointer.
        let args = unsafe { functions.call(call, BufferElementTypeArgs { buffer: self.raw(), ..Default::default() }) }?;
        let element_type = element::from_number(call.name, args.r#type)?;
        let call = &Api::PJRT_Buffer_Dimensions;
        // SAFETY: as above.
        let args = unsafe { functions.call(call, BufferDimensionsArgs { buffer: self.raw(), ..Default::default() }) }?;
        // SAFETY: the list belongs to the buffer (*answers*), which `self` keeps alive.
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
        // SAFETY: the call has created the layout for its caller (*objects*).
        let layout = unsafe { OwnedLayout::new(self.plugin(), args.layout) };
        Ok(array.with_layout(layout.read(call.name)?)?)
    }

    /// The bytes that the array takes on the device, padding included.
    ///
    /// ```no_run
    /// # fn example(buffer: &xla_shape_pjrt::DeviceBuffer) -> xla_shape_pjrt::Result<()> {
    /// println!("{} bytes of HBM", buffer.byte_size()?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the plug-in does not have the call, or refuses it.
    pub fn byte_size(&self) -> Result<u64> {
        let args = BufferOnDeviceSizeArgs { buffer: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the buffer alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(&Api::PJRT_Buffer_OnDeviceSizeInBytes, args) }?;
        Ok(args.on_device_size_in_bytes as u64)
    }

    /// Waits until the array's content is complete.
    ///
    /// ```no_run
    /// # fn example(device: &xla_shape_pjrt::Device, array: &xla_shape::DynView<'_>) -> xla_shape_pjrt::Result<()> {
    /// let buffer = device.put(array, None)?;
    /// buffer.wait()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the copy or the program that produces it has failed.
    pub fn wait(&self) -> Result<()> {
        let args = BufferReadyEventArgs { buffer: self.raw(), ..Default::default() };
        // SAFETY: `self` keeps the buffer alive (*objects*); the arguments have no other pointer.
        let args = unsafe { self.plugin().functions().call(&Api::PJRT_Buffer_ReadyEvent, args) }?;
        // SAFETY: the call has created the event for its caller (*objects*).
        unsafe { Event::new(self.plugin(), args.event) }.wait()
    }

    /// Copies the array to the host, into this layout.
    ///
    /// If the interface cannot describe the layout, or the plug-in refuses it, the array is first copied to a row-major array, and from there into
    /// the layout.
    ///
    /// ```no_run
    /// use xla_shape::element::F32;
    ///
    /// # fn example(buffer: &xla_shape_pjrt::DeviceBuffer) -> Result<(), Box<dyn std::error::Error>> {
    /// let host = buffer.to_host(&"{1,0}".parse()?)?;
    /// println!("{}", host.get::<F32>(&[0, 0])?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the copy fails, the layout is not one of the array's shape, or there is not enough memory.
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

    /// Copies the array with the plug-in's own conversion to this layout; `shape` has the same layout.
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
            // SAFETY: `self` keeps the buffer alive, and `raw_layout`, which points into `layout`, lives until the call returns.
            // `dst` is null, or points to the `dst_size` bytes of `copy`, which is kept until the event has been awaited, or leaked.
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
        // SAFETY: the call has created the event for its caller (*objects*).
        let event = unsafe { Event::new(self.plugin(), args.event) };
        let waited = event.wait();
        if waited.is_err() && !matches!(waited, Err(Error::Plugin { .. })) {
            // The plug-in may still be writing into `copy`, so its memory must never be freed.
            std::mem::forget(copy);
            return Err(waited.err().unwrap_or_else(|| Error::answer(Api::PJRT_Event_Await.name, "nothing")));
        }
        waited?;
        Ok(copy)
    }
}

/// A layout as the interface describes it: an order of dimensions, and tiles.
pub(crate) struct TiledLayout {
    minor_to_major: Vec<i64>,
    tile_dims: Vec<i64>,
    tile_dim_sizes: Vec<usize>,
}

impl TiledLayout {
    /// # Errors
    /// If the layout has anything other than an order and tiles.
    pub(crate) fn new(layout: &Layout) -> Result<Self> {
        let plain = Layout::new(layout.minor_to_major())?.with_tiles(layout.tiles())?;
        if plain != *layout {
            let problem =
                format!("{layout} has attributes other than an order and tiles, which the interface does not have");
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

    /// The struct of the interface; it points into `self`.
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

/// The shape in which the interface takes this array from the host: row-major, with whole bytes for each element.
pub(crate) fn row_major(shape: &ArrayShape) -> Result<ArrayShape> {
    let sizes = shape.dimensions().iter().map(|size| size.extent()).collect::<Option<Vec<_>>>();
    let sizes = sizes.ok_or_else(|| Error::answer("an array", "a dimension is unbounded"))?;
    Ok(ArrayShape::with_default_layout(shape.element_type(), &sizes)?)
}
