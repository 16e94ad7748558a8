"""Graphs that come with the questions of a dataset, one each, as RoG publishes WebQSP and CWQ."""

import asyncio
import hashlib
from pathlib import Path

from kgqa.evaluation.datasets.format import DatasetError
from kgqa.evaluation.datasets.subgraphs import any_id, read_graph
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.graph import KnowledgeGraph
from kgqa.runtime.context import Context
from kgqa.runtime.resources import open_triples

OWN = "own"  # what ``--kg`` calls the graph, or the graphs, that a dataset is published with


class QuestionGraphs:
    """Opens the graph of a question; it goes with the question, so that memory holds those at hand."""

    def __init__(self, path: Path, context: Context) -> None:
        self.path, self._context = path, context

    @property
    def fingerprint(self) -> str:
        """A short hash of all of them: what they were made from, and by which version."""
        return hashlib.sha256(self.path.parent.name.encode()).hexdigest()[:16]

    async def open(self, id: str) -> KnowledgeGraph:
        """Open the graph of a question; raise KGUnavailable if it has none."""
        return await asyncio.to_thread(self._open, id)

    async def open_any(self) -> KnowledgeGraph:
        """Open one of them, so that what is wrong with model or options is told before any question."""
        return await self.open(await asyncio.to_thread(any_id, self.path))

    def _open(self, id: str) -> KnowledgeGraph:
        try:
            return open_triples(self._context, read_graph(self.path, id), f"the graph of {id}")
        except DatasetError as error:
            raise KGUnavailable(str(error)) from None
