import pytest


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/api/webhook", "/api/checkout", "/admin/login/"])
@pytest.mark.parametrize("length", ["abc", "-1", "٣", "1e3"])
def test_an_odd_content_length_is_the_clients_error(client, path, length):
    kind = "application/x-www-form-urlencoded"
    answer = client.post(path, data="a=b", content_type=kind, CONTENT_LENGTH=length)
    assert answer.status_code == 400
