#!/usr/bin/env python3
"""Writes tests/corpus/hlo_broken.jsonl.zst: instructions of each kind, broken in one place, and whether XLA reads them.

usage: scripts/data/hlo_broken.py [EACH]    EACH changes for each instruction, 8 by default; makes its environment in target/hlo-cases

The instructions are those of tests/corpus/hlo_forms.jsonl.zst as XLA prints them: every opcode, attribute and form of a value. In the opcode,
the operands or the attributes of an instruction, a character is deleted, replaced or swapped with the next one, a number is changed, or an
attribute gets another value. A row has the form, the changed line, and `ok`: whether XLA reads the module with this line.
"""
import json, os, random, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from xla import ask, reads, ready  # noqa: E402

VALUES = ["foo", "{}", "{a}", "3", "-1", "true", '"s"', "{1,2}", "{{0}}"]


def line_of(text):
    """The number of the line to break: the root of the last computation."""
    return max((i for i, line in enumerate(text.splitlines()) if "ROOT " in line), default=None)


def opcode_of(line):
    """The offset of the opcode, after the name and the shape."""
    return re.search(r" ([a-z][a-z0-9-]*)\((?=[^()\[\]]*)", line[line.index(" = ") + 2:]).start() + line.index(" = ") + 3


def change(r, line):
    start, kind = opcode_of(line), r.choice("ddssnnrrxx")
    at = r.randrange(start, len(line))
    if kind == "d": return line[:at] + line[at + 1:]
    if kind == "s": return line[:at] + line[at:at + 2][::-1] + line[at + 2:]
    if kind == "r": return line[:at] + r.choice('{}(),=x_-0a"') + line[at + 1:]
    if kind == "n":
        numbers = [m for m in re.finditer(r"(?<![%\w.])\d+", line) if m.start() >= start]
        if not numbers: return None
        m = r.choice(numbers)
        return line[:m.start()] + str(int(m[0]) + r.choice([1, 7, -1])) + line[m.end():]
    keys = [m for m in re.finditer(r", ([\w-]+)=", line) if m.start() >= start]
    if not keys: return None
    m = r.choice(keys)
    return line[:m.end()] + r.choice(VALUES) + re.sub(r"^[^ ]*?(, |$)", r"\1", line[m.end():])


def main(each):
    forms = subprocess.run(["zstd", "-dc", os.path.join(ROOT, "tests/corpus/hlo_forms.jsonl.zst")], capture_output=True, check=True).stdout
    rows, texts = [], []
    for form in map(json.loads, forms.splitlines()):
        text = form.get("printed")
        number = line_of(text) if form["ok"] and text else None
        if number is None: continue
        lines, r, seen = text.splitlines(), random.Random(form["form"]), set()
        for _ in range(each * 2):
            changed = change(r, lines[number])
            if changed is None or changed in seen or changed == lines[number]: continue
            seen.add(changed)
            rows.append({"form": form["form"], "line": changed.strip()})
            texts.append("\n".join(lines[:number] + [changed] + lines[number + 1:]))
            if len(seen) == each: break
    for row, ok in zip(rows, ask(reads, texts, False)): row["ok"] = ok
    to = os.path.join(ROOT, "tests/corpus/hlo_broken.jsonl")
    with open(to, "w") as out:
        for row in rows: out.write(json.dumps(row, separators=(",", ":")) + "\n")
    subprocess.run(["zstd", "-19", "-q", "-f", "--rm", to], check=True)
    print(f"{len(rows)} lines, of which XLA reads {sum(row['ok'] for row in rows)}")


if __name__ == "__main__":
    ready()
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
