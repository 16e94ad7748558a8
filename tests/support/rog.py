"""A few questions in the form in which RoG publishes WebQSP and CWQ; all of them are made up."""

import io
from typing import Any

PERSON, HELD = "people.person", "government.government_position_held"

ROWS: list[dict[str, Any]] = [
    {
        "id": "Q-1",
        "question": "which river runs through Oakmere?",
        "answer": ["Ash Water"],
        "q_entity": ["Oakmere"],
        "a_entity": ["Ash Water"],
        "graph": [
            ["Oakmere", "location.location.river", "Ash Water"],
            ["Oakmere", "location.location.containedby", "Larkshire"],
            ["Ash Water", "geography.river.mouth", "Grey Bay"],
        ],
        "choices": [],
    },
    {
        "id": "Q-2",
        "question": "who was the mayor of Oakmere?",
        "answer": ["Ida Thorn", "Ben Marsh"],
        "q_entity": ["Oakmere"],
        "a_entity": ["Ida Thorn", "Ben Marsh"],
        "graph": [
            ["Oakmere", "location.location.mayors", "m.0x1"],
            ["Oakmere", "location.location.mayors", "m.0x2"],
            ["m.0x1", f"{HELD}.office_holder", "Ida Thorn"],
            ["m.0x2", f"{HELD}.office_holder", "Ben Marsh"],
            ["m.0x1", f"{HELD}.from", "1987"],
            ["m.0x2", f"{HELD}.from", "1994-05-01"],
            ["Oakmere", "location.location.containedby", "Larkshire"],
        ],
        "choices": [],
    },
    {
        "id": "Q-3",
        "question": "who wrote the novel 1987?",
        "answer": ['Cora "Lo" Vane/Hill'],
        "q_entity": ["1987"],
        "a_entity": ['Cora "Lo" Vane/Hill'],
        "graph": [
            ["1987", "book.written_work.author", 'Cora "Lo" Vane/Hill'],
            ["1987", "book.written_work.subjects", "Oakmere"],
        ],
        "choices": [],
    },
    {
        "id": "Q-4",
        "question": "what is nowhere?",
        "answer": ["Nothing"],
        "q_entity": ["Nowhere"],
        "a_entity": [],
        "graph": [],
        "choices": [],
    },
]


def parquet(rows: list[dict[str, Any]]) -> bytes:
    """Write rows with the columns and types of RoG."""
    import pyarrow as pa
    from pyarrow import parquet as files

    names = pa.list_(pa.string())
    fields = [("id", pa.string()), ("question", pa.string())]
    fields += [(name, names) for name in ("answer", "q_entity", "a_entity")]
    fields += [("graph", pa.list_(names)), ("choices", pa.list_(pa.null()))]
    file = io.BytesIO()
    files.write_table(pa.Table.from_pylist(rows, schema=pa.schema(fields)), file)
    return file.getvalue()


def files() -> dict[str, bytes]:
    """Return the files of a repository: a test part in two files, one for training."""
    train = [{**ROWS[0], "id": "T-1", "question": "which river runs through Larkshire?"}]
    return {
        "README.md": b"---\nlicense: cc-by-4.0\n---\n",
        "data/test-00000-of-00002-aa.parquet": parquet(ROWS[:2]),
        "data/test-00001-of-00002-bb.parquet": parquet(ROWS[2:]),
        "data/train-00000-of-00001-cc.parquet": parquet(train),
    }
