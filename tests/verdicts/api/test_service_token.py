"""Nobody but a service gets past, and several tokens can be valid at once."""

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
def test_without_a_token_nothing_is_answered(client, settings, method, path, header):
    settings.ORACLE_SERVICE_TOKENS = [OLD, NEW]
    answer = getattr(client, method)(path, headers={"authorization": header})
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.json()["type"] == "unauthorized"


@pytest.mark.parametrize("token", [OLD, NEW])
def test_while_one_token_replaces_another_both_are_good(client, settings, token):
    settings.ORACLE_SERVICE_TOKENS = [OLD, NEW]
    answer = client.get(PATHS[0][1], headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 404


def test_where_no_token_is_set_nobody_gets_in(client, settings):
    settings.ORACLE_SERVICE_TOKENS = []
    for header in ("", "Bearer ", "Bearer None"):
        answer = client.get(PATHS[0][1], headers={"authorization": header})
        assert answer.status_code == 401
