"""The commands that decide about a phase; a draft that somebody left in the form is never replaced."""

from dataclasses import dataclass
from typing import Any

import click

from haytham.cli import options, review_display
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import Target, open_session
from haytham.domain.choices import Action
from haytham.domain.errors import Conflict, Location
from haytham.domain.records import FeedbackRecord, ReviewRecord
from haytham.domain.workflow import Phase


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What was given on the command line."""

    action: Action
    comments: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    reviewer: str | None = None
    role: str | None = None
    content: str | None = None


def deciding(
    name: str, action: Action, *, consequence: str, examples: str, further: options.Decorator = lambda command: command
) -> click.Command:
    """Returns the command that takes one decision; `further` adds the option for `changes`, where it asks for them."""

    @click.command(name, help=_help(name, consequence), epilog=examples)
    @options.phase_argument
    @further
    @options.comment_option
    @options.reviewer_option
    @options.role_option
    @options.content_option
    @selecting(project="the only one", session="the only one that is not completed")
    @options.json_option
    @options.help_option
    def command(phase: int | None, selection: Selection, *, as_json: bool, **given: Any) -> None:
        target = open_session(selection)
        record = decide(target, target.phase_to_review(phase), Given(action=action, **given))
        review_display.show(target, record, as_json=as_json)

    return command


def _help(name: str, consequence: str) -> str:
    return f"""{COMMANDS[name][1]}

{options.PHASE_HELP}
{consequence}"""


def decide(target: Target, phase: Phase, given: Given) -> ReviewRecord:
    """Saves the decision and returns how the review stands; raises Conflict if it would replace a draft."""
    seen = target.manager.review(*target.ids, phase.number)  # first, what people did: a form about the present content
    draft = _draft(target.manager.load_feedback(*target.ids, phase.number))
    target.manager.save_user_feedback(
        *target.ids,
        phase.number,
        reviewed=True,
        approved=given.action is Action.APPROVED,
        comments=_comments(target, phase, given, draft),
        requested_changes=_changes(target, phase, given, draft),
        action=given.action.value,
        reviewer=given.reviewer,
        role=given.role,
        content=given.content or seen["content"],
    )
    return target.manager.review(*target.ids, phase.number)


def _draft(feedback: FeedbackRecord) -> FeedbackRecord | None:
    """Returns what somebody wrote into the form without deciding."""
    return None if feedback["action"] else feedback


def _comments(target: Target, phase: Phase, given: Given, draft: FeedbackRecord | None) -> str:
    written = draft["comments"] if draft else ""
    if not given.comments:
        return written
    if written.strip():
        raise _would_replace(target, phase, "comments")
    return "\n\n".join(given.comments)


def _changes(target: Target, phase: Phase, given: Given, draft: FeedbackRecord | None) -> list[str]:
    written = draft["requested_changes"] if draft else []
    if written and given.action is not Action.RETRY_WITH_CHANGES:
        raise _would_replace(target, phase, "requested changes")
    return [*written, *given.changes]


def _would_replace(target: Target, phase: Phase, what: str) -> Conflict:
    return Conflict(
        f"somebody wrote {what} into the form of phase {phase.number} and has not decided yet.",
        location=Location(path=str(target.form(phase))),
        hint=f"haytham review {phase.number} opens the form, so that you can decide there.",
    )
