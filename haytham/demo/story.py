"""What the demo tells: the idea, what each agent writes, what the reviewer decides.

The texts are in `outputs/`, one file per agent, and one more with a number for each later attempt.
"""

from dataclasses import dataclass

from haytham import resources
from haytham.domain.choices import Action
from haytham.domain.records import RetryRequest
from haytham.storage.history import Person

NAME = "Nightdesk"
IDEA = (
    "Turn the spoken shift handover of an animal hospital into a checklist "
    "that the next shift ticks off, so that nothing decided at night gets lost."
)
USER = "demo"
WORKFLOW = "idea_validation"
MODE = "mvp"
MODEL = "scripted-offline"
# A decision is always somebody's: the demo's are by nobody real.
REVIEWER = Person(name="Demo Reviewer", email="reviewer@demo.invalid")

GATES = (2, 7)  # the phases that wait for a person, if one takes part

_FOLDER = "demo/outputs"
_CHARACTERS_PER_TOKEN = 4
_PRICE_IN, _PRICE_OUT = 3e-6, 15e-6  # per token, about what models cost
_SENT_BACK = 2  # the phase that is sent back once
_ANSWER = "noted. A model would rework the text below accordingly."
_CONFESSION = (
    "The agents of this demo are scripted: they get your words as data, as a\n"
    "model would, and can only quote them. Their next prepared text follows."
)
_THINKING = {"market_intelligence": 1.3, "competitor_analysis": 0.9, "niche_identification": 0.8, "synthesis": 1.4}


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What a reviewer says about one attempt at a phase."""

    action: Action
    comments: str = ""
    requested_changes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What an agent writes, and the figures it would have caused."""

    text: str
    input_tokens: int
    output_tokens: int

    @property
    def cost(self) -> float:
        """The price of the answer in dollars."""
        return round(self.input_tokens * _PRICE_IN + self.output_tokens * _PRICE_OUT, 6)


def answer(agent: str, attempt: int, prompt: str, request: RetryRequest | None = None) -> Answer:
    """Returns what an agent writes in an attempt, given what it could read and what a person asked for."""
    known = resources.names(_FOLDER)
    numbered = [f"{agent}_{number}.md" for number in range(attempt, 1, -1)]
    text = resources.text(_FOLDER, next((name for name in numbered if name in known), f"{agent}.md"))
    if request is not None:
        text = f"{_reply(request)}\n{text}"
    return Answer(text=text, input_tokens=_tokens(prompt), output_tokens=_tokens(text))


def thinking(agent: str) -> float:
    """Returns for how many seconds an agent pretends to think."""
    return _THINKING.get(agent, 1.0)


def review(phase: int, attempt: int) -> Decision:
    """Returns what the reviewer decides: one phase is sent back once, all else is approved."""
    if phase == _SENT_BACK and attempt == 1:
        return Decision(
            action=Action.RETRY_WITH_CHANGES,
            comments="Good reading, but I cannot decide on percentages of percentages.",
            requested_changes=(
                "Count the market from hospitals upwards",
                "Say what a missed item costs a hospital",
                "Add what each alternative costs, and how fast it could copy us",
            ),
        )
    comments = "The size is counted now, and the price has a reason. Thank you." if attempt > 1 else ""
    return Decision(action=Action.APPROVED, comments=comments)


def _reply(request: RetryRequest) -> str:
    """Quotes what was asked for, point by point: all that a script can do about it."""
    lines = [f"# Attempt {request['attempt']}: what you asked for", ""]
    for number, change in enumerate(request["requested_changes"], 1):
        lines += [f"{number}. You asked:", "", *_quoted(change), "", f"   Answer {number}: {_ANSWER}", ""]
    if request["comments"].strip():
        lines += ["Your comment:", "", *_quoted(request["comments"].strip("\n")), ""]
    return "\n".join([*lines, _CONFESSION, ""])


def _quoted(text: str) -> list[str]:
    return [f"   > {line}".rstrip() for line in text.splitlines()]


def _tokens(text: str) -> int:
    return len(text) // _CHARACTERS_PER_TOKEN
