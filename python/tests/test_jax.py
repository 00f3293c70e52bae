"""JAX's layouts, shardings, arrays and programs, compared with JAX's own answers."""

import re

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp
from jax.experimental.layout import Format
from jax.experimental.layout import Layout as JaxLayout
from jax.sharding import Mesh, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

import xla_shape
from xla_shape import Layout, Module, Shape, ShapeError, Sharding
from xla_shape.jax import (
    assert_layout,
    buffer,
    buffers,
    from_layout,
    from_sharding,
    memory,
    module,
    profiled,
    shape_dtype_struct,
    shape_of,
    shard_shape_of,
    to_format,
    to_layout,
    to_sharding,
)


@pytest.fixture
def mesh():
    # The devices are reversed, so that their ids differ from their positions in the mesh.
    return Mesh(np.array(jax.devices()[::-1]).reshape(4, 2), ("x", "y"))


@pytest.mark.parametrize("text", ["{}", "{0,1}", "{1,0:T(8,128)(2,1)}", "{1,2,0:T(*,128)E(4)}"])
def test_layouts(text):
    found = to_layout(text)
    assert isinstance(found, JaxLayout)
    assert from_layout(found) == Layout(text)
    assert from_layout(Format(found, SingleDeviceSharding(jax.devices()[0]))) == Layout(text)


def test_layouts_that_jax_does_not_have():
    with pytest.raises(ShapeError, match="has more"):
        to_layout("{0:L(128)}")
    with pytest.raises(ShapeError, match="says an order"):
        from_layout(JaxLayout.AUTO)
    # In JAX, the memory space belongs to the sharding.
    assert to_layout("{0:S(1)}") == to_layout("{0}")


def test_a_profile_has_times_and_its_module():
    step = jax.jit(lambda x: jnp.tanh(x @ x))
    x = jnp.ones((64, 64))
    step(x).block_until_ready()
    with profiled() as measured:
        for _ in range(3):
            step(x).block_until_ready()
    cost = measured.cost().data["measured"]
    assert cost["runs"]["count"] == 3
    assert sum(line["picoseconds"] for line in cost["lines"]) == cost["picoseconds"] > 0
    names = measured.module().modules
    assert cost["module"] in names
    assert xla_shape.profile(measured.directory, cost["module"]).name == measured.module().name
    with pytest.raises(ShapeError, match="expected the name of one module"):
        measured.cost("nothing")
    with pytest.raises(ShapeError, match="expected a computation"):
        xla_shape.profile(__file__)


SPECS = [P(), P("x"), P(None, "y"), P("x", "y"), P("y", "x"), P(("x", "y")), P(None, ("y", "x")), P("x", None)]


@pytest.mark.parametrize("spec", SPECS)
def test_shardings(mesh, spec):
    theirs = NamedSharding(mesh, spec)
    ours = from_sharding(theirs, 2)
    # This is the sharding that JAX writes into the program.
    assert ours == Sharding(str(theirs._to_xla_hlo_sharding(2)))
    sizes = (16, 8)
    regions = theirs.devices_indices_map(sizes)
    shape = Shape.of(np.float32, sizes)
    everything = np.arange(128).reshape(sizes)
    for number, device in enumerate(mesh.devices.flat):
        assert np.array_equal(everything[ours.region(shape, number)], everything[regions[device]])
    assert ours.shard_shape(shape).dimensions == theirs.shard_shape(sizes)
    back = to_sharding(ours, list(mesh.devices.flat))
    assert back.is_equivalent_to(theirs, 2)


@pytest.mark.parametrize(
    "text",
    [
        "{replicated}",
        "{devices=[4,2]<=[8]}",
        "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
        "{devices=[2,4]<=[4,2]T(1,0)}",
        "{mesh['a'=2,'b'=4], [{'b'}, {'a'}]}",
        "{maximal device=3}",
    ],
)
def test_shardings_to_jax(text):
    ours, shape = Sharding(text), Shape("f32[16,8]")
    theirs = to_sharding(text)
    regions = theirs.devices_indices_map((16, 8))
    everything = np.arange(128).reshape(16, 8)
    for number, device in enumerate(jax.devices()):
        if device in regions:
            assert np.array_equal(everything[ours.region(shape, number)], everything[regions[device]])


def test_shardings_that_jax_does_not_have():
    with pytest.raises(ShapeError, match="expected 16 devices"):
        to_sharding("{devices=[16]<=[16]}")
    for spec, hint in ((P("x"), "a PartitionSpec alone has no mesh"), (3, "found 3")):
        with pytest.raises(TypeError, match=f"expected a sharding of JAX.*{hint}"):
            from_sharding(spec, 2)
    with pytest.raises(ShapeError, match="gives elements to devices"):
        to_sharding("{manual}")
    assert from_sharding(SingleDeviceSharding(jax.devices()[3]), 2) == Sharding("{maximal device=0}")


def test_arrays(mesh):
    x = jax.device_put(np.arange(128, dtype=np.float32).reshape(16, 8), NamedSharding(mesh, P("x")))
    assert shape_of(x) == Shape("f32[16,8]{1,0}")
    assert shard_shape_of(x) == Shape("f32[4,8]{1,0}")
    parts = buffers(x)
    assert len(parts) == 8
    for shard in x.addressable_shards:
        assert parts[shard.device.id].shape == Shape("f32[4,8]{1,0}")
        assert np.array_equal(parts[shard.device.id].numpy(), shard.data)
    assert np.array_equal(buffer(x).numpy(), x)
    for dtype in (jnp.bfloat16, jnp.int4, jnp.bool_, jnp.float8_e4m3fn, jnp.complex64):
        y = jnp.ones((3, 5), dtype)
        assert shape_of(y).dtype == y.dtype
        assert np.array_equal(buffer(y).numpy(), np.asarray(y))
    z = jax.device_put(x, Format(JaxLayout((1, 0)), x.sharding))
    assert shape_of(z) == Shape("f32[16,8]{0,1}")
    assert buffers(z)[0].shape == Shape("f32[4,8]{0,1}")
    assert np.array_equal(buffer(z).numpy(), x)


def test_no_copy_of_an_array_on_cpu():
    x = jax.block_until_ready(jnp.arange(1024, dtype=jnp.float32))
    assert np.shares_memory(buffer(x).numpy(), np.asarray(x))


def test_arrays_lent_through_dlpack():
    for dtype in (jnp.bfloat16, jnp.float32, jnp.float8_e4m3fn):
        array = (jnp.arange(2000) % 7).astype(dtype).reshape(10, 200)
        lent = xla_shape.from_dlpack(array)
        assert lent.shape == Shape.of(dtype, (10, 200))
        assert np.array_equal(lent.numpy(), np.asarray(array))
        assert np.array_equal(xla_shape.relayout(array, "{1,0:T(8,128)(2,1)}").numpy(), np.asarray(array))


def test_buffers_lent_through_dlpack():
    for dtype in (jnp.bfloat16, jnp.float32, jnp.float8_e4m3fn, jnp.int8, jnp.complex64):
        array = (np.arange(2000) % 7).astype(dtype).reshape(10, 200)
        buffer = xla_shape.relayout(array)
        found = jax.dlpack.from_dlpack(buffer)
        assert found.dtype == dtype and np.array_equal(np.asarray(found), array)
        # An older JAX uses a DLPack without a read-only flag, so it gets a copy.
        if jax._src.dlpack.DLPACK_VERSION >= (1, 0):
            address = np.frombuffer(buffer.data, np.uint8).ctypes.data
            assert found.unsafe_buffer_pointer() == address
        del buffer
        assert np.array_equal(np.asarray(found), array)
    tiled = xla_shape.relayout(np.ones((10, 200), jnp.bfloat16), "{1,0:T(8,128)(2,1)}")
    assert np.array_equal(np.asarray(jax.dlpack.from_dlpack(tiled)), np.ones((10, 200), jnp.bfloat16))


def test_arguments(mesh):
    spec = shape_dtype_struct("bf16[16,8]{0,1}", from_sharding(NamedSharding(mesh, P("x")), 2), list(mesh.devices.flat))
    assert spec.shape == (16, 8) and spec.dtype == jnp.bfloat16
    assert spec.sharding.is_equivalent_to(NamedSharding(mesh, P("x")), 2)
    assert shape_of(spec) == Shape("bf16[16,8]{0,1}")
    compiled = jax.jit(lambda x: x + 1).lower(spec).compile()
    assert_layout(compiled.input_formats[0][0], "{0,1}")
    assert shape_of(jax.ShapeDtypeStruct((2, 3), np.float32)) == Shape("f32[2,3]")
    assert shape_dtype_struct("f32[2,3]").sharding is None
    assert to_format("{0,1}", "{devices=[8,1]<=[8]}").layout == JaxLayout((1, 0), ())


def test_programs():
    @jax.jit
    def f(x, w):
        return jnp.tanh(x @ w) @ w.T

    x, w = jnp.ones((256, 512)), jnp.ones((512, 1024))
    compiled = f.lower(x, w).compile()
    ours = memory(compiled)
    theirs = compiled.memory_analysis()
    device = ours["memory"]["device"]
    assert device["arguments"] == theirs.argument_size_in_bytes
    assert device["outputs"] == theirs.output_size_in_bytes
    assert "<iframe" in ours._repr_html_()
    found = module(compiled)
    assert found.parameters == (Shape("f32[256,512]"), Shape("f32[512,1024]")) and found.result == Shape("f32[256,512]")
    assert module(compiled.as_text()) == module(found) == found
    # The compiler's own analysis; from the text alone, it would be an estimate.
    assert device["exact"] and device["temporaries"] == theirs.temp_size_in_bytes
    assert device["generated_code"] == theirs.generated_code_size_in_bytes and device["peak"] == theirs.peak_memory_in_bytes
    assert not memory(str(found))["memory"]["device"]["exact"]
    used = device["total"] + device["generated_code"]
    assert memory(compiled, used) and not memory(compiled, used - 1)
    with pytest.raises(ShapeError, match="no device is given"):
        bool(ours)
    with pytest.raises(TypeError, match="compile"):
        memory(f)
    with pytest.raises(TypeError, match="compile"):
        module(f.lower(x, w))
    assert memory(f.lower(x, w))["memory"] == ours["memory"]


def test_a_program_that_does_not_fit():
    spec = jax.ShapeDtypeStruct((140_000,), np.float32)
    compiled = jax.jit(lambda x: (x[:, None] + x[None, :]).sort(axis=0).sum(axis=1)).lower(spec).compile()
    assert memory(compiled, 16 << 30)["capacity"][0]["free"] < -40 << 30
    with pytest.raises(AssertionError):
        assert memory(compiled, 16 << 30)


def test_small_elements_and_copies_through_dlpack():
    for dtype in (jnp.float4_e2m1fn, jnp.int4):
        with pytest.raises(BufferError, match=r"with a byte for each, found .*`numpy.asarray\(buffer\)`"):
            jax.dlpack.from_dlpack(xla_shape.relayout(np.ones((4, 6), dtype)))
    small = jnp.ones((4, 6), jnp.float4_e2m1fn)
    with pytest.raises((ShapeError, RuntimeError), match="a byte for each element of f4e2m1fn, found packed|UNIMPLEMENTED|no DLPack"):
        xla_shape.from_dlpack(small)
    assert np.array_equal(xla_shape.relayout(small).numpy(), np.asarray(small))
    # JAX does not pass on `copy=False`; libraries that do get an error.
    tiled = xla_shape.relayout(np.ones((10, 200), np.float32), "{1,0:T(8,128)}")
    with pytest.raises(BufferError, match="tiles that cut dimension 1"):
        tiled.__dlpack__(max_version=(1, 3), copy=False)
    assert np.array_equal(np.asarray(jax.dlpack.from_dlpack(tiled)), np.ones((10, 200)))
    for values in (np.ones((3, 4), np.float32), np.ones((3, 4), jnp.bfloat16)):
        assert np.array_equal(np.asarray(jnp.asarray(xla_shape.relayout(values))), values)


def test_assert_layout():
    x = jnp.ones((4, 8))
    assert_layout(x, "{1,0}")
    assert_layout(x, "f32[4,8]{1,0}")
    assert_layout(x, Shape("f32[4,8]"))
    assert_layout(x.format, Layout("{1,0}"))
    assert_layout(Shape("f32[4,8]{0,1}"), "{0,1}")
    for expected in ("{0,1}", "f32[4,9]{1,0}"):
        with pytest.raises(AssertionError, match=re.escape(f"expected {expected}, found f32[4,8]{{1,0}}")):
            assert_layout(x, expected)


def test_assert_layout_of_trees():
    @jax.jit
    def f(x, weights):
        return {"a": x @ weights[0], "b": (x, weights[0].sum())}

    x, w = jnp.ones((4, 8)), jnp.ones((8, 8))
    compiled = f.lower(x, [w]).compile()
    assert_layout(compiled.input_formats, "{1,0}")
    assert_layout(compiled.input_formats, ((Layout("{1,0}"), ["{1,0}"]), {}))
    assert_layout(compiled.output_formats, {"a": "{1,0}", "b": ("{1,0}", "{}")})
    assert_layout(f(x, [w]), {"a": Shape("f32[4,8]"), "b": (None, "f32[]")})
    with pytest.raises(AssertionError) as caught:
        assert_layout(compiled.output_formats, "{1,0}")
    assert str(caught.value) == "['b'][1]: expected {1,0}, found {}"
    with pytest.raises(AssertionError) as caught:
        assert_layout(f(x, [w]), {"a": "{0,1}", "b": ("f32[4,9]", None)})
    assert str(caught.value).splitlines() == [
        "['a']: expected {0,1}, found f32[4,8]{1,0}",
        "['b'][0]: expected f32[4,9]{1,0}, found f32[4,8]{1,0}",
    ]
    with pytest.raises(AssertionError, match=re.escape("expected layouts of ['a']; found ['a'], ['b'][0], ['b'][1]")):
        assert_layout(f(x, [w]), {"a": "{1,0}"})
    with pytest.raises(AssertionError, match=r"expected \{1,0\}, found nothing"):
        assert_layout([], "{1,0}")


def test_dir_shows_what_is_ours():
    import xla_shape.jax as ours

    assert dir(ours) == sorted(ours.__all__)
