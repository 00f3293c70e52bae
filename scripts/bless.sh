#!/usr/bin/env bash
# Updates the expected output of the golden tests. Read the diff before you commit it.
set -euo pipefail
cd "$(dirname "$0")/.."
BLESS=1 cargo test -p xla-shape-tests --features optimised --test workspace codegen -- --nocapture
BLESS=1 cargo test -p xla-shape-cli --test program generated
BLESS=1 cargo test -p xla-shape-cli --test program doors
BLESS=1 cargo test -p xla-shape-ui-tests --test ui fail
