"""Static files in production, where several instances share the directory."""

from threading import Thread

from django.http import HttpResponse

from oracle_site.server.static_files import StaticFiles
from verdicts.static_collection import locked


def test_an_instance_does_not_list_files_while_another_collects(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path / "static"
    settings.WHITENOISE_AUTOREFRESH = settings.WHITENOISE_USE_FINDERS = False  # as with DEBUG off
    settings.STATIC_ROOT.mkdir()
    (settings.STATIC_ROOT / "a.css").touch()
    found = []
    listing = Thread(target=lambda: found.append(StaticFiles(lambda _: HttpResponse()).files))
    with locked(settings.STATIC_ROOT, exclusive=True):
        listing.start()
        listing.join(0.5)
        assert listing.is_alive()
        (settings.STATIC_ROOT / "a.css").unlink()
        (settings.STATIC_ROOT / "b.css").touch()
    listing.join(5)
    assert [set(each) for each in found] == [{"/static/b.css"}]
