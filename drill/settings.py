"""The site's settings with short job timeouts, and the app that can kill its processes."""

from oracle_site.settings import *  # noqa: F403 - all of them
from oracle_site.settings import INSTALLED_APPS as SITE_APPS
from oracle_site.settings import Q_CLUSTER as SITE_CLUSTER

# Model and mail calls are short in a drill, so a stuck pool can be detected sooner.
_SHORT_TIMEOUTS = {"timeout": 20, "retry": 45}
Q_CLUSTER = {
    **SITE_CLUSTER,
    "ALT_CLUSTERS": {
        name: {**cluster, **_SHORT_TIMEOUTS}
        for name, cluster in SITE_CLUSTER["ALT_CLUSTERS"].items()
    },
}
INSTALLED_APPS = [*SITE_APPS, "drill.faults.kill_stage_app.KillStages"]
