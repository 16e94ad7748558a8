"""What nodes make of verdicts on what chains lead to: working memory, and what several chains share."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Literal as Choice, TypeAlias

from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Aggregate
from kgqa.kg.terms import Chain, Entity, Hop, Literal, NodeConstraint, Term
from kgqa.prompts.assess_found import GroupVerdict
from kgqa.prompts.candidates import (
    MAX_CANDIDATES_SHOWN,
    MAX_GROUPS_SHOWN,
    ChainFindings,
    Take,
    computed_by,
    numbered_candidates,
    taken_terms,
    without_twins,
)
from kgqa.prompts.check_sufficiency import Sufficiency
from kgqa.prompts.verify_chain import Verdict
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import OutrightChain, State, Update, VerifiedChain, next_topic

MAX_CHAIN_COMBINATIONS = 8
"""Combinations of chains from other topics that one chain is brought together with at most."""

COUNT = Aggregate("count")
SAID_BEFORE = "said when it was chosen"  # why a chain has a verdict that nobody was asked for
_Group: TypeAlias = tuple[ChainFindings, frozenset[Term]]  # what is at the end of a chain, and its terms


def group_findings(
    found: Sequence[ChainFindings], explored: Sequence[ChainFindings], topics: Sequence[Entity]
) -> list[ChainFindings]:
    """Return what was found; before it what of it chains from other topics lead to as well.

    Only ends with a name count. A chain all of whose ends are met is not given again alone.
    What is met leaves room for the rest where a prompt cannot show all.
    """
    named = [_with_terms(_apart_from_twins(each)) for each in found if each.named]
    met: list[_Group] = []
    if len(topics) > 1:
        earlier = list(map(_with_terms, explored))
        for place, each in enumerate(named):
            # of two that were found together, the later is brought together with the earlier
            met += _intersections(each, [*named[:place], *earlier], topics)
    met = _united_met(met)[: max(MAX_GROUPS_SHOWN // 2, MAX_GROUPS_SHOWN - len(named))]
    whole = {(each.chain, terms) for each, terms in met}
    return [each for each, _ in met] + [each for each, terms in named if (each.chain, terms) not in whole]


def hold_group(group: ChainFindings, ends: Sequence[Candidate]) -> ChainFindings:
    """Return a group with some of its ends, its chain held to them where these are entities."""
    entities = [end.term for end in ends if isinstance(end.term, Entity)]
    part = len(ends) < len(group.ends)
    held = part and len(entities) == len(ends)
    chain = group.chain.constrained_to(entities) if held else group.chain
    chosen = group.chosen or (part and not held)
    return ChainFindings(chain, tuple(ends), group.truncated and not part, chosen=chosen)


def unite_groups(found: Sequence[ChainFindings]) -> list[ChainFindings]:
    """Return what several entities led to by the same relations as one group, without what has no name."""
    alike: dict[tuple[Entity, tuple[Hop, ...]], list[ChainFindings]] = {}
    for each in found:
        alike.setdefault((each.chain.topic, each.chain.hops), []).append(each)
    united = map(_unite, alike.values())
    return [replace(each, ends=each.named) for each in united if each.named]


def _unite(found: Sequence[ChainFindings]) -> ChainFindings:
    """Return the ends of chains of the same relations as those of one chain, held to what all are held to."""
    held: dict[int, set[Entity]] = {}
    for each in found:
        for constraint in each.chain.constraints:
            held.setdefault(constraint.depth, set()).update(constraint.entities)
    first = found[0].chain
    chain = Chain(first.topic, first.hops)
    constraints = tuple(
        NodeConstraint(depth, tuple(sorted(entities)))
        for depth, entities in sorted(held.items())
        if all(depth in {own.depth for own in each.chain.constraints} for each in found)
    )
    ends = dict.fromkeys(end for each in found for end in each.ends)
    return ChainFindings(
        replace(chain, constraints=constraints),
        tuple(ends),
        any(each.truncated for each in found),
        chosen=any(each.chosen for each in found),
    )


def _apart_from_twins(found: ChainFindings) -> ChainFindings:
    """Return what a chain alone leads to by name, of values of one text the first among its ends."""
    ends = without_twins(found.named)
    return replace(found, ends=ends, met=(), twins=tuple(end for end in found.named if end not in ends))


def _with_terms(found: ChainFindings) -> _Group:
    return found, frozenset(end.term for end in found.ends)


def _intersections(group: _Group, others: Sequence[_Group], topics: Sequence[Entity]) -> Iterator[_Group]:
    """Yield the ends of a chain that it shares with chains from every other topic that it meets."""
    found, own = group
    meeting: dict[Entity, list[_Group]] = {}
    for other, terms in others:
        if other.chain.topic != found.chain.topic and not own.isdisjoint(terms):
            meeting.setdefault(other.chain.topic, []).append((other, terms))
    ordered = [meeting[topic] for topic in topics if topic in meeting]
    for met in islice(product(*ordered), MAX_CHAIN_COMBINATIONS if ordered else 0):
        if shared := own.intersection(*(terms for _, terms in met)):
            kept = tuple(end for end in found.ends if end.term in shared)
            together = [found, *(other for other, _ in met)]
            cut, chosen = (any(each.truncated for each in together), any(each.chosen for each in together))
            chains = tuple(other.chain for other, _ in met)
            yield ChainFindings(found.chain, kept, cut, chains, chosen, found.twins), shared


def _united_met(groups: Sequence[_Group]) -> list[_Group]:
    """Return groups of one chain and the same ends as one, with all chains that these are the ends of."""
    alike: dict[tuple[Chain, frozenset[Term]], ChainFindings] = {}
    for each, terms in groups:
        first = alike.setdefault((each.chain, terms), each)
        alike[each.chain, terms] = replace(first, met=tuple(dict.fromkeys([*first.met, *each.met])))
    return [(each, terms) for (_, terms), each in alike.items()]


def fresh_take(ends: Sequence[Candidate]) -> Take:
    """Return what to take of ends so that what only returns to the topic is left out, if there is more."""
    return "others" if len({end.returning for end in ends}) > 1 else "all"


def take_as_said(said: OutrightChain, ends: Sequence[Candidate]) -> Take:
    """Return what to take of ends by what was said beforehand."""
    return "count" if said.counts else fresh_take(ends)


def said_to_unite(state: State) -> list[int]:
    """Number the chains beside the one at hand that are the answer with it, as was said beforehand."""
    said = state["outright"]
    beside = said.beside if said and said.decision != "forward" else ()
    return [number for number, each in enumerate(state["siblings"], 1) if each.chain in beside]


def rejected_with(state: State, verdict: Verdict | Sufficiency) -> set[Chain]:
    """Return the chains beside one that is turned down which say the same, and lead to the same."""
    ends = {end.term for end in state["candidates"] if end.term.name}
    united = [state["siblings"][number - 1] for number in verdict.united]
    return {each.chain for each in united if {end.term for end in each.named} == ends}


def same_nodes(state: State) -> set[Chain]:
    """Return the chains beside the one at hand that lead to the very nodes: what leads on is the same."""
    if state["truncated"] or state["memory"]:  # candidates are not all that the chain leads to
        return set()
    ends = {end.term for end in state["candidates"]}
    beside = (each for each in state["siblings"] if not each.truncated)
    return {each.chain for each in beside if {end.term for end in each.ends} == ends}


def accept_chain(
    state: State, verdict: Verdict | Sufficiency, named: Sequence[Candidate], awaited: Sequence[Entity] = ()
) -> Update:
    """Put the chain into working memory; other topics that wait refine it, and those that are ``awaited``.

    Where CoG's check, which is its filter as well, was shown all candidates and names those that meet the
    condition, nothing is left to filter. A count that was said at an earlier topic is one of what is shared.
    """
    cut = state["truncated"]
    branch = _verified_chain(state["chain"], verdict, verdict.chosen, named, truncated=cut)
    whole = isinstance(verdict, Sufficiency) and len(named) <= MAX_CANDIDATES_SHOWN
    whole = whole and not (cut or verdict.united)
    if branch.verdict == "filter" and verdict.chosen and whole:
        ends = taken_terms("some", verdict.chosen, named)
        branch = replace(branch, ends=ends, verdict="stop", picked=verdict.rationale)
    take: Take = "others" if branch.verdict == "filter" else verdict.take
    branch = _united(branch, [state["siblings"][number - 1] for number in verdict.united], take)
    if any(each.aggregate == COUNT for each in state["memory"]):  # what is counted is what the chains share
        branch = replace(branch, aggregate=branch.aggregate or COUNT)
    branch = with_twins(branch, state["candidates"])
    return {
        "memory": [*state["memory"], branch],
        "decision": "refine" if awaited or next_topic(state) else branch.decision,
    }


def accept_group(groups: Sequence[ChainFindings], reply: GroupVerdict, runtime: NodeRuntime) -> Update:
    """Put the group that a reply takes into working memory, after the chains that it meets."""
    taken = [groups[number - 1] for number in reply.groups]
    group, named = taken[0], [end for each in taken for end in each.named]
    rows = [row for number in reply.groups for row in numbered_candidates(groups) if row.group == number]
    places = {row.number: named.index(row.candidate) + 1 for row in rows}
    chosen = [places[number] for number in reply.chosen]
    cut = any(each.truncated for each in taken)
    branch = _verified_chain(group.chain, reply, chosen, named, truncated=cut)
    held = any(each.met or each.chain.constraints for each in taken)  # then all have the same ends
    others = () if held else tuple(each.chain for each in taken[1:])
    branch = replace(branch, ends=tuple(dict.fromkeys(branch.ends)), others=others)
    branch = with_twins(branch, [end for each in taken for end in each.twins])
    if any(each.chosen for each in taken):
        branch = replace(branch, picked=branch.picked or reply.rationale)
    runtime.trace["chain"] = str(group.chain)
    met = [VerifiedChain(chain, branch.ends, "stop") for chain in group.met]
    return {"memory": [*met, branch], "decision": branch.decision}


def with_twins(branch: VerifiedChain, candidates: Sequence[Candidate]) -> VerifiedChain:
    """Return a branch that counts, or may yet, with all values of the texts of its ends, as the graph has."""
    if branch.picked is not None or (branch.aggregate != COUNT and branch.verdict != "filter"):
        return branch
    texts = {end.value for end in branch.ends if isinstance(end, Literal)}
    terms = [each.term for each in candidates]
    twins = [term for term in terms if isinstance(term, Literal) and term.value in texts]
    return replace(branch, ends=tuple(dict.fromkeys((*branch.ends, *twins))))


def _united(branch: VerifiedChain, others: Sequence[ChainFindings], take: Take) -> VerifiedChain:
    """Return a branch with the ends of chains that say the same beside its own."""
    ends, fresh = dict.fromkeys(branch.ends), branch.fresh
    for each in others:
        own = taken_terms("all" if take == "some" else take, (), each.named)
        ends |= dict.fromkeys(own)
        fresh = fresh or len(own) < len(each.named)
    chains = tuple(Chain(each.chain.topic, each.chain.hops) for each in others)
    cut = branch.truncated or any(each.truncated for each in others)
    return replace(branch, ends=tuple(ends), fresh=fresh, others=chains, truncated=cut) if others else branch


def _verified_chain(
    chain: Chain,
    verdict: Verdict | Sufficiency | GroupVerdict,
    chosen: Sequence[int],
    named: Sequence[Candidate],
    *,
    truncated: bool,
) -> VerifiedChain:
    """Return what an accepting verdict makes of a chain and those of its ends that have a name."""
    take: Take = "others" if verdict.decision == "filter" else verdict.take
    ends = taken_terms(take, chosen, named) or tuple(c.term for c in named)
    fresh = take in {"others", "count"} and len(ends) < len(named)
    if verdict.decision == "filter":
        return VerifiedChain(chain, ends, "filter", fresh, truncated=truncated)
    picked = verdict.rationale if take == "some" else None
    cut = truncated and picked is None
    how: Choice["infer", "stop"] = "infer" if verdict.unsure else "stop"
    return VerifiedChain(chain, ends, how, fresh, (), picked, computed_by(take, ends), cut)
