"""Keeps programs running, and leaves none of their processes behind.

    supervise([Program("web", ["manage.py", "runserver"], ready=8000)])

`program` says what is run, `group` is one run of it, `keeper` starts it again,
`supervisor` is all of them together, `console` is what a person sees.
"""

from oracle_site.supervise.program import Backoff, Program
from oracle_site.supervise.supervisor import supervise

__all__ = ["Backoff", "Program", "supervise"]
