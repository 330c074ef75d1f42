#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: packaging/sanitize.sh asan|tsan FOLDER…
# Builds and runs the tests of tests/FOLDER… under sanitizers. Only folders whose tests open no window: the window
# system's own libraries are not clean.
set -eu
# shellcheck source=packaging/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

[ $# -ge 2 ] || die "usage: packaging/sanitize.sh asan|tsan FOLDER…"
preset=$1
shift
ensure_packages "${build_packages[@]}"
build_preset "$preset" "${@/#/tests_}"
cd -- "$root"
run=()
# The thread sanitizer of GCC 12 does not start where the kernel scatters addresses widely.
if [ "$preset" = tsan ] && setarch -R true 2>/dev/null; then run=(setarch -R); fi
labels=$(printf '|%s' "$@")
exec "${run[@]}" ctest --preset "$preset" --parallel "$(nproc)" --no-tests=error -L "^(${labels#|})\$"
