"""Where the blueprints of a run's questions are from, and how well each kind did (CoG, Table 7)."""

from collections.abc import Sequence

from kgqa.evaluation.accuracy import Group, Share, group, share
from kgqa.evaluation.judging import Judged
from kgqa.evaluation.statistics import intervals
from kgqa.evaluation.steps import blueprint_source

SOURCES = ("copied", "adapted", "nearest", "none")
"""Where a blueprint may be from, in the order in which the metrics have them."""


class Source(Group):
    """The questions whose blueprint is from one source, and the accuracy over the ``n`` scored ones."""

    questions: int
    share: Share
    """Of the questions for which a blueprint was looked for."""


def blueprints(judged: Sequence[Judged], seed: int) -> dict[str, Source] | None:
    """Measure by the source of the blueprint; None where no result tells of any."""
    told = [(mark, source) for mark in judged if mark.result and (source := blueprint_source(mark.result))]
    if not told:
        return None
    seen = {source for _, source in told}
    sources = [*(source for source in SOURCES if source in seen), *sorted(seen.difference(SOURCES))]
    rows = [[source == one for one in sources] for _, source in told]
    shares = intervals(rows, columns=len(sources), seed=seed)
    found: dict[str, Source] = {}
    for source, part in zip(sources, shares, strict=True):
        marks = [mark for mark, one in told if one == source]
        found[source] = {"questions": len(marks), "share": share(part), **group(marks, seed)}
    return found
