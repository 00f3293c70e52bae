"""Arrays of NumPy, and of whatever becomes one without a copy, to and from buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from . import _native
from ._dtypes import element_type
from ._errors import ShapeError
from ._native import Buffer, Layout, Shape

if TYPE_CHECKING:
    from typing_extensions import Buffer as BytesLike

_Out = TypeVar("_Out", bound="BytesLike")

__all__ = ["as_array", "from_dlpack", "linear_index", "multi_index", "relayout", "to_numpy"]


@overload
def relayout(
    array: Any,
    to: str | Layout | Shape | None = None,
    *,
    from_: str | Shape | None = None,
    threads: int | None = None,
    out: None = None,
) -> Buffer: ...
@overload
def relayout(
    array: Any,
    to: str | Layout | Shape | None = None,
    *,
    from_: str | Shape | None = None,
    threads: int | None = None,
    out: _Out,
) -> _Out: ...
def relayout(
    array: Any,
    to: str | Layout | Shape | None = None,
    *,
    from_: str | Shape | None = None,
    threads: int | None = None,
    out: Any = None,
) -> Any:
    """Copies an array into another layout.

    array: what NumPy takes as an array (strided and read-only ones are read as they are), an object with `__dlpack__`, or a
        `Buffer`; with `from_`, the bytes of an array of that shape.
    to: the layout of the result, or its whole shape; row-major if it is left out.
    threads: how many work on it; as many as there are processors if it is left out, and never more.
    out: memory for the result, which is returned instead of a new `Buffer`: an array of NumPy, a `bytearray`, or anything else that
        lends memory to be written. It has as many bytes as the result, in one piece and row-major, apart from the memory of `array`.
        Only elements are written: padding keeps what it has. After an error, all of `out` is as it was.
    """
    if from_ is None and not isinstance(array, (Buffer, np.ndarray)) and hasattr(array, "__dlpack__"):
        array = _lent(array)
    if from_ is not None:
        shape, strided = Shape(from_), False
        source = array if isinstance(array, Buffer) else _bytes_of(array)
    elif isinstance(array, Buffer):
        source, shape, strided = array, array.shape, False
    else:
        found = np.asarray(array)
        shape, strided = Shape.of(found.dtype, found.shape), True
        # Its buffer may have an element type that the buffer protocol lacks; bytes it always has.
        source = found[..., np.newaxis].view(np.uint8)
    if out is None:
        return _native.relayout(source, shape, _destination(shape, to), strided, threads)
    _native.relayout_into(source, shape, _destination(shape, to), strided, threads, _bytes_of(out))
    return out


def _destination(shape: Shape, to: str | Layout | Shape | None) -> Shape:
    if to is None:
        return Shape.of(shape.element_type, shape.dimensions)
    if isinstance(to, Shape):
        return to
    if isinstance(to, str) and not to.lstrip().startswith("{"):
        return Shape(to)
    return shape.with_layout(to)


def from_dlpack(array: Any) -> Buffer:
    """Takes the array of another library where it is, if that lends it through DLPack: on the CPU, without gaps.

    It has bf16 and f8 too. Nobody may write the array while the buffer is there.
    """
    try:
        capsule = array.__dlpack__(max_version=(1, 1))
    except TypeError:
        # It is older than versions.
        capsule = array.__dlpack__()
    return _native.buffer_of_capsule(capsule)


def _lent(array: Any) -> Any:
    """The array as a buffer, or as NumPy takes it."""
    try:
        return from_dlpack(array)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        # An older version, a device, gaps, or no element type of DLPack.
        pass
    return array if hasattr(array, "__array__") else np.from_dlpack(array)


def _bytes_of(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return array
    if not array.flags.c_contiguous:
        raise ShapeError("expected bytes in one piece, found an array with gaps or in another order")
    return array.reshape(-1).view(np.uint8)


def to_numpy(buffer: Buffer) -> npt.NDArray[Any]:
    """The elements of a buffer: the same memory, read-only, where its layout has no tiles and whole bytes, else a copy."""
    shape = buffer.shape
    layout = shape.layout
    order = layout.major_to_minor
    plain = Shape.of(shape.element_type, shape.dimensions, Layout.of(layout.minor_to_major))
    if shape.with_layout(plain.layout) != shape or shape.byte_size != plain.byte_size or any(shape.dynamic_dimensions):
        buffer, order = relayout(buffer, plain), layout.major_to_minor
    sizes = tuple(shape.dimensions[dimension] for dimension in order)
    flat = np.frombuffer(buffer.data, np.uint8).view(shape.dtype)
    return flat.reshape(sizes).transpose(np.argsort(order)) if order else flat.reshape(())


def as_array(buffer: Buffer, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
    """What `numpy.asarray` asks for."""
    array = to_numpy(buffer)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"elements of type {array.dtype} become {np.dtype(dtype)} only in a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def _integers(array: Any) -> npt.NDArray[np.int64]:
    found = np.asarray(array)
    if found.size == 0:
        return found.astype(np.int64)
    if found.dtype.kind not in "iu":
        raise TypeError(f"expected whole numbers, found {found.dtype}")
    if found.dtype == np.uint64 and found.max() > np.iinfo(np.int64).max:
        # Larger than any position.
        found = np.minimum(found, np.iinfo(np.int64).max)
    return np.ascontiguousarray(found, np.int64)


def linear_index(shape: Shape, index: Any) -> Any:
    """Of a tuple, an array of numbers for each dimension; of an array, an index in its last dimension."""
    rank = shape.num_dimensions
    if isinstance(index, (tuple, list)) and any(np.ndim(entry) > 0 for entry in index):
        if len(index) != rank:
            raise ShapeError(f"expected {rank} arrays of indices for {shape}, found {len(index)}")
        indices = np.stack(np.broadcast_arrays(*map(_integers, index)), axis=-1)
    else:
        indices = _integers(index)
    if indices.ndim == 0 or indices.shape[-1] != rank:
        raise ShapeError(f"expected indices of {rank} numbers for {shape}, found an array of {indices.shape}")
    positions = np.empty(indices.shape[:-1], np.int64)
    _native.linear_indices(shape, np.ascontiguousarray(indices), positions.reshape(-1))
    return positions if positions.ndim else int(positions)


def multi_index(shape: Shape, positions: Any) -> Any:
    """An index for each position, in the last dimension; -1 in it where there is padding."""
    found = _integers(positions)
    indices = np.empty((*np.shape(positions), shape.num_dimensions), np.int64)
    _native.multi_indices(shape, found.reshape(-1), indices.reshape(-1))
    return indices
