"""Settings of a site that emails every verdict twice, a bug that a drill must find.

A missing email would not do: the real site finds and repairs that itself.
"""

from dataclasses import replace

from django.apps import AppConfig

from drill.settings import *  # noqa: F403 - extends all settings
from drill.settings import INSTALLED_APPS as DRILL_APPS


class Repeats(AppConfig):
    name = "tests.support.repeating"
    label = "repeating"

    def ready(self) -> None:
        from verdicts import clients  # noqa: PLC0415 - needs loaded apps
        from verdicts.mail.messages import Message  # noqa: PLC0415 - needs loaded apps

        send = clients.send_message

        def send_twice(message: Message) -> None:
            send(message)
            if message.label:
                send(replace(message, message_id=f"<again.{message.message_id[1:]}"))

        clients.send_message = send_twice


INSTALLED_APPS = [*DRILL_APPS, "tests.support.repeating.Repeats"]
