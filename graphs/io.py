"""Input and output (IO): the model answers at once, without the graph.

Standard prompting (Brown et al. 2020), the baseline that says what a model knows by itself.
"""

from typing import ClassVar

from kgqa.nodes.answer_alone import answer_alone
from kgqa.nodes.sample import ask
from kgqa.session.context import Alone
from kgqa.session.method import method
from kgqa.session.sampled import Sampled


class IO(Alone):
    """The options of IO: those that every method has."""

    method: ClassVar[str] = "io"


graph = method(IO, {ask: answer_alone}, Sampled)
