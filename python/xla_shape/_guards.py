"""Assertions for tests: the memory, padding, copies and layouts of compiled programs and arrays."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import jax

from . import Answer, Layout, Module, Shape, ShapeError
from ._native import byte_count

__all__ = ["assert_fits", "assert_memory", "assert_no_copies", "assert_padding", "expect", "layout_like"]


def _bytes(size: int | str) -> int:
    return byte_count(size) if isinstance(size, str) else size


def _taken(answer: Answer) -> int:
    """The bytes of the device's memory that a program takes."""
    if answer["memory"] is None:
        raise ShapeError("expected a program with an entry computation")
    device = answer["memory"]["device"]
    return int(device["total"])


def _why(answer: Answer) -> str:
    return f"{answer.digest().rstrip()}\n`print(memory(compiled))` says all."


def assert_memory(compiled: Any, *, at_most: int | str, device: str | int | None = None) -> None:
    """For tests: raises `AssertionError` if a compiled program takes more memory of its device.

    at_most: a number of bytes, or a text such as `"12GiB"`.
    device: a TPU generation, such as `"v5e"`; the program must also fit into its memory.
    """
    from .jax import memory

    answer, most = memory(compiled, device), _bytes(at_most)
    taken = _taken(answer)
    if taken > most:
        raise AssertionError(f"expected a program that takes at most {most:,} bytes, found {taken:,} bytes\n{_why(answer)}")
    if device is not None and not answer:
        raise AssertionError(f"expected a program that fits {device}\n{_why(answer)}")


def assert_fits(compiled: Any, device: str | int) -> None:
    """For tests: raises `AssertionError` unless a compiled program fits the device: a generation of TPUs, or a number of bytes.

    Raises `ShapeError` if the answer is unknown, because the estimate is too close to the limit.
    """
    from .jax import memory

    answer = memory(compiled, device)
    if not answer:
        raise AssertionError(f"expected a program that fits {device}\n{_why(answer)}")


def expect(compiled: Any, claims: str | PathLike[str]) -> Answer:
    """For tests: raises `AssertionError` unless all claims about a compiled program hold; the error says what is there instead.

    claims: a `Path` of a TOML file as `xla-shape guard expect` reads it, or the text of one. `Module.claims` writes claims to start from.

    Returns the answer of `Module.expect`, with the memory of `compiled.memory_analysis()` if the runtime has it. Raises `ShapeError` for a mistake
    in the claims.
    """
    from .jax import _analysis, module

    text = claims if isinstance(claims, str) else Path(claims).read_text(encoding="utf-8")
    try:
        answer = module(compiled)._expect(text, _analysis(compiled))
    except ShapeError as error:
        raise error if isinstance(claims, str) else ShapeError(f"{claims}: {error}") from None
    if not answer:
        raise AssertionError(str(answer))
    return answer


def assert_padding(x: Any, *, at_most: float = 0.1) -> None:
    """For tests: raises `AssertionError` if the padding is more than the fraction `at_most` of the bytes.

    x: a compiled program, for all its values in the device's main memory; or an array, a shape, or a tree of them.
    at_most: a fraction from 0 to 1, such as 0.1 for 10 %.
    """
    if not 0 <= at_most <= 1:
        raise ValueError(f"expected a part of the bytes, from 0 to 1, found {at_most}")
    if isinstance(x, (Module, str, bytes)) or hasattr(x, "as_text"):
        from .jax import memory

        answer = memory(x)
        spaces = [space for space in answer["spaces"] if space["space"] == 0]
        total, padding = (sum(space[name] for space in spaces) for name in ("bytes", "padding_bytes"))
        lines = [_line(value["padding_bytes"], value["bytes"], value["shape"], value["op_name"] or value["name"]) for value in answer["most_padded"]]
    else:
        found = sorted(_shapes(x), key=lambda entry: -entry[1].padding)
        total, padding = sum(shape.byte_size for _, shape in found), sum(shape.padding for _, shape in found)
        lines = [_line(shape.padding, shape.byte_size, shape, place) for place, shape in found[:10] if shape.padding]
    if padding > at_most * total:
        whole = f"expected at most {at_most:.1%} padding, found {padding / total:.1%}: {padding:,} of {total:,} bytes"
        raise AssertionError("\n".join([whole, *lines]))


def _line(padding: int, total: int, shape: Any, place: str) -> str:
    return f"  {padding:,} of {total:,} bytes: {shape} {place}".rstrip()


def _shapes(tree: Any) -> Iterator[tuple[str, Shape]]:
    from ._dtypes import shape_of

    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        yield str(jax.tree_util.keystr(path)), leaf if isinstance(leaf, Shape) else shape_of(leaf)


def assert_no_copies(compiled: Any, *, of: str | None = None) -> None:
    """For tests: raises `AssertionError` if a compiled program copies arrays: to change the layout, or because the original is still needed.

    of: counts only copies of this argument, named by the function's parameter: `"params"` includes `params['w']`. Raises `ShapeError` if the
        program has no such argument, for example because nothing reads it.

    Copies to another memory space with the same layout do not count, because the compiler uses them to prefetch arrays.
    """
    from .jax import module

    found = module(compiled)
    copies = [copy for copy in found.cost()["copies"] if copy["change"] in ("layout", "nothing")]
    if of is not None:
        def belongs(argument: str) -> bool:
            return argument == of or argument.startswith((f"{of}[", f"{of}."))

        known = found._arguments()
        if not any(map(belongs, known)):
            raise ShapeError(f"the program has no argument {of!r}; it has {', '.join(known) or 'none'}")
        arguments = {name for name, argument in found._argument_copies() if belongs(argument)}
        copies = [copy for copy in copies if copy["instruction"] in arguments]
    if copies:
        lines = [_copy(copy) for copy in copies]
        what = "no copies" if of is None else f"no copies of {of}"
        raise AssertionError("\n".join([f"expected {what}, found {len(copies)}", *lines]))


def _copy(copy: dict[str, Any]) -> str:
    where = copy["source"] or copy["op_name"]
    parts = [f"  {copy['instruction']}: {copy['from']} to {copy['to']}", f"({where})" if where else "", f": {copy['cause']}"]
    remedy = f"; {copy['remedy']}" if copy["remedy"] else ""
    return " ".join(filter(None, parts[:2])) + parts[2] + remedy


def layout_like(word: str, x: Any, found: Shape | Layout) -> Layout | None:
    """The layout that a word stands for: `row-major`, `default`, or a generation of TPUs; `None` for any other text."""
    if word == "row-major":
        return Layout.row_major(found.ndim)
    sharding = getattr(x, "sharding", None)
    device = next(iter(sharding.device_set), None) if isinstance(sharding, jax.sharding.Sharding) else None
    if word == "default":
        if device is None or device.platform != "tpu":
            return Layout.row_major(found.ndim)
        word = str(device.device_kind)
    elif word.lstrip().startswith("{") or "[" in word:
        return None
    if isinstance(found, Layout):
        raise ShapeError(f"the default layout of {word} depends on the shape: pass arrays, shapes or compiled.out_info instead of layouts")
    return found.with_default_layout(word).layout
