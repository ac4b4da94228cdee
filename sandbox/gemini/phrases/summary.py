"""Sentences of the summary, by label: opening, reason, close."""

from typing import Final

OPENINGS: Final[dict[str, tuple[str, ...]]] = {
    "GREEN": (
        "{Topic} holds together: the aim, the means and the effort point the same way.",
        "I find no break in {topic}. Each part has a job, and none of them undoes another.",
        "Yes. {Topic} asks for things that can be had, in an order that makes sense.",
        "Taken as you tell it, {topic} is coherent, and its modesty is part of the reason.",
        "{Topic} can be pursued as it stands; what it still lacks can be learned on the way.",
        "The shape of {topic} is right: the hard part comes first, where it is still cheap.",
    ),
    "AMBER": (
        "{Topic} is sound at its core, but one joint in it is loose.",
        "There is a good idea inside {topic}, and an assumption beside it that nobody checked.",
        "{Topic} works on paper. What is missing is the part where something goes wrong.",
        "I would not drop {topic}, and I would not start it this week either.",
        "Half of {topic} is a plan and half is a hope, and the two are not yet told apart.",
        "{Topic} fits your aim better than it fits the world it has to work in.",
    ),
    "RED": (
        "As it stands, {topic} works against itself.",
        "{Topic} needs two things at once that exclude each other.",
        "I would stop {topic} here, before it becomes expensive to stop.",
        "{Topic} answers a question that nobody but you seems to have asked so far.",
        "The end of {topic} does not follow from its beginning.",
        "Everything in {topic} has to go right at the first attempt, and nothing makes it likely.",
    ),
    "NULL": (
        "There is too little here to judge: {topic} names a wish and no way to it.",
        "I cannot read {topic}. It could be three different plans, with three different answers.",
        "No reading. {Topic} leaves out who does it, for whom, and what would count as done.",
        "An honest answer is none: {topic} is still the title of a plan.",
    ),
}

REASONS: Final[dict[str, tuple[str, ...]]] = {
    "GREEN": (
        "What you say about “{word}” shows that you have looked at the dull parts as well.",
        "If “{word}” turns out slower than you expect, the plan bends and does not break.",
        "Nothing in it depends on a stranger's good will or on luck.",
        "The first step is small enough to be taken back, and that is worth more than speed.",
    ),
    "AMBER": (
        "You lean on “{word}” without saying what happens if it does not hold.",
        "The order is the weak point: “{word}” has to be settled before the rest is paid for.",
        "You say what you will do, and little about who will want it.",
        "The effort is described well, and its price in your own time hardly at all.",
    ),
    "RED": (
        "“{word}” is treated as a detail, and it is the thing that decides.",
        "The more “{word}” succeeds, the less is left of what you set out to get.",
        "Nothing in it would tell you early that it is failing.",
        "You pay first and learn afterwards; it should be the other way round.",
    ),
    "NULL": (
        "“{word}” is the only fixed point that I find, and it is not enough to stand on.",
        "Say what changes if you do nothing, and there will be something to weigh.",
        "That is not a no: it means that the deciding part is not on the page.",
    ),
}

CLOSES: Final[dict[str, tuple[str, ...]]] = {
    "GREEN": (
        "Go ahead, and keep the measure by which you would stop.",
        "Begin, and look again when the first real figures are in.",
        "The remaining risk is ordinary, and you can carry it.",
        "Keep it as small as it is now until it has proved itself.",
    ),
    "AMBER": (
        "Settle that one point first; then the rest can follow nearly as it is.",
        "Change the order and you have a different, better plan.",
        "A week spent on that question is cheaper than a year spent on the answer.",
        "Repaired there, I would expect it to hold.",
    ),
    "RED": (
        "Keep the aim and let go of this way to it.",
        "What can be saved is the reason you wanted it; start again from there.",
        "If you go on regardless, decide today what loss ends it.",
        "A smaller version, with one of the two aims, would get another reading.",
    ),
    "NULL": (
        "Write one page that a stranger could act on, and ask again.",
        "Add what you have, what you want and by when, and it can be judged.",
        "Come back with the first step; it will say more than the aim does.",
    ),
}
