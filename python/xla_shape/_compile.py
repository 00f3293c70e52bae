"""Compiling functions for TPUs and GPUs without one, and which device a program was compiled for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import jax

from . import Answer, Module, ShapeError
from ._native import compile_it, generation, memory_of_refused

__all__ = ["lowered_for_tpu", "memory_on", "refuse_other_device", "why_no_answer"]


def lowered_for_tpu(function: Any, args: Any, platform: str = "tpu") -> Any:
    """The function with these arguments, jitted or not, lowered for TPUs or another platform."""
    if hasattr(function, "as_text"):
        raise TypeError("expected a function, found a program that JAX has lowered or compiled for its own devices: pass the function and its arguments")
    if not callable(function):
        raise TypeError(f"expected a function, found {function!r}")
    jitted = function if hasattr(function, "trace") else jax.jit(function)
    return jitted.trace(*args).lower(lowering_platforms=(platform,))


def why_no_answer(done: subprocess.CompletedProcess[str]) -> str:
    """What the program says where it has no answer: the message of its error, which is a line of JSON after its warnings."""
    said = done.stderr.strip()
    try:
        return str(json.loads(said.splitlines()[-1])["message"])
    except (IndexError, KeyError, TypeError, json.JSONDecodeError):
        return said or f"the program ended with exit code {done.returncode}"


def memory_on(device: str, function: Any, args: Any, top: int, space: int | None) -> Answer:
    """Compiles a function for a TPU or GPUs, in a process of its own, and says what memory it takes there."""
    name, _, _ = device.partition(":")
    tpu = generation(name)
    name, platform = (tpu, "tpu") if tpu else (name, "cuda")
    with tempfile.TemporaryDirectory(prefix="xla-shape-") as folder:
        text, output, dump = (os.path.join(folder, file) for file in ("program.mlir", "module.pb", "dump"))
        with open(text, "w", encoding="utf-8") as file:
            file.write(lowered_for_tpu(function, args, platform).as_text(debug_info=True))
        command = [sys.executable, "-P", "-m", "xla_shape", "compile", text, "--for", device, "-o", output, "--format", "json"]
        # If memory runs out, the compiler leaves the program that it gave up there.
        command += ["--option", f"xla_dump_to={dump}"]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
        try:
            answer = json.loads(done.stdout)
        except json.JSONDecodeError:
            raise ShapeError(why_no_answer(done)) from None
        if "error" in answer:
            message = answer["error"]["message"]
            refused = memory_of_refused(message, dump, name, top, space)
            if refused is None:
                raise ShapeError(message)
            return refused
        with open(output, "rb") as compiled:
            return Module(compiled.read())._memory(name, top, space, _statistics(answer["memory"]))


def _statistics(memory: Any) -> str:
    """The totals of the program's answer as the compiler's memory analysis."""
    names = {"argument": "arguments", "output": "outputs", "alias": "aliases", "temp": "temporaries"}
    sizes = {f"{name}_size_in_bytes": memory["device"][field] for name, field in names.items()}
    sizes |= {f"host_{name}_size_in_bytes": memory["host"][field] for name, field in names.items()}
    return json.dumps(sizes | {"generated_code_size_in_bytes": memory["device"]["generated_code"] or 0})


def refuse_other_device(program: Any, device: str | int | None) -> None:
    """Raises `ShapeError` if JAX compiled, or would compile, a program for another device than this generation of TPUs."""
    wanted = generation(device) if isinstance(device, str) else None
    made_for = _device(program)
    if wanted is None or made_for is None:
        return
    kind = str(made_for.device_kind)
    found = generation(kind) if made_for.platform == "tpu" else None
    if found != wanted:
        raise ShapeError(f"the program was compiled for {found or kind}, not for {wanted}: {compile_it(wanted)}")


def _device(program: Any) -> Any:
    """A device of JAX that a program is for; `None` if that is unknown."""
    # JAX has no public function that says which devices a program is lowered for.
    arguments = getattr(getattr(program, "_lowering", None), "compile_args", None) or {}
    devices = list(arguments.get("device_assignment") or ())
    for name in ("output_shardings", "input_shardings"):
        if not devices:
            shardings = jax.tree.leaves(getattr(program, name, None))
            devices = [device for sharding in shardings for device in getattr(sharding, "device_set", ())]
    return devices[0] if devices else None
