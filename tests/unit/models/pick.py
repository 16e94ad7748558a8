"""A prompt and its reply, for tests of models; takes what is hard for schemas."""

from pydantic import Field

from kgqa.prompts.base import Prompt, Reply, check_numbers


class Picked(Reply):
    rationale: str = Field(default="", description="one short sentence")
    numbers: list[int] = Field(description="numbers of the chosen lines")
    sure: float | None = None


class Pick(Prompt[Picked]):
    question: str = "Which is a city?"
    offered: int = 5
    temperature: float | None = None
    sample: int = 0

    instructions = 'Reply with one JSON object: {"rationale": "...", "numbers": [numbers]}.'

    def case(self) -> str:
        return self.question

    def check(self, reply: Picked) -> None:
        check_numbers(reply.numbers, self.offered, "line")
