#!/usr/bin/env bash
# Makes the wheels to publish, in target/wheels: scripts/wheels.sh [PLATFORM…] (all by default; PLATFORMS below names them).
#
# They are linked with Zig, which brings the C libraries of all systems, so this needs neither containers nor other machines. Windows is the
# exception: for Zig, maturin writes a list of exported functions with the module's whole name (`PyInit_xla_shape._native`), which no function
# has. So this uses MinGW's linker (Debian: gcc-mingw-w64-x86-64). A wheel for the stable interface of CPython 3.11 serves all later versions.
# Versions without a GIL are the exception: each needs a wheel of its own. Each wheel is checked (scripts/wheel_check.py), and tested where it can
# run: in a root directory that has Debian's Python and nothing else, for aarch64 under QEMU. For these tests, as root or with sudo, the script adds
# the architecture arm64 to dpkg.
# Environment: PROFILE, the profile of Cargo (wheel; with dev, a wheel takes a minute or two instead of ten, and is larger than 5 MB);
# LARGEST, the most bytes of a wheel.
set -euo pipefail
cd "$(dirname "$0")/.."

# The platform's name, Rust's name of it, the value of maturin's `--compatibility`, and the tag that the wheel must have.
PLATFORMS="\
manylinux-x86_64   x86_64-unknown-linux-gnu    manylinux_2_28   manylinux_2_28_x86_64
manylinux-aarch64  aarch64-unknown-linux-gnu   manylinux_2_28   manylinux_2_28_aarch64
musllinux-x86_64   x86_64-unknown-linux-musl   musllinux_1_2    musllinux_1_2_x86_64
musllinux-aarch64  aarch64-unknown-linux-musl  musllinux_1_2    musllinux_1_2_aarch64
windows-x86_64     x86_64-pc-windows-gnu       pypi             win_amd64
macos-arm64        aarch64-apple-darwin        pypi             macosx_11_0_arm64
macos-x86_64       x86_64-apple-darwin         pypi             macosx_10_12_x86_64"

tools=$PWD/target/wheels-tools
[ -x "$tools/bin/twine" ] || {
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check "maturin>=1.9,<2" ziglang==0.17.1 twine==7.0.0 auditwheel==6.7.0
}
export PATH="$tools/bin:$PATH" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
made=$PWD/target/wheels
rm -rf "$made" && mkdir -p "$made"

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

build() { # TARGET COMPATIBILITY INTERPRETER
    rustup target add "$1" >/dev/null 2>&1
    local linker=--zig
    if [[ $1 == *-windows-gnu ]]; then
        linker=
        command -v x86_64-w64-mingw32-gcc >/dev/null || as_root apt-get install -y -qq gcc-mingw-w64-x86-64 >/dev/null
    fi
    maturin build --quiet --manifest-path python/Cargo.toml --locked --compression-level 9 --profile "${PROFILE:-wheel}" $linker \
        --target "$1" --compatibility "$2" --interpreter "$3" --out "$made"
}

# A root directory with the Python of Debian for an architecture, pytest and NumPy.
root() { # DEBIAN'S ARCHITECTURE, PIP'S PLATFORM
    local root=$PWD/target/wheels-root-$1 packages=$PWD/target/wheels-debs-$1
    [ -e "$root/complete" ] || {
        rm -rf "$root" && mkdir -p "$root/wheel" "$root/tmp" "$packages"
        dpkg --print-foreign-architectures | grep -qx "$1" || [ "$(dpkg --print-architecture)" = "$1" ] || as_root dpkg --add-architecture "$1"
        as_root apt-get update -qq
        (cd "$packages" && apt-get download -qq $(printf "%s:$1 " python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 zlib1g \
            libexpat1 libffi8 libbz2-1.0 liblzma5 libsqlite3-0 libssl3 libuuid1 libncursesw6 libtinfo6 libreadline8 libnsl2 libtirpc3) 2>/dev/null)
        for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$root"; done
        "$tools/bin/pip" install --quiet --disable-pip-version-check --target "$root/packages" --only-binary :all: --python-version 3.11 \
            $(printf -- '--platform manylinux_2_%s ' "28_$2" "27_$2" "17_$2") numpy pytest==9.2.0 ml_dtypes
        mkdir -p "$root/dev"
        as_root mknod -m 666 "$root/dev/null" c 1 3
        touch "$root/complete"
    }
    echo "$root"
}

# Runs the tests that need nothing but NumPy, with the wheel alone, in a root directory of its own.
run() { # WHEEL DEBIAN'S ARCHITECTURE, PIP'S PLATFORM
    local root emulator=()
    root=$(root "$2" "$3")
    if [ "$(dpkg --print-architecture)" != "$2" ]; then
        command -v "qemu-$3-static" >/dev/null || as_root apt-get install -y -qq qemu-user-static >/dev/null
        cp "$(command -v "qemu-$3-static")" "$root/emulator"
        emulator=(/emulator)
    fi
    rm -rf "$root/wheel" "$root/tests" && mkdir "$root/wheel" "$root/tests"
    python3 -m zipfile -e "$1" "$root/wheel"
    cp python/tests/{test_values,test_arrays}.py "$root/tests"
    # Under the emulator, tests cannot start further programs.
    as_root env -i "PATH=$PATH" PYTHONPATH=/wheel:/packages chroot "$root" "${emulator[@]}" /usr/bin/python3.11 -m pytest -q -p no:cacheprovider \
        ${emulator:+-k "not fork"} /tests
}

failed=()
[ $# -gt 0 ] || set -- $(echo "$PLATFORMS" | cut -d' ' -f1)
for platform; do
    line=$(echo "$PLATFORMS" | grep "^$platform ") || { echo "expected one of $(echo "$PLATFORMS" | cut -d' ' -f1 | tr '\n' ' ')found $platform"; exit 2; }
    read -r _ target compatibility tag <<<"$line"
    echo "== $platform"
    # If this platform cannot be linked here, still make the others.
    if ! build "$target" "$compatibility" python3.11; then
        failed+=("$platform")
        continue
    fi
    wheel=$(echo "$made"/xla_shape-*-cp311-abi3-"$tag".whl)
    python3 scripts/wheel_check.py "$wheel"
    twine check --strict "$wheel"
    case $platform in
    manylinux-x86_64) run "$wheel" amd64 x86_64 ;;
    manylinux-aarch64) run "$wheel" arm64 aarch64 ;;
    *) echo "$platform: NOT run, only checked" ;;
    esac
    if [[ $platform == manylinux-* ]]; then
        # A check independent of maturin: no symbol of the C library may be newer than the tag says.
        found=$(auditwheel show "$wheel" | tr -s '\n ' ' ' | sed -n 's/.*platform tag: "\([^"]*\)".*/\1/p')
        [ "$(printf '%s\n' "${found%_"${tag#manylinux_*_*_}"}" manylinux_2_28 | sort -V | tail -1)" = manylinux_2_28 ] || {
            echo "$wheel needs $found" >&2
            exit 1
        }
        # Without a GIL.
        for version in 14 15; do
            if command -v "python3.${version}t" >/dev/null; then
                build "$target" "$compatibility" "python3.${version}t"
                wheel=$(echo "$made"/xla_shape-*-"cp3$version-cp3${version}t-$tag".whl)
                python3 scripts/wheel_check.py "$wheel"
                twine check --strict "$wheel"
            else
                echo "python3.${version}t: NOT made, there is no such interpreter here"
            fi
        done
    fi
done
ls -l "$made"
[ ${#failed[@]} = 0 ] || { echo "NOT made: ${failed[*]}"; exit 1; }
