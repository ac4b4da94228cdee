"""Keeps programs running, and leaves none of their processes behind.

    supervise([Program("web", ["manage.py", "runserver"], ready=8000)])

`program` says what is run, `group` is one run of it, `keeper` starts it again,
`troupe` is all of them together and how they are replaced, `supervisor` hears what
is wanted of them, by signals or at its `control`, `console` is what a person sees.
"""

from oracle_site.supervise.program import Backoff, Program
from oracle_site.supervise.supervisor import supervise
from oracle_site.supervise.troupe import Refused

__all__ = ["Backoff", "Program", "Refused", "supervise"]
