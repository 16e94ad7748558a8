"""Names runs by what tells them apart."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kgqa.evaluation.report.runs import Run
from kgqa.kg.terms import one_line

LABEL = 60
"""Characters of a run's name at most."""

_SAID_ELSEWHERE = frozenset({"method", "model", "hash"})


def settings(run: Run) -> dict[str, str]:
    """Give every option of a run as text, groups flattened (``budget.llm_calls``).

    What else was chosen for the run stands beside them: seed, graph, split, limit
    and the version of kgqa.
    """
    options = {key: value for key, value in run.config.items() if key not in _SAID_ELSEWHERE}
    chosen = {
        "seed": run.about.get("seed"),
        "graph": run.about.get("graph"),
        "split": run.dataset.get("split"),
        "limit": run.dataset.get("limit"),
        "kgqa": run.about.get("kgqa"),
    }
    return dict(flat({**chosen, **options}))


def differing(runs: Sequence[Run]) -> list[dict[str, str]]:
    """Give for each run the settings that are not the same in all runs.

    An option that only some methods have is no difference within those methods.
    """
    per_run = [settings(run) for run in runs]
    values: dict[str, set[str]] = {}
    for given in per_run:
        for key, value in given.items():
            values.setdefault(key, set()).add(value)
    differ = {key for key, seen in values.items() if len(seen) > 1}
    return [{key: value for key, value in given.items() if key in differ} for given in per_run]


class Name(NamedTuple):
    """What a run is called: in full; in a plot, where there is little room; and without its model."""

    full: str
    short: str
    variant: str


def names(runs: Sequence[Run]) -> list[Name]:
    """Give each run a name of its own: method, model, and options as far as they are not the usual ones."""
    several_models = len({run.model for run in runs}) > 1
    several_methods = len({run.method for run in runs}) > 1
    named, short, variants = [], [], []
    for run, options in zip(runs, _unusual(differing(runs)), strict=True):
        chosen = [f"{key}={value}" for key, value in options.items() if key not in ("seed", "graph")]
        model = [run.model] if several_models else []
        named.append(one_line(" · ".join([run.method, *model, *chosen]), LABEL))
        method = [run.method] if several_methods or not model + chosen else []
        short.append(" · ".join([*method, *chosen, *(name.rpartition(":")[2] for name in model)]))
        variants.append(" · ".join([run.method, *chosen]))
    return list(map(Name, _distinct(named, runs), short, variants))


def _unusual(options: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Leave the options that most runs do not have; of values that are as frequent the first is usual."""
    usual: dict[str, str] = {}
    for key in dict.fromkeys(key for given in options for key in given):
        usual[key] = Counter(given[key] for given in options if key in given).most_common(1)[0][0]
    return [{key: value for key, value in given.items() if value != usual[key]} for given in options]


def _distinct(named: Sequence[str], runs: Sequence[Run]) -> Iterable[str]:
    """Add the folder's name where two runs would be called the same."""
    times = Counter(named)
    for name, run in zip(named, runs, strict=True):
        yield name if times[name] == 1 else one_line(f"{name} ({run.folder.resolve().name})", LABEL)


def flat(options: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Give options as text, groups flattened (``budget.llm_calls``)."""
    for key, value in options.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
