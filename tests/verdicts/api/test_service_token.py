"""Service endpoints need a token; several can be valid at once, for rotation."""

import pytest

PATHS = [("get", "/cache/cs_test_a1B2c3D4e5"), ("post", "/cache/cs_test_a1B2c3D4e5")]
PATHS.append(("post", "/send-verdict-email"))
OLD, NEW = "the-old-token-" + "x" * 32, "the-new-token-" + "y" * 32

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("method", "path"), PATHS)
@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer wrong", f"Basic {OLD}", OLD, "Bearer \xff", "Bearer é"],
)
def test_without_a_valid_token_the_response_is_401(client, settings, method, path, header):
    settings.ORACLE_SERVICE_TOKENS = [OLD, NEW]
    answer = getattr(client, method)(path, headers={"authorization": header})
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.json()["type"] == "unauthorized"


@pytest.mark.parametrize("token", [OLD, NEW])
def test_during_a_rotation_both_tokens_are_valid(client, settings, token):
    settings.ORACLE_SERVICE_TOKENS = [OLD, NEW]
    answer = client.get(PATHS[0][1], headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 404


def test_without_configured_tokens_nothing_is_valid(client, settings):
    settings.ORACLE_SERVICE_TOKENS = []
    for header in ("", "Bearer ", "Bearer None"):
        answer = client.get(PATHS[0][1], headers={"authorization": header})
        assert answer.status_code == 401
