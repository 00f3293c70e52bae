"""Errors. All of them are `ValueError`s; those about a text know it, and where in it."""

from __future__ import annotations

from typing import Any

__all__ = ["OutOfBoundsError", "ParseError", "ShapeError"]


class ShapeError(ValueError):
    """What is wrong with a shape, or with what it is used for."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class OutOfBoundsError(ShapeError, IndexError):
    """An index, or a position, that the array does not have."""


class ParseError(ShapeError):
    """A text that is not a shape, layout, sharding or module. `str()` shows the text with a mark below what is wrong.

    `message` says what is wrong in one sentence, `text` is what was read, and `text[slice(*span)]` is the wrong part, in
    characters.
    """

    def __init__(self, message: str, text: str, span: tuple[int, int], shown: str) -> None:
        super().__init__(message)
        self.text = text
        self.span = span
        self._shown = shown

    def __str__(self) -> str:
        return self._shown

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.text, self.span, self._shown)
