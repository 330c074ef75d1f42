#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: packaging/fuzz.sh [SECONDS [TARGET…]]
# Builds the fuzz targets and runs each for SECONDS (180), one after the other, with limits of time and memory for
# every input. What was learned stays in build/fuzz/corpus, what went wrong is kept in build/fuzz/findings.
set -eu
# shellcheck source=packaging/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

seconds=${1:-180}
[ $# -eq 0 ] || shift
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "usage: packaging/fuzz.sh [SECONDS [TARGET…]]"
ensure_packages "${build_packages[@]}" clang-14 libclang-rt-14-dev llvm-14
[ -n "${TIDEMARK_FUZZ_BUILT:-}" ] || build_preset fuzz fuzzers
build=$root/build/fuzz
if [ $# -gt 0 ]; then
    targets=("$@")
else
    targets=()
    for program in "$build"/fuzz/fuzz_*; do
        case "$program" in *fuzz_make_seeds) ;; *) targets+=("${program##*/fuzz_}") ;; esac
    done
fi
"$build/fuzz/fuzz_make_seeds" "$build/seeds"

# Largest input of a target, in bytes.
length_of() {
    case $1 in
    whole | html | json) echo 65536 ;;
    oom_text | labels) echo 4096 ;;
    *) echo 32768 ;;
    esac
}

table=
failed=0
for target in "${targets[@]}"; do
    corpus=$build/corpus/$target findings=$build/findings/$target log=$build/fuzz/$target.log
    mkdir -p "$corpus" "$build/seeds/$target" "$findings"
    say "fuzzing $target for $seconds s"
    status=0
    # symbolize: where a symboliser is, the report names lines.
    ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0 \
        UBSAN_OPTIONS=print_stacktrace=1 \
        "$build/fuzz/fuzz_$target" "$corpus" "$build/seeds/$target" -dict="$build/seeds/words.dict" \
        -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len="$(length_of "$target")" \
        -artifact_prefix="$findings/" -print_final_stats=1 >"$log" 2>&1 || status=$?
    figure() { sed -n "s/^stat::$1: *//p" "$log" | tail -n 1; }
    # "#123 DONE cov: 456 ft: 789 corp: …"; a run that ended early has other last lines.
    last=$(grep -oE 'cov: [0-9]+ ft: [0-9]+' "$log" | tail -n 1 || true)
    edges=$(cut -d' ' -f2 <<<"$last")
    features=$(cut -d' ' -f4 <<<"$last")
    outcome=none
    if [ "$status" -ne 0 ]; then
        failed=1
        outcome=$(grep -oE '^(SUMMARY|broken promise|==[0-9]+== ERROR): .*' "$log" | head -n 1 | cut -c1-100)
        outcome=${outcome:-"status $status"}
        say "$target: $outcome; input in ${findings#"$root"/}, report in ${log#"$root"/}"
    fi
    table+=$(printf '%-11s %12s %7s %9s %6s  %s' "$target" "$(figure number_of_executed_units)" "${edges:--}" \
        "${features:--}" "$(figure peak_rss_mb)" "$outcome")$'\n'
done

printf '%-11s %12s %7s %9s %6s  %s\n' target executions edges features MB crashes
printf '%s' "$table"
exit "$failed"
