"""Replies to the prompt that drafts a query: the gold query, or one with an error in it."""

import asyncio

from kgqa.evaluation.simulation.chat import write_paths
from kgqa.evaluation.simulation.draft_errors import wrong_queries
from kgqa.evaluation.simulation.oracle import Case
from kgqa.kg.drafts.schema import Schema
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.sparql.parsing import normalise_query
from kgqa.prompts.draft_query import DraftedQuery, DraftQuery


async def draft_query(prompt: DraftQuery, case: Case) -> DraftedQuery:
    """Draft the gold query, or one with one error, drawn from the kinds that can be made in it.

    Where it is told what is wrong, it mends that or stands by its draft.
    """
    gold = await _gold_query(case)
    if gold is None:
        return DraftedQuery(sparql="", missing="what the question asks for")
    if prompt.refused:
        return _say(gold if case.happens("accuracy") else prompt.refused, prompt)
    return _say(gold if case.happens("draft") else await _err(gold, case), prompt)


def _say(sparql: str, prompt: DraftQuery) -> DraftedQuery:
    return DraftedQuery(reading=prompt.question, sparql=sparql)


async def _gold_query(case: Case) -> str | None:
    """Return the first that this graph has rows for: of the file, of the answer query, of the gold paths."""
    graph, question = case.cache.graph, case.oracle.question
    written = [normalise_query(question.sparql).strip()] if question.sparql else []
    written += [graph.write_query(question.query)] if question.query else []
    found = {query: await _count_rows(query, graph) for query in written}
    given = next((query for query in written if found[query]), None)
    taken = given or write_paths(await case.oracle.plans())
    return taken or next((query for query in written if found[query] is not None), None)


async def _count_rows(query: str, graph: KnowledgeGraph) -> int | None:
    """Return how many rows a query gives; None where the graph does not answer it."""
    try:
        return len((await graph.select(query)).rows)
    except (KGRejected, KGTimeout):
        return None


async def _err(gold: str, case: Case) -> str:
    """Return a query with one error; the gold one where none can be made."""
    graph = case.cache.graph
    schema = Schema(await graph.profile(), graph.relations)
    wrong = await asyncio.to_thread(wrong_queries, gold, schema)
    for kind in case.draws.shuffled("wrong draft", [*wrong]):
        return next(case.draws.shuffled(kind, wrong[kind]))
    return gold
