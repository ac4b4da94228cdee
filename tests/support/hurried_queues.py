"""The site's settings with job time limits and leases that are short enough for a test."""

from oracle_site.settings import *  # noqa: F403 - extends all settings
from oracle_site.settings import Q_CLUSTER as SITE_CLUSTER

_SHORT = {
    name: {**queue, "timeout": 2, "retry": 6}
    for name, queue in SITE_CLUSTER["ALT_CLUSTERS"].items()
}
Q_CLUSTER = {**SITE_CLUSTER, "ALT_CLUSTERS": _SHORT}
