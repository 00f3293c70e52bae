"""Values: shapes, layouts, shardings, modules, and their errors."""

import base64
import errno
import pickle
import re
import zlib

import numpy as np
import pytest

import xla_shape
from xla_shape import Layout, Module, OutOfBoundsError, ParseError, Shape, ShapeError, Sharding

MODULE = """\
HloModule add, is_scheduled=true

ENTRY main {
  a = f32[100,200]{1,0:T(8,128)} parameter(0)
  b = f32[100,200]{1,0:T(8,128)} parameter(1)
  ROOT c = f32[100,200]{1,0:T(8,128)} add(a, b)
}
"""

TEXTS = [
    (Shape, "f32[]"),
    (Shape, "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}"),
    (Shape, "(f32[2]{0}, (s32[]), token[])"),
    (Shape, "f32[<=4,?]{1,0}"),
    (Layout, "{}"),
    (Layout, "{1,0:T(8,128)(2,1)E(4)S(1)}"),
    (Layout, "{0,1:T(*,4)}"),
    (Sharding, "{replicated}"),
    (Sharding, "{devices=[4,2]<=[8]}"),
    (Sharding, "{mesh['x'=4,'y'=2], [{'x'}, {'y'}]}"),
    (Module, MODULE),
]


@pytest.mark.parametrize(("kind", "text"), TEXTS)
def test_texts(kind, text):
    value = kind(text)
    assert kind(str(value)) == value
    # The text of a module is long, so its `repr` is a summary.
    assert kind is Module or eval(repr(value), {kind.__name__: kind}) == value
    assert pickle.loads(pickle.dumps(value)) == value
    assert hash(kind(str(value))) == hash(value)
    assert kind(value) == value
    assert value != text


def test_spaces_do_not_count():
    assert Shape("f32[2, 3]") == Shape("f32[2,3]{1,0}")
    assert len({Shape("f32[2,3]"), Shape("f32[2,3]{1,0}"), Shape("f32[2,3]{0,1}")}) == 2


def test_texts_of_other_libraries():
    for text in ("bfloat16[8,128]", "tensor<8x128xbf16>", " bfloat16[8,128] "):
        assert Shape(text) == Shape("bf16[8,128]"), text
    with pytest.raises(ParseError, match="expected an element type, found `bfloat17`"):
        Shape("bfloat17[8,128]")


def test_properties():
    shape = Shape("bf16[100,200]{1,0:T(8,128)(2,1)S(1)}")
    assert shape.element_type == "bf16"
    assert shape.dimensions == (100, 200)
    assert shape.num_dimensions == 2
    assert shape.elements == 20_000
    assert shape.byte_size == 104 * 256 * 2
    assert shape.unpadded_byte_size == 40_000
    assert shape.padding == 104 * 256 * 2 - 40_000
    assert shape.expansion == pytest.approx(104 * 256 / 20_000)
    assert shape.padded_dimensions == (((0,), 100, 104), ((1,), 200, 256))
    assert shape.layout.minor_to_major == (1, 0)
    assert shape.layout.major_to_minor == (0, 1)
    assert shape.layout.tiles == ((8, 128), (2, 1))
    assert shape.layout.memory_space == 1
    assert shape.is_array and not shape.is_tuple
    assert Shape("f32[<=4,?]").dimensions == (4, -1)
    assert Shape("f32[<=4,?]").dynamic_dimensions == (True, True)
    assert Shape("(f32[2], s32[])").tuple_shapes == (Shape("f32[2]"), Shape("s32[]"))
    assert Layout("{1,0:T(*,4)E(4)}").tiles == ((None, 4),)
    assert Layout("{1,0:T(*,4)E(4)}").element_size_in_bits == 4


def test_of_parts():
    assert Shape.of("bf16", (8, 128), "{1,0:T(8,128)(2,1)}") == Shape("bf16[8,128]{1,0:T(8,128)(2,1)}")
    assert Shape.of(np.float32, [2, 3]) == Shape("f32[2,3]{1,0}")
    assert Shape.of(np.dtype(bool), ()) == Shape("pred[]")
    assert Shape.tuple_of(["f32[2]", Shape("s32[]")]) == Shape("(f32[2], s32[])")
    assert Layout.of((1, 0), [(8, 128), (2, 1)]) == Layout("{1,0:T(8,128)(2,1)}")
    assert Layout.of([0, 1], [[None, 4]], memory_space=1) == Layout("{0,1:T(*,4)S(1)}")
    with pytest.raises(ShapeError, match="once"):
        Layout.of((1, 1))
    with pytest.raises(ShapeError, match="byte order"):
        Shape.of(">f4", (2,))


@pytest.mark.parametrize("text", ["f32[<=4,?]{1,0}", "f32[2,<=3,?]{0,2,1}", "f32[?]", "f32[2,3]{0,1:T(2,4)}"])
def test_sizes_that_change(text):
    shape = Shape(text)
    parts = shape.element_type, shape.dimensions, shape.layout
    assert Shape.of(*parts, dynamic_dimensions=shape.dynamic_dimensions) == shape
    assert Shape.of("f32", (-1, 2)) == Shape("f32[?,2]")
    with pytest.raises(ShapeError, match="expected 2 entries of dynamic_dimensions, found 1"):
        Shape.of("f32", (2, 3), dynamic_dimensions=[True])


SHAPE = Shape("f32[2,3]")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Shape.of("f32", (-2,)), "expected a size of at least 0, or -1 for an unbounded one, found -2"),
        (lambda: Shape.of("f32", (1 << 70,)), f"from {-(1 << 63)} to {(1 << 63) - 1}, found {1 << 70}"),
        (lambda: Layout.of((-1, 0)), "expected a whole number from 0 to 18446744073709551615, found -1"),
        (lambda: Layout.of((0,), [[-8]]), "found -8"),
        (lambda: Layout.of((0,), memory_space=300), "expected a whole number from 0 to 255, found 300"),
        (lambda: Layout.of((0,), element_size_in_bits=-1), "found -1"),
        (lambda: SHAPE.advise("v5e", top=-1), "found -1"),
        (lambda: xla_shape.advise(SHAPE, top=1 << 64), f"found {1 << 64}"),
        (lambda: SHAPE.explain().text(-1), "found -1"),
        (lambda: Module(MODULE).memory(-1), "found -1"),
        (lambda: Module(MODULE).memory(top=-1), "found -1"),
        (lambda: Module(MODULE).memory(space=256), "from 0 to 255, found 256"),
        (lambda: Module(MODULE).memory("v99"), "v99"),
        (lambda: Sharding("{devices=[2,1]<=[2]}").region(SHAPE, 1 << 64), f"found {1 << 64}"),
        (lambda: Sharding("{devices=[2,1]<=[2]}").holders(SHAPE, (-1, 0)), r"index [-1, 0] is out of bounds"),
        (lambda: Shape.of(np.longdouble, (2,)), f"XLA has no elements of NumPy's type {np.dtype(np.longdouble).name}"),
        (lambda: Shape.of("U3", (2,)), "XLA has no elements of NumPy's type str96"),
        (lambda: Shape.of([("a", "f4")], (2,)), "XLA has no elements of NumPy's type void32"),
        (lambda: Shape.of("zz", (2,)), "expected an element type of XLA or NumPy, found 'zz'"),
        (lambda: Shape.of(None, (2,)), "expected an element type of XLA or NumPy, found None"),
        (lambda: Shape.of(3.5, (2,)), "expected an element type of XLA or NumPy, found 3.5"),
    ],
)
def test_arguments_that_are_wrong(call, message):
    # Call twice, because the first call may cache a value.
    for _ in range(2):
        with pytest.raises(ShapeError) as caught:
            call()
        assert message in str(caught.value)


def test_arguments_of_another_type():
    for call, message in [
        (lambda: Module(MODULE).memory(1.5), "expected a device such as 'v5e' or 'h100', or how many bytes, found 1.5"),
        (lambda: Shape.of("f32", ("a",)), "'str' object"),
        (lambda: Layout.of((0,), memory_space=None), "NoneType"),
    ]:
        with pytest.raises(TypeError, match=message):
            call()


def test_element_types():
    """All types of NumPy and ml_dtypes, by all of their names."""
    for name in xla_shape._native.element_types:
        try:
            dtype = Shape(f"{name}[2]").dtype
        except (ShapeError, ValueError):
            continue
        for like in (name, dtype, dtype.type, dtype.name):
            assert Shape.of(like, (2,)) == Shape(f"{name}[2]")


def test_only_arrays():
    pair = Shape("(f32[2], s32[])")
    for name in ("dimensions", "layout", "element_type", "elements", "dtype"):
        with pytest.raises(ShapeError, match="expected an array, found"):
            getattr(pair, name)
    assert pair.byte_size == Shape("(f32[2], s32[])").byte_size
    with pytest.raises(ShapeError, match="expected a tuple"):
        _ = Shape("f32[]").tuple_shapes
    assert pair._repr_svg_() is None and pair._repr_html_() is None


@pytest.mark.parametrize(
    ("kind", "text", "wrong"),
    [
        (Shape, "f32[2,3]{1,1}", "1"),
        (Shape, "g32[2]", "g32"),
        (Shape, "f32[2", ""),
        (Layout, "{1,0:T(8,)}", ")"),
        (Sharding, "{devices=[2,2]<=[3]}", None),
        (Module, "HloModule a /* é */\nENTRY main {\n  ROOT a = f32[2]{1} parameter(0)\n}", "1"),
    ],
)
def test_errors_point_into_the_text(kind, text, wrong):
    with pytest.raises(ParseError) as caught:
        kind(text)
    error = caught.value
    assert isinstance(error, ShapeError) and isinstance(error, ValueError)
    assert error.text == text
    if wrong is not None:
        # Counted in characters, as in Python.
        assert error.text[slice(*error.span)] == wrong
    assert error.message in str(error)
    assert "^" in str(error).splitlines()[-1]
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.span, again.text) == (str(error), error.span, error.text)


def test_wrong_types():
    for kind in (Shape, Layout, Sharding, Module):
        with pytest.raises(TypeError, match="expected"):
            kind(3)


def test_index():
    shape = Shape("bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}")
    assert shape.linear_index((0, 0, 1, 0)) == 1
    assert shape.linear_index([0, 0, 1, 0]) == 1
    assert xla_shape.linear_index(str(shape), (0, 0, 1, 0)) == 1
    assert shape.multi_index(1) == (0, 0, 1, 0)
    assert Shape("f32[]").linear_index(()) == 0
    assert Shape("f32[3,5]{1,0:T(2,2)}").multi_index(11) is None
    for index in [(8, 0, 0, 0), (-1, 0, 0, 0), (0, 0, 0), (0, 0, 0, 1 << 70)]:
        with pytest.raises(OutOfBoundsError) as caught:
            shape.linear_index(index)
        assert isinstance(caught.value, IndexError) and isinstance(caught.value, ShapeError)
    for position in (-1, shape.byte_size // 2, 1 << 70):
        with pytest.raises(OutOfBoundsError):
            shape.multi_index(position)


def test_numbers_are_not_written_over_themselves():
    shape, room = Shape("f32[4]"), np.arange(4)
    for native in (xla_shape._native.linear_indices, xla_shape._native.multi_indices):
        for other in (room, room[:4]):
            with pytest.raises(ShapeError, match="overlaps with the numbers"):
                native(shape, room, other)
        native(shape, room, np.zeros_like(room))


def test_index_arrays():
    shape = Shape("f32[10,200]{1,0:T(8,128)}")
    everywhere = np.indices((10, 200))
    positions = shape.linear_index(tuple(everywhere))
    assert positions.shape == (10, 200) and positions.dtype == np.int64
    assert all(positions[i, j] == shape.linear_index((i, j)) for i in range(10) for j in (0, 1, 127, 128, 199))
    assert np.array_equal(shape.linear_index(np.moveaxis(everywhere, 0, -1)), positions)
    assert np.array_equal(shape.linear_index((np.arange(10)[:, None], np.arange(200)[None])), positions)
    assert shape.linear_index(np.array([3, 150])) == shape.linear_index((3, 150))
    assert shape.linear_index((np.int64(3), np.int32(150))) == shape.linear_index((3, 150))
    back = shape.multi_index(positions)
    assert np.array_equal(back, np.moveaxis(everywhere, 0, -1))
    assert shape.multi_index(np.array([127 + 128]))[0].tolist() != [-1, -1]
    assert shape.multi_index(np.array([1024 + 100])).tolist() == [[-1, -1]]
    assert shape.linear_index(np.empty((0, 2), int)).shape == (0,)
    with pytest.raises(OutOfBoundsError, match=r"\[3, 200\]"):
        shape.linear_index(np.array([[0, 0], [3, 200]]))
    with pytest.raises(OutOfBoundsError):
        shape.linear_index((np.array([-1]), np.array([0])))
    with pytest.raises(OutOfBoundsError):
        shape.multi_index(np.array([0, 1 << 40]))
    with pytest.raises(ShapeError, match="of 2 numbers"):
        shape.linear_index(np.zeros((4, 3), int))
    with pytest.raises(TypeError, match="whole numbers"):
        shape.linear_index(np.zeros((4, 2)))


def test_layouts():
    assert xla_shape.default_layout("v5e", "bf16[1,3072]") == Layout("{1,0:T(2,128)(2,1)}")
    assert xla_shape.default_layout("v5e", "bf16", (1, 3072)) == Layout("{1,0:T(2,128)(2,1)}")
    assert Shape("f32[100,200]").with_default_layout("v5e") == Shape("f32[100,200]{0,1:T(8,128)}")
    assert Shape("f32[2,3]").with_layout("{0,1}") == Shape("f32[2,3]{0,1}")
    with pytest.raises(ShapeError, match="v5e"):
        xla_shape.default_layout("v99", "f32[2]")
    with pytest.raises(ShapeError):
        Shape("f32[2,3]").with_layout("{0}")


def test_answers():
    assert xla_shape.byte_size("f32[100,200]{1,0:T(8,128)}") == 106_496
    assert xla_shape.padding("f32[100,200]{1,0:T(8,128)}") == 26_496
    free = xla_shape.compare("f32[6,2,3]", "f32[36]")
    assert free and free["kind"] == "reshape" and free["generation"] is None
    moves = xla_shape.compare("bf16[256,128]{1,0:T(8,128)(2,1)}", "bf16[256,128]{1,0:T(8,128)}")
    assert not moves and moves["bitcast"] is False and moves["reason"].split(",")[0] in str(moves)
    on_tpu = xla_shape.compare("f32[8,1024]", "f32[8192]", "v5e")
    assert on_tpu["generation"] == "v5e" and not on_tpu["reshape"]["free"]
    advice = xla_shape.advise("f32[100,1]", "v5e")
    assert len(advice) == len(advice.data) == len(list(advice)) > 0
    assert "v5e" in str(advice)
    assert xla_shape.advise("f32[100,1]", what_if=["1=128"]).data != advice.data
    explained = xla_shape.explain("f32[100,200]{1,0:T(8,128)}", "{devices=[4,2]<=[8]}")
    assert explained["bytes"] == 106_496
    assert "106,496 bytes" in str(explained)
    assert max(map(len, explained.text(60).splitlines())) <= 60
    with pytest.raises(ShapeError):
        xla_shape.advise("f32[100,1]", "v5e", what_if=["7=1"])


def test_sharding():
    sharding, shape = Sharding("{devices=[4,2]<=[8]}"), Shape("f32[10,256]{1,0:T(8,128)}")
    assert sharding == Sharding("{mesh['x'=4,'y'=2], [{'x'}, {'y'}]}")
    assert sharding.shard_shape(shape) == Shape("f32[3,128]{1,0:T(8,128)}")
    assert sharding.device_count(shape) == 8
    array = np.arange(2560).reshape(10, 256)
    regions = sharding.regions(shape)
    assert regions[3] == sharding.region(shape, 3) == (slice(3, 6), slice(128, 256))
    assert sum(array[region].sum() for region in regions.values()) == array.sum()
    assert sharding.holders(shape, (9, 0)) == [6]
    everywhere = sharding.reshard("{replicated}", "f32[16,256]").data
    assert (everywhere["collectives"], everywhere["bytes_moved"]) == (["all-gather"], 8 * 7 * 4 * 128 * 4)
    assert Sharding("{mesh['x'=4,'y'=2], [{'x'}, {'y'}]}").to_tiled().kind == "tiled"
    assert [str(leaf) for leaf in Sharding("{{replicated}, {manual}}").elements] == ["{replicated}", "{manual}"]
    with pytest.raises(ShapeError):
        sharding.region(shape, 8)
    with pytest.raises(OutOfBoundsError):
        sharding.holders(shape, (10, 0))
    with pytest.raises(ShapeError):
        Sharding("{manual}").shard_shape(shape)
    with pytest.raises(ShapeError, match="devices"):
        Sharding("{devices=[4194304,1]<=[4194304]}").regions("f32[4194304,1]")


def test_module():
    module = Module(MODULE)
    assert module.name == "add" and module.is_scheduled
    assert module.computations == ["main"]
    assert [instruction.name for instruction in module.instructions] == ["a", "b", "c"]
    root = module.instruction("%c")
    assert (root.opcode, root.operands, root.is_root, root.computation) == ("add", ("a", "b"), True, "main")
    assert module.parameters == (root.shape, root.shape) and module.result == root.shape
    assert module.check() == []
    bad = Module("HloModule m\nENTRY e { p = f32[2] parameter(0)\n q = f32[2] opaque-thing(p)\n ROOT r = f32[3] negate(p) }")
    found = bad.check()
    assert any(finding.startswith("error: %r (negate)") for finding in found), found
    assert any(finding.startswith("hint: %q (opaque-thing)") for finding in found), found
    assert not any("hint: hint" in finding for finding in found), found
    assert Module(module.to_proto()).result == module.result
    memory = module.memory("v5e")
    assert memory["memory"]["device"]["arguments"] == 2 * 106_496
    assert memory["memory"]["device"]["outputs"] == 106_496
    assert "<html" in memory.html()
    assert module.memory(10**6).data != memory.data
    assert module.memory().data
    assert "0 values added" in str(module.difference(module))
    with pytest.raises(ShapeError, match="no instruction `z`"):
        module.instruction("z")
    with pytest.raises(ShapeError):
        module.memory("v99")
    with pytest.raises(ShapeError):
        module.memory(space=7)
    with pytest.raises(ShapeError):
        Module(b"\xff\xfe no module")
    text = MODULE.encode()
    for place in (0, 1, 40, len(text)):
        broken = text[:place] + b"\xff" + text[place:]
        with pytest.raises(ParseError, match="UTF-8") as caught:
            Module(broken)
        # The text ends with the first bytes that are not UTF-8.
        assert caught.value.text == broken.decode(errors="replace")[: place + 1] and caught.value.span == (place, place + 1)


def test_layouts_that_instructions_leave_out_are_those_of_the_program():
    module = Module(
        "HloModule m, entry_computation_layout={(f32[8,64]{0,1})->f32[64,8]{0,1}}\n"
        "ENTRY e { x = f32[8,64] parameter(0) ROOT y = f32[64,8] transpose(x), dimensions={1,0} }"
    )
    assert [str(shape) for shape in (*module.parameters, module.result)] == ["f32[8,64]{0,1}", "f32[64,8]{0,1}"]


def test_module_file(tmp_path):
    (tmp_path / "module.txt").write_text(MODULE)
    (tmp_path / "module.pb").write_bytes(Module(MODULE).to_proto())
    assert Module.read(tmp_path / "module.txt") == Module(MODULE)
    assert Module.read(str(tmp_path / "module.pb")).result == Module(MODULE).result
    for path in (tmp_path / "none", "-"):
        with pytest.raises(FileNotFoundError) as caught:
            Module.read(path)
        assert caught.value.filename.endswith(str(path)) and caught.value.errno == errno.ENOENT
        assert caught.value.filename in str(caught.value)
    # A directory means the module of the dump in it.
    (tmp_path / "empty").mkdir()
    with pytest.raises(ShapeError, match="empty` has no optimized module"):
        Module.read(tmp_path / "empty")
    (tmp_path / "broken.txt").write_bytes(b"ENTRY \xff")
    with pytest.raises(ParseError, match="UTF-8"):
        Module.read(tmp_path / "broken.txt")


def test_pictures():
    shape = Shape("f32[10,200]{1,0:T(8,128)}")
    assert shape._repr_svg_().startswith("<svg")
    assert "<iframe" in shape._repr_html_() and "<script" not in shape._repr_html_()
    drawing = shape.draw()
    assert drawing.svg() == shape._repr_svg_() and drawing.html().startswith("<!doctype html>")
    # A notebook keeps the page compressed.
    for text in ("f32[10,200]{1,0:T(8,128)}", "bf16[4096,4096]{1,0:T(8,128)(2,1)}", "f32[3,4]"):
        kept = Shape(text)._repr_html_()
        assert len(kept) <= 26_000, len(kept)
        packed = re.search(r"atob\('([A-Za-z0-9+/=]+)'\)", kept)
        assert zlib.decompress(base64.b64decode(packed[1])).decode() == Shape(text).draw().html()
    colours = Sharding("{devices=[4,2]<=[8]}").draw(shape)
    assert colours.svg().startswith("<svg") and "<iframe" in colours._repr_html_()
    assert xla_shape.relayout(np.zeros((10, 200), np.float32), shape)._repr_html_() == shape._repr_html_()
    for text in ("{devices=[4,2]<=[8]}", "{mesh['x'=4,'y'=2], [{'x'}, {'y'}]}", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"):
        assert Sharding(text)._repr_svg_().startswith("<svg") and "<iframe" in Sharding(text)._repr_html_()
    for text in ("{replicated}", "{manual}", "{maximal device=3}"):
        assert Sharding(text)._repr_svg_() is None and Sharding(text)._repr_html_() is None
    assert Module(MODULE)._repr_html_().startswith("<iframe")
    assert xla_shape.explain(shape)._repr_html_().startswith("<pre>")
    assert xla_shape.explain(shape).svg() is None


def test_the_repr_of_a_module_is_one_line():
    module = Module("HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[8]{0} parameter(0)\n  ROOT n = f32[8]{0} negate(p)\n}")
    assert repr(module) == "<Module m: 1 computation, 2 instructions, 64 B of memory>"
    assert str(module).count("\n") > 3 and "<iframe" in module._repr_html_()


def test_shards_that_are_received():
    rows, columns = Sharding("{devices=[4,1]<=[4]}"), Sharding("{devices=[1,2,2]<=[4] last_tile_dim_replicate}")
    array = np.arange(8 * 6, dtype=np.float32).reshape(8, 6)
    shards = {device: np.ascontiguousarray(array[rows.region(array, device)]) for device in range(4)}
    plan = rows.reshard(columns, "f32[8,6]", hosts=2, devices=[3])
    assert (plan["messages"], [part["device"] for part in plan["devices"][0]["from"]]) == (12, [0, 1, 2])
    for device in range(4):
        found = rows.receive(columns, "f32[8,6]", shards, device)
        np.testing.assert_array_equal(np.asarray(found), array[columns.region(array, device)])
    tiled = rows.receive(columns, "f32[8,6]", shards, 1, layout="{1,0:T(2,2)}")
    assert str(tiled.shape) == "f32[8,3]{1,0:T(2,2)}"
    np.testing.assert_array_equal(tiled.relayout("{1,0}").numpy(), array[:, :3])
    with pytest.raises(ShapeError, match="expected the shard of device 0, found none"):
        rows.receive(columns, "f32[8,6]", {}, 0)
    with pytest.raises(ShapeError, match="expected a device of the sharding"):
        rows.receive(columns, "f32[8,6]", shards, 4)
    with pytest.raises(ShapeError, match="expected 48 bytes in the shard of device 1"):
        rows.receive(columns, "f32[8,6]", {**shards, 1: b""}, 0)
    with pytest.raises(ShapeError, match="0"):
        rows.reshard(columns, "f32[8,6]", hosts=0)
