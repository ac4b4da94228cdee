"""The OpenAPI document, verified against the site by schemathesis."""

import subprocess
import sys
from pathlib import Path

import pytest

from drill.sites.child_env import child_env
from drill.sites.live_site import live_site
from drill.sites.processes import ROOT

TOKEN = "Authorization: Bearer sandbox-service-token"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with live_site(tmp_path_factory.mktemp("openapi")) as running:
        yield running


def schemathesis(url: str, config: Path) -> subprocess.CompletedProcess:
    tool = [str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(config), "run"]
    options = ["--url", url, "--header", TOKEN, "--checks", "all", "--continue-on-failure"]
    examples = ["--max-examples", "20", "--seed", "20261116"]
    return subprocess.run(
        [*tool, f"{url}/api/schema/", *options, *examples],
        cwd=config.parent,
        env=child_env(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("known", [False, True], ids=["random sessions", "an existing session"])
def test_schemathesis_has_no_finding(site, tmp_path, known):
    config = tmp_path / "schemathesis.toml"
    config.write_text((ROOT / "schemathesis.toml").read_text())
    if known:
        session_id = site.buy("full", "Does it fit?", "fits@example.com")
        site.wait_for_mail("fits@example.com")
        config.write_text(f'[parameters]\nsession_id = "{session_id}"\n{config.read_text()}')
    run = schemathesis(site.url, config)
    assert run.returncode == 0, run.stdout


def test_the_documentation_loads_nothing_from_other_origins(site):
    page = site.http.get("/api/docs/").text
    assert "/static/drf_spectacular_sidecar/" in page
    assert "cdn" not in page
