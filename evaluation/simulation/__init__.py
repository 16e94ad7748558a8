"""Simulated models: they answer from a question's gold and err with stated probabilities.

They measure what a method makes of a model that is right so many times in a hundred, apart
from any one model, and cost nothing. They know the gold: an answer of theirs says nothing
about a question, only about the method that asked.

```python
errors = parse_error_rates("simulated:accuracy=0.8,seed=1")
model = SimulatedModel(question, graph, errors)  # one for each question
```
"""

from kgqa.evaluation.simulation.error_rates import SIMULATED, ErrorRates, parse_error_rates
from kgqa.evaluation.simulation.model import SimulatedModel

__all__ = ["SIMULATED", "ErrorRates", "SimulatedModel", "parse_error_rates"]
