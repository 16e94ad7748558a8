"""Link: which entities of the graph is the question about, and what leads on from them?"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from kgqa.kg.errors import KGError, KGTimeout
from kgqa.kg.languages import foreign_to, language_name
from kgqa.kg.linking.schema_terms import is_same_name
from kgqa.kg.pages import ChainResult, Match, Mention
from kgqa.kg.terms import Chain, Entity, Hop, is_id, is_iri, one_line
from kgqa.priors.errors import EncoderError
from kgqa.prompts.base import MAX_QUESTION_CHARS
from kgqa.prompts.judge_claim import is_yes_no_question
from kgqa.prompts.translate_question import TranslateQuestion
from kgqa.retrieval.topics import rank_meanings
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import ref
from kgqa.runtime.state import State, Update, known_extensions
from kgqa.tools.arguments import chain_arguments


@node("link", opens=True)
async def link(state: State, runtime: NodeRuntime) -> Update:
    """Turn the given topics, or the question's mentions, into topic entities.

    The first is taken up as the root of a relation chain; the others refine its answer.
    One that the graph does not have is passed over, and the trace says so. One query gives the
    names of all of them and what leads on from them. A method whose ``all_topics`` is off has the first only.
    Without any, one that retrieves for a whole question goes on. A question in a language that the graph's
    names are not in is first said in theirs.
    """
    translated = await _translate(state["question"], runtime)
    question = translated or state["question"]
    topics_given = state.get("topics") or ()
    texts = (each if isinstance(each, str) else each["id"] or each["name"] or "" for each in topics_given)
    given = list(dict.fromkeys(texts))
    named = await (_named_by_topics(given, runtime) if given else _named_in_question(question, runtime))
    visits = await _visit_entities((entity for entity in named.entities if entity), runtime)
    topics: dict[Entity, None] = {}
    unlinked = [*named.unlinked]
    for place, entity in enumerate(named.entities):
        if entity and entity not in visits and given and _entity_by_id(given[place]):
            entity = await _find_unvisited(entity, given[place], runtime)
        if entity:
            topics[_as_called(entity, visits.get(entity))] = None
        elif given:
            unlinked.append(given[place])
    if not getattr(runtime.context, "all_topics", True):
        first, *others = topics or [None]
        unlinked += map(str, others)
        topics = {first: None} if first else {}
    runtime.trace["topics"] = [ref(topic) for topic in topics]
    if named.alternative_entities:
        runtime.trace["alternative_entities"] = {
            id: list(map(ref, others)) for id, others in named.alternative_entities.items()
        }
    if not topics:
        goes_on = runtime.context.retrieves and not given
        return {
            "translated": translated,
            "topic_entities": [],
            "unlinked": list(map(one_line, unlinked)),
            "mentioned_as": named.mentioned_as,
            "decision": "forward" if goes_on else "stop",
        }
    chains = [Chain(topic) for topic in topics]
    leads = [known_extensions(chain, visits[chain.topic]) for chain in chains if chain.topic in visits]
    return {
        "translated": translated,
        "topic_entities": list(topics),
        "linked": not given,
        "unlinked": list(map(one_line, unlinked)),
        "alternative_entities": named.alternative_entities,
        "classes": named.classes,
        "mentioned_as": named.mentioned_as,
        "chain": chains[0],
        "leads": leads,
        "resume_points": chains[::-1],
    }


async def _translate(question: str, runtime: NodeRuntime) -> str | None:
    """Return a question in the language of the graph's names; None where they are in its own.

    None as well, as the trace says, where the model cannot translate: names and values are then all there is.
    """
    asked = runtime.language
    if not asked or not runtime.context.translates:
        return None
    wanted = foreign_to(await runtime.call_tool("list_languages"), asked)
    if not wanted or await runtime.understands(asked):
        return None
    reply = await runtime.ask(TranslateQuestion(question, language_name(wanted)))
    if reply is None or reply.question is None:
        own, theirs = language_name(asked), language_name(wanted)
        runtime.trace["language"] = (
            f"the question is in {own} and the graph's names are in {theirs}: "
            f"with a language model it would be asked in {theirs}"
        )
        return None
    runtime.trace["translated"] = reply.question
    return reply.question


class _Named(NamedTuple):
    """What is named: an entity in each place, None for none, and what else may be meant."""

    entities: list[Entity | None]
    unlinked: list[str]
    alternative_entities: dict[str, list[Entity]]
    classes: dict[str, list[Hop]]
    mentioned_as: dict[str, str]


async def _named_by_topics(given: Sequence[str], runtime: NodeRuntime) -> _Named:
    """Return the entities that topics name by id or by name."""
    found = await _resolve_topics(given, runtime)
    alternative_entities = {first.id: others for first, *others in filter(None, found) if others}
    return _Named(
        [next(iter(each), None) for each in found], [*given[len(found) :]], alternative_entities, {}, {}
    )


async def _named_in_question(question: str, runtime: NodeRuntime) -> _Named:
    """Return the entities and classes that a question mentions, those that a search starts from."""
    mentions = await _find_mentions(question, runtime)
    if not mentions:
        runtime.trace["reason"] = "the question names no entity of the graph; give a topic"
    first = {mention: mention.matches[0] for mention in _topical(mentions, question, runtime)}
    return _Named(
        list(dict.fromkeys(match.entity for match in first.values())),
        [mention.text for mention, match in first.items() if match.how in {"fuzzy", "embedding"}],
        {
            match.entity.id: [other.entity for other in mention.matches[1:]]
            for mention, match in first.items()
            if len(mention.matches) > 1
        },
        {each.matches[0].entity.id: [*each.matches[0].hops] for each in mentions if each.is_class},
        {match.entity.id: each.text for each in mentions for match in each.matches},
    )


def _as_called(entity: Entity, visit: ChainResult | None) -> Entity:
    """Return an entity by the name that the graph has for it."""
    return Entity(entity.id, visit.ends.items[0].term.name or entity.name) if visit else entity


async def _find_mentions(question: str, runtime: NodeRuntime) -> list[Mention]:
    """Link a question; what a mention may mean is ordered by how well its relations say the question."""
    mentions: list[Mention] = await runtime.call_tool("link_entities", question=question)
    try:
        return await rank_meanings(question, mentions, runtime.encode)
    except EncoderError:
        return [replace(mention, matches=mention.matches[:1]) for mention in mentions]


def _topical(mentions: Sequence[Mention], question: str, runtime: NodeRuntime) -> list[Mention]:
    """Return the mentions that a search sets out from: of classes, where others are, those asked for.

    A question for yes or no about one thing may ask whether it is of a class. A method that does not retrieve
    needs none of them else: what it finds is seen to be of the class, or not.
    """
    others = [each for each in mentions if not each.is_class]
    if not others:
        return list(mentions)
    if len(others) == 1 and is_yes_no_question(question):
        return [*others, *(each for each in mentions if each.is_class)]
    asked = [each for each in mentions if each.is_class and each.is_asked and runtime.context.retrieves]
    return [*others, *asked[:1]]


async def _resolve_topics(texts: Sequence[str], runtime: NodeRuntime) -> list[list[Entity]]:
    """Return the entities that each names, the one that is taken first.

    Where the budget ends on the way, those that were found go on.
    """
    found: list[list[Entity]] = []
    for text in texts:
        try:
            by_id = _entity_by_id(text)
            found.append([by_id] if by_id else await _entities_by_name(text, runtime))
        except BudgetExceeded as error:
            if not any(found):
                raise
            runtime.trace["reason"] = str(error)
            break
    return found


def _entity_by_id(text: str) -> Entity | None:
    bare = text.strip().strip("<>")
    return Entity(bare) if is_id(bare) else None


async def _entities_by_name(text: str, runtime: NodeRuntime) -> list[Entity]:
    """Look an entity up by its name, or by an id that may be a name as well; then others of that name."""
    matches: list[Match] = []
    if len(text) <= MAX_QUESTION_CHARS:  # comparing a longer one with all names takes longer than it is worth
        matches = await runtime.call_tool("find_entities", name=text, limit=5)
    if matches and matches[0].sure:
        name = str(matches[0].entity)
        return [each.entity for each in matches if each.sure and is_same_name(str(each.entity), name)]
    if matches or not is_iri(text):
        near = f"; the nearest: {', '.join(str(match.entity) for match in matches)}" if matches else ""
        runtime.trace["error"] = f"no entity of the graph is called {one_line(text)!r}{near}"
    else:
        runtime.trace["error"] = f"no entity of the graph has the id {one_line(text)}"
    return []


async def _find_unvisited(entity: Entity, text: str, runtime: NodeRuntime) -> Entity | None:
    """Look up an entity given by its id that no visit has found; take it as it is where that fails."""
    try:
        return next(iter(await _entities_by_name(text, runtime)), None)
    except (BudgetExceeded, KGTimeout) as error:
        runtime.trace["leads"] = f"left out: {error}"
        return entity


async def _visit_entities(entities: Iterable[Entity], runtime: NodeRuntime) -> dict[Entity, ChainResult]:
    """Visit those that the graph knows; none where it fails, and they are asked for again."""
    asked = list(dict.fromkeys(entities))
    chains = [chain_arguments(Chain(entity)) for entity in asked]
    try:
        visits: list[ChainResult] = await runtime.call_tool("visit_chains", chains=chains) if chains else []
    except (KGError, BudgetExceeded) as error:
        runtime.trace["leads"] = f"left out: {error}"
        return {}
    return {entity: visit for entity, visit in zip(asked, visits, strict=True) if len(visit.ends)}
