#!/usr/bin/env python3
"""Writes tests/corpus/tpu_kernels.jsonl.zst: Pallas kernels near the limit of VMEM, and the compiler's answer for each. No TPU is needed.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), for example in an environment under target/, and the program zstd.

usage: scripts/data/tpu_kernels.py [N] [SEED]       N kernels for each generation and kind, 70 if not given

A row: `tpu`; `limit` (vmem_limit_bytes, or null); `inputs` and `outputs`, each [array, block, whether the block's place changes with the
grid]; `scratch`, shapes; `used`, the bytes of VMEM that the compiler gave the kernel, or `message`, why it refused; `body`: what the
kernel computes, null where it computes nothing and so needs nothing but its blocks.
"""
import json, os, random, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOPOLOGIES = {"v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "v7x": "tpu7x:2x2x1"}
LIMITS = {"v4": 16 << 20, "v5e": 16 << 20, "v5p": 16 << 20, "v6e": 32 << 20, "v7x": 32 << 20}
MOST = {"v4": 16 << 20, "v5e": 128 << 20, "v5p": 63 << 20, "v6e": 127 << 20, "v7x": 63 << 20}


def main(tpu, count, seed):
    os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
    import jax, jax.numpy as jnp
    from jax.experimental import pallas as pl, topologies
    from jax.experimental.pallas import tpu as pltpu
    types = {"f32": jnp.float32, "bf16": jnp.bfloat16, "s8": jnp.int8, "s32": jnp.int32, "f8e4m3fn": jnp.float8_e4m3fn, "s16": jnp.int16, "u8": jnp.uint8, "f8e5m2": jnp.float8_e5m2, "s4": jnp.int4, "pred": jnp.bool_}
    chip = topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[tpu]).devices[0]
    device = jax.sharding.SingleDeviceSharding(chip)
    # Pallas asks which TPU it writes for.
    mesh = jax.sharding.AbstractMesh((), (), abstract_device=jax.sharding.AbstractDevice(chip.device_kind, 1, "tpu"))
    rng = random.Random(f"{tpu} {seed}")
    text = lambda t, sizes: f"{t}[{','.join(map(str, sizes))}]"

    def padded(t, sizes):
        """The approximate bytes of the block, to find the limit."""
        bits = {"f32": 32, "s32": 32, "bf16": 16, "s16": 16, "s4": 4}.get(t, 8)
        *lead, rows, lanes = [1, *sizes]
        n = -(-rows // 8) * 8 * -(-lanes // 128) * 128 * bits // 8
        for size in lead: n *= size
        return n

    def block(t, rank=None):
        """A block and its array; the grid iterates over the first dimension of both."""
        rank = rank or rng.choice([2, 2, 2, 3, 3, 4, 1])
        if rank == 1: return [1024 * rng.randint(1, 64)], None
        lanes, rows = rng.choice([128, 128, 256, 384, 512, 1024, 100, 200, 640, 2048]), rng.choice([8, 16, 24, 32, 64, 128, 256, 40, 3, 5, 1, 2])
        lead = [rng.choice([1, 2, 3, 8]) for _ in range(rank - 2)]
        return [*lead, rows, lanes], None

    def legal(sizes, moves):
        # Pallas requires that a block that moves along dimension 0 has a multiple of 8 rows.
        return not moves or len(sizes) != 2 or sizes[0] % 8 == 0

    def program(kind):
        limit = None if kind in ("default", "body") else min(MOST[tpu], rng.randint(2 << 20, 80 << 20) // 4096 * 4096)
        most = limit or LIMITS[tpu]
        while True:
            windows = []
            for role in ["in"] * rng.choice([1, 1, 2, 3]) + ["out"] * rng.choice([1, 1, 2]):
                t = rng.choice(list(types)[:8] if kind != "types" else list(types))
                sizes, moves = block(t)[0], rng.random() < .7
                windows.append([role, t, sizes, moves])
            scratch = [(rng.choice(list(types)[:8] if kind != "types" else list(types)), block("")[0]) for _ in range(rng.choice([0, 0, 1, 2]))]
            if all(legal(s, m) for _, _, s, m in windows) and any(m for *_, m in windows) and any(m and len(s) > 1 and s[-2] >= 8 or len(s) > 2 for _, _, s, m in windows): break
        # Grow one window until the kernel no longer fits.
        grown = max((w for w in windows if w[3] and len(w[2]) > 1), key=lambda w: padded(w[1], w[2]), default=None)
        if grown is None: return None
        total = lambda: sum(padded(t, s) * (2 if m else 1) for _, t, s, m in windows) + sum(padded(t, s) for t, s in scratch)
        unit = 8 if len(grown[2]) == 2 else 1
        goal = most * rng.choice([rng.uniform(.9, 1.1), 1, 1])
        grown[2][0] = unit
        one = padded(grown[1], grown[2]) * 2
        if total() > goal: return None
        grown[2][0] = unit * (1 + int((goal - total()) // one)) + rng.choice([0, 0, unit, -unit])
        if grown[2][0] < unit or padded(grown[1], grown[2]) > 100 << 20: return None
        return limit, windows, scratch

    def compile(limit, windows, scratch, body):
        steps = rng.choice([2, 3, 4, 8, 16])
        row = {"tpu": tpu, "limit": limit, "inputs": [], "outputs": [], "scratch": [text(t, s) for t, s in scratch], "body": body and body.__name__}
        specs, shapes, arguments = {"in": [], "out": []}, [], []
        for role, t, sizes, moves in windows:
            whole = [sizes[0] * steps, *sizes[1:]] if moves else list(sizes)
            index = (lambda n: lambda i: (i, *[0] * (n - 1)))(len(sizes)) if moves else (lambda n: lambda i: (0,) * n)(len(sizes))
            specs[role].append(pl.BlockSpec(tuple(sizes), index))
            if role == "in": arguments.append(jax.ShapeDtypeStruct(tuple(whole), types[t], sharding=device))
            else: shapes.append((jax.ShapeDtypeStruct if t == "pred" else pltpu.HBM)(tuple(whole), types[t]))
            row["inputs" if role == "in" else "outputs"].append([text(t, whole), text(t, sizes), moves])
        # A scratch buffer that nothing reads is removed: copy it out.
        anywhere = [(jax.ShapeDtypeStruct if t == "pred" else pltpu.HBM)(tuple(s), types[t]) for t, s in scratch]
        inputs, outputs = len(specs["in"]), len(specs["out"])

        def kernel(*refs):
            if body: body(jnp, jax, refs[0], refs[inputs])
            kept = refs[inputs + outputs:]
            for place, buffer in zip(kept[:len(scratch)], kept[len(scratch):-1]):
                copy = pltpu.make_async_copy(buffer, place, kept[-1])
                copy.start(); copy.wait()
        parameters = {"compiler_params": pltpu.CompilerParams(vmem_limit_bytes=limit)} if limit else {}
        call = pl.pallas_call(kernel, grid=(steps,), in_specs=specs["in"], out_specs=specs["out"] + [pl.BlockSpec(memory_space=pl.ANY)] * len(scratch), out_shape=shapes + anywhere,
                              scratch_shapes=[pltpu.VMEM(tuple(s), types[t]) for t, s in scratch] + [pltpu.SemaphoreType.DMA], **parameters)
        # The compiler may keep a small array in VMEM, where it needs no blocks: request HBM for each.
        in_hbm = lambda *xs: call(*(x if x.dtype == bool else pltpu.with_memory_space_constraint(x, pltpu.HBM) for x in xs))
        try:
            with jax.sharding.use_abstract_mesh(mesh): hlo = jax.jit(in_hbm).trace(*arguments).lower(lowering_platforms=("tpu",)).compile().as_text()
        except Exception as error:
            said = re.search(r"Scoped allocation with size \S+ and limit \S+ exceeded|Used \S+ of \S+ vmem|would exceed memory \(size=\d+\)", str(error))
            if not said: sys.stderr.write(f"{tpu} {row}: {str(error).strip()[:300]}\n"); return None
            return row | {"message": said[0]}
        line = next(l for l in hlo.splitlines() if '"tpu_custom_call"' in l)
        used = re.search(r'used_scoped_memory_configs":\[(.*?)\]', line)[1]
        return row | {"used": sum(int(n) for n in re.findall(r'"memory_space":"1".*?"size":"(\d+)"', used))}

    def softmax(jnp, jax, x, o):
        o[...] = jax.nn.softmax(x[...].astype(jnp.float32), axis=-1).astype(o.dtype)
    def product(jnp, jax, x, o):
        o[...] = jnp.dot(x[...], x[...].T, preferred_element_type=jnp.float32)[:, :1].astype(o.dtype) + x[...]
    def add(jnp, jax, x, o):
        o[...] = x[...] + x[...]
    def sums(jnp, jax, x, o):
        o[...] = jnp.broadcast_to(jnp.sum(x[...].astype(jnp.float32), axis=0, keepdims=True), o.shape).astype(o.dtype)

    for kind in ("default", "limit", "types", "body"):
        made = 0
        for _ in range(count * 20):
            if made >= (count if kind != "types" else count // 2): break
            if kind == "body":
                t, rows, lanes = rng.choice(["f32", "bf16"]), 8 * rng.randint(2, 64), 128 * rng.randint(1, 8)
                row = compile(None, [["in", t, [rows, lanes], True], ["out", t, [rows, lanes], True]], [], rng.choice([softmax, product, add, sums]))
            else:
                found = program(kind)
                row = found and compile(*found, None)
            if row: made += 1; print(json.dumps(row, separators=(",", ":")), flush=True)
    sys.stdout.flush(); os._exit(0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]: main(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    count, seed = (sys.argv[1:] + ["70"])[0], (sys.argv[2:] + ["1"])[0]
    rows = b"".join(subprocess.run([sys.executable, os.path.abspath(__file__), "--one", tpu, count, seed], stdout=subprocess.PIPE, check=True).stdout for tpu in TOPOLOGIES)
    subprocess.run(["zstd", "-19", "-f", "-q", "-o", os.path.join(ROOT, "tests/corpus/tpu_kernels.jsonl.zst")], input=rows, check=True)
