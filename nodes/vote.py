"""Vote: which answers do the samples agree on? (Wang et al. 2023, section 2)."""

from collections import Counter
from collections.abc import Sequence

from kgqa.nodes.answer_alone import by_key, closed_alone
from kgqa.session.sampled import Sampled
from kgqa.session.state import Closing
from kgqa.session.step import Run, step


@step("vote")
async def vote(state: Sampled, run: Run) -> Closing:
    """Complete the record with the answers that the samples elect."""
    votes, elected = counted(state.get("samples", []))
    run.note["votes"] = votes
    return closed_alone(elected, state, run)


def counted(samples: Sequence[Sequence[str]]) -> tuple[dict[str, int], list[str]]:
    """Count the samples that give each answer, and elect.

    A sample has one vote for each of its answers; one without an answer has none. Elected is
    what more than half of the voters give, the most votes first. Where nothing is, it is what
    has the most votes, as far as the earliest sample with such an answer gives it: for samples
    of one answer each that is the paper's plurality. Ties stand in the order of the samples,
    and an answer is spelt as it came first.

    Args:
        samples: the answers of each.

    Returns:
        The votes by answer, the most first, and the answers that are elected.

    >>> counted([["Ulm"], ["Bonn", "ulm."], [], ["Bonn", "Ulm", "Kiel"]])
    ({'Ulm': 3, 'Bonn': 2, 'Kiel': 1}, ['Ulm', 'Bonn'])
    >>> counted([["Kiel"], ["Ulm"], ["Bonn"], ["Ulm"]])[1]
    ['Ulm']
    """
    ballots = [ballot for ballot in map(by_key, samples) if ballot]
    votes = Counter(key for ballot in ballots for key in ballot)
    spelt = {key: name for ballot in reversed(ballots) for key, name in ballot.items()}
    ranked = [key for key, _ in votes.most_common()]
    elected = [key for key in ranked if 2 * votes[key] > len(ballots)] or _leading(ballots, votes)
    return {spelt[key]: votes[key] for key in ranked}, [spelt[key] for key in elected]


def _leading(
    ballots: Sequence[dict[frozenset[str], str]], votes: Counter[frozenset[str]]
) -> list[frozenset[str]]:
    most = max(votes.values(), default=0)
    leading = ([key for key in ballot if votes[key] == most] for ballot in ballots)
    return next(filter(None, leading), [])
