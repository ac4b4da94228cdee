"""The site's settings, with so little patience for its workers that a test can wait for it."""

from oracle_site.settings import *  # noqa: F403 - all of them
from oracle_site.settings import Q_CLUSTER as OF_THE_SITE

_HURRIED = {
    name: {**queue, "timeout": 2, "retry": 6} for name, queue in OF_THE_SITE["ALT_CLUSTERS"].items()
}
Q_CLUSTER = {**OF_THE_SITE, "ALT_CLUSTERS": _HURRIED}
