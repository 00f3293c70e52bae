"""The errors of the package. All are `ValueError`s; a `ParseError` knows the text and the place in it."""

from __future__ import annotations

from typing import Any

__all__ = ["OutOfBoundsError", "ParseError", "ShapeError"]


class ShapeError(ValueError):
    """A shape is invalid, or cannot be used for this purpose."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class OutOfBoundsError(ShapeError, IndexError):
    """An index or a position is out of bounds."""


class ParseError(ShapeError):
    """A text is not a valid shape, layout, sharding or module. `str()` shows the text with a mark below the invalid part.

    `message` is a sentence with the reason, `text` is the whole text, and `text[slice(*span)]` is the invalid part, in
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
