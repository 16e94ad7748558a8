"""What is asked, after other questions and answers, or in the language of the graph's names?"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from kgqa.kg.terms import Entity, Term
from kgqa.prompts.base import MAX_QUESTION_CHARS, Prompt, Reply, draw_case, quoted

MAX_TURNS_SHOWN = 6
MAX_ANSWERS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """A question that was asked, made whole; the entities it is about; its answers."""

    question: str
    topics: tuple[Entity, ...] = ()
    answers: tuple[Term, ...] = ()


class WholeQuestion(Reply):
    """A question that can be understood without what was said before."""

    question: str = Field(description="the whole question")


class RewriteQuestion(Prompt[WholeQuestion]):
    """Make a ``question`` that was put after some ``turns`` of a conversation whole."""

    question: str
    turns: tuple[ConversationTurn, ...]

    instructions = """\
You prepare questions for a search in a knowledge graph, which knows nothing of the conversation they are \
from. You are given the questions that were asked before, with their answers, and what is said now. Write \
what is asked now as one whole question.

- A pronoun or "there", "that one", "those" stands for an answer or for what an earlier question is about, \
whichever has what is asked: put its name there. For many answers write what they are: "the lakes that ...".
- A name alone ("and X?") asks the last question again, of X in the place of what is of its kind.
- A word alone ("the author?") asks this of what was last spoken of.
- What is whole already, or begins something new, stays as it is, word by word.
- Keep the words of the questions. Do not answer, and add nothing.

Reply with one JSON object: {"question": "the whole question"}.

Example
Before:
1. "Which river flows through Passau?" - "Danube", "Ilz", "Inn"
2. "How long is the Ilz?" - "65 km"
Question: "and the Inn?"
Reply: {"question": "How long is the Inn?"}

Example
Before:
1. "Who composed Vltava?" - "Bedřich Smetana"
Question: "Where was he born?"
Reply: {"question": "Where was Bedřich Smetana born?"}

Example
Before:
1. "Which lakes does the Rhine flow through?" - "Lake Constance", "Lake Toma"
Question: "Which of them is the deepest?"
Reply: {"question": "Which of the lakes that the Rhine flows through is the deepest?"}

Example
Before:
1. "Who composed Vltava?" - "Bedřich Smetana"
Question: "Which moons does Saturn have?"
Reply: {"question": "Which moons does Saturn have?"}
"""

    def case(self) -> str:
        """Draw the last turns, and what is asked now."""
        shown = self.turns[-MAX_TURNS_SHOWN:]
        lines = (f"{number}. {_draw_turn(turn)}" for number, turn in enumerate(shown, 1))
        return draw_case(self.question, before=["Before:", *lines])

    def check(self, reply: WholeQuestion) -> None:
        """Refuse a question that is empty, or longer than one may be."""
        if not reply.question.strip():
            raise ValueError("the question is empty; write what is asked now")
        if len(reply.question) > MAX_QUESTION_CHARS:
            raise ValueError(f"the question is longer than {MAX_QUESTION_CHARS} characters; shorten it")


def _draw_turn(turn: ConversationTurn) -> str:
    names = [quoted(str(answer)) for answer in turn.answers[:MAX_ANSWERS_SHOWN]]
    more = len(turn.answers) - len(names)
    return f"{quoted(turn.question, MAX_QUESTION_CHARS)} - {_join(names, more)}"


def _join(names: Sequence[str], more: int) -> str:
    return ", ".join([*names, f"{more} more"] if more else names) or "no answer"


_NUMBER = re.compile(r"\d+")


class TranslatedQuestion(Reply):
    """A question in another language; none where it cannot be translated."""

    question: str | None = Field(
        description="the question in the language asked for; null if you cannot say it"
    )


class TranslateQuestion(Prompt[TranslatedQuestion]):
    """Say a ``question`` in the ``language`` of the graph's names, by its English name."""

    question: str
    language: str

    instructions = """\
You prepare questions for a search in a knowledge graph. You are given a question, and the language in which \
the graph names things. Say the question in that language.

- Keep the names of people, products, organisations and works, and codes and numbers, as they are written. A \
place, or anything else that has a name of its own in that language, is called by it.
- Say classes of things and relations by the usual words of that language, one for one: what the question \
asks, its conditions, its order, and how many it asks for stay the same.
- Inflected names stand as they are called by themselves: without the endings of their case.
- Do not answer, explain or add anything.

Reply with one JSON object: {"question": "the question in that language"}.

Example
Question: "Welche Brücken über die Donau hat das Büro Kübler & Sohn nach 1990 gebaut?"
Language: English
Reply: {"question": "Which bridges over the Danube did the office Kübler & Sohn build after 1990?"}

Example
Question: "How many lighthouses stand on Réunion?"
Language: French
Reply: {"question": "Combien de phares se trouvent à La Réunion ?"}
"""

    def case(self) -> str:
        """Draw the question and the language that it is wanted in."""
        return draw_case(self.question, f"Language: {self.language}")

    def check(self, reply: TranslatedQuestion) -> None:
        """Refuse a question that is empty or too long, or that has lost a number."""
        if reply.question is None:
            return
        if not reply.question.strip():
            raise ValueError("the question is empty; say it, or reply with null")
        if len(reply.question) > MAX_QUESTION_CHARS:
            raise ValueError(f"the question is longer than {MAX_QUESTION_CHARS} characters; shorten it")
        lost = sorted(_numbers(self.question) - _numbers(reply.question))
        if lost:
            raise ValueError(f"the question says {', '.join(lost)}; keep all numbers and codes")


def _numbers(text: str) -> set[str]:
    """Return the runs of digits of a text, whatever digits its script has."""
    return set(_NUMBER.findall("".join(str(unicodedata.decimal(char, char)) for char in text)))
