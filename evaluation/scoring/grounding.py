"""Whether answers stand up on the graph: the query of each record is run again."""

from collections.abc import Sequence

from kgqa.evaluation.result import Result
from kgqa.evaluation.runs.event_loop import for_each
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.sparql.constants import read_constants
from kgqa.kg.terms import Entity, Literal, is_iri
from kgqa.nodes.mentioned import is_term_said
from kgqa.nodes.modifiers import (
    unasked_function,
    unmet_kind,
    unmet_topics_of_sparql,
    unused_modifiers_of_sparql,
)

MAX_CONCURRENT_RESULTS = 8  # records that are checked at a time


async def check_grounding(results: Sequence[Result], graph: KnowledgeGraph) -> dict[str, bool | None]:
    """Check of each result, by `result_key`, whether its query gives exactly its answers.

    None where there is nothing to go by: a record of another program, without a query; or one whose query
    takes too long. Not grounded are results with another outcome, without answers, with a condition that the
    graph has not decided, with a topic that does not bind the query's answers, without the number or the yes
    or no that is asked for, with an order, a comparison or the like that nothing applies, with a value or an
    answer that the query has of the model, and those whose query is refused, cut, or gives more than a page.

    Raises:
        KGError: if the graph fails; then nothing is known of any result.
    """
    found: dict[str, bool | None] = {}

    async def check(result: Result) -> None:
        found[result_key(result)] = await _is_grounded(result, graph)

    await for_each(results, check, MAX_CONCURRENT_RESULTS)
    return found


def result_key(result: Result) -> str:
    """Return what a result is known by: its id, or the question where the file has no ids."""
    return result.question if result.id is None else result.id


def _unmet(result: Result, query: str) -> list[str]:
    """Return what a question asks for, and neither query nor answers are about; and what is of the model."""
    record, question, read = result.record, result.question, read_constants(query)
    if read is None or read.is_cut:
        return [query]
    named = ((topic.get("id"), topic.get("name")) for topic in record.get("topics", ()))
    topics = [Entity(id, name) for id, name in named if isinstance(id, str) and is_iri(id)]
    answers = [Literal(answer.id or "") for answer in result.answers]
    names = [Literal(answer.name or "") for answer in result.answers]
    told = [text for each in record.get("conditions", ()) for text in (each["words"], each["query"] or "")]
    written = [each for each in read.written if each not in topics and (topics or isinstance(each, Literal))]
    own = [str(each) for each in read.written if each not in topics and Literal(each.id) in answers]
    own += [str(e) for e in written if not (is_term_said(e, question) or any(e.id in text for text in told))]
    own += filter(None, [unasked_function("count", question)] if read.counts else [])
    modifiers = unused_modifiers_of_sparql("\n".join([query, *told]), names, question, topics)
    return [*unmet_topics_of_sparql(read, topics), *unmet_kind(answers, question), *own, *modifiers]


async def _is_grounded(result: Result, graph: KnowledgeGraph) -> bool | None:
    answers = {answer.id for answer in result.answers}
    if result.failed or result.outcome != "grounded" or not answers or None in answers:
        return False
    if "query" not in result.record:
        return None
    decided = [each.get("by") for each in result.record.get("conditions", ())]
    query = result.record["query"]
    if not isinstance(query, str) or any(by != "graph" for by in decided) or _unmet(result, query):
        return False
    try:
        table = await graph.select(query)
    except KGTimeout:
        return None
    except KGRejected:
        return False
    return not table.truncated and {row[0].id if row and row[0] else None for row in table.rows} == answers
