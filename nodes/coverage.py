"""Coverage: which words of a question say nothing of a query, which then answers a wider one? (ours).

Words are aligned with what a query is made of, its relations, classes, values and answers, by their stems
and by a sentence encoder. For each relation but a name one phrase more may stand, which paraphrases it ("come
from") or joins what says it ("belong to the region").
"""

from calendar import month_name
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kgqa.kg.languages import MAX_ABBREVIATION_CHARS, detect_language, name_starts
from kgqa.kg.linking.class_names import asked_kind
from kgqa.kg.linking.schema_terms import NAMING_PHRASES
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.sparql.derived import leads_to_members
from kgqa.kg.terms import ANY, Entity, Hop, Term, is_value_id, local_name, value_node
from kgqa.kg.text import fold, in_plural, split_words
from kgqa.nodes.mentioned import is_number_word
from kgqa.nodes.modifiers import asked_extremes, without_modifiers
from kgqa.priors.encoder import Vectors
from kgqa.priors.errors import EncoderError
from kgqa.priors.masking import OTHER_MASK, TOPIC_MASK, mask_topic
from kgqa.retrieval.confidence import MIN_SUPPORT
from kgqa.retrieval.wording import (
    ASKING_WORDS,
    AUXILIARIES,
    IGNORED_WORDS,
    MIN_STEM_SAID,
    relation_phrase,
    relation_texts,
    word_similarity,
)
from kgqa.retrieval.years import without_eras
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import State

CLASS_MASK = "[CLASS]"  # stands for the class that is asked for
MAX_ANSWERS_READ = 50
MIN_PHRASE_SAID = 0.8  # similarity of a phrase as a whole to what says all of it

_MONTHS = frozenset(map(fold, month_name[1:]))
_BEFORE_KIND = frozenset({"which", "what", "many"})
_ACTING = frozenset({"do", "does", "did"})
_SPEAKERS = frozenset({"i", "we", "you"})  # what they do restricts no answer: "what do you call"


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

    def is_namesake(self, known: Collection[str]) -> bool:
        """Return whether they make another name of one beside them: by an initial, or more than is known."""
        unknown = [word for word in self.words if word not in known]
        told = len(unknown) < len(self.words) or any(len(word) == 1 for word in unknown)
        return self.is_name and bool(unknown) and told and OTHER_MASK in {self.before, self.after}

    @property
    def is_placeholder(self) -> bool:
        """Whether they are letters beside no name: "product A and product B"."""
        return all(len(word) == 1 for word in self.words) and OTHER_MASK not in {self.before, self.after}

    @property
    def restricts(self) -> bool:
        """Whether they say before the class that is asked for which are meant: "red cars"."""
        return self.after == CLASS_MASK

    @property
    def is_predicate(self) -> bool:
        """Whether they say after it which are meant: "cars are red"."""
        return self.before in AUXILIARIES and not self.after

    @property
    def is_of_name(self) -> bool:
        """Whether they end what is said of a name: "is Wolf proud", and "does Wolf make"."""
        return self.before == OTHER_MASK and not self.after

    @property
    def is_kind(self) -> bool:
        """Whether they may only say what the answers are, or what is named after them: "the film Rope"."""
        return self.before in _BEFORE_KIND or self.after == OTHER_MASK


async def uncovered_phrases(
    query: AnswerQuery, answers: Sequence[Term], state: State, runtime: NodeRuntime
) -> list[str]:
    """Return the words of a question that nothing of a query says.

    Names among them where topics were found in the question; where these are given, so is which names count.
    None where a model may have considered them when it picked, nor in other languages than English. Without
    an encoder words are compared by their stems alone.
    """
    if query.picked:
        return []
    names = _names(_terms(query, state), state)
    hops = [hop for hop in _hops(query) if not leads_to_members(hop)]
    alike = (hop for branch in query.branches for chain in branch.others for hop in chain.hops)
    said = [*names, *(each.words for each in query.conditions)]
    said += [text for hop in (*hops, *alike) for text in relation_texts(hop.words)]
    computed = query.aggregate is not None and query.aggregate.function != "count"
    paraphrases = sum(fold(hop.words) not in NAMING_PHRASES for hop in hops) + computed
    parts = [relation_texts(hop.words) for hop in hops] + [(each.words,) for each in query.conditions]
    return await _uncovered(names, said, paraphrases, (), answers, state, runtime, parts)


async def uncovered_by_terms(
    relations: Collection[str],
    terms: Iterable[Term],
    others: Iterable[str],
    words: Iterable[str],
    answers: Sequence[Term],
    state: State,
    runtime: NodeRuntime,
) -> list[str]:
    """Return the words of a question that nothing of a query says which is made of relations and terms.

    Relations are given in words. What it says besides is said by ``words``. Any word is among them that
    only one of ``others`` says, by which the query might have been made as well.
    """
    terms = [*terms]
    names = _names([*state["topic_entities"], *terms], state)
    said = [
        *words,
        *names,
        *map(str, terms),
        *(text for each in relations for text in relation_texts(each)),
    ]
    rivals = [text for each in others for text in relation_texts(each)]
    paraphrases = sum(fold(relation_phrase(each)) not in NAMING_PHRASES for each in relations)
    return await _uncovered(names, said, paraphrases, rivals, answers, state, runtime)


def can_compare(question: str) -> bool:
    """Return whether words of a question can be compared with those of a graph: in English alone."""
    return detect_language(question) in {"", "en"}


async def _uncovered(
    names: Mapping[str, Entity],
    names_and_words: Iterable[str],
    paraphrases: int,
    rivals: Iterable[str],
    answers: Sequence[Term],
    state: State,
    runtime: NodeRuntime,
    parts_of_query: Sequence[Sequence[str]] = (),
) -> list[str]:
    if not can_compare(state["question"]):
        return []
    masked, unfound = _mask(names, state)
    alone = masked == state["question"] and not state["topic_entities"]
    for each in state["unlinked"]:
        masked = mask_topic(masked, each, ()).replace(TOPIC_MASK, OTHER_MASK)
    named = {word for answer in answers[:MAX_ANSWERS_READ] for word in fold(str(answer)).split()}
    phrases = [each for each in _phrases(masked) if not (named.issuperset(each.words) or each.is_placeholder)]
    whole = [*filter(None, (fold(str(each)) for each in names.values()))]
    known = {word for name in whole for word in name.split()}
    said = sorted({*whole, *filter(None, map(fold, names_and_words))})
    taken = sorted({*filter(None, map(fold, rivals))} - {*said})
    parts = sorted({*said, *(word for text in said for word in text.split())}) if taken else []
    asked = sorted({text for each in phrases for text in (str(each), *each.words)})
    if not (asked and said):
        return [*map(str, phrases)]
    if alone:  # a query of relations alone may be of anything: what is only alike may be what is meant
        words = dict.fromkeys(each for phrase in phrases for each in phrase.words if not asked_extremes(each))
        by_stems = Similarity({})
        return [word for word in words if by_stems.word(word, said) < MIN_SUPPORT]
    texts = [*asked, *said, *parts, *taken]
    try:
        compared = Similarity(dict(zip(texts, await runtime.encode(texts), strict=True)))
    except EncoderError:
        compared = Similarity({})
    left = [each for each in phrases if compared.least(each, said) < MIN_SUPPORT]
    apart = {each: best for each in left if (best := compared.best(each, said)) < MIN_SUPPORT}
    # the verb of "does" is that of the relation, and after a value stands its unit
    acts = not _ACTING.isdisjoint(fold(masked).split()) or any(
        is_value_id(each.id) for each in names.values()
    )
    strict = {each for each in apart if each.is_predicate or (each.is_of_name and not acts)}
    strict |= {each for each in left if each.restricts}
    plain = [each for each in apart if each not in strict and not each.is_kind]
    beyond = sorted(plain, key=lambda each: -apart[each])[paraphrases + unfound :]
    must_be = [each for each in left if each in strict or (each.is_another and state["linked"])]
    must_be += [each for each in left if each.is_namesake(known)]
    again = [*_said_again([each for each in phrases if not each.is_kind], parts_of_query)]
    must_be += [each for each in left if taken and compared.is_said_otherwise(each, parts, taken)]
    return [str(each) for each in phrases if each in again or (each in left and each in (*must_be, *beyond))]


def _said_again(phrases: Sequence[_Phrase], parts: Sequence[Sequence[str]]) -> Iterator[_Phrase]:
    """Yield phrases that say once more what is said of something, and what no further part of a query says.

    "Which films did the director of Jaws direct?" is not who has directed it.
    """

    def is_said(word: str, texts: Iterable[str]) -> bool:
        return any(word_similarity(word, each) >= MIN_STEM_SAID for text in texts for each in text.split())

    for at, phrase in enumerate(phrases):
        for word in phrase.words:
            of = [other for other in phrases[:at] if other.after == "of" or other.before == OTHER_MASK]
            before = sum(is_said(word, other.words) for other in of)
            if before and before >= sum(is_said(word, texts) for texts in parts) > 0:
                yield phrase
                break


class Similarity:
    """How far words of a question are said by texts: by a common stem, and by meaning with vectors."""

    def __init__(self, rows: Mapping[str, Vectors]) -> None:
        self._rows = rows

    def cosine(self, one: str, other: str) -> float:
        """Return how alike two texts are in meaning; 0 without vectors."""
        return float(self._rows[one] @ self._rows[other]) if self._rows else 0.0

    def word(self, word: str, texts: Iterable[str]) -> float:
        """Return how well a word is said."""
        stems = (word_similarity(word, other) for text in texts for other in text.split())
        stem = max(stems, default=0.0)
        return max(stem if stem >= MIN_STEM_SAID else 0.0, *(self.cosine(word, text) for text in texts))

    def best(self, phrase: _Phrase, texts: Sequence[str]) -> float:
        """Return how well the word is said that is said best."""
        return max(self.word(word, texts) for word in phrase.words)

    def least(self, phrase: _Phrase, texts: Sequence[str]) -> float:
        """Return how well the word is said that is said least; words that are said together are said."""
        whole = max(self.cosine(str(phrase), text) for text in texts)
        return whole if whole >= MIN_PHRASE_SAID else min(self.word(word, texts) for word in phrase.words)

    def is_said_otherwise(self, phrase: _Phrase, texts: Sequence[str], others: Sequence[str]) -> bool:
        """Return whether other texts say a word that none of the texts says."""
        return any(self.word(word, texts) < MIN_SUPPORT <= self.word(word, others) for word in phrase.words)


def _terms(query: AnswerQuery, state: State) -> list[Term]:
    """Return the topics of a question and the terms of a query."""
    chains = [chain for branch in query.branches for chain in branch.chains]
    terms: list[Term] = [*state["topic_entities"], *(chain.topic for chain in chains if chain.topic != ANY)]
    terms += [entity for chain in chains for held in chain.constraints for entity in held.entities]
    return terms + [each.value for each in query.conditions if each.value]


def _names(terms: Iterable[Term], state: State) -> dict[str, Entity]:
    """Return what the question calls classes and some terms, the longest names first."""
    known = [term if isinstance(term, Entity) else value_node(term) for term in terms]
    known += [Entity(id, local_name(id)) for id in state["classes"]]
    names = {state["mentioned_as"].get(each.id, str(each)): each for each in reversed(known)}
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
    """Yield the content words of a masked question that stand in a row, but for those of modifiers."""
    first, *others = (*_tokens(masked), _Token(""))
    if first.content and others and not (others[0].content or others[0].text in {CLASS_MASK, OTHER_MASK}):
        first = _Token(first.text)  # it only asks: "identify the"
    before, run = "", list[_Token]()
    for token in (first, *others):
        if token.content:
            run.append(token)
            continue
        if words := without_modifiers([each.text for each in run]):
            yield _Phrase(words, before, token.text, any(each.is_name for each in run))
        before, run = token.text, []


def _tokens(masked: str) -> Iterator[_Token]:
    """Yield words and masks, and an empty token where a clause ends.

    A letter means nothing, but for a capital that may be an initial; a number and a month are read as values
    elsewhere. What who asks or is asked does is the frame of the question: "could I land", "if I were".
    """
    masked = without_eras(masked)
    begin, end, speaker, names = 0, 0, False, name_starts(masked)
    for word in split_words(masked):
        text, mark = fold(word.text), masked[max(0, word.start - 1) : word.end + 1]
        between = masked[end : word.start].strip(" -[]'’")
        if between and not (between == "." and end - begin <= MAX_ABBREVIATION_CHARS):
            yield _Token("")
        is_value = is_number_word(text) or text in _MONTHS
        if mark in {CLASS_MASK, OTHER_MASK}:
            yield _Token(mark)
        else:
            is_name = word.start in names
            is_initial = is_name and len(text) == 1 and text not in _SPEAKERS
            silent = is_value or len(text) < 2 or text in IGNORED_WORDS | ASKING_WORDS
            yield _Token(text, not speaker and (is_initial or not silent), is_name)
        speaker = text in _SPEAKERS or (speaker and text in AUXILIARIES)
        begin, end = word.start, word.end


def _hops(query: AnswerQuery) -> list[Hop]:
    """Return the hops of a query, as often as they are in it: of chains, conditions and what it compares."""
    chains = (hop for branch in query.branches for hop in branch.chain.hops)
    attributes = (hop for each in query.conditions for hop in each.attribute)
    return [*chains, *attributes, *(query.aggregate.attribute if query.aggregate else ())]
