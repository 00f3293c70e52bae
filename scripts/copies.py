#!/usr/bin/env python3
"""Checks what `xla-shape cost` says would remove a copy: compiles programs ahead of time for TPUs, compiles each again with one
remedy, and says whether the copy is gone. No TPU is needed. Ends with 1 if a copy stays.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), and target/debug/xla-shape (cargo build -p xla-shape-cli).

usage: scripts/copies.py [GENERATIONS]      such as v5e,v6e; v4,v5e,v6e,v7x if not given

libtpu 0.0.52: 41 of 41 remedies remove their copy (v4, v5e, v6e, v7x); in 4 of them the program as a whole takes more cycles."""

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


def main(generations):
    remedies = stay = slower = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for generation in generations:
            for name, (function, arguments) in PROGRAMS.items():
                text = jax.jit(function).lower(*arguments).as_text()
                before = cost(folder, text, generation)
                for copy in before["copies"]:
                    found = re.match(r"ask for (\{\S*\}) at (?:parameter (\d+)|result (\d+)|the result)", copy["remedy"] or "")
                    if not found:
                        continue
                    layout, parameter, result = found.groups()
                    after = cost(folder, with_layout(text, layout, parameter, int(result or 0)), generation)
                    place = lambda copy: [re.sub(r"S\(\d+\)", "", copy[side]) for side in ("from", "to")]
                    gone = isinstance(after, dict) and place(copy) not in [place(other) for other in after["copies"]]
                    cycles = [side["cycles"]["total"] for side in (before, after) if isinstance(side, dict)]
                    remedies, stay = remedies + 1, stay + (not gone)
                    slower += len(cycles) == 2 and cycles[1] > cycles[0]
                    print(f"{generation} {name} {copy['instruction']}: {found[0]}: {'gone' if gone else 'STAYS'}, cycles {cycles}")
    print(f"{remedies - stay} of {remedies} remedies remove their copy; {slower} make the program slower as a whole")
    return stay > 0


sys.exit(main((sys.argv[1] if len(sys.argv) > 1 else "v4,v5e,v6e,v7x").split(",")))
