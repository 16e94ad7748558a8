"""Answer: what is found, how it is proved, what it has cost."""

from kgqa.kg.terms import Path, Term, Triple
from kgqa.nodes.record import (
    MAX_EVIDENCE_ANSWERS,
    complete_record,
    complete_without_proof,
    draw_hops,
    failure_outcome,
    trace_evidence,
    unique_facts,
)
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import Outcome, PathStep, ref
from kgqa.runtime.state import FinalUpdate, KnownExtensions, State, Update, VerifiedChain
from kgqa.tools.arguments import chain_arguments

OUTCOMES: dict[str, Outcome] = {
    "stop": "grounded",
    "filter": "grounded_unverified",
    "infer": "grounded_inference",
}
"""What an answer is worth by the verdict on its chain: with "filter" the budget left no turn to judge it."""


@node("answer")
async def answer(state: State, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record from working memory, or from the model where that is empty.

    When the budget ran out, candidates that were not judged yet are the answer, and the record says
    ``grounded_unverified``. When the search has found nothing, the model may answer from memory
    (``allow_parametric``), and the record says ``parametric``. After a time-out only what was judged to be
    enough is an answer: a choice from what is left may miss the right one.
    """
    if state.get("outcome") == "parametric":  # said already, from what the model knows beside the evidence
        state = {**state, "outcome": None}
        if not failure_outcome(state):
            said = Update(answers=state["answers"], outcome="parametric", paths=[], evidence=[])
            return complete_record(said, state, runtime)
    branches, named = state.get("memory"), [c.term for c in state.get("candidates", []) if c.term.name]
    if not branches and named and state.get("stopped_by"):
        branches = [VerifiedChain(state["chain"], tuple(named), "filter")]
    judged = branches and branches[-1].verdict != "infer"
    if not branches or (state.get("outcome") if judged else failure_outcome(state)):
        return await complete_without_proof(state, runtime)
    return complete_record(await _prove_answers(branches, state["leads"], runtime), state, runtime)


async def _prove_answers(
    branches: list[VerifiedChain], leads: list[KnownExtensions], runtime: NodeRuntime
) -> Update:
    last = branches[-1]
    answers: list[Term] = [last.value] if last.value else list(last.ends)
    proved = (last.value,) if last.value in last.ends else last.ends
    shown = proved[:MAX_EVIDENCE_ANSWERS]
    paths: list[list[PathStep]] = []
    triples: list[Triple] = []
    for branch in branches:
        chain = branch.chain
        facts = _known_facts(branch, shown, leads)
        facts = facts or await trace_evidence(runtime, **chain_arguments(chain), ends=shown) or []
        whole = facts if len(facts) == len(proved) and all(facts) else []
        tails = [
            [f[at].tail if hop.forward else f[at].head for f in whole] for at, hop in enumerate(chain.hops)
        ]
        paths.append(draw_hops(chain.hops, [[chain.topic], *tails]))
        triples += [triple for path in facts for triple in path]
    return {
        "answers": list({(term.id, term.name): ref(term) for term in answers}.values()),
        "outcome": OUTCOMES[last.verdict],
        "paths": paths,
        "evidence": unique_facts(triples),
    }


def _known_facts(
    branch: VerifiedChain, ends: tuple[Term, ...], leads: list[KnownExtensions]
) -> list[tuple[Triple, ...]]:
    """Return the facts behind ends where there is one node on the way after each hop: no need to ask."""
    chain, nodes = branch.chain, {lead.chain: lead.node for lead in leads}
    between = [each for depth in range(1, chain.depth) if (each := nodes.get(chain.upto(depth)))]
    if len(between) + 1 < chain.depth or not {*ends} <= {*branch.ends}:
        return []
    return [Path(chain.topic, tuple(zip(chain.hops, (*between, end), strict=True))).triples for end in ends]
