"""Every question as a tool, for agents in notebooks and services: what `xla-shape mcp` offers, without a server.

    >>> from xla_shape.tools import Tools
    >>> tools = Tools()
    >>> answer = tools.call("explain", {"shape": "f32[100,1]{1,0:T(8,128)}"})
    >>> answer["ok"], answer["answers"][0]["bytes"]
    (True, 53248)

The schemas of the tools are what the interfaces of language models take as tools; their calls have a name and arguments. docs/agents.md says what
the answers mean.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native

__all__ = ["Tools"]


class Tools:
    """The tools, with the long answers that they gave, which the tool `more` reads.

    roots: the directories below which a call may name files. Without them, texts are given inline, as `{"text": "..."}`.
    write: whether there are tools and arguments that write files below these directories.

    Raises `ShapeError` if one of the roots is no directory.
    """

    def __init__(self, roots: Iterable[str | os.PathLike[str]] = (), *, write: bool = False) -> None:
        self._native = _native.Tools([os.fspath(root) for root in roots], write)

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """The tools: the `name`, the `description`, and the JSON Schemas `inputSchema` and `outputSchema` of each."""
        found: list[dict[str, Any]] = json.loads(self._native.described())
        return found

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, /) -> dict[str, Any]:
        """The answer of a tool. A call that is refused has an `error`, and raises nothing: the model reads it. Ctrl-C ends the call."""
        found: dict[str, Any] = json.loads(self._native.call(name, json.dumps(dict(arguments or {}))))
        return found
