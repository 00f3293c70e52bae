#!/usr/bin/env python3
"""Measures `xla-shape hlo diff` on programs that are compiled twice ahead of time for TPUs, the second time with another source, layout, sharding
or flags, or with changes that do not matter. Counts the changes that are found with their causes, and the harmless changes that are
reported. No TPU is needed. The exit code is 1 if fewer than 99 % of the changes are found, or if a harmless change is reported.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), and target/debug/xla-shape (cargo build -p xla-shape-cli). The programs are
those of scripts/copies.py; tests/tests/programs/diff_causes.rs changes compiled modules.

usage: scripts/diff_pairs.py [GENERATIONS [FOLDER [OTHER]]]     such as v5e,v6e

FOLDER keeps the modules for the next run. If the compiler ended the whole process, that run goes on after the program that was being compiled.
OTHER is such a folder from a run with another version of the compiler. With it, only the modules of both folders are compared: the version of the
compiler, or of JAX, must be the only cause.

libtpu 0.0.52, v5e, 40 programs: 172 of 172 pairs are right (132 changes, 40 harmless ones); 27 changes made no difference; with less VMEM the compiler
aborts on `pool`. Modules of jax 0.8.0 with libtpu 0.0.24 against them: 21 of 26 that differ; JAX itself has changed what it makes of `scan` and
`packed` (source changed), and `int8` has another default layout (layout asked)."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy
from jax.experimental import topologies
from jax.experimental.layout import Format, Layout
from jax.sharding import NamedSharding, PartitionSpec

from copies import PROGRAM, PROGRAMS

# Causes that may accompany a change: because of it, the compiler also fuses or rematerializes differently.
OWN = {"fusion choice", "rematerialization"}


def other_source(function):
    def changed(*arguments):
        return jax.tree.map(lambda x: jnp.tanh(x) if jnp.issubdtype(x.dtype, jnp.floating) else x * 3, function(*arguments))

    return changed


def renamed(function):
    """The same program from another file, with another name."""
    scope = {"function": function}
    exec(compile("\n" * 50 + "def another_name(*values):\n  return function(*values)\n", "another_file.py", "exec"), scope)
    return scope["another_name"]


def compiled(function, arguments, mesh, layout=None, split=None, options=None):
    """The module that the compiler returns; `layout` is asked for at the first argument, `split` is the dimension by which it is divided."""
    def asked(number, argument):
        sizes = argument.shape
        divided = split is not None and len(sizes) > split and sizes[split] % mesh.size == 0
        spec = PartitionSpec(*([None] * split + ["x"])) if divided else PartitionSpec()
        sharding = NamedSharding(mesh, spec)
        return Format(Layout(major_to_minor=layout), sharding) if layout and number == 0 else sharding

    shardings = tuple(asked(number, argument) for number, argument in enumerate(arguments))
    lowered = jax.jit(function, in_shardings=shardings).lower(*arguments)
    return lowered.compile(options or {}).as_text()


def pairs(generation):
    """Each pair: a name, what was changed, and functions that compile both programs."""
    topology = topologies.get_topology_desc(platform="tpu", topology_name=f"{generation}:2x2")
    one = jax.sharding.Mesh(numpy.array(topology.devices[:1]), "x")
    four = jax.sharding.Mesh(numpy.array(topology.devices[:4]), "x")
    for name, (function, arguments) in PROGRAMS.items():
        rank = len(arguments[0].shape)
        reversed_order = tuple(range(rank))[::-1]
        before = lambda f=function, a=arguments: compiled(f, a, one)
        key = f"{generation}.{name}"
        yield key, "source", before, lambda f=function, a=arguments: compiled(other_source(f), a, one)
        yield key, "layout", before, lambda f=function, a=arguments, o=reversed_order: compiled(f, a, one, layout=o)
        yield key, "flags", before, lambda f=function, a=arguments: compiled(f, a, one, options={"xla_tpu_scoped_vmem_limit_kib": "4096"})
        yield key, "harmless", before, lambda f=function, a=arguments: compiled(renamed(f), a, one)
        divided = lambda f=function, a=arguments: compiled(f, a, four, split=0)
        yield f"{key}.4", "sharding", divided, lambda f=function, a=arguments: compiled(f, a, four, split=1)


def verdict(kind, before, after):
    """Whether the change is found and has its cause; None if the compiler made the same program."""
    command = [PROGRAM, "hlo", "diff", before, after, "--other-devices", "--format", "json"]
    lines = [json.loads(line) for line in subprocess.check_output(command).splitlines()]
    causes = {line["cause"] for line in lines if "cause" in line}
    if kind == "harmless":
        return not lines, causes
    if not lines:
        return None, causes
    wanted = {
        "source": "source changed",
        "layout": "layout asked",
        "sharding": "sharding",
        "flags": "flags or version",
        "version": "flags or version",
    }[kind]
    # Another version of the compiler needs no cause: it may change only the step of the peak, and `hlo diff` names no cause for that.
    return (wanted in causes or kind == "version") and causes <= {wanted} | OWN, causes


def versions(folder, other):
    """Compares the same programs by two versions of the compiler."""
    wrong, different, all_pairs = 0, 0, 0
    for path in sorted(folder.glob("*.hlo")):
        if not all(one.exists() and one.stat().st_size for one in (path, other / path.name)):
            continue
        is_found, causes = verdict("version", other / path.name, path)
        all_pairs, different, wrong = all_pairs + 1, different + (is_found is not None), wrong + (is_found is False)
        if is_found is False:
            print(f"{path.stem} version: WRONG, causes {sorted(causes)}", flush=True)
    print(f"{different - wrong} of {different} pairs are right; {all_pairs - different} programs are the same by both versions")
    return wrong > 0


def main(generations, folder):
    found, all_pairs, same, wrong = 0, 0, 0, []
    for generation in generations:
        for key, kind, before, after in pairs(generation):
            paths = [folder / f"{key}.hlo", folder / f"{key}.{kind}.hlo"]
            try:
                for path, make in zip(paths, (before, after)):
                    if path.exists() and path.stat().st_size == 0:
                        raise RuntimeError("the compiler ended the last run of this script")
                    if not path.exists():
                        path.touch()
                        path.write_text(make())
            except Exception as error:
                print(f"{key} {kind}: not compiled: {str(error).splitlines()[0][:150]}", flush=True)
                path.write_text("")
                continue
            is_found, causes = verdict(kind, *paths)
            if is_found is None:
                same += 1
                continue
            all_pairs, found = all_pairs + 1, found + is_found
            if not is_found:
                wrong.append((key, kind))
                print(f"{key} {kind}: WRONG, causes {sorted(causes)}", flush=True)
    print(f"{found} of {all_pairs} pairs are right; {same} changes made no difference")
    return found < 0.99 * all_pairs or any(kind == "harmless" for _, kind in wrong)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if len(sys.argv) > 3:
            sys.exit(versions(folder, pathlib.Path(sys.argv[3])))
        sys.exit(main((sys.argv[1] if len(sys.argv) > 1 else "v5e,v6e").split(","), folder))
