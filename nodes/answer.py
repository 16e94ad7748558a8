"""Answer: what is found, how it is proved, what it has cost."""

import hashlib
from typing import Any

from kgqa.kg.errors import KGError
from kgqa.kg.terms import Chain, Term, Triple
from kgqa.models.errors import MalformedReply, ModelError
from kgqa.prompts.answer_directly import AnswerDirectly
from kgqa.session.record import VARIABLE, Fact, Outcome, PathStep, Ref, StoppedBy, fact, ref
from kgqa.session.state import Branch, State, Update
from kgqa.session.step import BudgetExceeded, Run, step
from kgqa.tools.arguments import hop_argument

EVIDENCE = 50
"""Answers whose facts a record carries at most."""


@step("answer")
async def answer(state: State, run: Run) -> Update:
    """Complete the record from working memory, or from the model where that is empty.

    When the budget ran out, candidates that were not judged yet are the evidence
    at hand. When the search has found nothing, the model may answer from memory
    (``closed_book``), and the record says ``parametric``.
    """
    branches = state.get("memory") or _at_hand(state)
    failed = state.get("outcome")
    if branches and not failed:
        update = await _grounded(branches, run)
    else:
        update = {
            "answers": [],
            "outcome": failed or _timed_out(state) or "none",
            "paths": [],
            "evidence": [],
        }
        if run.context.closed_book and not (failed or state.get("stopped_by") or _unknown_topic(state)):
            update |= await _from_memory(state, run, update["outcome"])
    run.note["outcome"] = update["outcome"]
    cut_by_depth: StoppedBy | None = "depth" if _cut_by_depth(state, update) else None
    stopped_by = state.get("stopped_by") or run.note.get("limit") or cut_by_depth
    return {
        **update,
        "id": state.get("id") or hashlib.sha256(state["question"].encode()).hexdigest()[:12],
        "method": run.context.method,
        "topics": [{"id": None, "name": t} if isinstance(t, str) else t for t in state.get("topics", [])],
        "stopped_by": stopped_by,
        "config": run.context.config(),
        "decision": "stop",
    }


async def _grounded(branches: list[Branch], run: Run) -> Update:
    last = branches[-1]
    answers: list[Term] = [last.value] if last.value else list(last.ends)
    paths: list[list[PathStep]] = []
    evidence: list[Fact] = []
    for branch in branches:
        traced = await _traced(branch.chain, last.ends[:EVIDENCE], run)
        paths.append(_path(branch.chain, traced, last.ends))
        evidence += [fact(triple) for path in traced for triple in path]
    unique = {(f["head"]["id"], f["relation"], f["tail"]["id"]): f for f in evidence}
    return {
        "answers": [ref(term) for term in answers],
        "outcome": "grounded",
        "paths": paths,
        "evidence": list(unique.values()),
    }


async def _traced(chain: Chain, ends: tuple[Term, ...], run: Run) -> list[tuple[Triple, ...]]:
    hops = [hop_argument(hop) for hop in chain.hops]
    try:
        paths: list[tuple[Triple, ...]] = await run.use(
            "trace_chain", topic=chain.topic.id, hops=hops, ends=ends
        )
    except (BudgetExceeded, KGError) as error:
        run.note["evidence"] = f"left out: {error}"
        if isinstance(error, BudgetExceeded):
            run.note["limit"] = error.limit
        return []
    return paths


def _path(chain: Chain, traced: list[tuple[Triple, ...]], ends: tuple[Term, ...]) -> list[PathStep]:
    """Draw the chain; a node on the way is named where all answers share it."""
    nodes = [ref(chain.topic), *(_shared(traced, ends, chain, at) for at in range(chain.depth))]
    return [
        {"head": nodes[at], "relation": hop.relation, "forward": hop.forward, "tail": nodes[at + 1]}
        for at, hop in enumerate(chain.hops)
    ]


def _shared(traced: list[tuple[Triple, ...]], ends: tuple[Term, ...], chain: Chain, at: int) -> Ref:
    if len(traced) < len(ends) or not all(traced):
        return VARIABLE
    forward = chain.hops[at].forward
    nodes = {path[at].tail if forward else path[at].head for path in traced}
    return ref(nodes.pop()) if len(nodes) == 1 else VARIABLE


async def _from_memory(state: State, run: Run, otherwise: Outcome) -> Update:
    try:
        reply = await run.ask(AnswerDirectly(state["question"]))
    except MalformedReply as error:
        run.note["error"] = f"MalformedReply: {error}"
        return {"outcome": otherwise}
    except BudgetExceeded as error:
        run.note["limit"] = error.limit
        return {"outcome": otherwise}
    except ModelError as error:
        run.note["error"] = f"{type(error).__name__}: {error}"
        return {"outcome": "model_unavailable"}
    names = [name for name in dict.fromkeys(map(str.strip, reply.answers)) if name]
    answers: list[Ref] = [{"id": None, "name": name} for name in names]
    return {"answers": answers, "outcome": "parametric" if answers else otherwise}


def _at_hand(state: State) -> list[Branch]:
    """Give the ends of a chain that the budget left unjudged."""
    named = tuple(c.term for c in state.get("candidates", []) if c.term.name)
    return [Branch(state["chain"], named, "filter")] if named and state.get("stopped_by") else []


def _timed_out(state: State) -> Outcome | None:
    """Tell a search that failed for a time-out of the graph from one that found nothing."""
    return "kg_unavailable" if any("KGTimeout" in _error(entry) for entry in state["trace"]) else None


def _cut_by_depth(state: State, update: Update) -> bool:
    return update["outcome"] != "grounded" and any(entry.get("limit") == "depth" for entry in state["trace"])


def _unknown_topic(state: State) -> bool:
    """Tell a run that was given a topic which the graph does not have."""
    return "error" in state["trace"][0]


def _error(entry: dict[str, Any]) -> str:
    return str(entry.get("error", ""))
