"""Breaks a whole site on purpose and audits what is left of its promises: `manage.py drill`.

Nothing imports this package but its own command, tests and benchmarks.
docs/DRILL.md tells what is promised, what is injected and how to read the result.
"""
