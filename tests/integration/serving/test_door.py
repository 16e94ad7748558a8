"""The door's lifespan; what it lets in is tested on the server."""

import gc

from kgqa.serving.middleware import app, lifespan


async def test_what_a_server_starts_with_is_left_out_of_garbage_collections() -> None:
    set_before = gc.get_threshold()  # a command that ran in this process may have raised it
    gc.set_threshold(700, 10, 10)
    before = gc.get_threshold()
    async with lifespan(app):
        assert gc.get_freeze_count() > 10_000
        assert gc.get_threshold() > before
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == before
    gc.set_threshold(*set_before)
    gc.freeze()  # as tests/conftest.py has it
