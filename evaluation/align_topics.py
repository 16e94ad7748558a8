"""The topics of questions as the graph of a run knows them.

Question sets that were made for Freebase are asked on Wikidata as well (CoG, appendix I; VoG,
appendix G). Their answers keep the ids of the file, so they are scored by name and alias there
(`matching.same`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.runs.event_loop import for_each
from kgqa.kg.dialects import is_foreign
from kgqa.kg.graph import KnowledgeGraph

MAX_CONCURRENT_TOPICS = 8  # topics that are looked up at a time


async def align_topics(questions: Sequence[Question], graph: KnowledgeGraph) -> list[Question]:
    """Return the questions with topics that the graph knows by their ids.

    Where the file has the topics by ids of this kind of graph, they are taken, and no others:
    what nobody has mapped is lost, as in the papers. A topic that has an id of another kind of
    graph only is looked up by it, for many entities of Wikidata say which of Freebase they are; if
    nothing is found, its name is left. On a graph of no known kind all topics are as in the file.
    """
    chosen = [replace(question, topics=_native_topics(question, graph.dialect)) for question in questions]
    topics = (topic for question in chosen for topic in question.topics)
    foreign = dict.fromkeys(topic.id for topic in topics if topic.id and is_foreign(topic.id, graph.dialect))
    found: dict[str, str | None] = {}

    async def find(id: str) -> None:
        matches = await graph.find_entities(id, 1)
        found[id] = matches[0].entity.id if matches and matches[0].how == "id" else None

    await for_each(foreign, find, MAX_CONCURRENT_TOPICS)
    return [
        replace(question, topics=_mapped_topics(question.topics, found), other_topics=())
        for question in chosen
    ]


def _native_topics(question: Question, dialect: str) -> tuple[EntityRef, ...]:
    """Return the first choice without an id of another kind of graph; the file's own where there is none."""
    for topics in filter(None, (question.topics, *question.other_topics)):
        if not any(topic.id and is_foreign(topic.id, dialect) for topic in topics):
            return topics
    return question.topics


def _mapped_topics(topics: Sequence[EntityRef], found: Mapping[str, str | None]) -> tuple[EntityRef, ...]:
    known = (replace(topic, id=found.get(topic.id or "", topic.id)) for topic in topics)
    return tuple(topic for topic in known if topic.id or topic.name)
