"""What is asked of an endpoint when it is opened."""

import pytest

from kgqa.kg.dialects import DIALECTS
from kgqa.kg.errors import KGTimeout
from kgqa.kg.graph import Rows
from kgqa.kg.opening import open_endpoint
from kgqa.kg.sparql import queries
from kgqa.kg.terms import Literal


@pytest.mark.parametrize(("kind", "asks"), [("wikidata", False), ("plain", True)])
def test_a_slow_endpoint_is_opened_as_what_its_marks_say(
    kind: str, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks, asked = DIALECTS[kind].marks, list[str]()
    every = sorted({p for d in DIALECTS.values() for p in (*d.labels, *d.aliases, *d.types, *d.marks)})

    class Slow:
        """An endpoint that tells in time which of some predicates it has, and nothing else."""

        remote = True

        def __init__(self, url: str, **_: object) -> None:
            self.url = url

        def query_now(self, text: str) -> Rows:
            asked.append(text)
            if text == queries.present(every):
                return Rows(("item",), [(Literal(str(every.index(mark))),) for mark in marks])
            raise KGTimeout("no answer within 30 s")

    monkeypatch.setattr("kgqa.kg.endpoint.client.Endpoint", Slow)
    monkeypatch.setattr("kgqa.kg.opening.find_text_search", lambda *_: None)
    assert open_endpoint(f"http://{kind}.slow.test/sparql").dialect == kind
    assert (queries.wikibase_relation() in asked) is asks
