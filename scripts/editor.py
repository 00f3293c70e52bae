#!/usr/bin/env python3
"""Asks rust-analyzer about code that uses the library, and compares its answers with those in scripts/editor/answers.txt.

usage: editor.py [--bless] [--only LINE]

--bless  writes the answers
--only   asks only the questions about this line of scripts/editor/lib.rs, and prints the answers

The code is in scripts/editor, and becomes a crate of its own in target/editor. A comment in lib.rs asks about the position above its `^`:

    type Rows = shape!(f32[SEQ,128]);
    //                     ^ hover; references; rename to LENGTH; complete SEQ TEXT

The other files have mistakes, which must be underlined. rust-analyzer gets the compiler's messages through `xla-shape rustc`, as docs/editor.md says.
Installs a separate toolchain with rust-analyzer into target/editor. rust-analyzer needs the sources of the standard library. In a toolchain with
these sources, the compiler writes other messages, so the tests of messages would fail with it."""

import argparse
import difflib
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = ROOT / "scripts/editor"
ANSWERS = CODE / "answers.txt"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROJECT = TARGET / "editor"
WRONG = ["wrong_shapes.rs", "wrong_types.rs"]
PATIENCE = 600  # seconds, for the first build of the library


def toolchain():
    """The version of the toolchain that this repository pins."""
    return re.search(r'channel = "(.*)"', (ROOT / "rust-toolchain.toml").read_text())[1]


class Server:
    """rust-analyzer, as an editor starts it."""

    def __init__(self, settings):
        environment = os.environ | {"PATH": f"{TARGET / 'debug'}{os.pathsep}{os.environ['PATH']}", "RUSTUP_HOME": str(PROJECT / "rustup")}
        environment.pop("RUSTUP_TOOLCHAIN", None)
        install = ["rustup", "toolchain", "install", "--no-self-update", "--profile", "minimal", "-c", "rust-analyzer", "-c", "rust-src", toolchain()]
        subprocess.run(install, env=environment, check=True)
        which = ["rustup", "which", "--toolchain", toolchain(), "rust-analyzer"]
        program = subprocess.run(which, env=environment, capture_output=True, text=True, check=True).stdout.strip()
        self.process = subprocess.Popen([program], cwd=PROJECT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.settings = settings
        self.messages = queue.Queue()
        self.diagnostics = {}
        self.state = {}
        self.number = 0
        threading.Thread(target=self.read, daemon=True).start()
        capabilities = {
            "experimental": {"serverStatusNotification": True},
            "workspace": {"configuration": True, "workspaceEdit": {"documentChanges": True}},
            "textDocument": {
                "hover": {"contentFormat": ["markdown"]},
                "completion": {"completionItem": {"snippetSupport": True}},
                "publishDiagnostics": {"relatedInformation": True},
            },
        }
        folder = {"uri": PROJECT.as_uri(), "name": "editor"}
        about = {"processId": os.getpid(), "rootUri": PROJECT.as_uri(), "workspaceFolders": [folder]}
        self.ask("initialize", about | {"capabilities": capabilities, "initializationOptions": settings})
        self.send({"method": "initialized", "params": {}})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self):
        while header := self.process.stdout.readline():
            length = int(header.split(b":")[1])
            while self.process.stdout.readline().strip():
                pass
            self.messages.put(json.loads(self.process.stdout.read(length)))
        self.messages.put(None)

    def next(self, patience=PATIENCE):
        """The next message, after an answer to what the server asks itself."""
        message = self.messages.get(timeout=patience)
        if message is None:
            sys.exit("rust-analyzer has ended")
        match message.get("method"):
            case "workspace/configuration":
                self.send({"id": message["id"], "result": [self.settings for _ in message["params"]["items"]]})
            case "experimental/serverStatus":
                self.state = message["params"]
            case "textDocument/publishDiagnostics":
                self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
            case str() if "id" in message:
                self.send({"id": message["id"], "result": None})
        return message

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.next()
            if message.get("id") == self.number and "method" not in message:
                # The contents changed while the server computed the answer, so ask again.
                if message.get("error", {}).get("code") in (-32801, -32802):
                    return self.ask(method, params)
                return message.get("result", message.get("error"))

    def open(self, path):
        document = {"uri": path.as_uri(), "languageId": "rust", "version": 1, "text": path.read_text()}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def wait(self):
        """Waits until the project is loaded and the macros are compiled."""
        while not self.state.get("quiescent"):
            self.next()
        if self.state.get("health") != "ok":
            sys.exit(f"rust-analyzer: {self.state}")


def plain(markdown):
    """The text of a hover, without empty lines; of a type that is documented elsewhere, without that documentation."""
    text = re.sub(r"^(```\w*|---)$", "", markdown, flags=re.M)
    text = text.split("*This is the documentation for*")[0]
    return re.sub(r"\n\s*\n", "\n", text).strip()


def slice_of(path, found):
    """The text in a range of a file, and its line."""
    lines = path.read_text().splitlines()
    start, end = found["start"], found["end"]
    text = lines[start["line"]]
    if start["line"] == end["line"]:
        text = text[start["character"] : end["character"]]
    return f"{path.name}:{start['line'] + 1}: {text.strip()}"


def place(location):
    uri = location.get("targetUri") or location["uri"]
    path = pathlib.Path(uri.removeprefix("file://"))
    found = location.get("targetSelectionRange") or location["range"]
    if PROJECT in path.parents:
        return slice_of(path, found)
    return f"{path.name}: {path.read_text().splitlines()[found['start']['line']].strip()}"


def answer(server, path, line, column, question):
    at = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": column}}
    what, *words = question.split()
    match what:
        case "hover":
            found = server.ask("textDocument/hover", at)
            return plain(found["contents"]["value"]) if found else "nothing"
        case "definition":
            found = server.ask("textDocument/definition", at) or []
            return "\n".join(sorted(map(place, found if isinstance(found, list) else [found]))) or "nothing"
        case "references":
            found = server.ask("textDocument/references", at | {"context": {"includeDeclaration": True}}) or []
            return "\n".join(sorted(map(place, found), key=lambda text: int(text.split(":")[1]))) or "nothing"
        case "rename":
            found = server.ask("textDocument/rename", at | {"newName": words[-1]})
            if "documentChanges" not in (found or {}):
                return (found or {}).get("message", "nothing")
            edits = [place({"uri": file["textDocument"]["uri"], "range": edit["range"]}) for file in found["documentChanges"] for edit in file["edits"]]
            return "\n".join(sorted(edits, key=lambda text: int(text.split(":")[1])))
        case "complete":
            found = server.ask("textDocument/completion", at) or {"items": []}
            labels = {re.match(r"[\w:]+", item["label"])[0] for item in found["items"] if re.match(r"[\w:]+", item["label"])}
            return "\n".join(f"{word}: {'yes' if word in labels else 'no'}" for word in words)
    sys.exit(f"{path.name}:{line + 1}: expected a question such as `hover`, found `{question}`")


def questions(path):
    """The questions of a file: line, column, text."""
    lines = path.read_text().splitlines()
    about = 0
    for number, line in enumerate(lines):
        if found := re.match(r"\s*//\s*\^ (.*)", line):
            column = line.index("^")
            yield from ((about, column, question.strip()) for question in found[1].split(";"))
        else:
            about = number


def answers(server, only):
    path = PROJECT / "src/lib.rs"
    lines = path.read_text().splitlines()
    for line, column, question in questions(path):
        if not only or line + 1 == only:
            word = re.match(r"\w+", lines[line][column:])[0]
            yield f"{path.name}:{line + 1}: {question} at `{word}`", answer(server, path, line, column, question)
    if only:
        return
    server.send({"method": "textDocument/didSave", "params": {"textDocument": {"uri": path.as_uri()}}})
    for path in [PROJECT / "tests" / name for name in WRONG]:
        # rust-analyzer sends its own diagnostics first, and the diagnostics of `cargo check` later.
        while not any(found.get("source") == "rustc" for found in server.diagnostics.get(path.as_uri(), [])):
            server.next()
        for found in sorted(server.diagnostics[path.as_uri()], key=lambda found: (found["range"]["start"]["line"], found["source"])):
            yield f"{slice_of(path, found['range'])}: {found['source']}", re.sub(r"'/\S*'", "'FILE'", found["message"])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bless", action="store_true")
    arguments.add_argument("--only", type=int)
    arguments = arguments.parse_args()

    if not arguments.only:
        subprocess.run(["cargo", "build", "--quiet", "-p", "xla-shape-cli"], cwd=ROOT, check=True)
    for folder, files in {"src": ["lib.rs"], "tests": WRONG}.items():
        (PROJECT / folder).mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(CODE / file, PROJECT / folder / file)
    (PROJECT / "rust-toolchain.toml").write_text(f'[toolchain]\nchannel = "{toolchain()}"\n')
    shutil.copy(ROOT / "ui-tests/hlo/step.hlo", PROJECT)
    (PROJECT / "Cargo.toml").write_text(
        '[package]\nname = "editor"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n'
        f'[dependencies]\nxla-shape = {{ path = "{ROOT / "xla-shape"}", features = ["hlo"] }}\n'
    )
    command = "cargo check --workspace --all-targets --keep-going --message-format=json | xla-shape rustc --format json"
    server = Server({"check": {"overrideCommand": ["sh", "-c", command]}, "checkOnSave": not arguments.only, "cachePriming": {"enable": False}})
    server.open(PROJECT / "src/lib.rs")
    for file in WRONG:
        server.open(PROJECT / "tests" / file)
    server.wait()
    text = "".join(f"{question}\n{re.sub('^', '    ', found, flags=re.M)}\n\n" for question, found in answers(server, arguments.only))
    server.ask("shutdown", None)
    server.send({"method": "exit"})
    server.process.wait(timeout=60)
    if arguments.only:
        print(text, end="")
    elif arguments.bless:
        ANSWERS.write_text(text)
    elif (golden := ANSWERS.read_text()) != text:
        sys.exit("\n".join(difflib.unified_diff(golden.splitlines(), text.splitlines(), "expected", "found", lineterm="")))


if __name__ == "__main__":
    main()
