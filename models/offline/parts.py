"""The parts of the offline model that can be left out, to see what each brings."""

from kgqa.models.errors import UnknownModel

PARTS = {
    "nearest": "the nearest training questions",
    "hops": "the hop model that is learned from training questions",
    "words": "the likeness of the words of a chain and the question",
    "kinds": "the kind of the ends, and where the graph leads",
    "asking": "counts, superlatives and comparisons",
    "conditions": "what else the question says of the answer",
}
"""Each part that a spec may leave out, and what it is."""

_PREFIX = "offline:without="


def without(spec: str) -> frozenset[str]:
    """Read which parts a spec leaves out: ``offline``, or ``offline:without=nearest+hops``.

    Raises:
        UnknownModel: in one line, for any other spec.
    """
    if spec == "offline":
        return frozenset()
    named = spec.removeprefix(_PREFIX).split("+")
    if not spec.startswith(_PREFIX) or not set(named) <= PARTS.keys():
        raise UnknownModel(
            f"{spec!r} names no model; write offline, or offline:without= and parts joined by +: "
            + ", ".join(PARTS)
        )
    return frozenset(named)
