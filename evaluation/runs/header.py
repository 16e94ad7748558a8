"""The head of a run, ``run.json``: what was asked of whom, so that nobody mixes two runs."""

import platform
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from kgqa.evaluation.datasets import Dataset
from kgqa.evaluation.runs.listing import RELATIONS
from kgqa.kg.terms import one_line

Json = Mapping[str, Any]

PACKAGES = ("langgraph", "langchain-core", "pydantic", "pyoxigraph", "numpy")
"""Packages whose versions a run names beside Python's."""

HELD = (RELATIONS, "graph", "blueprints", "exemplars")
"""What of a holding stands in a head beside the version."""

SHOWN = 100
"""Characters of a value that a difference shows at most."""

_HASH = "the config hash"


def header(
    config: Json,
    dataset: Dataset,
    *,
    source: str | None,
    split: str,
    limit: int | None,
    questions: int,
    holding: Mapping[str, str | None],
    seed: int,
) -> dict[str, Any]:
    """Make the content of ``run.json`` for a run that begins now.

    ``source`` is the dataset as it was named, None for one that was loaded before.
    ``holding`` tells what answers: the version, the graph, blueprints and exemplars, None without.
    """
    return {
        "kgqa": holding["kgqa"],
        "config": config,
        "dataset": {
            "name": dataset.name,
            "source": source,
            "format": dataset.format,
            "sha256": dataset.digest,
            "split": split,
            "limit": limit,
            "questions": questions,
        },
        **{key: holding[key] for key in HELD},
        "seed": seed,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def differences(recorded: Json, wanted: Json) -> list[str]:
    """Name what two runs would have to share to go into one folder and do not, each with both values.

    Raises:
        KeyError, TypeError, AttributeError: if ``recorded`` is no head of a run.
    """
    found = list(_differing("", _identity(recorded), _identity(wanted)))
    return [one for one in found if not one.startswith(_HASH)] or found


def _identity(head: Json) -> dict[str, Any]:
    config, dataset = dict(head["config"]), head["dataset"]
    return {
        _HASH: config.pop("hash"),
        **config,
        "split": dataset["split"],
        "format": dataset["format"],
        "the dataset's sha256": dataset["sha256"],
        "the graph's fingerprint": head["graph"],
        "the blueprints' fingerprint": head.get("blueprints"),
        "the exemplars' fingerprint": head.get("exemplars"),
        "seed": head["seed"],
    }


def _differing(group: str, recorded: Json, wanted: Json) -> Iterator[str]:
    for key in dict.fromkeys([*recorded, *wanted]):
        old, new = recorded.get(key), wanted.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differing(f"{group}{key}.", old, new)
        elif old != new:
            yield f"{group}{key} is {_shown(old)} there and {_shown(new)} here"


def _shown(value: object) -> str:
    said = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return one_line(said, SHOWN)
