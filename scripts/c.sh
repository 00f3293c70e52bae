#!/usr/bin/env bash
# The C and C++ examples and the header's comparison with XLA's maps under AddressSanitizer and valgrind, in an optimised and in an
# unoptimised build of the library, and through CMake and pkg-config: scripts/c.sh [header|address|valgrind|cmake…] (all by default).
# Installs cbindgen, valgrind, CMake and pkg-config, where they are missing. BUILT=debug tests only the library in target/debug, as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
out=$target/c
mkdir -p "$out"
warnings=(-Wall -Wextra -Werror -pedantic -g -I crates/c/include)
libraries=(-lpthread -ldl -lm)

debian() { # PROGRAM PACKAGE
    if ! command -v "$1" >/dev/null; then
        local as_root
        as_root=$([ "$(id -u)" = 0 ] || echo sudo)
        $as_root apt-get update -qq && $as_root apt-get install -y -qq "$2"
    fi
}

build() { # PROFILE: the library, once
    [ "$1" != "${BUILT:-}" ] || return 0
    case $1 in
    debug) cargo build --quiet -p xla-shape-c ;;
    release) cargo build --quiet --release -p xla-shape-c ;;
    esac
}

compile() { # LIBRARY NAME OPTIONS…: every program, as NAME-program
    for source in crates/c/examples/*.c crates/c/tests/*.c; do
        "${CC:-cc}" -std=c99 "${warnings[@]}" "${@:3}" "$source" "$1" "${libraries[@]}" -o "$out/$2-$(basename "$source" .c)"
    done
    for source in crates/c/examples/*.cpp; do
        "${CXX:-c++}" -std=c++17 "${warnings[@]}" "${@:3}" "$source" "$1" "${libraries[@]}" -o "$out/$2-$(basename "$source" .cpp)"
    done
}

run() { # NAME COMMAND…: every program that `compile` has made
    for program in "$out/$1"-*; do
        # The comparison reads the corpus beside the crate.
        (cd crates/c && "${@:2}" "$program" >/dev/null) || {
            echo "$program failed" >&2
            exit 1
        }
    done
}

header() { scripts/c_header.sh --check; }

# The library itself is not instrumented, but its allocations and frees are seen, and so are the programs' reads of its lists and texts.
address() {
    for profile in ${BUILT:-debug release}; do
        build "$profile"
        compile "$target/$profile/libxla_shape_c.a" "address-$profile" -fsanitize=address,undefined -fno-sanitize-recover=all
        run "address-$profile"
    done
}

valgrind_() {
    debian valgrind valgrind
    for profile in ${BUILT:-debug release}; do
        build "$profile"
        compile "$target/$profile/libxla_shape_c.a" "valgrind-$profile"
        # In a debug build, the table of handles lives as long as the process.
        run "valgrind-$profile" valgrind --quiet --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible
    done
}

cmake_() {
    debian cmake cmake
    debian pkg-config pkg-config
    build release
    cmake -S crates/c/cmake -B "$out/cmake" -DXLA_SHAPE_ROOT="$PWD" -DCMAKE_BUILD_TYPE=Debug >/dev/null
    cmake --build "$out/cmake" >/dev/null
    ctest --test-dir "$out/cmake" --output-on-failure
    # Also test an installation by cargo-c, if it is there: building cargo-c takes too long.
    if cargo cinstall --version >/dev/null 2>&1; then
        cargo cinstall --quiet --release -p xla-shape-c --prefix="$out/prefix" --libdir="$out/prefix/lib"
        export PKG_CONFIG_PATH=$out/prefix/lib/pkgconfig
        cmake -S crates/c/cmake -B "$out/installed" >/dev/null
        cmake --build "$out/installed" >/dev/null
        LD_LIBRARY_PATH=$out/prefix/lib ctest --test-dir "$out/installed" --output-on-failure
    else
        echo "skipped: cargo-c is not installed, so nothing was found through pkg-config"
    fi
}

[ $# -gt 0 ] || set -- header address valgrind cmake
for what; do
    printf '\n== %s\n' "$what"
    case $what in
    valgrind | cmake) "${what}_" ;;
    *) "$what" ;;
    esac
done
