"""What the legacy protocols share: gold as strings, and the comparison by substring."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kgqa.evaluation.pairing import paired
from kgqa.evaluation.question import Named, Question
from kgqa.evaluation.result import Result


@dataclass(frozen=True, slots=True)
class Case:
    """A record with its question (None where the dataset does not have it) and gold strings."""

    result: Result
    question: Question | None
    gold: tuple[str, ...]


def cases(results: Sequence[Result], questions: Sequence[Question]) -> list[Case]:
    """Give the records that a legacy protocol counts, in the order of their file.

    A later record of a question takes the place of the first, as when published code
    reads its outputs into a dictionary.
    """
    matched = paired(results, questions).matched
    return [Case(result, question, gold_strings(question)) for result, question in matched]


def gold_strings(question: Question | None) -> tuple[str, ...]:
    """Give the names (ids where there is none) and aliases of all readings, each once.

    GrailQA's file writes "null" for an entity without a name, and published code takes
    that for its name.
    """
    if question is None:
        return ()
    nameless = "null" if _of_grailqa(question) else None
    strings = [
        string
        for answer in question.gold
        for string in (answer.name or nameless or answer.id, *answer.aliases)
    ]
    return tuple(dict.fromkeys(string for string in strings if string))


def _of_grailqa(question: Question) -> bool:
    """Tell GrailQA's questions by their level or, in files without it, by their ids of 13 digits."""
    return question.level is not None or re.fullmatch("[0-9]{13}", question.id) is not None


def shown(answer: Named) -> str | None:
    """Give an answer as the published code sees it: its name, else its id."""
    return answer.name or answer.id


def names(result: Result) -> list[str]:
    """Give the answers of a record as strings, those with neither name nor id left out.

    A record that says "unknown" for it found nothing has no answer: "no" is a part of that word.
    """
    if result.outcome == "none":
        return []
    return [name for name in map(shown, result.answers) if name]


def contained(response: str, gold: Iterable[str]) -> bool:
    """Tell whether any gold is the response, is inside of it, or holds it; spaces and case aside.

    An empty response is inside of every gold.
    """
    said = squeezed(response)
    return any(said in right or right in said for right in map(squeezed, gold))


def squeezed(text: str) -> str:
    """Give a text in small letters without spaces (other white space stays inside)."""
    return text.strip().replace(" ", "").lower()


def character_f1(
    prediction: str, gold: Sequence[str], match: Callable[[str, Iterable[str]], bool]
) -> tuple[float, float, float]:
    """Give precision, recall and F1 as the code of CoG and of VoG computes them.

    Precision is the share of comma-separated pieces of the prediction that match any
    gold. Recall compares the prediction with the single characters of each gold
    string, since a string is handed over where a list is meant: one common letter, or
    a space in the gold, and that gold is found.
    """
    pieces = [piece.strip() for piece in prediction.split(",") if piece.strip()]
    if not pieces:
        return 0.0, 0.0, 0.0
    spread = " ".join(prediction)
    precision = sum(match(piece, gold) for piece in pieces) / len(pieces)
    recall = sum(match(spread, characters) for characters in gold) / len(gold) if gold else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0
