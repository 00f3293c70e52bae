"""Compiles the remedies that `xla-shape cost --try` names for transposes on a GPU, and counts those that remove their transpose: convolutions of
arrays as PyTorch has them (NCHW, OIHW) by element type and kind, their gradients, pools and attention. Called by scripts/gpu.sh.

usage: gpu_remedies.py BUILD_FOLDER GPU"""

import json
import os
import subprocess
import sys
import tempfile


def programs():
    import jax
    import jax.numpy as jnp
    from jax import lax

    bf16, f16, f32 = jnp.bfloat16, jnp.float16, jnp.float32

    def convolution(dimensions=2, **options):
        names = ("NCW", "OIW", "NCW") if dimensions == 1 else ("NCHW", "OIHW", "NCHW") if dimensions == 2 else ("NCDHW", "OIDHW", "NCDHW")
        given = {"window_strides": (1,) * dimensions, "padding": "SAME", "dimension_numbers": names, **options}
        return lambda x, w: lax.conv_general_dilated(x, w, **given)

    def block(x, w, scale):
        y = convolution()(x, w)
        return jax.nn.relu(y * scale[None, :, None, None])

    def residual(x, w, v):
        return x + convolution()(jax.nn.relu(convolution()(x, w)), v)

    def pool(x, w):
        y = convolution()(x, w)
        return lax.reduce_window(y, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def mean(x, w):
        return convolution()(x, w).astype(f32).mean((2, 3))

    def loss(x, w):
        return (convolution()(x, w).astype(f32) ** 2).mean()

    def attention(q, k, v):
        # The heads come before the sequence.
        return jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k).astype(f32), axis=-1).astype(q.dtype) @ v

    def heads(x, w):
        return jnp.einsum("bsd,dhk->bhsk", x, w)

    def patches(x, w, v):
        y = convolution(window_strides=(8, 8), padding="VALID")(x, w)
        return y.reshape(*y.shape[:2], -1).transpose(0, 2, 1) @ v

    all = {}
    for element, name in [(bf16, "bf16"), (f16, "f16"), (f32, "f32")]:
        x, w = ((8, 64, 28, 28), element), ((128, 64, 3, 3), element)
        all |= {
            f"conv {name}": (convolution(), [x, w]),
            f"conv 1x1 {name}": (convolution(), [x, ((128, 64, 1, 1), element)]),
            f"strided {name}": (convolution(window_strides=(2, 2)), [x, w]),
            f"gradient of filter {name}": (jax.grad(loss, 1), [x, w]),
            f"gradient of input {name}": (jax.grad(loss, 0), [x, w]),
        }
    x, w = ((4, 64, 28, 28), bf16), ((128, 64, 3, 3), bf16)
    return all | {
        "conv large bf16": (convolution(), [((16, 256, 56, 56), bf16), ((256, 256, 3, 3), bf16)]),
        "conv 1d bf16": (convolution(1), [((8, 64, 512), bf16), ((128, 64, 5), bf16)]),
        "conv 3d bf16": (convolution(3), [((2, 32, 8, 28, 28), bf16), ((64, 32, 3, 3, 3), bf16)]),
        "dilated bf16": (convolution(rhs_dilation=(2, 2)), [x, w]),
        "grouped bf16": (convolution(feature_group_count=4), [x, ((128, 16, 3, 3), bf16)]),
        "scaled and relu bf16": (block, [x, w, ((128,), bf16)]),
        "residual bf16": (residual, [x, ((64, 64, 3, 3), bf16), ((64, 64, 3, 3), bf16)]),
        "max pool bf16": (pool, [x, w]),
        "mean pool bf16": (mean, [x, w]),
        "patches bf16": (patches, [((4, 3, 64, 64), bf16), ((64, 3, 8, 8), bf16), ((64, 128), bf16)]),
        "attention bf16": (attention, [((2, 8, 256, 64), bf16)] * 3),
        "heads bf16": (heads, [((4, 256, 512), bf16), ((512, 8, 64), bf16)]),
    }


def lowered(folder):
    """Writes each program; returns its name and its file."""
    import jax

    files = []
    for number, (name, (function, arguments)) in enumerate(programs().items()):
        structs = [jax.ShapeDtypeStruct(*each) for each in arguments]
        path = os.path.join(folder, f"{number}.mlir")
        with open(path, "w") as file:
            file.write(jax.jit(function).trace(*structs).lower(lowering_platforms=("cuda",)).as_text())
        files.append((name, path))
    return files


def main(build, gpu):
    removed = kept = all_removed = all_kept = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path in lowered(folder):
            asked = [f"{build}/xla-shape", "cost", path, "--for", gpu, "--try", "--format", "json"]
            answer = json.loads(subprocess.run(asked, capture_output=True, text=True).stdout or "null")
            if answer is None or "error" in answer:
                failed += 1
                print(f"{name:24} FAILED: {answer}", flush=True)
                continue
            copies = [copy for copy in answer["copies"] if copy["change"] == "layout"]
            print(f"{name:24} {len(copies)} transposes, {sum(copy['remedy'] is not None for copy in copies)} with a remedy", flush=True)
            for tried in answer["tried"]:
                fewer = None if tried["copies"] is None else tried["copies_before"] - tried["copies"]
                works = bool(tried["taken"] and fewer and fewer > 0)
                if len(tried["asked"]) == 1:
                    removed, kept = removed + works, kept + (not works)
                else:
                    all_removed, all_kept = all_removed + (fewer or 0), all_kept + (tried["copies"] or 0)
                gain = (tried["bytes_before"] or 0) - (tried["bytes"] or 0)
                print(f"    {'removed' if works else 'STAYS  '} {fewer} of {tried['copies_before']}, {gain:,} bytes: {', '.join(tried['asked'])} {tried['error'] or ''}", flush=True)
    print(f"{gpu}: {len(programs())} programs, {removed + kept} remedies compiled alone, {removed} remove transposes, {kept} do not; together {all_removed} transposes removed, {all_kept} left; {failed} failed")
    sys.exit(failed > 0 or removed * 10 < (removed + kept) * 9)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
