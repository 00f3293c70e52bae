"""Compares `xla-shape compile --for GPU` with JAX's own ahead-of-time compilation for the same description of the GPU: arguments, outputs,
aliases and temporaries must be equal, to the byte. Called by scripts/gpu.sh.

usage: gpu.py BUILD_FOLDER [GPU…]"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

GPUS = ["h100", "b200", "a100-80"]
PARTS = {"arguments": "argument", "outputs": "output", "aliases": "alias", "temporaries": "temp"}


def programs():
    import jax
    import jax.numpy as jnp
    from jax import lax

    bf16, f32, s32 = jnp.bfloat16, jnp.float32, jnp.int32

    def attention(q, k, v):
        return jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k).astype(f32), axis=-1).astype(bf16) @ v

    def loss(w, x):
        for layer in w:
            x = jax.nn.gelu(x @ layer)
        return (x.astype(f32) ** 2).mean()

    def train(w, x):
        return [a - b * 0.1 for a, b in zip(w, jax.grad(loss)(w, x))]

    def convolution(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME")

    def rnn(h, xs, w):
        return lax.scan(lambda h, x: (jnp.tanh(h @ w + x), h.sum()), h, xs)

    def norm(x, scale):
        y = x.astype(f32)
        return ((y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)).astype(bf16) * scale

    def embed(table, tokens):
        return jax.grad(lambda table: table[tokens].astype(f32).sum())(table)

    def decode(cache, new, at):
        cache = lax.dynamic_update_slice(cache, new, (0, at, 0, 0))
        return cache, cache.astype(f32).sum(1)

    weights = [((1024, 4096), bf16), ((4096, 1024), bf16)]
    return {
        "product": (lambda a, b: jax.nn.gelu(a @ b), [((2048, 2048), bf16)] * 2),
        "attention": (attention, [((4, 8, 512, 64), bf16)] * 3),
        "train": (train, [weights, ((256, 1024), bf16)], {"donate_argnums": 0}),
        "convolution": (convolution, [((8, 64, 56, 56), bf16), ((128, 64, 3, 3), bf16)]),
        "convolution_grad": (jax.grad(lambda x, w: convolution(x, w).astype(f32).sum(), 1), [((8, 64, 28, 28), bf16), ((128, 64, 3, 3), bf16)]),
        "rnn": (rnn, [((64, 512), f32), ((100, 64, 512), f32), ((512, 512), f32)]),
        "norm": (norm, [((4096, 2048), bf16), ((2048,), bf16)]),
        "embed": (embed, [((32000, 512), bf16), ((8, 128), s32)]),
        "decode": (decode, [((8, 2048, 8, 128), bf16), ((8, 1, 8, 128), bf16), ((), s32)], {"donate_argnums": 0}),
        "sort": (lambda x: jnp.sort(x, 0), [((4096, 1024), f32)]),
        "top_k": (lambda x: lax.top_k(x, 64), [((128, 32000), f32)]),
        "cumsum": (lambda x: jnp.cumsum(x, 1), [((512, 8192), f32)]),
        "transpose": (lambda x: x.transpose(2, 0, 1) * 2, [((64, 512, 256), bf16)]),
        "fft": (lambda x: jnp.abs(jnp.fft.rfft(x)), [((512, 4096), f32)]),
    }


def one(name, config, module):
    """Compiles one program with JAX, in a process of its own; writes the program, and prints the sizes."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    topology = topologies.get_topology_desc(platform="cuda", topology_name="gpu", target_config=config, topology="1x1x8")
    device = SingleDeviceSharding(topology.devices[0])

    def struct(given):
        if isinstance(given, list):
            return [struct(each) for each in given]
        return jax.ShapeDtypeStruct(*given, sharding=device)

    function, arguments, *options = programs()[name]
    step = jax.jit(function, **(options[0] if options else {})).trace(*map(struct, arguments))
    lowered = step.lower(lowering_platforms=("cuda",))
    pathlib.Path(module).write_text(lowered.as_text())
    memory = lowered.compile(compiler_options={"xla_gpu_autotune_level": 0}).memory_analysis()
    print(json.dumps({ours: getattr(memory, f"{theirs}_size_in_bytes") for ours, theirs in PARTS.items()}), flush=True)
    os._exit(0)  # without a GPU, the plug-in fails when the process exits normally


def main(build, gpus):
    same = differ = 0
    refused = []
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "program.mlir")
        for gpu in gpus or GPUS:
            config = subprocess.run([f"{build}/examples/gpu_config", gpu], check=True, capture_output=True, text=True).stdout
            for name in programs():
                asked = [sys.executable, __file__, "--one", name, config, module]
                theirs = subprocess.run(asked, capture_output=True, text=True)
                ours = subprocess.run([f"{build}/xla-shape", "compile", module, "--for", gpu, "--format", "json"], capture_output=True, text=True)
                lines = [line for line in theirs.stdout.splitlines() if line.startswith("{")]
                answer = json.loads(ours.stdout) if ours.stdout else {"error": ours.stderr}
                if not lines or "error" in answer:
                    both = not lines and "error" in answer
                    refused.append((gpu, name))
                    print(f"{gpu:8} {name:17} refused by {'both' if both else 'one: ' + str(theirs.stderr[-300:] or answer)}", flush=True)
                    differ += not both
                    continue
                expected = json.loads(lines[-1])
                found = {part: answer["memory"]["device"][part] for part in PARTS}
                same, differ = same + (found == expected), differ + (found != expected)
                print(f"{gpu:8} {name:17} {sum(found.values()) - 2 * found['aliases']:>13,} bytes {'' if found == expected else f'DIFFER: {found} {expected}'}", flush=True)
    print(f"{same} equal, {differ} different, {len(refused)} refused")
    sys.exit(bool(differ))


if __name__ == "__main__":
    one(*sys.argv[2:]) if sys.argv[1] == "--one" else main(sys.argv[1], sys.argv[2:])
