"""Does what was observed contradict what was predicted? A natural-language-inference model, or rules."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from kgqa.kg.text import fold
from kgqa.priors.answer_agreement import answer_key, normalise_answer
from kgqa.priors.candidate_ranking import relation_words
from kgqa.priors.errors import PriorError
from kgqa.priors.hub_models import import_sentence_transformers, open_model

Claim: TypeAlias = tuple[str, str, str]  # what a triple says, in words; one that says nothing is passed over
MAX_PAIR_TOKENS = 512  # tokens of a pair of texts at most, marks included; fewer if the model takes fewer
MAX_PREMISES = 60  # facts that a model reads at most; rules take all
BATCH_PAIRS = 8  # pairs that go through together
_MODEL_HINT = (
    "name one that the hub has, give a folder that holds it as safetensors (docs/vog.md says how), or leave "
    "the option nli out for rules"
)


class NLIError(PriorError):
    """There is no such model, its files are broken, or its labels are not those of inference."""


class RuleDetector:
    """Tells contradiction by structure: same head and relation, other tails (gap 26 of VoG's text)."""

    name = "rules"

    def contradicts(self, premises: Sequence[Claim], hypotheses: Sequence[Claim]) -> bool:
        """Return whether the predicted tails of any head and relation share none with those observed."""
        observed, predicted = _tails_by_relation(premises), _tails_by_relation(hypotheses)
        return any(predicted[key].isdisjoint(observed[key]) for key in predicted.keys() & observed.keys())


class CrossEncoderDetector:
    """Tells contradiction by any cross-encoder trained for inference (VoG §3.3); threads take turns."""

    def __init__(self, model: str) -> None:
        try:
            kind = import_sentence_transformers().CrossEncoder
            self._model, self._text_tokens = open_model(
                lambda *args, **options: _limit_tokens(kind(*args, **options)), model
            )
        except ImportError as error:
            raise NLIError(f"the NLI model {model} {error}") from error
        except OSError as error:
            raise NLIError(f"cannot open the NLI model {model}: {error} ({_MODEL_HINT})") from error
        labels = getattr(self._model.config, "id2label", {})
        self._contradiction, self._entailment = _find_labels(model, labels)
        self.name = Path(model).name if Path(model).is_dir() else model
        self._lock = threading.Lock()

    def contradicts(self, premises: Sequence[Claim], hypotheses: Sequence[Claim]) -> bool:
        """Return whether, read in either order, some pair of texts is a contradiction and none an entailment.

        The claims go in as sentences, in as many texts as it takes (gap 25), but of the premises
        `MAX_PREMISES` at most: first those with the head or tail of a hypothesis.
        """
        ends = {normalise_answer(end) for head, _, tail in _meaningful(hypotheses) for end in (head, tail)}
        ordered = sorted(premises, key=lambda claim: ends.isdisjoint(map(normalise_answer, claim[::2])))
        observed, predicted = _sentences(ordered)[:MAX_PREMISES], _sentences(hypotheses)
        if not observed or not predicted:
            return False
        pairs = self._pairs(observed, predicted)
        with self._lock:
            rows = self._model.predict(pairs, batch_size=BATCH_PAIRS, show_progress_bar=False)
        found = {int(label) for label in rows.argmax(axis=1)}
        return self._contradiction in found and self._entailment not in found

    def _pairs(self, observed: Sequence[str], predicted: Sequence[str]) -> list[tuple[str, str]]:
        half = self._text_tokens // 2
        right = _pack_sentences(predicted, self._length, half)
        rest = self._text_tokens - max(map(self._length, right))
        left = _pack_sentences(observed, self._length, max(rest, half))
        both = [(one, other) for other in right for one in left]
        return both + [(other, one) for one, other in both]

    def _length(self, text: str) -> int:
        return len(self._model.tokenizer.encode(text, add_special_tokens=False, verbose=False))


ContradictionDetector: TypeAlias = RuleDetector | CrossEncoderDetector
"""Says whether what was observed contradicts what was predicted; blocks, so not for the event loop."""


def open_contradiction_detector(name: str | None = None) -> ContradictionDetector:
    """Open a cross-encoder by its name or folder, of up to gigabytes; without a name, the rules."""
    return RuleDetector() if name is None else CrossEncoderDetector(name)


def _limit_tokens(model: Any) -> tuple[Any, int]:
    """Cut pairs to `MAX_PAIR_TOKENS`, and return the model and how many of them are left for the texts."""
    limit = min(MAX_PAIR_TOKENS, model.max_seq_length or MAX_PAIR_TOKENS)
    model.max_seq_length = limit
    return model, limit - int(model.tokenizer.num_special_tokens_to_add(pair=True))


def _find_labels(model: str, names: Mapping[int, str]) -> tuple[int, int]:
    """Return the places of contradiction and entailment among the labels."""
    places = {str(name).casefold(): int(place) for place, name in names.items()}
    try:
        return places["contradiction"], places["entailment"]
    except KeyError:
        labels = ", ".join(map(str, names.values())) or "none"
        raise NLIError(
            f"the model {model} is not one of inference: its labels are {labels}, and should be "
            "contradiction, entailment and neutral; name another, or leave the option nli out for rules"
        ) from None


def _tails_by_relation(claims: Iterable[Claim]) -> dict[tuple[str, str], set[str]]:
    """Gather tails by head and relation, all so that spellings of one thing are equal."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for head, relation, tail in _meaningful(claims):
        found[normalise_answer(head), normalise_answer(relation)] |= answer_key([tail])
    return found


def _sentences(claims: Iterable[Claim]) -> list[str]:
    """Write each claim as a sentence, once."""
    parts = ((head.strip(), relation_words(name), tail.strip()) for head, name, tail in _meaningful(claims))
    return list(dict.fromkeys(f"{' '.join(part)}." for part in parts))


def says_nothing(claims: Sequence[Claim]) -> bool:
    """Return whether claims are "none", "unknown" or empty, each of them (VoG, appendix B.2).

    >>> says_nothing([("Ulm", "river", "unknown")]), says_nothing([("Ulm", "river", "Danube")])
    (True, False)
    """
    return not _meaningful(claims)


def _meaningful(claims: Iterable[Claim]) -> list[Claim]:
    """Leave out claims with a part that has no letter or figure, or a tail like "unknown"."""
    return [claim for claim in claims if all(map(fold, claim)) and answer_key(claim[2:])]


def _pack_sentences(sentences: Sequence[str], length: Callable[[str], int], max_tokens: int) -> list[str]:
    """Join sentences to texts of at most ``max_tokens`` tokens; one that is longer stands alone."""
    texts: list[str] = []
    used = 0
    for sentence in sentences:
        cost = length(sentence)
        if texts and used + cost <= max_tokens:
            texts[-1] += f" {sentence}"
            used += cost
        else:
            texts.append(sentence)
            used = cost
    return texts
