"""Replies that take no interpretation of the question: a draft in SPARQL, and what has to be left undone."""

import asyncio
from collections.abc import Sequence

from kgqa.kg.drafts.description import DescribedClass, FoundTerm
from kgqa.models.offline.drafting import Draft, draft_query
from kgqa.models.offline.interpreter import QuestionInterpreter
from kgqa.prompts.answer_from_memory import AnswerDirectly, DirectAnswer
from kgqa.prompts.decompose import Decompose, Subgoals
from kgqa.prompts.draft_query import DraftedQuery, DraftQuery
from kgqa.retrieval.wording import Encode, text_similarities

NO_FACTS = "the offline model knows no facts"  # why it does not answer from memory


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


async def decompose(prompt: Decompose, _: QuestionInterpreter) -> Subgoals:
    """Take the question as the only subgoal: words alone do not tell what is found first."""
    return Subgoals(rationale="the question is its own subgoal", subgoals=[prompt.question.strip() or "?"])


async def abstain(prompt: AnswerDirectly, _: QuestionInterpreter) -> DirectAnswer:
    """Answer nothing: the search before has found nothing."""
    return DirectAnswer(rationale=NO_FACTS, answers=[])
