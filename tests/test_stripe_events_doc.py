"""The deployment guide subscribes to exactly the Stripe events that the code handles."""

import re
from pathlib import Path

from verdicts.payments.events import STRIPE_EVENTS

GUIDE = Path(__file__).parents[1] / "docs/DEPLOYMENT.md"


def test_the_guide_lists_every_handled_stripe_event_and_no_other():
    step = re.search(r"^3\. At Stripe.*?(?=^4\. )", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert step
    listed = re.findall(r"^ +- `([a-z_.]+)`$", step[0], re.MULTILINE)
    expected = "\n".join(f"   - `{name}`" for name in STRIPE_EVENTS)
    assert listed == list(STRIPE_EVENTS), f"docs/DEPLOYMENT.md, step 3, should list:\n{expected}"
