#!/usr/bin/env python3
"""Measures `xla-shape shard` from the files of one plan to another's, beside `cp` of the same bytes.

usage: shard_speed.py PROGRAM FOLDER [--gib 1.5] [--rounds 5]

PROGRAM is a release build of xla-shape. In FOLDER, the script makes five checkpoints of `--gib` GiB, and removes them at the end. Each round times

- `cp --reflink=never` of the files of 4 devices;
- 4 to 8 devices, one device after another, both divided by rows: long runs of bytes stay together;
- 4 to 8 devices with another order of axes, where runs have 2 to 5.5 KiB: to row-major files, and to files in `T(8,128)(2,1)`;
- these tiled files back to those of 4 devices.

The time ends when the bytes are on the disk; if FOLDER is in memory, such as in /dev/shm, there is no disk to wait for. The input is in the page
cache (warm), or it is not (cold; only on a disk). Prints the median of GB/s, the median of the ratios to `cp` of the same round, and the most
resident memory of a process. Results are compared with those that are made of the whole checkpoint, except for the division by rows."""

import argparse, filecmp, json, os, random, shutil, statistics, struct, subprocess, sys, time
from pathlib import Path

ROWS = "{mesh['data'=2,'model'=2], [{'data'}, {'model'}]}"
FOUR_ROWS = "{mesh['x'=4], [{'x'}, {}]}"
EIGHT_ROWS = "{mesh['x'=8], [{'x'}, {}]}"
OTHER_ORDER = "{mesh['model'=4,'data'=2], [{'data'}, {'model'}]}"
TILES = "{1,0:T(8,128)(2,1)}"


def save(path, gib):
    """Layers of a transformer, in bf16."""
    sizes = {"q": (4096, 4096), "o": (4096, 4096), "up": (4096, 11008), "down": (11008, 4096), "norm": (4096,)}
    count = {name: 2 * size[0] * (size[1] if len(size) > 1 else 1) for name, size in sizes.items()}
    header, start = {}, 0
    for layer in range(max(1, round(gib * 2**30 / sum(count.values())))):
        for name, size in sizes.items():
            header[f"layer.{layer}.{name}"] = {"dtype": "BF16", "shape": size, "data_offsets": [start, start + count[name]]}
            start += count[name]
    text = json.dumps(header).encode()
    block = random.Random(1).randbytes((16 << 20) + 4096)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for at in range(0, start, 16 << 20):
            # Each block begins elsewhere, so that no two are equal.
            first = at // (16 << 20) % 4096
            file.write(block[first : first + min(16 << 20, start - at)])
    return start


def plan(path, sharding, layout=None):
    rule = {"sharding": sharding} | ({"layout": layout} if layout else {})
    path.write_text(json.dumps({"*.norm": {"sharding": "{replicated}"}, "*": rule}))
    return path


def drop(paths):
    """Takes files out of the page cache."""
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def warm(paths):
    for path in paths:
        with open(path, "rb") as file:
            while file.read(16 << 20):
                pass


def run(command):
    """The most resident memory of a process, in bytes."""
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"failed: {command}")
    return used.ru_maxrss * 1024


def shard(program, inputs, plan, output, devices):
    return max(run([program, "shard", *inputs, "--plan", plan, "--device", device, "-o", output]) for device in range(devices))


def copy(inputs, output):
    output.mkdir()
    run(["cp", "--reflink=never", *inputs, output])
    for path in output.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
    return 0


def timed(work, output):
    shutil.rmtree(output, ignore_errors=True)
    os.sync()
    before = time.monotonic()
    memory = work()
    seconds = time.monotonic() - before
    size = sum(path.stat().st_size for path in output.iterdir())
    return size / seconds / 1e9, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gib", type=float, default=1.5)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    program, folder = given.program.resolve(), given.folder / "shard-speed"
    folder.mkdir(parents=True)
    try:
        whole, output = folder / "m.safetensors", folder / "out"
        save(whole, given.gib)
        four = plan(folder / "four.json", ROWS)
        eight = plan(folder / "eight.json", OTHER_ORDER)
        tiled = plan(folder / "tiled.json", OTHER_ORDER, TILES)
        rows = plan(folder / "rows.json", EIGHT_ROWS)
        shard(program, [whole], four, folder / "four", 4)
        shard(program, [whole], tiled, folder / "tiled", 8)
        shard(program, [whole], plan(folder / "four_rows.json", FOUR_ROWS), folder / "four_rows", 4)
        whole.unlink()
        files = {name: sorted((folder / name).iterdir()) for name in ("four", "tiled", "four_rows")}
        # For each case: the input, the work, and the expected result.
        cases = {
            "cp": ("four", lambda inputs: copy(inputs, output), "four"),
            "4 to 8, rows": ("four_rows", lambda inputs: shard(program, inputs, rows, output, 8), None),
            "4 to 8": ("four", lambda inputs: shard(program, inputs, eight, output, 8), None),
            "4 to 8, tiled": ("four", lambda inputs: shard(program, inputs, tiled, output, 8), "tiled"),
            "8, tiled, to 4": ("tiled", lambda inputs: shard(program, inputs, four, output, 4), "four"),
        }
        in_memory = subprocess.run(["stat", "-fc", "%T", folder], capture_output=True, text=True).stdout.strip() == "tmpfs"
        for state, prepare in (("warm", warm), ("cold", drop))[: 1 if in_memory else 2]:
            found = {name: [] for name in cases}
            for _ in range(given.rounds):
                for name, (inputs, work, expected) in cases.items():
                    prepare(files[inputs])
                    found[name].append(timed(lambda: work(files[inputs]), output))
                    for made in files.get(expected, []):
                        assert filecmp.cmp(made, output / made.name, shallow=False), made.name
            for name, rows in found.items():
                speed = statistics.median(speed for speed, _ in rows)
                ratio = statistics.median(speed / cp for (speed, _), (cp, _) in zip(rows, found["cp"]))
                print(f"{state}  {name:<16}{speed:6.2f} GB/s  {ratio:5.2f} of cp  {max(memory for _, memory in rows) >> 20:4} MiB", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
