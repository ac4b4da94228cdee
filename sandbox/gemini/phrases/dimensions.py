"""Sentences of the analyses: by dimension and label, with a second sentence to follow."""

from typing import Final

FINDINGS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "Stability": {
        "GREEN": (
            "It stands on ground you already hold, and an ordinary bad month would not move it.",
            "The foundations are plain and they are yours: nothing here is borrowed confidence.",
        ),
        "AMBER": (
            "It stands as long as “{word}” stays as it is, and you have no hold over that.",
            "Two of the three supports are solid; the third is an expectation.",
        ),
        "RED": (
            "There is one support, “{word}”, and the whole weight is on it.",
            "Under ordinary conditions it would already be in difficulty by the second month.",
        ),
        "NULL": ("Nothing in the text says what it stands on, so there is nothing to test.",),
    },
    "Turbulence": {
        "GREEN": (
            "The disputes I can see around “{word}” are small, and you would outlast them.",
            "Noise will come, but it comes from outside and does not find a crack.",
        ),
        "AMBER": (
            "There is an open quarrel in it that you have postponed, not settled.",
            "Competing claims on your time will shake this more than any rival does.",
        ),
        "RED": (
            "The conflict is built in: whoever gains from “{word}” loses by the rest.",
            "It would meet resistance at the very point where it has no reserve.",
        ),
        "NULL": ("What could shake it depends on people who do not appear in the text.",),
    },
    "Change Rate": {
        "GREEN": (
            "The ground around “{word}” moves slowly, and you move a little faster.",
            "You leave yourself time to notice a change and to answer it.",
        ),
        "AMBER": (
            "The plan is paced by your enthusiasm, the world around it by the seasons.",
            "By the time it is ready, “{word}” may have become a different question.",
        ),
        "RED": (
            "What you rely on changes faster than you can, and you commit for longer.",
            "Speed is the only defence in it, and speed is what it does not have.",
        ),
        "NULL": ("No date, span or rhythm is given, so the pace cannot be read.",),
    },
    "Completion": {
        "GREEN": (
            "More of it exists than you give yourself credit for, and the last step is visible.",
            "The way from here to done can be told in four steps, none of them a leap.",
        ),
        "AMBER": (
            "The beginning is worked out, the end is described, and the middle is a gap.",
            "You have a good start in “{word}”; how it is to be finished is left open.",
        ),
        "RED": (
            "Almost nothing of it is there yet, and the text speaks as if the rest were routine.",
            "The end keeps moving: each part that gets finished asks for a new one.",
        ),
        "NULL": ("There is no end in the text to be near to or far from.",),
    },
    "Curvature": {
        "GREEN": (
            "Success feeds the next step and asks for little in return.",
            "I see no loop that turns against you; if “{word}” grows, the aim comes closer.",
        ),
        "AMBER": (
            "If it works, it will take the time from you that made it work.",
            "There is a bend at “{word}”: past it you would be optimising something else.",
        ),
        "RED": (
            "Each success makes the next one dearer, until the aim itself is spent.",
            "The path curves back: what you do to get “{word}” destroys the need for it.",
        ),
        "NULL": ("Effects that feed back need a course to bend, and none is drawn yet.",),
    },
}

# For a schema with other dimensions than the five.
GENERAL: Final[dict[str, tuple[str, ...]]] = {
    "GREEN": ("Seen from this side it holds, and “{word}” is the reason.",),
    "AMBER": ("Seen from this side it holds only while “{word}” does.",),
    "RED": ("Seen from this side it fails, and “{word}” is where it begins.",),
    "NULL": ("Seen from this side there is nothing to be read.",),
}

SECOND_THOUGHTS: Final[dict[str, tuple[str, ...]]] = {
    "GREEN": (
        "I would leave this part as it is.",
        "Keep an eye on it, but do not spend effort here.",
        "If anything, you are more careful here than you need to be.",
        "This is the part to build the rest on.",
        "It has slack, and slack is what plans are usually short of.",
        "I looked for a reason to doubt it and found only taste.",
    ),
    "AMBER": (
        "One honest conversation would turn this either way.",
        "It is a matter of order and not of principle: move it forward and it improves.",
        "Put a figure to it, and half of the doubt is gone.",
        "I would want to see it work once before anything else depends on it.",
        "It is mendable, provided that somebody owns the mending.",
        "As long as this is open, treat every date after it as a guess.",
    ),
    "RED": (
        "More effort does not help here, since effort is what it feeds on.",
        "A different beginning would be easier than a repair.",
        "If you keep only one sentence of this verdict, let it be this one.",
        "I see no version of it that works without giving up something you named as fixed.",
        "Ask what you would advise a friend who brought you this part alone.",
        "The gap is not of skill: it is between what is promised and what is there.",
    ),
    "NULL": (
        "One more sentence from you would open it.",
        "I prefer to say so rather than to guess.",
        "That is a finding too: it is the part to write next.",
        "Whatever I said here would be about me and not about the idea.",
        "It may be fine; the text does not let me see it.",
    ),
}

ON_FIGURES: Final[dict[str, tuple[str, ...]]] = {
    "GREEN": (
        "The figure you give, {figure}, is one that can be checked, and I would check it monthly.",
        "With {figure} you have a measure, and a plan with a measure can be corrected.",
    ),
    "AMBER": (
        "I would halve {figure} in the sums and see whether it still comes out.",
        "The figure, {figure}, is doing a lot of work for a number without a source.",
    ),
    "RED": (
        "Nothing in the text earns {figure}; it reads like a wish with a unit.",
        "Take {figure} away, and the argument has no other leg.",
    ),
    "NULL": ("The one figure, {figure}, belongs to no step that I can find.",),
}
