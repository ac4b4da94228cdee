"""Fault-injection drill: breaks a complete site on purpose and audits its invariants.

Run by `manage.py drill`; imported only by that command, tests and benchmarks. docs/DRILL.md
lists the faults and invariants and explains the output.
"""
