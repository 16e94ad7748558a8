"""What a run is given and what it leaves: context, resources, state, steps, record."""
