"""The reply that drafts a query in SPARQL."""

import asyncio
from collections.abc import Sequence

from kgqa.models.offline.chain_replies import Replies
from kgqa.models.offline.drafting import Draft, draft_query
from kgqa.models.offline.interpreter import QuestionInterpreter
from kgqa.prompts.draft_query import DraftedQuery, DraftQuery
from kgqa.retrieval.wording import Encode, text_similarities


async def reply_with_draft(prompt: DraftQuery, interpreter: QuestionInterpreter) -> DraftedQuery:
    """Draft the query that the slots of a question make; none anew where one was not taken."""
    if prompt.objections:
        return DraftedQuery(sparql=prompt.refused, missing=prompt.objections[0])
    drafted = await asyncio.to_thread(_draft, prompt, interpreter.encode)
    if isinstance(drafted, str):
        return DraftedQuery(sparql="", missing=drafted or "what is asked for")
    return DraftedQuery(
        reading=drafted.reading,
        sparql=drafted.sparql,
        columns=list(drafted.columns),
        unsaid=list(drafted.unsaid),
    )


def _draft(prompt: DraftQuery, encode: Encode) -> Draft | str:
    def alike(text: str, others: Sequence[str]) -> Sequence[float]:
        return [float(each) for each in text_similarities(text, others, encode)]

    return draft_query(prompt.question, prompt.described, prompt.terms, alike)


DRAFT_REPLIES: Replies = {DraftQuery: reply_with_draft}
