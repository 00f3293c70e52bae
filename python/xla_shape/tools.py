"""The tools that `xla-shape mcp` offers, without a server, for agents in notebooks and services.

    >>> from xla_shape.tools import Tools
    >>> tools = Tools()
    >>> answer = tools.call("explain", {"shape": "f32[100,1]{1,0:T(8,128)}"})
    >>> answer["ok"], answer["answers"][0]["bytes"]
    (True, 53248)

Interfaces of language models take the schemas as descriptions of tools, and return calls with a name and arguments. docs/agents.md says
what the answers mean.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native

__all__ = ["Tools"]


class Tools:
    """The tools. Long answers are kept, so that the tool `more` can read the rest of them.

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
        """The answer of a tool. If a call is refused, the answer has an `error`, which the model reads: nothing is raised. Ctrl-C ends the call."""
        found: dict[str, Any] = json.loads(self._native.call(name, json.dumps(dict(arguments or {}))))
        return found
