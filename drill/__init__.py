"""Breaks a whole site on purpose and audits what is left of its invariants: `manage.py drill`.

Nothing imports this package but its own command, tests and benchmarks.
docs/DRILL.md lists the invariants, what is injected and how to read the result.
"""
