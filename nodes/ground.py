"""Answer: which of the plan's answers does the evidence show? (beyond VoG, which does not ask)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGError
from kgqa.kg.pages import Match
from kgqa.kg.terms import Chain, Literal, Path, Term
from kgqa.nodes.closing import closed, failure, from_memory, proved, unanswered
from kgqa.priors.agreement import answer_key, is_unanswered
from kgqa.prompts.candidates import XSD_INTEGER, number_of
from kgqa.session.planned import Planned, has_plan, observed
from kgqa.session.record import Ref, ref
from kgqa.session.state import Closing, Update
from kgqa.session.step import BudgetExceeded, Run, step

YES: Ref = {"id": "true", "name": "yes"}
NO: Ref = {"id": "false", "name": "no"}
UNKNOWN: Ref = {"id": None, "name": "unknown"}


@step("answer")
async def ground(state: Planned, run: Run) -> Closing:
    """Complete the record: what was retrieved proves an answer, the others are from the model's memory.

    With ``closed_book`` off only proved answers are given. A question that asks for yes or no
    has the verdict on the evidence. After a time-out there is no answer: evidence is missing.
    """
    if failure(state) or not has_plan(state):
        return closed(await unanswered(state, run), state, run)
    plan = state["plan"]
    arm = _last_arm(state)
    run.note["plan"] = {"steps": len(plan.steps), "answers": list(plan.answers), "arm": arm}
    if plan.whether and run.context.verification:
        return closed(_whether(state), state, run)
    return closed(await _grounded(state, list(plan.answers), run), state, run)


async def is_proved(state: Planned, run: Run) -> bool:
    """Tell whether the evidence shows any of the plan's answers, by its own name or by another."""
    names, shown = list(state["plan"].answers), _by_key(observed(state))
    names = [name for name in names if not is_unanswered([name])]
    if _counted(names, state) or any(_meant(name, shown, state) for name in names):
        return True
    for name in names:
        if await _by_alias(name, shown, state, run):
            return True
    return False


async def _grounded(state: Planned, names: list[str], run: Run) -> Update:
    """Prove as many answers as the evidence shows."""
    names = [name for name in names if not is_unanswered([name])]
    if counted := _counted(names, state):
        return {**proved(counted), "answers": [ref(Literal(names[0], XSD_INTEGER))], "outcome": "grounded"}
    shown = _by_key(observed(state))
    found = {name: _meant(name, shown, state) or await _by_alias(name, shown, state, run) for name in names}
    proofs = [path for paths in found.values() for path in paths]
    memory = from_memory([name for name, paths in found.items() if not paths])
    if "failure" in run.note:  # whether the graph knows the others by another name
        return {"answers": [], "outcome": "kg_unavailable", "paths": [], "evidence": []}
    if not run.context.closed_book:
        memory = []
    answers = [ref(term) for term in dict.fromkeys(path.end for path in proofs)]
    run.note["proved"] = len(found) - sum(not paths for paths in found.values())
    return {
        **proved(_with_other_topics(proofs, state)),
        "answers": [*answers, *memory],
        "outcome": "parametric" if memory else "grounded" if answers else "none",
    }


def _counted(names: list[str], state: Planned) -> list[Path]:
    """Give the paths to all that the last step chose, where a number counts them; else nothing.

    One thing is not counted, nor are values, what has no name, and what was cut.
    """
    if len(state["feedback"]) < len(state["plan"].steps) or state["truncated"]:
        return []
    ends = {path.end: path for path in reversed(state["frontier"])}
    things = all(end.name and number_of(end) is None for end in ends)
    return list(ends.values())[::-1] if things and len(ends) > 1 and names == [str(len(ends))] else []


def _by_key(paths: Sequence[Path]) -> dict[frozenset[str], list[Path]]:
    """Index paths by the name of the node they lead to, those along one chain together; the first counts."""
    found: dict[frozenset[str], dict[Path, Chain]] = {}
    for path in (begun for whole in paths for begun in _begun(whole)):
        if path.end.name:
            same = found.setdefault(answer_key([path.end.name]), {})
            if not same or next(iter(same.values())) == path.chain:
                same[path] = path.chain
    return {key: list(same) for key, same in found.items()}


def _meant(name: str, shown: dict[frozenset[str], list[Path]], state: Planned) -> list[Path]:
    """Give the paths to what an answer names: of several spelt alike those spelt so, and those chosen."""
    paths = shown.get(answer_key([name]), [])
    exact = [path for path in paths if path.end.name == name] or paths
    chosen = {path.end for path in state["frontier"]}
    return [path for path in exact if path.end in chosen] or exact


def _begun(path: Path) -> list[Path]:
    """Give a path and all that it begins with, the longest first."""
    return [Path(path.topic, path.steps[:size]) for size in range(len(path.steps), 0, -1)]


async def _by_alias(
    name: str, shown: dict[frozenset[str], list[Path]], state: Planned, run: Run
) -> list[Path]:
    """Give the paths to an entity that the graph knows by this name as well.

    One name is looked up for each step: however many answers there are, a step asks three queries at most.
    """
    looked_up = run.note.setdefault("looked_up", 0)
    if not shown or looked_up >= len(state["feedback"]):
        return []
    run.note["looked_up"] += 1
    try:
        matches: list[Match] = await run.use("find_entities", name=name, limit=5)
    except BudgetExceeded as error:
        run.note["limit"] = error.limit
        return []
    except KGError as error:
        run.failed(error)
        return []
    ids = {match.entity.id for match in matches if match.sure}
    return next(([path] for paths in shown.values() for path in paths if path.end.id in ids), [])


def _with_other_topics(proofs: list[Path], state: Planned) -> list[Path]:
    """Add the paths to the same answers from other topics."""
    ends = {path.end for path in proofs}
    have = {(path.topic, path.end) for path in proofs}
    others: dict[tuple[Term, Term], Path] = {}
    for whole in observed(state):
        for path in _begun(whole):
            key = (path.topic, path.end)
            if path.end in ends and key not in have:
                others.setdefault(key, path)
    return [*proofs, *others.values()]


def _whether(state: Planned) -> Update:
    verdict = state["verdict"] or "unknown"
    if verdict == "unknown":
        return {"answers": [UNKNOWN], "outcome": "none", "paths": [], "evidence": []}
    proof = proved([*state["favour"], *state["against"]])
    return {**proof, "answers": [YES if verdict == "yes" else NO], "outcome": "grounded"}


def _last_arm(state: Planned) -> str | None:
    taken = [entry["taken"] for entry in state["trace"] if "taken" in entry]
    return taken[-1] if taken else None
