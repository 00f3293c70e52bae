"""Times of calls and kernels: ours, XLA's own, and, for calls, those of C++ handlers built with jaxlib's headers.

    cargo build --release -p xla-shape-jax-example
    python examples/jax/bench.py [--once] [LIBRARY]

A call is timed inside of a program that makes 2,000 of them, each with the result of the one before; the time of the same loop without
a call is subtracted. Each number is the least of several runs, taken in turns; `--once` runs everything once, to see that it runs.
"""

import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import run

CALLS = 2_000
ROUNDS = 60


def least(functions):
    """The minimum time of each function, in seconds; they take turns, so that disturbances affect all of them."""
    for function in functions:
        function()
    times = [[] for _ in functions]
    for _ in range(ROUNDS):
        for function, found in zip(functions, times):
            start = time.perf_counter()
            function()
            found.append(time.perf_counter() - start)
    return [min(found) for found in times]


def loop(call):
    """A program that makes many calls, each with the result of the one before."""
    program = jax.jit(lambda x: jax.lax.fori_loop(0, CALLS, lambda _, x: call(x), x))
    return lambda: program(jnp.zeros(1)).block_until_ready()


def cpp():
    """The C++ handlers; `None` without a compiler."""
    if shutil.which("c++") is None:
        return None
    source = Path(__file__).parent / "cpp/calls.cc"
    library = Path(tempfile.mkdtemp()) / "libcalls.so"
    subprocess.run(
        ["c++", "-std=c++17", "-O3", "-DNDEBUG", "-fPIC", "-shared", f"-I{jax.ffi.include_dir()}", "-o", library, source], check=True
    )
    handlers = ctypes.CDLL(str(library))
    for name in ("CallOne", "CallFour"):
        jax.ffi.register_ffi_target(f"cpp.{name}", jax.ffi.pycapsule(getattr(handlers, name)), platform="cpu")
    like = jax.ShapeDtypeStruct((1,), np.float32)
    one = jax.ffi.ffi_call("cpp.CallOne", like)
    four = jax.ffi.ffi_call("cpp.CallFour", like)
    return lambda x: one(x), lambda x: four(x, x, x, x, factor=np.float32(0.1), times=np.int32(1))


def calls(kernels):
    theirs = cpp()
    ours = [
        (kernels.call_one, kernels.call_one_static),
        (
            lambda x: kernels.call_four(x, x, x, x, factor=0.1, times=1),
            lambda x: kernels.call_four_static(x, x, x, x, factor=0.1, times=1),
        ),
    ]
    print(f"{'a call, ns':34} {'Rust':>8} {'C++':>8} {'ratio':>8}")
    names = ["one operand", "four operands, two attributes"]
    for i, (name, (open_sizes, static)) in enumerate(zip(names, ours)):
        functions = [loop(lambda x: x + 1), loop(static), loop(open_sizes), *([loop(theirs[i])] if theirs else [])]
        empty, *found = [1e9 * t / CALLS for t in least(functions)]
        found = [t - empty for t in found]
        for text, t in zip(["", ", named sizes"], found):
            other = f"{found[2]:8.0f} {t / found[2]:8.2f}" if theirs else f"{'-':>8} {'-':>8}"
            print(f"{name + text:42} {t:8.0f} {other}"[:70])


def other_sizes(kernels):
    """The kernels for any sizes, with small, large and odd sizes."""
    for rows, d in [(64, 64), (256, 512), (1024, 1024), (257, 129)]:
        x, gain = run.normal(0, rows, d), run.normal(1, d)
        yield f"softmax, {rows} rows of {d}", kernels.softmax_of_rows, jax.nn.softmax, [x]
        yield f"layer_norm, {rows} rows of {d}", kernels.layer_norm_of_rows, run.layer_norm, [x, gain]
    for m, k, n in [(64, 64, 64), (64, 128, 256), (1024, 1024, 1024), (65, 127, 129)]:
        a, b = run.normal(0, m, k, dtype=jnp.bfloat16), run.normal(1, k, n, dtype=jnp.bfloat16)
        yield f"matmul, {m} by {k} by {n}", kernels.matmul_of_any, run.matmul, [a, b]


def main():
    global ROUNDS
    arguments = sys.argv[1:]
    if "--once" in arguments:
        arguments.remove("--once")
        ROUNDS = 1
    library = arguments[0] if arguments else run.LIBRARY
    kernels = run.xla_shape_ffi.load(library)
    calls(kernels)
    print(f"\n{'a kernel, us':34} {'Rust':>8} {'XLA':>8} {'ratio':>8}")
    for name, ours, theirs, operands in [*run.cases(kernels), *other_sizes(kernels)]:
        ours, theirs = jax.jit(ours), jax.jit(theirs)
        times = 20 if sum(x.size for x in operands) < 1e6 else 2
        functions = [lambda f=f: [f(*operands).block_until_ready() for _ in range(times)] for f in (ours, theirs)]
        found = [1e6 * t / times for t in least(functions)]
        print(f"{name:34} {found[0]:8.1f} {found[1]:8.1f} {found[0] / found[1]:8.2f}")


if __name__ == "__main__":
    main()
