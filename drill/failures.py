"""Why a drill comes to no table.

NotRun
  NoDatabase          the database that was asked for cannot be had
  PostgresqlMissing   there is no PostgreSQL to be had here
  NotStarted          the site or the sandbox does not answer
  DatabaseAway        the drilled site's database does not answer just now
GaveUp                a customer tried for longer than anybody would: a broken invariant
"""


class NotRun(Exception):
    """It could not be run; the message says why, and where to look."""


class NoDatabase(NotRun):
    pass


class PostgresqlMissing(NotRun):
    pass


class NotStarted(NotRun):
    pass


class DatabaseAway(NotRun):
    pass


class GaveUp(Exception):
    pass
