"""Every prompt there is, and one filled in of each kind."""

import pkgutil
from importlib import import_module
from typing import Any

import kgqa.prompts
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.prompts.answer_directly import AnswerDirectly
from kgqa.prompts.base import Prompt
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.prompts.verify_chain import VerifyChain

_MODULES = [
    import_module(found.name) for found in pkgutil.iter_modules(kgqa.prompts.__path__, "kgqa.prompts.")
]

PROMPTS: list[type[Prompt[Any]]] = sorted(
    (
        kind
        for module in _MODULES
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Prompt) and kind.__module__ == module.__name__
        if kind is not Prompt
    ),
    key=lambda kind: kind.name,
)


def chain(topic: str, *hops: str) -> Chain:
    """``chain("Ada", "child", "^lives_in")``: relations in order, ``^`` against the arrow."""
    return Chain(Entity(f"http://x/{len(topic)}", topic), tuple(map(hop, hops)))


def hop(text: str) -> Hop:
    return Hop(f"http://x/{text.removeprefix('^')}", not text.startswith("^"))


def ends(*names: str, returning: tuple[str, ...] = ()) -> tuple[Candidate, ...]:
    """Candidates of these names; those of ``returning`` come back to the topic."""
    return tuple(
        Candidate(Entity(f"http://x/{place}", name), name in returning) for place, name in enumerate(names)
    )


def values(*texts: str) -> tuple[Candidate, ...]:
    return tuple(Candidate(Literal(text)) for text in texts)


WORKED: list[Prompt[Any]] = [
    AnswerDirectly("Which two seas does the Kiel Canal join?"),
    FilterCandidates(
        "Which of the Brontë sisters died in Scarborough?",
        chain("Patrick Brontë", "^father"),
        ends("Anne Brontë", "Branwell Brontë", "Charlotte Brontë", "Emily Brontë"),
    ),
    PruneRelations(
        "In which town did the composer of Vltava go to school?",
        chain("Vltava"),
        (hop("composed_by"), hop("musical_key"), hop("^recorded_work")),
        2,
    ),
    VerifyChain(
        "Which rivers flow through the home town of Clara Schumann?",
        chain("Clara Schumann", "born_in"),
        ends("Leipzig"),
    ),
    VerifyChain(
        "Which of Robert Schumann's songs set words by Eichendorff?",
        chain("Robert Schumann", "^composed_by"),
        ends("Mondnacht", "Widmung", "Zwielicht"),
    ),
]
"""The worked examples of the instructions, as the prompts that they are examples of."""
