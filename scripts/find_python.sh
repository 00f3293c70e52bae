#!/usr/bin/env bash
# Prints a Python of at least version 3.MINOR, or fails: scripts/find_python.sh MINOR
for candidate in python3 python3.1{4,3,2,1} ~/.pyenv/versions/3.1*/bin/python3; do
    if "$candidate" -c "import sys; sys.exit(sys.version_info < (3, $1))" 2>/dev/null; then
        echo "$candidate"
        exit
    fi
done
exit 1
