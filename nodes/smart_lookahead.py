"""Smart lookahead: do chains that solved similar questions answer this one at once? (EGP §4.3)."""

from collections.abc import Iterator

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Page, Visit
from kgqa.kg.terms import Chain, Hop
from kgqa.models.errors import MalformedReply
from kgqa.nodes.assess import accepted
from kgqa.nodes.filter import filtered
from kgqa.nodes.meeting import groups_of
from kgqa.nodes.recall_exemplars import written
from kgqa.nodes.schema import hop_of, relations_by_name
from kgqa.prompts.assess_found import AssessFound
from kgqa.prompts.found import GROUPS, Found
from kgqa.session.state import State, Update
from kgqa.session.step import Run, step
from kgqa.tools.arguments import chain_arguments


@step("smart_lookahead", option="lookahead")
async def smart_lookahead(state: State, run: Run) -> Update:
    """Follow all chains of the exemplars that can set out from a topic, in one query, and judge them.

    It fires where a relation that leaves a topic is one that exemplars have (R_forward). What
    the model takes ends the question, filtered where a condition is left; else the search
    begins as if nothing had happened.
    """
    guide = {text for each in state["exemplars"] for branch in each.branches for text in branch}
    leaving = {written(hop): None for lead in state["leads"] if not lead.chain.hops for hop in lead.hops}
    forward = [text for text in leaving if text in guide]
    run.note |= {"fired": bool(forward), "forward": forward, "chains": [], "realised": 0}
    if not forward:
        return {"decision": "forward"}
    page: Page[Hop] = await run.use("list_schema")
    chains = list(dict.fromkeys(_chains(state, relations_by_name(page), run)))[:GROUPS]
    run.note["chains"] = [str(chain) for chain in chains]
    try:
        found = await _followed(chains, run)
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return {"decision": "forward"}
    run.note["realised"] = len(found)
    return await _judged(state, found, run) if found else {"decision": "forward"}


def _chains(state: State, relations: dict[str, Hop], run: Run) -> Iterator[Chain]:
    """Give the chains of the exemplars from each topic that their first hop leaves."""
    leads = {lead.chain: set(lead.hops) for lead in state["leads"]}
    for branch in (branch for each in state["exemplars"] for branch in each.branches):
        hops = [hop_of(text, relations) for text in branch[: run.context.depth + 1]]
        known = tuple(hop for hop in hops if hop)
        if len(known) == len(branch) <= run.context.depth:
            chains = (Chain(topic) for topic in state["topic_entities"])
            yield from (Chain(each.topic, known) for each in chains if known[0] in leads.get(each, ()))


async def _followed(chains: list[Chain], run: Run) -> list[Found]:
    """Give the named ends of the chains that have any.

    Raises:
        KGError: if the graph fails or refuses.
    """
    written = [chain_arguments(chain) for chain in chains]
    visits: list[Visit] = await run.use("visit_chains", chains=written, hops=False) if chains else []
    found = [
        Found(chain, visit.ends.items, visit.ends.truncated)
        for chain, visit in zip(chains, visits, strict=True)
    ]
    return [each for each in found if each.named]


async def _judged(state: State, found: list[Found], run: Run) -> Update:
    topics = state["topic_entities"]
    groups = groups_of(found, (), topics)
    prompt = AssessFound(
        state["question"], tuple(groups), exemplars=tuple(state["exemplars"]), topics=tuple(topics)
    )
    try:
        reply = await run.ask(prompt)
    except MalformedReply as error:
        run.failed(error)
        return {"decision": "forward"}
    run.note["reason"] = reply.rationale
    if reply.decision == "forward":
        return {"decision": "forward"}
    taken = accepted(groups, reply, run)
    if taken["decision"] == "stop":
        return taken
    *met, branch = taken["memory"]
    kept, limit = await filtered(branch, state, run)
    if kept is None:
        return {"decision": "forward"}
    return {"memory": [*met, kept], "stopped_by": limit, "decision": "stop"}
