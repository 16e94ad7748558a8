"""What a run spares the garbage collector."""

import gc

import pytest

from kgqa.evaluation.runs.event_loop import GC_THRESHOLD, garbage_frozen


@pytest.mark.parametrize("is_frozen", [True, False])
def test_what_is_open_is_frozen_for_a_run_and_what_was_frozen_before_stays_so(is_frozen: bool) -> None:
    before = gc.get_threshold()
    if not is_frozen:
        gc.unfreeze()
    try:
        with garbage_frozen():
            assert gc.get_freeze_count() > 10_000
            assert gc.get_threshold()[0] == GC_THRESHOLD
        assert (gc.get_freeze_count() > 0) == is_frozen
        assert gc.get_threshold() == before
    finally:
        gc.freeze()  # as tests/conftest.py has it
