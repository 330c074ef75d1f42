#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one bench of two builds in turn, A B A B …, and prints how B compares with A.

usage: compare.py BUILD_A BUILD_B BENCH FILE [--runs N] [-- OPTIONS OF THE BENCH]

BUILD_A and BUILD_B are build folders (build/release), BENCH a name as bench_load. Every figure of the bench's
JSON is compared run by run, so that what else the machine does meanwhile hits both: the ratio is B over A, its
median and the smallest and largest of the runs. Below 1 is less time, or less memory.
"""
import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path


def run(build, bench, file, options):
    program = Path(build) / "bench" / bench
    done = subprocess.run([program, "--json", *options, file], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{program} ended with {done.returncode}")
    lines = json.loads(done.stdout.splitlines()[-1])["lines"]
    return {(line, name): value for line, figures in lines.items() for name, value in figures.items()}


def main():
    words = sys.argv[1:]
    options = words[words.index("--") + 1:] if "--" in words else []
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("build_a", "build_b", "bench", "file"):
        parser.add_argument(name)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args(words[:words.index("--")] if "--" in words else words)
    pairs = []
    for turn in range(given.runs):
        pairs.append(tuple(run(build, given.bench, given.file, options)
                           for build in (given.build_a, given.build_b)))
        print(f"run {turn + 1} of {given.runs} done", file=sys.stderr)
    width = max(len(line) for line, _ in pairs[0][0])
    print(f"{'':{width}}  {'figure':16} {'A':>12} {'B':>12} {'B / A':>7}   runs")
    for line, name in pairs[0][0]:
        values = [(a[line, name], b[line, name]) for a, b in pairs
                  if a.get((line, name)) and (line, name) in b]
        if not values or name in ("times", "events", "allocations"):
            continue
        ratios = sorted(b / a for a, b in values)
        middle_a = statistics.median(a for a, _ in values)
        middle_b = statistics.median(b for _, b in values)
        print(f"{line:{width}}  {name:16} {middle_a:12.2f} {middle_b:12.2f} {statistics.median(ratios):7.3f}"
              f"   {ratios[0]:.3f} … {ratios[-1]:.3f}")


if __name__ == "__main__":
    main()
