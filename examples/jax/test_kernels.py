"""The kernels of this folder, called by JAX on CPU: results, refusals, and what a long-running program needs."""

import gc
import os
import resource
import sys
import threading
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import xla_shape_ffi  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
LIBRARY = TARGET / "libjax_kernels.so"
TILED = TARGET / "libjax_tiled_kernel.so"

kernels = xla_shape_ffi.load(LIBRARY)


def normal(*sizes, dtype=jnp.float32, seed=0):
    return jax.random.normal(jax.random.key(seed), sizes, dtype)


def expect_layer_norm(x, gain, eps):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / jnp.sqrt(x.var(axis=1, keepdims=True) + eps) * gain


# Results.


def test_softmax():
    x = normal(256, 512)
    np.testing.assert_allclose(jax.jit(kernels.softmax)(x), jax.nn.softmax(x), rtol=1e-5)


@pytest.mark.parametrize("sizes", [(4,), (3, 5), (2, 3, 4), (256, 512), (7, 128), (0, 128), (0, 4), (4, 0), ()])
def test_softmax_of_any(sizes):
    x = normal(*sizes)
    y = kernels.softmax_of_any(x, results=x)
    np.testing.assert_allclose(y, jax.nn.softmax(x) if sizes else 1.0, rtol=1e-5)


def test_layer_norm():
    x, gain = normal(128, 256), normal(256, seed=1)
    y = jax.jit(lambda x, gain: kernels.layer_norm(x, gain, eps=1e-5))(x, gain)
    np.testing.assert_allclose(y, expect_layer_norm(x, gain, 1e-5), rtol=1e-4, atol=1e-5)


def test_column_major_operands_arrive_as_such():
    x = normal(256, 128)
    np.testing.assert_array_equal(jax.jit(kernels.transpose)(x), x.T)


def test_matmul_on_the_threads_of_xla():
    a, b = normal(64, 128, dtype=jnp.bfloat16), normal(128, 256, dtype=jnp.bfloat16, seed=1)
    expected = jnp.matmul(a, b, preferred_element_type=jnp.float32).astype(jnp.bfloat16)
    found = jax.jit(kernels.matmul)(a, b)
    np.testing.assert_allclose(found.astype(np.float32), expected.astype(np.float32), rtol=1e-2, atol=1e-2)


def test_packed_integers():
    q = (jnp.arange(128 * 64).reshape(128, 64) % 16 - 8).astype(jnp.int4)
    scale = normal(64)
    np.testing.assert_array_equal(kernels.dequantize(q, scale), q.astype(jnp.float32) * scale)


def test_a_kernel_compiled_against_a_program():
    state, x, weights = normal(8, 64), normal(8, 64, seed=1), normal(64, 64, seed=2) / 8
    np.testing.assert_allclose(kernels.step(state, x, weights), jnp.tanh(x + state @ weights), rtol=1e-4, atol=1e-5)


def test_attributes_of_every_kind():
    x = normal(3, 4)
    y = kernels.add_all(x, results=x, numbers=[1, 2.5], times=2, negative=True, mode="sum")
    np.testing.assert_allclose(y, x - 7, rtol=1e-6)
    assert kernels.add_all(x[:0], results=x[:0], numbers=[], times=1, negative=False, mode="sum").shape == (0, 4)


# Transformations.


def test_vmap_is_sequential():
    x, gain = normal(5, 128, 256), normal(256, seed=1)
    y = jax.vmap(lambda x: kernels.layer_norm(x, gain, eps=1e-5))(x)
    expected = jax.vmap(lambda x: expect_layer_norm(x, gain, 1e-5))(x)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_a_custom_gradient():
    @jax.custom_vjp
    def softmax(x):
        return kernels.softmax(x)

    def forward(x):
        y = kernels.softmax(x)
        return y, y

    def backward(y, dy):
        return (y * (dy - (y * dy).sum(axis=1, keepdims=True)),)

    softmax.defvjp(forward, backward)
    x, weights = normal(256, 512), normal(256, 512, seed=1)
    found = jax.jit(jax.grad(lambda x: (softmax(x) * weights).sum()))(x)
    expected = jax.grad(lambda x: (jax.nn.softmax(x) * weights).sum())(x)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6)


# Refusals.


def raw(name, result, **options):
    """A call that the Python module has not prepared."""
    kernel = getattr(kernels, name)
    return jax.ffi.ffi_call(kernel._target, result, **options)


F32 = jnp.float32
X, GAIN = jnp.ones((128, 256)), jnp.ones(256)
LIKE_X = jax.ShapeDtypeStruct((128, 256), F32)
EPS = np.float32(1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: raw("layer_norm", LIKE_X)(X, eps=EPS), "this kernel takes 2 operands, the call has 1"),
        (lambda: raw("layer_norm", LIKE_X)(X, GAIN, X, eps=EPS), "this kernel takes 2 operands, the call has 3"),
        (lambda: raw("layer_norm", (LIKE_X, LIKE_X))(X, GAIN, eps=EPS), "this kernel takes 1 result, the call has 2"),
        (
            lambda: raw("layer_norm", LIKE_X)(X, jnp.ones(128), eps=EPS),
            r"operand 1: this kernel takes f32\[256\]\{0\}, the call has f32\[128\]",
        ),
        (
            lambda: raw("layer_norm", LIKE_X)(X, jnp.ones((1, 256)), eps=EPS),
            r"operand 1: this kernel takes f32\[256\]\{0\}, the call has f32\[1,256\]",
        ),
        (
            lambda: raw("layer_norm", LIKE_X)(X.astype(jnp.bfloat16), GAIN, eps=EPS),
            r"operand 0: this kernel takes f32\[128,256\]\{1,0\}, the call has bf16\[128,256\]",
        ),
        (
            lambda: raw("layer_norm", jax.ShapeDtypeStruct((128, 255), F32))(X, GAIN, eps=EPS),
            r"result 0: this kernel takes f32\[128,256\]\{1,0\}, the call has f32\[128,255\]",
        ),
        (lambda: raw("layer_norm", LIKE_X)(X, GAIN), 'attribute "eps": this kernel takes a number of type f32, the call has none'),
        (
            lambda: raw("layer_norm", LIKE_X)(X, GAIN, eps=np.float64(1)),
            'attribute "eps": this kernel takes a number of type f32, the call has a number of type f64',
        ),
        (
            lambda: raw("layer_norm", LIKE_X)(X, GAIN, eps="small"),
            'attribute "eps": this kernel takes a number of type f32, the call has a text',
        ),
        (
            lambda: raw("layer_norm", LIKE_X)(X, GAIN, eps=EPS, epsilon=EPS),
            'attribute "epsilon": this kernel takes none of this name',
        ),
        (lambda: kernels.layer_norm(X, GAIN, eps=-1.0), "expected an eps of at least 0, found -1"),
        (
            lambda: raw("layer_norm", LIKE_X, input_output_aliases={0: 0})(X, GAIN, eps=EPS),
            "result 0: expected memory of its own, found that of operand 0",
        ),
    ],
)
def test_a_call_that_does_not_fit_is_an_exception_with_our_text(call, message):
    with pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT: " + message):
        jax.block_until_ready(jax.jit(call)())


def test_a_panic_is_an_exception():
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL: the kernel panicked: the first element is 1"):
        jax.block_until_ready(kernels.fail(jnp.ones(4)))


def test_the_python_module_says_what_it_lacks():
    with pytest.raises(TypeError, match=r"layer_norm\(x: f32\[128,256\]\{1,0\}, .*expected 2 operands, found 1"):
        kernels.layer_norm(X, eps=EPS)
    with pytest.raises(TypeError, match="say the type of result 'y' with results="):
        kernels.softmax_of_any(X)
    with pytest.raises(TypeError, match="attribute 'times': expected int32, found 1.5"):
        kernels.add_all(X[:, :4], results=X[:, :4], numbers=[], times=1.5, negative=False, mode="sum")


def test_a_layout_that_no_call_carries_is_refused_when_it_is_registered():
    with pytest.raises(ValueError, match=r"first: f32\[8,128\]\{1,0:T\(8,128\)\} \(x\): a custom call on CPU carries no tiled"):
        xla_shape_ffi.load(TILED)


# Endurance.


def test_ten_thousand_calls_take_no_memory():
    call = jax.jit(lambda x, gain: kernels.layer_norm(x, gain, eps=1e-5))
    refused = jax.jit(lambda x: raw("layer_norm", LIKE_X)(x, eps=EPS))

    def calls(count):
        for _ in range(count):
            call(X, GAIN).block_until_ready()
        for _ in range(count // 100):
            with pytest.raises(jax.errors.JaxRuntimeError):
                refused(X).block_until_ready()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = calls(2_000)
    # 10,000 results of 128 KiB would be more than a gigabyte.
    assert calls(10_000) - before < 64 << 10


def test_eight_threads_at_once():
    a, b = normal(64, 128, dtype=jnp.bfloat16), normal(128, 256, dtype=jnp.bfloat16, seed=1)
    call = jax.jit(kernels.matmul)
    expected = np.asarray(call(a, b))
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(np.asarray(call(a, b)), expected):
                wrong.append(threading.get_ident())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
