import logging

from audit.core.redaction import short_hash
from oracle_site.logs import Redacting

SESSION = "cs_test_a1B2c3D4e5"


def test_no_line_and_no_traceback_holds_a_session_id():
    error = LookupError(SESSION)
    what = (type(error), error, None)
    record = logging.LogRecord("x", logging.ERROR, "", 1, "at /cache/%s", (SESSION,), what)
    told = Redacting("%(message)s").format(record)
    assert SESSION not in told
    assert told.count(short_hash(SESSION)) == 2
