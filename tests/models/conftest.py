import pytest

from kgqa.tests.llm_server import missing, serving
from kgqa.tests.models.stub import stubbed


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


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Keep the settings of whoever runs the tests out of them."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "KGQA_MODEL", "KGQA_CACHE"):
        monkeypatch.delenv(name, raising=False)
