"""What a question says and its draft does not: entities, values, cues, and any other words."""

import asyncio
import re
from collections.abc import Iterator, Sequence

from kgqa.kg.terms import Entity, Literal, Term, local_name, plain_term
from kgqa.nodes.coverage import uncovered_by_terms
from kgqa.nodes.cues import asked_extremes, unused_cues_of_sparql
from kgqa.nodes.draft.state import DraftState
from kgqa.retrieval.wording import relation_phrase
from kgqa.runtime.node import NodeRuntime
from kgqa.tools.select import QueryConstants, read_constants

WORD = r"[^\W_]+"


async def unmet_words(answers: Sequence[Term], state: DraftState, runtime: NodeRuntime) -> list[str]:
    """Return the words of a question that its draft does not say, given the first column of its rows."""
    read = await asyncio.to_thread(read_constants, state["sparql"])
    unmet = [*dict.fromkeys(_unmet(read, answers, state))]
    told = {*_words(" ".join(unmet)).split()}
    uncovered = await _uncovered(read, answers, state, runtime)
    return [*unmet, *(each for each in uncovered if told.isdisjoint(each.split()))]


def _unmet(read: QueryConstants | None, answers: Sequence[Term], state: DraftState) -> Iterator[str]:
    question, topics = state["question"], state["topic_entities"]
    yield from (str(topic) for topic in topics if not _is_met(topic, read, state))
    yield from _unused_values(read, state)
    yield from unused_cues_of_sparql(state["sparql"], answers, question, topics)
    if state["ordered_by_hidden"] and state["limit"] is None and len(answers) > 1:
        yield from asked_extremes(question)


async def _uncovered(
    read: QueryConstants | None, answers: Sequence[Term], state: DraftState, runtime: NodeRuntime
) -> list[str]:
    """Return the words that no name in the query says, or only that of what was shown and is not in it."""
    meant = {topic.id: topic for topic in state["topic_entities"]}
    meant |= {each.id: each for some in (*state["alternatives"], state["members"]) for each in some}
    nodes = sorted({*state["ids"]} - {*state["relations"]})
    terms: list[Term] = [meant.get(id) or Entity(id, relation_phrase(_called(id, state))) for id in nodes]
    terms += [term for term in (read.written if read else ()) if isinstance(term, Literal)]
    properties = dict.fromkeys(part.relation for each in state["described"] for part in each.properties)
    relations, others = (
        [_called(id, state) for id in some]
        for some in (state["relations"], [id for id in properties if id not in state["relations"]])
    )
    said = [*["per"] * state["grouped"], *["order", "ascending", "descending"] * state["ordered"]]
    return await uncovered_by_terms(relations, terms, others, said, answers, state, runtime)


def _unused_values(read: QueryConstants | None, state: DraftState) -> Iterator[str]:
    """Yield the values that a property has few of, which the question says and the query does not."""
    written = [term.name or "" for term in (read.written if read else ())]
    said = _words(" ".join([*written, *(_called(id, state) for id in state["ids"])]))
    asked = _words(state["question"])
    for value in state["enumerated"]:
        text = _words(value)
        if text.strip() and text in asked and text not in said:
            yield value


def _called(id: str, state: DraftState) -> str:
    """Return what the query names by an IRI, in words."""
    return state["words"].get(id) or relation_phrase(local_name(id))


def _words(text: str) -> str:
    """Return the words of a text in lower case, with a space at either end of each."""
    return f" {' '.join(re.findall(WORD, text.casefold()))} "


def _is_met(topic: Entity, read: QueryConstants | None, state: DraftState) -> bool:
    """Return whether a query is about a topic, or about what its mention may mean otherwise."""
    meant = [topic, *(each for some in state["alternatives"] if topic in some for each in some)]
    parts = state["parts"].get(topic.id)
    return any(_is_part(each, read, state) for each in meant) or (
        parts is not None and all(_is_part(each, read, state) for each in parts)
    )


def _is_part(topic: Entity, read: QueryConstants | None, state: DraftState) -> bool:
    """Return whether a query has a topic: an entity that binds it, a value, a class or what says its name."""
    meant = plain_term(topic)
    written = {term.name.casefold() for term in (read.written if read else ()) if isinstance(term, Literal)}
    named = [_words(_called(id, state)) for id in state["ids"]]
    if (topic.name or "").casefold() in written:
        return True
    if isinstance(meant, Literal):
        return any(_words(meant.value) in words for words in named)
    if read is not None and meant.id in read.binding:
        return True
    is_class = any(plain_term(Entity(id)) == meant for id in state["classes"])
    says = any(_words(relation_phrase(str(topic))) in words for words in named)
    return is_class and (meant.id in state["ids"] or says)
