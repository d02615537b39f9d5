"""Runs of one scenario in both kernels, compared cell by cell."""

from __future__ import annotations

import netlab as nl


def differences(one: nl.Run, other: nl.Run) -> list[str]:
    """Every cell of every table, and every file, in which two runs are not equal to the last bit."""
    found = []
    tables = [run.to_dict() for run in (one, other)]
    for table in tables:
        # Equal where it counts: what a cell holds is compared, not how its absence is written.
        table.update({f"more {name}": rows for name, rows in table.pop("more", {}).items()})
    names = [set(table) - {"settings", "artifacts"} for table in tables]
    if names[0] != names[1]:
        found.append(f"tables: {sorted(names[0])} and {sorted(names[1])}")
    for name in sorted(names[0] & names[1]):
        ours, others = (table[name] for table in tables)
        if len(ours) != len(others):
            found.append(f"{name}: {len(ours)} rows and {len(others)}")
        for place, (a, b) in enumerate(zip(ours, others, strict=False)):
            found += [f"{name} {place} {c}: {a[c]} and {b.get(c)}" for c in a if a[c] != b.get(c)]
    files = [{name: run.artifacts[name].read_bytes() for name in run.artifacts} for run in (one, other)]
    found += [f"{name}: other bytes" for name in {**files[0], **files[1]} if files[0].get(name) != files[1].get(name)]
    return found
