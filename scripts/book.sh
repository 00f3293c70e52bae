#!/usr/bin/env bash
# Builds the book into target/book with mdBook, which it installs if it is missing, and checks the links between its pages.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v mdbook >/dev/null || CARGO_PROFILE_DEV_DEBUG=0 cargo install --locked --debug --no-default-features mdbook
mdbook build docs
python3 scripts/book_links.py target/book
