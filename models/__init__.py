"""Who answers prompts: chat models, the offline model, scripts; their errors and their cost."""
