#!/usr/bin/env python3
"""Writes tests/corpus/block_ranking.jsonl.zst: Pallas kernels with many sizes of their blocks, each compiled ahead of time, with the bundles and the
copies of each by a slow, independent count. No TPU is needed.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), the package xla-shape, and the program zstd.

usage: scripts/data/block_ranking.py [NAME…]       without names, all kernels; with names, those rows are made anew

A row: `kernel`; `for`, the TPU; `held_back`, whether no rule was fitted to it (by a hash of its name); `axes`, pairs of a name and its values;
`candidates`, in the order of the values, the last axis first. A candidate has
- `blocks`, for each kernel the blocks that `xla_shape.pallas.blocks` reads from it: the kind, the array and its block;
- `program`, as StableHLO, or `missing`, why JAX makes none;
- `message`, why the compiler refuses it; or
- `bundles`, the compiler's final bundles with only the slots on which branches depend (see `reduced`); `mosaic`, the text after relayout insertion,
  without what the body computes; `executed`, how many bundles a walk from the first bundle to the last one takes (see `walk`), or null if a branch
  depends on more than the grid; `copied`, `first` and `last`: the bytes that the grid copies, those before the first step, and those after the last
  one, from the index maps themselves.
"""
import functools, glob, hashlib, importlib.util, itertools, json, os, pathlib, re, subprocess, sys, tempfile, time

TARGET = pathlib.Path(__file__).resolve().parents[2] / "tests/corpus/block_ranking.jsonl.zst"
os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import pallas as pl, topologies
from jax.experimental.pallas import tpu as pltpu
from xla_shape._blocks import _kernels, _equations

TOPOLOGIES = {"v5e": "v5e:2x2", "v6e": "v6e:2x2", "v7x": "tpu7x:2x2x1"}
# How many bundles after a branch execute even if it is taken.
DELAY = {"v5e": 4, "v6e": 4, "v7x": 6}
bf16, f32, f8, s8, s4, s32 = jnp.bfloat16, jnp.float32, jnp.float8_e4m3fn, jnp.int8, jnp.int4, jnp.int32
array = jax.ShapeDtypeStruct
KERNELS = {}


def add(name, devices, function, arguments, **over):
    for device in devices.split():
        KERNELS[f"{name}_{device}"] = device, function, [array(sizes, kind) for kind, *sizes in arguments], over


def product(x, w, *, bm, bk, bn, out=bf16, sums=f32):
    """The element types may differ: the right operand gets that of the left one."""
    def kernel(x_ref, w_ref, o_ref, sum_ref):
        @pl.when(pl.program_id(2) == 0)
        def _(): sum_ref[...] = jnp.zeros_like(sum_ref)

        sum_ref[...] += jnp.dot(x_ref[...], w_ref[...].astype(x_ref.dtype), preferred_element_type=sums)

        @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
        def _(): o_ref[...] = sum_ref[...].astype(out)

    (m, k), n = x.shape, w.shape[1]
    return pl.pallas_call(
        kernel, out_shape=array((m, n), out), grid=(m // bm, n // bn, k // bk),
        in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)), scratch_shapes=[pltpu.VMEM((bm, bn), sums)])(x, w)


def softmax(x, *, rows):
    def kernel(x_ref, o_ref): o_ref[...] = jax.nn.softmax(x_ref[...].astype(f32), axis=-1).astype(o_ref.dtype)
    spec = pl.BlockSpec((rows, x.shape[1]), lambda i: (i, 0))
    return pl.pallas_call(kernel, out_shape=array(x.shape, x.dtype), grid=(x.shape[0] // rows,), in_specs=[spec], out_specs=spec)(x)


def flash(q, k, v, *, bq, bk):
    """JAX's own."""
    from jax.experimental.pallas.ops.tpu.flash_attention import BlockSizes, flash_attention

    return flash_attention(q, k, v, causal=False, block_sizes=BlockSizes(block_q=bq, block_k_major=bk, block_k=bk, block_b=1))


def attention(q, k, v, *, bq, bk):
    """Attention with a running maximum, for each head: a grid of heads, queries and keys."""
    def kernel(q_ref, k_ref, v_ref, o_ref, most_ref, sum_ref, found_ref):
        step, last = pl.program_id(2), pl.num_programs(2) - 1

        @pl.when(step == 0)
        def _():
            most_ref[...] = jnp.full_like(most_ref, -1e30)
            sum_ref[...] = jnp.zeros_like(sum_ref)
            found_ref[...] = jnp.zeros_like(found_ref)

        scores = jax.lax.dot_general(q_ref[0], k_ref[0], (((1,), (1,)), ((), ())), preferred_element_type=f32)
        before = most_ref[:, :1]
        most = jnp.maximum(before, scores.max(-1, keepdims=True))
        weights, scale = jnp.exp(scores - most), jnp.exp(before - most)
        most_ref[...] = jnp.broadcast_to(most, most_ref.shape)
        sum_ref[...] = sum_ref[...] * scale + weights.sum(-1, keepdims=True)
        found_ref[...] = found_ref[...] * scale + jnp.dot(weights.astype(v_ref.dtype), v_ref[0], preferred_element_type=f32)

        @pl.when(step == last)
        def _(): o_ref[0] = (found_ref[...] / sum_ref[:, :1]).astype(o_ref.dtype)

    heads, length, size = q.shape
    of_q, of_k = pl.BlockSpec((1, bq, size), lambda h, i, j: (h, i, 0)), pl.BlockSpec((1, bk, size), lambda h, i, j: (h, j, 0))
    rows = pltpu.VMEM((bq, 128), f32)
    return pl.pallas_call(
        kernel, out_shape=array(q.shape, q.dtype), grid=(heads, length // bq, length // bk), in_specs=[of_q, of_k, of_k], out_specs=of_q,
        scratch_shapes=[rows, rows, pltpu.VMEM((bq, size), f32)])(q, k, v)


ALL, sizes = "v5e v6e v7x", [256, 512, 1024, 2048]
add("product_bf16", ALL, product, [(bf16, 4096, 4096)] * 2, bm=sizes, bk=[512, 1024, 2048], bn=[512, 1024])
add("product_s8", ALL, functools.partial(product, out=s32, sums=s32), [(s8, 4096, 4096)] * 2, bm=[256, 1024], bk=[512, 2048], bn=[512, 1024, 2048])
add("product_f8", ALL, product, [(f8, 2048, 4096), (f8, 4096, 4096)], bm=[100, 256, 1024], bk=[512, 2048], bn=[512, 1024])
add("product_s4", ALL, product, [(bf16, 1024, 4096), (s4, 4096, 4096)], bm=[128, 512, 1024], bk=[32, 512, 2048], bn=[512, 2048])
add("narrow_bf16", "v6e", product, [(bf16, 16, 8192), (bf16, 8192, 8192)], bm=[16], bk=[512, 1024, 2048, 8192], bn=[256, 512, 1024, 4096])
add("narrow_s8", ALL, functools.partial(product, out=s32, sums=s32), [(s8, 32, 8192), (s8, 8192, 8192)], bm=[32], bk=[512, 2048, 8192], bn=[64, 256, 1024, 4096])
add("flash_bf16", ALL, flash, [(bf16, 1, 8, 4096, 128)] * 3, bq=[128, 512, 1024], bk=[128, 512, 1024, 2048])
add("attention_bf16", ALL, attention, [(bf16, 8, 4096, 128)] * 3, bq=[100, 256, 512, 1024], bk=sizes)
add("softmax_f32", ALL, softmax, [(f32, 16384, 2048)], rows=[8, 16, 32, 60, 64, 128, 256, 512, 1024, 2048, 4096, 8192])
add("softmax_bf16", ALL, softmax, [(bf16, 32768, 2048)], rows=[8, 16, 32, 60, 64, 128, 256, 512, 1024, 2048, 4096, 8192])


# The final bundles.

BUNDLE = re.compile(r"^ *(0x[0-9a-f]+|0) *([A-Z]{2})? *: ([> ]*)\{(.*?)\}((?: */\*.*?\*/)?)$", re.S | re.M)
SCALAR = re.compile(r"(s(?:mov|add|sub|mul|shll|shra|shrl|and|or|xor|cmp|phi|ld|st|br|min|max)|scalar_select|p(?:or|and|nand|neg|nor|xor|mov))\b")


def bundles(text):
    """Label, marks, slots without comments, and the comment after them."""
    found = list(BUNDLE.finditer(text))
    assert [int(one[1], 16) for one in found] == list(range(len(found))), "some bundles were not read"
    plain = lambda body: [slot.strip() for slot in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";;") if slot.strip()]
    return [(one[2] or "", one[3].replace(" ", ""), plain(one[4]), one[5]) for one in found]


def slot(text):
    """The written name, the opcode, the predicate as (register, whether it must be true), the value otherwise, the operands; `None` if not scalar."""
    written, _, rest = text.partition(" = ")
    opcode, _, rest = rest.partition(" ")
    if not SCALAR.match(opcode) or (opcode in ("sld", "sst") and "_spill" not in rest):
        return None
    otherwise = on = None
    if found := re.match(r"\((!?)(%p\w+), ([^)]*)\),?\s*", rest):
        on, otherwise, rest = (found[2], not found[1]), found[3].strip(), rest[found.end():]
    elif found := re.search(r"\((!?)(%p\w+)\)", rest):
        on, rest = (found[2], not found[1]), rest[:found.start()] + rest[found.end():]
    place, rest = (found[0], rest.replace(found[0], "")) if (found := re.search(r"\[smem:[^ ]*_spill\]\]", rest)) else (None, rest)
    operands = [one.strip() for one in rest.split(",") if one.strip()]
    if opcode == "sst":
        written = place
    elif opcode == "sld":
        operands = [place]
    return written, opcode, on, otherwise, operands


def needed(all):
    """For each bundle the slots on which branches depend, by the registers and places that they read."""
    slots = [[found for text in one[2] if (found := slot(text))] for one in all]
    writers = {}
    for one in itertools.chain.from_iterable(slots):
        writers.setdefault(one[0], []).append(one)
    reads = lambda one: [*one[4], *([one[2][0]] if one[2] else []), *([one[3]] if one[3] else [])]
    open, kept = [one for one in itertools.chain.from_iterable(slots) if one[1].startswith("sbr")], set()
    while open:
        one = open.pop()
        if id(one) not in kept:
            kept.add(id(one))
            open += [writer for name in reads(one) for writer in writers.get(name, [])]
    return [[one for one in some if id(one) in kept] for some in slots]


def wrapped(value): return (value + (1 << 31)) % (1 << 32) - (1 << 31)
def unsigned(value): return value % (1 << 32)


COMPARE = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
COMPUTE = {
    "smov": lambda a: a, "sadd": lambda a, b: a + b, "ssub": lambda a, b: a - b, "smul": lambda a, b: a * b, "sand": lambda a, b: a & b,
    "sor": lambda a, b: a | b, "sxor": lambda a, b: a ^ b, "sshll": lambda a, b: a << b, "sshra": lambda a, b: a >> b,
    "sshrl": lambda a, b: unsigned(a) >> b, "smin": min, "smax": max, "pneg": lambda a: not a, "pmov": lambda a: a, "pxor": lambda a, b: a != b}


def compute(opcode, values):
    """The value of an instruction; `None` if it is not known."""
    kind, *more = opcode.split(".")
    # One known operand may decide the result.
    decides = {"por": True, "pnor": True, "pand": False, "pnand": False}.get(kind)
    if decides is not None:
        if decides in values:
            return decides != (kind in ("pnor", "pnand"))
        return None if None in values else (not decides) != (kind in ("pnor", "pnand"))
    if kind == "scalar_select":
        return None if values[0] is None else values[1 if values[0] else 2]
    if None in values:
        return None
    if kind == "scmp":
        return COMPARE[more[0]](*(map(unsigned, values) if more[1] == "u32" else values))
    found = COMPUTE[kind](*values)
    return wrapped(found) if kind.startswith("s") else found


def walk(all, delay, most=50_000_000):
    """How many bundles execute from the first one to the last one; `None` if a branch depends on an unknown value. Computes all values in the
    order of execution, including those that loops carry. A branch goes to the beginning of its region, `delay` bundles later."""
    slots = needed(all)
    starts = {int(number): at for at, one in reversed(list(enumerate(all))) for number in re.findall(r"Start(?:/End empty)? region (\d+)", one[3])}
    # Only these bundles are looked at.
    busy = [at for at, some in enumerate(slots) if some] + [len(all)]
    following, place = [], 0
    for at in range(len(all) + 1):
        while busy[place] < at:
            place += 1
        following.append(busy[place])
    values, count, at, is_back, landing = {}, 0, 0, False, None

    def value(text):
        if text in values or not re.fullmatch(r"-?\d+", text):
            return values.get(text)
        return wrapped(int(text))

    while at < len(all):
        until = following[at] if landing is None else min(following[at], landing[0])
        if until > at:
            count, at, is_back = count + until - at, until, False
        elif landing is None or at < landing[0]:
            phis = [(one[0], value(one[4][is_back])) for one in slots[at] if one[1] == "sphi"]
            values.update(phis)
            for written, opcode, on, otherwise, operands in slots[at]:
                if opcode == "sphi":
                    continue
                test = True if on is None else value(on[0])
                if test is not None and on is not None:
                    test = bool(test) == on[1]
                if opcode.startswith("sbr"):
                    # A branch in the delay slots of a taken branch has no effect.
                    if landing is not None:
                        continue
                    if test is None:
                        return None
                    if test:
                        landing = at + 1 + delay, starts[int(re.search(r"region(\d+)", operands[-1])[1])]
                elif test is None:
                    values[written] = None
                elif test:
                    values[written] = value(operands[0]) if opcode in ("sld", "sst") else compute(opcode, [value(one) for one in operands])
                elif otherwise is not None:
                    values[written] = value(otherwise)
            count, at, is_back = count + 1, at + 1, False
        if landing is not None and at == landing[0]:
            is_back, at, landing = landing[1] < at, landing[1], None
        assert count < most, "too many bundles"
    return count


def reduced(all, text):
    """The bundles as lines without addresses, with only the slots on which branches depend, under shorter names. A line `12 >` stands for twelve
    bundles that have only other slots, at this depth of loops, and `12` for twelve empty ones."""
    slots, names = needed(all), {}
    short = lambda text: re.sub(r"%([sp]?)\d+(_\w+)?", lambda found: f"%{found[1]}{names.setdefault(found[0], len(names))}{found[2] or ''}", text)
    operands = re.findall(r"(%\w+ = inlined_call_operand\.\S+ \[.*?\{\}\])(?: /\*.*?(The window shape is .*?\.) .*?\*/)?", text, re.S)
    lines = []
    for at, (label, marks, texts, comment) in enumerate(all):
        keep = [one for one in texts if slot(one) in slots[at]]
        if at == 0:
            keep = [f"{named} /* {window} */" if window else named for named, window in operands] + keep
        regions = re.findall(r"(?:Start|End|Start/End empty) region \d+|exit bundle: \S+ = custom-call", comment)
        if keep or label or regions:
            keep = keep or ["%1 = vother"] * bool(texts)
            lines.append(short(f"{label}: {marks} {{ {' ;; '.join(keep)} }} ") + f"/* {' :: '.join(regions)}{'(%' * ('exit' in comment)} */" * bool(regions))
        else:
            kind = " ".join([marks] * bool(texts)) if marks else "-" * bool(texts)
            if lines and re.fullmatch(rf"\d+ {kind}", lines[-1]):
                lines[-1] = f"{int(lines[-1].split(' ')[0]) + 1} {kind}"
            else:
                lines.append(f"1 {kind}")
    return "\n".join(lines)


# The copies.

def copies(traced, all):
    """The bytes that the grid copies, those before the first step, and those after the last one. Arrays that XLA keeps in VMEM are not copied:
    the first bundle names them."""
    kept = {int(number) for text in all[0][2] for number in re.findall(r"inlined_call_operand\.vmem \[.*?index: (\d+)", text)}
    [equation] = [one for one in _equations(traced.jaxpr) if one.primitive.name == "pallas_call"]
    mapping = equation.params["grid_mapping"]
    steps = np.stack([one.ravel() for one in np.meshgrid(*map(np.arange, mapping.grid), indexing="ij")]).astype(np.int32)
    total = first = last = 0
    for number, block in enumerate(mapping.block_mappings):
        if number in kept:
            continue
        jaxpr = block.index_map_jaxpr
        places = jax.vmap(lambda *at: jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *at))(*steps)
        places = np.stack([np.broadcast_to(one, steps.shape[1:]) for one in places])
        changes = int((places[:, 1:] != places[:, :-1]).any(0).sum()) + 1
        sizes = [size if isinstance(size, int) else getattr(size, "block_size", 1) for size in block.block_shape]
        kind = block.array_aval.dtype
        size = int(np.prod(sizes)) * (4 if kind == s4 else 8 * kind.itemsize) // 8
        total += changes * size
        if number < mapping.num_inputs:
            first += size
        else:
            last += size
    return total, first, last


# A candidate.

@functools.cache
def chip(device):
    return jax.sharding.SingleDeviceSharding(topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[device]).devices[0])


def without_paths(text):
    return re.sub(r'"?/[^"\s]*/([^"/\s]+\.py)"?', r"\1", text)


@functools.cache
def dumps():
    """The folder into which the compiler writes what it has made. Call this before `chip`, which starts the compiler: it reads its flags then."""
    folder = tempfile.mkdtemp()
    flags = f"--xla_mosaic_dump_to={folder} --xla_jf_dump_to={folder} --xla_jf_dump_llo_text=true --xla_jf_dump_llo_pass_label_regex=final_bundles"
    os.environ["LIBTPU_INIT_ARGS"] = flags
    return folder


def candidate(device, function, arguments, setting):
    for file in glob.glob(dumps() + "/*"):
        os.remove(file)
    on = [array(one.shape, one.dtype, sharding=chip(device)) for one in arguments]
    found = {}
    try:
        traced = jax.jit(functools.partial(function, **setting)).trace(*on)
        found["blocks"] = list(_kernels(traced))
        lowered = traced.lower(lowering_platforms=("tpu",))
    except Exception as error:
        return found | {"missing": without_paths(str(error).strip().splitlines()[0])[:200]}
    found["program"] = re.sub(r", \\22debug_locations\\22: \\22[^\\]*\\22", "", lowered.as_text())
    try:
        lowered.compile()
    except Exception as error:
        message = re.sub(r"%\S+ = .*?(?=\. Scoped|$)", "%k = …", str(error).strip(), flags=re.S)
        return found | {"message": without_paths("\n".join(message.splitlines()[:6]))[:600]}
    texts = [open(file, errors="replace").read() for file in sorted(glob.glob(dumps() + "/*final_bundles.txt")) if "schedule-analysis" not in file]
    [text] = [one for one in texts if re.search(r"exit bundle: \S+ = custom-call\(", one)]
    [mosaic] = [open(file).read() for file in glob.glob(dumps() + "/*post-relayout-insertion.txt")]
    # In the body, only the stores tell which blocks are written; keep them, and the views of memory that they may write through.
    head, functions = mosaic.split("  func.func @transform_0", 1)
    lines = [line for number, line in enumerate(head.splitlines()) if number < 2 or "_store " in line or "-> memref<" in line or re.match(r"\s*return|  }", line)]
    mosaic = "\n".join(lines) + "\n  func.func @transform_0" + functions
    mosaic = re.sub(r' \{(?:in|out)_layout = \[[^]]*\](?:, out_layout = \[[^]]*\])?\}', "", mosaic)
    all = bundles(text)
    total, first, last = copies(traced, all)
    return found | {"bundles": reduced(all, text), "mosaic": mosaic, "executed": walk(all, DELAY[device]), "copied": total, "first": first, "last": last}


def row(name):
    device, function, arguments, over = KERNELS[name]
    settings = [dict(zip(over, values)) for values in itertools.product(*over.values())]
    held_back = hashlib.sha256(name.encode()).digest()[0] % 10 < 3
    axes = [[axis, [str(value) for value in values]] for axis, values in over.items()]
    return {"kernel": name, "for": device, "held_back": held_back, "axes": axes, "candidates": [candidate(device, function, arguments, setting) for setting in settings]}


def main(names):
    unknown = [name for name in names if name not in KERNELS]
    if unknown:
        sys.exit(f"no kernel is called {unknown[0]}; there are: {', '.join(KERNELS)}")
    for name in names or KERNELS:
        old = subprocess.run(["zstd", "-dc", TARGET], check=True, capture_output=True, text=True).stdout if TARGET.exists() else ""
        found = {row["kernel"]: row for row in map(json.loads, old.splitlines())}
        start = time.time()
        found[name] = row(name)
        kinds = [next(kind for kind in ("bundles", "message", "missing") if kind in one) for one in found[name]["candidates"]]
        print(f"{name}: {kinds.count('bundles')} compiled, {kinds.count('message')} refused, {kinds.count('missing')} missing, {time.time() - start:.0f} s", flush=True)
        text = "".join(json.dumps(found[name], ensure_ascii=False) + "\n" for name in KERNELS if name in found)
        subprocess.run(["zstd", "-q", "-19", "-f", "-o", TARGET], input=text.encode(), check=True)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
