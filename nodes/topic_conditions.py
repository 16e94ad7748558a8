"""Topics that are only conditions, of a node of the chain that stands (beyond the papers)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from kgqa.kg.proof.query import Condition
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.nodes.proof import NO_ANSWERS, query_of_memory, run_query
from kgqa.prompts.connect_topic import MAX_HOLDING_NAMES, NO_PART, ConnectTopic, Share
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import KnownExtensions, State, VerifiedChain
from kgqa.tools.arguments import chain_arguments, write_hop

MAX_CONNECTIONS = 6
"""Relations between a chain's nodes and a topic that are looked up at most: those of the ends first."""


async def with_topics(
    memory: Sequence[VerifiedChain], state: State, runtime: NodeRuntime
) -> list[VerifiedChain]:
    """Return what working memory comes to, with those topics as conditions that are beside its last chain."""
    held = list(memory)
    for topic in awaited_topics({**state, "chain": held[-1].chain, "memory": held}, runtime):
        held[-1] = await with_topic(held, topic, state, runtime) or held[-1]
    return held


async def with_topic(
    memory: Sequence[VerifiedChain], topic: Entity, state: State, runtime: NodeRuntime
) -> VerifiedChain | None:
    """Return the last chain of memory with a topic as its condition; None where they are no neighbours.

    What leads on from both is known already; one query tells which of it connects them. Where one relation
    does, or all leave the same ends, nobody is asked; else the model says which one the question means, if
    any. It is asked as well where most of the ends that are left out have nothing by that relation, since
    facts may be missing, or what one leaves could not be told. One that leaves no ends is no condition. Where
    the topic plays no part, the chain stays as it is.
    """
    chain, ends = memory[-1].chain, len(memory[-1].ends)
    found = list(islice(_connections(chain, topic, state["leads"]), MAX_CONNECTIONS))
    connected = await _connected(chain, found, topic, runtime) if len(found) > 1 else found
    possible: dict[tuple[int, Hop], VerifiedChain] = {}
    unknown = False
    for place, hop in connected:
        condition = Condition(place, (hop,), "=", topic, f"{hop.words}: {topic}")
        if met := await _narrowed(memory, condition, state, runtime):
            possible[place, hop] = met
        unknown = unknown or runtime.trace.pop("proof", NO_ANSWERS) != NO_ANSWERS
    shares = await _shares(memory[-1], possible, runtime)
    doubted = (unknown and bool(possible)) or any(2 * each.silent > ends - each.holding for each in shares)
    if len({frozenset(met.ends) for met in possible.values()}) > 1 or doubted:
        topics, offers = tuple(state["topic_entities"]), tuple(possible)
        prompt = ConnectTopic(state["question"], chain, topic, offers, tuple(shares), topics=topics)
        reply = await runtime.ask(prompt)
        if reply and reply.relation == NO_PART:
            runtime.trace["no_part"] = str(topic)
            return memory[-1]
        chosen = offers[reply.relation - 1 : reply.relation] if reply else ()
        possible = {connection: possible[connection] for connection in chosen}
    met = next(iter(possible.values()), None)
    if met:
        words = met.conditions[-1].words
        runtime.trace |= {"chain": str(met.chain), "condition": words, "ends": len(met.ends)}
    return met


async def _shares(
    branch: VerifiedChain, possible: Mapping[tuple[int, Hop], VerifiedChain], runtime: NodeRuntime
) -> list[Share]:
    """Return of how many ends each connection holds, and of how many the graph has nothing by its hop.

    One query for all, none where no end is left out.
    """
    total, told = len(branch.ends), Counter[tuple[int, Hop]]()
    if any(len(met.ends) < total for met in possible.values()):
        hops = {place: [write_hop(hop) for at, hop in possible if at == place] for place, _ in possible}
        wanted = {**chain_arguments(branch.chain), "relations": hops}
        (found,) = await runtime.try_tool("chain_attributes", chains=[wanted]) or (None,)
        values = found.values if found and not found.values.truncated else ()
        ends = {*branch.ends}
        told.update(
            at for at, _ in {((v.place, v.hops[0]), v.end) for v in values if v.hops and v.end in ends}
        )
    names = {at: [end.name for end in met.ends if end.name] for at, met in possible.items()}
    return [
        Share(len(met.ends), total - told[at] if told else 0, total, tuple(names[at][:MAX_HOLDING_NAMES]))
        for at, met in possible.items()
    ]


async def _connected(
    chain: Chain, found: Sequence[tuple[int, Hop]], topic: Entity, runtime: NodeRuntime
) -> list[tuple[int, Hop]]:
    """Return those hops by which a node of a chain is beside a topic: one query for all."""
    chains = [chain.upto(place).then(hop).constrained_to([topic]) for place, hop in found]
    arguments = [chain_arguments(each) for each in chains]
    visits = await runtime.try_tool("visit_chains", chains=arguments, hops=False) or ()
    return [each for each, visit in zip(found, visits, strict=False) if len(visit.ends)]


async def _narrowed(
    memory: Sequence[VerifiedChain], condition: Condition, state: State, runtime: NodeRuntime
) -> VerifiedChain | None:
    """Return the last chain of memory with a condition more and the ends that are left; None without any."""
    *earlier, branch = memory
    met = replace(branch, conditions=(*branch.conditions, condition))
    query = query_of_memory([*earlier, replace(met, aggregate=None)], state["topic_entities"])
    proof = await run_query(query, runtime)
    return replace(met, ends=tuple(proof.answers)) if proof else None


def awaited_topics(state: State, runtime: NodeRuntime) -> tuple[Entity, ...]:
    """Return the topics that are brought together with the chain at hand after it: those not met so far."""
    met: set[object] = {state["chain"].topic, *(branch.chain.topic for branch in state["memory"])}
    met |= {each.value for branch in state["memory"] for each in branch.conditions}
    applies = getattr(runtime.context, "topic_conditions", False)
    return tuple(t for t in state["topic_entities"] if t not in met) if applies else ()


def _connections(chain: Chain, topic: Entity, leads: Sequence[KnownExtensions]) -> Iterator[tuple[int, Hop]]:
    """Yield the hops, by the place of the node, that may lead from a chain to a topic, the ends' first."""
    hops = {lead.chain: lead.hops for lead in leads}
    back = {hop.inverse for hop in hops.get(Chain(topic), ())}
    for place in range(chain.depth, 0, -1):
        yield from ((place, hop) for hop in hops.get(chain.upto(place), ()) if hop in back)
