"""What a check finds: one line each, with what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """How bad a finding is."""

    GOOD = "good"
    NOTE = "note"
    """Worth knowing; nothing is wrong."""
    WARNING = "warning"
    """kgqa works, but slower, or with less than the graph has."""
    FATAL = "fatal"
    """kgqa cannot be used, or would take a part for the whole."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        check: What was looked at, in a word or two.
        level: How bad it is.
        says: What was found, in plain words.
        advice: What to do; empty where there is nothing to do.
        figures: What was measured: seconds, rows, counts.
    """

    check: str
    level: Level
    says: str
    advice: str = ""
    figures: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about an endpoint, in the order of the checks.

    Attributes:
        url: Its address, without user, password and parameters.
        seconds: That the check took.
        findings: Each of them.
    """

    url: str
    seconds: float
    findings: tuple[Finding, ...]

    @property
    def level(self) -> Level:
        """The worst of the findings; a note is as good as none."""
        found = {finding.level for finding in self.findings}
        return next((level for level in (Level.FATAL, Level.WARNING) if level in found), Level.GOOD)


def good(check: str, says: str, **figures: float | str) -> Finding:
    """Find nothing wrong."""
    return Finding(check, Level.GOOD, says, figures=figures)


def note(check: str, says: str, advice: str = "", **figures: float | str) -> Finding:
    """Find what is worth knowing."""
    return Finding(check, Level.NOTE, says, advice, figures)


def warning(check: str, says: str, advice: str = "", **figures: float | str) -> Finding:
    """Find what makes kgqa slower, or gives it less than the graph has."""
    return Finding(check, Level.WARNING, says, advice, figures)


def fatal(check: str, says: str, advice: str = "", **figures: float | str) -> Finding:
    """Find what kgqa cannot be used with."""
    return Finding(check, Level.FATAL, says, advice, figures)
