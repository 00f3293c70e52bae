#!/bin/sh
# Accepts what the compiler says now as what it should say. Read the difference before you commit it.
set -eu
cd "$(dirname "$0")"
TRYBUILD=overwrite cargo test --quiet --test ui >/dev/null 2>&1 || true
cargo test --quiet --test ui
git --no-pager diff --stat -- tests
