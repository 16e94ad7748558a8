"""Modifiers: words of a question that ask for more than where a chain leads, and which a query applies."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.proof.values import kind_of, year_of
from kgqa.kg.terms import Entity, Literal, Term, local_name
from kgqa.priors.masking import OTHER_MASK, TOPIC_MASK, mask_topic
from kgqa.prompts.candidates import parse_number
from kgqa.prompts.judge_claim import is_yes_no_question
from kgqa.retrieval.number_words import SEVERAL_ASKED
from kgqa.retrieval.wording import relation_phrase
from kgqa.retrieval.years import UNNAMED_ERA_YEAR, year_words
from kgqa.tools.select import QueryConstants

_ORDER = re.compile(
    r"(?<!\bat )\bfirst\b"
    r"(?![- ](?:name|lady|ladies|language|nation|world war|aid|person|degree|division|class)\b)"
    r"|(?<!\bat )\blast\b(?! (?:names?|words?|stand|for|until|longer|year)\b)"
    r"|\b(?:latest|earliest|newest|oldest|youngest|eldest|(?:most|more) recent(?:ly)?)\b"
    r"|\b(?:largest|biggest|smallest|tallest|shortest|longest|highest|lowest|deepest|fastest|slowest)\b"
    r"|\b(?:heaviest|lightest|richest|poorest|nearest|closest|greatest)\b"
    r"|\b(?:farthest|furthest|fewest)\b|(?<!\bat )\b(?:most|least)\b(?! (?:of|often|famous|known)\b)"
)
_RANK = re.compile(
    r"\b(?<!\bper )(?<!\ba )(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b"
    r"(?! (?:name|language|world|party|person|cousin|degree|grade|division|league)\b)"
)
_NOW = re.compile(r"\b(?:current(?:ly)?|nowadays|today|still|previous(?:ly)?|former(?:ly)?|next(?! to))\b")
_YEAR = re.compile(
    rf"{UNNAMED_ERA_YEAR}|\b(?:1\d|20)\d\ds?\b|\b\d{{1,2}}(?:st|nd|rd|th) century\b"
    r"|\b(?:last|this|next) year\b"
)
_NEGATION = re.compile(
    r"\b(?:not|never|without|neither|nor|except|excluding)\b|\b(?:other than|apart from|no longer)\b|n't\b"
    r"|\b(?:is|are|was|were|do|does|did|has|have|had)nt\b|\bha(?:ve|s|d) no\b"
)
_COMPUTED = re.compile(
    r"\bon average\b|\b(?:average|median)\b|\bthe (?:mean|sum|total|combined|difference|ratio|percentage)\b"
)
_NUMBER = r"(?:\d[\d,.]*|an?|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred|thousand)\b"
_COMPARISON = re.compile(
    rf"\b(?:at least|at most|over|under|above|below|exceeding) {_NUMBER}"
    r"|\b(?:more|less|fewer|larger|bigger|smaller|taller|shorter|longer|higher|lower|older|younger"
    r"|earlier|later|heavier) than\b"
    rf"(?: {_NUMBER})?|{_NUMBER} (?:\w+ )?or (?:more|less|fewer|older|younger|later|earlier)\b"
    r"|\b(?:from|between) \d[\d,.]* (?:to|and) \d+(?:[,.]\d+)*"
)
_NEGATED_COMPARISON = re.compile(
    rf"(?:\bnot|\bnever|n't)(?: \w+)? (?:{_COMPARISON.pattern}|(?:\w+ ){{0,2}}(?!an? ){_NUMBER})"
)
_GROUPED = re.compile(r"\b(?:per|each|every)\b")
_AGGREGATE = re.compile(r"\bSELECT\b[^{]*\b(?:COUNT|SUM|AVG|MIN|MAX)\s*\(", re.IGNORECASE)
_GROUP_BY = re.compile(r"\bGROUP\s+BY\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"\bhow many\b|^what (?:is|was|are|were) the (?:total )?number of\b|^(?:please )?count\b", re.IGNORECASE
)
_MAY_BE_COUNTED = re.compile(r"\bhow\b|\bnumbers?\b|\bcount|\btotal|\bamount|\bquantity", re.IGNORECASE)
_MAY_BE_EXTREME = re.compile(
    r"\w{2,}est\b|\bwhen\b|\b(?:first|last|final|initial|original|most|least|max|min|top|best|worst|peak|record|recent"
    r"|current|now|new|old|young|ever|before|after|since|until|previous|former|next|beg[aiu]n|start|end|debut"
    r"|early|late|long|short|big|large|great|small|high|low|main|major|more|less|few)"
)
_NOT_WHETHER = re.compile(r"^(?:why|who|whom|whose|when|where|how)\b", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_IRI = re.compile(r"<([^<>\s]*)>")
_YEAR_RANGE = re.compile(r"\b(\d\d)\d\d[-–/](\d\d)\b")


def unmet_kind(answers: Sequence[Term], question: str) -> list[str]:
    """Return the words that ask for one number, yes or no, or neither, where the answers are not so."""
    counted, texts = _COUNTED.search(question), {str(answer) for answer in answers}
    whether = texts <= {"true", "false"}
    number = len(texts) == 1 and all(parse_number(answer) is not None for answer in answers)
    said = [counted.group()] if counted and not (number or whether) else []
    if answers and whether and (asking := _NOT_WHETHER.search(question)):
        said.append(asking.group())
    return [*said, "yes or no"] if is_yes_no_question(question) and not whether else said


def unasked_function(function: str | None, question: str) -> str | None:
    """Return what is computed of the answers where no word of a question asks for it, or may ask for it."""
    asks = _MAY_BE_COUNTED if function == "count" else _MAY_BE_EXTREME
    return None if function is None or asks.search(question.lower()) else function.removeprefix("arg")


def asked_extremes(question: str) -> list[str]:
    """Return the words by which a question may ask for the first of an order."""
    return re.findall(rf"(?:{_MAY_BE_EXTREME.pattern})\w*", question.lower())


def unmet_topics_of_sparql(read: QueryConstants | None, topics: Iterable[Entity]) -> list[str]:
    """Return the topics that the answers of a query are not bound by, by name."""
    return [str(topic) for topic in topics if read is None or topic.id not in read.binding]


def without_modifiers(words: Sequence[str]) -> tuple[str, ...]:
    """Return words but for those that ask for an order, a time, a negation or a figure.

    >>> without_modifiers(["largest", "wooden"])
    ('wooden',)
    """
    text = " ".join(words)
    modifiers = (
        modifier for each in (_ORDER, _RANK, _NOW, _NEGATION, _COMPUTED) for modifier in each.finditer(text)
    )
    cued = {word for modifier in modifiers for word in modifier.group().split()}
    return tuple(word for word in words if word not in cued)


def unused_modifiers(
    query: AnswerQuery, answers: Sequence[Term], question: str, topics: Collection[Entity]
) -> list[str]:
    """Return the words that ask for an order, a time, a negation or a comparison unknown to a query.

    Not those of a topic's name or a quotation, nor what the chains or conditions say in so many words, what
    stands in the answers' names, or what a model may have minded when it picked. One answer has no order, but
    where it is computed of several, or is yes or no; it need not be of the year that is asked for.
    """
    if query.picked:
        return []
    computed = query.aggregate is not None and query.aggregate.function != "count"
    valued = [each for each in query.conditions if each.value and kind_of(each.value) in {"number", "date"}]
    ranked = query.aggregate is not None and query.aggregate.rank > 1
    told = [each for each in valued if not _is_figure_of(question, each.value)]  # what no figure of it says
    bounds = {each.operator[0] for each in valued if each.operator in {"<", "<=", ">", ">="}}
    negated = any(each.operator in {"!=", "not exists"} for each in query.conditions)
    if bounds and _NEGATED_COMPARISON.search(question.lower()):  # "not older than", "not yet ten"
        negated = True
    several = query.aggregate is not None or query.ask or len(answers) > 1
    open_modifiers = [
        *[_ORDER] * (several and not (computed or told)),
        *[_RANK] * (several and not (told or ranked)),
        *[_NOW] * (several and not told),
        *[_YEAR] * (len(bounds) < 2 if several else not valued),  # from a year to a year
        *[_NEGATION] * (not negated),
        *[_COMPARISON] * (not bounds),
        _COMPUTED,  # of which a query does nothing
    ]
    named = [*_texts(query), *(answer.name or "" for answer in answers)]
    asked = SEVERAL_ASKED.findall(_without_names(question, topics).lower())  # "which two"
    several_asked = asked if computed and len(answers) == 1 else []
    return [*several_asked, *_open_words(open_modifiers, named, question, topics)]


def unused_modifiers_of_sparql(
    sparql: str, answers: Sequence[Term], question: str, topics: Collection[Entity]
) -> list[str]:
    """Return such words that are unknown to a query of a model, as far as its operators tell."""
    text = _IRI.sub(lambda iri: f" {relation_phrase(local_name(iri[1]))} ", sparql)
    ordered = re.search(r"\bORDER\s+BY\b|\bM(?:IN|AX)\s*\(|\bFILTER\b", text, re.IGNORECASE)
    compared = re.search(r"[<>]", text)
    negated = compared or re.search(r"\bNOT\s+EXISTS\b|\bMINUS\b|!", text, re.IGNORECASE)
    open_modifiers = [
        *[_ORDER, _RANK, _NOW] * (len(answers) > 1 and not ordered),
        *[_YEAR] * (len(answers) > 1 or not compared),
        *[_NEGATION] * (not negated),
        *[_COMPARISON] * (not compared),
        *[_GROUPED] * (len(_GROUP_BY.findall(text)) < len(_AGGREGATE.findall(text))),
        *[_COMPUTED] * (not re.search(r"\b(?:AVG|SUM)\s*\(|\?\w+ *[-+*/] *\?", text, re.IGNORECASE)),
    ]
    figures = (year_words(int(each)) for each in re.findall(r"(?<![\w.-])-?\d{1,9}\b", text))
    return _open_words(
        open_modifiers, [text, *figures, *(answer.name or "" for answer in answers)], question, topics
    )


def _open_words(
    open_modifiers: Iterable[re.Pattern[str]], texts: Iterable[str], question: str, topics: Collection[Entity]
) -> list[str]:
    """Return the words of a question by which modifiers ask, but for those in texts and topics' names."""
    masked = _without_names(question, topics)
    found = dict.fromkeys(each.group() for modifier in open_modifiers for each in modifier.finditer(masked))
    said = _words(" ".join(texts)) | {year for topic in topics for year in _years(topic.name or "")}
    return [words for words in found if not _words(words) <= said]


def _is_figure_of(question: str, value: Term | None) -> bool:
    """Return whether a value is one that a question says in figures: what it applies is that."""
    digits = re.search(r"\d+", value.value) if isinstance(value, Literal) else None
    return digits is not None and digits.group() in re.findall(r"\d+", question.replace(",", ""))


def _words(text: str) -> set[str]:
    return {*re.findall(r"[^\W_]+", text.lower())}


def _years(name: str) -> Iterator[str]:
    """Yield the years of a name, both of a season such as 2007–08."""
    yield from _YEAR.findall(name)
    yield from (century + end for century, end in _YEAR_RANGE.findall(name))


def _without_names(question: str, topics: Collection[Entity]) -> str:
    text = _QUOTED.sub(OTHER_MASK, question)
    for topic in topics:
        text = mask_topic(text, topic.name, ()).replace(TOPIC_MASK, OTHER_MASK)
    return text.lower() if question.isupper() else text[:1].lower() + text[1:]


def _texts(query: AnswerQuery) -> Iterator[str]:
    """Yield what a query says in words: its relations, its conditions, their values."""
    for branch in query.branches:
        yield from (relation_phrase(hop.words) for chain in branch.chains for hop in chain.hops)
    for each in query.conditions:
        yield each.words
        yield from (relation_phrase(hop.words) for hop in each.attribute)
        if isinstance(each.value, Literal):
            yield each.value.value
            if (year := year_of(each.value)) is not None:
                yield year_words(year)
    if query.aggregate:
        yield from (relation_phrase(hop.words) for hop in query.aggregate.attribute)
