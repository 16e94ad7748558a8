"""Answer: what is found, how it is proved, what it has cost."""

from dataclasses import replace

from kgqa.kg.pages import Evidence, Proof
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.terms import ANY, Path, Term, Triple, is_blank
from kgqa.nodes.claim import claimed_answer
from kgqa.nodes.draft.answer import drafted_answer
from kgqa.nodes.proof import proof_update, query_of_memory, run_query
from kgqa.nodes.record import (
    complete_record,
    complete_without_proof,
    draw_hops,
    failure_outcome,
    first_answers,
    trace_evidence,
    unique_facts,
)
from kgqa.prompts.candidates import Take, aggregate
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import PathStep, ref
from kgqa.runtime.state import FinalUpdate, KnownExtensions, State, Update, VerifiedChain
from kgqa.tools.arguments import chain_arguments


@node("answer")
async def answer(state: State, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record from a draft's rows or working memory, or from the model where there is neither.

    When the budget ran out, candidates that were not judged yet are the answer, and the record says
    ``grounded_unverified``. When the search has found nothing, the model may answer from memory
    (``allow_parametric``), and the record says ``parametric``. After a time-out only what was judged to be
    enough is an answer: a choice from what is left may miss the right one.
    """
    if state.get("outcome") == "parametric":  # said already, from what the model knows beside the evidence
        state = {**state, "outcome": None}
        if not failure_outcome(state):
            said = Update(answers=state["answers"], outcome="parametric", paths=[], evidence=[])
            return await complete_record(said, state, runtime)
    if (claimed := claimed_answer(state)) is not None:
        return await complete_record(claimed, state, runtime)
    if (drafted := await drafted_answer(state, runtime)) is not None:
        return await complete_record(drafted, state, runtime)
    branches, named = state.get("memory"), [c.term for c in state.get("candidates", []) if c.term.name]
    if not branches and named and state.get("stopped_by"):
        branches = [VerifiedChain(state["chain"], tuple(named), "filter")]
    if branches and branches[-1].ends and all(map(is_blank, branches[-1].ends)):
        branches = []
    judged = branches and branches[-1].verdict != "infer"
    if not branches or (state.get("outcome") if judged else failure_outcome(state)):
        return await complete_without_proof(state, runtime)
    return await complete_record(await _prove_answers(branches, state, runtime), state, runtime)


async def _prove_answers(branches: list[VerifiedChain], state: State, runtime: NodeRuntime) -> Update:
    """Return what the query of working memory gives; where it fails, what memory holds, as not verified."""
    last, update = branches[-1], Update(outcome="grounded_unverified")
    found, computed = [end for end in last.ends if not is_blank(end)], _computed(last)
    answers: list[Term] = [computed] if computed else found
    query, proof = await _run_memory(branches, state, runtime)
    if query and proof:
        seen = {term: place for place, term in enumerate(last.ends)}  # the best first
        answers = sorted(proof.answers, key=lambda term: seen.get(term, len(seen)))
        found = found if query.has_one_row else answers
    paths, triples = await _trace_paths(branches, found, query if proof else None, state["leads"], runtime)
    if query and proof:
        update = await proof_update(query, proof, branches, state, runtime, shown=answers, paths=paths)
    return {
        **update,
        "answers": list(map(ref, answers)),
        "paths": paths,
        "evidence": unique_facts(triples),
    }


async def _run_memory(
    branches: list[VerifiedChain], state: State, runtime: NodeRuntime
) -> tuple[AnswerQuery | None, Proof | None]:
    """Run the query of memory; where chains were held to some nodes, without that if it gives the same.

    What was left out on the way may be what returns to the topic.
    """
    topics, fresh = state["topic_entities"], [replace(branch, fresh=True) for branch in branches]
    try:
        query, *free = (
            query_of_memory(each, topics, held=held)
            for each, held in ((branches, True), (branches, False), (fresh, False))
        )
    except ValueError as error:
        runtime.trace["proof"] = f"left out: {error}"
        return None, None
    proof = await run_query(query, runtime, state.get("computed"))
    for other in dict.fromkeys(free) if proof and query not in free else ():
        found = await run_query(other, runtime)
        if proof and found and found.answers == proof.answers:
            return other, found
    return query, proof


def _computed(branch: VerifiedChain) -> Term | None:
    """Return what is computed of ends that were seen, as far as they tell; not all are, to count them."""
    takes: dict[str, Take] = {"min": "smallest", "max": "largest"}
    take = takes.get(branch.aggregate.function) if branch.aggregate else None
    return aggregate(take, branch.ends) if take and not branch.truncated else None


async def _trace_paths(
    branches: list[VerifiedChain],
    ends: list[Term],
    query: AnswerQuery | None,
    leads: list[KnownExtensions],
    runtime: NodeRuntime,
) -> tuple[list[list[PathStep]], list[Triple]]:
    """Return the chains as paths, and the facts behind the first ends, those that meet conditions among them.

    One look-up tells of all parts of the query, if there is one; another of each chain that it does not tell.
    """
    shown = tuple(first_answers(ends))
    known = {at: _known_facts(branch, shown, leads) for at, branch in enumerate(branches)}
    depths = {at: branches[at].place or branches[at].chain.depth for at, facts in known.items() if not facts}
    traced = Evidence(())
    if query:
        arguments = {"query": query, "answers": [*shown], "depths": depths}
        traced = await trace_evidence(runtime, "trace_answers", **arguments) or traced
    known |= {at: [*found] for at, found in zip(depths, traced.paths, strict=False) if all(found)}
    paths: list[list[PathStep]] = []
    triples: list[Triple] = []
    for at, branch in enumerate(branches):
        facts = known[at]
        for chain in branch.chains:
            upto = chain.upto(branch.place or chain.depth)
            arguments = {**chain_arguments(upto), "ends": shown}
            facts = facts or await trace_evidence(runtime, "trace_chain", **arguments) or []
            whole = facts if len(facts) == len(ends) and all(facts) else []
            tails = [
                [f[at].tail if hop.forward else f[at].head for f in whole] if at < upto.depth else []
                for at, hop in enumerate(chain.hops)
            ]
            first = chain.hops[:1] if chain.topic == ANY else ()
            heads = [f[0].head if hop.forward else f[0].tail for f in whole for hop in first]
            paths.append(draw_hops(chain.hops, [heads if first else [chain.topic], *tails]))
            triples += [triple for path in facts for triple in path]
            facts = []
    return paths, [*triples, *traced.facts]


def _known_facts(
    branch: VerifiedChain, ends: tuple[Term, ...], leads: list[KnownExtensions]
) -> list[tuple[Triple, ...]]:
    """Return the facts behind ends where there is one node on the way after each hop: no need to ask."""
    chain, nodes = branch.chain, {lead.chain: lead.node for lead in leads}
    between = [each for depth in range(1, chain.depth) if (each := nodes.get(chain.upto(depth)))]
    if (
        len(between) + 1 < chain.depth
        or not {*ends} <= {*branch.ends}
        or branch.others
        or branch.place
        or chain.topic == ANY
    ):
        return []
    return [Path(chain.topic, tuple(zip(chain.hops, (*between, end), strict=True))).triples for end in ends]
