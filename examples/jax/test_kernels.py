"""The kernels of this folder, called by JAX on CPU: results, errors, and many calls in a row."""

import functools
import gc
import os
import resource
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).parent)]

import run  # noqa: E402
import xla_shape_ffi  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / os.environ.get("BUILT", "release")
LIBRARY = TARGET / "libjax_kernels.so"
TILED = TARGET / "libjax_tiled_kernel.so"

kernels = xla_shape_ffi.load(LIBRARY)


x64 = functools.partial(jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64, True)
# The first versions of the interface do not have element types smaller than a byte.
OLD = jax.__version_info__ < (0, 6)


def normal(*sizes, dtype=jnp.float32, seed=0):
    return jax.random.normal(jax.random.key(seed), sizes, dtype)


def expect_layer_norm(x, gain, eps):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / jnp.sqrt(x.var(axis=1, keepdims=True) + eps) * gain


# Results.


def test_softmax():
    x = normal(256, 512)
    np.testing.assert_allclose(jax.jit(kernels.softmax)(x), jax.nn.softmax(x), rtol=1e-5)


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (65, 33, 31), (300, 200, 400), (0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_kernels_of_any_sizes(m, k, n):
    x, gain = normal(m, k), normal(k, seed=1)
    np.testing.assert_allclose(kernels.softmax_of_rows(x), jax.nn.softmax(x), rtol=1e-5)
    np.testing.assert_allclose(kernels.layer_norm_of_rows(x, gain), expect_layer_norm(x, gain, 1e-5), rtol=1e-4, atol=1e-5)
    a, b = x.astype(jnp.bfloat16), normal(k, n, dtype=jnp.bfloat16, seed=2)
    found, expected = kernels.matmul_of_any(a, b), a.astype(jnp.float32) @ b.astype(jnp.float32)
    np.testing.assert_allclose(found.astype(np.float32), expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("sizes", [(4,), (3, 5), (2, 3, 4), (256, 512), (7, 128), (0, 128), (0, 4), (4, 0), ()])
def test_softmax_of_any(sizes):
    x = normal(*sizes)
    y = kernels.softmax_of_any(x, results=x)
    np.testing.assert_allclose(y, jax.nn.softmax(x) if sizes else 1.0, rtol=1e-5)


def test_layer_norm():
    x, gain = normal(128, 256), normal(256, seed=1)
    y = jax.jit(lambda x, gain: kernels.layer_norm(x, gain, eps=1e-5))(x, gain)
    np.testing.assert_allclose(y, expect_layer_norm(x, gain, 1e-5), rtol=1e-4, atol=1e-5)


def test_transpose():
    x = normal(256, 128)
    np.testing.assert_array_equal(jax.jit(kernels.transpose)(x), x.T)


def test_matmul_on_the_threads_of_xla():
    a, b = normal(64, 128, dtype=jnp.bfloat16), normal(128, 256, dtype=jnp.bfloat16, seed=1)
    expected = jnp.matmul(a, b, preferred_element_type=jnp.float32).astype(jnp.bfloat16)
    found = jax.jit(kernels.matmul)(a, b)
    np.testing.assert_allclose(found.astype(np.float32), expected.astype(np.float32), rtol=1e-2, atol=1e-2)


@pytest.mark.skipif(OLD, reason="the interface has no such type")
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
    softmax = run.with_gradient(kernels.softmax)
    x, weights = normal(256, 512), normal(256, 512, seed=1)
    found = jax.jit(jax.grad(lambda x: (softmax(x) * weights).sum()))(x)
    expected = jax.grad(lambda x: (jax.nn.softmax(x) * weights).sum())(x)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6)


def test_training_with_a_custom_gradient():
    losses = run.train(run.with_gradient(kernels.softmax), 20)
    np.testing.assert_allclose(losses, run.train(jax.nn.softmax, 20), rtol=1e-3)
    assert losses[-1] < losses[0] / 2


def test_jit_compiles_a_call_once():
    traced = []

    @jax.jit
    def call(x):
        traced.append(x.shape)
        return kernels.softmax_of_any(x, results=x)

    for sizes in [(2, 4), (2, 4), (3, 4), (2, 4)]:
        x = normal(*sizes)
        np.testing.assert_allclose(call(x), jax.nn.softmax(x), rtol=1e-5)
    assert traced == [(2, 4), (3, 4)]


# Element types, ranks, layouts.

FLOATS = ["e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu"]
TOO_NEW = ["f4e2m1fn", "f8e3m4", "f8e4m3", "f8e8m0fnu"]
TYPES = {
    **{f"{kind}{bits}": f"{name}{bits}" for kind, name in [("s", "int"), ("u", "uint")] for bits in (2, 4, 8, 16, 32, 64)},
    **{f"f8{name}": f"float8_{name}" for name in FLOATS},
    **{"pred": "bool", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"},
    **{"c64": "complex64", "c128": "complex128", "f4e2m1fn": "float4_e2m1fn"},
}
if OLD:
    TYPES = {name: dtype for name, dtype in TYPES.items() if name[1:] not in ("2", "4") and name not in TOO_NEW}


def every_kind_of(dtype, *sizes):
    """Values that cover the range of this type, with negative ones if it has them."""
    numbers = np.arange(np.prod(sizes, dtype=int)).reshape(sizes)
    if dtype == "bool":
        return numbers % 3 == 0
    if dtype.startswith(("int", "uint")):
        signed, bits = dtype.startswith("int"), int(dtype.lstrip("uint"))
        return (numbers % (1 << min(bits, 30)) - (1 << min(bits, 30) - 1 if signed else 0)).astype(jnp.dtype(dtype))
    if dtype.startswith("complex"):
        return (numbers - 0.25j * numbers).astype(dtype)
    if dtype == "float8_e8m0fnu":
        return (2.0 ** (numbers % 16 - 8)).astype(jnp.dtype(dtype))
    return (0.5 * (numbers % 11) * (-1.0) ** numbers).astype(jnp.dtype(dtype))


@pytest.mark.parametrize("name", TYPES)
def test_every_element_type_in_every_layout(name):
    with x64():
        x = every_kind_of(TYPES[name], 3, 5)
        found = jax.jit(getattr(kernels, f"row_major_{name}"))(x)
        assert found.dtype == jnp.dtype(TYPES[name])
        np.testing.assert_array_equal(np.asarray(found), x)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("sizes", [(), (7,), (2, 0, 3), (1, 2) + 11 * (1,) + (3,)])
def test_every_element_type_of_any_rank(name, sizes):
    with x64():
        x = every_kind_of(TYPES[name], *sizes)
        np.testing.assert_array_equal(np.asarray(kernels.copy(x, results=x)), x)


def test_scalars_open_sizes_and_two_results():
    x = (normal(2, 3) + 1j * normal(2, 3, seed=1)).astype(jnp.complex64)
    y, count = kernels.first(x, jnp.float32(2), results=[x[0, 0], jnp.zeros(1, jnp.uint32)])
    assert y == 2 * x[0, 0] and y.shape == () and count[0] == 6
    y, count = kernels.first(x[:, :0], jnp.float32(2))
    assert y == 0 and count[0] == 0


def test_permuted_layouts_of_three_dimensions():
    x = jnp.arange(30, dtype=jnp.int16).reshape(2, 3, 5)
    np.testing.assert_array_equal(jax.jit(kernels.rotate)(x), jnp.transpose(x, (2, 0, 1)))


# Attributes.

SCALARS = dict(a=True, b=-128, c=-(2**15), d=-(2**31), e=-(2**63), f=255, g=65535, h=2**32 - 1, i=2**63 - 1, j=0.5, k=1e-300)
LISTS = dict(
    l=[True, False], m=[-128, 1], n=[-(2**15), 1], o=[-(2**31), 1], p=[-(2**63), 1], q=[255, 1], r=[65535], s=[2**32 - 1],
    t=[2**64 - 1, 1], u=[0.5, -1.5], v=[1e-300, 0.1],
)  # fmt: skip


def said(**attributes):
    with pytest.raises(jax.errors.JaxRuntimeError) as error, x64():
        jax.block_until_ready(kernels.attributes(**attributes))
    return str(error.value)


def test_attributes_of_every_type_arrive():
    numbers = f"(true, -128, -32768, {-(2**31)}, {-(2**63)}, 255, 65535, {2**32 - 1}, {2**63 - 1}, 0.5, 1e-300)"
    signed = f"([true, false], [-128, 1], [-32768, 1], [{-(2**31)}, 1], [{-(2**63)}, 1])"
    unsigned = f"([255, 1], [65535], [{2**32 - 1}], [{2**64 - 1}, 1], [0.5, -1.5], [1e-300, 0.1])"
    assert f"ABORTED: {numbers} {signed} {unsigned} naïve ♥" in said(**SCALARS, **LISTS, w="naïve ♥")
    empty = {name: [] for name in LISTS}
    assert f"{numbers} ([], [], [], [], []) ([], [], [], [], [], []) " in said(**SCALARS, **empty, w="")
    # JAX stores a list of equal values once.
    same = {name: 3 * values[:1] for name, values in LISTS.items()}
    assert "([true, true, true], [-128, -128, -128], " in said(**SCALARS, **same, w="")


def test_attributes_that_compare_equal_are_told_apart():
    for j, text in [(0.0, "0.0"), (-0.0, "-0.0"), (0.0, "0.0"), (float("nan"), "NaN"), (0, "0.0"), (1.0, "1.0"), (True, "1.0")]:
        found = said(**SCALARS | {"j": j, "k": j}, **LISTS | {"u": [j], "v": [j]}, w="")
        assert f" {text}, {text}) " in found and f" [{text}], [{text}]) " in found


def test_other_attributes_are_refused():
    with pytest.raises(TypeError, match="attributes: attribute 'w': this kernel takes a text, the call has {'x': 1}"):
        kernels.attributes(**SCALARS, **LISTS, w={"x": 1})
    with pytest.raises(TypeError, match="attributes: attribute 'u': expected float32, found 'x'"):
        kernels.attributes(**SCALARS, **LISTS | {"u": "x"}, w="")
    integers = [("a", 2), ("b", 128), ("d", [1]), ("f", -1), ("i", 2**64), ("i", 2**63), ("q", [256])]
    for name, value in [*integers, *[("u", value) for value in (["x"], ["1"], [1e300], 1.0, [[1.0]])]]:
        with pytest.raises(TypeError, match=f"attributes: attribute '{name}': "):
            kernels.attributes(**SCALARS | LISTS | {"w": "", name: value})


# Libraries.


def test_a_library_is_loaded_once_by_any_name(tmp_path):
    link = tmp_path / "a link.so"
    link.symlink_to(LIBRARY)
    assert xla_shape_ffi.load(link) is kernels
    assert xla_shape_ffi.load(str(LIBRARY)) is kernels


def test_libraries_may_have_kernels_of_the_same_names(tmp_path):
    other = tmp_path / "a 'copy' ♥.so"
    shutil.copy(LIBRARY, other)
    copied = xla_shape_ffi.load(other)
    x = normal(256, 512)
    first, second = jax.jit(lambda x: (copied.softmax(x), kernels.softmax(x)))(x)
    np.testing.assert_array_equal(first, second)


def test_what_is_no_library_of_kernels_is_refused(tmp_path):
    with pytest.raises(OSError, match="nothing.so"):
        xla_shape_ffi.load(tmp_path / "nothing.so")
    text = tmp_path / "text.so"
    text.write_text("text")
    with pytest.raises(OSError, match="text.so"):
        xla_shape_ffi.load(text)
    if shutil.which("cc"):
        empty = tmp_path / "empty.so"
        subprocess.run(["cc", "-shared", "-o", empty, "-x", "c", "/dev/null"], check=True)
        with pytest.raises(ValueError, match="expected a library with `xla_shape_ffi::export!.*xla_shape_ffi_signatures"):
            xla_shape_ffi.load(empty)


# Errors.


def raw(name, result, **options):
    """A call by `jax.ffi`, without the checks of the Python module."""
    kernel = getattr(kernels, name)
    return jax.ffi.ffi_call(kernel.target, result, **options)


F32 = jnp.float32
X, GAIN = jnp.ones((128, 256)), jnp.ones(256)
LIKE_X = jax.ShapeDtypeStruct((128, 256), F32)
EPS = np.float32(1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: raw("layer_norm", LIKE_X)(X, eps=EPS), r"layer_norm: this kernel takes 2 operands \(x, gain\), the call has 1"),
        (lambda: raw("layer_norm", LIKE_X)(X, GAIN, X, eps=EPS), r"layer_norm: this kernel takes 2 operands \(x, gain\), the call has 3"),
        (lambda: raw("layer_norm", (LIKE_X, LIKE_X))(X, GAIN, eps=EPS), r"layer_norm: this kernel takes 1 result \(y\), the call has 2"),
        (
            lambda: raw("layer_norm", LIKE_X)(X, jnp.ones(128), eps=EPS),
            r"layer_norm: operand 1 \(gain\): this kernel takes f32\[256\], the call has f32\[128\]",
        ),
        (
            lambda: raw("layer_norm", LIKE_X)(X, jnp.ones((1, 256)), eps=EPS),
            r"layer_norm: operand 1 \(gain\): this kernel takes f32\[256\], the call has f32\[1,256\]",
        ),
        (
            lambda: raw("layer_norm", LIKE_X)(X.astype(jnp.bfloat16), GAIN, eps=EPS),
            r"layer_norm: operand 0 \(x\): this kernel takes f32\[128,256\], the call has bf16\[128,256\]",
        ),
        (
            lambda: raw("layer_norm", jax.ShapeDtypeStruct((128, 255), F32))(X, GAIN, eps=EPS),
            r"layer_norm: result 0 \(y\): this kernel takes f32\[128,256\], the call has f32\[128,255\]",
        ),
        (lambda: raw("layer_norm", LIKE_X)(X, GAIN), "layer_norm: attribute 'eps': this kernel takes a number of type f32, the call has none"),
        (
            lambda: raw("layer_norm", LIKE_X)(X, GAIN, eps=np.float64(1)),
            "layer_norm: attribute 'eps': this kernel takes a number of type f32, the call has a number of type f64",
        ),
        (
            lambda: raw("layer_norm", LIKE_X)(X, GAIN, eps="small"),
            "layer_norm: attribute 'eps': this kernel takes a number of type f32, the call has a text",
        ),
        (
            lambda: raw("layer_norm", LIKE_X)(X, GAIN, eps=EPS, epsilon=EPS),
            "layer_norm: attribute 'epsilon': this kernel has no attribute of this name; it has eps",
        ),
        (lambda: kernels.layer_norm(X, GAIN, eps=-1.0), "expected an eps of at least 0, found -1"),
        (
            lambda: raw("layer_norm", LIKE_X, input_output_aliases={0: 0})(X, GAIN, eps=EPS),
            r"layer_norm: result 0 \(y\): expected separate memory, found memory that overlaps with operand 0 \(x\)",
        ),
    ],
)
def test_a_call_that_does_not_fit_is_an_exception_with_our_text(call, message):
    with pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT: " + message):
        jax.block_until_ready(jax.jit(call)())


def test_a_panic_is_an_exception():
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL: the kernel panicked: the first element is 1"):
        jax.block_until_ready(kernels.fail(jnp.ones(4)))
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL: the kernel panicked: chunk 13"):
        jax.block_until_ready(kernels.fail_on_threads())


def test_a_kernel_without_results_is_called():
    def checked(x):
        assert kernels.expect_positive(x) == ()
        return x + 1

    np.testing.assert_array_equal(jax.jit(checked)(jnp.ones(3)), 2)
    x = jnp.array([1.0, -2.0])
    for call, x in [(checked, x), (jax.vmap(checked), jnp.stack([x, x]))]:
        with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="OUT_OF_RANGE: expected positive numbers, found -2"):
            jax.block_until_ready(jax.jit(call)(x))


def test_a_layout_that_no_call_carries_is_refused_when_it_is_registered():
    with pytest.raises(ValueError, match=r"first: f32\[8,128\]\{1,0:T\(8,128\)\} \(x\): a custom call on CPU carries no tiled"):
        xla_shape_ffi.load(TILED)


def test_attributes_named_as_options_of_every_call_are_refused_when_they_are_registered():
    parameter = {"name": "results", "role": "attribute", "wants": {"scalar": "s32"}}
    signature = {"name": "f", "batch": [], "parameters": [parameter]}
    with pytest.raises(ValueError, match="f: attribute 'results': expected another name"):
        xla_shape_ffi._check(signature)


# Many calls.


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


def test_eight_threads_load_at_once(tmp_path):
    library = shutil.copy(LIBRARY, tmp_path / "loaded.so")
    loaded, barrier = [], threading.Barrier(8)

    def work():
        barrier.wait()
        loaded.append(xla_shape_ffi.load(library))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 8 and len({id(kernels) for kernels in loaded}) == 1


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
