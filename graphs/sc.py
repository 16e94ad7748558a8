"""Self-consistency (SC): several chains of thought, sampled, vote on the answer, without the graph.

Wang et al. 2023, section 2: many ways of reasoning lead to a right answer, and errors seldom agree.
"""

from typing import ClassVar

from pydantic import Field

from kgqa.nodes.sample import sample
from kgqa.nodes.vote import vote
from kgqa.session.context import Context
from kgqa.session.method import method
from kgqa.session.sampled import Sampled


class SC(Context):
    """The options of SC."""

    method: ClassVar[str] = "sc"
    asks_graph: ClassVar[bool] = False

    samples: int = Field(default=10, ge=1, le=100, description="chains of thought (40 in the paper)")
    temperature: float = Field(
        default=0.7, ge=0, le=2, description="of the model, instead of its own; 0 makes all samples alike"
    )


graph = method(SC, {sample: vote, vote: {}}, Sampled)
