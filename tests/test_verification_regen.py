"""SPEC_ORACLE_REGEN_CONSISTENCY: one test or more for each verification criterion, by number.

Over HTTP, against a complete site in its own processes, on each database. The time limits are
those of the document.
"""

import json
import time
from datetime import datetime

import pytest

from audit.core.vocabulary import TIERS
from drill.sites.live_site import LiveSite, live_site
from drill.sites.processes import wait_for
from verdicts.core.disclaimer import NOTE
from verdicts.core.prompt import build_verdict_prompt
from verdicts.core.request_config import locked_request

pytestmark = pytest.mark.django_db
TOKEN = {"Authorization": "Bearer sandbox-service-token"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with live_site(tmp_path_factory.mktemp("regen")) as running:
        yield running


def evicted(site: LiveSite, tier: str, query: str, original: str = "GREEN") -> tuple[str, str]:
    """The session and email address of a delivered order whose cached verdict was evicted."""
    email = f"{abs(hash(query))}@example.com"
    site.sandbox.fault("gemini", "verdict", label=original, match=query)
    session_id = site.buy(tier, query, email)
    site.wait_for_mail(email)
    site.manage("evict", session_id, "--reason", "verification")
    return session_id, email


def model_requests(site: LiveSite, query: str) -> list[dict]:
    requests = site.sandbox.requests("gemini")
    return [json.loads(one["body"]) for one in requests if query in one["body"]]


def test_vc_1_temperature_enforcement(site):
    session_id, _ = evicted(site, "quick", "VC one?")
    assert site.api(session_id).json()["regen"] is True
    _, regen = model_requests(site, "VC one?")
    assert regen["generationConfig"]["temperature"] == 0.0
    assert regen["generationConfig"]["topK"] == 1
    assert regen["generationConfig"]["topP"] == 1.0
    assert regen["generationConfig"]["candidateCount"] == 1


def test_vc_2_cache_write_after_regen(site):
    session_id, _ = evicted(site, "full", "VC two?")
    assert site.http.get(f"/cache/{session_id}", headers=TOKEN).status_code == 404
    page = site.result(session_id)
    assert page.status_code == 200
    cached = site.http.get(f"/cache/{session_id}", headers=TOKEN)
    assert cached.status_code == 200
    assert cached.json()["regen"] is True
    site.result(session_id)
    assert len(model_requests(site, "VC two?")) == 2


def test_vc_3_divergence_log_entry_within_five_seconds(site):
    session_id, _ = evicted(site, "strategy", "VC three?")
    started = time.time()
    site.api(session_id)

    def logged() -> list[dict]:
        lines = [json.loads(line) for line in site.log.read_text().splitlines()]
        of_session = [line for line in lines if line.get("session_id") == session_id]
        return [line for line in of_session if line["event"] == "regen_divergence_check"]

    wait_for(logged)
    (entry,) = logged()
    assert datetime.fromisoformat(entry["timestamp"]).timestamp() - started < 5
    assert (entry["original_verdict"], entry["tier"]) == ("GREEN", "strategy")


@pytest.mark.parametrize("regen", ["GREEN", "RED"])
def test_vc_4_non_blocking_render_within_thirty_seconds(site, regen):
    """Whether or not the verdict diverges, and although email is slow."""
    query = f"VC four, {regen}?"
    session_id, _ = evicted(site, "full", query)
    site.sandbox.fault("gemini", "verdict", label=regen, match=query)
    site.sandbox.fault("graph", "slow", seconds=3, match=query)
    started = time.monotonic()
    response = site.api(session_id)
    assert response.status_code == 200
    assert response.json()["verdict"]["verdict"] == regen
    assert time.monotonic() - started < 30
    assert response.json()["divergence"]["status"] == "pending"  # the response did not wait for it


def test_vc_4_a_model_that_never_answers_ends_in_503_within_thirty_seconds(site):
    session_id, _ = evicted(site, "quick", "VC four, dribbling?")
    site.sandbox.fault("gemini", "dribble", times=None, match="VC four, dribbling?")
    started = time.monotonic()
    response = site.api(session_id)
    assert time.monotonic() - started < 30
    assert response.status_code == 503
    assert response.json()["emailed_verdict"] == "GREEN"


@pytest.mark.parametrize(("original", "regen"), [("GREEN", "RED"), ("RED", "GREEN")])
def test_vc_5_significant_divergence_notification_within_sixty_seconds(site, original, regen):
    query = f"VC five, {original}?"
    session_id, email = evicted(site, "full", query, original)
    site.sandbox.fault("gemini", "verdict", label=regen, match=query)
    started = time.time()
    site.api(session_id)
    _, notice = site.wait_for_mail(email, 2)
    assert datetime.fromisoformat(notice["received_at"]).timestamp() - started < 60
    assert NOTE in " ".join(notice["text"].split())
    divergence = site.api(session_id).json()["divergence"]
    assert divergence["level"] == "significant"
    assert divergence["emailed_verdict"] == original
    assert f"{original}, is the authoritative one" in site.result(session_id).text


@pytest.mark.parametrize("tier", TIERS)
def test_vc_6_prompt_identity(site, tier):
    query = f"VC six, {tier}?"
    session_id, _ = evicted(site, tier, query)
    site.api(session_id)
    original, regen = model_requests(site, query)
    (text,) = [part["text"] for part in regen["contents"][0]["parts"]]
    assert original == regen
    assert text == build_verdict_prompt(tier, query)
    assert text == locked_request(model="gemini-2.5-flash", tier=tier, query=query).prompt
