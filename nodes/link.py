"""Link: which entities of the graph is the question about, and what leads on from them?"""

from collections.abc import Sequence

from kgqa.kg.errors import KGError
from kgqa.kg.pages import Match, Mention, Visit
from kgqa.kg.terms import Chain, Entity, is_id, is_iri, one_line
from kgqa.prompts.base import QUESTION_LIMIT
from kgqa.session.record import Ref, ref
from kgqa.session.state import State, Update, lead_of
from kgqa.session.step import BudgetExceeded, Run, step
from kgqa.tools.arguments import chain_arguments


@step("link", opens=True)
async def link(state: State, run: Run) -> Update:
    """Turn the given topics, or the question's mentions, into topic entities.

    The first is taken up as the root of a relation chain; the others refine its answer.
    One that the graph does not have is passed over, and the trace says so. One query gives the
    names of all of them and what leads on from them.
    """
    given = list(dict.fromkeys(map(_text, state.get("topics") or ())))
    named = await _given(given, run) or await _mentioned(state, run)
    visits = await _visited([entity for entity in named if entity], run)
    topics: dict[Entity, None] = {}
    for place, entity in enumerate(named):
        if entity and entity not in visits and given and _by_id(given[place]):
            entity = await _called(given[place], run)
        if entity:
            topics[_shown(entity, visits)] = None
    run.note["topics"] = [ref(topic) for topic in topics]
    if not topics:
        return {"topic_entities": [], "decision": "stop"}
    chains = [Chain(topic) for topic in topics]
    leads = [lead_of(chain, visits[chain.topic]) for chain in chains if chain.topic in visits]
    return {"topic_entities": list(topics), "chain": chains[0], "leads": leads, "points": chains[::-1]}


async def _given(texts: Sequence[str], run: Run) -> list[Entity | None]:
    """Give the entity of each; where the budget ends on the way, those that were found go on."""
    found: list[Entity | None] = []
    for text in texts:
        try:
            found.append(_by_id(text) or await _called(text, run))
        except BudgetExceeded as error:
            if not any(found):
                raise
            run.note["reason"] = str(error)
            break
    return found


def _text(topic: str | Ref) -> str:
    return topic if isinstance(topic, str) else topic["id"] or topic["name"] or ""


def _by_id(text: str) -> Entity | None:
    bare = text.strip().strip("<>")
    return Entity(bare) if is_id(bare) else None


async def _called(text: str, run: Run) -> Entity | None:
    """Look an entity up by its name, or by an id that may be a name as well (``Re:Zero``)."""
    too_long = len(text) > QUESTION_LIMIT  # to compare it with all names would take longer than it is worth
    matches: list[Match] = [] if too_long else await run.use("find_entities", name=text, limit=5)
    if matches and matches[0].sure:
        return matches[0].entity
    if is_iri(text) and not matches:
        run.note["error"] = f"no entity of the graph has the id {one_line(text)}"
        return None
    near = ", ".join(str(match.entity) for match in matches)
    run.note["error"] = f"no entity of the graph is called {one_line(text)!r}" + (
        f"; the nearest: {near}" if near else ""
    )
    return None


async def _mentioned(state: State, run: Run) -> list[Entity | None]:
    mentions: list[Mention] = await run.use("link_entities", question=state["question"])
    if not mentions:
        run.note["reason"] = "the question names no entity of the graph; give a topic"
    return [mention.matches[0].entity for mention in mentions]


async def _visited(entities: Sequence[Entity], run: Run) -> dict[Entity, Visit]:
    """Visit those that the graph knows; none where it fails, whoever needs them asks again."""
    chains = [chain_arguments(Chain(entity)) for entity in dict.fromkeys(entities)]
    try:
        visits: list[Visit] = await run.use("visit_chains", chains=chains) if chains else []
    except (KGError, BudgetExceeded) as error:
        run.note["leads"] = f"left out: {error}"
        return {}
    found = zip(dict.fromkeys(entities), visits, strict=True)
    return {entity: visit for entity, visit in found if len(visit.ends)}


def _shown(entity: Entity, visits: dict[Entity, Visit]) -> Entity:
    """Give an entity with the name that the graph has for it."""
    visit = visits.get(entity)
    return Entity(entity.id, visit.ends.items[0].term.name) if visit else entity
