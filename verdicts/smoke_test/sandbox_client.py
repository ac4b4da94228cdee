"""The sandbox's controls over HTTP: pay, order an answer, look into the mailbox.

Whatever was ordered is taken back in the end, and nobody else's faults are touched.
"""

from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote

from verdicts.core.errors import SiteUnreachable
from verdicts.http.plain_http import request
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.failures import Failed

A_CALL: Final = 10.0


class Sandbox:
    def __init__(self, url: str, deadline: Deadline) -> None:
        self.url = url
        self._deadline = deadline
        self._ordered: list[int] = []

    def faults(self) -> int:
        """How many are queued, by whomever."""
        return len(self._call("GET", "faults", "faults"))

    def pay(self, session_id: str, *, email: str) -> None:
        self._call("POST", f"pay/{quote(session_id, safe='')}", "session", {"email": email})

    def next_answer(self, fault: str, *, about: str, **more: Any) -> None:
        """What the model says once, when it is asked `about` this."""
        rule = {"target": "gemini", "fault": fault, "match": about, **more}
        self._ordered.append(self._call("POST", "faults", "id", rule))

    def message(self, message_id: str, *, to: str) -> dict[str, Any] | None:
        found = self._call("GET", "messages", "messages", to=to)
        return next((one for one in found if one["message_id"] == message_id), None)

    def take_back(self) -> None:
        """What was ordered and never met."""
        while self._ordered:
            with suppress(Failed):  # a sandbox that is gone has forgotten it
                self._call("DELETE", f"faults/{self._ordered.pop()}", "removed")

    def _call(self, method: str, path: str, wanted: str, sent: Any = None, **params: str) -> Any:
        """What the control answers under the name `wanted`."""
        url = f"{self.url}/_control/{path}"
        try:
            deadline = self._deadline.up_to(A_CALL)
            reply = request(method, url, deadline=deadline, params=params, sent=sent)
        except SiteUnreachable as error:
            raise self._failed(path, str(error)) from None
        if reply.status >= 400 or wanted not in reply.body:
            raise self._failed(path, f"{reply.status} {reply.body.get('error', '')}".strip())
        return reply.body[wanted]

    def _failed(self, path: str, seen: str) -> Failed:
        control = path.partition("/")[0]  # what follows may be a session's id
        return Failed(
            f"the sandbox to take {control}",
            seen,
            f"is it the sandbox of this site? SANDBOX_URL is {self.url}; `make run` starts both",
        )
