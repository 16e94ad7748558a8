"""Without names of the nodes between, a beam of entities loses; relation chains do not (CoR, Figure 1a)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kgqa.cli.kg import load as kg_load
from kgqa.evaluation.datasets import load
from kgqa.evaluation.result_files import read_results
from kgqa.evaluation.runs.evaluate import evaluate
from kgqa.evaluation.scoring.comparison import Comparison, compare_results

CLUBS, MEMBERS = 12, 6


def triples() -> str:
    """Clubs with members, one of whom has won a prize."""
    clubs = (f'e:c{n} rdfs:label "Club {n}" .' for n in range(CLUBS))
    members = (
        f'e:c{n} r:member e:m{n}_{at} . e:m{n}_{at} rdfs:label "Member {n} {at}" .'
        for n in range(CLUBS)
        for at in range(MEMBERS)
    )
    prizes = (f'e:m{n}_{n % MEMBERS} r:won e:p{n} . e:p{n} rdfs:label "Prize {n}" .' for n in range(CLUBS))
    return "\n".join((*clubs, *members, *prizes))


def question(n: int) -> str:
    return json.dumps(
        {
            "id": str(n),
            "question": f"Which prize has a member of Club {n} won?",
            "topic_entities": [{"id": f"http://t/e/c{n}", "name": f"Club {n}"}],
            "answers": [{"id": f"http://t/e/p{n}", "name": f"Prize {n}"}],
            "gold_path": ["member", "won"],
        }
    )


@pytest.fixture
def compared(tmp_path: Path, turtle: Callable[[str], Path]) -> Callable[..., object]:
    """Return by how much a method is better without the names between."""
    dataset, kg = tmp_path / "clubs.jsonl", turtle(triples())
    dataset.write_text("\n".join(map(question, range(CLUBS))), encoding="utf-8")
    kg_load([str(kg)], tmp_path / "unnamed", dataset)

    async def by(method: str, **options: object) -> Comparison:
        runs = {"named": kg, "unnamed": tmp_path / "unnamed"}
        for name, graph in runs.items():
            out = tmp_path / f"{method}-{name}"
            await evaluate(dataset, out=out, method=method, kg=graph, model="simulated", **options)
        results = [read_results(tmp_path / f"{method}-{name}") for name in ("unnamed", "named")]
        return compare_results(*results, load(dataset).questions)

    return by


@pytest.mark.parametrize("method", ["cor", "pog"])
async def test_relation_chains_need_no_names_between(compared, method) -> None:
    found = (await compared(method)).differences["f1"]
    assert (found.value, found.low, found.high) == (0, 0, 0)


async def test_a_beam_cannot_tell_entities_without_names_apart(compared) -> None:
    found = (await compared("tog", beam="entities", cross_mediators=False)).differences["f1"]
    assert found.value == -0.5
    assert found.high < 0
