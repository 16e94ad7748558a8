"""Describe: what can a query about the question be made of?"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgqa.kg.pages import ChainResult, Description, Mention
from kgqa.kg.terms import Chain, Entity, Hop, Literal, plain_term, value_node
from kgqa.kg.text import fold, in_singular, split_words
from kgqa.nodes.draft.state import Described, DraftState, DraftUpdate, undrafted
from kgqa.nodes.similarity import most_similar, similarity
from kgqa.priors.candidate_ranking import bm25_scores
from kgqa.prompts.base import quoted
from kgqa.retrieval.wording import IGNORED_WORDS, MIN_STEM_SAID, word_similarity
from kgqa.runtime.node import NodeRuntime, node
from kgqa.tools.arguments import chain_arguments
from kgqa.tools.drafts import DescribedClass, DraftSchema, FoundTerm

MAX_CARD_CHARS = 4_800  # characters of the cards that are shown, some 1,500 tokens

MAX_CLASSES_COMPARED = 300
MAX_PROPERTIES = 14  # of a class, where it has more those that are most alike to the question
MAX_FOUND = 10  # entities and values that are shown
MAX_MEANINGS = 3  # of one mention
MAX_PARTS = 3  # words of a mention that may name things each for itself
MAX_MEMBERS_LISTED = 12  # of a class, by name
MAX_VALUES_IN_PART = 5  # that the question does not say as a whole
MAX_OWNERS = 3  # classes with a property, for a value of it to be of one of them
MAX_RELATIONS = 6  # by which one of these is linked
MAX_COUNTED = 30  # values and properties for which it is counted how many nodes have them
JOINED_SHARE = 0.9  # of the similarity of a class, for those that it joins


@node("describe")
async def describe(state: DraftState, runtime: NodeRuntime) -> DraftUpdate:
    """Describe the classes that the question needs, those that join them, and what its words are called.

    Classes that it names, and those of the entities and values that it names, come first; the others by how
    alike they or their properties are to the question, as long as there is room.
    """
    schema: DraftSchema = await runtime.call_tool("describe_schema", classes=[*state["classes"]])
    alternatives, parts, meant = await _alternatives(state, runtime)
    found = await _find(meant, state, schema, runtime)
    classes = await _choose(schema.classes, [*state["classes"], *found.classes], state["question"], runtime)
    lines = [*dict.fromkeys(found.lines), *_values_in_part(classes, state["question"], schema)]
    classes, members = await _list_members(classes, schema, runtime)
    runtime.trace |= {"classes": [each.words for each in classes], "found": lines}
    described = Described(classes, [], lines, found.terms, alternatives, parts, members)
    text = "\n".join([*described.lines, *lines])
    prefixes = [f"{prefix}: <{iri}>" for prefix, iri in schema.prefixes.items() if f"{prefix}:" in text]
    return undrafted(replace(described, prefixes=prefixes))


async def _list_members(
    classes: Sequence[DescribedClass], schema: DraftSchema, runtime: NodeRuntime
) -> tuple[list[DescribedClass], list[Entity]]:
    """Return classes with all members in the line of those that have few, and these members."""
    small = [each.id for each in classes if 0 < each.members <= MAX_MEMBERS_LISTED]
    found: Mapping[str, Sequence[Entity]] = await runtime.try_tool("list_members", classes=small) or {}
    listed = [
        replace(each, line="\n".join([each.line, *_draw_members(found.get(each.id, ()), schema)]))
        for each in classes
    ]
    return listed, [each for some in found.values() for each in some]


@dataclass
class _Found:
    """What words of the question are called: in lines, as terms, and of which classes that is."""

    lines: list[str] = field(default_factory=list)
    terms: list[FoundTerm] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)


async def _find(
    meant: Sequence[Entity], state: DraftState, schema: DraftSchema, runtime: NodeRuntime
) -> _Found:
    """Find what entities and values are called in the graph, and what leads on from them."""
    named = [value_node(Literal(each.name)) for each in meant if each.name and plain_term(each) == each]
    asked = list(dict.fromkeys([*meant, *named]))
    chains = [chain_arguments(Chain(each)) for each in asked]
    visits: Sequence[ChainResult] = []
    if chains:
        visits = await runtime.try_tool("visit_chains", chains=chains, ends=False) or []
    owners: dict[str, list[str]] = {}
    for of in schema.classes:
        for part in of.properties:
            owners.setdefault(part.relation, []).append(of.id)
    mentioned_as = state["mentioned_as"]
    texts = {each.name: text for each in meant if (text := mentioned_as.get(each.id))}
    found = _Found()
    having = await _having(asked, visits, runtime)
    by_similarity = {
        topic: await _most_similar_first([*visit.hops], state["question"], runtime)
        for topic, visit in zip(asked, visits, strict=False)
    }
    for topic, hops in by_similarity.items():
        value = plain_term(topic)
        text = mentioned_as.get(topic.id) or texts.get(topic.name or "") or str(topic)
        if isinstance(value, Literal):
            known = [hop for hop in hops if hop.relation in owners or topic in meant]
            _add_value(found, topic, FoundTerm(text, value, hops=tuple(known)), owners, having, schema)
            continue
        is_class = any(each.id == value.id for each in schema.classes)
        types = [] if is_class else await _types(topic, runtime)
        term = FoundTerm(text, Entity(value.id, topic.name), tuple(types), tuple(hops))
        found.terms.append(term)
        found.classes += types or [value.id]
        found.lines.append(_draw_entity(term, owners, schema, leads=not is_class))
    return found


async def _most_similar_first(hops: list[Hop], question: str, runtime: NodeRuntime) -> list[Hop]:
    """Return hops as they are where all can be shown, else the most similar to a question first."""
    if len(hops) <= MAX_RELATIONS:
        return hops
    alike = dict(zip(hops, await similarity([hop.words for hop in hops], question, runtime), strict=True))
    return sorted(hops, key=lambda hop: -alike[hop])


async def _having(
    asked: Sequence[Entity], visits: Sequence[ChainResult], runtime: NodeRuntime
) -> dict[Chain, str]:
    """Return how many nodes have a value, by each property that has it: a name of one thing is no kind."""
    values = [each for each in zip(asked, visits, strict=False) if isinstance(plain_term(each[0]), Literal)]
    links = [Chain(topic, (hop,)) for topic, visit in values for hop in visit.hops if not hop.forward]
    links = links[:MAX_COUNTED]
    pages: Sequence[ChainResult] = []
    if links:
        asking = {"chains": [*map(chain_arguments, links)], "hops": False}
        pages = await runtime.try_tool("visit_chains", **asking) or []
    return {
        link: f"{len(page.ends)}{' or more' if page.ends.truncated else ''}"
        for link, page in zip(links, pages, strict=False)
    }


def _add_value(
    found: _Found,
    topic: Entity,
    term: FoundTerm,
    owners: Mapping[str, Sequence[str]],
    having: Mapping[Chain, str],
    schema: DraftSchema,
) -> None:
    """Add a value to what is found, as far as a property has it."""
    by = [hop for hop in term.hops if not hop.forward]
    found.lines += _draw_value(topic, by, owners, having, schema)
    some = [owners.get(hop.relation, ()) for hop in by]
    found.classes += [id for ids in some if len(ids) <= MAX_OWNERS for id in ids]
    if by:
        found.terms.append(term)


async def _alternatives(
    state: DraftState, runtime: NodeRuntime
) -> tuple[list[list[Entity]], dict[str, list[Entity]], list[Entity]]:
    """Return what each mention of the question may mean, what its words mean, and what is shown of it.

    Where it has a name, that is shown. Topics that are given mean themselves.
    """
    topics = [[topic, *state["alternative_entities"].get(topic.id, ())] for topic in state["topic_entities"]]
    mentions: list[Mention] = []
    if state["linked"]:
        mentions = await runtime.try_tool("link_entities", question=state["question"]) or []
    alternatives = [[match.entity for match in mention.rivals or mention.matches] for mention in mentions]
    known = {each for some in alternatives for each in some}
    others = [some for some in topics if some[0] not in known]
    sure = [[match.entity for match in mention.matches if match.sure] for mention in mentions]
    meant = [(named or some)[:MAX_MEANINGS] for named, some in zip(sure, alternatives, strict=True)]
    parts = {mention.matches[0].entity.id: await _parts(mention, runtime) for mention in mentions}
    shown = dict.fromkeys(each for some in (*meant, *others) for each in some)
    apart = [each for some in parts.values() for each in some if each not in shown]
    found = [*[*shown][:MAX_FOUND], *apart[:MAX_FOUND]]
    return [*alternatives, *others], {id: some for id, some in parts.items() if some}, found


async def _parts(mention: Mention, runtime: NodeRuntime) -> list[Entity]:
    """Return what the words of a mention name each for itself, if all do: "sensor" and "switch"."""
    words = in_singular(mention.text).split()
    if mention.is_class or not 1 < len(words) <= MAX_PARTS:
        return []
    apart = " or ".join(reversed(words))  # so that they are no phrase
    found: list[Mention] = await runtime.try_tool("link_entities", question=apart) or []
    named = [each.matches[0].entity for each in found if each.matches[0].sure and " " not in each.text]
    return named if len(named) == len(words) else []


def _draw_members(members: Sequence[Entity], schema: DraftSchema) -> Iterator[str]:
    """Say which members a class has, where it has few."""
    if members:
        drawn = (f"{quoted(str(each))} {schema.names.write(each.id)}" for each in members)
        yield f"  all members: {', '.join(drawn)}"


def _values_in_part(chosen: Sequence[DescribedClass], question: str, schema: DraftSchema) -> list[str]:
    """Say which values of enumerations that no card lists the question has words of, most of them first."""
    asked = {fold(word.text) for word in split_words(question)} - IGNORED_WORDS
    found: dict[str, float] = {}
    for of in chosen:
        for part, value in ((each, value) for each in of.properties for value in each.values):
            words = {*fold(value).split()} - IGNORED_WORDS
            said = [
                word for word in words if any(word_similarity(word, each) >= MIN_STEM_SAID for each in asked)
            ]
            if said and quoted(value) not in part.line:
                write = schema.names.write
                line = f"{quoted(value)}: {write(part.relation)} {quoted(value)} of {write(of.id)}"
                found[line] = len(said) / len(words)
    return sorted(found, key=lambda line: -found[line])[:MAX_VALUES_IN_PART]


async def _types(topic: Entity, runtime: NodeRuntime) -> list[str]:
    found: Description | None = await runtime.try_tool("describe_entity", entity=topic.id, limit=1)
    return [each.id for each in found.types] if found else []


def _draw_entity(
    term: FoundTerm, owners: Mapping[str, Sequence[str]], schema: DraftSchema, *, leads: bool
) -> str:
    """Say what an entity is called, of which classes it is, and how it is linked, where that ``leads`` on."""
    write, entity = schema.names.write, term.term
    called = f"{quoted(entity.name)}: {write(entity.id)}" if entity.name else write(entity.id)
    kinds = f" (a {', '.join(map(write, term.classes))})" if term.classes else ""
    known = [hop for hop in term.hops if hop.relation in owners] or [*term.hops]
    drawn = [
        f"?x {write(hop.relation)} it" if not hop.forward else f"it {write(hop.relation)} ?x" for hop in known
    ]
    return called + kinds + (f"; {', '.join(drawn[:MAX_RELATIONS])}" if drawn and leads else "")


def _draw_value(
    topic: Entity,
    by: Sequence[Hop],
    owners: Mapping[str, Sequence[str]],
    having: Mapping[Chain, str],
    schema: DraftSchema,
) -> Iterator[str]:
    """Say which properties have a value, and how many members of which classes."""
    write, value = schema.names.write, plain_term(topic)
    tag = f"@{value.language}" if isinstance(value, Literal) and value.language else ""
    for hop in by[:MAX_RELATIONS]:
        of = [write(id) for id in owners.get(hop.relation, ()) if id]
        classes = ", ".join(of) if 0 < len(of) <= MAX_OWNERS else ""
        many = having.get(Chain(topic, (hop,)), "")
        said = " ".join(filter(None, [many, classes]))
        called = f"{quoted(topic.name or str(value))}: {write(hop.relation)} {quoted(str(value))}{tag}"
        yield called + (f" of {said}" if said else "")


async def _choose(
    classes: Sequence[DescribedClass], named: Sequence[str], question: str, runtime: NodeRuntime
) -> list[DescribedClass]:
    """Return the classes that a question needs, in the order of the profile, as far as there is room."""
    if len(classes) > MAX_CLASSES_COMPARED:
        texts = [" ".join([each.words, *(part.words for part in each.properties)]) for each in classes]
        scored = await asyncio.to_thread(bm25_scores, texts, question)
        near = {classes[at].id for at in most_similar(scored, MAX_CLASSES_COMPARED)}
        classes = [each for each in classes if each.id in near or each.id in named]
    texts = sorted(
        {text for each in classes for text in (each.words, *(part.words for part in each.properties))}
    )
    alike = dict(zip(texts, await similarity(texts, question, runtime), strict=True))
    cut = {each.id: _with_most_similar(each, alike) for each in classes}
    scores = {
        each.id: max([alike[each.words], *(alike[part.words] for part in each.properties)])
        for each in classes
    }
    top = max(scores.values(), default=0.0)
    scores |= {id: 1.0 + top for id in named if id in scores}
    for each in classes:  # what joins a class is needed with it
        for part in cut[each.id].properties:
            for end in part.joins:
                if end in scores:
                    scores[end] = max(scores[end], JOINED_SHARE * min(scores[each.id], top))
    room, chosen = MAX_CARD_CHARS, set[str]()
    for at in most_similar([scores[each.id] for each in classes], len(classes)):
        each = cut[classes[at].id]
        size = sum(len(line) + 1 for line in (each.line, *(part.line for part in each.properties)))
        if size <= room:
            room -= size
            chosen.add(each.id)
    return [cut[each.id] for each in classes if each.id in chosen]


def _with_most_similar(of: DescribedClass, alike: Mapping[str, float]) -> DescribedClass:
    """Return a class with those of its properties that are most alike to the question, in their order."""
    kept = {*most_similar([alike[part.words] for part in of.properties], MAX_PROPERTIES)}
    return replace(of, properties=tuple(part for at, part in enumerate(of.properties) if at in kept))
