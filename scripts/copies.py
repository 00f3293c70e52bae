#!/usr/bin/env python3
"""Checks what `xla-shape cost` says would remove a copy: compiles programs ahead of time for TPUs, compiles each again with one
remedy, and says whether the copy is gone. No TPU is needed. The exit code is 1 if a copy stays.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), and target/debug/xla-shape (cargo build -p xla-shape-cli).

usage: scripts/copies.py [GENERATIONS]      such as v5e,v6e; v4,v5e,v6e,v7x if not given

PJRT_PLUGIN is the file of another libtpu.so, in place of the compiler in the active environment.

libtpu 0.0.52, v5e and v7x, 40 programs: 50 remedies; 45 remove their copy, 5 leave one as the answer says; in 4 the program as a whole takes more cycles.
libtpu 0.0.24 (jax 0.8.0), v5e, without `sort`, which takes minutes: 26 remedies; 23 remove their copy, 3 leave one as the answer says; 3 slower."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "target/debug/xla-shape"
PROGRAMS = {}


def program(*arguments):
    def add(function):
        PROGRAMS[function.__name__] = (function, [jax.ShapeDtypeStruct(sizes, kind) for kind, *sizes in arguments])

    return add


f32, bf16, s8, s32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32
einsum, conv = jnp.einsum, jax.lax.conv_general_dilated
NHWC = ("NHWC", "HWIO", "NHWC")


@program((f32, 512, 256), (f32, 256, 512))
def transposed_sum(x, y): return x.T + y
@program((bf16, 8, 16, 1024, 64), (bf16, 8, 16, 1024, 64))
def heads(q, k): return einsum("bhqd,bhkd->bhqk", q, k).transpose(0, 2, 1, 3)
@program((bf16, 8, 1024, 16, 64), (bf16, 8, 1024, 16, 64))
def attention(q, k): return einsum("bqhd,bkhd->bhqk", q, k)
@program((f32, 64, 56, 56, 32), (f32, 3, 3, 32, 64))
def convolution(x, w): return conv(x, w, (1, 1), "SAME", dimension_numbers=NHWC)
@program((f32, 64, 32, 56, 56), (f32, 64, 32, 3, 3))
def channels_first(x, w): return conv(x, w, (1, 1), "SAME")
@program((bf16, 24, 1024, 8, 128), (bf16, 24, 8, 128))
def cache(c, n): return jax.lax.dynamic_update_slice(c, n[:, None], (0, 5, 0, 0))
@program((bf16, 4, 2048, 8, 128), (bf16, 4, 8, 128))
def decode(c, q): return einsum("bkhd,bhd->bhk", c, q)
@program((f32, 1000, 64), (s32, 37, 5))
def gather(t, i): return t[i]
@program((bf16, 1024, 1024), (bf16, 1024, 1024))
def both(x, w): return (x @ w).T, (w.T @ x)
@program((f32, 256, 384, 20))
def moved(x): return jnp.moveaxis(x, 0, 1), x.transpose(2, 1, 0)
@program((f32, 64, 128, 96))
def reshaped(x): return x.transpose(1, 0, 2).reshape(128, -1)
@program((s8, 512, 1024), (s8, 1024, 256))
def int8(a, b): return jnp.dot(a, b, preferred_element_type=s32).T
@program((f32, 8, 8, 8, 8, 8, 8))
def six(x): return x.transpose(5, 3, 1, 0, 2, 4) * 2
@program((bf16, 2, 3, 4, 5, 6, 7))
def odd(x): return x.transpose(3, 0, 1, 2, 5, 4).reshape(120, 42)
@program((bf16, 32, 100, 300), (bf16, 300, 32, 50))
def ragged(a, b): return einsum("bij,jbk->kib", a, b)


@program((bf16, 4096, 1024), (bf16, 1024, 4096), (bf16, 4096, 1024))
def mlp(x, w, v): return jax.nn.gelu(x @ w) @ v
@program((f32, 256, 1024))
def softmax(x): return jax.nn.softmax(x, axis=0).T
@program((f32, 32, 128, 512), (f32, 512), (f32, 512))
def norm(x, g, b): return ((x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g + b).transpose(1, 0, 2)
@program((f32, 16, 128, 256), (f32, 256, 256))
def scan(x, w): return jax.lax.scan(lambda h, t: (jnp.tanh(t + h @ w),) * 2, x[0], x)[1].transpose(1, 0, 2)
@program((bf16, 1024, 8, 128), (bf16, 1024, 8, 128))
def rotary(q, c): return jnp.concatenate([q[..., 64:] * c[..., :64], q[..., :64] * c[..., 64:]], -1).transpose(1, 0, 2)
@program((bf16, 64, 1024, 128), (bf16, 1024, 128))
def batched(a, b): return einsum("bij,ij->bji", a, b)
@program((f32, 4096, 300))
def sort(x): return jnp.sort(x, axis=0)
@program((f32, 512, 512), (f32, 512, 512))
def triangle(x, y): return jnp.tril(x).T @ y
@program((f32, 8, 64, 64, 32))
def pool(x): return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").transpose(0, 3, 1, 2)
@program((s8, 24, 1024, 8, 128), (bf16, 24, 8, 128))
def int8_cache(c, q): return einsum("bkhd,bhd->bhk", c.astype(bf16), q)
@program((bf16, 16, 512, 1024), (bf16, 1024, 3, 8, 128))
def qkv(x, w): return einsum("bsd,dthn->tbhsn", x, w)
@program((f32, 2000, 30), (f32, 30, 2000))
def thin(x, y): return (x @ y).T
@program((f32, 3, 224, 224, 16))
def images(x): return x.transpose(3, 1, 2, 0)
@program((f32, 128, 128, 128))
def cumulative(x): return jnp.cumsum(x, axis=0).transpose(2, 0, 1)
@program((bf16, 256, 1024), (s32, 256))
def one_hot(x, i): return (jax.nn.one_hot(i, 1024, dtype=bf16) * x).T
@program((f32, 1024, 1024))
def symmetric(x): return x + x.T, x - x.T
@program((bf16, 8, 2048, 16, 128))
def grouped(x): return x.reshape(8, 2048, 4, 4, 128).transpose(0, 2, 3, 1, 4)
@program((f32, 100, 200, 300))
def odd_sizes(x): return x.transpose(1, 2, 0).reshape(200, -1)
@program((f32, 512, 64), (f32, 512, 64))
def distances(a, b): return ((a[:, None] - b[None]) ** 2).sum(-1).T
@program((bf16, 32, 8, 256, 256), (bf16, 32, 8, 256, 64))
def probabilities(p, v): return einsum("bhqk,bhkd->bqhd", p, v)
@program((f32, 64, 64, 64, 8), (f32, 3, 3, 8, 16))
def gradient(x, w): return jax.grad(lambda x, w: conv(x, w, (1, 1), "SAME", dimension_numbers=NHWC).sum(), (0, 1))(x, w)
@program((f32, 128, 1024), (f32, 1024, 1024))
def training(x, w): return jax.value_and_grad(lambda w: (jnp.tanh(x @ w) ** 2).mean())(w)
@program((bf16, 1024, 2048),)
def packed(x): return jax.lax.bitcast_convert_type(x.reshape(1024, 1024, 2), jnp.uint32).T
@program((f32, 16, 16, 16, 16, 16))
def five(x): return x.transpose(4, 2, 0, 3, 1) + 1
@program((s32, 4096, 128), (s32, 512))
def taken(x, i): return jnp.take(x, i, axis=0).T


def with_layout(text, layout, parameter, result):
    """The program, which asks for a layout of one parameter or result."""
    ask = f'mhlo.layout_mode = "{layout}"'
    added = lambda value: value.replace(" {", f" {{{ask}, ", 1) if "{" in value else f"{value} {{{ask}}}"
    if parameter is not None:
        return re.sub(rf"%arg{parameter}: tensor<[^>]*>( \{{[^}}]*\}})?", lambda found: added(found[0]), text, count=1)
    results = re.search(r"@main\(.*\) -> (\(.*\)) \{\n", text)[1]
    parts = re.findall(r"tensor<[^>]*>(?: \{[^}]*\})?", results)
    parts[result] = added(parts[result])
    return text.replace(results, f"({', '.join(parts)})", 1)


def cost(folder, text, generation):
    """What a compiled program costs, or why it was not compiled."""
    source, module = folder / "program.mlir", folder / "module.hlo"
    source.write_text(text)
    command = [PROGRAM, "compile", source, "--for", generation, "-o", module]
    compiled = subprocess.run(command, capture_output=True, text=True)
    if compiled.returncode != 0:
        return compiled.stderr
    return json.loads(subprocess.check_output([PROGRAM, "cost", module, "--format", "json"]))


def remaining(copy, before, after):
    """The copies that remain with the remedy: this one, or new ones that move the array and take at least as many cycles."""
    def key(copy):
        return tuple(re.sub(r"S\(\d+\)", "", copy[side]) for side in ("from", "to"))

    def moving(cost):
        return collections.Counter(key(other) for other in cost["copies"] if other["change"] != "memory space")

    # Two arguments may need copies between the same layouts, so count such copies: the remedy must remove one.
    if moving(after)[key(copy)] >= moving(before)[key(copy)]:
        return [copy["instruction"]]
    new = moving(after) - moving(before)
    return [other["instruction"] for other in after["copies"] if key(other) in new and (other["cycles"] or 0) >= (copy["cycles"] or 0)]


def main(generations):
    remedies = explained = wrong = slower = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for generation in generations:
            for name, (function, arguments) in PROGRAMS.items():
                text = jax.jit(function).lower(*arguments).as_text()
                before = cost(folder, text, generation)
                if isinstance(before, str):
                    print(f"{generation} {name}: not compiled: {before.strip()[:150]}")
                    continue
                for copy in before["copies"]:
                    found = re.match(r"ask for (\{\S*\}) at (?:parameter (\d+)|result (\d+)|the result)", copy["remedy"] or "")
                    if not found:
                        continue
                    layout, parameter, result = found.groups()
                    after = cost(folder, with_layout(text, layout, parameter, int(result or 0)), generation)
                    is_said = "may then need a copy" in copy["remedy"] or "a copy stays" in copy["remedy"]
                    left = remaining(copy, before, after) if isinstance(after, dict) else ["NOT COMPILED"]
                    cycles = [side["cycles"]["total"] for side in (before, after) if isinstance(side, dict)]
                    remedies, explained = remedies + 1, explained + (bool(left) and is_said)
                    wrong += bool(left) and not is_said
                    slower += len(cycles) == 2 and None not in cycles and cycles[1] > cycles[0]
                    is_gone = "gone" if not left else f"{left} {'as the answer says' if is_said else 'WITHOUT A WORD'}"
                    print(f"{generation} {name} {copy['instruction']}: {found[0]}: {is_gone}, cycles {cycles}")
    print(f"{remedies} remedies: {remedies - explained - wrong} remove their copy, {explained} leave one as the answer says, {wrong} are wrong;")
    print(f"{slower} make the program slower as a whole")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main((sys.argv[1] if len(sys.argv) > 1 else "v4,v5e,v6e,v7x").split(",")))
