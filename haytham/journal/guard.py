"""Watches over the loop of an agent: saves its state when it should, halts it when it drifts.

::

    guard = Guard(journal)
    with guard:
        while work:
            journal.state.add_message("user", "…")
            guard.step("search", {"query": "…"}, ok=True, progress=40)
            with guard.operation("deploy", rollback=True):
                …
            if guard.refresh_due:
                guard.refresh()

The guard never changes the state: what is in `journal.state` is what it saves. After a rollback or a refresh,
`journal.state` is another object, so a loop asks for it anew each time.
"""

from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import NoReturn, Self

from haytham.domain import failures, instants
from haytham.domain.drift import Remedy
from haytham.domain.drift_monitor import DriftMonitor
from haytham.domain.due import Due
from haytham.domain.errors import Halted, HaythamError
from haytham.domain.journal_entry import AgentStatus, Entry, EntryKind
from haytham.journal.journal import Journal
from haytham.storage import background


class Guard:
    """Guards one loop, to be used with `with` or `async with`.

    A loop that ends is saved as completed. An exception is saved as failed, an interruption (Ctrl-C, a cancelled
    task) as halted, each as a recovery with its reason; then it goes on. `due` is the workflow's by default.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        due: Due | None = None,
        drift: DriftMonitor | None = None,
        clock: instants.Clock = instants.utc_now,
    ) -> None:
        self.journal = journal
        self.due = due or journal.policy.due
        self.drift = drift or DriftMonitor(clock())
        self._clock = clock
        self._started = clock()
        self._steps: int | None = None

    @property
    def steps(self) -> int:
        """The number of the present step; it goes on from that of the newest entry."""
        if self._steps is None:
            last = self.journal.latest()
            self._steps = last.step if last else 0
        return self._steps

    def step(
        self,
        action: str,
        arguments: object = None,
        *,
        ok: bool = True,
        progress: bool | float | None = None,
        name: str = "",
        force: bool = False,
    ) -> Entry | None:
        """Notes one cycle of the loop and saves the state if a snapshot is due; returns its entry, or None.

        Raises Halted, after the state was saved as halted, if the agent drifts in a way that a fresh context does not
        help against.
        """
        self.drift.observe(action, arguments, ok=ok, progress=progress, time=self._clock())
        self._steps = self.steps + 1
        halting = self.drift.report(self._clock()).needing(Remedy.HALT)
        if halting:
            self.halt(" ".join(reason.sentence for reason in halting))
        if not self.journal.should_save(self.steps, force=force, due=self.due):
            return None
        return self.journal.save(name=name, step=self.steps)

    async def step_async(
        self,
        action: str,
        arguments: object = None,
        *,
        ok: bool = True,
        progress: bool | float | None = None,
        name: str = "",
        force: bool = False,
    ) -> Entry | None:
        """Does what `step` does without holding up the event loop."""
        return await background.finished(
            lambda: self.step(action, arguments, ok=ok, progress=progress, name=name, force=force)
        )

    def halt(self, reason: str) -> NoReturn:
        """Stops the agent: saves its state as halted and raises Halted."""
        self._save_recovery(AgentStatus.HALTED, reason)
        raise Halted(
            f"agent {self.journal.agent} was halted: {reason}",
            hint="its state is saved; resume() goes on from there.",
        )

    def operation(self, name: str, *, rollback: bool = False) -> "Operation":
        """Returns a critical operation, to be used with `with` or `async with`."""
        return Operation(self, name, partial(self._save_failure, is_taken_back=rollback))

    @property
    def refresh_due(self) -> str:
        """Why the agent should go on from a fresh state, or an empty text."""
        now = self._clock()
        reasons = [reason.sentence for reason in self.drift.report(now).needing(Remedy.REFRESH)]
        return " ".join(reasons) or self.due.refresh(self._started, now)

    def refresh(self, reason: str = "") -> Entry:
        """Saves a recovery and begins anew with the state in it: nothing of the old one is held any more."""
        entry = self._save_recovery(AgentStatus.IN_PROGRESS, reason or self.refresh_due or "a refresh was asked for")
        self.journal.resume()
        self._started = self._clock()
        self.drift.restart(self._started)
        return entry

    async def refresh_async(self, reason: str = "") -> Entry:
        """Does what `refresh` does without holding up the event loop."""
        return await background.finished(lambda: self.refresh(reason))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._save_end(error)
        elif not self._is_halted():
            self.journal.save(status=AgentStatus.COMPLETED, step=self.steps)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await background.finished(lambda: self.__exit__(kind, error, trace))

    # Steps

    def _save_failure(self, error: BaseException, before: Entry | None, *, is_taken_back: bool) -> None:
        """Saves the state that a failed operation left, then goes back to the one before it if asked to."""
        try:
            self._save_recovery(AgentStatus.IN_PROGRESS, failures.told(error))
            if before is not None and is_taken_back:
                self.journal.rollback_to(before, reason=f"{before.name} failed: {failures.told(error)}")
        except HaythamError as trouble:
            error.add_note(f"The state could not be saved: {trouble}")

    def _save_recovery(self, status: AgentStatus, reason: str) -> Entry:
        return self.journal.save(kind=EntryKind.RECOVERY, status=status, reason=reason, step=self.steps)

    def _save_end(self, error: BaseException) -> None:
        """Saves how the loop was left; trouble with that does not hide the error."""
        try:
            if isinstance(error, Exception) and not isinstance(error, Halted):
                self._save_recovery(AgentStatus.FAILED, failures.told(error))
            elif not self._is_halted():
                self._save_recovery(AgentStatus.HALTED, failures.told(error))
        except HaythamError as trouble:
            error.add_note(f"The state could not be saved: {trouble}")

    def _is_halted(self) -> bool:
        last = self.journal.latest()
        return last is not None and last.status is AgentStatus.HALTED and not self.journal.state.changes


class Operation:
    """One critical operation: saved before it begins; what it changed can be taken back if it fails.

    Success is noted, so that the entry before it need not be kept. A failure is saved as a recovery with its reason.
    """

    def __init__(self, guard: Guard, name: str, failed: Callable[[BaseException, Entry | None], None]) -> None:
        self.name = name
        self.before: Entry | None = None
        self._guard = guard
        self._failed = failed

    def __enter__(self) -> Self:
        self.before = self._guard.journal.save(
            name=self.name, kind=EntryKind.PRE_OPERATION, step=self._guard.steps, metadata={"operation": self.name}
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._guard.journal.save(succeeded=self.before, step=self._guard.steps, metadata={"operation": self.name})
        else:
            self._failed(error, self.before)

    async def __aenter__(self) -> Self:
        return await background.finished(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await background.finished(lambda: self.__exit__(kind, error, trace))
