"""Processes that open stores and exemplars time and again, while others take their place."""

import asyncio
import json
import random
import time
from collections import Counter
from pathlib import Path

from kgqa.kg.errors import KGError
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.priors.encoder import BUNDLED_ENCODER
from kgqa.priors.errors import PriorError
from kgqa.priors.exemplars import EXEMPLAR_STORE

PARTS = 2_000
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def write_marked(path: Path, mark: str) -> Path:
    """Write a graph whose names are those of any other, and whose ids and facts are its own."""
    thing = f"<http://x/{mark}>"
    lines = [f'{thing} {LABEL} "Thing" .', f'{thing} <http://x/says> "{mark}" .']
    for n in range(PARTS):
        part = f"<http://x/{mark}/{n}>"
        lines += [f"{thing} <http://x/part> {part} .", f'{part} {LABEL} "Part {n}" .']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


async def marks(graph: SparqlGraph, foreign: bool = True) -> set[str]:
    """Return the marks that names, triples and queries from outside show; one, if they are of one graph."""
    ids = {each.entity.id for each in await graph.find_entities("Thing") if each.sure}
    ids |= {each.entity.id for each in await graph.find_entities(f"Part {PARTS - 1}") if each.sure}
    found = {id.split("/")[3] for id in ids} or {"no name"}
    for id in ids:
        says = Chain(Entity(id), (Hop("http://x/says"),))
        found |= {end.term.value for end in await graph.follow_chain(says)}  # type: ignore[union-attr]
    if foreign:
        answer = await graph.select("SELECT ?o { ?s <http://x/says> ?o }")
        found |= {row[0].value for row in answer.rows}  # type: ignore[union-attr]
    return found


def read_stores(folder: Path, out: Path, seed: int) -> None:
    """Open a store time and again, and look into it at once, or when others have taken its place."""
    chance, seen = random.Random(seed), Counter[str]()
    while not (folder / "stop").exists():
        try:
            graph = open_graph([folder / "graph"])
            time.sleep(chance.choice([0, 0, 0.1, 1]))
            found = asyncio.run(marks(graph, foreign=chance.random() < 0.2))
            seen["read" if len(found) == 1 else f"mixed {sorted(found)}"] += 1
        except KGError as error:
            seen[f"failed: {error}"] += 1
    out.write_text(json.dumps(seen), encoding="utf-8")


def read_libraries(folder: Path, out: Path, seed: int) -> None:
    """Open exemplars time and again, and what else is in their folder when others have taken their place."""
    chance, seen = random.Random(seed), Counter[str]()
    while not (folder / "stop").exists():
        try:
            opened = EXEMPLAR_STORE.open(folder / "solved", BUNDLED_ENCODER)
            opened.read("records")
            time.sleep(chance.choice([0, 0, 0.05]))
            for name in ("model", "solutions", "index"):
                opened.read(name)
            seen["read"] += 1
        except PriorError as error:
            seen[f"failed: {error}"] += 1
    out.write_text(json.dumps(seen), encoding="utf-8")
