"""The site's own settings, hurried, and the places at which its processes can be killed."""

from oracle_site.settings import *  # noqa: F403 - all of them
from oracle_site.settings import INSTALLED_APPS as OF_THE_SITE
from oracle_site.settings import Q_CLUSTER as QUEUES

# A job lasts as long as the model may, and mail; so a pool's watch need not wait for longer.
_HURRIED = {"timeout": 20, "retry": 45}
Q_CLUSTER = {
    **QUEUES,
    "ALT_CLUSTERS": {name: {**one, **_HURRIED} for name, one in QUEUES["ALT_CLUSTERS"].items()},
}
INSTALLED_APPS = [*OF_THE_SITE, "drill.faults.kill_stage_app.Stages"]
