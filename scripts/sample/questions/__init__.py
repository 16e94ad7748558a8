"""Questions about the sample graph: wordings, gold paths, answers, and the split.

One module per kind (`chains`, `intersections`, `counts`, `superlatives`, `comparisons`)
holds what people wrote: wordings, paths, topics. `draft` gives them their common shape and
their SPARQL, `lookup` finds topics and answers in the graph, `answering` joins the two.
`conditions` and `without_topic` hold the questions of files of their own; `condition_draft` gives them their
answer queries, `condition_answering` their answers. `unanswerable` holds those that the graph cannot answer.
"""

from kgqa.scripts.sample.questions.answering import Question, build_questions
from kgqa.scripts.sample.questions.condition_answering import build_conditions, build_without_topic
from kgqa.scripts.sample.questions.unanswerable import build_unanswerable

__all__ = ["Question", "build_conditions", "build_questions", "build_unanswerable", "build_without_topic"]
