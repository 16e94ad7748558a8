"""What a lapse of a server leaves unknown is asked again, and is never kept."""

from pathlib import Path

import pytest

from kgqa.kg.dialects import PLAIN, RDFS
from kgqa.kg.errors import KGTimeout
from kgqa.kg.graph import GraphFacts, Rows
from kgqa.kg.naming import Naming
from kgqa.kg.opening import _profile_endpoint
from kgqa.kg.profile.profile import kept_profile
from kgqa.kg.relations import RelationCatalog
from kgqa.kg.terms import Entity, Literal

BORN = "http://t/p1"


class Lapsed:
    """An executor that takes too long until it is well."""

    def __init__(self) -> None:
        self.well = False

    def query_now(self, text: str) -> Rows:
        if not self.well:
            raise KGTimeout("too long")
        return self._rows(text)

    async def query(self, text: str) -> Rows:
        return self.query_now(text)

    def _rows(self, text: str) -> Rows:
        named = (Entity(BORN), Literal("birth place"), Literal("0"))
        return Rows(("end", "label", "rank"), [named] if BORN in text else [])


def test_a_profile_that_could_not_be_read_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_HOME", str(tmp_path))
    server = Lapsed()
    made = kept_profile("f00d", lambda: _profile_endpoint(server, {BORN: 3}, PLAIN))  # type: ignore[arg-type]
    assert made.classes == ()
    assert list(tmp_path.rglob("*.json")) == []


async def test_names_of_relations_that_could_not_be_read_are_learned_later() -> None:
    server = Lapsed()
    facts = GraphFacts("http://t/", "f00d", triples=None, predicates={BORN: 3, f"{RDFS}label": 1})
    naming = Naming(PLAIN, facts.predicates)
    catalog = RelationCatalog(server, PLAIN, naming, facts)  # type: ignore[arg-type]
    assert catalog.label(BORN) == "p1"
    server.well = True
    await catalog.learn([BORN])
    assert catalog.label(BORN) == "birth place"
