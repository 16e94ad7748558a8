"""Datasets: questions with their gold, whatever file they come from.

>>> dataset = load("sample")
>>> dataset.format, len(dataset.questions), len(dataset.part("test", limit=10))
('kgqa', 298, 10)

A file is JSON lines, a JSON document, a table (CSV or TSV with a line of column names, one of them
``question``), tab-separated or plain text, in UTF-8, plain or gzipped; its first record tells the format.

| format | what it reads |
|---|---|
| `kgqa` | the project's own question files; tables and JSON with answers as text |
| `list` | questions without answers: a line each, a table, JSON; to be asked, not scored |
| `cor` | WebQSP, CWQ, GrailQA and QALD-10 as CoR republishes them |
| `webqsp` | the official WebQSP; PoG's list of it |
| `cwq` | the official ComplexWebQuestions; PoG's list of it |
| `grailqa` | the official GrailQA; PoG's list of it |
| `webquestions` | the official WebQuestions; ToG's list of it |
| `qald` | the official JSON of QALD; ToG's list of QALD-10 |
| `metaqa` | MetaQA's text, two columns |
| `pathquestion` | PathQuestion's text, three columns |
| `worldcup` | WorldCup2014's text, four columns or more |

To add a format, write a module like those, with a schema, a function that makes a
`Question` of a record, and one that recognises a record; then list it in `dataset.py`.

What is found in a file means the same in all formats:

| in the file | here |
|---|---|
| no answers, or none with an id or a name | no reading: the question is not scored |
| several parses (WebQSP) | as many readings; an empty or repeated one is left out |
| no topic entities | no topics: a method has to link them; no format makes them up |
| `topic_entity` and `qid_topic_entity` | the first, the second where it is absent; see `align_topics` |
| no topic entities, but a graph query (GrailQA) | its entities are the topics |
| a literal as an answer | its value is id and name; the id is None where the file has `""` or null |
| a truth value or a number as an answer | its text (`true`, `3`, `+100`), an answer like any other |
| a name `""`, `null`, `UnName_Entity`, or the id once more (`Q42`) | no name |
| neither id nor name | left out; in the project's own files a mistake |
| aliases | as right as the name |
| the same id twice, or without ids the same name | one answer, the first |
| a number as an id | its text |
| no id | the format and the place in the file, from 1: `metaqa-1`; in files of one's own, made of the text |
| an id that an earlier record has | with `-` and the place behind it; in the project's own files a mistake |
| `gold_path` | one path from the first topic |
| `gold_paths` | branches; a topic may be named by its id, its `mid` or the end of its IRI |
| a path without relations | left out |
| `query` | the answer query that gives the answers (`kgqa.kg.proof.query`); what it does not know, ignored |
| `hops` | as given, else `min_hops_gold`, else the length of the longest path, else None |
| any text whose field begins with `split` | `splits` |
| any other field | ignored |
"""

from kgqa.evaluation.datasets.dataset import FORMATS, Dataset, DatasetError, load

__all__ = ["FORMATS", "Dataset", "DatasetError", "load"]
