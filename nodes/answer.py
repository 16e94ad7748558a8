"""Answer: what is found, how it is proved, what it has cost."""

from kgqa.kg.errors import KGError
from kgqa.kg.terms import Chain, Term, Triple
from kgqa.models.errors import MalformedReply, ModelError
from kgqa.prompts.answer_directly import AnswerDirectly
from kgqa.session.record import VARIABLE, Fact, Outcome, PathStep, Ref, StoppedBy, fact, ref
from kgqa.session.state import Branch, Closing, State, Update
from kgqa.session.step import BudgetExceeded, Run, step
from kgqa.tools.arguments import chain_arguments

EVIDENCE = 50
"""Answers whose facts a record carries at most."""

_GROUNDED: tuple[Outcome, ...] = ("grounded", "grounded_inference")


@step("answer")
async def answer(state: State, run: Run) -> Closing:
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
        failed = failed or _timed_out(state)
        update = {"answers": [], "outcome": failed or "none", "paths": [], "evidence": []}
        if run.context.closed_book and not (failed or state["stopped_by"] or _unknown_topic(state)):
            update |= await _from_memory(state, run)
    run.note["outcome"] = update["outcome"]
    cut_by_depth: StoppedBy | None = "depth" if _cut_by_depth(state, update) else None
    stopped_by = state.get("stopped_by") or run.note.get("limit") or cut_by_depth
    return {
        **update,
        "id": state["record_id"],
        "method": run.context.method,
        "topics": [ref(topic) for topic in state["topic_entities"]],
        "stopped_by": stopped_by,
        "config": run.context.config(),
        "decision": "stop",
    }


async def _grounded(branches: list[Branch], run: Run) -> Update:
    last = branches[-1]
    answers: list[Term] = [last.value] if last.value else list(last.ends)
    proved = (last.value,) if last.value in last.ends else last.ends
    paths: list[list[PathStep]] = []
    evidence: list[Fact] = []
    for branch in branches:
        traced = await _traced(branch.chain, proved[:EVIDENCE], run)
        paths.append(_path(branch.chain, traced, proved))
        evidence += [fact(triple) for path in traced for triple in path]
    unique = {(f["head"]["id"], f["relation"], f["tail"]["id"]): f for f in evidence}
    return {
        "answers": list({(term.id, term.name): ref(term) for term in answers}.values()),
        "outcome": "grounded_inference" if last.verdict == "infer" else "grounded",
        "paths": paths,
        "evidence": list(unique.values()),
    }


async def _traced(chain: Chain, ends: tuple[Term, ...], run: Run) -> list[tuple[Triple, ...]]:
    try:
        paths: list[tuple[Triple, ...]] = await run.use("trace_chain", **chain_arguments(chain), ends=ends)
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


async def _from_memory(state: State, run: Run) -> Update:
    try:
        reply = await run.ask(AnswerDirectly(state["question"]))
    except MalformedReply as error:
        run.failed(error)
        return {}
    except BudgetExceeded as error:
        run.note["limit"] = error.limit
        return {}
    except ModelError as error:
        run.failed(error)
        return {"outcome": "model_unavailable"}
    names = [name for name in dict.fromkeys(map(str.strip, reply.answers)) if name]
    answers: list[Ref] = [{"id": None, "name": name} for name in names]
    return {"answers": answers, "outcome": "parametric"} if answers else {}


def _at_hand(state: State) -> list[Branch]:
    """Give the ends of a chain that the budget left unjudged."""
    named = tuple(c.term for c in state.get("candidates", []) if c.term.name)
    return [Branch(state["chain"], named, "filter")] if named and state.get("stopped_by") else []


def _timed_out(state: State) -> Outcome | None:
    """Tell a search that failed for a time-out of the graph from one that found nothing."""
    return "kg_unavailable" if any(entry.get("failure") == "KGTimeout" for entry in state["trace"]) else None


def _cut_by_depth(state: State, update: Update) -> bool:
    return update["outcome"] not in _GROUNDED and any(
        entry.get("limit") == "depth" for entry in state["trace"]
    )


def _unknown_topic(state: State) -> bool:
    """Tell a run that was given a topic which the graph does not have."""
    return "error" in state["trace"][0]
