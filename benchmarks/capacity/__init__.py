"""How many orders a machine takes, measured: `python -m benchmarks.capacity`."""
