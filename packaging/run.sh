#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: packaging/run.sh [PATH…]
# Installs what is missing, builds Tidemark and opens PATH… (snapshot files or folders) in its window.
# Without a display it writes pictures of each PATH, or of the bundled sample, into the current folder.
set -eu
# shellcheck source=packaging/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

case "${1-}" in
-h | --help)
    sed -n '3,5s/^# //p' "$(readlink -f -- "$0")"
    exit 0
    ;;
esac

packages=("${build_packages[@]}")
# X11 needs nothing more; a session that is Wayland alone needs Qt's plugin for it.
[ -n "${DISPLAY-}" ] || [ -z "${WAYLAND_DISPLAY-}" ] || packages+=(qt6-wayland)
ensure_packages "${packages[@]}"
build_preset release tidemark
tidemark=$root/build/release/tidemark

if [ -n "${DISPLAY-}${WAYLAND_DISPLAY-}" ]; then
    say "opening the window"
    exec "$tidemark" "$@"
fi

say "no display (neither DISPLAY nor WAYLAND_DISPLAY is set): writing pictures instead of opening a window"
[ $# -gt 0 ] || set -- "$root/resources/samples/training.pickle.gz"
files=()
for path in "$@"; do
    # A picture is of one file; of a folder each file gets its own.
    if [ -d "$path" ]; then
        for file in "$path"/*; do
            case "$file" in
            *.yaml | *.yml | *.txt | *.md | */run.json | */expected.json) ;; # settings and notes beside snapshots
            *) [ ! -f "$file" ] || files+=("$file") ;;
            esac
        done
    else
        files+=("$path")
    fi
done
status=0
for file in "${files[@]}"; do
    "$tidemark" info "$file" || { status=$?; continue; }
    name=$(basename -- "$file") # whole: rank0.pickle and rank0.json are two
    for view in timeline segments; do
        # It prints the name of the file that it wrote.
        "$tidemark" render "$file" --view "$view" --size 1600x900 -o "$PWD/$name-$view.png" || status=$?
    done
done
exit "$status"
