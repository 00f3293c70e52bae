"""Shared memory: arrays of other libraries through DLPack, and ours in other libraries, also through the buffer protocol."""

import ctypes
import hashlib

import ml_dtypes
import numpy as np
import pytest
import xla_shape
from test_arrays import DTYPES, LAYOUTS, STRIDED, by_definition, numbers
from xla_shape import Buffer, Shape, ShapeError, relayout


def test_dlpack():
    class Lender:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    for array in (numbers(10, 200), numbers(10, 200).T, numbers(20, 200)[::2], numbers(0, 3), np.float32(2) + numbers(1)):
        assert np.array_equal(relayout(Lender(array), None).numpy(), array)
    array = numbers(10, 200)
    buffer = xla_shape.from_dlpack(array.T)
    assert buffer.shape == Shape("f32[200,10]{0,1}") and np.shares_memory(buffer.numpy(), array)
    assert np.array_equal(buffer.numpy(), array.T)
    with pytest.raises(ShapeError):
        xla_shape.from_dlpack(array[:, ::2])
    with pytest.raises((BufferError, AttributeError)):
        xla_shape.from_dlpack(np.array(["text"]))


def test_dlpack_out():
    array = numbers(10, 200)
    strided = Buffer("f32[200,10]{0,1}", array)
    assert np.shares_memory(np.from_dlpack(strided), array) and np.array_equal(np.from_dlpack(strided), array.T)
    assert not np.from_dlpack(strided).flags.writeable
    copy = np.from_dlpack(strided, copy=True)
    assert not np.shares_memory(copy, array) and copy.flags.writeable and np.array_equal(copy, array.T)
    # Tiles have no strides.
    tiled = relayout(array, "{1,0:T(8,128)}")
    assert np.array_equal(np.from_dlpack(tiled), array)
    with pytest.raises(BufferError, match="tiles that cut dimension 1"):
        np.from_dlpack(tiled, copy=False)
    with pytest.raises(BufferError, match="read-only"):
        strided.__dlpack__(copy=False)
    for options in ({"stream": 1}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError, match="expected the CPU"):
            strided.__dlpack__(max_version=(1, 1), **options)
    assert strided.__dlpack_device__() == (1, 0)
    # These bytes begin at an odd address, so they are not aligned for f32.
    raw = np.frombuffer(b"?" + array.tobytes(), np.uint8)[1:]
    assert np.array_equal(np.from_dlpack(Buffer("f32[10,200]", raw)), array)
    for sizes in ((), (0, 3), (1, 1)):
        found = np.from_dlpack(relayout(numbers(*sizes)))
        assert found.shape == sizes and np.array_equal(found, numbers(*sizes))
    for dtype in DTYPES:
        array = numbers(10, 200, dtype=dtype)
        if dtype in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float4_e2m1fn):
            # DLPack before version 1.1 cannot express that each element takes a byte.
            for options in ({}, {"max_version": (1, 0)}, {"max_version": (1, 0), "copy": True}):
                with pytest.raises(BufferError, match="with a byte for each, found .*`numpy.asarray"):
                    relayout(array).__dlpack__(**options)
        for options in ({"max_version": (1, 1)}, {"max_version": (1, 1), "copy": True}):
            again = xla_shape._native.buffer_of_capsule(relayout(array).__dlpack__(**options))
            assert again.shape == Shape.of(dtype, (10, 200)) and np.array_equal(again.numpy(), array)


def asked_from(module, buffer, **options):
    """A capsule, requested by a function of this module."""
    scope = {"__name__": module}
    exec("def ask(buffer, options): return buffer.__dlpack__(**options)", scope)
    return scope["ask"](buffer, options)


def test_dlpack_for_who_writes_what_is_read_only():
    array = numbers(10, 200)
    buffer = Buffer("f32[10,200]", array)
    for module in ("torch", "torch.utils.dlpack"):
        taken = np.from_dlpack(Lent(asked_from(module, buffer, max_version=(1, 0))))
        assert not np.shares_memory(taken, array) and np.array_equal(taken, array)
        with pytest.raises(BufferError, match="torch writes what is marked as read-only"):
            asked_from(module, buffer, max_version=(1, 0), copy=False)
    for module in ("torchlike", "numpy", ""):
        assert np.shares_memory(np.from_dlpack(Lent(asked_from(module, buffer, max_version=(1, 0)))), array)


def test_torch():
    torch = pytest.importorskip("torch")
    array = numbers(2, 3)
    for values in (array, array.astype(ml_dtypes.bfloat16)):
        buffer = relayout(values)
        tensor = torch.from_dlpack(buffer)
        assert np.array_equal(tensor.float().numpy(), array)
        tensor.add_(1)
        assert np.array_equal(np.asarray(buffer), values)
        with pytest.raises(BufferError, match="only a copy"):
            torch.from_dlpack(buffer, copy=False)
    tensor = torch.arange(60).reshape(6, 10).bfloat16()
    for view in (tensor[::2], tensor.T, tensor[:, ::3], tensor[0].expand(4, 10), tensor[:0], tensor[1, 2]):
        for layout in (None, "{0,1:T(2,3)}"):
            if layout is None or view.ndim == 2:
                found = np.asarray(relayout(view, layout))
                assert found.dtype == ml_dtypes.bfloat16 and np.array_equal(found.astype(np.float32), view.float().numpy())
    assert np.shares_memory(xla_shape.from_dlpack(tensor.T).numpy(), xla_shape.from_dlpack(tensor).numpy())


class Strided:
    """An array that is only available through DLPack, like torch's bf16."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        capsule = self.array.view(np.uint16).__dlpack__(**options)
        retyped(capsule, code=4)
        return capsule


def retyped(capsule, code):
    """Changes the type code of the tensor in a capsule of version 1."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # The fields before the type's code: version, two pointers, flags; the array's pointer, device and rank.
    ctypes.c_uint8.from_address(pointer_of(capsule, b"dltensor_versioned") + 8 + 16 + 8 + 8 + 8 + 4).value = code


@pytest.mark.parametrize("name", STRIDED)
def test_dlpack_of_any_strides(name):
    array = STRIDED[name](numbers(20, 60, dtype=ml_dtypes.bfloat16))
    for layout in LAYOUTS:
        for threads in (1, None):
            buffer = relayout(Strided(array), layout, threads=threads)
            assert buffer.shape == Shape.of("bf16", array.shape, layout)
            assert buffer.tobytes() == by_definition(array, buffer.shape)
    out = np.empty(array.shape, ml_dtypes.bfloat16)
    assert relayout(Strided(array), out=out) is out and np.array_equal(out, array)
    if array.size and not array.flags.c_contiguous and not array.flags.f_contiguous:
        with pytest.raises(ShapeError, match="side by side|stride"):
            xla_shape.from_dlpack(Strided(array))
    scalar = relayout(Strided(np.array(3, ml_dtypes.bfloat16)))
    assert scalar.shape == Shape("bf16[]") and float(scalar.numpy()) == 3


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.float16, np.float32, np.int64, np.float64, np.complex64, np.complex128])
def test_a_view_of_elements(dtype):
    array = numbers(10, 200, dtype=dtype)
    # In the last two layouts, one tile covers the tiled dimensions, so it does not cut them.
    for layout in ("{1,0}", "{0,1}", "{1,0:T(256)}", "{1,0:T(16,256)}"):
        buffer = relayout(array, layout)
        view = memoryview(buffer)
        assert view.readonly and view.shape == (10, 200) and view.itemsize == array.itemsize
        assert view.format == memoryview(array).format
        assert np.array_equal(np.asarray(view), array) and np.asarray(view).dtype == array.dtype
        for found in (np.asarray(buffer), buffer.numpy(), np.array(buffer, copy=False)):
            assert np.array_equal(found, array) and found.dtype == array.dtype and not found.flags.writeable
            assert np.shares_memory(found, np.frombuffer(buffer.data, np.uint8))
        assert bytes(buffer) == array.tobytes()
        assert view.c_contiguous == (layout == "{1,0}") and view.f_contiguous == (layout == "{0,1}")
    # Always elements, never bytes.
    with pytest.raises(BufferError, match=r"one for bytes: `tobytes\(\)`"):
        hashlib.sha256(relayout(array))


def test_views_without_elements():
    for sizes in ((), (0, 3), (1, 1), (3, 0, 2)):
        view = memoryview(relayout(numbers(*sizes)))
        assert view.shape == sizes and np.array_equal(np.asarray(view), numbers(*sizes))
    for dtype, layout, reason in [
        (np.float32, "{1,0:T(8,128)}", "tiles that cut dimension 1"),
        (ml_dtypes.bfloat16, "{1,0}", "no elements of bf16"),
        (ml_dtypes.float8_e4m3fn, "{1,0}", "no elements of f8e4m3fn"),
        (ml_dtypes.int4, "{1,0}", "no elements of s4"),
        (ml_dtypes.int4, "{1,0:E(4)}", "packed"),
    ]:
        array = numbers(10, 200, dtype=dtype)
        buffer = relayout(array, layout)
        with pytest.raises(BufferError, match=rf"{reason}.*`tobytes\(\)`"):
            memoryview(buffer)
        # NumPy reads them nevertheless.
        assert np.asarray(buffer).dtype == array.dtype and np.array_equal(np.asarray(buffer), array)
        if buffer._for_numpy(False) is None:
            with pytest.raises(ValueError, match="no strides"):
                np.array(buffer, copy=False)


def test_a_view_keeps_the_memory():
    shared = bytearray(4 * 6)
    view = memoryview(Buffer("f32[2,3]{0,1}", shared))
    slices = [view, np.asarray(view)[1:]]
    with pytest.raises(BufferError):
        shared.append(0)
    del view, slices
    shared.append(0)


def test_dlpack_frees():
    """The memory lives as long as the capsule, or the object that has taken it over; then it is freed."""
    shared = bytearray(4 * 6)
    for use in (lambda capsule: None, xla_shape._native.buffer_of_capsule, lambda capsule: np.from_dlpack(Lent(capsule))):
        buffer = Buffer("f32[2,3]", shared)
        capsule = buffer.__dlpack__(max_version=(1, 0))
        del buffer
        found = use(capsule)
        with pytest.raises(BufferError):
            shared.append(0)
        del capsule, found
        shared.append(0)
        del shared[-1]
    # Capsules of DLPack before version 1: one that is not taken over, and one that is.
    capsule = Buffer("f32[2,3]", shared).__dlpack__()
    assert '"dltensor"' in repr(capsule)
    taken = np.from_dlpack(Lent(capsule))
    del capsule
    again = xla_shape.from_dlpack(Old(taken.copy()))
    assert np.array_equal(again.numpy(), taken) and repr(again) == "<Buffer f32[2,3]{1,0}>"
    with pytest.raises(ShapeError, match="stride 1"):
        xla_shape.from_dlpack(Old(np.zeros((4, 4), np.float32)[:, ::2]))
    shared[3] = 1
    assert not taken.any()
    Buffer("f32[2,3]", shared).__dlpack__()


class Old:
    """An array of a library from before DLPack had versions."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


class Lent:
    """A capsule as an array."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0
