"""`xla_shape.tools`: the tools of `xla-shape mcp` in a Python process."""

import pytest

from xla_shape import ShapeError
from xla_shape.tools import Tools

MODULE = """HloModule m, is_scheduled=true

ENTRY e {
  ROOT p = f32[8,128]{1,0:T(8,128)} parameter(0)
}
"""


def test_tools_have_schemas():
    names = {tool["name"] for tool in Tools().schemas}
    assert {"explain", "hlo", "compile", "kernel", "tune", "more"} <= names and "relayout" not in names
    assert "relayout" in {tool["name"] for tool in Tools(write=True).schemas}
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in Tools().schemas)


def test_calls(tmp_path):
    (tmp_path / "m.hlo").write_text(MODULE)
    tools = Tools([tmp_path])
    answer = tools.call("hlo", {"file": "m.hlo", "for": "v5e"})
    assert answer["ok"] and answer["answers"][0]["module"] == "m"
    assert tools.call("hlo", {"file": {"text": MODULE}})["ok"]
    for name, arguments, code in [
        ("hlo", {"file": "../m.hlo"}, "usage"),
        ("explain", {"shape": "f32[2"}, "syntax"),
        ("explain", {"shape": "f32[2]", "html": "x"}, "usage"),
        ("no_such_tool", {}, "usage"),
        ("more", {"handle": "a1"}, "usage"),
    ]:
        answer = tools.call(name, arguments)
        assert not answer["ok"] and answer["error"]["code"] == code and answer["error"]["message"], answer
    with pytest.raises(ShapeError, match="expected a directory"):
        Tools([tmp_path / "m.hlo"])


def test_long_answers(tmp_path):
    lines = "\n".join(f"  a{number} = f32[8,128]{{1,0:T(8,128)}} negate(p)" for number in range(500))
    module = MODULE.replace("ROOT p", "p").replace("}\n", f"{lines}\n  ROOT r = f32[8,128]{{1,0:T(8,128)}} negate(a1)\n}}\n")
    tools = Tools()
    answer = tools.call("hlo", {"file": {"text": module}, "top": 500})
    assert answer["digest"] and "answers" not in answer
    part = tools.call("more", {"handle": answer["more"]["handle"], "pointer": "/0/largest"})["part"]
    assert part["of"] >= 500 and part["next"] == len(part["value"])
