"""What the trace of a record tells of the steps that CoG adds: the blueprint and the diagnoses.

A trace may be anybody's: an entry that is not of the form of ours is left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kgqa.evaluation.result import Result


class Diagnosis(NamedTuple):
    """A diagnosis of a failure signal (CoG §3.3)."""

    signal: str
    rerouted: bool
    """Whether it blames a step, before which the search goes on."""
    dropped: bool
    """Whether it finds the blueprint unreliable (App. K)."""


def diagnoses(result: Result) -> list[Diagnosis]:
    """Give the diagnoses of a question in their order; with one at least, refinement was triggered."""
    return [
        Diagnosis(signal, _positive(entry.get("step")), entry.get("blueprint") == "drop")
        for entry in entries(result, "diagnose")
        if isinstance(signal := entry.get("signal"), str)
    ]


def refines(result: Result) -> bool:
    """Tell whether the method had failure-aware refinement, switched on."""
    config = result.record.get("config")
    return isinstance(config, Mapping) and config.get("refinement") is True


def blueprint_source(result: Result) -> str | None:
    """Give where the blueprint of a question is from; None where no step looked for one."""
    sources = (entry.get("source") for entry in entries(result, "blueprint"))
    return next((source for source in sources if isinstance(source, str)), None)


def entries(result: Result, node: str | None = None) -> Iterator[Mapping[str, Any]]:
    """Give the entries of a trace that are by one node; by any where None is named."""
    trace = result.record.get("trace")
    for entry in trace if isinstance(trace, list) else ():
        if isinstance(entry, Mapping) and node in (None, entry.get("node")):
            yield entry


def _positive(step: object) -> bool:
    return isinstance(step, int) and step > 0
