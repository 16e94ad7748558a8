"""What is evaluated: a method with its options, on a graph, asking a model."""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from kgqa.addresses import shown_url
from kgqa.api import KG, make_context, names_of
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.asking import Asker, PerQuestion
from kgqa.evaluation.runs.errors import RunError
from kgqa.evaluation.simulation import SIMULATED, Errors, SimulatedModel, parse
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.port import Model
from kgqa.models.registry import default_spec
from kgqa.session.context import Context
from kgqa.session.resources import is_handed_over, open_graph, registered, resources


@dataclass(frozen=True)
class Subject:
    """A context, and the errors of the simulated model where there is one."""

    context: Context
    simulated: tuple[Errors, PerQuestion] | None = None
    named: bool = True
    """Whether another process can open graph and model by their names."""

    async def open(self) -> KnowledgeGraph:
        """Open the graph and the model, once, before any question is asked.

        Raises:
            KGError: if the graph cannot be opened.
            UnknownModel: if the model cannot.
        """
        graph = await asyncio.to_thread(open_graph, self.context)
        await resources(self.context)
        return graph

    async def server(self) -> str | None:
        """Give the address that model calls go to; None where there is none, or its package keeps it."""
        url = getattr((await resources(self.context)).model, "url", None)
        return shown_url(url) if url else None

    async def learned(self) -> dict[str, str | None]:
        """Tell what was learned from training questions from anything else; None without it."""
        opened = await resources(self.context)
        library, exemplars = opened.library, opened.index or opened.exemplars
        return {
            "blueprints": f"{library.fingerprint[:16]}, tau {library.tau:g}" if library else None,
            "exemplars": exemplars.fingerprint[:16] if exemplars else None,
        }

    def asker(self, graph: KnowledgeGraph) -> Asker:
        """Give who asks the questions."""

        def prepare(question: Question) -> None:
            if self.simulated:
                errors, model = self.simulated
                model.set(SimulatedModel(question, graph, errors))

        return Asker(self.context, prepare)


def subject(
    method: str,
    kg: KG | None,
    model: str | Model | None,
    options: Mapping[str, Any],
    seed: int,
    handed_over: ExitStack,
) -> Subject:
    """Name a method, its graph and its model; objects have a name as long as ``handed_over`` is open.

    Raises:
        RunError: in one line, for an unknown method, an option or a simulation that is not taken.
    """
    given = dict(options)
    if kg is not None:
        names = names_of(kg)
        given["kg"] = handed_over.enter_context(registered(kg)) if names is None else names  # type: ignore[arg-type]
    spec = default_spec() if model is None else model
    simulated = None
    try:
        if isinstance(spec, str) and spec.strip().partition(":")[0] == SIMULATED:
            simulated = _simulated(spec, seed)
            spec = simulated[1]
        given["model"] = spec if isinstance(spec, str) else handed_over.enter_context(registered(spec))
        context = make_context(method, given)
        named = not is_handed_over(*context.kg) and (bool(simulated) or not is_handed_over(context.model))
        return Subject(context, simulated, named)
    except ValueError as error:
        raise RunError(str(error)) from None


def _simulated(spec: str, seed: int) -> tuple[Errors, PerQuestion]:
    errors = parse(spec, seed)
    return errors, PerQuestion(str(errors))
