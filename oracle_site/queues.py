"""django-q's settings: two queues on one table of the one database."""

from typing import Any

from oracle_site.env import Environment


def queues(env: Environment) -> dict[str, Any]:
    """A job is free again `retry` seconds after it was taken, so that the job of a
    killed worker is not lost. One at a time: what is taken early can run twice.
    """
    generate = env.integer(
        "ORACLE_GENERATE_WORKERS",
        "workers of this host that ask the model, one order at a time each",
        default=4,
        at_least=1,
        at_most=500,
    )
    post = env.integer(
        "ORACLE_POST_WORKERS",
        "workers of this host that send email and compare",
        default=2,
        at_least=1,
        at_most=100,
    )
    return {
        "name": "oracle",
        "orm": "default",
        "broker_class": "verdicts.jobs.queue.DelayingBroker",
        "poll": 0.05,
        "queue_limit": 1,
        "bulk": 1,
        "ack_failures": True,  # what failed is on the order; the sweep comes back to it
        "save_limit": -1,
        "catch_up": False,
        "timeout": 60,
        "retry": 125,
        "workers": 2,
        "log_level": "WARNING",
        "ALT_CLUSTERS": {
            "generate": {"timeout": 90, "retry": 190, "workers": generate},
            "post": {"timeout": 60, "retry": 125, "workers": post},
        },
    }
