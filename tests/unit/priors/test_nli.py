"""Contradiction, by rules and by a small cross-encoder whose label is fixed by its bias."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from blockbuster import blockbuster_ctx

from kgqa.priors.errors import PriorError
from kgqa.priors.nli import (
    MAX_PAIR_TOKENS,
    MAX_PREMISES,
    CrossEncoderDetector,
    NLIError,
    RuleDetector,
    open_contradiction_detector,
)
from kgqa.runtime.context import Context
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import zero_spend

BORN = ("Ada", "place_of_birth", "London")
USUAL = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
OTHER = ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize(
    ("observed", "predicted", "contradiction"),
    [
        ([BORN], [BORN], False),
        ([BORN], [("Ada", "place_of_birth", "Paris")], True),
        ([BORN], [("the ADA", "Place of birth", "London")], False),
        ([BORN], [("the ADA", "Place of birth", "Paris")], True),
        ([BORN], [("Bob", "place_of_birth", "Paris")], False),
        ([BORN], [("Ada", "place_of_death", "Paris")], False),
        ([BORN], [("London", "place_of_birth", "Ada")], False),
        ([BORN, ("Ada", "place of birth", "Paris")], [("Ada", "place_of_birth", "Paris")], False),
        ([BORN], [BORN, ("Ada", "place_of_birth", "Paris")], False),
        ([BORN, ("Ada", "child", "Ralph")], [BORN, ("Ada", "child", "Byron")], True),
        ([("Ada", "born", "1815")], [("Ada", "born", "18151")], True),
        ([("Нева", "впадает", "Балтика")], [("Нева", "впадает", "Каспий")], True),
        ([("Ada", "score", "1,000")], [("Ada", "score", "1000.0")], False),
        ([BORN], [("Ada", "place_of_birth", "?")], False),
        ([BORN], [("Ada", "place_of_birth", "unknown")], False),
        ([("Ada", "place_of_birth", "")], [("Ada", "place_of_birth", "Paris")], False),
        ([("", "place_of_birth", "London")], [("", "place_of_birth", "Paris")], False),
        ([], [BORN], False),
        ([BORN], [], False),
    ],
)
def test_rules_see_other_tails_of_the_same_head_and_relation(observed, predicted, contradiction):
    judge = open_contradiction_detector()
    assert judge.name == "rules"
    assert judge.contradicts(observed, predicted) is contradiction


def others(number):
    """Facts about other things: no two words of them are those of `BORN`."""
    return [(f"x{each}", "likes", f"y{each}") for each in range(number)]


def test_rules_take_all_facts_however_many():
    judge = RuleDetector()
    elsewhere = [*others(MAX_PREMISES * 3), ("Ada", "place_of_birth", "Paris")]
    assert judge.contradicts(elsewhere, [BORN])
    assert not judge.contradicts([*elsewhere, *others(MAX_PREMISES), BORN], [BORN])


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Make a random cross-encoder that says the first of the labels it is given, whatever it reads."""
    torch = pytest.importorskip("torch")
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    def make(labels, positions=MAX_PAIR_TOKENS * 2):
        torch.manual_seed(1)
        folder = tmp_path_factory.mktemp("nli") / "small"
        folder.mkdir()
        marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "."]
        letters = "abcdefghijklmnopqrstuvwxyz"
        (folder / "vocab.txt").write_text("\n".join([*marks, *letters, *(f"##{each}" for each in letters)]))
        size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
        config = BertConfig(
            vocab_size=58, max_position_embeddings=positions, id2label=dict(enumerate(labels)), **size
        )
        model = BertForSequenceClassification(config)
        torch.nn.init.zeros_(model.classifier.weight)
        model.classifier.bias.data = torch.eye(len(labels))[0]
        model.save_pretrained(folder)
        BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=positions).save_pretrained(folder)
        return str(folder)

    return make


@pytest.fixture(scope="module")
def usual(small):
    return small(USUAL)


def test_a_deberta_is_opened_once_its_weights_are_safetensors(tmp_path):
    """VoG's verifier, microsoft/deberta-large-mnli, is one of this class, published as a pickle."""
    torch = pytest.importorskip("torch")
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DebertaConfig,
        DebertaForSequenceClassification,
        DebertaTokenizerFast,
    )

    published, converted = tmp_path / "published", str(tmp_path / "converted")
    marks = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    vocabulary = {part: at for at, part in enumerate([*marks, *sorted(ByteLevel.alphabet())])}
    config = DebertaConfig(
        **{"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2},
        **{"relative_attention": True, "pos_att_type": "c2p|p2c", "position_biased_input": False},
        vocab_size=len(vocabulary),
        type_vocab_size=0,
        pooler_hidden_size=16,
        id2label=dict(enumerate(USUAL)),
    )
    model = DebertaForSequenceClassification(config)
    torch.nn.init.zeros_(model.classifier.weight)
    model.classifier.bias.data = torch.eye(len(USUAL))[0]
    config.save_pretrained(published)
    torch.save(model.state_dict(), published / "pytorch_model.bin")
    DebertaTokenizerFast(vocab=vocabulary, merges=[], model_max_length=512).save_pretrained(published)
    with pytest.raises(
        NLIError, match=r"pytorch_model\.bin may be a pickle.*safetensors \(docs/vog\.md says"
    ):
        open_contradiction_detector(str(published))
    # as docs/vog.md says
    AutoModelForSequenceClassification.from_pretrained(published).save_pretrained(converted)
    AutoTokenizer.from_pretrained(published).save_pretrained(converted)
    judge = open_contradiction_detector(converted)
    assert (judge.name, judge._model.config.model_type) == ("converted", "deberta")
    assert judge.contradicts([BORN], [("Ada", "place_of_birth", "Paris")])
    assert judge._length("Ada") == 3
    assert judge.contradicts(many(9), many(9))  # in several texts


@pytest.mark.parametrize(("labels", "contradiction"), [(USUAL, True), (OTHER, False)])
def test_the_model_says_which_label_is_which(small, capfd, labels, contradiction):
    folder = small(labels)
    capfd.readouterr()
    judge = open_contradiction_detector(folder)
    assert judge.name == "small"
    assert judge.contradicts([BORN], [BORN]) is contradiction
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def told(usual, monkeypatch):
    """A judge whose model says what it is told of each pair, and keeps the pairs."""

    def make(says):
        judge, seen = CrossEncoderDetector(usual), []

        def predict(pairs, **_):
            seen.extend(pairs)
            return np.array([np.eye(3)[USUAL.index(says(*pair))] for pair in pairs])

        monkeypatch.setattr(judge._model, "predict", predict)
        return judge, seen

    return make


def test_both_orders_are_read_as_sentences(told):
    judge, seen = told(lambda *_: "NEUTRAL")
    assert not judge.contradicts([BORN, BORN, ("Ada", "people.person.child", "Ralph")], [BORN])
    observed = "Ada place of birth London. Ada people person child Ralph."
    assert seen == [(observed, "Ada place of birth London."), ("Ada place of birth London.", observed)]


def test_either_order_may_contradict(told):
    observed = [("Ada", "child", "Ralph")]
    for first in ("Ada child Ralph.", "Ada child Byron."):
        judge, _ = told(lambda one, _, first=first: "CONTRADICTION" if one == first else "NEUTRAL")
        assert judge.contradicts(observed, [("Ada", "child", "Byron")])


def many(number):
    """Claims of 100 tokens each."""
    return [("h" * 40, "r" * 20, "t" * 37 + "abcdefghijklmnopqrstuvwxyz"[each] * 2) for each in range(number)]


def test_what_is_long_is_read_in_several_texts(told):
    judge, seen = told(lambda *_: "NEUTRAL")
    judge.contradicts(many(9), [("a" * 9, "b" * 5, "c" * 5)])  # 20 tokens, and 3 marks: four claims fit
    assert [len(one.split()) // 3 for one, _ in seen] == [4, 4, 1, 1, 1, 1]
    assert " ".join(one for one, _ in seen[:3]) == " ".join(f"{' '.join(claim)}." for claim in many(9))
    assert all(judge._length(one) + judge._length(other) + 3 <= MAX_PAIR_TOKENS for one, other in seen)


def test_both_sides_may_be_long(told):
    judge, seen = told(lambda *_: "NEUTRAL")
    judge.contradicts(many(5), many(5))
    assert {len(one.split()) // 3 for one, _ in seen} == {1, 2, 3}
    assert all(judge._length(one) + judge._length(other) + 3 <= MAX_PAIR_TOKENS for one, other in seen)
    assert len(seen) == 2 * 3 * 2


def test_a_text_that_contradicts_counts_unless_one_entails(told):
    last = many(9)[-1][2]
    judge, _ = told(lambda one, _: "CONTRADICTION" if last in one else "NEUTRAL")
    assert judge.contradicts(many(9), [BORN])
    assert not judge.contradicts(many(8), [BORN])
    judge, _ = told(lambda one, _: "CONTRADICTION" if last in one else "ENTAILMENT")
    assert not judge.contradicts(many(9), [BORN])


def test_a_smaller_model_gets_smaller_texts(small):
    judge = open_contradiction_detector(small(USUAL, positions=64))
    pairs = judge._pairs(["abcd efg hijk."] * 9, ["a b c."])
    assert len(pairs) == 2 * 3  # 61 tokens, 4 of them taken: four sentences of 12 fit
    assert all(judge._length(one) + judge._length(other) + 3 <= 64 for one, other in pairs)
    assert judge.contradicts(many(3), many(2))  # each longer than the model reads: cut


def test_a_model_reads_so_many_facts_those_about_the_same_first(told):
    judge, seen = told(lambda *_: "NEUTRAL")
    same = [("the ADA", "child", "Ralph"), ("London", "river", "Thames"), ("Bob", "home", "london.")]
    turned = [("Ben", "parent", "Ada")]
    judge.contradicts([*others(MAX_PREMISES), BORN, *same, *others(MAX_PREMISES), *turned], [BORN])
    (observed,) = {" ".join(one for one, other in seen if other == "Ada place of birth London.")}
    sentences = observed.removesuffix(".").split(". ")
    assert sentences[:5] == [
        *("Ada place of birth London", "the ADA child Ralph", "London river Thames", "Bob home london."),
        "Ben parent Ada",
    ]
    assert sentences[5:] == [" ".join(claim) for claim in others(MAX_PREMISES - 5)]


def test_facts_that_say_nothing_or_the_same_do_not_take_the_place_of_others(told):
    judge, seen = told(lambda *_: "NEUTRAL")
    silent = [("Ada", "child", "?")] * MAX_PREMISES
    judge.contradicts([*silent, *[BORN] * MAX_PREMISES, ("Ada", "child", "Ralph")], [BORN])
    assert seen[0][0] == "Ada place of birth London. Ada child Ralph."


def test_a_prediction_of_nothing_is_near_to_no_fact(told):
    judge, seen = told(lambda *_: "NEUTRAL")
    ben = ("Ben", "child", "Dora")
    judge.contradicts([*others(MAX_PREMISES), ben], [BORN, ("Ben", "child", "unknown")])
    assert not any("Ben" in text for pair in seen for text in pair)


def test_where_nothing_is_said_no_model_is_asked(told):
    judge, seen = told(lambda *_: "CONTRADICTION")
    assert not judge.contradicts([], [BORN])
    assert not judge.contradicts([BORN], [])
    assert not judge.contradicts([BORN], [("Ada", "child", "?")])
    assert not judge.contradicts([("Ada", "child", " ")], [BORN])
    assert seen == []


def told_in_one_line(caught, *parts):
    assert issubclass(NLIError, PriorError)
    assert "\n" not in str(caught.value)
    assert all(part in str(caught.value) for part in parts)


def test_no_such_model_says_what_to_do(tmp_path):
    pytest.importorskip("sentence_transformers")
    with pytest.raises(NLIError) as caught:
        open_contradiction_detector(str(tmp_path / "nothing here"))
    told_in_one_line(caught, "cannot open the NLI model", "nothing here", "leave the option nli out")


def test_a_model_without_its_weights_says_what_to_do(small):
    folder = small(USUAL)
    (weights,) = Path(folder).glob("*.safetensors")
    weights.write_bytes(b"broken")
    with pytest.raises(NLIError) as caught:
        open_contradiction_detector(folder)
    told_in_one_line(caught, "cannot open the NLI model")


@pytest.mark.parametrize("labels", [("LABEL_0", "LABEL_1", "LABEL_2"), ("entailment", "not_entailment")])
def test_a_model_of_something_else_says_so(small, labels):
    with pytest.raises(NLIError) as caught:
        open_contradiction_detector(small(labels))
    told_in_one_line(caught, f"its labels are {', '.join(labels)}", "leave the option nli out")


class PlainContext(Context):
    method = "plain"


class NamingContext(PlainContext):
    nli: str | None = None


async def test_a_run_has_the_judge_that_its_context_names(usual, graph):
    named = {"kg": graph("e:a r:r e:b ."), "model": SimpleNamespace(name="silent", ask=None)}
    with blockbuster_ctx("kgqa"):
        judges = [
            await NodeRuntime(NamingContext(**named, nli=usual), zero_spend()).contradiction_detector()
            for _ in range(2)
        ]
        rules = [
            await NodeRuntime(each, zero_spend()).contradiction_detector()
            for each in (NamingContext(**named), PlainContext(**named))
        ]
    assert judges[0] is judges[1]
    assert isinstance(judges[0], CrossEncoderDetector)
    assert all(isinstance(each, RuleDetector) for each in rules)
