"""Static files in production: collected under hashed names, compressed, served by whitenoise.

A hashed name never changes its content, so browsers cache it for ever. Files of older versions
stay: pages rendered before an upgrade still refer to them.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from django.http import HttpRequest, HttpResponseBase
from whitenoise.compress import Compressor
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage

from verdicts.static_collection import locked

# Only a browser's debugger loads source maps.
UNCOMPRESSED: Final = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")
HASHED: Final = re.compile(r"\.[0-9a-f]{12}(\.[^/.]+)?$")


class HashedFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # without types
    keep_only_hashed_files = True

    def create_compressor(self, **_: Any) -> Compressor:
        return Compressor(extensions=UNCOMPRESSED, quiet=True)

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Only new files: the content of a hashed name never changes."""
        new = [path for path in paths if not Path(f"{self.path(path)}.gz").exists()]
        yield from super().compress_files(new)


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc] # without types
    def update_files_dictionary(self, root: str, prefix: str) -> None:
        with locked(Path(root), exclusive=False):
            super().update_files_dictionary(root, prefix)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not self.autorefresh and request.path_info.startswith(self.static_prefix):
            self._add_new_file(request.path_info)
        response: HttpResponseBase = super().__call__(request)
        return response

    def immutable_file_test(self, path: str, url: str) -> bool:  # noqa: ARG002 - whitenoise's signature
        """By the name alone, so that files of other versions, absent from the manifest, count."""
        return bool(HASHED.search(url))

    def _add_new_file(self, url: str) -> None:
        """Serve a file collected after this process started, for pages of an upgraded process."""
        if url in self.files or not self.url_is_canonical(url):
            return
        path = Path(self.static_root, url.removeprefix(self.static_prefix))
        if path.is_relative_to(self.static_root) and _is_file(path):
            self.add_file_to_dictionary(url, str(path))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # the name is too long
        return False
