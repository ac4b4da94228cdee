"""Capacity planning from measured costs: `python -m benchmarks.capacity`."""
