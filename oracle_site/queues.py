"""Settings of django-q2: two queues, stored in one table of the database."""

from typing import Any

from oracle_site.env import Environment


def queues(env: Environment) -> dict[str, Any]:
    """Q_CLUSTER.

    `retry` is a job's lease: a job is redelivered that many seconds after it was taken, so the
    job of a killed worker is not lost. Workers take one job at a time: the lease of a prefetched
    job could expire before it starts, and it would run twice.
    """
    generate = env.integer(
        "ORACLE_GENERATE_WORKERS",
        "workers of this host that call the model, each for one order at a time",
        default=4,
        minimum=1,
        maximum=500,
    )
    post = env.integer(
        "ORACLE_POST_WORKERS",
        "workers of this host that send emails and compare verdicts",
        default=2,
        minimum=1,
        maximum=100,
    )
    return {
        "name": "oracle",
        "orm": "default",
        "broker_class": "verdicts.jobs.queue.DelayingBroker",
        "poll": 0.05,
        "queue_limit": 1,
        "bulk": 1,
        "ack_failures": True,  # failures are recorded on the order, and the sweep retries them
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
