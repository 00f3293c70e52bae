"""Errors while a call is traced, and what the Python module derives from signatures: types of results, rules for meshes."""

import ast
import importlib.util
import inspect
import json
import re
import subprocess
import sys
import textwrap

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from test_kernels import LIBRARY, ROOT, kernels, normal, raw, xla_shape_ffi

X, GAIN = np.ones((6, 4), np.float32), np.ones(4, np.float32)
LIKE_X = jax.ShapeDtypeStruct((6, 4), np.float32)
ATTRIBUTES = dict(numbers=[1], times=1, negative=False, mode="sum")


# Calls that are refused.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: kernels.scale_rows(x), "scale_rows: this kernel takes 2 operands (x, gain), the call has 1"),
        (
            lambda x: kernels.scale_rows(x, GAIN, 2.0, shift=1.0),
            "scale_rows: this kernel takes 2 operands (x, gain), the call has 3; attributes are given by name: factor=…",
        ),
        (lambda x: kernels.total(x[0]), "total: this kernel takes at least 2 operands (first, *rest, last), the call has 1"),
        (
            lambda x: kernels.scale_rows(x[0], GAIN),
            "scale_rows: operand 0 (x): this kernel takes f32[b,d], the call has f32[4]",
        ),
        (
            lambda x: kernels.scale_rows(x.astype(jnp.bfloat16), GAIN),
            "scale_rows: operand 0 (x): this kernel takes f32[b,d], the call has bf16[6,4]",
        ),
        (
            lambda x: kernels.scale_rows(x, GAIN[:3]),
            "scale_rows: operand 1 (gain): this kernel takes f32[d] with d = 4 as in operand 0 (x), the call has f32[3]",
        ),
        (
            lambda x: kernels.scale_rows(x, GAIN, results=x[:3]),
            "scale_rows: result 0 (y): this kernel takes f32[b,d] with b = 6 as in operand 0 (x), the call has f32[3,4]",
        ),
        (
            lambda x: kernels.softmax(x),
            "softmax: operand 0 (x): this kernel takes f32[256,512], the call has f32[6,4]",
        ),
        (
            lambda x: kernels.total(x[0], x[0], x[0, :2], x[0]),
            "total: operand 2 (rest): this kernel takes f32[n] with n = 4 as in operand 0 (first), the call has f32[2]",
        ),
        (lambda x: kernels.scale_rows("x", GAIN), "scale_rows: operand 0 (x): expected an array, found a value of type str"),
        (
            lambda x: kernels.add_all(x, results=x, numbers=[], times=1, negative=False),
            "add_all: attribute 'mode': this kernel takes a text, the call has none",
        ),
        (
            lambda x: kernels.add_all(x, results=x, **ATTRIBUTES | {"times": "1"}),
            "add_all: attribute 'times': expected int32, found '1'",
        ),
        (
            lambda x: kernels.add_all(x, results=x, **ATTRIBUTES | {"times": 1.5}),
            "add_all: attribute 'times': expected int32, found 1.5",
        ),
        (
            lambda x: kernels.add_all(x, results=x, **ATTRIBUTES | {"times": [1]}),
            "add_all: attribute 'times': this kernel takes a number, the call has [1]",
        ),
        (
            lambda x: kernels.add_all(x, results=x, **ATTRIBUTES | {"numbers": 5}),
            "add_all: attribute 'numbers': expected a list of numbers, found 5: write [5]",
        ),
        (
            lambda x: kernels.add_all(x, results=x, **ATTRIBUTES | {"mode": 1}),
            "add_all: attribute 'mode': this kernel takes a text, the call has 1",
        ),
        (
            lambda x: kernels.scale_rows(x, GAIN, fctor=1.0),
            "scale_rows: attribute 'fctor': this kernel has no attribute of this name; it has factor, shift",
        ),
        (
            lambda x: kernels.scale_rows(x, gian=GAIN),
            "scale_rows: attribute 'gian': this kernel has no attribute of this name; it has factor, shift; its operands are x, gain",
        ),
        (lambda x: kernels.gram(x, x, eps=1.0), "gram: attribute 'eps': this kernel has no attributes"),
        (
            lambda x: kernels.scale_rows(x, GAIN, factor=x[0, 0]),
            "scale_rows: attribute 'factor': expected a constant of the program, found what is traced",
        ),
        (
            lambda x: kernels.softmax_of_any(x),
            "softmax_of_any: result 0 (y): the operands do not say all sizes of an array of any shape: say its type with results=",
        ),
        (
            lambda x: kernels.add_all(x, **ATTRIBUTES),
            "add_all: result 0 (y): the operands do not say all sizes of f32[?,4]: say its type with results=",
        ),
        (lambda x: kernels.softmax_of_any(x, results=[x, x]), "softmax_of_any: results: expected the types of 1 result, found 2"),
        (
            lambda x: kernels.softmax_of_any(x, results=[(6, 4)]),
            "softmax_of_any: results: expected a jax.ShapeDtypeStruct or an array, found (6, 4)",
        ),
        (lambda x: kernels.scale_rows(x, GAIN, gain=GAIN), "scale_rows: operand 1 (gain): given twice, by its place and by its name"),
        (lambda x: kernels.scale_rows(x, x=x), "scale_rows: operand 0 (x): given twice, by its place and by its name"),
        (lambda x: kernels.total(x[0], first=x[0]), "total: operand 0 (first): given twice, by its place and by its name"),
        (lambda x: kernels.scale_rows({"x": x}, GAIN), "scale_rows: operand 0 (x): expected an array, found a value of type dict"),
        (
            lambda x: kernels.scale_rows(jax.random.key(0), GAIN),
            "scale_rows: operand 0 (x): this kernel takes f32[b,d], the call has key[]",
        ),
        (
            lambda x: kernels.total(x[0], [x[0], x[0]], x[0]),
            "total: operand 1 (rest): expected an array, found a list of arrays: write *rest for its arrays one by one",
        ),
        (
            lambda x: kernels.scale_rows(x, GAIN, vmap_method="fast"),
            "scale_rows: vmap_method: expected one of sequential, sequential_unrolled, expand_dims, broadcast_all, found 'fast'",
        ),
        (
            lambda x: kernels.add_one(x[0], results=x[0, :2]),
            "add_one: result 0 (x): this kernel takes f32[4], the call has f32[2]",
        ),
    ],
)
def test_what_does_not_fit_is_refused_while_it_is_traced(call, message):
    with pytest.raises(TypeError) as error:
        jax.jit(call).lower(X)
    assert message in str(error.value)
    lines = [entry.name for entry in error.traceback]
    assert "<lambda>" in lines, "the line of the user is in the traceback"


@pytest.mark.parametrize(
    ("operands", "result"),
    [
        ((X[0], GAIN), LIKE_X),
        ((X.astype(np.int32), GAIN), LIKE_X),
        ((X, GAIN[:3]), LIKE_X),
        ((X, X), LIKE_X),
        ((X, GAIN), jax.ShapeDtypeStruct((3, 4), np.float32)),
        ((X, GAIN), jax.ShapeDtypeStruct((6, 4), np.int32)),
    ],
)
def test_rust_and_python_refuse_alike(operands, result):
    with pytest.raises(TypeError) as traced:
        kernels.scale_rows(*operands, results=result)
    with pytest.raises(jax.errors.JaxRuntimeError) as run:
        jax.block_until_ready(raw("scale_rows", result)(*operands))
    assert f"INVALID_ARGUMENT: {traced.value}" in str(run.value)


def test_what_a_kernel_refuses_has_its_name():
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"INVALID_ARGUMENT: expected mode \"sum\", found \"mean\" \(in add_all\)"):
        jax.block_until_ready(kernels.add_all(X, results=X, **ATTRIBUTES | {"mode": "mean"}))


def test_an_array_on_another_device_is_refused_with_the_name_of_the_kernel():
    class Device:
        platform = "gpu"

        def __str__(self):
            return "cuda:0"

    class Array:
        def devices(self):
            return {Device()}

    expected = re.escape("softmax: operand 0 (x): this kernel runs on CPU, the array is on cuda:0")
    with pytest.raises(TypeError, match=expected):
        kernels.softmax._expect_cpu("operand 0 (x)", Array())
    # The handlers for GPUs, registered for CPUs here.
    library = xla_shape_ffi.ctypes.CDLL(str(LIBRARY))
    library.xla_shape_ffi_refusal.restype = xla_shape_ffi.ctypes.c_void_p
    jax.ffi.register_ffi_target("refused", jax.ffi.pycapsule(library.xla_shape_ffi_refusal(0)), platform="cpu")
    with pytest.raises(jax.errors.JaxRuntimeError, match="softmax: this kernel runs on CPU, the call is on another device"):
        jax.block_until_ready(jax.ffi.ffi_call("refused", LIKE_X)(X))


def test_a_version_that_does_not_fit_is_refused_when_the_library_is_loaded():
    here = xla_shape_ffi._api_version()
    xla_shape_ffi._check_version("a.so", (0, 1), here)
    for version in [(1, 1), (0, here[1] + 1)]:
        with pytest.raises(ValueError, match=r"a\.so: expected a JAX whose XLA has version .* found JAX"):
            xla_shape_ffi._check_version("a.so", version, here)


# Results.


def test_results_follow_from_named_sizes():
    x, y = normal(5, 3), normal(5, 2, seed=1)
    np.testing.assert_allclose(jax.jit(kernels.gram)(x, y), x.T @ y, rtol=1e-5)
    z = kernels.scale_rows(x, y[0, :1].repeat(3))
    np.testing.assert_allclose(z, 2 * x * y[0, 0], rtol=1e-6)
    assert kernels.scale_rows(x[:0], x[0]).shape == (0, 3)
    assert kernels.scale_rows(x[:, :0], x[0, :0]).shape == (5, 0)


def test_results_and_operands_of_numpy_are_those_of_jax():
    x = np.arange(6.0).reshape(2, 3)
    y = kernels.softmax_of_any(x, results=x)
    assert y.dtype == jnp.float32
    np.testing.assert_allclose(y, jax.nn.softmax(x), rtol=1e-6)
    np.testing.assert_allclose(kernels.scale_rows(x, [1.0, 2.0, 3.0]), 2 * x * [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="row_major_f64: operand 0 .*f64.*f32"):
        kernels.row_major_f64(np.ones((3, 5)))


def test_operands_may_be_named():
    np.testing.assert_array_equal(kernels.scale_rows(X, gain=GAIN), 2 * X)
    np.testing.assert_array_equal(kernels.scale_rows(gain=GAIN, x=X), 2 * X)
    np.testing.assert_array_equal(kernels.total(GAIN, GAIN, last=GAIN), 111 * GAIN)
    np.testing.assert_array_equal(kernels.total(GAIN, 2 * GAIN, last=3 * GAIN), 321 * GAIN)
    np.testing.assert_array_equal(kernels.total(last=3 * GAIN, first=GAIN), 301 * GAIN)


def test_any_number_of_operands():
    a, b, c, d = (normal(3, seed=seed) for seed in range(4))
    np.testing.assert_allclose(kernels.total(a, d), a + 100 * d, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(kernels.total)(a, b, c, d), a + 10 * (b + c) + 100 * d, rtol=1e-5)


def test_attributes_with_defaults_may_be_left_out():
    def said(**attributes):
        with pytest.raises(jax.errors.JaxRuntimeError) as error:
            jax.block_until_ready(kernels.options(**attributes))
        return str(error.value)

    assert 'sum [0.5, inf] None None true' in said()
    assert 'max [] Some(-3) Some("x") false' in said(mode="max", numbers=[], count=-3, names="x", is_fast=False)
    assert 'sum [0.5, inf] None None true' in said(count=None, names=None)
    np.testing.assert_array_equal(kernels.scale_rows(X, GAIN, factor=3), 3 * X)
    np.testing.assert_array_equal(kernels.scale_rows(X, GAIN, shift=1.0), 2 * X + 1)


def test_an_array_in_place_shares_memory_where_the_program_allows_it():
    x = jnp.arange(4.0)
    np.testing.assert_array_equal(kernels.add_one(x), [1, 2, 3, 4])
    np.testing.assert_array_equal(x, [0, 1, 2, 3])
    text = jax.jit(kernels.add_one).lower(x).as_text()
    assert "output_operand_alias" in text
    # The program still needs the operand.
    y, z = jax.jit(lambda x: (kernels.add_one(x), x + 0))(x)
    np.testing.assert_array_equal(y, z + 1)
    twice = jax.jit(lambda x: kernels.add_one(kernels.add_one(x)), donate_argnums=0)
    np.testing.assert_array_equal(twice(jnp.zeros(5)), 2)
    np.testing.assert_array_equal(raw("add_one", jax.ShapeDtypeStruct((4,), np.float32))(x), [1, 2, 3, 4])


# Transformations.


def test_vmap_of_independent_sizes_is_one_call():
    x, gain = normal(3, 5, 4), normal(4, seed=1)
    for call, operands, axes in [
        (kernels.scale_rows, (x, gain), (0, None)),
        (kernels.scale_rows, (x.transpose(1, 0, 2), gain), (1, None)),
        (kernels.softmax_of_rows, (x,), (0,)),
        (lambda x: kernels.softmax_of_any(x, results=x), (x,), (0,)),
        (kernels.add_one, (x[0],), (0,)),
    ]:
        batched = jax.vmap(call, axes)
        plain = [call(*(x if a is None else jnp.take(x, i, a) for x, a in zip(operands, axes))) for i in range(operands[0].shape[axes[0]])]
        np.testing.assert_allclose(jax.jit(batched)(*operands), jnp.stack(plain), rtol=1e-6)
        np.testing.assert_allclose(batched(*operands), jnp.stack(plain), rtol=1e-6)
        assert "while" not in jax.jit(batched).lower(*operands).as_text()


def test_vmap_where_a_kernel_does_not_allow_more_is_sequential():
    x, gains = normal(3, 5, 4), normal(3, 4, seed=1)
    found = jax.jit(jax.vmap(kernels.scale_rows))(x, gains)
    np.testing.assert_allclose(found, 2 * x * gains[:, None], rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(kernels.scale_rows, (None, 0))(x[0], gains), 2 * x[0] * gains[:, None], rtol=1e-6)
    twice = jax.vmap(jax.vmap(kernels.softmax_of_rows))
    np.testing.assert_allclose(twice(x[None]), jax.nn.softmax(x)[None], rtol=1e-5)
    assert jax.vmap(kernels.softmax_of_rows)(x[:0]).shape == (0, 5, 4)


def test_gradients():
    def backward(x, y, dy):
        return y * (dy - (y * dy).sum(axis=-1, keepdims=True))

    softmax = kernels.softmax_of_rows.with_gradient(backward)
    x, weights = normal(5, 4), normal(5, 4, seed=1)
    found = jax.jit(jax.grad(lambda x: (softmax(x) * weights).sum()))(x)
    expected = jax.grad(lambda x: (jax.nn.softmax(x) * weights).sum())(x)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    found = jax.vmap(jax.grad(lambda x: (softmax(x[None])[0] * weights[0]).sum()))(x)
    expected = jax.vmap(jax.grad(lambda x: (jax.nn.softmax(x) * weights[0]).sum()))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    scaled = kernels.scale_rows.with_gradient(
        lambda operands, y, dy, factor: (factor * dy * operands[1], factor * (dy * operands[0]).sum(axis=0))
    )
    loss = lambda x, gain: (scaled(x, gain, factor=3.0) ** 2).sum()
    expected = jax.grad(lambda x, gain: ((3 * x * gain) ** 2).sum(), (0, 1))(x, weights[0])
    for found, expected in zip(jax.grad(loss, (0, 1))(x, weights[0]), expected):
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def second_order(f, x):
    """The second or third derivative of a function to a scalar."""
    squared = lambda f: lambda x: (jax.grad(f)(x) ** 2).sum()
    return {
        "gradient of a gradient": jax.grad(squared(f))(x),
        "compiled": jax.jit(jax.grad(squared(jax.jit(f))))(x),
        "third order": jax.grad(squared(squared(f)))(x),
        "Hessian": jax.jacrev(jax.grad(f))(x),
        "Hessian by Jacobians": jax.jacrev(jax.jacrev(f))(x),
        "rows": jax.vmap(jax.grad(squared(lambda row: f(row[None] + jnp.zeros_like(x)))))(x),
        "checkpointed": jax.grad(squared(jax.checkpoint(f)))(x),
    }


def test_gradients_of_gradients():
    softmax = kernels.softmax_of_rows.with_gradient(lambda x, y, dy: y * (dy - (y * dy).sum(axis=-1, keepdims=True)))
    x, weights = normal(3, 4), normal(3, 4, seed=1)
    found = second_order(lambda x: (softmax(x) ** 2 * weights).sum(), x)
    expected = second_order(lambda x: (jax.nn.softmax(x) ** 2 * weights).sum(), x)
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-4, atol=1e-6, err_msg=name)
    # Several operands, with attributes, and a gradient that calls a kernel with a gradient.
    scaled = kernels.scale_rows.with_gradient(
        lambda operands, y, dy, factor: (scaled(dy, operands[1], factor=factor), factor * (dy * operands[0]).sum(axis=0))
    )
    gain = weights[0]
    losses = [lambda x, gain: (scaled(x, gain, factor=3.0) ** 3).sum(), lambda x, gain: ((3 * x * gain) ** 3).sum()]
    for order in range(2):
        found, expected = (jax.jacrev(jax.grad(loss, order), (0, 1))(x, gain) for loss in losses)
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_a_gradient_takes_operands_by_name_and_is_traced_once():
    traced = []

    def backward(operands, y, dy, **attributes):
        traced.append(attributes)
        x, gain = operands
        return attributes["factor"] * dy * gain, attributes["factor"] * (dy * x).sum(axis=0)

    scaled = kernels.scale_rows.with_gradient(backward)
    assert inspect.signature(scaled) == inspect.signature(kernels.scale_rows) and scaled.__name__ == "scale_rows"
    np.testing.assert_array_equal(scaled(X, gain=GAIN, factor=3), 3 * X)
    found = jax.grad(lambda gain: scaled(X, gain=gain, factor=3).sum())(GAIN)
    np.testing.assert_allclose(found, 3 * X.sum(axis=0))
    jax.grad(lambda gain: scaled(X, gain, factor=3.0).sum())(GAIN)
    count = len(traced)
    for _ in range(3):
        jax.grad(lambda gain: scaled(X, gain, factor=3.0).sum())(GAIN)
    assert len(traced) == count and traced[0] == {"factor": 3.0}, "the same call is traced once"
    jax.grad(lambda gain: scaled(X, gain, factor=3, shift=None).sum())(GAIN)
    assert traced[-1] == {"factor": 3.0, "shift": None}
    found = jax.jit(jax.grad(lambda x: scaled(gain=GAIN, x=x, factor=3).sum()))(X)
    np.testing.assert_allclose(found, 3 * np.ones_like(X))
    first = kernels.scale_rows.with_gradient(lambda operands, y, dy: (2 * dy, None))
    found = jax.grad(lambda x, gain: first(x, gain).sum(), (0, 1))(X, GAIN)
    np.testing.assert_array_equal(found[1], 0 * GAIN)
    with pytest.raises(TypeError, match="scale_rows: gradient: expected the cotangents of 2 operands, found 1"):
        jax.grad(lambda x: kernels.scale_rows.with_gradient(lambda operands, y, dy: dy)(x, GAIN).sum())(X)
    message = r"scale_rows: gradient: operand 1 \(gain\): expected a cotangent like f32\[4\], found one of sizes \[6, 4\]"
    with pytest.raises(TypeError, match=message):
        jax.grad(lambda x: kernels.scale_rows.with_gradient(lambda operands, y, dy: (dy, dy))(x, GAIN).sum())(X)
    message = "scale_rows: gradient: expected a function of .* the attributes of the call, found one that cannot take them: .*'factor'"
    with pytest.raises(TypeError, match=message):
        jax.grad(lambda x: first(x, GAIN, factor=3.0).sum())(X)
    # Without differentiation, no gradient is needed.
    assert first(X, GAIN, factor=3.0).shape == X.shape


@pytest.mark.parametrize("name", ["scale_rows", "total", "softmax_of_any"])
def test_without_a_gradient_it_says_how_to_give_one(name):
    calls = {
        "scale_rows": lambda x: kernels.scale_rows(x, GAIN),
        "total": lambda x: kernels.total(x[0], x[1]),
        "softmax_of_any": lambda x: kernels.softmax_of_any(x, results=x),
    }
    expected = f"{name}: this kernel has no gradient: give it one with with_gradient"
    for transform in (jax.grad, lambda f: jax.jit(jax.grad(f)), jax.value_and_grad, lambda f: jax.grad(lambda x: jax.vmap(f)(x[None]).sum())):
        with pytest.raises(TypeError, match=expected):
            transform(lambda x: calls[name](x).sum())(X)
    with pytest.raises(TypeError, match=expected):
        jax.jvp(calls[name], (X,), (X,))
    # Functions that do not depend on the operand need no gradient.
    found = jax.grad(lambda w: (w * jax.lax.stop_gradient(calls[name](X))).sum())(2.0)
    np.testing.assert_allclose(found, calls[name](X).sum(), rtol=1e-5)
    found = jax.grad(lambda w: (w * calls[name](X)).sum())(2.0)
    np.testing.assert_allclose(found, calls[name](X).sum(), rtol=1e-5)


# Programs in other processes.

MESH = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np, sys
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
sys.path.insert(0, {module!r})
import xla_shape_ffi
kernels = xla_shape_ffi.load({library!r})
mesh = Mesh(np.array(jax.devices()), ("data",))
x = jax.random.normal(jax.random.key(0), (8, 16))
expected = jax.nn.softmax(x)

def run(function, spec, *operands):
    compiled = jax.jit(function).lower(*operands).compile()
    return jax.jit(function)(*operands), compiled.as_text()

rows = jax.device_put(x, NamedSharding(mesh, P("data", None)))
y, text = run(kernels.softmax_of_rows, P("data", None), rows)
assert "all-gather" not in text and "all-to-all" not in text, text
assert y.sharding.spec[0] == "data", y.sharding
np.testing.assert_allclose(y, expected, rtol=1e-5)

# Dimensions that cannot be divided are gathered.
columns = jax.device_put(x, NamedSharding(mesh, P(None, "data")))
y, text = run(kernels.softmax_of_rows, None, columns)
np.testing.assert_allclose(y, expected, rtol=1e-5)

gain = jax.device_put(jnp.arange(16.0), NamedSharding(mesh, P("data")))
y, text = run(kernels.scale_rows, None, rows, gain)
np.testing.assert_allclose(y, 2 * x * gain, rtol=1e-6)

batched = jax.device_put(jnp.stack([x] * 4), NamedSharding(mesh, P("data", None, None)))
y, text = run(jax.vmap(kernels.softmax_of_rows), None, batched)
np.testing.assert_allclose(y[3], expected, rtol=1e-5)

# Dimensions that vmap adds are independent, too, and the others stay divided.
for call in (kernels.softmax_of_rows, lambda x: kernels.softmax_of_any(x, results=x)):
    for spec in (P("data"), P(None, "data")):
        if spec[0] is None and call is not kernels.softmax_of_rows:
            continue
        batched = jax.device_put(jnp.stack([x] * 4), NamedSharding(mesh, spec))
        for function, operand in ((jax.vmap(call), batched), (jax.vmap(jax.vmap(call)), batched[None])):
            y, text = run(function, spec, operand)
            assert "all-gather" not in text and "all-to-all" not in text, text
            np.testing.assert_allclose(y.reshape(4, 8, 16)[3], expected, rtol=1e-5)
y, text = run(jax.vmap(kernels.scale_rows, (0, None)), None, batched, gain)
np.testing.assert_allclose(y[3], 2 * x * gain, rtol=1e-6)

shard_map = getattr(jax, "shard_map", None)
if shard_map is None:
    from jax.experimental.shard_map import shard_map
y = jax.jit(shard_map(kernels.softmax_of_rows, mesh=mesh, in_specs=P("data", None), out_specs=P("data", None)))(rows)
np.testing.assert_allclose(y, expected, rtol=1e-5)

# A result that depends on the device is not replicated.
try:
    jax.jit(shard_map(kernels.softmax_of_rows, mesh=mesh, in_specs=P("data", None), out_specs=P()))(rows)
except (ValueError, NotImplementedError):
    pass
else:
    raise AssertionError("a part is taken for the whole")

# vmap in the body of a shard_map makes one call.
spec = P(None, "data", None)
inside = jax.jit(shard_map(jax.vmap(kernels.softmax_of_rows), mesh=mesh, in_specs=spec, out_specs=spec))
np.testing.assert_allclose(inside(jnp.stack([x] * 4))[3], expected, rtol=1e-5)
if jax.__version_info__ >= (0, 10):
    assert "while" not in inside.lower(jnp.stack([x] * 4)).compile().as_text()

# Gradients, of calls in a shard_map and of a shard_map.
softmax = kernels.softmax_of_rows.with_gradient(lambda x, y, dy: y * (dy - (y * dy).sum(-1, keepdims=True)))
weights = jax.random.normal(jax.random.key(1), (8, 16))
reference = jax.grad(lambda x: (jax.nn.softmax(x) * weights).sum())(x)
spec = P("data", None)
inside = shard_map(
    lambda x, w: jax.grad(lambda x: (softmax(x) * w).sum())(x), mesh=mesh, in_specs=(spec, spec), out_specs=spec
)
np.testing.assert_allclose(jax.jit(inside)(x, weights), reference, rtol=1e-4, atol=1e-6)
outside = jax.grad(lambda x: (shard_map(softmax, mesh=mesh, in_specs=spec, out_specs=spec)(x) * weights).sum())
np.testing.assert_allclose(jax.jit(outside)(rows), reference, rtol=1e-4, atol=1e-6)
np.testing.assert_allclose(jax.jit(jax.grad(lambda x: (softmax(x) * weights).sum()))(rows), reference, rtol=1e-4, atol=1e-6)

# A replicated operand gets the sum of its cotangents.
scaled = kernels.scale_rows.with_gradient(lambda operands, y, dy: (2 * dy * operands[1], 2 * (dy * operands[0]).sum(axis=0)))
scaled_rows = shard_map(scaled, mesh=mesh, in_specs=(spec, P()), out_specs=spec)
found = jax.jit(jax.grad(lambda g: (scaled_rows(rows, g) * weights).sum()))(jnp.arange(16.0))
np.testing.assert_allclose(found, (2 * x * weights).sum(axis=0), rtol=1e-4, atol=1e-5)
print("done")
"""


def in_another_process(program, **values):
    values |= {"module": str(ROOT / "python"), "library": str(LIBRARY)}
    program = textwrap.dedent(program).format(**values)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_mesh_cuts_what_is_independent_and_nothing_else():
    assert in_another_process(MESH) == "done\n"


def test_an_exported_program_runs_in_another_process(tmp_path):
    call = jax.jit(lambda x, gain: kernels.scale_rows(kernels.softmax_of_rows(x), gain, factor=3.0))
    targets = [kernels.scale_rows.target, kernels.softmax_of_rows.target]
    checks = [jax.export.DisabledSafetyCheck.custom_call(target) for target in targets]
    exported = jax.export.export(call, disabled_checks=checks)(X, GAIN)
    (tmp_path / "program").write_bytes(exported.serialize())
    np.save(tmp_path / "expected.npy", call(X, GAIN))
    program = """
        import sys
        sys.path.insert(0, {module!r})
        import jax, jax.export, numpy as np, xla_shape_ffi
        xla_shape_ffi.load({library!r})
        call = jax.export.deserialize(bytearray(open({path!r} + "/program", "rb").read())).call
        expected = np.load({path!r} + "/expected.npy")
        np.testing.assert_array_equal(call(np.ones((6, 4), np.float32), np.ones(4, np.float32)), expected)
        print("done")
    """
    assert in_another_process(program, path=str(tmp_path)) == "done\n"


def test_a_program_of_the_compilation_cache_runs_in_another_process(tmp_path):
    program = """
        import sys
        sys.path.insert(0, {module!r})
        import jax, numpy as np, xla_shape_ffi
        jax.config.update("jax_compilation_cache_dir", {path!r})
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        events = []
        jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
        kernels = xla_shape_ffi.load({library!r})
        x = np.ones((6, 4), np.float32)
        y = jax.jit(lambda x: kernels.scale_rows(kernels.softmax_of_rows(x), x[0], factor=3.0))(x)
        np.testing.assert_allclose(y, 0.75 * x)
        print(sum(event.endswith("/cache_hits") for event in events))
    """
    assert in_another_process(program, path=str(tmp_path)) == "0\n"
    assert in_another_process(program, path=str(tmp_path)) == "1\n"


def test_sizes_of_an_exported_program_may_be_open():
    b, = jax.export.symbolic_shape("b")
    target = kernels.scale_rows.target
    exported = jax.export.export(
        jax.jit(kernels.scale_rows), disabled_checks=[jax.export.DisabledSafetyCheck.custom_call(target)]
    )(jax.ShapeDtypeStruct((b, 4), np.float32), GAIN)
    for rows in (2, 7):
        x = normal(rows, 4)
        np.testing.assert_allclose(exported.call(x, GAIN), 2 * x, rtol=1e-6)


# Signatures and documentation of kernels.


def test_targets_have_stable_names():
    assert kernels.softmax.target == "xla-shape-jax-example.softmax"
    text = jax.jit(kernels.softmax_of_rows).lower(X).as_text()
    assert "xla-shape-jax-example.softmax_of_rows" in text and str(ROOT) not in text
    assert str(ROOT) not in str(jax.make_jaxpr(kernels.softmax_of_rows)(X))


def test_documentation_and_signatures():
    assert kernels.softmax_of_rows.__doc__.startswith("Softmax of each row, for any number of rows of any length.\n\nRows")
    assert kernels.softmax.__name__ == "softmax"
    assert repr(kernels.scale_rows) == (
        "scale_rows(x: f32[b,d]{1,0}, gain: f32[d]{0}, y: result f32[b,d]{1,0}, factor: f32 = 2.0, shift: f32, optional)"
    )
    assert repr(kernels.fail_on_threads) == "fail_on_threads(y: result f32[64]{0})", "threads are nothing that a call brings"
    signature = inspect.signature(kernels.scale_rows)
    assert list(signature.parameters) == ["x", "gain", "factor", "shift", "results", "vmap_method"]
    assert signature.parameters["factor"].default == 2.0
    assert inspect.signature(kernels.options).parameters["numbers"].default == [0.5, float("inf")]
    assert "softmax" in dir(kernels) and len(list(kernels)) == len(dir(kernels))
    with pytest.raises(AttributeError, match="has no kernel 'softmx'; its kernels are softmax, softmax_of_any"):
        kernels.softmx


def test_stubs_are_types(tmp_path):
    text = xla_shape_ffi.stubs(kernels)
    assert (
        "def scale_rows(x: ArrayLike, gain: ArrayLike, *, factor: float = ..., shift: float | None = ..., "
        "results: Any = ..., vmap_method: str | None = ...) -> jax.Array:" in text
    )
    assert "def total(first: ArrayLike, *rest: ArrayLike, last: ArrayLike, results: Any = ..." in text
    assert "numbers: Sequence[float] = ..." in text
    compile(text, "kernels.pyi", "exec")
    printed = subprocess.run(
        [sys.executable, ROOT / "python/xla_shape_ffi.py", "stubs", LIBRARY], capture_output=True, text=True, check=True
    )
    assert printed.stdout == text


def test_another_library_of_the_same_package_is_refused(tmp_path):
    other = tmp_path / "other.so"
    other.write_bytes(LIBRARY.read_bytes() + b"another")
    with pytest.raises(ValueError, match="another library has the package 'xla-shape-jax-example': give this one a name"):
        xla_shape_ffi.load(other)
    mine = xla_shape_ffi.load(other, package="mine")
    assert mine.softmax.target == "mine.softmax"
    np.testing.assert_array_equal(mine.scale_rows(X, GAIN), 2 * X)


def signature(**changes):
    """A signature in the JSON of a library."""
    changed = next(kernel.signature for kernel in kernels if kernel.__name__ == "add_one")
    return json.loads(json.dumps(changed)) | changes


def parameter(name, role):
    wants = {"scalar": "f32"} if role == "attribute" else {"shape": None}
    return {"name": name, "role": role, "wants": wants, "variadic": False, "optional": False, "default": None}


def pretend(monkeypatch, signatures, refusal=lambda number: None):
    """Replaces the loaded library by one with these signatures; returns the names that are registered."""

    class Functions:
        def __init__(self, path):
            self.xla_shape_ffi_signatures = lambda: json.dumps(signatures).encode()
            self.xla_shape_ffi_handler = lambda number: None
            if refusal:
                self.xla_shape_ffi_refusal = refusal

    registered = []
    monkeypatch.setattr(xla_shape_ffi.ctypes, "CDLL", Functions)
    monkeypatch.setattr(xla_shape_ffi, "_capsule", lambda handler: handler)
    monkeypatch.setattr(jax.ffi, "register_ffi_target", lambda name, *_, **__: registered.append(name))
    return registered


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "class"}, "class: expected another name of a kernel, this is a word of Python"),
        (
            {"parameters": [parameter("lambda", "operand")]},
            "add_one: operand 'lambda': expected another name, this is a word of Python",
        ),
        ({"parameters": [parameter("from", "attribute")]}, "add_one: attribute 'from': expected another name, this is a word of Python"),
        (
            {"parameters": [parameter("results", "operand")]},
            "add_one: operand 'results': expected another name, this is an option of every call",
        ),
        (
            {"parameters": [parameter("vmap_method", "attribute")]},
            "add_one: attribute 'vmap_method': expected another name, this is an option of every call",
        ),
        ({"batch": ["m"]}, "add_one: batch(m): expected the name of a size, found none of this name"),
    ],
)
def test_what_python_cannot_call_is_refused_before_anything_is_registered(monkeypatch, tmp_path, changes, message):
    (tmp_path / "a.so").write_bytes(b"")
    registered = pretend(monkeypatch, [signature(name="fine"), signature(**changes)])
    with pytest.raises(ValueError, match=re.escape(message)):
        xla_shape_ffi.load(tmp_path / "a.so", package="pretended")
    assert not registered
    # The name of a result is not a parameter of calls.
    registered = pretend(monkeypatch, [signature(parameters=[parameter("lambda", "result")], batch=[])])
    xla_shape_ffi.load(tmp_path / "a.so", package=str(tmp_path))
    assert registered == [f"{tmp_path}.add_one"] * 3


def test_a_library_that_is_too_old_or_none_is_refused(monkeypatch, tmp_path):
    (tmp_path / "a.so").write_bytes(b"")
    pretend(monkeypatch, [signature()], refusal=None)
    with pytest.raises(ValueError, match=r"a\.so: expected a library built with a newer `xla-shape-ffi`: build it again"):
        xla_shape_ffi.load(tmp_path / "a.so")


def test_a_name_that_xla_has_from_elsewhere_is_refused_before_anything_is_registered():
    library = xla_shape_ffi.ctypes.CDLL(str(LIBRARY))
    library.xla_shape_ffi_handler.restype = xla_shape_ffi.ctypes.c_void_p
    jax.ffi.register_ffi_target("elsewhere.layer_norm", jax.ffi.pycapsule(library.xla_shape_ffi_handler(0)), platform="cpu")
    message = "layer_norm: something else has registered 'elsewhere.layer_norm' with XLA: give this library another name"
    with pytest.raises(ValueError, match=message):
        xla_shape_ffi.load(LIBRARY, package="elsewhere")
    assert "elsewhere.softmax" not in xla_shape_ffi._known_to_xla()


def test_another_copy_of_the_module_knows_what_is_registered(tmp_path):
    spec = importlib.util.spec_from_file_location("another_copy", ROOT / "python/xla_shape_ffi.py")
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    np.testing.assert_array_equal(copy.load(LIBRARY).scale_rows(X, GAIN), 2 * X)
    other = tmp_path / "other.so"
    other.write_bytes(LIBRARY.read_bytes() + b"a copy")
    with pytest.raises(ValueError, match="another library has the package"):
        copy.load(other)


def test_stubs_hold_any_documentation(monkeypatch, tmp_path):
    docs = ['ends with a "quote"', '"""three"""', "a \\ backslash\\", "two\n\nparagraphs", ""]
    (tmp_path / "a.so").write_bytes(b"")
    pretend(monkeypatch, [signature(name=f"kernel_{i}", doc=doc) for i, doc in enumerate(docs)])
    text = xla_shape_ffi.stubs(xla_shape_ffi.load(tmp_path / "a.so", package="documented"))
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert [ast.get_docstring(function) or "" for function in functions] == docs
