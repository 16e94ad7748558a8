"""What a question file becomes."""

from collections import Counter
from dataclasses import dataclass

from kgqa.evaluation.question import Question


class DatasetError(ValueError):
    """A question file that cannot be used; its text is one line that names the place."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """The questions of a file, in its order.

    ``digest`` is the SHA-256 of the file's bytes in hexadecimal, ``format`` the name of
    the format it was read as.
    """

    name: str
    questions: tuple[Question, ...]
    digest: str
    format: str

    def part(self, split: str | None = None, limit: int | None = None) -> tuple[Question, ...]:
        """Take the questions of one split, or all of them.

        Args:
            split: ``all`` or None for every question; ``test`` for those whose ``split`` is
                "test"; ``split_group=test`` for those whose ``split_group`` is.
            limit: Take the first so many of them.

        Raises:
            DatasetError: if no question is in that split, or the limit is below 1.
        """
        if limit is not None and limit < 1:
            raise DatasetError(f"a limit is at least 1, not {limit}")
        return self._of(split)[:limit]

    def _of(self, split: str | None) -> tuple[Question, ...]:
        if split is None or split == "all":
            return self.questions
        key, equals, value = split.partition("=")
        if not equals:
            key, value = "split", split
        chosen = tuple(question for question in self.questions if question.splits.get(key) == value)
        if not chosen:
            raise DatasetError(
                f"{self.name} has no questions in the split {split!r}; it has {self._splits()}"
            )
        return chosen

    def _splits(self) -> str:
        there = Counter(pair for question in self.questions for pair in question.splits.items())
        shown = (value if key == "split" else f"{key}={value}" for key, value in sorted(there))
        return ", ".join(("all", *shown))
