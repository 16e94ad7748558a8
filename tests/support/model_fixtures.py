import pytest

from kgqa.tests.support.llm_server import missing, serving
from kgqa.tests.support.model_stub import stubbed


@pytest.fixture
def stub():
    with stubbed() as server:
        yield server


@pytest.fixture(scope="session")
def llm_server():
    if reason := missing():
        pytest.skip(reason)
    with serving() as url:
        yield url
