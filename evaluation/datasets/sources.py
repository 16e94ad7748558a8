"""Where benchmarks are published: what `kgqa data get` fetches by name.

A checksum is written down where the file, or the tree of its commit, has been seen: a SHA-256, or the id
that git has for the file. Files at the hub without one are held to what the hub states of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kgqa.evaluation.datasets.format import DatasetError
from kgqa.kg.terms import one_line

Host = Literal["hub", "github", "hand"]

UNSTATED = "none stated by the publisher"

YIH = "Yih et al. (2016), The Value of Semantic Parse Labeling for Knowledge Base Question Answering, ACL"
TALMOR = "Talmor and Berant (2018), The Web as a Knowledge-base for Answering Complex Questions, NAACL"
LUO = (
    "Luo et al. (2024), Reasoning on Graphs: Faithful and Interpretable Large Language Model Reasoning, ICLR"
)
SUN = "Sun et al. (2024), Think-on-Graph: Deep and Responsible Reasoning of Large Language Model, ICLR"
GU = "Gu et al. (2021), Beyond I.I.D.: Three Levels of Generalization for Question Answering, WWW"
BERANT = "Berant et al. (2013), Semantic Parsing on Freebase from Question-Answer Pairs, EMNLP"
USBECK = "Usbeck et al. (2023), QALD-10: The 10th challenge on question answering over linked data, SWJ"
PEREVALOV = "Perevalov et al. (2022), QALD-9-plus: A Multilingual Dataset for Question Answering, ICSC"
ZHOU = "Zhou et al. (2018), An Interpretable Reasoning Network for Multi-Relation Question Answering, COLING"
ZHANG = "Zhang et al. (2018), Variational Reasoning for Question Answering with Knowledge Graph, AAAI"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a benchmark: its files, as they are named where they are published.

    ``files`` hold the questions; at the hub ``*`` in a name stands for anything. ``graph`` is the file of
    triples that they are about, ``questions`` how many there are, ``megabytes`` what is fetched.
    """

    files: tuple[str, ...]
    questions: int | None = None
    megabytes: float | None = None
    graph: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A benchmark and where it is published; the first part is the one that its name alone stands for."""

    name: str
    about: str
    licence: str
    citations: tuple[str, ...]
    host: Host
    repository: str
    parts: Mapping[str, Part]
    revision: str = "main"
    checksums: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None  # of the files; None tells it from them
    subgraphs: bool = False  # whether each question comes with a graph of its own, as RoG publishes them

    @property
    def place(self) -> str:
        """The address of the page where people find it."""
        if self.host == "hub":
            return f"https://huggingface.co/datasets/{self.repository}"
        return f"https://github.com/{self.repository}"


ROG_CHECKSUMS = {
    "webqsp": {
        "data/train-00001-of-00002-e53244e71082a392.parquet": (
            "69fb1510e9990f8d0f62ab8f504ae3306130aec85c5f06fa772bce9d2db463a4"
        ),
    },
    "cwq": {
        "data/test-00002-of-00003-c659cd388440c4ae.parquet": (
            "d9ec63efbc63961f6c690dcfb2e6d61cee799c1755f62ece30c2e55548b5388f"
        ),
        "data/validation-00002-of-00003-fcbc480aec93c105.parquet": (
            "5ec8ec2188226bfa794e180e8be4708bf3f8b1fafbcf8a0e0a24e68164b00e5e"
        ),
    },
}
"""What the hub's pages say of some files of RoG."""

TOG_COMMIT = "7ccbb92e17579f934bb778386230de47eca0ab67"
IRN_COMMIT = "32f70d311978bfc1b911c60dff3e9d291b9a2447"

_ALL = (
    Source(
        "webqsp",
        "WebQSP, each question with its part of Freebase, as RoG publishes it",
        UNSTATED,
        (YIH, LUO),
        "hub",
        "rmanluo/RoG-webqsp",
        {
            "test": Part(("data/test-*.parquet",), 1628, 184),
            "validation": Part(("data/validation-*.parquet",), 246, 24),
            "train": Part(("data/train-*.parquet",), 2826, 309),
        },
        checksums=ROG_CHECKSUMS["webqsp"],
        subgraphs=True,
    ),
    Source(
        "cwq",
        "ComplexWebQuestions, each question with its part of Freebase, as RoG publishes it",
        UNSTATED,
        (TALMOR, LUO),
        "hub",
        "rmanluo/RoG-cwq",
        {
            "test": Part(("data/test-*.parquet",), 3531),
            "validation": Part(("data/validation-*.parquet",), 3519),
            "train": Part(("data/train-*.parquet",), 27639),
        },
        revision="b0f6275586286312c4e99ef4b0adc65463c91f8e",
        checksums=ROG_CHECKSUMS["cwq"],
        subgraphs=True,
    ),
    Source(
        "webqsp-freebase",
        "WebQSP with Freebase's ids of topics, for an endpoint with Freebase, as ToG and PoG list it",
        UNSTATED,
        (YIH, SUN),
        "github",
        "IDEA-FinAI/ToG",
        {"test": Part(("data/WebQSP.json",), 1639)},
        revision=TOG_COMMIT,
        checksums={"data/WebQSP.json": "af5bc9e520e44c66e9468f3fec8b6655598f9cbb"},
        format="webqsp",
    ),
    Source(
        "cwq-freebase",
        "ComplexWebQuestions with Freebase's ids of topics, for an endpoint with Freebase, as ToG lists it",
        UNSTATED,
        (TALMOR, SUN),
        "github",
        "IDEA-FinAI/ToG",
        {"test": Part(("data/cwq.json",), 3531, 3.8)},
        revision=TOG_COMMIT,
        checksums={"data/cwq.json": "147e7e1ee5f73c1d9ceba7a031c23b27a1ecddd57c55efff4541f74da41e97df"},
        format="cwq",
    ),
    Source(
        "grailqa",
        "1,000 questions of GrailQA, for an endpoint with Freebase, as ToG and PoG list them",
        UNSTATED,
        (GU, SUN),
        "github",
        "IDEA-FinAI/ToG",
        {"test": Part(("data/graliqa.json",), 1000, 3.9)},
        revision=TOG_COMMIT,
        checksums={"data/graliqa.json": "7233dd92c6ff93cf4e095ae1866ba23b2056dab029e5bd30636d81e997cbb940"},
        format="grailqa",
    ),
    Source(
        "webquestions",
        "WebQuestions, for an endpoint with Freebase or Wikidata, as ToG lists it",
        UNSTATED,
        (BERANT, SUN),
        "github",
        "IDEA-FinAI/ToG",
        {"test": Part(("data/WebQuestions.json",), 2032, 0.8)},
        revision=TOG_COMMIT,
        checksums={
            "data/WebQuestions.json": "129c8b0e8a8fe09944fcf84f4623d89d5ebdcf7e3b0db562258e126a3bc2b495"
        },
        format="webquestions",
    ),
    Source(
        "qald10",
        "QALD-10, for an endpoint with Wikidata; the English wordings are asked",
        "MIT",
        (USBECK,),
        "github",
        "KGQA/QALD-10",
        {"test": Part(("data/qald_10/qald_10.json",), 394, 1.0)},
        revision="89caa86371c7a65c6c87a64e0eeaa0e247ff5fe5",
        checksums={
            "data/qald_10/qald_10.json": "55720cbc9effb250f4b814a9c27ce5f5d61d863d5943bc8aa93773f6f761c6cc"
        },
        format="qald",
    ),
    Source(
        "qald9plus",
        "QALD-9-plus, for an endpoint with Wikidata; the English wordings are asked",
        "CC BY 4.0",
        (PEREVALOV,),
        "github",
        "KGQA/QALD_9_plus",
        {
            "test": Part(("data/qald_9_plus_test_wikidata.json",)),
            "train": Part(("data/qald_9_plus_train_wikidata.json",)),
        },
        revision="5b116c9b53cac0cc3c3c64dd211a46311499e76d",
        checksums={
            "data/qald_9_plus_test_wikidata.json": "663dd06c93eb0a50bb2d6ec2452f69be709c3655",
            "data/qald_9_plus_train_wikidata.json": "1e2bc9c6b198d1430e901b6dcd0b70f68190614a",
        },
        format="qald",
    ),
    Source(
        "pathquestion",
        "PathQuestion (2h, 3h) and PathQuestion-Large, with the facts that they are about",
        UNSTATED,
        (ZHOU,),
        "github",
        "zmtkeke/IRN",
        {
            "2h": Part(("PathQuestion/PQ-2H.txt",), 1908, 0.4, "PathQuestion/2H-kb.txt"),
            "3h": Part(("PathQuestion/PQ-3H.txt",), 5198, 1.4, "PathQuestion/3H-kb.txt"),
            "large-2h": Part(("PathQuestion/PQL-2H.txt",), 1594, 0.6, "PathQuestion/PQL2-KB.txt"),
            "large-3h": Part(("PathQuestion/PQL-3H.txt",), 1031, 0.5, "PathQuestion/PQL3-KB.txt"),
        },
        revision=IRN_COMMIT,
        checksums={
            "PathQuestion/PQ-2H.txt": "86f4a060a6d8a3d496671e6cfa73bf15b7f71422e9b49eefebc3f8fbe3618aef",
            "PathQuestion/PQ-3H.txt": "e0c5da286a830111e18122ad14ac195dc6bf90d42e2ec5c0c96522b51f16c69f",
            "PathQuestion/PQL-2H.txt": "b9d5d35905d7f5515a342707099d1fefb9eb8add9ef7811f8d04a02f66d1e89e",
            "PathQuestion/PQL-3H.txt": "e13455078bd808601893de860e2c99a61e476da2c8814ed79373e6a97782083d",
            "PathQuestion/2H-kb.txt": "1e8d8e7f950d7d0fe949b377b065b569c5b84d87273ec1600331f5ba985145d7",
            "PathQuestion/3H-kb.txt": "27eb687c67086eb684a43f524cc9560f76f52161e1a038b6be45ff2a24c50374",
            "PathQuestion/PQL2-KB.txt": "33962cedf418d2e02382a88496b0fd4b3f567ce07418e6cbb7a7dc830a0fcb7a",
            "PathQuestion/PQL3-KB.txt": "b176494c0064a87fdca16c79e1e210a70d22f5ea31d11bdf942d11c65065b775",
        },
        format="pathquestion",
    ),
    Source(
        "worldcup",
        "WorldCup2014 (players, clubs, countries), with the facts that it is about; c: two branches meet",
        UNSTATED,
        (ZHOU,),
        "github",
        "zmtkeke/IRN",
        {
            "p1": Part(("WC2014/WC-P1.txt",), None, None, "WC2014/WC2014.txt"),
            "p2": Part(("WC2014/WC-P2.txt",), 1472, 1.0, "WC2014/WC2014.txt"),
            "c": Part(("WC2014/WC-C.txt",), 2208, 1.5, "WC2014/WC2014.txt"),
        },
        revision=IRN_COMMIT,
        checksums={
            "WC2014/WC-P1.txt": "6077434c4cd0d1a07f835c2b199eccde04c2dcdf",
            "WC2014/WC-P2.txt": "ad8068f723f90780ecd1d1135a94d9066ed8aa0fb48b18522eaf7f63fdcb6872",
            "WC2014/WC-C.txt": "88739b89bbec881b539d95fb80f8dc824504ebcdc7983263663c545314cb892c",
            "WC2014/WC2014.txt": "e1c8233e4c3f198497cb752c47e631ef834ae3ff2f7eff2b7779ba035750a489",
        },
        format="worldcup",
    ),
    Source(
        "metaqa",
        "MetaQA (films), with the facts that it is about",
        "CC BY 3.0",
        (ZHANG,),
        "hand",
        "yuyuz/MetaQA",
        {
            f"{hops}hop{suffix}": Part((f"{hops}-hop/vanilla/qa_{part}.txt",), number, None, "kb.txt")
            for part, suffix, numbers in (
                ("test", "", (9947, 14872, 14274)),
                ("dev", "-dev", (9992, 14872, 14274)),
                ("train", "-train", (96106, 118980, 114196)),
            )
            for hops, number in enumerate(numbers, 1)
        },
        format="metaqa",
    ),
)

SOURCES: Mapping[str, Source] = {source.name: source for source in _ALL}
"""The benchmarks that are known by name."""


def find_part(text: str) -> tuple[Source, str] | None:
    """Return the source and the part that a name stands for; None where it is no name of a benchmark.

    >>> source, part = find_part("webqsp:train")
    >>> source.repository, part, find_part("cwq")[1], find_part("questions.jsonl")
    ('rmanluo/RoG-webqsp', 'train', 'test', None)

    Raises:
        DatasetError: if the benchmark has no such part.
    """
    name, _, part = text.lower().partition(":")
    if (source := SOURCES.get(name)) is None:
        return None
    if part and part not in source.parts:
        raise DatasetError(f"{name} has no part {one_line(part, 40)!r}; it has {', '.join(source.parts)}")
    return source, part or next(iter(source.parts))
