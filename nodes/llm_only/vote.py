"""Vote: which answers do the samples elect? (self-consistency: Wang et al. 2023, section 2)."""

from collections import Counter
from collections.abc import Sequence

from kgqa.nodes.llm_only.answer import answers_by_key, complete_unproved_record
from kgqa.nodes.llm_only.state import LLMOnlyState
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import FinalUpdate


@node("vote")
async def vote(state: LLMOnlyState, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record with the answers that the samples elect."""
    votes, elected = count_votes(state.get("samples", []))
    runtime.trace["votes"] = votes
    return await complete_unproved_record(elected, state, runtime)


def count_votes(samples: Sequence[Sequence[str]]) -> tuple[dict[str, int], list[str]]:
    """Return the votes of the samples by answer, the most first, and the answers that are elected.

    A sample has one vote for each of its answers; one without an answer has none. Elected is what more than
    half of the voters give, the most votes first. Where nothing is, it is what has the most votes, as far as
    the earliest sample with such an answer gives it: for samples of one answer each that is the paper's
    plurality. Ties stand in the order of the samples, and an answer is spelt as it came first.

    >>> count_votes([["Ulm"], ["Bonn", "ulm."], [], ["Bonn", "Ulm", "Kiel"]])
    ({'Ulm': 3, 'Bonn': 2, 'Kiel': 1}, ['Ulm', 'Bonn'])
    >>> count_votes([["Kiel"], ["Ulm"], ["Bonn"], ["Ulm"]])[1]
    ['Ulm']
    """
    ballots = [ballot for ballot in map(answers_by_key, samples) if ballot]
    votes = Counter(key for ballot in ballots for key in ballot)
    spelt = {key: name for ballot in reversed(ballots) for key, name in ballot.items()}
    ranked = [key for key, _ in votes.most_common()]
    elected = [key for key in ranked if 2 * votes[key] > len(ballots)]
    if not elected:
        most = max(votes.values(), default=0)
        leading = ([key for key in ballot if votes[key] == most] for ballot in ballots)
        elected = next(filter(None, leading), [])
    return {spelt[key]: votes[key] for key in ranked}, [spelt[key] for key in elected]
