"""Arrays: copies to other layouts and back, for all kinds of strides and element types; files."""

import _thread
import os
import pickle
import signal
import subprocess
import sys
import threading
from array import array as typed_array

import ml_dtypes
import numpy as np
import pytest

import xla_shape
from xla_shape import Buffer, Layout, Shape, ShapeError, relayout

LAYOUTS = ["{1,0}", "{0,1}", "{1,0:T(8,128)}", "{0,1:T(8,128)(2,1)}", "{1,0:T(3,5)}"]
DTYPES = [
    np.bool_,
    np.int8,
    np.uint16,
    np.float16,
    np.float32,
    np.int64,
    np.complex128,
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.int4,
    ml_dtypes.uint4,
    ml_dtypes.float4_e2m1fn,
]


def numbers(*sizes, dtype=np.float32):
    return (np.arange(np.prod(sizes, dtype=int)) % 7).reshape(sizes).astype(dtype)


def by_definition(array, shape):
    """The position of each element by the definition of the layout."""
    memory = np.zeros(shape.byte_size // array.itemsize, array.dtype)
    memory[shape.linear_index(tuple(np.indices(array.shape)))] = array
    return memory.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_there_and_back(dtype, layout):
    array = numbers(10, 200, dtype=dtype)
    buffer = relayout(array, layout)
    assert buffer.shape == Shape.of(dtype, array.shape, layout)
    assert buffer.tobytes() == by_definition(array, buffer.shape)
    back = np.asarray(buffer)
    assert back.dtype == array.dtype and np.array_equal(back, array)
    assert np.array_equal(buffer.relayout("{0,1}").numpy(), array)
    assert np.array_equal(relayout(buffer).numpy(), array)


STRIDED = {
    "transposed": lambda a: a.T,
    "every second": lambda a: a[::2, ::3],
    "backwards": lambda a: a[::-1, ::-1],
    "columns": lambda a: a[:, 5:50],
    "repeated": lambda a: np.broadcast_to(a[0], (6, 60)),
    "one column": lambda a: a[:, 3:4],
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "fortran": np.asfortranarray,
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("name", STRIDED)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, ml_dtypes.bfloat16, np.complex128])
def test_strided_arrays_are_read_as_they_are(name, dtype):
    array = STRIDED[name](numbers(20, 60, dtype=dtype))
    for layout in LAYOUTS:
        buffer = relayout(array, layout)
        assert buffer.tobytes() == by_definition(array, buffer.shape)


def test_more_dimensions():
    array = numbers(3, 4, 5, 6).transpose(2, 0, 3, 1)[:, ::2]
    for layout in ("{3,2,1,0}", "{0,2,1,3:T(8,128)}", "{1,3,2,0:T(2,4)(2,1)}"):
        assert np.array_equal(relayout(array, layout).numpy(), array)
    assert np.array_equal(relayout(np.float32(3)).numpy(), np.float32(3))
    assert relayout(np.zeros((0, 3)), "{0,1}").numpy().shape == (0, 3)


def test_packed():
    array = numbers(10, 200, dtype=ml_dtypes.int4)
    packed = relayout(array, "{1,0:T(8,128)E(4)}")
    assert packed.nbytes == 16 * 256 // 2
    assert np.array_equal(packed.numpy(), array)


def test_bytes_of_a_shape():
    array = numbers(10, 200)
    tiled = relayout(array, "{1,0:T(8,128)}")
    for data in (tiled.tobytes(), tiled.data, np.frombuffer(tiled.data, np.float32)):
        assert np.array_equal(relayout(data, from_=tiled.shape).numpy(), array)
        assert np.array_equal(Buffer(tiled.shape, data).numpy(), array)
    # A bounded dimension stays bounded in any layout.
    for to in (None, "{1,0}"):
        bounded = relayout(tiled, to, from_=str(tiled.shape).replace("[10", "[<=10"))
        assert bounded.shape == Shape("f32[<=10,200]") and bounded.tobytes() == array.tobytes()
    with pytest.raises(ShapeError, match="expected 16384 bytes of .*, found 3"):
        relayout(b"abc", from_=tiled.shape)
    with pytest.raises(ShapeError, match="expected 16384 bytes"):
        Buffer(tiled.shape, b"abc")
    with pytest.raises(ShapeError, match="in one piece"):
        relayout(np.zeros((4, 4), np.float32).T, from_="f32[4,4]")
    with pytest.raises(ShapeError, match="in one piece"):
        Buffer("f32[2,4]", np.zeros((4, 4), np.float32)[::2])


TARGETS = {
    "uint8": lambda size: np.full(size, 0x55, np.uint8),
    "bfloat16": lambda size: np.full(size, 0x55, np.uint8).view(ml_dtypes.bfloat16).reshape(2, -1),
    "bytearray": lambda size: bytearray(b"U" * size),
    "part of memory": lambda size: memoryview(bytearray(b"U" * (size + 7)))[3:-4],
    "doubles": lambda size: typed_array("d", b"U" * size),
}
SOURCES = {
    "array": lambda a: (a, {}),
    "strided": lambda a: (np.repeat(a, 3, axis=1)[::-1, ::3][::-1], {}),
    "transposed": lambda a: (np.asfortranarray(a), {}),
    "buffer": lambda a: (relayout(a, "{0,1:T(8,128)}"), {}),
    "bytes": lambda a: (a.tobytes(), {"from_": Shape.of(a.dtype, a.shape)}),
    "list": lambda a: (a.tolist(), {}),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", TARGETS)
def test_into_memory(source, target):
    values = numbers(10, 200, dtype=np.float64) + 1
    for layout in LAYOUTS:
        given, options = SOURCES[source](values)
        shape = Shape.of(values.dtype, values.shape, layout)
        out = TARGETS[target](shape.byte_size)
        assert relayout(given, layout, out=out, **options) is out
        # Padding keeps its content.
        expected = np.full(shape.byte_size, 0x55, np.uint8).view(values.dtype)
        expected[shape.linear_index(tuple(np.indices(values.shape)))] = values
        assert bytes(out if target != "bfloat16" else out.view(np.uint8)) == expected.tobytes()


def test_into_memory_as_an_array():
    values = numbers(10, 200)
    out = np.empty((200, 10), np.float32)
    assert relayout(values, "{0,1}", out=out) is out and np.array_equal(out, values.T)
    assert relayout(values).relayout("{0,1}", out=out, threads=1) is out
    single = np.zeros((), np.float32)
    assert relayout(np.float32(3), out=single) is single and single == 3
    for empty in (np.empty((3, 0), np.float32), bytearray()):
        assert relayout(np.zeros((0, 3), np.float32), "{0,1}", out=empty) is empty


@pytest.mark.parametrize("threads", [1, 2, None])
def test_into_much_memory(threads):
    # The arrays have more elements than are gathered at a time, one without gaps and one with gaps between them.
    large = np.arange(3 * 1500 * 1000, dtype=np.float32).reshape(1500, 3000)
    for values in (large, large[:, ::2]):
        expected = relayout(values, "{1,0:T(8,128)}")
        out = bytearray(expected.nbytes)
        relayout(values, "{1,0:T(8,128)}", out=out, threads=threads)
        assert out == expected.data


@pytest.fixture
def interrupts():
    """Python handles SIGINT, even if a shell started the tests in the background, where SIGINT is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("threads", [1, None])
def test_an_interrupt_ends_a_copy(threads):
    """Ctrl-C while it runs: the rest of the destination stays as it is."""
    source, out = np.ones((1 << 13, 1 << 13), np.float32), np.zeros((1 << 13, 1 << 13), np.float32)

    def interrupt():
        while out[0, 0] == 0 and not ended.is_set():
            pass
        _thread.interrupt_main()

    # If the system runs the thread too late, nothing is interrupted; so there are several attempts.
    for _ in range(50):
        out.fill(0)
        ended = threading.Event()
        other = threading.Thread(target=interrupt)
        other.start()
        try:
            relayout(source, "{0,1}", out=out, threads=threads)
            ended.set()
            other.join()
        except KeyboardInterrupt:
            other.join()
            if not out.all():
                return
    raise AssertionError("no copy ended early")


def test_memory_that_is_not_for_the_result():
    values = numbers(8, 128)
    size = values.nbytes
    objects = np.array([None] * (size // 8))
    small = np.zeros(size // 2 + 1, np.uint16)
    twice = np.zeros((8, 256), np.float32)
    read_only = np.zeros(size, np.uint8)
    read_only.flags.writeable = False
    for out, error, message in [
        (bytearray(size - 1), ShapeError, "expected 4096 bytes in `out`, found 4095"),
        (small, ShapeError, "expected 4096 bytes in `out`, found 4098"),
        (bytearray(), ShapeError, "found 0"),
        (twice[:, ::2], ShapeError, "in one piece"),
        (np.zeros((128, 8), np.float32).T, ShapeError, "in one piece"),
        (memoryview(twice)[::2], ShapeError, "in one piece"),
        (read_only, BufferError, "read-only"),
        (bytes(size), BufferError, "read-only"),
        (relayout(values).data, BufferError, "read-only"),
        (relayout(values), BufferError, "read-only"),
        ("text", TypeError, "bytes-like|buffer"),
        (objects, TypeError, "references"),
        (memoryview(objects), ShapeError, "items of format O"),
        (memoryview(np.zeros(size // 8, "i4,f4")), ShapeError, "items of format"),
    ]:
        for copied in (relayout, Buffer.relayout):
            source = values if copied is relayout else relayout(values)
            with pytest.raises(error, match=message):
                copied(source, "{0,1}", out=out)
    assert not twice.any() and not small.any() and all(entry is None for entry in objects)


def test_memory_of_the_array_itself():
    memory = np.arange(3000, dtype=np.float32)
    before = memory.copy()
    middle = memory[1000:2000].reshape(10, 100)
    backwards = middle[::-1, ::-2]
    for source in (middle, middle.T, Buffer("f32[10,100]", middle), np.broadcast_to(middle[0], (10, 100))):
        for start in (1, 999, 1000, 1001, 1099):
            with pytest.raises(ShapeError, match="other memory"):
                relayout(source, "{0,1}", out=memory[start : start + 1000])
    with pytest.raises(ShapeError, match="other memory"):
        relayout(middle, from_="f32[10,100]", to="{0,1}", out=middle)
    # With negative strides, the last element has the lowest address.
    for start in (502, 1000, 1999):
        with pytest.raises(ShapeError, match="other memory"):
            relayout(backwards, out=memory[start : start + 500])
    # The result may not lie in the gaps between the source's rows either.
    with pytest.raises(ShapeError, match="other memory"):
        relayout(memory.reshape(3, 1000)[::2, :10], out=memory[1000:1020])
    assert np.array_equal(memory, before)
    for start in (0, 2000):
        relayout(middle, "{0,1}", out=memory[start : start + 1000])
        assert np.array_equal(memory[start : start + 1000].reshape(100, 10), middle.T)
    for start in (501, 2000):
        relayout(backwards, out=memory[start : start + 500])
        assert np.array_equal(memory[start : start + 500].reshape(10, 50), backwards)


def test_after_an_error_memory_is_as_it_was():
    values = numbers(10, 200)
    out = bytearray(b"U" * 16384)
    for to, options in [
        ("bf16[10,200]{1,0:T(16,512)}", {}),
        ("{0}", {}),
        ("f32[10,?]", {}),
        ("f32[16,256]{1,0}", {}),
        ("{1,0:T(8,128)}", {"threads": 0}),
        ("{1,0:T(8,128)}", {"from_": "f32[10,201]"}),
    ]:
        with pytest.raises(ShapeError):
            relayout(values, to, out=out, **options)
    assert out == b"U" * 16384
    # If an error had left an export of `out`, it could not be extended.
    out.extend(b"V")


def test_no_copy():
    array = numbers(10, 200)
    buffer = Buffer("f32[10,200]{1,0}", array)
    assert np.shares_memory(buffer.numpy(), array)
    assert not buffer.numpy().flags.writeable
    assert np.shares_memory(Buffer("f32[200,10]{0,1}", array).numpy(), array)
    assert np.array_equal(Buffer("f32[200,10]{0,1}", array).numpy(), array.T)
    assert buffer.data.readonly and buffer.data.nbytes == buffer.nbytes == 8000
    assert np.shares_memory(np.from_dlpack(buffer), array)
    assert np.array_equal(np.array(buffer, copy=True), array)
    assert np.asarray(buffer, np.float64).dtype == np.float64
    result = relayout(array, "{1,0:T(8,128)}")
    assert np.frombuffer(result.data, np.uint8).ctypes.data % 64 == 0


def test_memory_stays():
    """The exporter of bytes must live as long as the buffer."""
    buffer = Buffer("f32[2,3]", np.arange(6, dtype=np.float32))
    view = buffer.data
    del buffer
    assert np.frombuffer(view, np.float32).tolist() == list(range(6))
    shared = bytearray(24)
    buffer = Buffer("f32[2,3]", shared)
    with pytest.raises(BufferError):
        shared.append(0)
    del buffer
    shared.append(0)


def test_errors():
    array = numbers(10, 200)
    for to, message in [
        ("f32[10,201]{1,0}", "201"),
        ("bf16[10,200]{1,0}", "bf16"),
        ("(f32[2])", "expected an array"),
        ("{0}", "dimension"),
        ("f32[10,?]", "unbounded|size"),
    ]:
        with pytest.raises(ShapeError, match=message):
            relayout(array, to)
    with pytest.raises(TypeError, match="a Layout, a Shape or a text"):
        relayout(array, 3)
    with pytest.raises(ShapeError, match="byte order"):
        relayout(array.astype(">f4"))
    with pytest.raises(ShapeError):
        relayout(np.array(["text"]))
    for threads in (0, -1, 1 << 70):
        with pytest.raises(ShapeError, match="one thread|a whole number"):
            relayout(array, threads=threads)
    for copied in (relayout, relayout(array).relayout):
        with pytest.raises(TypeError, match="'str' object"):
            copied(array, threads="a") if copied is relayout else copied(threads="a")
    with pytest.raises(ValueError, match="copy"):
        np.asarray(Buffer("f32[10,200]", array), np.float64, copy=False)


def test_pickle():
    buffer = relayout(numbers(10, 200), "{1,0:T(8,128)}")
    again = pickle.loads(pickle.dumps(buffer))
    assert again.shape == buffer.shape and again.tobytes() == buffer.tobytes()


@pytest.mark.parametrize("threads", [1, 2, 4000, None])
def test_threads(threads):
    array = numbers(1000, 1500)
    expected = relayout(array, "{1,0:T(8,128)}", threads=1).tobytes()
    found = []
    work = [
        threading.Thread(target=lambda: found.append(relayout(array, "{1,0:T(8,128)}", threads=threads).tobytes()))
        for _ in range(3)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert found == [expected] * 3


FORK = """
import os, numpy as np, xla_shape
array = np.ones((1000, 1500), np.float32)
expected = xla_shape.relayout(array, "{1,0:T(8,128)}").tobytes()
child = os.fork()
found = xla_shape.relayout(array, "{1,0:T(8,128)}").tobytes()
if child == 0:
    os._exit(0 if found == expected else 1)
assert os.waitpid(child, 0)[1] == 0 and found == expected
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_after_a_fork():
    """After a fork, the child does not have the parent's threads."""
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=60)


@pytest.mark.parametrize("kind", [tuple, list, np.array])
def test_permuted(kind):
    """Copies that are remembered are told apart by element types, sizes, strides, permutations and destinations."""
    plain = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    arrays = [plain.astype(dtype) for dtype in (np.int32, np.uint32, np.float32, ml_dtypes.bfloat16)]
    arrays += [np.asfortranarray(arrays[0]), arrays[0].transpose(1, 0, 2), arrays[0][:, ::-1], arrays[0][:, :0], arrays[0][:2, :2]]
    for _ in range(2):
        for array in arrays:
            for permute in ((0, 1, 2), (0, 2, 1), (2, 0, 1), (2, 1, 0)):
                expected = array.transpose(permute)
                for to in (None, "{0,1,2}", "{1,0,2:T(2,4)}", Layout("{1,2,0}")):
                    for source in (array, relayout(array, "{0,2,1:T(2)}")):
                        result = relayout(source, to, permute=kind(permute))
                        assert result.numpy().dtype == array.dtype and np.array_equal(result.numpy(), expected)
                        assert result.tobytes() == by_definition(expected, result.shape)
                        out = bytearray(result.nbytes)
                        assert relayout(source, to, permute=kind(permute), out=out) is out
                        assert np.array_equal(relayout(bytes(out), from_=result.shape).numpy(), expected)


def test_no_permutation():
    array = numbers(2, 3)
    for source in (array, relayout(array)):
        for permute in ((0, 0), (1,), (), (0, 1, 2), (0, 2), (-1, 0), (1 << 70, 0), range(20)):
            relayout(source, permute=(1, 0)), relayout(source)
            with pytest.raises(ShapeError, match="dimension|permutation|whole number"):
                relayout(source, permute=permute)
        for permute in (3, "10", (1.0, 0), (None, 0)):
            with pytest.raises(TypeError):
                relayout(source, permute=permute)


def test_memory_is_used_again_when_nobody_refers_to_it():
    array = np.ones((1000, 600), np.float32)
    address = lambda buffer: np.frombuffer(buffer.data, np.uint8).ctypes.data
    lent = {
        "buffer": lambda buffer: buffer,
        "bytes": lambda buffer: np.frombuffer(buffer.data, np.uint8),
        "elements": lambda buffer: buffer.numpy(),
        "transposed": lambda buffer: buffer.T,
        "DLPack": np.from_dlpack,
    }
    for name, keep in lent.items():
        for layout in ("{0,1}", "{1,0:T(8,128)}"):
            first = relayout(array, layout)
            place, expected = address(first), by_definition(array, first.shape)
            kept = keep(first)
            del first
            others = [relayout(array * 7, layout) for _ in range(6)]
            assert kept is not None and (name in ("elements", "DLPack") or place not in map(address, others))
            if name in ("elements", "DLPack"):
                assert np.array_equal(kept, array)
            elif name == "bytes":
                assert kept.tobytes() == expected
            del kept, others
    # The next result reuses the memory of a deleted one, whatever bytes are in it.
    full = relayout(np.full((1024, 1024), 7, np.float32), "{0,1}")
    place = address(full)
    del full
    padded = relayout(np.ones((1017, 1000), np.float32), "{1,0:T(8,128)}")
    assert address(padded) == place and padded.nbytes == 4 << 20
    assert padded.tobytes() == by_definition(np.ones((1017, 1000), np.float32), padded.shape)
    del padded
    packed = relayout(np.ones((2048, 4095), ml_dtypes.int4), "{1,0:T(8,128)E(4)}")
    assert packed.nbytes == 4 << 20 and np.array_equal(packed.numpy(), np.ones((2048, 4095), ml_dtypes.int4))
    assert packed.data[-1] & 0xF0 == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says so how much memory a process has")
def test_memory_that_is_kept_has_a_bound():
    code = """
import numpy as np, xla_shape
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096
xla_shape.relayout(np.ones((8, 8), np.float32), "{0,1}")
array = np.ones((1 << 20, 24), np.uint8)
before = resident()
for _ in range(3):
    results = [xla_shape.relayout(array, "{1,0}") for _ in range(12)]
    del results
assert resident() - before < 150 << 20, resident() - before
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_files(tmp_path):
    array = numbers(10, 200)
    np.save(tmp_path / "a.npy", array)
    buffer = xla_shape.read(tmp_path / "a.npy")
    assert buffer.shape == Shape("f32[10,200]") and np.array_equal(buffer.numpy(), array)
    xla_shape.write(tmp_path / "b.safetensors", buffer, "w")
    assert np.array_equal(xla_shape.read(tmp_path / "b.safetensors", "w").numpy(), array)
    tiled = buffer.relayout("{1,0:T(8,128)}")
    xla_shape.write(tmp_path / "c.bin", tiled)
    assert (tmp_path / "c.bin").read_bytes() == tiled.tobytes()
    assert np.array_equal(xla_shape.read(tmp_path / "c.bin", from_=tiled.shape).numpy(), array)
    done = xla_shape.relayout_file(tmp_path / "a.npy", tmp_path / "d.bin", "{1,0:T(8,128)}")
    assert done["bytes"] == tiled.nbytes and done["to"] == str(tiled.shape)
    assert (tmp_path / "d.bin").read_bytes() == tiled.tobytes()
    xla_shape.relayout_file(tmp_path / "d.bin", tmp_path / "e.npy", from_=tiled.shape, permute=[1, 0])
    assert np.array_equal(np.load(tmp_path / "e.npy"), array.T)
    for to in ("{0,1}", Layout("{0,1}"), "f32[10,200]{0,1}", Shape("f32[10,200]{0,1}")):
        xla_shape.relayout_file(tmp_path / "a.npy", tmp_path / "g.bin", to)
        assert (tmp_path / "g.bin").read_bytes() == array.T.tobytes() == relayout(array, to).tobytes()
    for permute in ([0], [0, 0], [0, 2], [1 << 63, 0]):
        with pytest.raises(ShapeError, match="expected a permutation of the source's 2 dimensions"):
            xla_shape.relayout_file(tmp_path / "a.npy", tmp_path / "g.npy", permute=permute)
    assert not (tmp_path / "g.npy").exists()
    xla_shape.write(tmp_path / "f.npy", xla_shape.relayout(array.astype(np.int16)))
    assert np.load(tmp_path / "f.npy").dtype == np.int16


def test_errors_name_what_python_has(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"abcdefgh")
    for name in ("a", "b"):
        xla_shape.write(tmp_path / f"{name}.safetensors", relayout(numbers(2)), name)
    header = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}'
    (tmp_path / "two.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"ab")
    np.save(tmp_path / "a.npy", numbers(2).view("V4"))
    to = tmp_path / "out.bin"
    for call, argument in [
        (lambda: xla_shape.read(tmp_path / "two.safetensors"), "`tensor`"),
        (lambda: xla_shape.relayout_file(tmp_path / "two.safetensors", to, "{0}"), "`tensor`"),
        (lambda: xla_shape.read(tmp_path / "a.bin"), "`from_`"),
        (lambda: xla_shape.read(tmp_path / "a.npy"), "`from_`"),
        (lambda: xla_shape.relayout_file(tmp_path / "a.bin", to, "{0}"), "`from_`"),
        (lambda: xla_shape.relayout_file(tmp_path / "a.bin", to, from_="u8[8]"), "`to`"),
    ]:
        with pytest.raises(ShapeError, match=argument) as caught:
            call()
        assert "--" not in str(caught.value)


def test_files_that_are_not_there_or_wrong(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        xla_shape.read(tmp_path / "none.npy")
    assert caught.value.filename == str(tmp_path / "none.npy")
    (tmp_path / "a.bin").write_bytes(b"abc")
    with pytest.raises(ShapeError, match="shape"):
        xla_shape.read(tmp_path / "a.bin")
    with pytest.raises(ShapeError, match="expected 8 bytes"):
        xla_shape.read(tmp_path / "a.bin", from_="f32[2]")
    with pytest.raises(ShapeError, match="row-major"):
        xla_shape.write(tmp_path / "b.safetensors", relayout(numbers(2, 3), "{0,1:T(2,4)}"))
    assert not (tmp_path / "b.safetensors").exists()
    with pytest.raises(OSError):
        xla_shape.write(tmp_path / "no folder" / "c.npy", relayout(numbers(2, 3)))
