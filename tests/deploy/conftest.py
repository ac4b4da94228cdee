"""The deployed nginx configuration in front of recording upstreams."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.support.nginx import Nginx, find_nginx, running_nginx
from tests.support.programs import ProgramMissing
from tests.support.systemd_analyze import find_systemd_analyze
from tests.support.upstream import Upstream, running_upstream


class Site(NamedTuple):
    nginx: Nginx
    web: list[Upstream]
    reader: Upstream
    http: httpx.Client

    def requests_to_web(self) -> list[str]:
        """Method and target of all requests to the upstreams that stand in for Django."""
        return [f"{one.method} {one.target}" for each in self.web for one in each.requests]


@pytest.fixture(scope="session")
def nginx() -> str:
    return required(find_nginx)


@pytest.fixture(scope="session")
def systemd_analyze() -> str:
    return required(find_systemd_analyze)


def required(find: Callable[[], str]) -> str:
    """Skips the test if the program is missing; fails it in strict mode."""
    try:
        return find()
    except ProgramMissing as error:
        if os.environ.get("ORACLE_TEST_STRICT"):
            raise
        pytest.skip(str(error))


@pytest.fixture
def site(nginx: str, tmp_path: Path) -> Iterator[Site]:
    """The web upstreams respond with 200 'django', the reader's with an empty 404."""
    web = [Upstream(tmp_path / f"web-{n}.sock", body=b"django") for n in (1, 2)]
    reader = Upstream(tmp_path / "reader.sock", status=404)
    with ExitStack() as stack:
        for each in (*web, reader):
            stack.enter_context(running_upstream(each))
        started = stack.enter_context(
            running_nginx(tmp_path / "nginx", web=[w.socket for w in web], reader=reader.socket)
        )
        http = stack.enter_context(
            httpx.Client(base_url=started.url, verify=started.tls, timeout=20, trust_env=False)
        )
        yield Site(started, web, reader, http)
