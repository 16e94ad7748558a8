"""How well a relation chain says a question, by the similarity of words alone.

Three things count: how well words of the question say the hops of the chain, in their order;
how similar the question as a whole is to all of the hops; and how usual the directions of the hops are.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import dropwhile, pairwise, takewhile
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgqa.kg.sparql.derived import ANY_LEVEL
from kgqa.kg.terms import Hop
from kgqa.kg.text import FUNCTION_WORDS, split_camel_case
from kgqa.priors.masking import OTHER_MASK, TOPIC_MASK, stem_similarity
from kgqa.retrieval.years import without_eras

FloatArray = npt.NDArray[np.float64]
SimilarityScores = npt.NDArray[np.float32]

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to rows of length 1, shape (texts, dimensions); blocks."""

# costs of a new hop; that of a hop left unsaid is 1
UNLINKED_HOP_COST = 0.5  # where no linking word stands before it
OTHER_SIDE_HOP_COST = 0.5  # on the other side of the entity: one may begin there, or the same goes on
VERB_TIED_HOP_COST = 1.0  # there in "which films did [ENT] direct": the verb ties both sides to the entity
LINKED_STAY_COST = 0.1  # of none after a linking word: "place of death" is one hop, most others are two
UNSAID_HOP_COST = 1.0  # of a hop that no word is left for
BEST_WORD_WEIGHT = 0.3  # of the word that says a hop best, beside what all words count
LEFTOVER_WORD_WEIGHT = 0.5  # of a word that is left for hops to come: less than one that says a hop

_INVERSE_HOP_PENALTY = 0.05  # what a hop against its arrow must be better by
_MISREAD_PENALTY = 2.0  # of a first hop that is said the other way round, and a last one that leads away from
# the things it is named after where these are asked for
_ANY_LEVEL_PENALTY = 0.3  # of a hop of any number of levels where no word asks for these
_RETURN_PENALTY = 0.3  # the same of going straight back
_COMPANY_BONUS = 0.3  # of going straight back where a question asks for company: "the same director"
_PAIR_PENALTY = 0.2  # of saying two hops as one, as those that meet at an unnamed node are said
_UNLIKE_PAIR_PENALTY = 0.5  # what that costs more for two hops whose words are nothing alike
_SIMILARITY_POWER = 1.5  # one word that says a hop well counts more than some that do a little
_STEM_WEIGHT = 0.6  # part of the way to full similarity that words of one stem are taken
_QUESTION_WEIGHT = 0.5  # of the similarity of the whole question
_IMPOSSIBLE = -1e9

MIN_STEM_SAID = 0.6  # of a word that says a relation, the share that its stem has

MAX_QUESTIONS_KNOWN = 64  # masked questions that are remembered,
MAX_CHAINS_KNOWN = 4_096  # and, about so many, chains that each was compared with
MAX_WORDS_KNOWN = 1 << 16  # names of relations, words of questions and pairs of them that are remembered

_LINKING_WORDS = frozenset(
    {"of", "'s", "by", "in", "from", "that", "whose", "for", "with", "who", "which", "on", "at", "to"}
)
IGNORED_WORDS = FUNCTION_WORDS | {"name", "names", "named", "list", "tell", "give", "please", "should", "'s"}
ASKING_WORDS = frozenset({"many", "number", "total", "all", "different", "show", "find", "exist", "count"})
_NOUNS_ASKED_FOR = {  # not by "who": most relations lead to people
    "when": "date",
    "where": "place",
    "describe": "tag",
    "describes": "tag",
    "described": "tag",
}
_WORD = re.compile(r"'s\b|\w+")
AUXILIARIES = frozenset(
    {"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could"}
) | {"will", "would", "should", "may"}
_VERB_BEFORE = re.compile(rf"\b({'|'.join(sorted(AUXILIARIES))})(\s+the)?\s*$")
_DETERMINED = re.compile(r"\b(the|a|an|this|that)\s+$")
_COMPANY_WORDS = re.compile(
    r"\b(same|also|others|else|together|co|shares?|another|both|common)\b", re.IGNORECASE
)


@lru_cache(MAX_WORDS_KNOWN)
def relation_phrase(relation: str) -> str:
    """Turn a relation's name into words, the last two parts of a dotted one.

    >>> relation_phrase("people.person.place_of_birth")
    'person place of birth'
    >>> relation_phrase("officialLanguage")
    'official language'
    """
    parts = " ".join(relation.split(".")[-2:])
    return " ".join(re.split(r"[\W_]+", split_camel_case(parts))).strip().lower()


@lru_cache(MAX_WORDS_KNOWN)
def comparison_texts(label: str) -> tuple[str, ...]:
    """Return what a relation is compared by, without words that only join it to its ends.

    >>> comparison_texts("film.film.directed_by"), comparison_texts("officialLanguage")
    (('film directed', 'directed'), ('official language',))
    """
    texts = []
    for part in (label, label.split(".")[-1]):
        words = relation_phrase(part).split()
        heavy = [at for at, word in enumerate(words) if word not in FUNCTION_WORDS]
        texts.append(" ".join(words[heavy[0] : heavy[-1] + 1] if heavy else words))
    return tuple(dict.fromkeys(filter(None, texts))) or (label,)


def relation_texts(relation: str) -> tuple[str, ...]:
    """Return the texts by which a relation is compared: what to teach an encoder beforehand."""
    return relation_phrase(relation), *comparison_texts(relation)


def text_similarities(question: str, texts: Sequence[str], encode: Encode) -> SimilarityScores:
    """Compare a question with each text: shape (texts,); a text that comes twice is encoded once."""
    unique = sorted(set(texts))
    values = dict(zip(unique, encode(unique) @ encode([question])[0] if unique else (), strict=True))
    return np.array([values[text] for text in texts], np.float32)


@lru_cache(MAX_WORDS_KNOWN)
def content_words(text: str) -> tuple[str, ...]:
    """Return the words that carry meaning; all words where none does."""
    words = tuple(re.findall(r"\w+", text.lower()))
    return tuple(word for word in words if word not in FUNCTION_WORDS) or words


def stem_overlap(texts: Sequence[str], others: Sequence[str]) -> FloatArray:
    """Return how far the words of other texts have their stems in texts: shape (texts, others), 0 to 1.

    A sentence encoder does not see them.

    >>> stem_overlap(["film directed"], ["directors", "actor"]).round(2).tolist()
    [[0.67, 0.0]]
    """
    found = [[_overlap_share(other, text) for other in others] for text in texts]
    return np.array(found, np.float64).reshape(len(texts), len(others))


@lru_cache(MAX_WORDS_KNOWN)
def _overlap_share(other: str, text: str) -> float:
    words, others = content_words(other), content_words(text)
    best = (max((word_similarity(word, other) for other in others), default=0.0) for word in words)
    return sum(best) / max(1, len(words))


@lru_cache(MAX_WORDS_KNOWN)
def word_similarity(one: str, two: str) -> float:
    """Return 1 for the same word, else the share that a common stem has of the longer one."""
    return 1.0 if one == two else stem_similarity(one, two)


class _ContentWord(NamedTuple):
    """A content word and where it stands."""

    text: str
    begin: int
    end: int
    linked: bool
    """A linking word stands between it and the word before it, or the entity."""
    typed: bool
    """It is what is asked for, as far as the question word tells: "which films"."""
    spans: tuple[str, ...] = ()
    """See `WordOrder`."""


class WordOrder(NamedTuple):
    """Content words, one after the other outwards from the entity; each field has one item for each."""

    spans: tuple[tuple[str, ...], ...]
    """What ends at the word: it, and it with the one before as the question has them, "death place"."""
    begins: Sequence[float]
    """Cost of a new hop at the word."""
    stays: Sequence[float]
    """Cost of no new hop at the word."""


def word_orders(masked: str) -> list[WordOrder]:
    """Return the orders in which a masked question may say hops, none where it has no words.

    What stands right of the entity comes first, or what stands left of it; a genitive is
    always first. Without the entity, all words are left of it.
    """
    before, _, after = without_eras(masked).replace(OTHER_MASK, " ").partition(TOPIC_MASK)
    before, after = before.lower(), after.replace(TOPIC_MASK, " ").lower()
    left, right = _left_words(before), _with_spans(after, _find_content_words(after)[0])
    verb = _VERB_BEFORE.search(before) is not None
    genitive = after.lstrip().startswith("'s")
    orders = [_join_sides(right, left, verb, genitive)] if left or right else []
    if left and right and not genitive:
        orders.append(_join_sides(left, right, verb, genitive))
    return orders


def _left_words(text: str) -> list[_ContentWord]:
    """Read what stands left of the entity, the nearest word first."""
    words, linked = _find_content_words(text)
    words = words if linked else words[: _apposition_start(text, words)]
    links = [*(word.linked for word in words), linked][1:]
    nearest_first = [word._replace(linked=link) for word, link in zip(words, links, strict=False)][::-1]
    return _with_spans(text, nearest_first)


def _with_spans(text: str, words: Sequence[_ContentWord]) -> list[_ContentWord]:
    found = [word._replace(spans=(word.text,)) for word in words[:1]]
    for one, two in pairwise(words):
        both = text[min(one.begin, two.begin) : max(one.end, two.end)]
        found.append(two._replace(spans=(two.text, both)))
    return found


def _find_content_words(text: str) -> tuple[list[_ContentWord], bool]:
    """Return the content words in the order of the text, and whether a linking word comes after them."""
    found: list[_ContentWord] = []
    linked = typed = False
    for match in _WORD.finditer(text):
        said = match[0]
        linked |= said in _LINKING_WORDS
        noun = _NOUNS_ASKED_FOR.get(said)
        if said in {"what", "which"}:
            typed = True
        elif noun is None and said in IGNORED_WORDS:
            typed = False
        elif not said.isdigit():
            found.append(_ContentWord(noun or said, *match.span(), linked, typed or noun is not None))
            linked = False
            typed = typed and noun is None
    return found, linked


def asked_words(masked: str) -> list[str]:
    """Return the words of a masked question that may say a relation, in their order.

    >>> asked_words("Where did the wife of [ENT] die?")
    ['place', 'wife', 'die']
    """
    return list(
        dict.fromkeys(
            word.text for word in _find_content_words(without_masks(without_eras(masked)).lower())[0]
        )
    )


def asked_noun(masked: str) -> str | None:
    """Return the noun after "which" or "what" of what is asked for, where a verb follows; None without any.

    >>> asked_noun("Which pizza toppings has [ENT]?"), asked_noun("What causes [ENT]?")
    ('toppings', None)
    """
    text = masked.lower()
    words = dropwhile(lambda word: not word.typed, _find_content_words(text)[0])
    typed = [*takewhile(lambda word: word.typed, words)]
    if not typed or AUXILIARIES.isdisjoint(text[typed[-1].end :].split()[:1]):
        return None
    return typed[-1].text


@lru_cache(MAX_WORDS_KNOWN)
def head_word(label: str) -> str:
    """Return the noun that a relation's name is about.

    >>> head_word("has country of origin"), head_word("film.film.release_date")
    ('country', 'date')
    """
    words = relation_phrase(label.rpartition(".")[2]).split()
    content = dropwhile(FUNCTION_WORDS.__contains__, words)
    head = list(takewhile(lambda word: word not in FUNCTION_WORDS, content))
    return (head or words or [""])[-1]


def without_masks(masked: str) -> str:
    """Return what a masked question says beside its topics.

    >>> without_masks("Where did [ENT] meet [OTHER]?")
    'Where did meet ?'
    """
    return " ".join(masked.replace(OTHER_MASK, " ").replace(TOPIC_MASK, " ").split())


@lru_cache(MAX_WORDS_KNOWN)
def said_direction(label: str, masked: str) -> bool | None:
    """Return whether a question follows a relation along its arrow; None where no word by the entity tells.

    >>> asked = "What is [ENT] part of?", "What is part of [ENT]?", "What is [ENT]?"
    >>> [said_direction("part of", each) for each in asked]
    [True, False, None]
    >>> said_direction("broader", "What is broader than [ENT]?")
    True
    """
    before, mask, after = masked.replace(OTHER_MASK, " ").partition(TOPIC_MASK)
    left, right = _WORD.findall(before.lower()), _WORD.findall(after.lower())
    words = relation_phrase(label).split()
    if not words:
        return None
    join = words[-1] if words[-1] in _LINKING_WORDS else ""
    heads = [word for word in words if word not in FUNCTION_WORDS]

    def is_said(by: Sequence[str]) -> bool:
        return any(word_similarity(word, head) >= MIN_STEM_SAID for word in by for head in heads)

    if join and right[-1:] == [join] and is_said([*left, *right]):
        return True
    begin, end = [-1, -1, *(at for at, word in enumerate(left) if word in {*_LINKING_WORDS, "than"})][-2:]
    if mask and end >= 0 and left[end] == (join or "than") and is_said(left[begin + 1 : end]):
        return not join
    return None


def _apposition_start(text: str, words: list[_ContentWord]) -> int:
    """Tell from which word on the text only says what the entity is: "who wrote the film [ENT]".

    Where these are all words there are, they are no apposition.
    """
    end = len(words)
    if not words or text[words[-1].end :].strip():
        return end
    at = end - 1
    while at and not words[at].linked and not text[words[at - 1].end : words[at].begin].strip():
        at -= 1
    return at if at and _DETERMINED.search(text[: words[at].begin]) else end


def _join_sides(
    first: Sequence[_ContentWord], then: Sequence[_ContentWord], verb: bool, genitive: bool
) -> WordOrder:
    """Put one side of the entity after the other.

    A genitive ends a hop: "the spouse of [ENT] 's mother". After a verb, its last word is another
    hop: "where does [ENT] 's mother live".
    """
    words = [*first, *then]
    begins = [0.0 if word.linked and not word.typed else UNLINKED_HOP_COST for word in words]
    stays = [LINKED_STAY_COST if word.linked else 0.0 for word in words]
    turn = len(first)
    if 0 < turn < len(words):
        across = VERB_TIED_HOP_COST if verb else OTHER_SIDE_HOP_COST
        across = max(across, begins[turn]) if words[turn].typed else across
        begins[turn], stays[turn] = (0.0, LINKED_STAY_COST) if genitive else (across, 0.0)
    if genitive and verb and turn > 1:
        begins[turn - 1] = 0.0
    return WordOrder(tuple(word.spans for word in words), begins, stays)


def align_hops(similarity: FloatArray, order: WordOrder, columns: Mapping[str, int]) -> FloatArray:
    """Align words with hops as well as it goes: shape (words, chains, hops).

    Every word goes to a hop, words nearer to the entity to hops nearer to it; some words in a
    row go together. At ``[n, :, k]`` is the best when the first ``n + 1`` words say ``k + 1``
    hops: ``similarity`` of words to their hops, shape (chains, hops, spans), less what it costs to
    begin hops where they begin.
    """
    chains, hops, _ = similarity.shape
    start = np.full((2, chains, hops), _IMPOSSIBLE)
    start[0, :, 0] = 0.0
    reached = [start]
    for at, spans in enumerate(order.spans):
        now = np.full_like(start, _IMPOSSIBLE)
        for size, span in enumerate(spans, 1):
            like = similarity[:, :, columns[span]]
            unnamed, named = _before_word(reached[at + 1 - size], order, at + 1 - size)
            now[0] = np.maximum(now[0], unnamed + size * like)
            now[1] = np.maximum(now[1], np.maximum(named, unnamed + BEST_WORD_WEIGHT * like) + size * like)
        reached.append(now)
    return np.stack([each.max(axis=0) for each in reached[1:]])


def _before_word(reached: FloatArray, order: WordOrder, at: int) -> tuple[FloatArray, FloatArray]:
    """Return the values before the word ``at`` is said: where its hop is not named yet, and where it is."""
    if not at:
        return reached[0], reached[1]
    begun = np.full_like(reached[0], _IMPOSSIBLE)
    begun[:, 1:] = reached.max(axis=0)[:, :-1] - order.begins[at]
    return np.maximum(reached[0] - order.stays[at], begun), reached[1] - order.stays[at]


def complete_chain_scores(said: FloatArray) -> FloatArray:
    """Return the best value of whole chains, of which only the first hops may be said: shape (chains,)."""
    hops = said.shape[2]
    return np.asarray((said[-1] - UNSAID_HOP_COST * np.arange(hops - 1, -1, -1)).max(axis=1))


def partial_chain_scores(said: FloatArray, order: WordOrder) -> FloatArray:
    """Return the best value of chains that may go on, for which words are left: shape (chains,)."""
    words = len(order.spans)
    further = [LEFTOVER_WORD_WEIGHT * (words - at) - order.begins[at] for at in range(1, words)]
    return np.asarray((said.max(axis=2) + np.array([*further, 0.0])[:, np.newaxis]).max(axis=0))


def _hop_groupings(hops: int) -> Iterator[list[tuple[int, ...]]]:
    """Yield all ways to take hops alone or two together."""
    if hops == 0:
        yield []
    for size in range(1, min(hops, 2) + 1):
        yield from ([*rest, (*range(hops - size, hops),)] for rest in _hop_groupings(hops - size))


def _unit_rows(rows: FloatArray) -> FloatArray:
    """Scale rows to a length of 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))


def wording_texts(masked: str) -> list[str]:
    """Return the texts that a masked question is compared by: parts of it, and last the whole."""
    spans = {span for order in word_orders(masked) for spans in order.spans for span in spans}
    return [*sorted(spans), masked.replace(TOPIC_MASK, "it")]


class QuestionWording:
    """One question about an entity, which is masked; may be used from several threads."""

    def __init__(self, masked: str, encode: Encode) -> None:
        self._encode, self._masked = encode, masked
        self._orders = word_orders(masked)
        self._asked = asked_noun(masked)
        texts = wording_texts(masked)
        self._spans = texts[:-1]
        self._columns = {span: at for at, span in enumerate(self._spans)}
        rows = encode(texts)
        self._parts, self._question = rows[:-1], rows[-1]
        self._says_level = any(
            word_similarity(word, "level") >= MIN_STEM_SAID for word in content_words(masked)
        )
        self.asks_for_company = _COMPANY_WORDS.search(masked) is not None
        self._return_penalty = -_COMPANY_BONUS if self.asks_for_company else _RETURN_PENALTY
        self._known: dict[tuple[object, ...], float] = {}

    def hops(self, chains: Sequence[tuple[Sequence[Hop], Sequence[Hop]]]) -> list[SimilarityScores]:
        """Return how well each hop that is offered follows those before it, whatever comes after it.

        Of each of the pairs: shape (offered,). All at once is sooner than one after the other.
        """
        scores = iter(
            self._scores([(*before, hop) for before, offered in chains for hop in offered], over=False)
        )
        return [np.fromiter(scores, np.float32, len(offered)) for _, offered in chains]

    def chains(self, chains: Sequence[Sequence[Hop]]) -> SimilarityScores:
        """Return how well each whole chain says the question: shape (chains,).

        Chains of any length can be compared; 1 is about what a well-said hop is worth.
        """
        return self._scores(chains, over=True)

    def _scores(self, chains: Sequence[Sequence[Hop]], *, over: bool) -> SimilarityScores:
        """Score chains, those that are known from before without another look."""
        keys = [(over, *((hop.relation, hop.forward, hop.name) for hop in chain)) for chain in chains]
        known = self._known if len(self._known) < MAX_CHAINS_KNOWN else {}
        new = {key: chain for key, chain in zip(keys, chains, strict=True) if key not in known}
        if new:
            known |= zip(new, self._compare([*new.values()], over).tolist(), strict=True)
        self._known = known
        return np.array([known[key] for key in keys], np.float32)

    def _compare(self, chains: Sequence[Sequence[Hop]], over: bool) -> SimilarityScores:
        steps = sorted({(hop.words, hop.forward) for chain in chains for hop in chain})
        row = {step: at for at, step in enumerate(steps)}
        vectors, stems = self._encode_hops(steps)
        scores = np.zeros(len(chains), np.float32)
        for length in {len(chain) for chain in chains if chain}:
            places = [place for place, chain in enumerate(chains) if len(chain) == length]
            alike = [chains[place] for place in places]
            rows = np.array([[row[hop.words, hop.forward] for hop in chain] for chain in alike])
            same = np.array([[one == two for one, two in pairwise(chain)] for chain in alike], bool)
            said = self._align(vectors[rows], stems[rows], same, over)
            alike_all = _unit_rows(vectors[rows].sum(axis=1)) * self._question
            whole = _QUESTION_WEIGHT * alike_all.sum(axis=1)  # of each chain the same, whichever are with it
            against = np.array([sum(not hop.forward for hop in chain) for chain in alike])
            back = np.array([sum(one == two.inverse for one, two in pairwise(chain)) for chain in alike])
            misread = [
                said_direction(chain[0].words, self._masked) is (not chain[0].forward)
                or (over and not chain[-1].forward and self._asks_for(chain[-1].words))
                for chain in alike
            ]
            far = np.array([sum(hop.relation in ANY_LEVEL for hop in chain) for chain in alike])
            lost = _INVERSE_HOP_PENALTY * against + _MISREAD_PENALTY * np.array(misread)
            lost = lost + _ANY_LEVEL_PENALTY * far * (not self._says_level)
            scores[places] = said + whole - (lost + self._return_penalty * back)
        return scores

    def _asks_for(self, label: str) -> bool:
        """Return whether the things that are asked for are called as what a relation leads to."""
        return self._asked is not None and word_similarity(self._asked, head_word(label)) >= MIN_STEM_SAID

    def _encode_hops(self, steps: Sequence[tuple[str, bool]]) -> tuple[FloatArray, FloatArray]:
        """Return vectors of hops, and how far they share stems with each part of the question.

        A hop against its arrow ends at what the relation's name begins with.
        """
        texts = [comparison_texts(label)[: None if forward else 1] for label, forward in steps]
        known = sorted({text for each in texts for text in each})
        rows = dict(zip(known, self._encode(known), strict=True))
        vectors = [np.sum([rows[text] for text in each], axis=0) for each in texts]
        stems = stem_overlap([each[-1] for each in texts], self._spans)
        return _unit_rows(np.array(vectors, np.float64)), stems

    def _align(
        self, hops: FloatArray, stems: FloatArray, same: npt.NDArray[np.bool_], over: bool
    ) -> FloatArray:
        """Align words with hops, or with two together that are not the ``same``: shape (chains,)."""
        best = np.full(len(hops), -np.inf)
        for groups in _hop_groupings(hops.shape[1]):
            units = _unit_rows(np.stack([hops[:, group].sum(axis=1) for group in groups], axis=1))
            like = np.maximum(units @ self._parts.T, 0.0)
            shared = np.stack([stems[:, group].max(axis=1) for group in groups], axis=1)
            like = np.minimum(like + _STEM_WEIGHT * shared * (1 - like), 1.0) ** _SIMILARITY_POWER
            said = self._best_order(like, over)
            for pair in (group for group in groups if len(group) > 1):
                unlike = 1 - hops[:, pair].prod(axis=1).sum(axis=1)
                said = said - (_PAIR_PENALTY + _UNLIKE_PAIR_PENALTY * unlike)
                said[same[:, pair[0]]] = -np.inf
            best = np.maximum(best, said)
        return best

    def _best_order(self, like: FloatArray, over: bool) -> FloatArray:
        """Take the better order of words: shape (chains,)."""
        if not self._orders:
            return np.full(len(like), -UNSAID_HOP_COST * (like.shape[1] - 1))
        said = [(align_hops(like, order, self._columns), order) for order in self._orders]
        scores = [
            complete_chain_scores(each) if over else partial_chain_scores(each, order) for each, order in said
        ]
        return np.asarray(np.max(scores, axis=0))


open_wording = lru_cache(MAX_QUESTIONS_KNOWN)(QuestionWording)
"""Return the `QuestionWording` of a masked question: a method and its model ask the same."""
