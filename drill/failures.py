"""Why a drill ends without a report.

NotRun
  NoDatabase           the requested database is unavailable
  PostgresqlMissing    the throwaway PostgreSQL server cannot be started here
  NotStarted           the site or the sandbox does not respond
  DatabaseUnreachable  the drilled site's database is down at the moment
RetriesExhausted       a simulated customer got no usable response: a violated invariant
"""


class NotRun(Exception):
    """The drill could not be run; the message says why and where to look."""


class NoDatabase(NotRun):
    pass


class PostgresqlMissing(NotRun):
    pass


class NotStarted(NotRun):
    pass


class DatabaseUnreachable(NotRun):
    pass


class RetriesExhausted(Exception):
    pass
