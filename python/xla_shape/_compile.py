"""Compiling functions for TPUs and GPUs without one, and which device a program was compiled for."""

from __future__ import annotations

from typing import Any

import jax

from . import Answer, Module, ShapeError
from ._native import compile_it, generation, memory_compiled, module_compiled

__all__ = ["lowered_device", "lowered_for_tpu", "memory_on", "module_on", "refuse_other_device", "traced"]


def lowered_for_tpu(function: Any, args: Any, platform: str = "tpu") -> Any:
    """The function with these arguments, jitted or not, lowered for TPUs or another platform."""
    return traced(function, args).lower(lowering_platforms=(platform,))


def traced(function: Any, args: Any) -> Any:
    """The function with these arguments, jitted or not, as JAX traced it."""
    if hasattr(function, "as_text"):
        raise TypeError("expected a function, found a program that JAX has lowered or compiled for its own devices: pass the function and its arguments")
    if not callable(function):
        raise TypeError(f"expected a function, found {function!r}")
    jitted = function if hasattr(function, "trace") else jax.jit(function)
    return jitted.trace(*args)


def memory_on(device: str, function: Any, args: Any, top: int, space: int | None) -> Answer:
    """Compiles a function for a TPU or GPUs, in a process of its own, and says how much memory it takes there."""
    return memory_compiled(_text_for(device, function, args), device, top, space)


def module_on(device: str, function: Any, args: Any) -> Module:
    """Compiles a function for a TPU or GPUs, in a process of its own, and returns the optimized program."""
    return module_compiled(_text_for(device, function, args), device)


def _text_for(device: str, function: Any, args: Any) -> str:
    platform = "tpu" if generation(device.partition(":")[0]) else "cuda"
    return str(lowered_for_tpu(function, args, platform).as_text(debug_info=True))


def lowered_device(device: str, program: Any, args: Any) -> str | None:
    """The generation of this device, if JAX has lowered or compiled the program; `None` for a function, which is to be compiled for the device.

    Raises `ShapeError` if JAX compiled it for another device. For a lowered program, this may be known only when it is compiled.
    """
    if not hasattr(program, "as_text"):
        return None
    if args:
        raise TypeError("expected a function for these arguments, found a program that has its arguments")
    wanted = generation(device.partition(":")[0])
    if wanted is None:
        raise ShapeError(f"expected a function, which is compiled for {device}, found a program that JAX has lowered for its own devices")
    refuse_other_device(program, wanted)
    return wanted


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
