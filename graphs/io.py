"""Input and output (IO): the model answers at once, without the graph.

Standard prompting (Brown et al. 2020), the baseline that says what a model knows by itself.
"""

from typing import ClassVar

from kgqa.nodes.llm_only import LLMOnlyState, answer_from_reply, ask
from kgqa.runtime.context import ModelOnlyContext
from kgqa.runtime.graph_builder import build_graph


class IO(ModelOnlyContext):
    """The options of IO: those that every method has."""

    method: ClassVar[str] = "io"


graph = build_graph(IO, {ask: answer_from_reply}, LLMOnlyState)
