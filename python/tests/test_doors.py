"""Python gives the answers of the program: `tests/corpus/doors.jsonl` has the questions and its answers (see `crates/cli/tests/doors.rs`)."""

import json
from pathlib import Path

import pytest

import xla_shape
from xla_shape import Module, Shape

ROOT = Path(__file__).parents[2]
ROWS = [json.loads(line) for line in (ROOT / "tests/corpus/doors.jsonl").read_text(encoding="utf-8").splitlines()]


def module(text, scratch):
    """The module of a text. `Module` takes a module alone; around it, as in a fence, a file may have other text."""
    if "```" not in text:
        return Module(text)
    path = scratch / "text"
    path.write_text(text, encoding="utf-8")
    return Module.read(path)


def asked(command, text, folder, scratch):
    """The answer of Python, as the lines of its JSON; `None` if Python has no such question. `folder` has the files that the command names."""
    match command:
        case ["explain", shape]:
            return xla_shape.explain(shape).json
        case ["explain", shape, "--sharding", sharding]:
            return xla_shape.explain(shape, sharding).json
        case ["explain", shape, "--for", generations]:
            return xla_shape.explain(shape, generations=generations.split(",")).json
        case ["compare", a, b]:
            return xla_shape.compare(a, b).json
        case ["compare", a, b, "--for", generation]:
            return xla_shape.compare(a, b, generation).json
        case ["advise", shape]:
            return xla_shape.advise(shape).json
        case ["advise", shape, "--for", generation]:
            return xla_shape.advise(shape, generation).json
        case ["draw", shape]:
            return Shape(shape).draw().json
        case ["scan", "-", "--summary"]:
            return xla_shape.scan(text).json
        case ["hlo", "-"]:
            return module(text, scratch).memory().json
        case ["cost", "-"]:
            return module(text, scratch).cost().json
        case ["hlo", path]:
            return Module.read(folder / path).memory().json
        case ["cost", path]:
            return Module.read(folder / path).cost().json
        case ["guard", "expect", claims, path]:
            return Module.read(folder / path).expect((folder / claims).read_text(encoding="utf-8")).json
    return None


def test_answers(tmp_path):
    compared = 0
    for number, row in enumerate(ROWS):
        folder = tmp_path / str(number) if row.get("files") else ROOT
        for name, text in row.get("files", {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        try:
            answer = asked(row["command"], row.get("input"), folder, tmp_path)
        except xla_shape.ShapeError as error:
            # After the message, the program may print the text, with the place marked.
            assert not row.get("answer"), (row["command"], error)
            assert row["error"].startswith(f"error: {error.args[0]}\n"), (row["command"], error)
        else:
            if answer is None:
                continue
            assert [json.loads(line) for line in answer.splitlines()] == row.get("answer", []), row["command"]
        compared += 1
    assert compared >= 130


def numbers(index):
    return tuple(int(entry) for entry in index.split(",") if entry)


def test_positions():
    compared = 0
    for row in ROWS:
        match row["command"], row.get("answer"):
            case ["explain", shape, "--index", index], [answer]:
                assert xla_shape.linear_index(shape, numbers(index)) == answer["linear"]
            case ["explain", shape, "--position", position], [answer]:
                found = Shape(shape).multi_index(int(position))
                assert (None if found is None else list(found)) == answer["index"]
            case ["explain", shape, "--index" | "--position" as option, place], None:
                with pytest.raises(xla_shape.ShapeError):
                    Shape(shape).linear_index(numbers(place)) if option == "--index" else Shape(shape).multi_index(int(place))
            case _:
                continue
        compared += 1
    assert compared >= 40
