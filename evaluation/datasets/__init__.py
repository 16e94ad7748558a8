"""Datasets: questions with their gold, whatever file they come from.

>>> dataset = load("sample")
>>> dataset.format, len(dataset.questions), len(dataset.select("test", limit=10))
('kgqa', 298, 10)

A file is JSON lines, a JSON document, a table (CSV or TSV with a line of column names, one of them
``question``), tab-separated or plain text, in UTF-8, plain or gzipped; its first record tells the format.

docs/data.md lists the formats, and what is found in a file of any of them.

To add a format, write a module like those, with a schema, a function that makes a
`Question` of a record, and one that recognises a record; then list it in `dataset.py`.
"""

from kgqa.evaluation.datasets.dataset import FORMATS, Dataset, DatasetError, load

__all__ = ["FORMATS", "Dataset", "DatasetError", "load"]
