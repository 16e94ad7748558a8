"""What a question has cost: calls, tokens and seconds of the model.

>>> Usage(llm_calls=1, input_tokens=10, output_tokens=2) + Usage(llm_calls=1, unknown_calls=1)
Usage(llm_calls=2, cached_calls=0, unknown_calls=1, input_tokens=10, output_tokens=2, seconds=0.0)
"""

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and tokens; a sum of usages is a usage.

    ``llm_calls`` reached a model and were paid for; ``cached_calls`` were
    answered from the cache and cost nothing; ``unknown_calls`` are the calls
    among ``llm_calls`` whose tokens the server did not report, so that the token
    counts are lower bounds.
    """

    llm_calls: int = 0
    cached_calls: int = 0
    unknown_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Add field by field."""
        return Usage(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))
