#!/usr/bin/env python3
"""Compares what `reattempt-benches --bounds --markdown` writes with the table in BENCHMARKS.md.

A row may be 5 instructions or bytes above what is committed there; a row that is missing is an error.
"""
import pathlib
import sys

SLACK = 5


def rows(text):
    """What `ours` is in each row of the first table of bounds."""
    found = {}
    columns = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if columns is None:
            if cells[0] == "bounds":
                columns = cells
        elif not line.startswith("|"):
            break
        elif not cells[0].startswith("---"):
            found[cells[0]] = float(cells[columns.index("ours")])
    return found


committed = rows(pathlib.Path("BENCHMARKS.md").read_text())
measured = rows(sys.stdin.read())
worse = [
    f"{name}: {measured.get(name, 'not measured')}, and {bound} is committed"
    for name, bound in committed.items()
    if not measured.get(name, float("inf")) <= bound + SLACK
]
if not committed:
    worse.append("BENCHMARKS.md has no table of bounds")
print("\n".join(worse) if worse else f"{len(committed)} rows are at most {SLACK} above those of BENCHMARKS.md")
sys.exit(bool(worse))
