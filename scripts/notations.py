#!/usr/bin/env python3
"""Compares `xla-shape convert` with the libraries of other layout notations: NumPy, torch, Triton, tensor-layouts (CuTe's algebra) and C++.

    pip install numpy tensor-layouts triton torch libraft-cu12 nvidia-cuda-cccl-cu12    # whichever of them installs
    cargo build --release -p xla-shape-cli
    scripts/notations.py [--cases 300] [--laws 100000]

For each random array, passes the program's text to the library, and compares every position that the library computes with the map of `xla-shape draw`.
Skips a missing library, with a message. `--laws N` also runs the round-trip properties of `tests/tests/shapes/notations.rs` for every notation,
each with N random layouts.
"""

import argparse
import importlib
import importlib.util
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def program():
    for build in ("release", "debug"):
        path = ROOT / "target" / build / "xla-shape"
        if path.exists():
            return path
    sys.exit("build the program first: cargo build --release -p xla-shape-cli")


PROGRAM = program()


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


def convert(text, *arguments):
    return json.loads(run("convert", "--format", "json", *arguments, "--", text))


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"left out: {error}")
        return None


def indices(sizes):
    return itertools.product(*map(range, sizes))


def random_array(source, powers):
    """A shape with at most 4,096 elements, in a random layout; if `powers`, all sizes and tiles are powers of two."""
    rank = source.randint(1, 4)
    while True:
        sizes = [source.choice((1, 2, 4, 8, 16) if powers else (1, 2, 3, 4, 5, 7, 8, 12, 16)) for _ in range(rank)]
        if 0 < eval("*".join(map(str, sizes))) <= 4096:
            break
    order = source.sample(range(rank), rank)
    tiles = ""
    if source.random() < 0.7:
        tile = [source.choice((1, 2, 4, 8)) for _ in range(source.randint(1, rank))]
        tiles = f":T({','.join(map(str, tile))})"
        if source.random() < 0.4:
            tiles += f"({','.join(str(source.choice([d for d in (1, 2, 4) if size % d == 0])) for size in tile)})"
    return sizes, f"f32[{','.join(map(str, sizes))}]{{{','.join(map(str, order))}{tiles}}}"


def map_of(shape, sizes):
    """The position of each element, by its index."""
    positions = {number: position for position, number in enumerate(json.loads(run("draw", shape, "--format", "json"))["physical_to_logical"]) if number is not None}
    return {index: positions[number] for number, index in enumerate(indices(sizes))}


def numpy_positions(numpy, text, sizes):
    names = {"np": numpy}
    try:
        names["ml_dtypes"] = importlib.import_module("ml_dtypes")
    except ImportError:
        pass
    last = 1 << 20
    buffer = numpy.arange(last, dtype=numpy.float32)
    view = eval(text.replace("np.ndarray(", "np.ndarray(buffer=buffer, "), names | {"buffer": buffer})
    assert view.shape == tuple(sizes)
    return {index: int(view[index]) for index in indices(sizes)}


def torch_positions(torch, text, sizes):
    tensor = eval(text, {"torch": torch, "x": torch.arange(1 << 20)})
    assert tuple(tensor.shape) == tuple(sizes)
    start = tensor.storage_offset()
    return {index: start + sum(i * s for i, s in zip(index, tensor.stride())) for index in indices(sizes)}


def cute_positions(layouts, text, sizes):
    shape, stride = (eval(part) for part in text.split(":"))
    layout = layouts.Layout(shape, stride)
    # A coordinate has one number for each dimension. If a dimension has several modes, they vary in colexicographic order.
    return {index: layout(*index) for index in indices(sizes)}


LINE = re.compile(r"offset=(\d+) -> \(([\d, ]*)\)")


def triton_layout(linear_layout, text, sizes):
    bases = [[int(entry) for entry in basis.split(",")] for _, basis in LINE.findall(text)]
    names = [f"dim{dimension}" for dimension in range(len(sizes))]
    return linear_layout.LinearLayout.from_bases([("offset", bases)], names, list(sizes), True)


def triton_positions(linear_layout, text, sizes):
    layout = triton_layout(linear_layout, text, sizes)
    # The program writes the same text as the library prints, and reads it.
    said = str(layout).strip()
    assert [line.split() for line in said.splitlines()] == [line.split() for line in text.splitlines()], (said, text)
    assert "text" in convert(said, "--from", "linear"), said
    count = eval("*".join(map(str, sizes)))
    positions = {}
    for position in range(count):
        place = layout.apply({"offset": position})
        positions[tuple(place[f"dim{dimension}"] for dimension in range(len(sizes)))] = position
    return positions


def compare(name, module, notation, positions, cases, powers=False):
    if module is None:
        return
    source = random.Random(40)
    said = refused = 0
    while said < cases and refused < 20 * cases:
        sizes, shape = random_array(source, powers)
        answer = convert(shape, "--to", notation)
        if "text" not in answer:
            refused += 1
            continue
        found = positions(module, answer["text"], sizes)
        assert found == map_of(shape, sizes), (shape, answer["text"])
        said += 1
    assert said >= cases // 2, f"{name}: only {said} of {said + refused} layouts were said"
    print(f"{name}: {said} layouts agree, {refused} others were refused")


def headers(package, pattern):
    """The folder of headers that a wheel holds, if it is installed."""
    spec = importlib.util.find_spec(package)
    roots = spec.submodule_search_locations or [] if spec else []
    return next((path for root in roots for path in Path(root).glob(pattern)), None)


def mdspan_libraries():
    """The installed mdspan implementations: a name, the compiler with its options, the names in place of `std::` ones, and the `#include` lines."""
    compilers = filter(None, [shutil.which("g++"), shutil.which("clang++") or shutil.which("clang++-19")])
    kokkos = headers("libraft", "include/raft/thirdparty/mdspan/include")
    nvidia = headers("nvidia", "cuda_cccl/include")
    for compiler in compilers:
        name = Path(compiler).name
        for options in [["-std=c++23"], ["-std=c++23", "-stdlib=libc++"]]:
            command = [compiler, *options]
            trial = subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], input="#include <mdspan>\nstd::layout_right x;", text=True, capture_output=True)
            if trial.returncode == 0:
                yield f"{name} {' '.join(options)}", command, {}, "#include <mdspan>\n#include <array>\n"
        if kokkos:
            names = {"std::layout_": "std::experimental::layout_", "std::extents": "std::experimental::extents"}
            yield f"{name}, Kokkos", [compiler, "-std=c++17", "-I", str(kokkos)], names, "#include <experimental/mdspan>\n#include <array>\n"
        if nvidia:
            yield f"{name}, CCCL", [compiler, "-std=c++20", "-I", str(nvidia)], {"std::": "cuda::std::"}, "#include <cuda/std/mdspan>\n#include <cuda/std/array>\n"


def mdspan(cases):
    """The mappings that the program writes, compiled with each mdspan that is here: that of the standard library (libc++ has it), Kokkos' reference
    (in the wheel libraft-cu12) and NVIDIA's (in nvidia-cuda-cccl-cu12)."""
    libraries = list(mdspan_libraries())
    if not libraries:
        return print("left out: no <mdspan>, and neither libraft-cu12 nor nvidia-cuda-cccl-cu12")
    source = random.Random(41)
    found, refused = [], 0
    while len(found) < cases:
        sizes, shape = random_array(source, False)
        answer = convert(shape, "--to", "mdspan")
        if "text" in answer:
            found.append((shape, answer["text"], map_of(shape, sizes)))
        else:
            refused += 1
    for name, command, names, includes in libraries:
        # Among these libraries, only Kokkos' has the padded layouts of C++26, and there they have no default constructor.
        said = [(shape, re.sub(r"(_padded<\d+>::mapping<(.*)>)\(\)$", r"\1(\2())", text), places) for shape, text, places in found]
        if "Kokkos" not in name:
            said = [case for case in said if "_padded<" not in case[1]]
        functions = ""
        for number, (shape, mapping, places) in enumerate(said):
            for old, new in names.items():
                mapping = mapping.replace(old, new)
            checks = "".join(f"ok &= map({', '.join(map(str, index))}) == {position};\n" for index, position in places.items())
            functions += f"static int f{number}() {{ auto map = {mapping};\n bool ok = true;\n{checks} if (!ok) return std::printf(\"%s\\n\", \"{shape}\"), 1; return 0; }}\n"
        calls = "".join(f"if (f{number}()) return 1;\n" for number in range(len(said)))
        with tempfile.TemporaryDirectory() as folder:
            file, output = Path(folder, "maps.cpp"), Path(folder, "maps")
            file.write_text(f"{includes}#include <cstdio>\n{functions}int main() {{\n{calls}}}\n")
            subprocess.run([*command, file, "-o", output], check=True)
            subprocess.run([output], check=True)
        print(f"mdspan ({name}): {len(said)} layouts agree, {len(found) - len(said)} padded ones were left out, {refused} others were refused")


def real_code(numpy, torch):
    """The layouts of real code on docs/notations.md, from the libraries themselves."""
    checked = 0
    if numpy is not None:
        x = numpy.arange(24, dtype=numpy.int32).reshape(4, 6)
        for view in (x[::-1], x[:, ::2], x.T, x[1:3, 1:4]):
            offset = view.__array_interface__["data"][0] - x.__array_interface__["data"][0]
            text = f"np.ndarray(shape={view.shape}, dtype=np.int32, offset={offset}, strides={view.strides})"
            answer = convert(text, "--from", "numpy", "--to", "memref")
            strides, offset = re.search(r"strided<\[(.*?)\](?:, offset: (-?\d+))?>", answer["text"]).groups()
            strides = [int(stride) for stride in strides.split(",")]
            for index in indices(view.shape):
                assert view[index] == int(offset or 0) + sum(i * s for i, s in zip(index, strides)), text
            checked += 1
    if torch is not None:
        x = torch.empty((8, 3, 5, 7), memory_format=torch.channels_last)
        text = f"torch.empty_strided({tuple(x.shape)}, {x.stride()}, dtype=torch.float32)"
        assert convert(text, "--from", "torch")["text"] == "f32[8,3,5,7]{1,3,2,0}"
        checked += 1
    print(f"layouts of real code: {checked} agree")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300, help="how many layouts for each library")
    parser.add_argument("--laws", type=int, default=0, help="how many layouts for each law, there and back")
    arguments = parser.parse_args()
    numpy, torch = library("numpy"), library("torch")
    compare("NumPy", numpy, "numpy", numpy_positions, arguments.cases)
    compare("torch", torch, "torch", torch_positions, arguments.cases)
    compare("CuTe (tensor-layouts)", library("tensor_layouts"), "cute", cute_positions, arguments.cases)
    linear = library("triton._C.libtriton")
    compare("Triton", linear and linear.linear_layout, "linear", triton_positions, arguments.cases, powers=True)
    mdspan(min(arguments.cases, 40))
    real_code(numpy, torch)
    if arguments.laws:
        command = ["cargo", "test", "--release", "-p", "xla-shape-tests", "--test", "shapes", "notations"]
        subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"PROPTEST_CASES": str(arguments.laws)})


if __name__ == "__main__":
    main()
