#!/usr/bin/env python3
"""Asks XLA whether our messages mean the same as the texts of the modules, and whether we print XLA's messages as XLA does.

usage: scripts/hlo_protos.py [TEXT…]    every module of tests/corpus, or these files; makes its environment in target/hlo-cases

For each text that XLA reads: `xla-shape hlo print --to proto` writes a message, which XLA must read and print as it prints the text; and
`xla-shape hlo print` of XLA's message must print what XLA prints. The exit code is 1 if there is a difference.
"""
import json, os, subprocess, sys, tempfile
from xla import ask, ready

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "target/release/xla-shape")


def run(data, *arguments):
    with tempfile.NamedTemporaryFile() as file:
        file.write(data); file.flush()
        done = subprocess.run([PROGRAM, "hlo", "print", file.name, *arguments], capture_output=True)
        return done.stdout if done.returncode == 0 else done.stderr


def differ(text):
    """The difference, or None; True for a text that XLA does not read."""
    from jaxlib import _hlo
    try: module = _hlo.hlo_module_from_text(text)
    except Exception: return True
    printed, of_message = module.to_string(), module.as_serialized_hlo_module_proto()
    # XLA prints some modules differently after reading them from a text and from a message; both are accepted.
    again = _hlo.HloModule.from_serialized_hlo_module_proto(of_message).to_string()
    ours = run(text.encode(), "--to", "proto")
    try: read = _hlo.HloModule.from_serialized_hlo_module_proto(ours).to_string()
    except Exception as e: return "XLA refuses our message: " + str(e).splitlines()[0] + ours[:200].decode(errors="replace")
    if read not in (printed, again): return "our message says something else: " + first(read, again)
    shown = run(of_message).decode()
    return None if shown.rstrip() == again.rstrip() else "the text of XLA's message is another one: " + first(shown, again)


def first(a, b): return next((f"{x!r} for {y!r}" for x, y in zip(a.splitlines(), b.splitlines()) if x != y), "its end")


def texts(paths):
    if paths:
        for path in paths: yield path, open(path).read()
        return
    for file in ["hlo", "hlo_more", "hlo_forms", "hlo_modes", "tpu_memory"]:
        packed = os.path.join(ROOT, f"tests/corpus/{file}.jsonl.zst")
        for row in map(json.loads, subprocess.run(["zstd", "-dc", packed], capture_output=True, check=True).stdout.splitlines()):
            text = row["text"] if "text" in row else row["module"]
            yield f"{file}: {row.get('form') or row.get('program') or row['module']} {row.get('mode', '')}", text


def main(paths):
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "xla-shape-cli"], cwd=ROOT, check=True)
    rows = list(texts(paths))
    answers = ask(differ, [text for _, text in rows], True)
    wrong = [(name, answer) for (name, _), answer in zip(rows, answers) if isinstance(answer, str)]
    for name, answer in wrong: print(f"{name}: {answer}")
    print(f"{answers.count(None)} of {len(rows)} agree; XLA does not read {answers.count(True)}; {len(wrong)} differ")
    return bool(wrong)


if __name__ == "__main__":
    ready()
    sys.exit(main(sys.argv[1:]))
