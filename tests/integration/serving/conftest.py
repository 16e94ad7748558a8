from collections.abc import Iterator

import pytest

from kgqa.tests.support.servers import postgres as postgreses


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL of this session's own."""
    if reason := postgreses.missing():
        pytest.skip(reason)
    with postgreses.started() as address:
        yield address
