# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What run.sh and test.sh share: finding the repository, installing packages, building a preset.
# Sourced, never run. Callers have `set -eu` on.

root=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)

# To build the program, and to let it draw text.
# shellcheck disable=SC2034 # used by those who source this
build_packages=(g++ make cmake ninja-build pkg-config qt6-base-dev qt6-svg-dev qt6-qpa-plugins libqcustomplot-dev
    nlohmann-json3-dev libzstd-dev libxxhash-dev zlib1g-dev libyaml-cpp-dev libgl-dev fonts-dejavu-core)

say() { printf 'tidemark: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

# missing_packages NAME…: prints those that are not installed, one a line.
missing_packages() {
    # shellcheck disable=SC2016 # the format is dpkg-query's to expand
    dpkg-query -W -f '${Status} ${Package}\n' -- "$@" 2>/dev/null | sed -n 's/^install ok installed //p' \
        | grep -vxFf - <(printf '%s\n' "$@") || true
}

# ensure_packages NAME…: installs what is missing, and asks for nothing when all is there.
ensure_packages() {
    local missing=() as_root=()
    if ! command -v dpkg >/dev/null || ! command -v apt-get >/dev/null; then
        say "no apt-get here; going on with what is installed (Debian 12 would have: $*)"
        return
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "these packages are missing, and this is neither root nor is there sudo. As root, run:
  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
        as_root=(sudo)
    fi
    say "installing ${#missing[@]} packages: ${missing[*]}"
    # The package lists may be absent (a bare image) or out of date (a file that is gone): only then fetch them.
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 && return
    say "that did not work with the package lists at hand; fetching new ones"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2 \
        || die "apt-get update failed: is there a network, and do /etc/apt/sources.list(.d) name a mirror?"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 \
        || die "apt-get could not install: ${missing[*]}"
}

# build_preset PRESET [TARGET…]: configures where needed and builds into build/PRESET.
build_preset() {
    local preset=$1 target args=() fresh=() folder=$root/build/$1 home
    shift
    for target in "$@"; do args+=(--target "$target"); done
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt" 2>/dev/null || true)
    if [ ! -e "$folder/build.ninja" ] || [ "$home" != "$root" ]; then
        # A build folder that was copied along with the sources still points at its old home.
        [ -z "$home" ] || [ "$home" = "$root" ] || fresh=(--fresh)
        say "configuring build/$preset"
        (cd -- "$root" && cmake "${fresh[@]}" --preset "$preset" >&2) || die "configuring build/$preset failed, see above"
    fi
    say "building build/$preset"
    cmake --build "$folder" "${args[@]}" >&2 || die "building build/$preset failed, see above"
}
