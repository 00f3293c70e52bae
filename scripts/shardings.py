#!/usr/bin/env python3
"""Compares `xla-shape` with XLA for random shardings.

usage: scripts/shardings.py [COUNT] [SEED]    2000 texts by default; needs jaxlib 0.12, or makes an environment with it in
                                              target/shardings; builds `xla-shape`

Texts are those that XLA prints, shuffled: tiles with lists and iotas, subgroups, axes of meshes with sub-axes, tuples; about a third
has one character changed. Prints each text that only one side reads, or whose canonical text or OpSharding differs; then the exit code is
1. Rows of tests/corpus/shardings.jsonl.zst have the fields that `ask` returns.
"""
import base64, json, multiprocessing, os, random, re, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
AXES = ["x", "y", "z", "data", "model"]


def product(numbers):
    result = 1
    for number in numbers: result *= number
    return result


def lists(numbers): return ",".join(map(str, numbers))


def tiled(r):
    dims = [r.choice([1, 1, 2, 2, 3, 4]) for _ in range(r.randint(1, 4))]
    count = product(dims)
    if count == 1 or r.random() < .3:
        devices = list(range(count)); r.shuffle(devices); order = lists(devices)
    else:
        shape, rest = [], count
        while rest > 1:
            factor = r.choice([n for n in range(2, rest + 1) if rest % n == 0]); shape.append(factor); rest //= factor
        permutation = list(range(len(shape))); r.shuffle(permutation)
        order = f"<=[{lists(shape)}]" + (f"T({lists(permutation)})" if r.random() < .6 else "")
    kinds = ["", " last_tile_dim_replicate"]
    groups = [r.choice(["replicated", "manual", "unreduced"]) for _ in range(r.randint(1, len(dims)))]
    kinds.append(f" last_tile_dims={{{', '.join(groups)}}}")
    return f"{{devices=[{lists(dims)}]{order}{r.choice(kinds)}}}"


def named(r):
    names = r.sample(AXES, r.randint(1, 3))
    sizes = {name: r.choice([1, 2, 4, 6, 8]) for name in names}
    mesh = "mesh[" + ",".join(f"'{name}'={size}" for name, size in sizes.items()) + "]"
    if r.random() < .2:
        devices = list(range(product(sizes.values()))); r.shuffle(devices); mesh += f", device_ids=({lists(devices)})"
    free = []
    for name in names:
        size, start = sizes[name], 1
        if size > 2 and r.random() < .4:
            part = r.choice([n for n in (2, 3, 4) if size % n == 0 and n < size])
            free += [f"'{name}':(1){part}", f"'{name}':({part}){size // part}"]
        else: free.append(f"'{name}'")
    r.shuffle(free)
    dims = []
    for _ in range(r.randint(0, 3)):
        own = [free.pop() for _ in range(min(len(free), r.choice([0, 1, 1, 2])))]
        if r.random() < .2: own.append("?")
        dims.append("{" + ", ".join(own) + "}")
    rest = f", replicated={{{free.pop()}}}" if free and r.random() < .3 else ""
    return f"{{{mesh}, [{', '.join(dims)}]{rest}}}"


def text(r):
    kind = r.random()
    one = lambda: r.choice([tiled, named])(r) if r.random() < .8 else r.choice(
        ["{replicated}", "{manual}", "{unknown}", "{unreduced}", f"{{maximal device={r.randint(0, 9)}}}"])
    made = "{" + ", ".join(one() for _ in range(r.randint(0, 3))) + "}" if kind < .15 else one()
    if r.random() < .3 and len(made) > 2:
        at = r.randrange(1, len(made))
        made = made[:at] + r.choice(["", "0", "1", "2", ",", " ", "}", "[", "'", made[at - 1]]) + made[at + 1:]
    return made


def answer(sharding):
    from jaxlib import _hlo
    try: read = _hlo.HloSharding.from_string(sharding)
    except Exception as error: return {"ok": False, "error": str(error)[:200]}
    return {"ok": True, "printed": repr(read), "proto": read.to_proto().SerializeToString().hex()}


def is_known(sharding):
    """Whether XLA reads the text but fails later: a transposition that names a dimension twice."""
    found = re.findall(r"T\(([\d,]*)\)", sharding)
    return any(len(set(numbers.split(","))) < len(numbers.split(",")) for numbers in found)


def ask(texts):
    """XLA's answers. It ends the process for some texts."""
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
            return list(executor.map(answer, texts))
    except BrokenProcessPool:
        if len(texts) == 1: return [{"ok": False, "aborts": True}]
        half = len(texts) // 2
        return ask(texts[:half]) + ask(texts[half:])


def main():
    try: import jaxlib  # noqa: F401
    except ImportError:
        folder = os.path.join(ROOT, "target/shardings")
        python = os.path.join(folder, "bin/python")
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "jaxlib==0.12.*"], check=True)
        os.execv(python, [python, *sys.argv])
    count, seed = [int(given) for given in sys.argv[1:]] + [2000, 1][len(sys.argv) - 1:]
    r = random.Random(seed)
    texts = [text(r) for _ in range(count)]
    subprocess.run(["cargo", "build", "--quiet", "-p", "xla-shape-cli"], cwd=ROOT, check=True)
    ours = subprocess.run([os.path.join(ROOT, "target/debug/xla-shape"), "check", "--sharding"], text=True,
                          input="".join(line + "\n" for line in texts), stdout=subprocess.PIPE).stdout.splitlines()
    theirs = sum((ask(texts[i:i + 200]) for i in range(0, count, 200)), [])
    wrong = 0
    for sharding, our, their in zip(texts, map(json.loads, ours), theirs, strict=True):
        same = our["ok"] == their["ok"] and (not our["ok"] or (
            our["sharding"] == their["printed"] and base64.b64decode(our["proto"]).hex() == their["proto"]))
        if not same and not is_known(sharding):
            wrong += 1
            print(f"{sharding}\n  ours   {our.get('sharding') or our['error']['message']}\n"
                  f"  theirs {their.get('printed') or their.get('error') or 'XLA ends its process'}")
    print(f"{count} shardings, {sum(their['ok'] for their in theirs)} of which XLA reads; {wrong} differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
