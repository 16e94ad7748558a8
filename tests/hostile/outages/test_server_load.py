"""Many clients at once on the real server, with a model that takes its time."""

from pathlib import Path

import pytest

from kgqa.benchmarks.serving import Load, Measured, measure
from kgqa.data import SAMPLE_GRAPH
from kgqa.evaluation.datasets import load
from kgqa.tests.support.servers.langgraph import missing

WHY_NOT = missing()

pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=str(WHY_NOT)),
    pytest.mark.skipif(not SAMPLE_GRAPH.is_file(), reason="needs the sample graph"),
    pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="reads processor time from /proc"),
]

LOAD = Load(clients=32, seconds=8.0)

MOST = 0.8
"""Processor seconds of the server that a run may take among many; a busy machine says little by the clock."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measure(load("sample").questions[::10], LOAD, tmp_path_factory.mktemp("load"))


def test_every_client_gets_its_answer(measured: Measured) -> None:
    assert measured.errors == []
    assert len(measured.runs) >= LOAD.clients


def test_every_call_is_made(measured: Measured) -> None:
    assert measured.calls == sum(run.calls for run in measured.runs)


def test_a_run_among_many_costs_the_server_little(measured: Measured) -> None:
    assert measured.cpu / len(measured.runs) < MOST
