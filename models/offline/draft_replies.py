"""The reply that drafts a query in SPARQL: the query that the slots of a question make."""

import asyncio
from collections.abc import Sequence

from kgqa.kg.drafts.description import DescribedClass, FoundTerm
from kgqa.models.offline.chain_replies import Replies
from kgqa.models.offline.drafting import Draft, draft_query
from kgqa.models.offline.interpreter import QuestionInterpreter
from kgqa.prompts.draft_query import DraftedQuery, DraftQuery
from kgqa.retrieval.wording import Encode, text_similarities


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


async def _draft(
    question: str, classes: Sequence[DescribedClass], terms: Sequence[FoundTerm], encode: Encode
) -> Draft | str:
    def alike(text: str, others: Sequence[str]) -> Sequence[float]:
        return [float(each) for each in text_similarities(text, others, encode)]

    return await asyncio.to_thread(draft_query, question, classes, terms, alike)


DRAFT_REPLIES: Replies = {DraftQuery: reply_with_draft}
