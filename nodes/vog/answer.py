"""Answer: which of the plan's answers does the evidence show? (beyond VoG, which does not ask)."""

from collections.abc import Iterator, Sequence
from typing import cast

from kgqa.kg.errors import KGError
from kgqa.kg.pages import Match
from kgqa.kg.terms import Chain, Literal, Path, Term
from kgqa.nodes.answer import answer as shared_answer
from kgqa.nodes.claim import claim_update
from kgqa.nodes.proof import prove_ends
from kgqa.nodes.record import (
    answers_update,
    build_proof,
    complete_record,
    complete_without_proof,
    failure_outcome,
    group_ends,
    is_count_of,
)
from kgqa.nodes.vog.state import VoGState, is_cut, observations
from kgqa.priors.answer_agreement import answer_key, is_unanswered
from kgqa.prompts.candidates import XSD_INTEGER
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import Ref
from kgqa.runtime.state import FinalUpdate, Update

UNKNOWN: Ref = {"id": None, "name": "unknown"}


@node("answer")
async def answer(state: VoGState, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record from working memory, where the end of the plan has filled it (`conclude`).

    Else what was retrieved proves an answer of the plan, the others are from the model's memory.

    With ``allow_parametric`` off only proved answers are given. A question that asks for yes or no
    has the verdict on the evidence. After a time-out there is no answer, as evidence is missing, unless
    ``allow_parametric`` is "always".
    """
    if "plan" not in state:
        return await complete_without_proof(state, runtime)
    plan, always = state["plan"], runtime.context.allow_parametric == "always"
    if failure_outcome(state) and not (state["memory"] or (always and plan.answers)):
        return await complete_without_proof(state, runtime)
    told = {"steps": len(plan.steps), "answers": list(plan.answers), "arm": state["taken_arm"]}
    runtime.trace["plan"] = told
    if state["memory"]:
        return cast(FinalUpdate, await shared_answer.body(state, runtime))
    if plan.whether and runtime.context.verification and runtime.context.judge:
        return await complete_record(await _answer_yes_no(state, runtime), state, runtime)
    return await complete_record(await _prove_answers(state, runtime), state, runtime)


async def is_any_answer_proved(state: VoGState, runtime: NodeRuntime) -> bool:
    """Return whether the evidence shows any of the plan's answers, by its own name or by another."""
    names, shown = _given_names(state), _index_paths(observations(state))
    if _counted_paths(names, state) or any(_matching_paths(name, shown, state) for name in names):
        return True
    for name in names:
        if await _paths_by_alias(name, shown, state, runtime):
            return True
    return False


async def _prove_answers(state: VoGState, runtime: NodeRuntime) -> Update:
    """Prove as many answers as the evidence shows."""
    names = _given_names(state)
    if counted := _counted_paths(names, state):
        return await _update([Literal(names[0], XSD_INTEGER)], [], counted, state, runtime)
    shown = _index_paths(observations(state))
    found: dict[str, list[Path]] = {}
    for name in names:
        by_name = _matching_paths(name, shown, state)
        found[name] = by_name or await _paths_by_alias(name, shown, state, runtime)
    # the graph may know the others by another name
    if runtime.failure and runtime.context.allow_parametric != "always":
        return {"answers": [], "outcome": "kg_unavailable", "paths": [], "evidence": []}
    proofs = [path for paths in found.values() for path in paths]
    unproved = [name for name, paths in found.items() if not paths]
    proved = list(dict.fromkeys(path.end for path in proofs))
    runtime.trace["proved"] = len(found) - len(unproved)
    return await _update(proved, unproved, _add_other_topics(proofs, state), state, runtime)


async def _update(
    proved: list[Term], unproved: list[str], paths: list[Path], state: VoGState, runtime: NodeRuntime
) -> Update:
    """Return a record's answers and proof.

    Where the end of the plan has turned all down, or a budget has come before it, it is a guess.
    """
    chains = group_ends(paths)
    proof: Update = {**build_proof(chains, paths, proved), **await prove_ends(chains, proved, state, runtime)}
    if (state["concluded"] or state["stopped_by"]) and proof["outcome"] == "grounded":
        proof["outcome"] = "grounded_unverified"
    return answers_update(proved, unproved, proof, runtime)


def _given_names(state: VoGState) -> list[str]:
    return [name for name in state["plan"].answers if not is_unanswered([name])]


def _counted_paths(names: list[str], state: VoGState) -> list[Path]:
    """Return the paths to all that the last step chose, where a number counts them and nothing was cut."""
    if len(state["feedback"]) < len(state["plan"].steps) or is_cut(state):
        return []
    ends = {path.end: path for path in reversed(state["frontier"])}
    counted = len(names) == 1 and is_count_of(names[0], list(ends))
    return list(ends.values())[::-1] if counted else []


def _index_paths(paths: Sequence[Path]) -> dict[frozenset[str], list[Path]]:
    """Index paths by the name of the node they lead to, those along one chain together; the first counts."""
    found: dict[frozenset[str], dict[Path, Chain]] = {}
    for path in _prefixes(paths):
        if path.end.name:
            same = found.setdefault(answer_key([path.end.name]), {})
            if not same or next(iter(same.values())) == path.chain:
                same[path] = path.chain
    return {key: list(same) for key, same in found.items()}


def _prefixes(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield each path and all that it begins with, the longest first."""
    for path in paths:
        yield from (Path(path.topic, path.steps[:size]) for size in range(len(path.steps), 0, -1))


def _matching_paths(name: str, shown: dict[frozenset[str], list[Path]], state: VoGState) -> list[Path]:
    """Return the paths to what an answer names: of several spelt alike those spelt so, and those chosen."""
    paths = shown.get(answer_key([name]), [])
    exact = [path for path in paths if path.end.name == name] or paths
    chosen = {path.end for path in state["frontier"]}
    return [path for path in exact if path.end in chosen] or exact


async def _paths_by_alias(
    name: str, shown: dict[frozenset[str], list[Path]], state: VoGState, runtime: NodeRuntime
) -> list[Path]:
    """Return the paths to an entity that the graph knows by this name as well; one look-up for each step."""
    looked_up = runtime.trace.setdefault("looked_up", 0)
    if not shown or looked_up >= len(state["feedback"]):
        return []
    runtime.trace["looked_up"] += 1
    matches: list[Match] = []
    try:
        matches = await runtime.call_tool("find_entities", name=name, limit=5)
    except BudgetExceeded as error:
        runtime.trace["limit"] = error.limit
    except KGError as error:
        runtime.record_failure(error)
    ids = {match.entity.id for match in matches if match.sure}
    return next(([path] for paths in shown.values() for path in paths if path.end.id in ids), [])


def _add_other_topics(proofs: list[Path], state: VoGState) -> list[Path]:
    """Add the paths to the same answers from other topics."""
    ends = {path.end for path in proofs}
    have = {(path.topic, path.end) for path in proofs}
    others: dict[tuple[Term, Term], Path] = {}
    for path in _prefixes(observations(state)):
        if path.end in ends and (path.topic, path.end) not in have:
            others.setdefault((path.topic, path.end), path)
    return [*proofs, *others.values()]


async def _answer_yes_no(state: VoGState, runtime: NodeRuntime) -> Update:
    verdict = state["verdict"] or "unknown"
    if verdict == "unknown":
        return {"answers": [UNKNOWN], "outcome": "none", "paths": [], "evidence": []}
    return await claim_update(
        state["supporting"],
        state["against"],
        state["verdict_reason"],
        holds=verdict == "yes",
        state=state,
        runtime=runtime,
    )
