"""How alike texts are to a question by the words they share: BM25 (Robertson and Zaragoza 2009)."""

from collections.abc import Sequence


def bm25(texts: Sequence[str], query: str) -> list[float]:
    """Give the BM25 score of each text, divided by the largest; all 0 where no word is shared.

    >>> bm25(["place of birth", "film director"], "Who is the director of this film?")
    [0.0, 1.0]
    """
    import bm25s

    corpus = bm25s.tokenize(list(texts), stopwords="en", show_progress=False)
    words = bm25s.tokenize(query, stopwords="en", return_ids=False, show_progress=False)[0]
    if not corpus.vocab or not words:
        return [0.0] * len(texts)
    index = bm25s.BM25()
    index.index(corpus, show_progress=False)
    scores = [round(float(score), 6) for score in index.get_scores(words)]
    most = max(scores)
    return [score / most if most > 0 else 0.0 for score in scores]
