#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a scenario of the outside test material, and beside each snapshot what its program knows of every allocation.

usage: scenario_truth.py TOOLS make SC-01 --out DIR ...      TOOLS: the folder with scenarios.py, the rest is its own

DIR/<snapshot>.truth has a line for each allocation made in the recorded events:
event, bytes, role, site, event of its free (-1: never), separated by tabs.
"""
import os
import sys

tools = sys.argv.pop(1)
sys.path.insert(0, tools)
import scenarios  # noqa: E402

known = {}
expectation, write_result = scenarios.file_expectation, scenarios.write_result


def remember(result):
    dump, end = result.dump, result.dump.first + len(result.dump.events)
    known[dump.file] = ["\t".join((str(t.born - dump.first), str(t.size), t.role, t.site,
                                   str(-1 if t.asked is None else t.asked - dump.first)))
                        for t in result.rank.tensors if dump.first <= t.born < end]
    return expectation(result)


def write(scenario, result, out, *rest):
    expected = write_result(scenario, result, out, *rest)
    for file in expected["files"]:
        with open(os.path.join(out, file["file"] + ".truth"), "w") as to:
            to.write("\n".join(known[file["file"]]) + "\n")
    return expected


scenarios.file_expectation, scenarios.write_result = remember, write
sys.exit(scenarios.main(sys.argv[1:]))
