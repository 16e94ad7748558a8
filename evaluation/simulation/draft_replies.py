"""Replies to the prompt that drafts a query: the gold query, or one with an error in it."""

import asyncio

from kgqa.evaluation.simulation.chat import write_paths
from kgqa.evaluation.simulation.draft_errors import is_read, wrong_queries
from kgqa.evaluation.simulation.oracle import Case
from kgqa.kg.drafts.schema import Schema
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.sparql.parsing import normalise_query
from kgqa.kg.terms import Term
from kgqa.prompts.draft_query import DraftedQuery, DraftQuery


async def draft_query(prompt: DraftQuery, case: Case) -> DraftedQuery:
    """Draft the gold query, or one with one error, drawn from the kinds that can be made in it.

    Where it is told what is wrong, it mends that or stands by its draft.
    """
    gold = await _gold_query(case)
    if gold is None:
        return DraftedQuery(sparql="", missing="what the question asks for")
    if prompt.refused:
        sparql = gold if case.happens("accuracy") else prompt.refused
    else:
        sparql = gold if case.happens("draft") else await _err(gold, case)
    return DraftedQuery(reading=prompt.question, sparql=sparql)


async def _gold_query(case: Case) -> str | None:
    """Return the first that this graph has rows for: of the file, of the answer query, of the gold paths."""
    graph, question = case.cache.graph, case.oracle.question
    written = [normalise_query(question.sparql).strip()] if question.sparql else []
    written += [graph.write_query(question.query)] if question.query else []
    found = {query: await _rows(query, graph) for query in written}
    given = next((query for query in written if found[query]), None)
    taken = given or write_paths(await case.oracle.plans())
    return taken or next((query for query in written if found[query] is not None), None)


async def _rows(query: str, graph: KnowledgeGraph) -> list[tuple[Term | None, ...]] | None:
    """Return the rows of a query, each once; None where the graph does not answer it."""
    try:
        return [*dict.fromkeys((await graph.select(query)).rows)]
    except (KGRejected, KGTimeout):
        return None


async def _err(gold: str, case: Case) -> str:
    """Return a query with one error that gives other rows; the gold one where none can be made."""
    graph, ordered = case.cache.graph, case.oracle.question.ordered
    right = await _rows(gold, graph)
    wrong = await asyncio.to_thread(wrong_queries, gold, Schema(await graph.profile(), graph.relations))
    for kind in case.draws.shuffled("wrong draft", [*wrong]):
        for text in case.draws.shuffled(kind, await asyncio.to_thread(wrong[kind])):
            if not await asyncio.to_thread(is_read, text):
                continue
            rows = await _rows(text, graph)
            if rows is None or right is None or (rows != right if ordered else {*rows} != {*right}):
                return text
    return gold
