"""How often a simulated model errs, the spec that says so, and the chance that decides when.

>>> str(parse_error_rates("simulated:accuracy=0.80,recall=.5", seed=1))
'simulated:accuracy=0.8,seed=1'
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import TypeVar

from kgqa.kg.terms import one_line

T = TypeVar("T")

SIMULATED = "simulated"  # the provider: what a spec of a simulated model begins with
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """The probabilities of a simulated model's errors.

    Equal settings have an equal name (``str``), which leaves out what is as by default.
    """

    accuracy: float = 1.0
    """The first relation picked is right; so is a plan, its revision, an adapted blueprint, a recall.

    Of a composed query it is the chains; those that lead astray are seen to, unless ``judge`` errs.
    """
    recall: float = 0.5
    """A wrong choice of relations has the right ones after the wrong; 0: it holds no way back."""
    entity: float = 0.0
    """A choice of entities (candidates taken, filtered, inferred or gone on from) is wrong."""
    judge: float = 0.0  # a verdict (on a chain, a step, a claim, the decision to blame) is wrong
    format: float = 0.0  # a reply is malformed
    memory: float = 0.0  # an answer without the graph is right; else the model says that it does not know
    plan: float | None = None
    """The first plan in steps is right, with its answers (VoG); None: as often as ``accuracy`` says."""
    latency: float = 0.0  # seconds that a call takes
    seed: int = 0  # which of the many models with these probabilities it is
    draft: float | None = None
    """The first draft of a query is right; None: as often as ``accuracy`` says, as are later ones."""

    def __post_init__(self) -> None:
        for key in _RATE_NAMES:
            value = getattr(self, key)
            most = math.inf if key == "latency" else 1
            if value is not None and key != "seed" and not (0 <= value <= most and math.isfinite(value)):
                wanted = "a number of seconds" if key == "latency" else "a number from 0 to 1"
                raise ValueError(f"{key} of a simulated model must be {wanted}, not {value:g}")

    def __str__(self) -> str:
        """Return the canonical spec, for instance ``simulated:accuracy=0.8,seed=1``."""
        values = {field: getattr(self, field.name) for field in fields(self)}
        changed = {field.name: value + 0 for field, value in values.items() if value != field.default}
        settings = ",".join(f"{key}={repr(value).removesuffix('.0')}" for key, value in changed.items())
        return f"{SIMULATED}:{settings}" if settings else SIMULATED


_RATE_NAMES = tuple(field.name for field in fields(ErrorRates))


def parse_error_rates(spec: str, seed: int = 0) -> ErrorRates:
    """Read ``simulated:key=value,...``; ``seed`` holds where the spec names none."""
    provider, _, settings = spec.strip().partition(":")
    if provider != SIMULATED:
        raise ValueError(
            f"{one_line(spec, 80)!r} names no simulated model; write {SIMULATED}:accuracy=0.8,seed=1"
        )
    found: dict[str, float] = {}
    for setting in settings.split(",") if settings.strip() else ():
        key, equals, value = map(str.strip, setting.partition("="))
        if key not in _RATE_NAMES:
            raise ValueError(
                f"a simulated model has no {one_line(key, 40)!r}; it has {', '.join(_RATE_NAMES)}"
            )
        if key in found:
            raise ValueError(f"{key} of a simulated model is given twice")
        found[key] = _parse_number(key, value if equals else "")
    return ErrorRates(**{"seed": seed, **found})  # type: ignore[arg-type]


def _parse_number(key: str, text: str) -> float:
    pattern = _INTEGER if key == "seed" else _DECIMAL
    if not pattern.fullmatch(text):
        wanted = "a whole number of at most 18 digits" if key == "seed" else "a number"
        raise ValueError(f"{key} of a simulated model must be {wanted}, not {one_line(text, 40)!r}")
    return int(text) if key == "seed" else float(text)


class Draws:
    """The draws of one step: by the model's seed, the id of the question, and what the prompt shows."""

    def __init__(self, seed: int, question: str, step: str) -> None:
        about = f"{seed}\n{len(question)}\n{question}\n"
        texts = (text.encode("utf-8", "surrogatepass") for text in (about, about + step))
        self._about, self._key = (blake2b(text, digest_size=32).digest() for text in texts)

    def uniform(self, kind: str) -> float:
        """Draw from 0 (included) to 1 (excluded)."""
        return _uniform(kind, self._key)

    def throughout(self, kind: str) -> float:
        """Draw as `happens` does, the same at every step of the question."""
        return _uniform(kind, self._about)

    def shuffled(self, kind: str, things: Sequence[T]) -> Iterator[T]:
        """Draw one after the other until none is left."""
        left = list(things)
        for turn in range(len(left)):
            yield left.pop(int(self.uniform(f"{kind} {turn}") * len(left)))


def _uniform(kind: str, key: bytes) -> float:
    drawn = blake2b(kind.encode(), key=key, digest_size=8).digest()
    return (int.from_bytes(drawn) >> 11) / (1 << 53)
