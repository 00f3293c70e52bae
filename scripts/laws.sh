#!/usr/bin/env bash
# Looks for counterexamples to the property tests: scripts/laws.sh [CASES [FILTER…]], 5,000 random cases each by default, other ones in
# every run. `cargo test` runs 64, and the same each time. The tests of long texts, large arrays and many programs take their larger data here, too,
# and those of typed arrays the whole tables of layouts; all packages have debug assertions.
#
# To reproduce a finding, run the test again with the PROPTEST_RNG_SEED and PROPTEST_CASES that this prints.
set -euo pipefail
cd "$(dirname "$0")/.."
export PROPTEST_CASES=${1:-5000} PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-$RANDOM$RANDOM}
shift || true
echo "PROPTEST_CASES=$PROPTEST_CASES PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED"
export CARGO_PROFILE_TEST_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=true
cargo test -p xla-shape-tests --features laws --target-dir target/laws --no-fail-fast -- "$@"
