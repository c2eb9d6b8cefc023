#!/usr/bin/env python3
"""Compares what the guide says of costs with the rows of BENCHMARKS.md that it speaks of.

A claim is a row with the figures of a loop by hand, of ours and of the best other library, or a phrase with one figure. A
difference of less than one, or of one in a hundred, does not count: the random part of an async retry is as large.
"""
import pathlib
import re
import sys

PAGE = "docs/guide/src/costs.md"
# A phrase of the page, the row, and whose figures follow it.
CLAIMS = [
    (r"\| sync success \|", "sync success, Result<u64, Fault>", ["hand", "ours", "best"]),
    (r"\| async success, one suspension \|", "async success, pending once", ["hand", "ours", "best"]),
    (r"\| sync retry without a delay \|", "sync retry, no delay, Fault", ["hand", "ours", "best"]),
    (r"\| async retry, tokio's timer \|", "async retry, tokio timer, first", ["hand", "ours", "best"]),
    (r"Retry in a tower layer:", "service retry, no delay", ["ours"]),
    (r"Retry in a tower layer: \d+, tower's own", "service retry, no delay", ["tower"]),
    (r"Refusal by an open breaker:", "open breaker, refusal", ["ours"]),
    (r"Refusal by an open breaker: \d+, failsafe", "open breaker, refusal", ["failsafe"]),
]
NO_JITTER = {"tryhard", "retrying", "retry-if"}
OWN = {"bare", "hand", "ours", "ours, alias", "ours, no jitter", "remark"}


def table():
    """The figures of the table `per call`, by row and column."""
    rows, columns = {}, None
    for line in pathlib.Path("BENCHMARKS.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if columns is None:
            columns = cells if cells[0] == "per call" else None
        elif not line.startswith("|"):
            break
        elif not cells[0].startswith("---"):
            figures = {name: float(cell) for name, cell in zip(columns[1:-1], cells[1:-1]) if cell != "-"}
            # The worse one, however the return type is spelled.
            figures["ours"] = max(figures.get("ours", 0), figures.get("ours, alias", 0))
            others = {name: figure for name, figure in figures.items() if name not in OWN}
            figures["without jitter"] = min(others.values(), default=0)
            figures["best"] = min((figure for name, figure in others.items() if name not in NO_JITTER), default=0)
            rows[cells[0]] = figures
    return rows


rows, wrong = table(), []
page = " ".join(pathlib.Path(PAGE).read_text().split())
for phrase, row, names in CLAIMS:
    figures = r" \| ".join([r"(\d+)"] * len(names))
    said = re.search(rf"{phrase} ?{figures}", page)
    if row not in rows:
        wrong.append(f"BENCHMARKS.md has no row `{row}`")
    elif said is None:
        wrong.append(f"{PAGE} does not say `{phrase}` with {names} any more; take it out of scripts/claims.py")
    else:
        for name, figure in zip(names, said.groups()):
            measured = rows[row][name]
            if abs(int(figure) - measured) > max(1, measured / 100):
                wrong.append(f"{PAGE} says {figure} for {name} of `{row}`, and {measured} was measured")
print("\n".join(wrong) if wrong else f"{len(CLAIMS)} claims on costs are rows of BENCHMARKS.md")
sys.exit(bool(wrong))
