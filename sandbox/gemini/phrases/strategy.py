"""Sentences of the strategy: next step, alternative, tests."""

from typing import Final

NEXT_STEPS: Final[dict[str, tuple[str, ...]]] = {
    "GREEN": (
        "This week, do the smallest complete version of it once, with one real person.",
        "Put a date on the first step, and tell somebody who will ask you about it.",
        "Write down the one figure that would make you stop, then begin.",
        "Take the part about “{word}” and finish it by Friday, before anything new is added.",
    ),
    "AMBER": (
        "Spend this week on “{word}” alone: find out whether it holds without your help.",
        "Ask three people who owe you nothing what would keep them from saying yes.",
        "Write the worst ordinary month on one page and see whether the plan survives it.",
        "Put a price on your own hours, and do the sums again with it.",
    ),
    "RED": (
        "Stop spending on it for one week, and write down what you would miss.",
        "Separate the two aims and decide which one you would keep if you could have only one.",
        "Tell the plan to the person who has most to lose by it, and listen to the end.",
        "Look for one person who did this with “{word}” and ask what it cost them.",
    ),
    "NULL": (
        "Write one page: what you have, what you want, by when, and who else is in it.",
        "Name the first action in it that could fail, and try that one.",
        "Finish the sentence “I will know that it worked when …” with a figure.",
    ),
}

ALTERNATIVES: Final[dict[str, tuple[str, ...]]] = {
    "GREEN": (
        "Reach the same aim by joining somebody who is halfway there already.",
        "Do it as a service first, by hand, and build only what you are tired of repeating.",
        "Keep the aim and halve the size: one place, one product, one season.",
    ),
    "AMBER": (
        "Rent, borrow or share what you meant to buy until “{word}” has proved itself.",
        "Offer the same thing to people who have the problem today, even if they pay less.",
        "Run it beside what you do now for three months, with fixed hours and a fixed end.",
    ),
    "RED": (
        "Look for the same result as an employee or a partner of someone who has the means.",
        "Sell what you have learned about “{word}” instead of the thing itself.",
        "Aim for a third of it, in a way that can be undone within a month.",
    ),
    "NULL": (
        "Instead of a plan, start with an experiment of a day, and let it name the plan.",
        "Describe the situation you want to get out of, and look for ways from there.",
    ),
}

TESTS: Final = (
    "Within two weeks, five people you did not know before agree to pay for it.",
    "After one month your own hours stay below the number you write down today.",
    "One person declines and tells you why, and the reason is not the price.",
    "The first version is finished in half the time that you would have given it.",
    "By the end of the month, “{word}” works three times in a row without you.",
    "Somebody comes back a second time without being asked.",
    "The costs of the first four weeks stay within a tenth of your estimate.",
    "You can explain it in two sentences, and the listener repeats it correctly.",
    "Of ten people you ask, at least three can name what they use instead today.",
)
