"""The types of a function's arrays in Rust."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["rust_types"]


def rust_types(function: Any) -> str:
    """The arrays in a function's annotations as types of the crate `xla-shape`, so that a kernel and its caller agree.

    `print(rust_types(f))` prints a type alias for each array, such as `type X = xla_shape::shape!(bf16[rows,d]);`. Annotations are those
    with `xla_shape.jax.Arr`; needs JAX.
    """
    from ._checked import signature_of

    signature = signature_of(function)
    lines, names = [f"// {signature.name}"], set[str]()
    for place, pattern in signature.patterns():
        wants = pattern.wants
        # No two types have the same name.
        name = base = _name(place)
        while name in names:
            name = f"{base}{len(names)}"
        names.add(name)
        if wants["leading"]:
            lines.append(f"// {place}: {wants['shape']} is an array of any number of dimensions, for which there is no type.")
        elif wants["element_type"] == "key":
            lines.append(f"// {place}: {wants['shape']} is an array of random keys, for which there is no type.")
        elif signature.tpu is not None and wants["layout"] is None:
            lines.append(f"type {name} = xla_shape::tpu_shape!({signature.tpu}, {wants['shape']});")
        else:
            lines.append(f"type {name} = xla_shape::shape!({wants['shape']});")
    return "\n".join(lines)


def _name(place: str) -> str:
    """`params['w']` is `ParamsW`."""
    words = re.findall(r"[A-Za-z0-9]+", place)
    return "".join(word[0].upper() + word[1:] for word in words)
