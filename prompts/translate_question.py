"""How is a question said in the language that the graph's names are in?"""

import re
import unicodedata

from pydantic import Field

from kgqa.prompts.base import MAX_QUESTION_CHARS, Prompt, Reply, draw_case
from kgqa.prompts.target import Target

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

    async def answer(self, target: Target) -> TranslatedQuestion:
        """Leave a question as it is: to translate takes a language model."""
        return TranslatedQuestion(question=None)


def _numbers(text: str) -> set[str]:
    """Return the runs of digits of a text, whatever digits its script has."""
    return set(_NUMBER.findall("".join(str(unicodedata.decimal(char, char)) for char in text)))
