#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: packaging/check.sh
# Checks the sources as text: formatting (clang-format 14), licence headers, shell scripts, no paths of somebody's machine.
set -eu
# shellcheck source=packaging/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

ensure_packages git clang-format shellcheck
cd -- "$root"
failed=0
report() { # report WHAT LINES
    [ -n "$2" ] || { say "$1: fine"; return 0; }
    printf '%s\n' "$2"
    say "$1: $(printf '%s\n' "$2" | wc -l) to mend"
    failed=1
}
# files PATTERN…: those that git knows or would add, as they are on disk.
files() { git ls-files -z --cached --others --exclude-standard -- "$@" | sort -zu; }

case "$(clang-format --version)" in
*"version 14."*)
    report "formatting (repair: clang-format -i FILE)" "$(files '*.cpp' '*.hpp' \
        | xargs -0r clang-format --dry-run 2>&1 | sed -n 's/: warning: code should be clang-formatted.*//p')"
    ;;
*) report "formatting" "clang-format 14 is needed, this is $(clang-format --version)" ;;
esac

report "licence headers (line 1 or 2: SPDX-License-Identifier: GPL-3.0-or-later)" "$(
    files '*.cpp' '*.hpp' '*.cmake' '*CMakeLists.txt' '*.sh' '*.py' .ci/run | while IFS= read -r -d '' file; do
        head -n 2 -- "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || printf '%s\n' "$file"
    done
)"

report "shell scripts" "$(files '*.sh' .ci/run | xargs -0r shellcheck -x --format=gcc || true)"

# Text must make sense on every machine. Invented paths, as in fixtures and samples, start elsewhere.
report "no paths of one machine" "$(files | xargs -0r grep -nIE '(^|[^[:alnum:]_./-])/(wo[r]k|roo[t]|fa[r]m)/' || true)"

exit "$failed"
