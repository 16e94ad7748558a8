"""What facts show of a question's gold to a model that plans in steps, and steps that go wrong."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from kgqa.evaluation.simulation.chain_replies import COMPUTED_TAKES
from kgqa.evaluation.simulation.oracle import Case
from kgqa.kg.terms import Chain, Literal, Path
from kgqa.priors.candidate_ranking import relation_words
from kgqa.prompts.candidates import aggregate
from kgqa.prompts.facts import facts_as_statements
from kgqa.prompts.plans import MAX_STATEMENTS_SHOWN, PlanStep


def named_stages(path: Path) -> list[Path]:
    """Return what a path begins with: up to each of its nodes that has a name."""
    return [
        Path(path.topic, path.steps[:size])
        for size, (_, node) in enumerate(path.steps, 1)
        if node.name  # what has none is crossed in the same step
    ]


def paths_at_stage(paths: Iterable[Path], number: int) -> list[Path]:
    """Return where paths are after so many steps of a search, each place once; -1: at the last one."""
    rows = [row for path in paths if (row := named_stages(path))]
    deepest = max(map(len, rows), default=0)
    place = deepest if number < 0 else number
    return list(dict.fromkeys(row[place - 1] for row in rows if len(row) >= place))


def interleave(groups: Iterable[Sequence[Path]]) -> list[Path]:
    """Put the paths from several topics in one list, in turns."""
    return [path for row in zip_longest(*groups) for path in row if path]


def predict_step(paths: Sequence[Path]) -> PlanStep:
    """Write the step that leads to the ends of paths, in words of their last relations."""
    stated = facts_as_statements(paths)[:MAX_STATEMENTS_SHOWN]
    sought = list(dict.fromkeys(_search_text(path) for path in paths))[:2]
    return PlanStep(f"Find {' and '.join(sought)}.", " and ".join(sought), tuple(stated))


async def facts_on_gold_chain(facts: Iterable[Path], case: Case) -> list[Path]:
    """Leave the facts along a chain that leads to the answers, or has led there."""
    return [path for path in facts if path.steps and await case.oracle.rests(path.chain)]


async def facts_at_gold_end(facts: Iterable[Path], case: Case) -> list[Path]:
    """Leave the facts at the end of a way to the answers."""
    return [path for path in facts if path.steps and () in await case.oracle.rests(path.chain)]


async def name_found_answers(facts: Iterable[Path], case: Case) -> list[str]:
    """Name the gold answers that facts lead to, or that can be computed from those at the end of a way."""
    gold, ends = (
        case.oracle.gold,
        list(dict.fromkeys(path.end for path in await facts_at_gold_end(facts, case))),
    )
    marks = zip(ends, gold.mark(ends).right, strict=True)
    if right := list(dict.fromkeys(str(end) for end, is_gold in marks if is_gold)):
        return right
    if gold.verdict:
        return [gold.verdict] if ends else []
    values = [aggregate(take, ends) for take in COMPUTED_TAKES] if gold.is_single else []
    return next(([str(value)] for value in values if value and gold.mark([value]).exact), [])


def keep_right_answers(answers: Iterable[str], case: Case) -> list[str]:
    """Leave the gold answers among some names."""
    return [answer for answer in answers if any(case.oracle.gold.mark([Literal(answer)]).right)]


def _search_text(path: Path) -> str:
    start = max((place for place, node in enumerate(path.nodes[:-1]) if node.name), default=0)
    words = " ".join(relation_words(hop.words) for hop, _ in path.steps[start:])
    return f"the {words} of {path.nodes[start]}"


MAX_RELATIONS_TRIED = 5
"""Relations of a topic that are followed for a wrong answer at most."""

MAX_WRONG_ANSWERS = 3
"""Wrong answers that a plan gives at most."""

_OPPOSITE_VERDICTS = {"yes": ("no",), "no": ("yes",), "unknown": ("yes",)}
_FALLBACK_ANSWERS = ("somebody else",)


async def mislead_steps(steps: Sequence[PlanStep], case: Case, begin: int = 0) -> list[PlanStep]:
    """Predict of each step another relation, and names that are no answers.

    ``begin`` is the place of the first of them in its plan.
    """
    names = await draw_wrong_answers(case)
    topics = await case.oracle.topics()
    drawn = case.draws.shuffled("wrong words", await _wrong_relation_words(case))
    wrong = []
    for place, step in enumerate(steps, begin):
        words = relation_words(next(drawn, "thing"))
        heads = list(dict.fromkeys(head for head, _, _ in step.observation)) or list(map(str, topics))
        said = tuple((head, words, name) for head in heads[:MAX_WRONG_ANSWERS] for name in names[:1])
        sought = f"the {words} of {' and '.join(heads[:2]) or 'it'}"
        wrong.append(PlanStep(f"Find {sought}{', next' if place else ''}.", sought, said))
    return wrong


async def draw_wrong_answers(case: Case) -> tuple[str, ...]:
    """Draw names around a topic that are no answers; the opposite of a yes or no."""
    gold = case.oracle.gold
    if gold.verdict:
        return _OPPOSITE_VERDICTS[gold.verdict]
    for topic in await case.oracle.topics():
        hops = await case.oracle.cache.hops(Chain(topic))
        for _, hop in zip(
            range(MAX_RELATIONS_TRIED), case.draws.shuffled("wrong answers", hops), strict=False
        ):
            ends = await case.oracle.cache.ends(Chain(topic, (hop,)))
            marked = zip(ends, gold.mark(ends).right, strict=True)
            names = dict.fromkeys(end.name for end, right in marked if end.name and not right)
            if names:
                return tuple(filter(None, names))[: min(MAX_WRONG_ANSWERS, max(1, len(gold.names)))]
    return _FALLBACK_ANSWERS


async def _wrong_relation_words(case: Case) -> list[str]:
    """Return the words of all relations but those on the ways."""
    graph = case.oracle.cache.graph
    right = {hop.relation for plan in await case.oracle.plans() for hop in plan.hops}
    return [graph.relation_label(relation) for relation in graph.relations if relation not in right]
