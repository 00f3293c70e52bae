"""Kernels in Rust, called from the installed package. `examples/jax` tests kernels with several versions of JAX."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import xla_shape.ffi

ROOT = Path(__file__).resolve().parents[2]
NAMES = {"linux": "libjax_kernels.so", "darwin": "libjax_kernels.dylib"}
FOLDERS = [os.environ.get("XLA_SHAPE_KERNELS", ""), ROOT / "target" / "release", ROOT / "target" / "debug"]
FOUND = [Path(folder) / NAMES.get(sys.platform, "jax_kernels.dll") for folder in FOLDERS]
LIBRARY = next((path for path in FOUND if path.exists()), None)
needs_kernels = pytest.mark.skipif(LIBRARY is None, reason="the library of kernels is not built")


def test_the_loader_is_part_of_the_package():
    installed = Path(xla_shape.ffi.__file__)
    assert installed.parent == Path(xla_shape.__file__).parent
    assert installed.read_text() == (ROOT / "python" / "xla_shape_ffi.py").read_text()
    for name in xla_shape.ffi.__all__:
        assert getattr(xla_shape.ffi, name).__doc__, name


@needs_kernels
def test_a_kernel():
    kernels = xla_shape.ffi.load(LIBRARY)
    x, gain = np.random.default_rng(0).normal(size=(128, 256)).astype(np.float32), np.full(256, 2, np.float32)
    found = jax.jit(lambda x: kernels.layer_norm(x, gain, eps=1e-5))(x)
    centred = x - x.mean(axis=1, keepdims=True)
    expected = 2 * centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(TypeError, match=r"layer_norm: operand 0 \(x\): this kernel takes"):
        kernels.layer_norm(x[0], gain, eps=1e-5)


@needs_kernels
def test_types_of_kernels(tmp_path):
    command = [sys.executable, "-m", "xla_shape.ffi", "stubs", str(LIBRARY)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "def layer_norm(" in found and "eps: float" in found
    compile(found, "kernels.pyi", "exec")
