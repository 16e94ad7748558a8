"""Link: which entities of the graph is the question about?"""

from kgqa.kg.pages import Match, Mention
from kgqa.kg.terms import Chain, Entity, is_iri
from kgqa.session.record import Ref, ref
from kgqa.session.state import State, Update
from kgqa.session.step import Run, step


@step("link", opens=True)
async def link(state: State, run: Run) -> Update:
    """Turn the given topics, or the question's mentions, into topic entities.

    The first is taken up as the root of a relation chain; the others refine its answer.
    One that the graph does not have is passed over, and the trace says so.
    """
    given = state.get("topics")
    found = [await _resolve(topic, run) for topic in given] if given else await _mentioned(state, run)
    topics = list(dict.fromkeys(topic for topic in found if topic))
    run.note["topics"] = [ref(topic) for topic in topics]
    if not topics:
        return {"topic_entities": [], "decision": "stop"}
    return {"topic_entities": topics, "chain": Chain(topics[0]), "decision": "forward"}


async def _resolve(topic: str | Ref, run: Run) -> Entity | None:
    text = topic if isinstance(topic, str) else topic["id"] or topic["name"] or ""
    matches: list[Match] = await run.use("find_entities", name=text, limit=5)
    if matches and matches[0].sure:
        return matches[0].entity
    if is_iri(text) and not matches:
        run.note["error"] = f"no entity of the graph has the id {text}"
        return None
    near = ", ".join(str(match.entity) for match in matches)
    run.note["error"] = f"no entity of the graph is called {text!r}" + (
        f"; the nearest: {near}" if near else ""
    )
    return None


async def _mentioned(state: State, run: Run) -> list[Entity | None]:
    mentions: list[Mention] = await run.use("link_entities", question=state["question"])
    if not mentions:
        run.note["reason"] = "the question names no entity of the graph; give a topic"
    return [mention.matches[0].entity for mention in mentions]
