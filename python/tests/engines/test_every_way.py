"""One audit, by every way in which its table can come: the same findings and the same evidence, to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import facts
import pandas as pd
import pytest
from test_engines import ENGINES, saved, tables
from test_sql import NAMES, audited, run


def in_parts(people: pd.DataFrame, folder: Path) -> Path:
    """The people in seven files of unequal length."""
    folder.mkdir()
    ends = [len(people) * (part + 1) * (part + 2) // 56 for part in range(7)]
    for part, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        people.iloc[start:end].to_parquet(folder / f"part-{part:05}.parquet", index=False)
    return folder


def merged_profiles(people: pd.DataFrame, settings: list[object], folder: Path) -> Path:
    """The people of three sites, each as its profiles, merged."""
    folder.mkdir()
    made = []
    for site in range(3):
        people.iloc[site::3].to_csv(folder / f"{site}.csv", index=False)
        made.append(written(folder / f"{site}.parquet", folder / f"{site}.csv", settings))
    return written(folder / "all.parquet", *made, settings)


def written(out: Path, *tables_and_settings: Any) -> Path:
    """Profiles, written by the command."""
    *paths, settings = tables_and_settings
    done = run("profiles", *paths, *settings[:2], "-o", out)
    assert done.returncode == 0, done.stderr
    return out


def test_the_audit_is_the_same_by_every_way(
    people: pd.DataFrame,
    parquet: Path,
    databases: Any,
    settings: list[object],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    whole = tmp_path / "whole.parquet"
    people.to_parquet(whole, index=False)
    found: dict[str, str] = {}

    def by_command(way: str, *where: object) -> None:
        found[way] = audited(*where, *settings, "--out", tmp_path / way)

    by_command("one file", whole)
    by_command("seven parts", in_parts(people, tmp_path / "parts"))
    by_command("profiles of three sites", merged_profiles(people, settings, tmp_path / "sites"))
    for name in NAMES:
        query, database = databases[name]
        by_command(f"sql: on {name}", query, "--database", database)
    for engine in ENGINES:
        table = tables(engine, parquet, request)
        # The same file of settings, which names the model.
        audit = facts.audit(None, table, config=settings[1], shuffles=39, resamples=20, progress=False)
        found[f"Python on {engine}"] = saved(audit, tmp_path)

    assert len(found) == 3 + len(NAMES) + len(ENGINES)
    expected = found["one file"]
    assert '"together"' in expected and '"intervals"' in expected, "there is evidence to compare"
    assert {way for way, text in found.items() if text != expected} == set()
