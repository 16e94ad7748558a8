"""Questions about the sample graph: wordings, gold paths, answers, and the split.

One module per kind (`chains`, `intersections`, `counts`, `superlatives`, `comparisons`)
holds what people wrote: wordings, paths, topics. `draft` gives them their common shape and
their SPARQL, `lookup` finds topics and answers in the graph, `answering` joins the two.
`conditions` holds the questions of a file of their own, with their answer queries.
"""

from kgqa.scripts.sample.questions.answering import Question, build_questions
from kgqa.scripts.sample.questions.conditions import build_conditions

__all__ = ["Question", "build_conditions", "build_questions"]
