"""Buffers and shapes where other libraries expect arrays and sizes, and hints for names of other libraries."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import xla_shape
from xla_shape import Buffer, Layout, Module, Shape, ShapeError

ARRAY = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)
LAYOUTS = ["{2,1,0}", "{0,2,1}", "{2,1,0:T(8,128)}", "{0,1,2:T(8,128)}"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_buffer_is_an_array(layout):
    buffer = xla_shape.relayout(ARRAY, layout)
    assert (buffer.dtype, buffer.ndim, buffer.size, len(buffer)) == (ARRAY.dtype, 3, 30, 2)
    assert np.array_equal(buffer.T.numpy(), ARRAY.T) and buffer.T.data.tobytes() == buffer.tobytes()
    assert buffer.T.T.shape == buffer.shape
    assert np.array_equal(buffer[1, :, ::2], ARRAY[1, :, ::2]) and buffer[0, 0, 1] == 1
    assert np.array_equal(np.stack(list(buffer)), ARRAY)
    with pytest.raises(IndexError):
        buffer[2]


def test_scalars_and_empty_arrays():
    scalar, empty = (xla_shape.relayout(np.zeros(sizes)) for sizes in [(), (0, 3)])
    assert (scalar.ndim, scalar.size, scalar[()]) == (0, 1, 0) and not scalar
    assert (len(empty), empty.size, list(empty)) == (0, 0, []) and empty.T.shape.dimensions == (3, 0)
    with pytest.raises(TypeError, match="scalar"):
        len(scalar)


@pytest.mark.parametrize("layout", [None, *LAYOUTS])
@pytest.mark.parametrize("permute", [[2, 0, 1], (1, 0, 2)])
def test_permutations(layout, permute):
    expected = ARRAY.transpose(permute)
    buffer = xla_shape.relayout(ARRAY, "{0,1,2:T(8,128)}")
    for found in [
        xla_shape.relayout(ARRAY, layout, permute=permute),
        xla_shape.relayout(ARRAY[:, ::-1, ::2].copy()[:, ::-1, :], layout, permute=permute),
        buffer.relayout(layout, permute=permute),
        xla_shape.relayout(ARRAY.tobytes(), layout, from_="f32[2,3,5]", permute=permute),
        xla_shape.relayout(buffer.tobytes(), layout, from_=buffer.shape, permute=permute),
    ]:
        wanted = expected if found.size == 30 else ARRAY[:, :, ::2].transpose(permute)
        assert np.array_equal(found.numpy(), wanted)
        assert found.shape.layout == (Layout.row_major(3) if layout is None else Layout(layout))
    out = np.empty(found.nbytes, np.uint8)
    assert xla_shape.relayout(ARRAY, layout, permute=permute, out=out) is out


@pytest.mark.parametrize("permute", [[0, 1], [0, 1, 1], [0, 1, 3]])
def test_wrong_permutations(permute):
    for source in (ARRAY, xla_shape.relayout(ARRAY)):
        with pytest.raises(ShapeError):
            xla_shape.relayout(source, permute=permute)


def test_a_shape_is_its_sizes():
    shape = Shape("f32[2,3]{0,1}")
    assert (shape.ndim, len(shape), tuple(shape), shape[0], shape[-1], shape[1:]) == (2, 2, (2, 3), 2, 3, (3,))
    rows, columns = shape
    assert np.zeros(tuple(shape)).shape == (rows, columns)
    assert Shape("f32[]") and len(Shape("f32[]")) == 0
    with pytest.raises(IndexError):
        shape[2]
    with pytest.raises(ShapeError):
        len(Shape("token[]"))


def test_functions_take_arrays():
    like = SimpleNamespace(shape=(2, 3), dtype=np.dtype(np.float32))
    for array in (np.zeros((2, 3), np.float32), like, xla_shape.relayout(np.zeros((2, 3), np.float32))):
        assert xla_shape.default_layout("v5e", array) == Layout("{1,0:T(2,128)}")
        assert xla_shape.byte_size(array) == 24 and xla_shape.padding(array) == 0
        assert str(xla_shape.advise(array, "v5e")) == str(xla_shape.advise("f32[2,3]", "v5e"))
        assert str(xla_shape.explain(array)) == str(xla_shape.explain("f32[2,3]"))
        assert xla_shape.Shape(array) == xla_shape.Shape("f32[2,3]")
    with pytest.raises(ShapeError):
        xla_shape.padding(np.array(["text"]))
    with pytest.raises(TypeError, match="expected a Shape, a text or an array, found 3"):
        xla_shape.padding(3)


def test_types_of_torch(monkeypatch):
    class DType:
        def __init__(self, name):
            self.name = name

        def __repr__(self):
            return f"torch.{self.name}"

    DType.__module__ = "torch"
    for name, expected in {"bfloat16": "bf16", "float32": "f32", "int64": "s64", "bool": "pred", "float8_e4m3fn": "f8e4m3fn"}.items():
        assert Shape.of(DType(name), (2,)).element_type == expected
    with pytest.raises(ShapeError, match="qint8"):
        Shape.of(DType("qint8"), (2,))
    # A tensor of torch has no buffer, but lends its bytes to NumPy.
    bytes = np.zeros(24, np.uint8)
    tensor = SimpleNamespace(is_contiguous=lambda: True, detach=lambda: tensor, reshape=lambda _: tensor, view=lambda _: tensor, numpy=lambda: bytes)
    torch = ModuleType("torch")
    torch.Tensor, torch.uint8 = SimpleNamespace, "uint8"
    monkeypatch.setitem(sys.modules, "torch", torch)
    array = np.arange(6, dtype=np.float32)
    assert xla_shape.relayout(array, out=tensor) is tensor
    assert np.array_equal(bytes.view(np.float32), array)
    tensor.is_contiguous = lambda: False
    with pytest.raises(ShapeError, match="in one piece"):
        xla_shape.relayout(array, out=tensor)


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3)
    assert xla_shape.byte_size(tensor) == 12 and Shape.of(torch.float8_e4m3fn, (2,)).element_type == "f8e4m3fn"
    assert xla_shape.default_layout("v5e", torch.zeros(1, 3072, dtype=torch.bfloat16)) == Layout("{1,0:T(2,128)(2,1)}")
    for array in (tensor, tensor.T, tensor[:, ::2]):
        found = xla_shape.relayout(array, Layout.of((0, 1), tiles=((2, 2),)) if array is tensor else None)
        assert found.shape.element_type == "bf16" and np.array_equal(found.numpy().astype(np.float32), array.float().numpy())
    out = torch.zeros(3, 2, dtype=torch.bfloat16)
    assert xla_shape.relayout(tensor, permute=(1, 0), out=out) is out and torch.equal(out, tensor.T)
    out.zero_()
    with pytest.raises(ShapeError, match="in one piece"):
        xla_shape.relayout(tensor, out=out.T)
    assert not out.any()
    with pytest.raises(ShapeError, match="in other memory"):
        xla_shape.relayout(tensor, out=tensor)


def test_jax():
    jax = pytest.importorskip("jax")
    import xla_shape.jax

    jnp = jax.numpy
    buffer = xla_shape.relayout(ARRAY, "{0,2,1:T(8,128)}")
    assert np.array_equal(jnp.add(buffer, 1), ARRAY + 1)
    assert np.array_equal(jnp.asarray(buffer), ARRAY) and jnp.asarray(buffer).dtype == "float32"
    assert np.array_equal(jax.device_put(buffer), ARRAY) and np.array_equal(jax.jit(lambda x: x * 2)(buffer), ARRAY * 2)
    x = jax.device_put(ARRAY)
    assert xla_shape.byte_size(x) == x.nbytes
    assert xla_shape.padding(jax.ShapeDtypeStruct((2, 3), jnp.bfloat16)) == 0
    assert xla_shape.default_layout("v5e", jax.ShapeDtypeStruct((1, 3072), jnp.bfloat16)) == Layout("{1,0:T(2,128)(2,1)}")


def test_other_libraries():
    chex, jaxtyping = pytest.importorskip("chex"), pytest.importorskip("jaxtyping")
    buffer = xla_shape.relayout(ARRAY, "{0,2,1:T(8,128)}")
    chex.assert_shape(buffer, (2, None, 5))
    assert isinstance(buffer, jaxtyping.Float[Buffer, "a b 5"])
    assert not isinstance(buffer, jaxtyping.Float[Buffer, "a b 4"]) and not isinstance(buffer, jaxtyping.Int[Buffer, "a b c"])


MODULE = """HloModule m
ENTRY e {
  p = f32[8]{0} parameter(0), metadata={op_name="x"}
  n = f32[8]{0} negate(p), metadata={op_name="jit(f)/neg" source_file="train.py" source_line=7}, backend_config={"a":1}
  ROOT t = (f32[8]{0}, f32[8]{0}) tuple(p, n)
}
"""


def test_what_instructions_carry():
    module = Module(MODULE)
    for found in [module.instruction("n"), module.instructions[1]]:
        assert (found.op_name, found.source, found.operands, found.users) == ("jit(f)/neg", "train.py:7", ("p",), ("t",))
        assert found.backend_config == '{"a":1}'
    p, t = module.instruction("p"), module.instruction("t")
    assert (p.op_name, p.source, p.users, p.backend_config) == ("x", None, ("n", "t"), None)
    assert (t.op_name, t.users) == (None, ())
    assert module.results == (Shape("f32[8]"), Shape("f32[8]"))
    assert Module("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0) }").results == (Shape("f32[8]"),)


def test_names_that_people_guess():
    shape, buffer, module = Shape("f32[2]"), xla_shape.relayout(ARRAY), Module(MODULE)
    assert xla_shape.generations[0] == "v2" and "v5e" in xla_shape.generations
    assert Layout.row_major(2) == Layout("{1,0}") and Layout("{1,0}").ndim == 2
    for owner, name, right in [
        (shape, "tiles", "shape.layout.tiles"),
        (shape.layout, "tiling", "layout.tiles"),
        (buffer, "transpose", "buffer.T"),
        (module, "as_text", "str(module)"),
        (module.instruction("n"), "metadata", "instruction.op_name and instruction.source"),
        (xla_shape, "compile_for", "xla_shape.jax.memory"),
    ]:
        with pytest.raises(AttributeError, match=f"has no attribute {name!r}: write ") as caught:
            getattr(owner, name)
        assert right in str(caught.value)
        with pytest.raises(AttributeError, match="has no attribute 'nothing'$"):
            owner.nothing
        assert not hasattr(owner, "nothing")
