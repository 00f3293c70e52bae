#!/usr/bin/env python3
"""Drives `xla-shape mcp` with the official client of the Model Context Protocol, as an agent would.

    scripts/agents.py [--calls 1000]

1. A kernel that does not fit is made to fit, and made faster: the calls of an agent, answered with the compiler for TPUs. No TPU is needed.
2. Every tool is called; the client checks each answer against the tool's schema.
3. Hostile arguments are refused; a call is cancelled, and its processes end.
4. The server answers 1,000 calls, and takes no more memory after them than after the first 300.

Needs: pip install mcp==2.3.0 jax==0.12.0 libtpu==0.0.52 (Python 3.12 or newer), and target/debug/xla-shape (cargo build -p xla-shape-cli).
"""

import argparse
import asyncio
import json
import os
import pathlib
import tempfile
import time

from mcp import Client, StdioServerParameters, stdio_client

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/debug/xla-shape"
ROWS, WIDTH = 32768, 1024
# The number of first calls, and by how many KiB the server's memory may grow in the calls after them. The allocator keeps some memory.
FIRST, ROOM = 300, 4096


def program(rows, column):
    """A program with a kernel whose blocks have this many rows, and which reads one array from this column on."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def scaled(x, y, out):
        out[...] = x[...] * y[:, column:column + WIDTH]

    block = pl.BlockSpec((rows, WIDTH), lambda i: (i, 0))
    wide = pl.BlockSpec((rows, WIDTH + 128), lambda i: (i, 0))
    shape = jax.ShapeDtypeStruct((ROWS, WIDTH), jnp.float32)
    more = jax.ShapeDtypeStruct((ROWS, WIDTH + 128), jnp.float32)
    call = pl.pallas_call(scaled, out_shape=shape, in_specs=[block, wide], out_specs=block, grid=(ROWS // rows,), name="scaled")
    return jax.jit(call).trace(shape, more).lower(lowering_platforms=("tpu",)).as_text()


class Agent:
    def __init__(self, client):
        self.client, self.calls = client, 0

    async def call(self, tool, **arguments):
        """The structured content of an answer, which the client has checked against the schema."""
        self.calls += 1
        result = await self.client.call_tool(tool, {name.rstrip("_"): value for name, value in arguments.items()})
        content = result.structured_content
        assert result.is_error == ("error" in content), content
        return content

    async def whole(self, tool, pointer, **arguments):
        """What is at a place in the answer, which may be long."""
        content = await self.call(tool, **arguments)
        if "more" in content:
            return (await self.call("more", handle=content["more"]["handle"], pointer=pointer))["part"]["value"]
        found = content["answers"]
        for step in pointer.split("/")[1:]:
            found = found[int(step) if isinstance(found, list) else step]
        return found


async def conversation(agent, folder):
    """A kernel that does not fit, made to fit and faster."""
    (folder / "first.mlir").write_text(program(4096, 3))
    refused = await agent.call("compile", program="first.mlir", for_=["v5e"])
    assert not refused["ok"], refused
    message = refused["answers"][0]["error"]["message"]
    print("the compiler:", message.splitlines()[0][:160])

    cause = (await agent.call("scan", file={"text": message}))["answers"]
    cause = next(cause for answer in cause for cause in answer.get("causes", []))
    remedy = next(remedy for remedy in cause["remedies"] if remedy["kind"] == "smaller_blocks")
    print("scan:", cause["kind"], "->", remedy["text"])

    pairs = [[f"f32[{ROWS},{columns}]", f"f32[4096,{columns}]"] for columns in (WIDTH, WIDTH + 128)]
    block = await agent.call("block", input=pairs, output=pairs[:1], for_=["v5e"])
    fitting = block["answers"][0]["fitting"]
    rows = int(fitting["blocks"][0]["block"].removeprefix("f32[").split(",")[0])
    print("block:", rows, "rows fit, with", fitting["vmem_bytes"], "bytes")

    (folder / "fits.mlir").write_text(program(rows, 3))
    compiled = await agent.call("compile", program="fits.mlir", for_=["v5e"])
    assert compiled["ok"], compiled

    kernel = await agent.whole("kernel", "/0/kernels/0", path="fits.mlir", for_=["v5e"])
    moving = [relayout for relayout in kernel["relayouts"] if not relayout["free"]] + kernel["unaligned"]
    assert moving, kernel
    print("kernel:", kernel["executed"], "bundles;", moving[0]["source"], json.dumps(moving[0])[:120])

    (folder / "aligned.mlir").write_text(program(rows, 128))
    difference = await agent.whole("kernel", "/0/differences/0", path="aligned.mlir", against="fits.mlir", for_=["v5e"])
    before, after = (difference[side]["executed"] for side in ("before", "after"))
    print("kernel against the version before:", before, "->", after, "bundles")
    assert after < before, difference


async def every_tool(agent, folder):
    tools = (await agent.client.list_tools()).tools
    (folder / "m.hlo").write_text((ROOT / "examples/hlo/v5e__layouts.hlo").read_text())
    (folder / "a.bin").write_bytes(b"abcdef")
    step = "module @m { func.func public @main(%arg0: tensor<100x200xf32>) -> tensor<100x200xf32> { return %arg0 : tensor<100x200xf32> } }"
    (folder / "step.mlir").write_text(step)
    header = json.dumps({"w": {"dtype": "F32", "shape": [8, 128], "data_offsets": [0, 4096]}}).encode()
    (folder / "c.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4096))
    (folder / "plan.json").write_text(json.dumps({"w": "{devices=[2,1]<=[2]}"}))
    arguments = {
        "explain": {"shape": "f32[100,1]{1,0:T(8,128)}"},
        "compare": {"from": "f32[8,1024]", "to": "f32[8192]"},
        "advise": {"shape": "bf16[1,3072]"},
        "draw": {"shape": "f32[3,5]{1,0:T(2,2)}"},
        "convert": {"text": "bf16[8,128]{1,0}", "to": ["numpy"]},
        "reshard": {"shape": "f32[64]", "from": "{devices=[4]<=[4]}", "to": "{replicated}", "device": [2]},
        "check": {"file": {"text": "f32[2]\nf32[2\n"}},
        "scan": {"file": {"text": "Used 40.00G of 32.00G hbm."}},
        "hlo": {"file": "m.hlo", "for": "v5e"},
        "hlo_diff": {"before": "m.hlo", "after": "m.hlo"},
        "hlo_show": {"file": "m.hlo", "name": next(line.split()[1] for line in (folder / "m.hlo").read_text().splitlines() if " = " in line and line.startswith("  ROOT"))},
        "cost": {"file": "m.hlo"},
        "compile": {"program": "step.mlir", "for": ["v5e"]},
        "guard_record": {"record": "guard.json", "program": "step.mlir"},
        "guard_check": {"record": "guard.json", "program": "step.mlir"},
        "guard_expect": {"claims": {"text": "[[copies]]\ncount = 0\n"}, "program": "step.mlir"},
        "tune": {"programs": ["step.mlir"], "share": ["x=arg0"], "no_cache": True},
        "block": {"array": "f32[64,128]", "block": "f32[8,128]"},
        "kernel": {"path": "fits.mlir", "against": "aligned.mlir"},
        "rustc": {"file": {"text": "error[E0308]: mismatched types\n"}},
        "relayout": {"input": "a.bin", "from": "u8[2,3]", "to": "{0,1:T(2,2)}", "output": "b.bin"},
        "shard": {"input": "c.safetensors", "plan": "plan.json", "device": 1, "output": "shards"},
    }
    long = await agent.call("hlo", file="m.hlo", top=1000)
    arguments["more"] = {"handle": long["more"]["handle"], "pointer": "/0/largest"}
    names = {tool.name for tool in tools}
    assert names == set(arguments), names ^ set(arguments)
    for tool, given in arguments.items():
        content = await agent.call(tool, **given)
        assert "error" not in content, (tool, content)
    print(len(names), "tools answered by their schemas")


async def hostile(agent, folder):
    for tool, given in [
        ("hlo", {"file": "../m.hlo"}),
        ("hlo", {"file": "/etc/passwd"}),
        ("hlo", {"file": "m.hlo\n--html=x"}),
        ("hlo", {"file": {"text": "x", "name": "a\nb"}}),
        ("explain", {"shape": "--for=v5e"}),
        ("explain", {"shape": "f32[" + "9," * 200_000 + "9]"}),
        ("block", {"input": [["--plugin=x", "f32[8]"]]}),
        ("compile", {"program": "step.mlir", "plugin": "x.so"}),
        ("compile", {"program": "step.mlir", "option": ["xla_dump_to=/tmp"]}),
        ("more", {"handle": "a1\n", "from": -1}),
    ]:
        content = await agent.call(tool, **given)
        assert content["error"]["message"], (tool, content)
    print("hostile arguments were refused")


def children(process):
    """The processes that a process has started, directly or through others."""
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *children(child)]
    return found


def server():
    """The process of the server, which the client has started."""
    of = {child: pathlib.Path(f"/proc/{child}/cmdline").read_bytes() for child in children(os.getpid())}
    return next(child for child, words in of.items() if b"\0mcp\0" in words)


async def cancelled(agent):
    before = len(children(server()))
    call = asyncio.ensure_future(agent.client.call_tool("tune", {"programs": ["fits.mlir"], "share": ["x=arg0"], "all": True, "no_cache": True}))
    for _ in range(600):
        await asyncio.sleep(0.1)
        if len(children(server())) > before + 1:
            break
    assert not call.done(), call.result()
    call.cancel()
    for _ in range(100):
        await asyncio.sleep(0.1)
        if len(children(server())) == before:
            break
    assert len(children(server())) == before, children(server())
    assert (await agent.call("explain", shape="f32[8]"))["ok"]
    print("a call was cancelled, with its processes")


def memory():
    """The resident memory of the server in KiB."""
    status = pathlib.Path(f"/proc/{server()}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


async def many_calls(agent, calls):
    # The server keeps the last 16 long answers. The first calls fill these places, then memory is measured.
    async def some(count):
        for number in range(count):
            if number % 4:
                await agent.call("explain", shape=f"f32[{number + 1},128]{{1,0:T(8,128)}}")
            else:
                await agent.call("hlo", file="m.hlo", top=1000)

    await some(FIRST)
    before, start = memory(), time.monotonic()
    await some(calls - FIRST)
    each = (time.monotonic() - start) / max(calls - FIRST, 1)
    after = memory()
    print(f"memory of the server: {before} KiB after {FIRST} calls, {after} KiB after {calls}; {each * 1000:.0f} ms a call")
    assert after < before + ROOM, "the server grows"


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=1000)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "VIRTUAL_ENV", "PJRT_PLUGIN")}
        # Otherwise each thread has an arena of its own, and memory that is free in one arena is not used for another.
        environment["MALLOC_ARENA_MAX"] = "1"
        command = StdioServerParameters(command=str(PROGRAM), args=["mcp", "--write", "--root", name], env=environment)
        async with Client(stdio_client(command)) as client:
            agent = Agent(client)
            await conversation(agent, folder)
            print("calls:", agent.calls)
            await every_tool(agent, folder)
            await hostile(agent, folder)
            await cancelled(agent)
            await many_calls(agent, calls)


asyncio.run(main())
