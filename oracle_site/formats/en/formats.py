"""Dates in the console's lists, as `verdicts.core.formatting` writes them elsewhere.

Django prefers its own formats of the language to `settings.DATE_FORMAT`.
"""

DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i"
