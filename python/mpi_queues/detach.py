"""The command `mpi-detach'."""

import time
from typing import Dict, List, Tuple

import gdb

from . import inferiors, interrupts, jobs, nodes, options, parameters, summary
from .errors import Failure, reported
from .selection import select_inferior, selection_kept, unattended


class Detach(gdb.Command):
    """Detach from all processes that `mpi-attach' has attached to.
Usage: mpi-detach

The processes go on running. The inferiors that `mpi-attach' has added are
removed, and processes that were attached otherwise stay attached."""

    def __init__(self) -> None:
        super().__init__("mpi-detach", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Detaches from all attached ranks."""
        self.dont_repeat()
        options.parse(argument or "", (), "mpi-detach")
        if not jobs.attached_inferiors():
            raise Failure("There is nothing to detach: `mpi-attach' has attached to no process.")
        detaching = _Detaching()
        with interrupts.held(), unattended(), selection_kept():
            detaching.run()
            detaching.tidy_up()
        if parameters.is_debugging():
            gdb.write(detaching.stood())
        gdb.write(detaching.told())


class _Detaching:
    """One run of `mpi-detach'."""

    def __init__(self) -> None:
        self._gone = 0
        self._failed: Dict[str, List[int]] = {}
        self._idle: List[jobs.Attached] = []
        self._stood: List[Tuple[jobs.Attached, float]] = []

    def run(self) -> None:
        """Detaches the inferiors that still are what was attached, and forgets them."""
        there = {inferior.num: inferior for inferior in gdb.inferiors()}
        for attached in jobs.attached_inferiors():
            inferior = there.get(attached.number)
            is_its = inferior is not None and inferior.pid == attached.pid
            reason = inferiors.detach(attached.number) if is_its else ""
            if reason:
                self._failed.setdefault(reason, []).append(attached.number)
                continue
            jobs.forget(attached.number)
            if is_its:
                self._stood.append((attached, time.monotonic() - attached.since))
            self._gone += not is_its
            if inferior is not None and not inferior.pid:
                self._idle.append(attached)

    def tidy_up(self) -> None:
        """Removes the inferiors that were added, except one if no other inferior is left."""
        superfluous = [attached.number for attached in self._idle if attached.is_added]
        staying = [inferior.num for inferior in gdb.inferiors() if inferior.num not in superfluous]
        if not staying:
            staying.append(superfluous.pop(0))
        selected = gdb.selected_inferior().num
        if selected not in staying:
            before = jobs.selected_before()
            selected = before if before in staying else min(staying)
        for attached in self._idle:
            if attached.number in staying:
                select_inferior(attached.number)
                inferiors.clear(attached.program)
        for attached in self._idle:
            if attached.host:
                nodes.disconnect(attached.number)
        select_inferior(selected)
        for number in superfluous:
            inferiors.remove(number)
        nodes.end()

    def stood(self) -> str:
        """Returns sentences on how long the processes have been attached, which is how long those
        stood that nobody has continued."""
        lines = ["[mpi-queues] inferior %d (process %d) was attached for %.3f s.\n"
                 % (attached.number, attached.pid, seconds) for attached, seconds in self._stood]
        if lines:
            lines.append("[mpi-queues] The longest was %.3f s.\n"
                         % max(seconds for _, seconds in self._stood))
        return "".join(lines)

    def told(self) -> str:
        """Returns the sentences on what was detached."""
        lines = []
        if self._stood:
            lines.append("Detached %s, which %s on running." % (
                summary.count(len(self._stood), "process"),
                "goes" if len(self._stood) == 1 else "go"))
        if self._gone:
            lines.append("%s not attached any more." % summary.count(
                self._gone, "process", "was", "were"))
        for reason in list(self._failed)[:summary.MOST]:
            numbers = self._failed[reason]
            lines.append("%s could not be detached: %s"
                         % (summary.capital(summary.noun(numbers, "inferior")), reason))
        return "".join(line + "\n" for line in lines)


Detach()
