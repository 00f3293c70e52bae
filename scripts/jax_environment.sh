#!/usr/bin/env bash
# Makes an environment with JAX 0.12 in a folder, unless the folder has the modules already: scripts/jax_environment.sh FOLDER MODULES PACKAGE…
# Fails, and says why, where there is no Python for it or a package cannot be installed.
set -euo pipefail
folder=$1 modules=$2
shift 2

found=$("$(dirname "$0")/find_python.sh" 12) || { echo "NOT compared: JAX 0.12 needs Python 3.12 or newer." >&2; exit 1; }
[ -x "$folder/bin/pip" ] || "$found" -m venv "$folder"
if ! "$folder/bin/python" -c "import $modules" 2>/dev/null; then
    "$folder/bin/pip" install --quiet "$@" || { echo "NOT compared: $* cannot be installed here." >&2; exit 1; }
fi
