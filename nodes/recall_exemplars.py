"""Exemplars: which questions like this one were solved, and how? (EGP §4.1)."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Hop, Term, is_iri, local_name
from kgqa.priors.categories import find_categories
from kgqa.priors.masking import make_template
from kgqa.priors.solutions import RecalledSolution, SolutionIndex
from kgqa.prompts.solved_questions import SolvedQuestion
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update
from kgqa.tools.arguments import relation_arguments


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
