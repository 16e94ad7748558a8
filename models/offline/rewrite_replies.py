"""Replies about follow-ups: what was said in a conversation, made a whole question by rules.

A name alone takes the place of the topic that is most like it in the last question. A pronoun, or
"the country", stands for an answer or a topic of the last turns: of the questions that each makes, the one
is taken that the interpreter is surest of. What names something and says more is whole already.
"""

import re
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from kgqa.kg.linking.common_words import COMMON_WORDS
from kgqa.kg.pages import Mention
from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import Entity
from kgqa.kg.text import fold, split_words
from kgqa.models.offline.interpretation import Interpretation
from kgqa.models.offline.interpreter import QuestionInterpreter
from kgqa.prompts.rewrite_question import ConversationTurn, RewriteQuestion, WholeQuestion
from kgqa.retrieval.lookups import NO_ANSWER

MAX_REWRITE_QUERIES = 100  # of the graph for one follow-up: each reading of it costs as much as a question

MAX_READINGS = 5  # of a follow-up that are compared
MAX_TURNS_BACK = 3  # to which a pronoun may refer
MIN_CONFIDENCE = 0.1  # of a reading from which on it counts that its words fit
NUMBER_BONUS = 0.5  # confidence that a plural gains by standing for several
HOP_PENALTY = 0.1  # confidence that a reading loses for each hop but one: what is spoken of has it itself
RECENCY_PENALTY = 0.05  # confidence that a referent loses for each that was spoken of later
KIND_BONUS = 0.3  # confidence that "the city" gains by standing for a city, "he" for the answer of a "who"
TOPIC_BONUS = 0.3  # confidence that "the genre?" gains by being that of what a question was about

_LEAD = re.compile(
    r"^(?:(?:and|but|so|ok|okay|now|then|also|well|no|yes|sorry|please|i mean|i meant|what about|how about|"
    r"the same for|same for|same question for|tell me|thanks|thank you|great|cool)\b[\s,:;.!-]*)+",
    re.IGNORECASE,
)
_SMALL_WORDS = frozenset(
    {"a", "about", "an", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "too", "with"}
)
_STAND_IN = frozenset({"that", "those", "one", "ones"})  # in "those of Peru", for what was asked of another
_WH = r"what|which|who|whom|whose|when|where|how|why|in what|in which|of which|on which|from which|by which"
_ASKS = re.compile(
    rf"^(?:{_WH}|is|are|was|were|do|does|did|has|have|can|name|list|give|tell|show|count)\b", re.IGNORECASE
)
_POSSESSIVE = re.compile(r"\b(its|their|his|her)\s+(?=\w)", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(it|they|them|he|him|she|her|these|those|(?<!are )(?<!is )(?<!were )there"
    r"|(?:this|that|there)(?=\W*$))\b",
    re.IGNORECASE,
)
_NOUN_PHRASE = re.compile(r"\b(?:this|that|these|those)\s+(?!is\b|are\b|was\b|were\b)(\w+)", re.IGNORECASE)
_THE_NOUN = re.compile(
    r"\bthe\s+(\w+)(?='s\b)"
    r"|(?<=\bis )the\s+(\w+)(?=\s+(?:in|on|at|based|located|from|called|written|spoken|used)\b)"
    r"|(?:(?<= of )|(?<= in )|(?<= for )|(?<= at )|(?<= by )|(?<= from )|(?<= to ))the\s+(\w+)(?=\W*$)"
    r"|(?:(?<=does )|(?<=did )|(?<=wrote )|(?<=directed )|(?<=made ))the\s+(\w+)(?=\W*$)",
    re.IGNORECASE,
)
_SOMEBODY = re.compile(
    r"person|human|people|m[ae]n$|actor|actress|director|writer|author|artist|musician|singer|scientist"
    r"|politician|player|coach|athlete|king|queen|character"
)
_PERSON = frozenset({"he", "him", "his", "she", "her"})
_THING = frozenset({"it", "its", "there"})
_PLURAL = frozenset({"they", "them", "their", "these", "those"})
_ORDINAL = re.compile(r"\bthe (?:\w+th|first|second|third|last|other|next) one\b", re.IGNORECASE)
_THAT_EVENT = re.compile(
    r"^(when|where|how|why|in what year)\s+(?:was|is|did|were)\s+(?:that|this|it happen)\W*$", re.I
)
_OF_WHAT = re.compile(
    r"^(?:what|who|which|when|where)(?:'s| is| are| was| were)\s+(the\s+[\w' -]+?)\W*$", re.I
)
_COUNT = re.compile(r"^how many(?: are there| is that)?\W*$", re.IGNORECASE)
_SUPERLATIVE = re.compile(
    r"^(?:which|who|what)(?: one)?(?: is| are| was)? (the \w+(?:st|most \w+|least \w+))\W*$", re.I
)
_LEADING_WH = re.compile(rf"^(?:{_WH})\b\s*", re.IGNORECASE)


class _Referent(NamedTuple):
    """What a pronoun may stand for: a name or, of several ``answers``, what they are; and its topics."""

    words: str
    topics: tuple[Entity, ...]
    several: bool
    kinds: frozenset[str] = frozenset()
    answer: bool = False
    answers: frozenset[Entity] = frozenset()

    def may_be_somebody(self) -> bool:
        """Return whether it is one person, as far as the graph says what it is."""
        return not self.several and (not self.kinds or self.is_somebody())

    def is_somebody(self) -> bool:
        """Return whether the graph says that it is a person."""
        return any(map(_SOMEBODY.search, self.kinds))


async def rewrite_question(prompt: RewriteQuestion, interpreter: QuestionInterpreter) -> WholeQuestion:
    """Make what was said whole by rules; as it is where none fits."""
    said, last = " ".join(prompt.question.split()), prompt.turns[-1]
    stripped = _LEAD.sub("", said) or said
    mentions = [each for each in await interpreter.graph.link(stripped) if _is_name(each, stripped)]
    words = _words_beside(stripped, mentions)
    if mentions and not words - _SMALL_WORDS - _STAND_IN:
        return WholeQuestion(question=await _with_name(last, mentions, interpreter) or said)
    if asked := _read_of_first(stripped, mentions):
        return WholeQuestion(question=asked)
    if event := _THAT_EVENT.match(stripped):
        return WholeQuestion(question=f"{event[1]} {_LEADING_WH.sub('', last.question)}")
    if _COUNT.match(stripped) and (phrase := noun_phrase(last.question)):
        return WholeQuestion(question=f"How many are {phrase}?")
    if (largest := _SUPERLATIVE.match(stripped)) and (phrase := noun_phrase(last.question)):
        return WholeQuestion(question=f"Which is {largest[1]} of {phrase}?")
    if _ORDINAL.search(stripped):  # answers have no order that both sides know
        return WholeQuestion(question=said)
    readings = [
        reading
        async for referent in _referents(prompt.turns, interpreter)
        if (reading := _read(stripped, referent, named=bool(mentions)))
    ]
    if not readings:
        return WholeQuestion(question=_as_question(stripped))
    others = tuple(each.matches[0].entity for each in mentions)
    best = await _surest(readings[:MAX_READINGS], others, interpreter)
    return WholeQuestion(question=best)


def _is_name(mention: Mention, text: str) -> bool:
    """Return whether a mention is surely a name: no everyday word, unless it is written as a name."""
    if not mention.matches[0].sure:
        return False
    words = split_words(mention.text)
    rare = any(fold(word.text) not in COMMON_WORDS and not word.text.isdigit() for word in words)
    written = any(
        char.isupper() for char in (text[1:] if mention.start == 0 else text[mention.start : mention.end])
    )
    inner = mention.start > 0 and text[mention.start].isupper()
    return rare or inner or (mention.start == 0 and written and len(words) > 1)


def _words_beside(text: str, mentions: Sequence[Mention]) -> set[str]:
    for mention in sorted(mentions, key=lambda each: -each.start):
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return {fold(word.text) for word in split_words(text)} - {"s", ""}


async def _with_name(
    last: ConversationTurn, mentions: Sequence[Mention], interpreter: QuestionInterpreter
) -> str | None:
    """Return the last question with each new name in the place of what is most like it."""
    question = last.question
    for new in mentions:
        places = [
            each
            for each in await interpreter.graph.link(question)
            if any(match.entity in last.topics for match in each.matches)
        ]
        if not places:
            return None
        place = await _most_alike(new, places, last.topics, interpreter) if len(places) > 1 else places[0]
        question = f"{question[: place.start]}{new.text}{question[place.end :]}"
    return question


async def _most_alike(
    new: Mention, places: Sequence[Mention], topics: Sequence[Entity], interpreter: QuestionInterpreter
) -> Mention:
    """Return the place whose topic has the most relations in common with what a name may mean."""
    meant = [match.entity.id for match in new.matches[:3]]
    owners = [next(m.entity for m in place.matches if m.entity in topics) for place in places]
    pages = await interpreter.graph.list_relations([*meant, *(owner.id for owner in owners)])
    known = {id: {(hop.relation, hop.forward) for hop in page} for id, page in pages.items()}

    def similarity(at: int) -> float:
        own = known[owners[at].id]
        shares = (len(own & known[id]) / max(1, len(own | known[id])) for id in meant)
        return max(shares)

    return places[max(range(len(places)), key=lambda at: (similarity(at), at))]


async def _referents(
    turns: Sequence[ConversationTurn], interpreter: QuestionInterpreter
) -> AsyncIterator[_Referent]:
    """Yield what was spoken of, the last first: of each turn its answers, then its topics."""
    seen: set[str] = set()
    for turn in turns[: -MAX_TURNS_BACK - 1 : -1]:
        entities = [answer for answer in turn.answers if isinstance(answer, Entity) and answer.name]
        if len(entities) > 1 and (phrase := noun_phrase(turn.question)) and phrase not in seen:
            seen.add(phrase)
            called = frozenset(fold(phrase).split()[1:3])
            yield _Referent(phrase, turn.topics, True, called, answers=frozenset(entities))
        single = entities if len(entities) == 1 else []
        for entity in (*single, *turn.topics):
            if entity.name and entity.id not in seen:
                seen.add(entity.id)
                kinds = [str(kind) for kind in (await interpreter.graph.describe(entity.id, 1)).types]
                answer = entity in single
                kinds += ["person"] * (answer and turn.question.lower().startswith("who"))
                names = frozenset(fold(" ".join(kinds)).split())
                yield _Referent(entity.name, (entity,), False, names, answer)


def _read_of_first(said: str, mentions: Sequence[Mention]) -> str | None:
    """Return what is asked of a name that is set before the question, as in "Peru, what is its capital?"."""
    first = next((each for each in mentions if each.start == 0), None)
    if first is None or (comma := re.match(r"\s*[,:]\s*", said[first.end :])) is None:
        return None
    referent = _Referent(first.text, (first.matches[0].entity,), False)
    reading = _read(said[first.end + comma.end() :], referent, named=True)
    return reading[0] if reading else None


def _read(said: str, referent: _Referent, *, named: bool) -> tuple[str, _Referent, float] | None:
    """Return the question that a follow-up is where it speaks of a referent, and what speaks for that."""
    name, bonus = referent.words, 0.0
    if found := _NOUN_PHRASE.search(said) or _THE_NOUN.search(said):
        noun = fold(next(filter(None, found.groups())))
        several = found[0].lower().startswith(("these", "those"))
        bonus = KIND_BONUS * bool({noun, noun.removesuffix("s")} & referent.kinds)
        bonus += NUMBER_BONUS * (several == referent.several)
        return _place(said, found, name), referent, bonus
    found = _POSSESSIVE.search(said) or _PRONOUN.search(said)
    if found and found[1].lower() in _PERSON and not referent.may_be_somebody():
        return None
    if found := _POSSESSIVE.search(said):
        bonus = _pronoun_bonus(found[1], referent)
        rest = said[found.end() :].rstrip(" ?.!")
        before = said[: found.start()]
        if len(rest.split()) <= 4 and not re.search(r"\b(?:is|are|was|were|does|do|did)\b", rest):
            return _as_question(f"{before}the {rest} of {name}"), referent, bonus
        return f"{before}{name}'s {said[found.end() :]}", referent, bonus
    if found := _PRONOUN.search(said):
        bonus = _pronoun_bonus(found[1], referent)
        words = f"in {name}" if found[1].lower() == "there" else name
        return _place(said, found, words), referent, bonus
    if named:
        return None
    if found := _OF_WHAT.match(said):
        return f"{said[: found.end(1)]} of {name}?", referent, TOPIC_BONUS * (not referent.answer)
    if not _ASKS.match(said) and len(said.split()) <= 4:
        noun = said.rstrip(" ?.!")
        noun = noun if noun.lower().startswith("the ") else f"the {noun}"
        return f"What is {noun} of {name}?", referent, TOPIC_BONUS * (not referent.answer)
    return None


def _pronoun_bonus(pronoun: str, referent: _Referent) -> float:
    """Return what speaks for a referent by number, and by whether it is somebody."""
    word, person = pronoun.lower(), referent.is_somebody()
    fits = (word in _PERSON and person) - (word in _THING and person)
    return NUMBER_BONUS * ((word in _PLURAL) == referent.several) + KIND_BONUS * fits


def _place(said: str, found: re.Match[str], words: str) -> str:
    return f"{said[: found.start()]}{words}{said[found.end() :]}"


def _as_question(text: str) -> str:
    """Make a noun phrase a question."""
    if _ASKS.match(text):
        return text if text.endswith("?") else f"{text}?"
    return f"What is {text.rstrip(' ?.!')}?"


async def _surest(
    readings: Sequence[tuple[str, _Referent, float]],
    others: tuple[Entity, ...],
    interpreter: QuestionInterpreter,
) -> str:
    """Return the reading that the interpreter is surest of, all told."""
    scores = []
    for place, (question, referent, bonus) in enumerate(readings):
        try:
            found = await interpreter.interpret(question, (*referent.topics, *others))
            new = found.reading and not _repeats(found, referent)
            hops = max((chain.depth for chain in found.chains.values()), default=1)
            confidence = found.reading.confidence - HOP_PENALTY * (hops - 1) if found.reading and new else 0.0
        except NO_ANSWER:
            confidence = 0.0
        fits = bonus if confidence >= MIN_CONFIDENCE else 0.0
        scores.append(confidence + fits - RECENCY_PENALTY * place)
    return readings[max(range(len(readings)), key=lambda at: scores[at])][0]


def _repeats(found: Interpretation, referent: _Referent) -> bool:
    """Return whether a reading leads no further than to the very answers that it sets out from."""
    ends = found.answers or {end.term for page in found.ends.values() for end in page}
    return bool(referent.answers) and found.intent == QuestionIntent() and ends == referent.answers


_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), form)
    for pattern, form in (
        (r"^(?:what|which|who) (?:is|are|was|were) (the .+)$", r"\1"),
        (
            r"^(?:what|which) ([\w ]+?) (?:did|does|do) (.+?) (direct|discover|act in|star in|produce)$",
            r"the \1 \3 \2",
        ),
        (r"^(?:what|which) ([\w ]+?) (?:did|does|do) (.+)$", r"the \1 that \2"),
        (r"^(?:what|which) (\w+(?: \w+){0,2}?) ((?:is|are|was|were|has|have|had) .+)$", r"the \1 that \2"),
        (r"^(?:what|which) (\w+) (.+)$", r"the \1 that \2"),
        (r"^who (.+)$", r"those who \1"),
        (r"^(?:name|list|give|show)(?: me)?(?: an?| all| some| the)? (.+)$", r"the \1"),
    )
)
_PARTICIPLES = {
    "direct": "directed by",
    "discover": "discovered by",
    "act in": "acted by",
    "star in": "starring",
    "produce": "produced by",
}


def noun_phrase(question: str) -> str | None:
    """Return what a question asks for as a phrase; None where no rule fits.

    >>> noun_phrase("Who are the neighbours of Austria?"), noun_phrase("Which countries border Laos?")
    ('the neighbours of Austria', 'the countries that border Laos')
    >>> noun_phrase("what movies did Sofia Coppola direct?")
    'the movies directed by Sofia Coppola'
    """
    text = question.strip().rstrip(" ?.!")
    for pattern, form in _PHRASES:
        if found := pattern.match(text):
            if found.lastindex == 3:
                return f"the {found[1]} {_PARTICIPLES[found[3].lower()]} {found[2]}"
            return found.expand(form)
    return None
