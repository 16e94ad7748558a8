"""Self-consistency (SC): several chains of thought, sampled, vote on the answer, without the graph.

Wang et al. 2023, section 2: many ways of reasoning lead to a right answer, and errors seldom agree.
"""

from typing import ClassVar

from pydantic import Field

from kgqa.nodes.llm_only import LLMOnlyState, sample, vote
from kgqa.runtime.context import ModelOnlyContext
from kgqa.runtime.graph_builder import build_graph


class SC(ModelOnlyContext):
    """The options of SC."""

    method: ClassVar[str] = "sc"

    samples: int = Field(default=10, ge=1, le=100, description="chains of thought (40 in the paper)")
    temperature: float = Field(default=0.7, ge=0, le=2, description="of the model; 0: all samples are alike")


graph = build_graph(SC, {sample: vote}, LLMOnlyState)
