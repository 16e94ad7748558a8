"""Simulated models: they answer from a question's gold and err with stated probabilities.

They measure what a method makes of a model that is right so many times in a hundred, apart
from any one model, and cost nothing. They know the gold: an answer of theirs says nothing
about a question, only about the method that asked.

```python
errors = parse("simulated:accuracy=0.8,seed=1")
model = SimulatedModel(question, graph, errors)  # one for each question
```
"""

from kgqa.evaluation.simulation.errors import SIMULATED, Errors, parse
from kgqa.evaluation.simulation.model import SimulatedModel

__all__ = ["SIMULATED", "Errors", "SimulatedModel", "parse"]
