"""Chain of thought (CoT): the model reasons step by step, then answers, without the graph.

Wei et al. 2022: the reply has the steps before the answer.
"""

from typing import ClassVar

from kgqa.nodes.answer_alone import answer_alone
from kgqa.nodes.sample import reason
from kgqa.session.context import Alone
from kgqa.session.method import method
from kgqa.session.sampled import Sampled


class CoT(Alone):
    """The options of CoT: those that every method has."""

    method: ClassVar[str] = "cot"


graph = method(CoT, {reason: answer_alone}, Sampled)
