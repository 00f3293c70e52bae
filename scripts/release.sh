#!/usr/bin/env bash
# Proves that a release can be made from this commit, and puts what it would publish into target/release-VERSION: scripts/release.sh --dry-run [PART…].
#
# It publishes nothing; docs/releasing.md has the steps that need a person. The parts, all by default: versions, readme, crates, api, wheels,
# site, c, licences, checksums. Environment: VERIFY=no packs the crates without building each one from its package (about 20 minutes on two cores);
# WHEELS names the platforms of scripts/wheels.sh. What cannot be proved here is not a failure: a line with `NOT` says so.
set -euo pipefail
cd "$(dirname "$0")/.."

PARTS=(versions readme crates api wheels site c licences checksums)
[ "${1:-}" = --dry-run ] || {
    echo "expected --dry-run: what publishes needs a person, see docs/releasing.md" >&2
    exit 2
}
shift
[ $# -gt 0 ] || set -- "${PARTS[@]}"

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
out=$PWD/target/release-$version
mkdir -p "$out"
fail() { echo "$*" >&2 && exit 1; }

# The packages to publish, each after those that it uses.
crates=$(cargo metadata --locked --format-version 1 --no-deps | python3 -c '
import json, sys
packages = {package["name"]: package for package in json.load(sys.stdin)["packages"] if package["publish"] != []}
done = []
def visit(name, path=()):
    assert name not in path, f"a circle: {path}"
    for dependency in packages[name]["dependencies"]:
        if dependency["name"] in packages and dependency["kind"] != "dev":
            visit(dependency["name"], (*path, name))
    if name not in done:
        done.append(name)
for name in sorted(packages):
    visit(name)
print(" ".join(done))')

# All files state the same version, and the changelog has a heading for it.
versions() {
    local other
    other=$(grep -hoE '^xla-shape[a-z-]* = \{ path = "[^"]*", version = "=?[^"]*"' Cargo.toml | grep -vE "version = \"=?$version\"$" || true)
    [ -z "$other" ] || fail "another version than $version: $other"
    grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md: expected the heading \`## $version\`"
    cargo metadata --locked --format-version 1 >/dev/null || fail "Cargo.lock is not up to date"
    echo "version $version; the order: $crates"
}

# Follows the README in a fresh clone: installs the program and runs it, and runs the README's code in a new crate.
readme() {
    local root
    # The folder is outside of this workspace, because Cargo would add the new crate to it.
    root=$(mktemp -d)
    git clone --quiet . "$root/clone"
    (cd "$root/clone" && cargo install --locked --path crates/cli --root "$root")
    "$root/bin/xla-shape" "$root/clone/examples/hlo/v5e__rnn_scan.hlo"
    cargo new --quiet "$root/kernels"
    cd "$root/kernels"
    cargo add --path ../clone/xla-shape
    sed -n '/^```rust$/,/^```$/p' ../clone/README.md | grep -v '^```' >src/main.rs
    cargo run
    cd - >/dev/null && rm -rf "$root"
}

# Each crate as a package, built from nothing but the packages of the others.
crates() {
    local names=()
    for name in $crates; do names+=(-p "$name"); done
    [ "${VERIFY:-yes}" = yes ] || names+=(--no-verify)
    cargo publish --dry-run --locked "${names[@]}"
    mkdir -p "$out/crates"
    for name in $crates; do
        cp "target/package/$name-$version.crate" "$out/crates" 2>/dev/null || cp "target/package/tmp-crate/$name-$version.crate" "$out/crates"
    done
}

# Whether the API changed since the last release only as the version allows. A small crate that loses a function shows that the check can fail.
api() {
    command -v cargo-semver-checks >/dev/null || {
        echo "NOT checked: cargo install --locked cargo-semver-checks"
        return
    }
    local probe=target/semver-probe name
    for name in before after; do
        mkdir -p "$probe/$name/src"
        printf '[package]\nname = "probe"\nversion = "1.0.0"\nedition = "2024"\n[workspace]\n' >"$probe/$name/Cargo.toml"
    done
    local check=(cargo semver-checks --manifest-path "$probe/after/Cargo.toml" --baseline-root "$probe/before")
    echo 'pub fn kept() {} pub fn gone() {}' | tee "$probe/before/src/lib.rs" >"$probe/after/src/lib.rs"
    "${check[@]}" || fail "cargo-semver-checks refuses a crate that did not change"
    echo 'pub fn kept() {}' >"$probe/after/src/lib.rs"
    ! "${check[@]}" >/dev/null 2>&1 ||
        fail "cargo-semver-checks takes a crate that has lost a function"
    local before
    before=$(git tag --list 'v*' --sort=-v:refname | head -1)
    [ -n "$before" ] || {
        echo "NOT compared: no release came before (no tag v*)"
        return
    }
    for name in $crates; do
        cargo semver-checks --package "$name" --baseline-rev "$before"
    done
}

# The wheels of all platforms, checked and tested where they can run; twine check --strict.
wheels() {
    # shellcheck disable=SC2086
    scripts/wheels.sh ${WHEELS:-}
    mkdir -p "$out/wheels" && cp target/wheels/*.whl "$out/wheels"
}

# The book and the explorer, in the folders that they have on the server.
site() {
    scripts/book.sh
    rm -rf "$out/site" && mkdir -p "$out/site"
    cp -r target/book/. "$out/site"
    scripts/web.sh build "$out/site/explorer"
    [ -f "$out/site/index.html" ] || fail "the book has no index.html"
}

# An archive of the C library: with cargo-c, the files that a package manager would install; without it, the header and the built libraries.
c() {
    local name=xla_shape_c-$version-$(rustc -vV | sed -n 's/^host: //p') root
    root=$out/$name
    rm -rf "$root" && mkdir -p "$root"
    if command -v cargo-cinstall >/dev/null; then
        cargo cinstall --release --locked -p xla-shape-c --prefix=/usr --destdir="$root"
    else
        echo "NOT as cargo-c installs it: cargo install --locked cargo-c"
        cargo build --release --locked -p xla-shape-c
        mkdir -p "$root/lib"
        cp -r crates/c/include "$root"
        find target/release -maxdepth 1 -name 'libxla_shape_c.*' ! -name '*.d' -exec cp {} "$root/lib" \;
    fi
    cp LICENSE-* python/LICENSES-OF-CRATES.txt "$root"
    tar -C "$out" -czf "$out/$name.tar.gz" "$name" && rm -rf "$root"
}

# Checks that all linked crates may be distributed, and that the file with their licences is complete.
licences() {
    command -v cargo-deny >/dev/null || fail "cargo install --locked cargo-deny"
    cargo deny check bans licenses sources
    python3 scripts/wheel_check.py
    git diff --exit-code -- python/LICENSES-OF-CRATES.txt || fail "python/LICENSES-OF-CRATES.txt was not up to date"
}

checksums() {
    (cd "$out" && find . -type f ! -name SHA256SUMS ! -path './site/*' -print0 | sort -z | xargs -0 -r sha256sum >SHA256SUMS && cat SHA256SUMS)
}

for part; do
    [[ " ${PARTS[*]} " == *" $part "* ]] || fail "expected one of ${PARTS[*]}, found $part"
    printf '\n== %s\n' "$part"
    "$part"
done
