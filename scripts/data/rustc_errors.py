#!/usr/bin/env python3
"""Writes crates/cli/tests/rustc.jsonl: rustc's messages about mistakes with shapes, for the tests of `xla-shape rustc`.

Each row has the mistake's name and source, the compiler's message in JSON, and the full names of the types that it has shortened. The
path of the file with those names is `NAMES` in the message. The argument is another toolchain to use.
"""
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "crates/cli/tests/rustc.jsonl"


def call(wanted, found, by_view=True):
    """A call of a function that takes an array of one shape, with an array of another."""
    kind, given = ("View<'_, shape!({})>", ".view()") if by_view else ("&Buffer<shape!({})>", "")
    given = f"{'' if by_view else '&'}Buffer::<shape!({found})>::zeroed(){given}"
    return f"fn kernel(_: {kind.format(wanted)}) {{}}\nfn main() {{ kernel({given}); }}"


GOOD = "bf16[8,128]{1,0:T(8,128)(2,1)}"
MISTAKES = {
    "tile": call("f32[64,256]{1,0:T(8,128)}", "f32[64,256]{1,0:T(16,128)}"),
    "tile_by_reference": call(GOOD, "bf16[8,128]{1,0:T(4,128)(2,1)}", False),
    "second_tile": call(GOOD, "bf16[8,128]{1,0:T(8,128)(4,1)}", False),
    "tile_missing": call(GOOD, "bf16[8,128]{1,0:T(8,128)}", False),
    "dimension": call(GOOD, "bf16[8,256]{1,0:T(8,128)(2,1)}", False),
    "element_type": call(GOOD, "f32[8,128]{1,0:T(8,128)(2,1)}", False),
    "memory_space": call("f32[8,128]{1,0:T(8,128)S(1)}", "f32[8,128]{1,0:T(8,128)}"),
    "order": call("f32[8,128]{1,0:T(8,128)}", "f32[8,128]{0,1:T(8,128)}"),
    "rank": call("f32[8,128]{1,0:T(8,128)}", "f32[1,8,128]{2,1,0:T(8,128)}"),
    "element_size": call("s4[8,128]{1,0:T(8,128)E(4)}", "s4[8,128]{1,0:T(8,128)}"),
    "tail_padding": call("f32[8,128]{1,0:T(8,128)L(1024)}", "f32[8,128]{1,0:T(8,128)}"),
    "bound": call("f32[<=8,128]{1,0:T(8,128)}", "f32[8,128]{1,0:T(8,128)}"),
    "three_parts": call(GOOD, "f32[8,256]{1,0:T(16,128)}", False),
    "prefix": "fn kernel(_: &[shape!(f32[<=8,128]{1,0:T(8,128)M(16)})]) {}\n"
    "fn main() { kernel(&[] as &[shape!(f32[<=8,128]{1,0:T(8,128)})]); }",
    "splits": "fn kernel(_: &[shape!(f32[64]{0:SC(0:8,32)})]) {}\n"
    "fn main() { kernel(&[] as &[shape!(f32[64]{0:SC(0:8,16)})]); }",
    "tuple": "fn kernel(_: Vec<shape!((f32[8,128]{1,0:T(8,128)}, s32[4]))>) {}\n"
    "fn main() { kernel(Vec::<shape!((f32[8,128]{1,0:T(16,128)}, s32[4]))>::new()); }",
    "function": "fn kernel(_: View<'_, shape!(f32[64,256]{1,0:T(8,128)})>) {}\n"
    "fn main() { let _: fn(View<'_, shape!(f32[64,256]{1,0:T(16,128)})>) = kernel; }",
    "generic_size": "fn product<const M: usize, const K: usize, const N: usize>(\n"
    "    _: View<'_, shape!(f32[M,K]{1,0:T(8,128)})>, _: View<'_, shape!(f32[K,N]{1,0:T(8,128)})>) {}\n"
    "fn main() { product(Buffer::<shape!(f32[16,128]{1,0:T(8,128)})>::zeroed().view(),\n"
    "    Buffer::<shape!(f32[256,128]{1,0:T(8,128)})>::zeroed().view()); }",
    "generic_tile": "fn kernel<const M: usize>(_: View<'_, shape!(f32[M,128]{1,0:T(8,128)})>) {}\n"
    "fn main() { kernel(Buffer::<shape!(f32[8,128]{1,0:T(16,128)})>::zeroed().view()); }",
    "generic_result": "fn kernel<const M: usize>() -> Buffer<shape!(f32[M,128]{1,0:T(8,128)})> {\n"
    "    Buffer::<shape!(f32[M,128]{1,0:T(16,128)})>::zeroed() }\nfn main() { kernel::<8>(); }",
    "trait": "trait Kernel<A> { fn run(&self); }\n"
    "impl Kernel<shape!(f32[8,128]{1,0:T(8,128)})> for () { fn run(&self) {} }\n"
    "fn main() { <() as Kernel<shape!(f32[8,128]{1,0:T(16,128)})>>::run(&()); }",
    "another_type": "use xla_shape::types::{Array, Layout, Minor};\nfn kernel(_: Buffer<shape!(f32[8])>) {}\n"
    "fn main() { kernel(Buffer::<Array<xla_shape::element::F32, (typenum::U8,), Layout<(Minor<0>,)>>>::zeroed()); }",
    "buffer_of_another_type": "use xla_shape::types::{Array, Layout, Minor};\nfn kernel(_: View<'_, shape!(f32[8])>) {}\n"
    "fn main() { kernel(Buffer::<Array<xla_shape::element::F32, (typenum::U8,), Layout<(Minor<0>,)>>>::zeroed()); }",
    "view": "fn kernel(_: View<'_, shape!(f32[8,128]{1,0:T(8,128)})>) {}\n"
    "fn main() { kernel(Buffer::<shape!(f32[8,128]{1,0:T(8,128)})>::zeroed()); }",
    "two_comparisons": "fn f(_: View<'_, shape!(f32[8,128]{1,0:T(8,128)})>, _: View<'_, shape!(f32[8,128]{1,0:T(8,128)})>) {}\n"
    "fn main() { f(Buffer::<shape!(f32[8,128]{1,0:T(16,128)})>::zeroed().view(),\n"
    "    Buffer::<shape!(f32[8,128]{1,0:T(4,128)})>::zeroed().view()); }",
}


def main():
    toolchain = sys.argv[1:] and [f"+{sys.argv[1]}"]
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        build = ["cargo", *toolchain, "check", "-p", "xla-shape", "--message-format=json", "--target-dir", here / "target"]
        subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        deps = here / "target/debug/deps"
        crates = [f"--extern={name}={glob.glob(f'{deps}/lib{name}-*.rmeta')[0]}" for name in ("xla_shape", "typenum")]
        rows = []
        for name, mistake in MISTAKES.items():
            source = f"#![allow(unused)]\nuse xla_shape::{{Buffer, View, shape}};\n{mistake}\n"
            (here / "main.rs").write_text(source)
            command = ["rustc", *toolchain, "--edition=2024", "--emit=metadata", "--error-format=json", *crates, "-L", deps, "main.rs"]
            said = subprocess.run(command, cwd=here, capture_output=True, text=True).stderr
            message = next(m for m in map(json.loads, said.splitlines()) if m["level"] == "error")
            message["code"].pop("explanation")
            text = json.dumps(message, ensure_ascii=False)
            file = re.search(r"[^' ]*\.long-type-\d+\.txt", text)
            names = (here / file[0]).read_text() if file else None
            text = re.sub(r"[^' ]*\.long-type-\d+\.txt", "NAMES", text)
            rows.append({"mistake": name, "source": source, "names": names, "message": json.loads(text)})
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (pathlib.Path(os.devnull) if toolchain else OUT).write_text("".join(lines))
        for row in rows if toolchain else []:
            print(row["message"]["rendered"].replace("NAMES", row["names"] or ""))


if __name__ == "__main__":
    main()
