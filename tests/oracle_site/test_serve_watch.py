"""A pool of workers that is killed under `make serve` moves again, by itself or started anew."""

import psutil
import pytest

from tests.live_site import LiveSite
from tests.served_site import served_site

pytestmark = pytest.mark.django_db


def pool(site: LiveSite, queue: str) -> list[psutil.Process]:
    """Guard, workers, monitor and pusher, in the order in which they were started."""
    mains = [one for one in site.house.alive() if is_main(one, queue)]
    return sorted((child for one in mains for child in one.children(recursive=True)), key=by_age)


def is_main(process: psutil.Process, queue: str) -> bool:
    return (
        process.environ().get("Q_CLUSTER_NAME") == queue
        and "tether.py" in " ".join(process.parent().cmdline())
        and process.cmdline()[1:] == ["manage.py", "work"]
    )


def by_age(process: psutil.Process) -> tuple[float, int]:
    return process.create_time(), process.pid


@pytest.mark.parametrize("queue", ["generate", "post"])
def test_paid_work_moves_again_whoever_was_killed(tmp_path, queue):
    """What they held is held for ever, so that the pool ends itself; or they held nothing."""
    with served_site(tmp_path, DJANGO_SETTINGS_MODULE="tests.hurried_queues") as site:
        for one in pool(site, queue)[1:]:  # all but the guard
            one.kill()
        session = site.buy("quick", "A ferry to the island?", "patient@example.com")
        site.wait_for_mail("patient@example.com")
        assert site.api(session).status_code == 200
