"""Client of the sandbox's `/_control/` API: pay, inject a fault, read the mailbox.

It removes only the faults that it injected itself.
"""

from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote

from verdicts.core.errors import SiteUnreachable
from verdicts.http.plain_http import request
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.failures import Failed

REQUEST_TIMEOUT: Final = 10.0


class SandboxClient:
    def __init__(self, url: str, deadline: Deadline) -> None:
        self.url = url
        self._deadline = deadline
        self._injected: list[int] = []

    def faults(self) -> int:
        """The number of queued faults, those of other clients included."""
        return len(self._call("GET", "faults", "faults"))

    def pay(self, session_id: str, *, email: str) -> None:
        self._call("POST", f"pay/{quote(session_id, safe='')}", "session", {"email": email})

    def next_answer(self, fault: str, *, about: str, **more: Any) -> None:
        """Fault of the model's next answer to a prompt that contains `about`."""
        rule = {"target": "gemini", "fault": fault, "match": about, **more}
        self._injected.append(self._call("POST", "faults", "id", rule))

    def message(self, message_id: str, *, to: str) -> dict[str, Any] | None:
        messages = self._call("GET", "messages", "messages", to=to)
        return next((one for one in messages if one["message_id"] == message_id), None)

    def clear_faults(self) -> None:
        """Remove own faults that were not used."""
        while self._injected:
            with suppress(Failed):  # a sandbox that has stopped has lost its faults
                self._call("DELETE", f"faults/{self._injected.pop()}", "removed")

    def _call(self, method: str, path: str, key: str, sent: Any = None, **params: str) -> Any:
        """The value of `key` in the response."""
        url = f"{self.url}/_control/{path}"
        try:
            deadline = self._deadline.timeout(REQUEST_TIMEOUT)
            reply = request(method, url, deadline=deadline, params=params, sent=sent)
        except SiteUnreachable as error:
            raise self._failed(path, str(error)) from None
        if reply.status >= 400 or key not in reply.body:
            raise self._failed(path, f"{reply.status} {reply.body.get('error', '')}".strip())
        return reply.body[key]

    def _failed(self, path: str, seen: str) -> Failed:
        control = path.partition("/")[0]  # the rest may contain a session id
        return Failed(
            f"the sandbox to accept {control}",
            seen,
            f"is this the site's sandbox? SANDBOX_URL is {self.url}; `make run` starts both",
        )
