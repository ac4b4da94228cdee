"""Settings of a site that emails every verdict twice: a defect that the drill must find.

Not one that loses an email: the site would notice that and send it again.
"""

from dataclasses import replace

from django.apps import AppConfig

from drill.settings import *  # noqa: F403 - all of them
from drill.settings import INSTALLED_APPS as DRILL_APPS


class Repeats(AppConfig):
    name = "tests.support.repeating"
    label = "repeating"

    def ready(self) -> None:
        from verdicts import clients  # noqa: PLC0415 - once the apps are loaded
        from verdicts.mail.messages import Message  # noqa: PLC0415 - see above

        send = clients.send_message

        def send_twice(message: Message) -> None:
            send(message)
            if message.label:
                send(replace(message, message_id=f"<again.{message.message_id[1:]}"))

        clients.send_message = send_twice


INSTALLED_APPS = [*DRILL_APPS, "tests.support.repeating.Repeats"]
