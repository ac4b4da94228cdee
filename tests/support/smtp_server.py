"""A minimal SMTP server with failure modes."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Mood = Literal["good", "refuses", "hangs_up", "took_it_and_died"]


class _Session(socketserver.StreamRequestHandler):
    server: "SmtpServer"

    def handle(self) -> None:
        self._reply("220 ready")
        while line := self.rfile.readline():
            word = line[:4].upper()
            if word == b"DATA":
                self._reply("354 go on")
                if not self._accept_message():
                    return None
            elif word == b"RCPT" and self.server.mood == "refuses":
                self._reply("550 no such mailbox")
            elif word == b"QUIT":
                return self._reply("221 bye")
            else:
                self._reply("250 ok")
        return None

    def _accept_message(self) -> bool:
        if self.server.mood == "hangs_up":
            return False
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line)
        self.server.messages.append(b"".join(lines).decode())
        if self.server.mood == "took_it_and_died":
            return False
        self._reply("250 accepted")
        return True

    def _reply(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


class SmtpServer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, mood: Mood) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.mood = mood
        self.messages: list[str] = []


@contextmanager
def smtp_server(mood: Mood) -> Iterator[SmtpServer]:
    with SmtpServer(mood) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()
