"""Retrieval: which relation chains near the topics say the question, and what is known of their ends.

```
question ── masked for each topic ──▶ training advice ─┐
                  │                                    ▼
                  └──▶ wording similarity ──▶ chain search ──▶ chain ranking
```

No language model takes part. What it finds is the same for the same question, graph and exemplars.
"""
