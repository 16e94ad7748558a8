"""Answer: what is found, how it is proved, what it has cost."""

from kgqa.kg.errors import KGError
from kgqa.kg.terms import Chain, Path, Term, Triple
from kgqa.nodes.closing import EVIDENCE, closed, failure, unanswered
from kgqa.session.record import VARIABLE, Fact, PathStep, Ref, fact, ref
from kgqa.session.state import Branch, Closing, Lead, State, Update
from kgqa.session.step import BudgetExceeded, Run, step
from kgqa.tools.arguments import chain_arguments


@step("answer")
async def answer(state: State, run: Run) -> Closing:
    """Complete the record from working memory, or from the model where that is empty.

    When the budget ran out, candidates that were not judged yet are the evidence
    at hand. When the search has found nothing, the model may answer from memory
    (``closed_book``), and the record says ``parametric``. After a time-out only what was judged
    to be enough is an answer: a choice from what is left may miss the right one.
    """
    branches = state.get("memory") or _at_hand(state)
    judged = bool(branches) and branches[-1].verdict != "infer"
    found = branches and not (state.get("outcome") if judged else failure(state))
    return closed(await (_grounded(branches, state, run) if found else unanswered(state, run)), state, run)


async def _grounded(branches: list[Branch], state: State, run: Run) -> Update:
    last = branches[-1]
    answers: list[Term] = [last.value] if last.value else list(last.ends)
    proved = (last.value,) if last.value in last.ends else last.ends
    paths: list[list[PathStep]] = []
    evidence: list[Fact] = []
    for branch in branches:
        known = _known(branch, proved[:EVIDENCE], state["leads"])
        traced = known or await _traced(branch.chain, proved[:EVIDENCE], run)
        paths.append(_path(branch.chain, traced, proved))
        evidence += [fact(triple) for path in traced for triple in path]
    unique = {(f["head"]["id"], f["relation"], f["tail"]["id"]): f for f in evidence}
    return {
        "answers": list({(term.id, term.name): ref(term) for term in answers}.values()),
        "outcome": "grounded_inference" if last.verdict == "infer" else "grounded",
        "paths": paths,
        "evidence": list(unique.values()),
    }


def _known(branch: Branch, ends: tuple[Term, ...], leads: list[Lead]) -> list[tuple[Triple, ...]]:
    """Give the facts behind ends where there is one node on the way after each hop: no need to ask."""
    chain, nodes = branch.chain, {lead.chain: lead.node for lead in leads}
    way = [node for depth in range(1, chain.depth) if (node := nodes.get(chain.upto(depth)))]
    if len(way) + 1 < chain.depth or not {*ends} <= {*branch.ends}:
        return []
    return [Path(chain.topic, tuple(zip(chain.hops, (*way, end), strict=True))).triples for end in ends]


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


def _at_hand(state: State) -> list[Branch]:
    """Give the ends of a chain that the budget left unjudged."""
    named = tuple(c.term for c in state.get("candidates", []) if c.term.name)
    return [Branch(state["chain"], named, "filter")] if named and state.get("stopped_by") else []
