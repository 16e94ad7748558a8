"""The reply that drafts a query in SPARQL, and whether the model would draft one for a question."""

import asyncio
from collections.abc import Sequence

from kgqa.kg.drafts.description import DescribedClass, FoundTerm, describe_classes
from kgqa.kg.drafts.names import Names
from kgqa.kg.drafts.schema import Schema
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Literal, plain_term
from kgqa.models.offline.chain_replies import Replies
from kgqa.models.offline.drafting import Draft, draft_query
from kgqa.models.offline.interpreter import QuestionInterpreter
from kgqa.prompts.draft_query import DraftedQuery, DraftQuery
from kgqa.retrieval.wording import Encode, text_similarities

MAX_CLASSES = 300  # of a graph, for the model to look through all of them
MAX_MEANINGS = 3  # of a mention


async def reply_with_draft(prompt: DraftQuery, interpreter: QuestionInterpreter) -> DraftedQuery:
    """Draft the query that the slots of a question make; one that was not taken is drafted no other way."""
    if prompt.objections:
        return DraftedQuery(sparql=prompt.refused, missing=prompt.objections[0])
    drafted = await _draft(prompt.question, prompt.described, prompt.terms, interpreter.encode)
    if isinstance(drafted, str):
        return DraftedQuery(sparql="", missing=drafted)
    return DraftedQuery(
        reading=drafted.reading,
        sparql=drafted.sparql,
        columns=list(drafted.columns),
        unsaid=list(drafted.unsaid),
    )


async def is_surely_drafted(question: str, interpreter: QuestionInterpreter) -> bool:
    """Return whether a question asks for more than one step from a thing, and a draft says all of it.

    Raises:
        KGError: if the graph cannot be reached.
    """
    graph = interpreter.graph
    profile = await graph.profile()
    if not 0 < len(profile.classes) <= MAX_CLASSES:
        return False
    schema = Schema(profile, graph.relations)
    classes = await asyncio.to_thread(describe_classes, schema, Names({}), graph.relation_label)
    terms = await _find_terms(question, graph, {each.id for each in classes})
    drafted = await _draft(question, classes, terms, interpreter.encode)
    return not isinstance(drafted, str) and drafted.is_sure


async def _find_terms(question: str, graph: KnowledgeGraph, classes: set[str]) -> list[FoundTerm]:
    """Return what the mentions of a question are called in the graph."""
    mentions = await graph.link(question)
    named = {
        match.entity: each.text
        for each in mentions
        for match in ([m for m in each.matches if m.sure] or each.matches)[:MAX_MEANINGS]
    }
    visits = await graph.visit_chains([Chain(each) for each in named]) if named else []
    found: list[FoundTerm] = []
    for (entity, text), visit in zip(named.items(), visits, strict=True):
        term = plain_term(entity)
        if isinstance(term, Literal) or term.id in classes:
            found.append(FoundTerm(text, term, hops=tuple(visit.hops)))
            continue
        types = (await graph.describe(term.id, 1)).types
        found.append(
            FoundTerm(text, Entity(term.id, entity.name), tuple(t.id for t in types), tuple(visit.hops))
        )
    return found


async def _draft(
    question: str, classes: Sequence[DescribedClass], terms: Sequence[FoundTerm], encode: Encode
) -> Draft | str:
    def alike(text: str, others: Sequence[str]) -> Sequence[float]:
        return [float(each) for each in text_similarities(text, others, encode)]

    return await asyncio.to_thread(draft_query, question, classes, terms, alike)


DRAFT_REPLIES: Replies = {DraftQuery: reply_with_draft}
