"""Recall solved questions like this one (EGP §4.1), plan along them (§4.2), try their chains (§4.3)."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Page
from kgqa.kg.terms import Chain, Entity, Hop, Term, is_iri, local_name, one_line
from kgqa.nodes.cog.state import CoGState, CoGUpdate
from kgqa.nodes.filter import filter_branch
from kgqa.nodes.frontier.state import FrontierState
from kgqa.nodes.frontier.verify import evaluate
from kgqa.nodes.verdicts import accept_group, group_findings
from kgqa.priors.categories import find_categories
from kgqa.priors.masking import make_template
from kgqa.priors.solutions import RecalledSolution, SolutionIndex
from kgqa.prompts.adapt_blueprint import Decompose, DecomposeAlong
from kgqa.prompts.assess_found import AssessFound
from kgqa.prompts.candidates import MAX_GROUPS_SHOWN, ChainFindings
from kgqa.prompts.progress import MAX_SENTENCE_CHARS, SolvedQuestion
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update, node_count
from kgqa.tools.arguments import chain_arguments, relation_arguments


def relations_by_name(schema: Iterable[Hop]) -> dict[str, Hop]:
    """Return each relation whose name can be a slot, by what the graph calls it and by its local name.

    Of Wikidata's relations for one property, the local name is the direct one's.
    """
    hops = [hop for hop in schema if hop.words.strip() and not hop.words.startswith("^")]
    hops.sort(key=lambda hop: "/prop/direct/" in hop.relation)
    return {local_name(hop.relation): hop for hop in hops} | {hop.words: hop for hop in hops}


class KnownRelations(NamedTuple):
    """The relations that a graph lists; where it does not list them all, those at the topics as well."""

    hops: tuple[Hop, ...]
    by_name: dict[str, Hop]
    is_complete: bool

    def parse_hop(self, text: str, beside: Hop | None = None) -> Hop | None:
        """Read a hop written as its relation, ``^`` in front against the arrow; None where there is none.

        Where not all are listed, one that is not known may be in the namespace of the hop ``beside`` it.
        """
        name = text.removeprefix("^")
        relation = self.by_name.get(name)
        if relation is None and beside and not self.is_complete:
            iri = beside.relation.removesuffix(local_name(beside.relation)) + name
            relation = Hop(iri) if is_iri(iri) else None
        return None if relation is None else relation.inverse if text.startswith("^") else relation


async def known_relations(state: State, runtime: NodeRuntime) -> KnownRelations:
    """Look up which relations the graph has, all of them where it lists them."""
    listed: Page[Hop] = await runtime.call_tool("list_schema")
    hops, is_complete = listed.items, bool(listed) and not listed.truncated
    if not is_complete:
        at_topics = (hop for lead in state["leads"] if not lead.chain.hops for hop in lead.hops)
        hops = tuple(dict.fromkeys([*hops, *(Hop(hop.relation, name=hop.name) for hop in at_topics)]))
    return KnownRelations(hops, relations_by_name(hops), is_complete)


@node("exemplars", option="recalls")
async def recall_exemplars(state: State, runtime: NodeRuntime) -> Update:
    """Recall solved questions that are like this one, or by chance (``random_exemplars``).

    The question is made a template as they were: its topic entities give way to the category
    labels that the graph has for them. Without an index the search goes on without.
    """
    index = await runtime.exemplar_index()
    if index is None:
        runtime.trace["reason"] = "no folder of exemplars is named"
        return {"exemplars": []}
    recalled = await _recall(state, index, runtime)
    names = {name: hop.words for name, hop in (await known_relations(state, runtime)).by_name.items()}
    solved = []
    for solution in (each.solution for each in recalled):
        branches = (  # in the graph's own words; a relation that it does not have stays as it is
            tuple(("" if slot.forward else "^") + names.get(slot.relation, slot.relation) for slot in branch)
            for branch in solution.branches
        )
        as_asked = getattr(runtime.context, "exemplars_as", "templates") == "questions"
        wording = solution.question if as_asked else solution.template
        solved.append(SolvedQuestion(wording, tuple(branches)))
    scores = [each.similarity for each in recalled]
    runtime.trace["solved"] = len(solved)
    runtime.trace["similarities"] = [None if score is None else round(score, 4) for score in scores]
    runtime.trace["questions"] = [each.question for each in solved]
    return {"exemplars": solved}


async def _recall(state: State, index: SolutionIndex, runtime: NodeRuntime) -> list[RecalledSolution]:
    question, context = state["question"], runtime.context
    sizes = {"pool": context.exemplar_pool, "shown": context.exemplars_shown}
    if context.random_exemplars:
        return index.draw(question, **sizes)
    labels = await _category_labels(state, runtime)
    topics = {topic.name: labels.get(topic) for topic in state["topic_entities"] if topic.name}
    template = make_template(question, topics)
    runtime.trace["template"] = template
    recalling = asyncio.to_thread(index.recall, question, template, similarity=context.similarity, **sizes)
    return await runtime.within_time_limit(recalling)


async def _category_labels(state: State, runtime: NodeRuntime) -> dict[Entity, str]:
    """Return the category labels of the topics; none where the graph fails."""

    async def follow(entities: Sequence[Entity], hop: Hop) -> list[Page[Term]]:
        arguments = relation_arguments(entities, hop)
        pages: list[Page[Term]] = await runtime.call_tool("follow_relation", **arguments)
        return pages

    leads = {lead.chain.topic: lead.hops for lead in state["leads"] if not lead.chain.hops}
    try:
        return await find_categories({each: leads.get(each, ()) for each in state["topic_entities"]}, follow)
    except (KGTimeout, KGRejected) as error:
        runtime.record_failure(error)
        return {}


def shown_exemplars(state: State, runtime: NodeRuntime, option: str) -> tuple[SolvedQuestion, ...]:
    """Return the exemplars that a prompt shows; none where the option is off, or the method has none."""
    return tuple(state["exemplars"]) if getattr(runtime.context, option, False) else ()


def exemplar_hops(exemplars: Sequence[SolvedQuestion]) -> set[str]:
    """Return all hops of exemplars, as these write them: R_guide (EGP §4.3)."""
    return {text for each in exemplars for branch in each.branches for text in branch}


def hop_text(hop: Hop) -> str:
    """Write a hop as exemplars do."""
    return hop.words if hop.forward else f"^{hop.words}"


@node("plan", option="plans_first")
async def plan(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model break the question down into subgoals.

    Along the relations of solved questions like it, where there are any (EGP §4.2). A malformed reply
    leaves the question itself as the only subgoal.
    """
    exemplars = shown_exemplars(state, runtime, "guide_decomposition")
    prompt = DecomposeAlong if exemplars else Decompose
    reply = await runtime.ask(prompt(state["question"], exemplars))
    subgoals = (
        [one_line(each, MAX_SENTENCE_CHARS) for each in reply.subgoals] if reply else [state["question"]]
    )
    runtime.trace["subgoals"] = subgoals
    return {"subgoals": subgoals}


@node("smart_lookahead", option="looks_ahead")
async def smart_lookahead(state: State, runtime: NodeRuntime) -> Update:
    """Follow all chains of the exemplars that can set out from a topic, in one query, and judge them.

    It fires where a relation that leaves a topic is one that exemplars have (R_forward). What the model takes
    ends the question, filtered where a condition is left; else the search begins as if nothing had happened.
    """
    found = await _follow_exemplars(state, runtime)
    return await _judge_findings(state, found, runtime) if found else {"decision": "forward"}


@node("lookahead_by_path", option="looks_ahead_by_path")
async def lookahead_by_path(state: FrontierState, runtime: NodeRuntime) -> Update:
    """Try the exemplars' chains once relations were chosen in the first round, and judge each for itself.

    The first that the model takes ends the question (EGP §4.3).
    """
    if node_count(state, "lookahead_by_path"):
        runtime.trace["reason"] = "only the first round looks ahead"
        return {"decision": "forward"}
    for found in await _follow_exemplars(state, runtime):
        groups = group_findings([found], (), state["topic_entities"])
        if taken := await evaluate(groups, state, runtime, exemplars=tuple(state["exemplars"])):
            accepted = await _accept(taken, state, runtime)
            if accepted["decision"] == "stop":
                return accepted
    return {"decision": "forward"}


async def _follow_exemplars(state: State, runtime: NodeRuntime) -> list[ChainFindings]:
    """Return what the exemplars' chains lead to by name, the likest exemplar's first."""
    guide = exemplar_hops(state["exemplars"])
    leaving = {hop_text(hop): None for lead in state["leads"] if not lead.chain.hops for hop in lead.hops}
    forward = [text for text in leaving if text in guide]
    runtime.trace |= {"fired": bool(forward), "forward": forward, "chains": [], "realised": 0}
    if not forward:
        return []
    relations = await known_relations(state, runtime)
    chains = list(dict.fromkeys(_exemplar_chains(state, relations, runtime)))[:MAX_GROUPS_SHOWN]
    runtime.trace["chains"] = [str(chain) for chain in chains]
    arguments = [chain_arguments(chain) for chain in chains]
    visits = await runtime.try_tool("visit_chains", chains=arguments, hops=False) if chains else None
    pairs = zip(chains, visits, strict=True) if visits else ()
    every = [ChainFindings(chain, visit.ends.items, visit.ends.truncated) for chain, visit in pairs]
    found = [each for each in every if each.named]
    runtime.trace["realised"] = len(found)
    return found


def _exemplar_chains(state: State, relations: KnownRelations, runtime: NodeRuntime) -> Iterator[Chain]:
    """Yield the chains of the exemplars from each topic that their first hop leaves."""
    leads = {lead.chain: set(lead.hops) for lead in state["leads"]}
    for branch in (branch for each in state["exemplars"] for branch in each.branches):
        first = relations.parse_hop(branch[0])
        hops = [relations.parse_hop(text, first) for text in branch[: runtime.context.depth + 1]]
        known = tuple(hop for hop in hops if hop)
        if len(known) == len(branch) <= runtime.context.depth:
            chains = (Chain(topic) for topic in state["topic_entities"])
            yield from (Chain(each.topic, known) for each in chains if known[0] in leads.get(each, ()))


async def _judge_findings(state: State, found: list[ChainFindings], runtime: NodeRuntime) -> Update:
    exemplars, topics = tuple(state["exemplars"]), tuple(state["topic_entities"])
    groups = group_findings(found, (), topics)
    shown = runtime.context.attributes
    prompt = AssessFound(state["question"], tuple(groups), shown, exemplars=exemplars, topics=topics)
    reply = await runtime.ask(prompt)
    if reply is None:
        return {"decision": "forward"}
    runtime.trace["reason"] = reply.rationale
    if reply.decision == "forward":
        return {"decision": "forward"}
    return await _accept(accept_group(groups, reply, runtime), state, runtime)


async def _accept(accepted: Update, state: State, runtime: NodeRuntime) -> Update:
    """Return what a reply takes, filtered where a condition is left; go on where nothing meets it."""
    if accepted["decision"] == "stop":
        return accepted
    *met, branch = accepted["memory"]
    kept, limit = await filter_branch(branch, state, runtime, met=met)
    if kept is None:
        return {"decision": "forward"}
    return {"memory": [*met, kept], "stopped_by": limit, "decision": "stop"}
