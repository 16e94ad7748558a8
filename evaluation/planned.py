"""What the trace of a record tells of a plan in steps: its verification, its revisions, its tokens (VoG).

A trace may be anybody's: an entry that is not of the form of ours is left out.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeGuard, get_args

from kgqa.evaluation.judging import Judged
from kgqa.evaluation.result import Result
from kgqa.evaluation.steps import entries

Source = Literal["none", "model", "nli", "both"]
"""Who gave a signal to revise."""

SOURCES: tuple[Source, ...] = get_args(Source)

STAGES = {
    "planning": ("plan",),
    "retrieval": ("prune", "filter"),
    "verification": ("verify",),
    "revision": ("revise",),
    "other": (),
}
"""The stages of Figure 6 and the nodes that ask the model in each; ``other`` is any other node."""


class Planned(NamedTuple):
    """A plan as the trace tells of it."""

    answers: tuple[str, ...]
    steps: int | None
    """How many searches it has; None where it is not told."""
    arm: str | None
    """What it was revised by; None for the first plan."""


class Verified(NamedTuple):
    """The verification of one step."""

    step: int
    source: Source
    """Who gave a signal, whether or not it was heeded."""
    revises: bool
    """Whether the plan was to be revised: the decision."""
    verifier: str | None
    """What stood for the NLI verifier: ``rules``, or the name of a model; None where none was asked."""


class Revised(NamedTuple):
    """The reward of one revision (VoG equations 3 and 4), and what it was made of."""

    arm: str
    answers: tuple[str, ...]
    before: tuple[str, ...]
    """The answers of the plan that was in force."""
    reward: float
    task: float
    entropy: float
    accepted: bool
    empty: bool
    """Whether the step had observed nothing: no threshold decides on such a plan."""


class Case(NamedTuple):
    """A question with a plan in steps, and all that its trace tells of it, in its order."""

    mark: Judged
    first: Planned
    """The plan that the search began with."""
    last: Planned | None
    """The plan in force at the end; None where the search did not get there."""
    verified: list[Verified]
    revised: list[Revised]
    chosen: Counter[str]
    """How often each arm was chosen, with what came to nothing too: N_c."""
    tokens: Counter[str]
    """Tokens by stage, input and output together."""


def case_of(mark: Judged) -> Case | None:
    """Read a question's trace; None where it tells of no plan in steps."""
    result = mark.result
    first = _first(result) if result else None
    if not (result and first):
        return None
    return Case(
        mark, first, _last(result), _verified(result), revisions(result), _chosen(result), _tokens(result)
    )


def revisions(result: Result) -> list[Revised]:
    """Give the revisions of a question that have a reward."""
    found = (_revised(entry) for entry in entries(result, "appraise"))
    return [one for one in found if one]


def _first(result: Result) -> Planned | None:
    found = (_plan(entry, None) for entry in entries(result, "plan"))
    return next((plan for plan in found if plan and plan.steps is not None), None)


def _last(result: Result) -> Planned | None:
    ends = (entry.get("plan") for entry in entries(result, "answer"))
    found = (_plan(end, end.get("arm")) for end in ends if isinstance(end, Mapping))
    return next((plan for plan in found if plan), None)


def _verified(result: Result) -> list[Verified]:
    return [
        Verified(
            step,
            _source(signals),
            entry.get("decision") == "refine",
            name if isinstance(name := entry.get("verifier"), str) else None,
        )
        for entry in entries(result, "verify")
        if isinstance(signals := entry.get("signals"), Mapping) and _counts(step := entry.get("step"))
    ]


def _chosen(result: Result) -> Counter[str]:
    arms = (entry.get("arm") for entry in entries(result, "revise"))
    return Counter(arm for arm in arms if isinstance(arm, str))


def _tokens(result: Result) -> Counter[str]:
    spent: Counter[str] = Counter()
    for entry in entries(result):
        used = entry.get("tokens")
        if isinstance(used, list) and all(map(_counts, used)):
            spent[_stage(entry.get("node"))] += sum(used)
    return spent


def _stage(node: object) -> str:
    return next((stage for stage, nodes in STAGES.items() if node in nodes), "other")


def _plan(told: Mapping[str, object], arm: object) -> Planned | None:
    answers, steps = _texts(told.get("answers")), told.get("steps")
    if answers is None or not isinstance(arm, str | None):
        return None
    return Planned(answers, steps if _counts(steps) else None, arm)


def _source(signals: Mapping[str, object]) -> Source:
    model, nli = (signals.get(who) is True for who in ("model", "nli"))
    if model and nli:
        return "both"
    return "model" if model else "nli" if nli else "none"


def _revised(entry: Mapping[str, object]) -> Revised | None:
    arm, answers, before = entry.get("arm"), _texts(entry.get("answers")), _texts(entry.get("before"))
    reward, task, entropy = (entry.get(key) for key in ("reward", "task", "entropy"))
    if not isinstance(arm, str) or answers is None or before is None:
        return None
    if not (_fraction(reward) and _fraction(task) and _fraction(entropy)):
        return None
    accepted, empty = (entry.get(key) is True for key in ("accepted", "empty"))
    return Revised(arm, answers, before, reward, task, entropy, accepted, empty)


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    texts = tuple(each for each in value if isinstance(each, str))
    return texts if len(texts) == len(value) else None


def _counts(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _fraction(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
