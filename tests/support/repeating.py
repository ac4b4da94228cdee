"""Settings of a house that emails every verdict twice: what a drill is there to find.

Not one that forgets an email: the real house would find that out, and make good for it.
"""

from dataclasses import replace

from django.apps import AppConfig

from drill.settings import *  # noqa: F403 - all of them
from drill.settings import INSTALLED_APPS as OF_THE_DRILL


class Repeats(AppConfig):
    name = "tests.support.repeating"
    label = "repeating"

    def ready(self) -> None:
        from verdicts import clients  # noqa: PLC0415 - once the apps are there
        from verdicts.mail.messages import Message  # noqa: PLC0415 - see above

        send = clients.send_message

        def send_twice(message: Message) -> None:
            send(message)
            if message.label:
                send(replace(message, message_id=f"<again.{message.message_id[1:]}"))

        clients.send_message = send_twice


INSTALLED_APPS = [*OF_THE_DRILL, "tests.support.repeating.Repeats"]
