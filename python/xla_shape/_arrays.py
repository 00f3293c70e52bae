"""Conversion between `Buffer` and arrays: NumPy's, and those that NumPy reads without a copy."""

from __future__ import annotations

import sys
from collections.abc import Sequence
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

__all__ = ["as_array", "from_dlpack", "jax_array", "linear_index", "multi_index", "relayout", "to_numpy"]


@overload
def relayout(
    array: Any,
    to: str | Layout | Shape | None = None,
    *,
    from_: str | Shape | None = None,
    permute: Sequence[int] | None = None,
    threads: int | None = None,
    out: None = None,
) -> Buffer: ...
@overload
def relayout(
    array: Any,
    to: str | Layout | Shape | None = None,
    *,
    from_: str | Shape | None = None,
    permute: Sequence[int] | None = None,
    threads: int | None = None,
    out: _Out,
) -> _Out: ...
def relayout(
    array: Any,
    to: str | Layout | Shape | None = None,
    *,
    from_: str | Shape | None = None,
    permute: Sequence[int] | None = None,
    threads: int | None = None,
    out: Any = None,
) -> Any:
    """Copies an array to another layout.

    array: any array that NumPy accepts (strided and read-only ones are not copied first), an object with `__dlpack__`, or a
        `Buffer`; with `from_`, the bytes of an array of that shape.
    to: the layout of the result, or its whole shape; row-major by default.
    permute: first reorders the dimensions: entry i is the dimension of `array` that becomes dimension i, as in `numpy.transpose`.
    threads: the number of threads; by default, and at most, the number of processors.
    out: memory for the result, which is returned instead of a new `Buffer`: a NumPy array, a torch tensor, a `bytearray`, or any other
        object with a writable buffer. It has as many bytes as the result, contiguous and row-major, and does not overlap with `array`.
        Only elements are written: padding keeps its content. After an error, `out` is unchanged.
    """
    if from_ is None:
        done = _native.relayout_plain(array, to, permute, threads, out)
        if done is not None:
            return done
    lent = None
    source: Any
    if from_ is None and not isinstance(array, (Buffer, np.ndarray)) and hasattr(array, "__dlpack__"):
        lent = _lent(array)
    if lent is not None:
        source, shape, strided = lent, lent.shape, True
    elif from_ is not None:
        shape, strided = Shape(from_), False
        source = array if isinstance(array, Buffer) else _bytes_of(array)
        if permute is not None:
            # The bytes as an array of this shape.
            source = Buffer(shape, source.data if isinstance(source, Buffer) else source)
    elif isinstance(array, Buffer):
        source, shape, strided = array, array.shape, False
    else:
        found = np.asarray(array)
        shape, strided = Shape.of(found.dtype, found.shape), True
        # The buffer protocol may lack the element type, so the array is passed as bytes.
        source = found[..., np.newaxis].view(np.uint8)
    if permute is not None:
        source, shape = _permuted(source, shape, list(permute))
    if out is None:
        return _native.relayout(source, shape, to, strided, threads)
    _native.relayout_into(source, shape, to, strided, threads, _bytes_of(out))
    return out


def _permuted(source: Any, shape: Shape, permute: list[int]) -> tuple[Any, Shape]:
    if isinstance(source, Buffer):
        source = source._transposed(permute)
        return source, source.shape
    # The last dimension of the array is the bytes of an element.
    empty = Buffer(Shape.of("u8", [0] * shape.ndim), b"")._transposed(permute)
    sizes = [shape.dimensions[number] for number in permute]
    return np.asarray(source).transpose([*permute, empty.ndim]), Shape.of(shape.element_type, sizes)


def from_dlpack(array: Any) -> Buffer:
    """A `Buffer` of another library's array, without a copy, through DLPack. The array must be on the CPU and contiguous.

    Its elements may also be bf16 or f8. Nobody may write the array while the buffer exists. Arrays that `from_dlpack` does not accept can be copied
    with `relayout`.
    """
    return _native.buffer_of_capsule(_capsule(array))


def _capsule(array: Any) -> Any:
    try:
        return array.__dlpack__(max_version=(1, 1))
    except TypeError:
        # The library does not support versions of DLPack.
        return array.__dlpack__()


def _lent(array: Any) -> _native.Tensor | None:
    """The array without a copy, with any strides; `None` if NumPy must convert it."""
    try:
        return _native.tensor_of_capsule(_capsule(array))
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        # The array is on another device, its elements are packed, or DLPack does not have its element type.
        if hasattr(array, "__array__"):
            return None
        raise


def _bytes_of(array: Any) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        if not array.is_contiguous():
            raise ShapeError("expected bytes in one piece, found a tensor with gaps or in another order")
        # NumPy lacks some of torch's types, so the elements are viewed as bytes first.
        return array.detach().reshape(-1).view(torch.uint8).numpy()
    if not isinstance(array, np.ndarray):
        return array
    if not array.flags.c_contiguous:
        raise ShapeError("expected bytes in one piece, found an array with gaps or in another order")
    return array.reshape(-1).view(np.uint8)


def to_numpy(buffer: Buffer) -> npt.NDArray[Any]:
    """The elements of a buffer: read-only and in the same memory if the layout has no tiles and every element takes whole bytes, otherwise a copy."""
    return np.ndarray(*buffer._for_numpy(True))


def jax_array(buffer: Buffer) -> Any:
    """The array for `jax.numpy`."""
    import jax.numpy as jnp

    return jnp.asarray(to_numpy(buffer))


def as_array(buffer: Buffer, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
    """The array for `numpy.asarray`."""
    if copy is False and buffer._for_numpy(False) is None:
        raise ValueError(f"the elements of {buffer.shape} have no strides: only a copy is an array of NumPy")
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
        # Numbers this large are out of bounds of every array, also after they are cut to int64.
        found = np.minimum(found, np.iinfo(np.int64).max)
    return np.ascontiguousarray(found, np.int64)


def linear_index(shape: Shape, index: Any) -> Any:
    """The indices as one array, from a tuple of arrays for the dimensions, or an array whose last dimension is an index."""
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
    """An array whose last dimension is the index of each position, -1 for padding."""
    found = _integers(positions)
    indices = np.empty((*np.shape(positions), shape.num_dimensions), np.int64)
    _native.multi_indices(shape, found.reshape(-1), indices.reshape(-1))
    return indices
