"""What a worker of a run is told before it is asked anything, and what it says to that."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from typing_extensions import TypedDict

from kgqa import __version__
from kgqa.evaluation.runs.asking import Asker
from kgqa.evaluation.runs.listing import RELATIONS, listing, unlike
from kgqa.evaluation.runs.loop import settled
from kgqa.evaluation.runs.subject import Subject, subject
from kgqa.kg.errors import KGError
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.errors import ModelError
from kgqa.priors.errors import EncoderError

Holding = Mapping[str, str | None]
"""What a process answers from: version, model server, graph, whether it is listed, what was learned."""

SERVER = "model server"
"""The key under which stands the address that model calls go to, where it is known."""

REFUSED = "error"
"""The key under which a worker says in one line why it cannot work."""


class Order(TypedDict):
    """What is asked, by names: whoever carries it out opens them for itself."""

    kgqa: str
    method: str
    model: str
    options: dict[str, Any]


def order_of(subject: Subject) -> Order:
    """Write down what a worker is to open."""
    config = subject.context.config()
    options = subject.context.model_dump(mode="json", exclude={"model"})
    return {"kgqa": __version__, "method": config["method"], "model": config["model"], "options": options}


async def holding(subject: Subject, graph: KnowledgeGraph) -> Holding:
    """Tell what this process answers from."""
    return {
        "kgqa": __version__,
        SERVER: await subject.server(),
        RELATIONS: listing(graph),
        "graph": graph.fingerprint,
        **await subject.learned(),
    }


async def carried_out(order: Order, held: ExitStack) -> tuple[Asker | None, Holding]:
    """Open what an order names, for as long as ``held`` is open; no asker where that cannot be."""
    if order["kgqa"] != __version__:
        return None, {REFUSED: f"it has kgqa {__version__}, the run {order['kgqa']}; install the same"}
    try:
        asked = subject(order["method"], None, order["model"], order["options"], 0, held)
        graph = await asked.open()
        said = await holding(asked, graph)
    except (ValueError, KGError, ModelError, EncoderError) as error:
        return None, {REFUSED: str(error)}
    held.enter_context(settled())
    return asked.asker(graph), said


def objection(name: str, worker: Holding, head: Holding) -> str | None:
    """Say in one line why a worker cannot ask for the head of the run; None where it can."""
    if REFUSED in worker:
        return f"{name}: {worker[REFUSED]}"
    if how := unlike(worker, head):
        return f"{name}: the graph is slow to answer: {how}; ask again when the endpoint is quiet"
    other = [key for key in head if worker.get(key) != head[key]]
    if other:
        return (
            f"{name} has another {other[0]} than this process ({worker.get(other[0])}, not {head[other[0]]})"
        )
    return None
