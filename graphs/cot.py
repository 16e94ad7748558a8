"""Chain of thought (CoT): the model reasons step by step, then answers, without the graph.

Wei et al. 2022: the reply has the steps before the answer.
"""

from typing import ClassVar

from kgqa.nodes.llm_only import LLMOnlyState, answer_from_reply, reason
from kgqa.runtime.context import ModelOnlyContext
from kgqa.runtime.graph_builder import build_graph


class CoT(ModelOnlyContext):
    """The options of CoT: those that every method has."""

    method: ClassVar[str] = "cot"


graph = build_graph(CoT, {reason: answer_from_reply}, LLMOnlyState)
