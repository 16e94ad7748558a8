"""Finds ablations among the runs: the full configuration of a method, and runs without a part of it.

Told by ``run.json`` alone: the full configuration has the method's default in every
option in which the runs differ. Runs that differ in nothing but the seed are repetitions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.naming import flat
from kgqa.evaluation.report.pairs import seed_of, side_by_side

if TYPE_CHECKING:
    from kgqa.evaluation.comparison import Comparison
    from kgqa.session.context import Context

_NO_OPTION = frozenset({"method", "model", "hash", "kg"})
"""What else a configuration names: runs of an ablation share it."""

Runs = Mapping[object, Entry]
"""The runs of one configuration by their seed."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A configuration beside the full one: its runs, and the full ones of the same seeds."""

    name: str
    about: str
    """What the option that is switched off does; empty for any other change."""
    part: bool
    """Whether one option that is on by default is off, and nothing else differs."""
    full: tuple[Entry, ...]
    runs: tuple[Entry, ...]
    comparison: "Comparison"
    """The full configuration less this one: what the part contributes."""


GIVEN = ("blueprints", "encoder", "exemplars", "overlay")
"""Options that name what a method works with; the runs of an ablation share them."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """The full configuration of a method on one model, and its variants, parts first."""

    full: tuple[Entry, ...]
    variants: tuple[Variant, ...]


def ablations(entries: Sequence[Entry]) -> list[Ablation]:
    """Find the ablations among the runs on one dataset, as far as their answers are scored."""
    together: dict[object, list[Entry]] = {}
    for entry in entries:
        if entry.judged:
            together.setdefault(_shared(entry), []).append(entry)
    found = (_ablation(runs) for runs in together.values() if len(runs) > 1)
    return [one for one in found if one and one.variants]


def _shared(entry: Entry) -> object:
    """Give what the runs of an ablation have in common."""
    run = entry.run
    config = run.about.get("config") or {}
    given = (config.get(name) for name in GIVEN)
    part = (run.dataset.get("split"), run.dataset.get("limit"), run.about.get("graph"), *given)
    return run.method, model_of(entry)[0], run.about.get("kgqa"), *map(str, part)


def model_of(entry: Entry) -> tuple[str, int]:
    """Give the model of a run without its seed, and the seed, where the model is simulated."""
    from kgqa.evaluation.simulation.errors import parse

    try:
        errors = parse(entry.run.model)
    except ValueError:
        return entry.run.model, 0
    return str(replace(errors, seed=0)), errors.seed


def _ablation(entries: Sequence[Entry]) -> Ablation | None:
    from kgqa.graphs import METHODS, context_of

    if entries[0].run.method not in METHODS:
        return None
    context = context_of(entries[0].run.method)
    configured: dict[tuple[tuple[str, str], ...], dict[object, Entry]] = {}
    for entry in entries:
        runs = configured.setdefault(tuple(_changed(entry, context).items()), {})
        runs.setdefault((seed_of(entry), model_of(entry)[1]), entry)
    usual = set.intersection(*map(set, configured))
    full = next((runs for changed, runs in configured.items() if set(changed) == usual), None)
    if full is None:
        return None
    variants = (
        _variant({key: value for key, value in changed if (key, value) not in usual}, full, runs, context)
        for changed, runs in configured.items()
        if runs is not full
    )
    compared = sorted(filter(None, variants), key=lambda variant: not variant.part)
    return Ablation(tuple(full.values()), tuple(compared))


def _changed(entry: Entry, context: "type[Context]") -> dict[str, str]:
    """Give the options of a run that do not have their default."""
    defaults = dict(_options(context(kg=("sample",), model="offline").config()))
    return {key: value for key, value in _options(entry.run.config) if value != defaults.get(key)}


def _options(config: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    yield from flat({key: value for key, value in config.items() if key not in _NO_OPTION})


def _variant(changed: Mapping[str, str], full: Runs, runs: Runs, context: "type[Context]") -> Variant | None:
    from kgqa.evaluation.comparison import compare_judged

    pairs = [(full[seed], run) for seed, run in runs.items() if seed in full]
    if not pairs:
        return None
    part = _part(changed, context)
    return Variant(
        f"without {part}" if part else ", ".join(f"{key}={value}" for key, value in changed.items()),
        (context.model_fields[part].description or "") if part else "",
        part is not None,
        tuple(one for one, _ in pairs),
        tuple(other for _, other in pairs),
        compare_judged([side_by_side(*pair) for pair in pairs], seed_of(pairs[0][0])),
    )


def _part(changed: Mapping[str, str], context: "type[Context]") -> str | None:
    """Give the option that is switched off; None where anything else is changed."""
    ((option, value), *others) = changed.items()
    field = context.model_fields.get(option)
    return option if not others and value == "false" and field and field.default is True else None
