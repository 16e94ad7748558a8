"""What a search is told of solved questions like this one, and of how far it has come."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from kgqa.prompts.base import MAX_TOPICS_SHOWN, QuestionPrompt, R, draw_case, quoted

MAX_SOLVED_SHOWN = 8
MAX_SOLVED_CHARS = 300
MAX_BRANCH_HOPS = 8

_HEADING = (
    'Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:'
)


@dataclass(frozen=True, slots=True)
class SolvedQuestion:
    """A solved question and the relations that led to its answers, one branch for each of its topics.

    A relation that was followed against its arrow is written ``^relation``; entities of the
    question stand as what they are or as a mark.
    """

    question: str
    branches: tuple[tuple[str, ...], ...]


def draw_solved_questions(solved: Sequence[SolvedQuestion], heading: str = _HEADING) -> list[str]:
    r"""Draw solved questions under a heading that says how to read them; nothing where there are none.

    >>> print(*draw_solved_questions([SolvedQuestion("Who is from [city]?", (("^born_in",),))]), sep="\n")
    Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:
    - "Who is from [city]?" by ["^born_in"]
    """
    lines = []
    for each in solved[:MAX_SOLVED_SHOWN]:
        shown = (map(quoted, branch[:MAX_BRANCH_HOPS]) for branch in each.branches[:MAX_TOPICS_SHOWN])
        branches = ", ".join(f"[{', '.join(names)}]" for names in shown)
        lines.append(f"- {quoted(each.question, MAX_SOLVED_CHARS)} by {branches}")
    return [heading, *lines] if lines else []


MAX_SUBGOALS = 8
MAX_FINDINGS_SHOWN = 12
MAX_SENTENCE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search stands: ``subgoals[at]`` is the current one, ``findings`` what is known, or verified."""

    subgoals: tuple[str, ...]
    at: int
    findings: tuple[str, ...]
    verified: bool = True

    def draw(self) -> str:
        """Draw the subgoals, the current one marked, and the last findings.

        >>> print(Progress(("Find the composer.", "Find the school."), 1, ("Smetana composed it.",)).draw())
        Subgoals, in their order:
        - "Find the composer."
        - "Find the school." <- now
        Verified so far:
        - "Smetana composed it."
        """
        goals = [f"- {quoted(goal, MAX_SENTENCE_CHARS)}" for goal in self.subgoals[:MAX_SUBGOALS]]
        goals = [f"{goal} <- now" if place == self.at else goal for place, goal in enumerate(goals)]
        plan = ["Subgoals, in their order:", *goals] if goals else []
        return "\n".join([*plan, draw_findings(self.findings, "Verified" if self.verified else "Known")])


def draw_findings(findings: Sequence[str], how: str = "Known") -> str:
    """Draw the last findings; an empty one is none."""
    return draw_list(f"{how} so far", [each for each in findings if each][-MAX_FINDINGS_SHOWN:])


def draw_subgoals(subgoals: Sequence[str], known: Sequence[str]) -> list[str]:
    r"""Draw a plan, and what is known of it; nothing where there is neither.

    >>> draw_subgoals(["Find the composer."], [])
    ['Subgoals:\n- "Find the composer."', 'Known so far: nothing']
    """
    plan = [draw_list("Subgoals", subgoals[:MAX_SUBGOALS])] if subgoals else []
    return [*plan, draw_findings(known)] if subgoals or known else []


def draw_list(title: str, sentences: Sequence[str]) -> str:
    """List sentences under a title; none of them has a number, so that none can be picked."""
    lines = [f"- {quoted(sentence, MAX_SENTENCE_CHARS)}" for sentence in sentences]
    return "\n".join([f"{title}:", *lines]) if lines else f"{title}: nothing"


class PlannedPrompt(QuestionPrompt[R]):
    """A prompt about a question that shows the plan first, what is known of it, and solved questions before.

    ``known`` holds what is known of each of the ``subgoals``, in their order; empty where nothing is.
    """

    _: KW_ONLY
    subgoals: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    exemplars: tuple[SolvedQuestion, ...] = ()

    def case(self) -> str:
        """Draw solved questions, the question and the plan, then what this prompt shows beside."""
        lines = (*draw_subgoals(self.subgoals, self.known), *self._lines())
        solved = draw_solved_questions(self.exemplars)
        return draw_case(self.question, *lines, topics=self.topics, before=solved)
