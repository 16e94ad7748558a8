"""Coverage: which words of a question say nothing of a query, which then answers a wider one? (ours).

Words are aligned with what a query is made of, its relations, classes, values and answers, by their stems
and by a sentence encoder. For each relation but a name one phrase more may stand, which paraphrases it ("come
from") or joins what says it ("belong to the region").
"""

from calendar import month_name
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kgqa.kg.languages import detect_language
from kgqa.kg.linking.class_names import asked_kind
from kgqa.kg.linking.name_words import NAMING_PHRASES
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.sparql.derived import leads_to_members
from kgqa.kg.terms import ANY, Entity, Hop, Term, local_name, value_node
from kgqa.kg.text import fold, in_plural, split_words
from kgqa.nodes.cues import is_cue
from kgqa.nodes.said import is_number_word
from kgqa.priors.encoder import Vectors
from kgqa.priors.errors import EncoderError
from kgqa.priors.masking import OTHER_MASK, TOPIC_MASK, mask_topic
from kgqa.retrieval.confidence import MIN_SUPPORT
from kgqa.retrieval.wording import (
    ASKING_WORDS,
    AUXILIARIES,
    IGNORED_WORDS,
    MIN_STEM_SAID,
    relation_texts,
    word_similarity,
)
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import State

CLASS_MASK = "[CLASS]"  # stands for the class that is asked for
MAX_ANSWERS_READ = 50
MIN_PHRASE_SAID = 0.8  # likeness of a phrase as a whole to what says all of it

_MONTHS = frozenset(map(fold, month_name[1:]))


class _Token(NamedTuple):
    """A word of a question, a mask or an end of a clause; whether it carries meaning, and is a name."""

    text: str
    content: bool = False
    is_name: bool = False


class _Phrase(NamedTuple):
    """Words of a question in a row that carry meaning, and what stands before and after them."""

    words: tuple[str, ...]
    before: str
    after: str
    is_name: bool

    def __str__(self) -> str:
        return " ".join(self.words)

    @property
    def is_another(self) -> bool:
        """Whether they name another thing."""
        return self.is_name and OTHER_MASK not in {self.before, self.after}

    @property
    def restricts(self) -> bool:
        """Whether they say which of a class are meant: "red cars", "cars are red"."""
        return self.after == CLASS_MASK or (self.before in AUXILIARIES and not self.after)

    @property
    def is_kind(self) -> bool:
        """Whether they may only say what the answers are, or what is named after them: "the film Rope"."""
        return self.before in {"which", "what"} or self.after == OTHER_MASK


async def uncovered_phrases(
    query: AnswerQuery, answers: Sequence[Term], state: State, runtime: NodeRuntime
) -> list[str]:
    """Return the words of a question that nothing of a query says.

    Names among them where topics were found in the question; where these are given, so is which names count.
    None where a model may have considered them when it picked, nor where words cannot be compared: in other
    languages than English, and without an encoder.
    """
    if query.picked:
        return []
    chains = [chain for branch in query.branches for chain in branch.chains]
    terms: list[Term] = [chain.topic for chain in chains if chain.topic != ANY]
    terms += [entity for chain in chains for held in chain.constraints for entity in held.entities]
    terms += [each.value for each in query.conditions if each.value]
    hops = [hop for hop in _hops(query) if not leads_to_members(hop)]
    alike = [hop for branch in query.branches for chain in branch.others for hop in chain.hops]
    computed = query.aggregate is not None and query.aggregate.function != "count"
    said = Said(
        tuple(terms),
        tuple(each.words for each in query.conditions),
        tuple(hop.words for hop in hops),
        tuple(hop.words for hop in alike),
        int(computed),
    )
    return await unsaid_phrases(said, answers, state, runtime)


class Said(NamedTuple):
    """What a query says.

    Attributes:
        terms: The entities and values that it names, beside topics.
        texts: What else says words of a question.
        relations: The words of its relations, as often as it follows them.
        alike: Those of others that say the same.
        computed: How many things are computed, each of which may be said by a phrase.
    """

    terms: tuple[Term, ...]
    texts: tuple[str, ...]
    relations: tuple[str, ...]
    alike: tuple[str, ...] = ()
    computed: int = 0


async def unsaid_phrases(
    query: Said, answers: Sequence[Term], state: State, runtime: NodeRuntime
) -> list[str]:
    """Return the words of a question that nothing says of what a query says; see `uncovered_phrases`."""
    if detect_language(state["question"]) not in {"", "en"}:
        return []
    names = _names(query.terms, state)
    masked, unfound = _mask(names, state)
    for each in state["passed_over"]:
        masked = mask_topic(masked, each, ()).replace(TOPIC_MASK, OTHER_MASK)
    named = {word for answer in answers[:MAX_ANSWERS_READ] for word in fold(str(answer)).split()}
    phrases = [each for each in _phrases(masked) if not (named.issuperset(each.words) or is_cue(str(each)))]
    relations = (text for words in (*query.relations, *query.alike) for text in relation_texts(words))
    said = sorted({*filter(None, map(fold, [*names, *query.texts])), *relations})
    asked = sorted({text for each in phrases for text in (str(each), *each.words)})
    if not (asked and said):
        return [*map(str, phrases)]
    try:
        compared = _Likeness(asked, said, await runtime.encode([*asked, *said]))
    except EncoderError:
        return []
    paraphrases = sum(fold(words) not in NAMING_PHRASES for words in query.relations)
    paraphrases += query.computed + unfound
    left = [each for each in phrases if compared.least(each, said) < MIN_SUPPORT]
    plain = [each for each in left if not each.restricts and not each.is_kind]
    apart = {each: best for each in plain if (best := compared.best(each, said)) < MIN_SUPPORT}
    beyond = sorted(apart, key=lambda each: -apart[each])[paraphrases:]
    must_be = [each for each in left if each.restricts or (each.is_another and state["linked"])]
    return [str(each) for each in left if each in must_be or each in beyond]


class _Likeness:
    """How far words of a question are said by texts: by a common stem, or by what they mean."""

    def __init__(self, asked: Sequence[str], said: Sequence[str], rows: Vectors) -> None:
        self._rows = dict(zip((*asked, *said), rows, strict=True))

    def _cosine(self, one: str, other: str) -> float:
        return float(self._rows[one] @ self._rows[other])

    def _word(self, word: str, texts: Iterable[str]) -> float:
        stems = (word_similarity(word, other) for text in texts for other in text.split())
        stem = max(stems, default=0.0)
        return max(stem if stem >= MIN_STEM_SAID else 0.0, *(self._cosine(word, text) for text in texts))

    def best(self, phrase: _Phrase, texts: Sequence[str]) -> float:
        """Return how well the word is said that is said best."""
        return max(self._word(word, texts) for word in phrase.words)

    def least(self, phrase: _Phrase, texts: Sequence[str]) -> float:
        """Return how well the word is said that is said least; words that are said together are said."""
        whole = max(self._cosine(str(phrase), text) for text in texts)
        return whole if whole >= MIN_PHRASE_SAID else min(self._word(word, texts) for word in phrase.words)


def _names(terms: Iterable[Term], state: State) -> dict[str, Entity]:
    """Return what the question calls topics, classes and the terms of a query, the longest names first."""
    every = (*state["topic_entities"], *terms)
    known = [term if isinstance(term, Entity) else value_node(term) for term in every]
    known += [Entity(id, local_name(id)) for id in state["classes"]]
    names = {state["said_as"].get(each.id, str(each)): each for each in reversed(known)}
    return dict(sorted(names.items(), key=lambda pair: (-len(pair[0]), pair[0])))


def _mask(names: Mapping[str, Entity], state: State) -> tuple[str, int]:
    """Return a question without names, and how many topics are not found in it by theirs."""
    classes = {entity: name for name, entity in names.items() if entity.id in state["classes"]}
    kind = asked_kind(state["question"], classes)
    masked, unfound = state["question"], 0
    for name, entity in names.items():
        mark = CLASS_MASK if entity == kind else OTHER_MASK
        found = (mask_topic(masked, words, ()) for words in (name, in_plural(name)))
        text = next((each for each in found if each != masked), masked)
        unfound += text == masked and entity in state["topic_entities"]
        masked = text.replace(TOPIC_MASK, mark)
    return masked, unfound


def _phrases(masked: str) -> Iterator[_Phrase]:
    """Yield the content words of a masked question that stand in a row."""
    before, run = "", list[_Token]()
    for token in (*_tokens(masked), _Token("")):
        if token.content:
            run.append(token)
            continue
        if run:
            words = tuple(each.text for each in run)
            yield _Phrase(words, before, token.text, any(each.is_name for each in run))
        before, run = token.text, []


def _tokens(masked: str) -> Iterator[_Token]:
    """Yield words and masks, and an empty token where a clause ends.

    The first word only asks, or is a name. A number, its unit and a month are read as values elsewhere.
    """
    end, number = 0, True
    for word in split_words(masked):
        text, mark = fold(word.text), masked[max(0, word.start - 1) : word.end + 1]
        if masked[end : word.start].strip(" -['’"):
            yield _Token("")
            number = False
        is_number = is_number_word(text) or text in _MONTHS
        if mark in {CLASS_MASK, OTHER_MASK}:
            yield _Token(mark)
        else:
            silent = number or is_number or text in IGNORED_WORDS | ASKING_WORDS
            yield _Token(text, not silent, word.text.istitle())
        end, number = word.end, is_number


def _hops(query: AnswerQuery) -> list[Hop]:
    """Return the hops of a query, as often as they are in it: of chains, conditions and what it compares."""
    chains = (hop for branch in query.branches for hop in branch.chain.hops)
    attributes = (hop for each in query.conditions for hop in each.attribute)
    return [*chains, *attributes, *(query.aggregate.attribute if query.aggregate else ())]
