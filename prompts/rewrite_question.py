"""What does somebody ask, who says this after these questions and answers?"""

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
    more = [f"{len(turn.answers) - len(names)} more"] if len(turn.answers) > len(names) else []
    return f"{quoted(turn.question, MAX_QUESTION_CHARS)} - {', '.join(names + more) or 'no answer'}"
