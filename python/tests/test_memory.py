"""The memory of programs: the files beside a module are used as `xla-shape` uses them, and `bool()` tells whether it fits."""

import json
import subprocess
import sys

import pytest

from xla_shape import Module, ShapeError

# An argument, two simultaneous values, and the result, each of 1 GiB.
TEXT = """\
HloModule m, is_scheduled=true

ENTRY e {
  a = u8[1073741824]{0:T(1024)(128)(4,1)} parameter(0)
  b = u8[1073741824]{0:T(1024)(128)(4,1)} negate(a)
  c = u8[1073741824]{0:T(1024)(128)(4,1)} not(b)
  ROOT d = u8[1073741824]{0:T(1024)(128)(4,1)} add(b, c)
}
"""
GIB = 1 << 30
STATISTICS = {
    "argument_size_in_bytes": GIB,
    "output_size_in_bytes": GIB,
    "alias_size_in_bytes": 0,
    "temp_size_in_bytes": 12345,
    "generated_code_size_in_bytes": 55,
}


def program(*arguments):
    command = [sys.executable, "-m", "xla_shape", "hlo", *map(str, arguments), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    # The exit code is 1 for a program that does not fit.
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def dump(tmp_path):
    (tmp_path / "after.hlo").write_text(TEXT)
    (tmp_path / "after.hlo.pb").write_bytes(Module(TEXT).to_proto())
    (tmp_path / "stats.json").write_text(json.dumps(STATISTICS))
    return tmp_path


@pytest.mark.parametrize("name", ["after.hlo", "after.hlo.pb", "."])
def test_files_beside_a_module_count_as_in_the_program(name, dump):
    module = Module.read(dump / name)
    for device in ("v5e", GIB):
        found = module.memory(device)
        assert found.data == program(dump / name, "--device", device)
        assert found["files"] == ["stats.json"] and found["memory"]["device"]["temporaries"] == 12345
        assert found["memory"]["device"]["exact"]
    alone = module.memory("v5e", estimate=True)
    assert alone.data == program(dump / name, "--device", "v5e", "--estimate") and alone["files"] == []
    assert alone.data == Module(TEXT).memory("v5e").data
    assert Module(module).memory("v5e").data == module.memory("v5e").data
    after = Module(TEXT.replace("not(b)", "negate(b)"))
    assert [entry["change"] for entry in module.difference(after)] == ["measure", "total", "total", "removed", "added", "programs"]
    assert module.difference(after)[1]["bytes_before"] == 2 * GIB + 12345
    # Files of another program are not used.
    (dump / "stats.json").write_text(json.dumps({**STATISTICS, "argument_size_in_bytes": 1}))
    other = Module.read(dump / name).memory("v5e")
    assert other["files"] == [] and "stats.json" in other["notes"][0]


def test_it_says_whether_it_fits(dump):
    module = Module.read(dump / "after.hlo")
    needed = 2 * GIB + 12345 + 55
    assert module.memory(needed) and not module.memory(needed - 1)
    assert module.memory("v5e")
    # An estimate is enough if its error cannot change the answer.
    estimated = Module(TEXT)
    assert estimated.memory(64 * GIB) and not estimated.memory(GIB) and estimated.memory("v5e")
    total = estimated.memory()["memory"]["device"]["total"]
    for answer, why in [
        (module.memory(), "no device is given"),
        (estimated.memory(total), "it takes from .* to .* of .*estimate"),
    ]:
        with pytest.raises(ShapeError, match=f"whether it fits is not known: {why}"):
            bool(answer)
        assert answer["memory"] and str(answer)
    unscheduled = Module(TEXT.replace(", is_scheduled=true", ""))
    with pytest.raises(ShapeError, match="not known: it takes from"):
        assert unscheduled.memory(4 * GIB)
    assert unscheduled.memory(64 * GIB) and not unscheduled.memory(GIB)
