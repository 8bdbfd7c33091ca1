"""Several inferiors: call-backs for others than the user's, and what the helper is told of them."""

import base64
import os
from typing import Any, Dict, List, Tuple

import gdb
from harness import HelperTest, end_program, evaluate, run_program
from mpi_queues import link, process, process_exit, selection


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


def selected() -> Tuple[Any, ...]:
    """Returns all that a user has selected."""
    try:
        frame = gdb.selected_frame()
        level = frame.level() if hasattr(frame, "level") else 0
    except gdb.error:  # cuda-gdb 11.8 of Debian has no frames
        frame, level = None, -1
    return (gdb.selected_inferior().num, gdb.selected_thread(), frame, level,
            gdb.execute("show language", to_string=True))


class InferiorsTest(HelperTest):
    """A test with a second inferior, while the user looks at the first."""

    first_program = "plain"
    gdb_unwinds = True

    def setUp(self) -> None:
        super().setUp()
        end_program()
        run_program(self.first_program)
        try:
            gdb.selected_frame()
        except gdb.error:
            self.gdb_unwinds = False
        self.first = gdb.selected_inferior().num
        self.second = self.add("debug")

    def tearDown(self) -> None:
        super().tearDown()
        gdb.execute("inferior %d" % self.first, to_string=True)
        for inferior in gdb.inferiors():
            if inferior.num != self.first:
                self.kill(inferior.num)
                gdb.execute("remove-inferiors %d" % inferior.num, to_string=True)

    def add(self, program: str) -> int:
        """Adds an inferior, runs it if it has a program, and returns to the first."""
        gdb.execute("add-inferior", to_string=True)
        number = max(i.num for i in gdb.inferiors())
        if program:
            gdb.execute("inferior %d" % number, to_string=True)
            run_program(program)
            gdb.execute("inferior %d" % self.first, to_string=True)
        return number

    def add_third(self) -> int:
        """Adds an inferior that runs a third program."""
        if not self.gdb_unwinds:
            self.skipTest("cuda-gdb 11.8 crashes of several programs, with or without mpi-queues")
        return self.add("assembler")

    def kill(self, number: int) -> None:
        """Kills an inferior, if it lives, and returns to the first."""
        if self.inferior(number).pid:
            gdb.execute("kill inferiors %d" % number, to_string=True)
            gdb.execute("inferior %d" % self.first, to_string=True)  # as gdb 13 does by itself

    def inferior(self, number: int) -> gdb.Inferior:
        """Returns an inferior."""
        return next(i for i in gdb.inferiors() if i.num == number)

    def look(self) -> Any:
        """Selects what is not gdb's first choice, and returns what is selected."""
        if self.gdb_unwinds:
            gdb.execute("thread 2", to_string=True)
            gdb.execute("up", to_string=True)
        return selected()


class CallBackTest(InferiorsTest):
    """Call-backs name another inferior than the one that the user has selected."""

    def calls(self, *calls: Any) -> List[Any]:
        """Returns the results of call-backs that leave no trace in gdb."""
        before = self.look()
        self.fake("calls", calls=calls)
        self.assertEqual(self.command("mpi-queues"), "")
        self.assertEqual(selected(), before)
        answers = [m for m in self.received() if "method" not in m]
        for answer in answers:
            self.assertNotIn("error", answer)
        return [answer["result"] for answer in answers]

    def test_memory(self) -> None:
        """The same address of two processes."""
        with selection.inferior_selected(self.second) as second:
            assert second
            address = evaluate("&page_size")
            second.write_memory(address, b"\x11\0")
        self.assertEqual(evaluate("&page_size"), address)
        ranges = [{"address": address, "length": 8}, {"address": 0, "length": 8}]
        results = self.calls(*(["memory/read", {"inferior": number, "ranges": ranges}]
                               for number in (self.second, self.first, self.second)))
        self.assertEqual([r["readable"] for r in results], [[8, 0]] * 3)
        self.assertEqual([int.from_bytes(base64.b64decode(r["data"]), "little") for r in results],
                         [17, 4096, 17])

    def test_symbols(self) -> None:
        names = ["pq_counter", "no_such_symbol", "main"]
        results = self.calls(*(["symbols/find", {"inferior": number, "names": names}]
                               for number in (self.second, self.first, self.second)))
        objects = [[os.path.basename(s["object"]) if s else None for s in r["symbols"]]
                   for r in results]
        debug, plain = ["libdebug.so", None, "debug"], ["libplain.so", None, "plain"]
        self.assertEqual(objects, [debug, plain, debug])
        with selection.inferior_selected(self.second):
            self.assertEqual(results[0]["symbols"][0]["address"], evaluate("&::pq_counter"))

    def test_types(self) -> None:
        """Only the second has debug information for its library."""
        types = [{"name": "comm", "fields": ["super.second"]}, {"name": "own", "fields": ["x"]}]
        results = self.calls(*(["types/find", {"inferior": number, "types": types}]
                               for number in (self.second, self.first, self.second)))
        self.assertEqual([[t and t["size"] for t in r["types"]] for r in results],
                         [[64, 4], [None, 4], [64, 4]])
        self.assertEqual(os.path.basename(results[0]["types"][0]["object"]), "libdebug.so")
        self.assertEqual(os.path.basename(results[0]["types"][1]["object"]), "debug")
        self.assertEqual(os.path.basename(results[1]["types"][1]["object"]), "plain")

    def test_threads(self) -> None:
        third = self.add_third()
        results = self.calls(*(["threads/list", {"inferior": number, "depth": 3,
                                                 "variables": []}]
                               for number in (self.second, third, self.first)))
        self.assertEqual([len(r["threads"]) for r in results], [2, 1, 2])
        if self.gdb_unwinds:
            self.assertEqual([[f["function"] for f in r["threads"][0]["frames"]][:2]
                              for r in results],
                             [["stop", "main"], ["trap", "main"], ["stop", "main"]])

    def test_selection_after_an_error(self) -> None:
        before = self.look()
        with self.assertRaises(ZeroDivisionError):
            with selection.inferior_selected(self.second):
                self.assertEqual(gdb.selected_inferior().num, self.second)
                raise ZeroDivisionError
        self.assertEqual(selected(), before)

    def test_without_process(self) -> None:
        """An inferior that has ended, one that was never run, and one that is none."""
        never = self.add("")
        self.kill(self.second)
        before = self.look()
        for number in (self.second, never):
            self.fake("calls", calls=[["memory/read", {"inferior": number, "ranges": []}]])
            self.assertIn("Inferior %d has exited" % number, self.fails("mpi-queues"))
        answer = self.answers(["memory/read", {"inferior": 99, "ranges": []}])[0]
        self.assertEqual(answer["error"]["code"], -32602)
        self.assertEqual(selected(), before)


class LanguageTest(InferiorsTest):
    """The user is where gdb knows no language but that of the program."""

    first_program = "assembler"

    def test_language(self) -> None:
        if not self.gdb_unwinds:
            self.skipTest("this gdb has no frames")
        gdb.execute("up", to_string=True)
        gdb.execute("down", to_string=True)
        before = selected()
        self.assertEqual(before[-1], "The current source language is \"auto; currently asm\".\n")
        self.results(["symbols/find", {"inferior": self.second, "names": ["main"]}],
                     ["types/find", {"inferior": self.second, "types": []}])
        self.assertEqual(selected(), before)


class StartersTest(InferiorsTest):
    """The processes that may have started the one asked for."""

    def source(self, command: str = "mpi-queues") -> Dict[str, Any]:
        """Returns what a command, which shows nothing, says of the source."""
        before = self.look()
        self.fake("good")
        self.assertEqual(self.command(command), "")
        self.assertEqual(selected(), before)
        source: Dict[str, Any] = self.request()["source"]
        return source

    def starters(self, command: str = "mpi-queues") -> List[int]:
        """Returns the numbers of the inferiors that a command tells of."""
        return [p["inferior"] for p in self.source(command)["starters"]]

    def test_description(self) -> None:
        """It is the same as if it were asked for."""
        with selection.inferior_selected(self.second):
            expected = process.current_process()
        self.assertEqual(expected["inferior"], self.second)
        self.assertTrue(any("libdebug" in path for path in expected["libraries"]))
        for command in ("mpi-queues", "info mpi"):
            self.assertEqual(self.source(command)["starters"], [expected])

    def test_who(self) -> None:
        third = self.add_third()
        self.add("")
        self.assertEqual(sorted(self.starters()), [self.second, third])
        self.kill(self.second)
        self.assertEqual(self.starters(), [third])

    def test_native_needs_none(self) -> None:
        try:
            for choice, expected in (("native", []), ("dll", [self.second]),
                                     ("both", [self.second]), ("auto", [self.second])):
                gdb.execute("set mpi-queues source " + choice)
                self.assertEqual(self.starters(), expected)
        finally:
            gdb.execute("set mpi-queues source auto")

    def test_one_that_can_not_be_described(self) -> None:
        third = self.add_third()
        describe = process._describe

        def failing(inferior: gdb.Inferior) -> Any:
            if inferior.num == self.second:
                raise gdb.error("Can't fetch registers.")
            return describe(inferior)

        setattr(process, "_describe", failing)
        try:
            self.assertEqual(self.starters(), [third])
            gdb.execute("set mpi-queues debug on")
            self.fake("good")
            self.assertIn("leaves inferior %d out" % self.second, self.command("mpi-queues"))
        finally:
            setattr(process, "_describe", describe)

    def test_running(self) -> None:
        """One that runs is left out, and goes on running."""
        if not self.gdb_unwinds:
            self.skipTest("this gdb does not stop a program with several inferiors in non-stop")
        for number in (self.second, self.first):
            self.kill(number)
        gdb.execute("set non-stop on")
        try:
            run_program("assembler")
            gdb.execute("inferior %d" % self.second, to_string=True)
            gdb.execute("file /bin/sleep", to_string=True)
            gdb.execute("set args 1000")
            gdb.execute("run &", to_string=True)
            gdb.execute("inferior %d" % self.first, to_string=True)
            self.fake("good")
            self.assertEqual(self.command("mpi-queues"), "")
            self.assertEqual(self.request()["source"]["starters"], [])
            self.assertTrue(self.inferior(self.second).threads()[0].is_running())
        finally:
            for inferior in gdb.inferiors():
                self.kill(inferior.num)
            gdb.execute("set non-stop off")


class ExitedTest(InferiorsTest):
    """The helper is told when a process that it knows has gone."""

    def setUp(self) -> None:
        super().setUp()
        process_exit._known.clear()
        self.fake("good")

    def told(self) -> List[Tuple[int, int]]:
        """Returns what the helper was told since the last call."""
        self.command("mpi-queues")
        exited = [m["params"] for m in self.received() if m.get("method") == "exited"]
        os.unlink(self.log_path)
        return [(p["inferior"], p["pid"]) for p in exited]

    def pid(self, number: int) -> int:
        """Returns the process id of an inferior."""
        return self.inferior(number).pid

    def test_ways_to_go(self) -> None:
        self.assertEqual(self.told(), [])
        helper = link.LINK._running().pid
        for command in ("kill", "detach", "run", "continue"):
            if command == "continue":
                # Of one thread: gdb may trip over others that end.
                run_program("assembler")
                self.told()
            pid = self.pid(self.first)
            shown = self.command({"run": "run </dev/null >/dev/null 2>&1"}.get(command, command))
            self.assertNotIn("Python", shown)
            if command != "run":
                run_program("plain")
            self.assertEqual(self.told(), [(self.first, pid)], command)
        self.assertEqual(self.told(), [])
        self.assertEqual(helper, link.LINK._running().pid)

    def test_starters(self) -> None:
        second = self.pid(self.second)
        self.told()
        self.kill(self.second)
        gdb.execute("remove-inferiors %d" % self.second, to_string=True)
        self.assertEqual(self.told(), [(self.second, second)])

    def test_only_those_that_it_knows(self) -> None:
        gdb.execute("set mpi-queues source native")
        try:
            self.told()
            self.kill(self.second)
            self.assertEqual(self.told(), [])
        finally:
            gdb.execute("set mpi-queues source auto")

    def test_without_an_event(self) -> None:
        """What has gone unnoticed is noticed with the next command."""
        self.told()
        pid = self.pid(self.first)
        gdb.events.exited.disconnect(process_exit._on_exited)
        try:
            end_program()
            run_program("plain")
        finally:
            gdb.events.exited.connect(process_exit._on_exited)
        self.assertEqual(self.told(), [(self.first, pid)])

    def test_no_helper_is_started(self) -> None:
        self.told()
        link.LINK.close()
        end_program()
        self.assertIsNone(link.LINK._helper)
        run_program("plain")

    def test_nothing_is_raised(self) -> None:
        notify = link.LINK.notify
        for fault in (ZeroDivisionError, KeyboardInterrupt, gdb.error):
            def failing(*_: Any) -> None:
                raise fault

            self.told()
            setattr(link.LINK, "notify", failing)
            try:
                self.assertNotIn("Python", self.command("kill"))
            finally:
                setattr(link.LINK, "notify", notify)
            run_program("plain")
