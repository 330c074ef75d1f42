#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: packaging/test.sh [CTEST-ARGUMENT…]
# Installs what is missing, builds the dev preset with its tests and runs them all; needs no display.
set -eu
# shellcheck source=packaging/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

case "${1-}" in
-h | --help)
    sed -n '3,4s/^# //p' "$(readlink -f -- "$0")"
    exit 0
    ;;
esac

ensure_packages "${build_packages[@]}"
build_preset dev
say "running the tests"
cd -- "$root"
exec ctest --preset dev --parallel "$(nproc)" --no-tests=error "$@"
