"""Runs the kernels of this folder under `jit`, `vmap` and in a training step, compares each result with `jax.numpy`, and prints
the time beside XLA's own.

    cargo build --release -p xla-shape-jax-example
    python examples/jax/run.py
"""

import os
import statistics
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / os.environ.get("BUILT", "release") / "libjax_kernels.so"
sys.path.insert(0, str(ROOT / "python"))

import xla_shape_ffi  # noqa: E402


def normal(seed, *sizes, dtype=jnp.float32):
    return jax.random.normal(jax.random.key(seed), sizes, dtype)


def layer_norm(x, gain):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / jnp.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * gain


def matmul(a, b):
    return jnp.matmul(a, b, preferred_element_type=jnp.float32).astype(jnp.bfloat16)


def with_gradient(softmax):
    """A differentiable softmax of rows; a call of the kernel alone is not differentiable."""
    return softmax.with_gradient(lambda x, y, dy: y * (dy - (y * dy).sum(axis=1, keepdims=True)))


def train(softmax, steps):
    """The loss at each step of training weights, so that the softmax of `x @ weights` predicts a label for each row of x."""
    x, labels = normal(0, 256, 64), jax.random.randint(jax.random.key(1), (256,), 0, 512)

    def loss(weights):
        return -jnp.log(softmax(x @ weights)[jnp.arange(256), labels]).mean()

    @jax.jit
    def step(weights, _):
        value, gradient = jax.value_and_grad(loss)(weights)
        return weights - 20 * gradient, value

    return jax.lax.scan(step, jnp.zeros((64, 512)), length=steps)[1]


def check(name, found, expected, tolerance=1e-2):
    """The largest error; fails if it is not small compared with the largest number."""
    found, expected = found.astype(np.float32), expected.astype(np.float32)
    error, scale = float(np.abs(found - expected).max()), float(np.abs(expected).max())
    if found.shape != expected.shape or not error <= tolerance * scale:
        raise SystemExit(f"{name}: the largest error is {error}, of numbers up to {scale}")
    return error


def microseconds(call, *operands):
    """The median time of a call, in microseconds."""
    call(*operands).block_until_ready()
    times = []
    for _ in range(200):
        start = time.perf_counter()
        call(*operands).block_until_ready()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def cases(kernels):
    """Kernels, the same computations by XLA, and operands."""
    q = (jnp.arange(128 * 64).reshape(128, 64) % 16 - 8).astype(jnp.int4)
    return [
        ("softmax", kernels.softmax, jax.nn.softmax, [normal(0, 256, 512)]),
        ("layer_norm", lambda x, gain: kernels.layer_norm(x, gain, eps=1e-5), layer_norm, [normal(0, 128, 256), normal(1, 256)]),
        ("transpose", kernels.transpose, jnp.transpose, [normal(0, 256, 128)]),
        ("matmul", kernels.matmul, matmul, [normal(0, 64, 128, dtype=jnp.bfloat16), normal(1, 128, 256, dtype=jnp.bfloat16)]),
        ("dequantize", kernels.dequantize, lambda q, scale: q.astype(jnp.float32) * scale, [q, normal(0, 64)]),
        (
            "step",
            kernels.step,
            lambda state, x, weights: jnp.tanh(x + state @ weights),
            [normal(0, 8, 64), normal(1, 8, 64), normal(2, 64, 64) / 8],
        ),
    ]


def main():
    library = sys.argv[1] if len(sys.argv) > 1 else LIBRARY
    kernels = xla_shape_ffi.load(library)
    print(f"{'kernel':12} {'largest error':>14} {'kernel, us':>12} {'XLA, us':>10}")
    for name, ours, theirs, operands in cases(kernels):
        ours, theirs = jax.jit(ours), jax.jit(theirs)
        error = check(name, ours(*operands), theirs(*operands))
        print(f"{name:12} {error:14.2e} {microseconds(ours, *operands):12.1f} {microseconds(theirs, *operands):10.1f}")
    x = normal(0, 4, 256, 512)
    print(f"\nsoftmax of more rows, under vmap: {check('vmap', jax.vmap(kernels.softmax_of_rows)(x), jax.nn.softmax(x)):.2e}")
    losses, expected = train(with_gradient(kernels.softmax), 20), train(jax.nn.softmax, 20)
    error = check("training", losses, expected)
    print(f"loss of a training step with the kernel: {losses[0]:.3f}, after 20 steps {losses[-1]:.3f}, largest error {error:.2e}")
    print("\nA call that does not fit:")
    try:
        kernels.softmax(normal(0, 256, 511))
    except TypeError as error:
        print(error)


if __name__ == "__main__":
    main()
