"""What facts show of a question's gold, to a model that plans its search in steps."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.judge import COMPUTED
from kgqa.kg.terms import Literal, Path
from kgqa.priors.guidance import spaced
from kgqa.prompts.candidates import aggregate
from kgqa.prompts.facts import claims
from kgqa.prompts.plans import STATEMENTS, PlanStep


def stages(path: Path) -> list[Path]:
    """Give what a path begins with: up to each of its nodes that has a name."""
    return [
        Path(path.topic, path.steps[:size])
        for size, (_, node) in enumerate(path.steps, 1)
        if node.name  # what has none is crossed in the same step
    ]


def stage(paths: Iterable[Path], number: int) -> list[Path]:
    """Give where paths are after so many steps of a search, each place once; -1: at the last one."""
    rows = [row for path in paths if (row := stages(path))]
    deepest = max(map(len, rows), default=0)
    place = deepest if number < 0 else number
    return list(dict.fromkeys(row[place - 1] for row in rows if len(row) >= place))


def abreast(groups: Iterable[Sequence[Path]]) -> list[Path]:
    """Put the paths from several topics in one list, in turns."""
    return [path for row in zip_longest(*groups) for path in row if path]


def predicting(paths: Sequence[Path]) -> PlanStep:
    """Write the step that leads to the ends of paths, in words of their last relations."""
    stated = claims(paths)[:STATEMENTS]
    sought = list(dict.fromkeys(_sought(path) for path in paths))[:2]
    return PlanStep(f"Find {' and '.join(sought)}.", " and ".join(sought), tuple(stated))


async def on_the_way(facts: Iterable[Path], case: Case) -> list[Path]:
    """Leave the facts along a chain that leads to the answers, or has led there."""
    return [path for path in facts if path.steps and await case.oracle.rests(path.chain)]


async def arrived(facts: Iterable[Path], case: Case) -> list[Path]:
    """Leave the facts at the end of a way to the answers."""
    return [path for path in facts if path.steps and () in await case.oracle.rests(path.chain)]


async def found(facts: Iterable[Path], case: Case) -> list[str]:
    """Name the gold answers that facts lead to, or that can be computed from those at the end of a way."""
    gold, ends = case.oracle.gold, list(dict.fromkeys(path.end for path in await arrived(facts, case)))
    marks = zip(ends, gold.mark(ends).right, strict=True)
    if right := list(dict.fromkeys(str(end) for end, is_gold in marks if is_gold)):
        return right
    if gold.verdict:
        return [gold.verdict] if ends else []
    values = [aggregate(take, ends) for take in COMPUTED] if gold.is_single else []
    return next(([str(value)] for value in values if value and gold.mark([value]).exact), [])


def still_right(answers: Iterable[str], case: Case) -> list[str]:
    """Leave the gold answers among some names."""
    return [answer for answer in answers if any(case.oracle.gold.mark([Literal(answer)]).right)]


def _sought(path: Path) -> str:
    start = max((place for place, node in enumerate(path.nodes[:-1]) if node.name), default=0)
    words = " ".join(spaced(hop.words) for hop, _ in path.steps[start:])
    return f"the {words} of {path.nodes[start]}"
