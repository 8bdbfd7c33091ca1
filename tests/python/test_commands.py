"""The commands, their options, settings and output."""

import os
import stat
import threading
from typing import Any, Dict, List

import gdb
from harness import HelperTest, end_program, run_program
from mpi_queues import options, parameters
from mpi_queues.commands import _OPTIONS


def setUpModule() -> None:
    """Starts the program that the commands are for."""
    run_program("plain")


def tearDownModule() -> None:
    """Ends it."""
    end_program()


def write(text: str, stream: str = "display") -> List[Any]:
    """Returns the call that writes text."""
    import base64
    return ["output/write", {"stream": stream, "length": 0,
                             "data": base64.b64encode(text.encode()).decode(), "last": False}]


class OptionsTest(HelperTest):
    """Options become the request's parameters."""

    def params(self, arguments: str) -> Dict[str, Any]:
        """Returns the parameters that a command sends."""
        self.command("mpi-queues " + arguments)
        return self.request()

    def setUp(self) -> None:
        super().setUp()
        self.fake("good")

    def test_defaults(self) -> None:
        params = self.params("")
        self.assertEqual(params.pop("processes")[0]["inferior"], gdb.selected_inferior().num)
        self.assertEqual(params, {
            "source": {"choice": "auto", "dll": "", "safe_path": [], "timeout": 10,
                       "starters": [], "launchers": []},
            "obstacles": [], "view": "queues", "comm": "", "comm_handle": None,
            "comm_inferior": gdb.selected_inferior().num, "queue": "", "internal": False,
            "members": False, "all_communicators": False, "limit": 200,
            "format": "text", "styled": False, "record": False, "handles": [],
            "window": False})

    def test_values(self) -> None:
        params = self.params("-comm 'MPI COMM' -q u -i -limit 0x10 --")
        self.assertEqual((params["comm"], params["queue"], params["internal"], params["limit"]),
                         ("MPI COMM", "unexpected", True, 16))
        self.assertTrue(self.params("-m")["members"])
        self.assertTrue(self.params("-all-c")["all_communicators"])
        self.assertEqual(self.params("-comm \"a b\"")["comm"], "a b")
        self.assertEqual(self.params("-comm -q")["comm"], "-q")
        self.assertEqual(self.params("-l unl")["limit"], 0)

    def test_limit(self) -> None:
        try:
            gdb.execute("set mpi-queues limit 5")
            self.assertEqual(self.params("")["limit"], 5)
            self.assertEqual(self.params("-limit 6")["limit"], 6)
            self.assertEqual(self.params("-json")["limit"], 0)
            self.assertEqual(self.params("-json -limit 7")["limit"], 7)
            gdb.execute("set mpi-queues limit unlimited")
            self.assertEqual(self.params("")["limit"], 0)
        finally:
            gdb.execute("set mpi-queues limit 200")

    def test_source(self) -> None:
        try:
            for choice in ("native", "dll", "both"):
                gdb.execute("set mpi-queues source " + choice)
                self.assertEqual(self.params("")["source"]["choice"], choice)
                self.command("info mpi")
                self.assertEqual(self.request()["source"]["choice"], choice)
        finally:
            gdb.execute("set mpi-queues source auto")

    def test_dll_settings(self) -> None:
        before, home = os.getcwd(), os.environ["HOME"]
        os.environ["HOME"] = self.folder
        os.environ["EMPTY"] = ""
        try:
            gdb.execute("cd /usr", to_string=True)
            for given, expected in (("/a/b.so", "/a/b.so"), ("lib/b.so", "/usr/lib/b.so"),
                                    ("../b.so", "/b.so"), ("~/a b.so ", self.folder + "/a b.so"),
                                    ("", "")):
                gdb.execute("set mpi-queues dll " + given)
                self.assertEqual(self.params("")["source"]["dll"], expected)
            for given, folders in (("/a", ["/a"]), ("/a:/b c", ["/a", "/b c"]), ("/", ["/"]),
                                   ("$HOME/x:~/y", [self.folder + "/x", self.folder + "/y"]),
                                   ("", []), (":::", []), ("rel:.:/a", ["/a"]),
                                   ("$NO_SUCH_VARIABLE/a:$EMPTY", [])):
                gdb.execute("set mpi-queues dll-safe-path " + given)
                self.assertEqual(self.params("")["source"]["safe_path"], folders)
            for given, seconds in (("3", 3), ("0", 0), ("unlimited", 0)):
                gdb.execute("set mpi-queues dll-timeout " + given)
                self.assertEqual(self.params("")["source"]["timeout"], seconds)
            gdb.execute("set mpi-queues dll /x")
            self.command("info mpi")
            self.assertEqual(self.request()["source"], {
                "choice": "auto", "dll": "/x", "safe_path": [], "timeout": 0, "starters": [],
                "launchers": []})
        finally:
            gdb.execute("cd " + before, to_string=True)
            os.environ["HOME"] = home
            del os.environ["EMPTY"]
            gdb.execute("set mpi-queues dll")
            gdb.execute("set mpi-queues dll-safe-path")
            gdb.execute("set mpi-queues dll-timeout 10")
        for wrong in ("-2", "x", ""):
            self.fails("set mpi-queues dll-timeout " + wrong)

    def test_errors(self) -> None:
        for arguments, expected in (
                ("-foo", "Unrecognized option at: -foo"), ("-", "Unrecognized option at: -"),
                ("-q", "Requires an argument. Valid arguments are sends, receives, unexpected."),
                ("-q x", "Undefined item: \"x\"."), ("-q ''", "Ambiguous item \"\"."),
                ("-comm", "-comm requires an argument"), ("-l x", "Expected integer at: x"),
                ("-l -1", "integer -1 out of range"), ("-l 99999999999", "out of range"),
                ("x", "Junk at end of arguments: \"x\".  Try \"help mpi-queues\"."),
                ("-- -q s", "Junk at end of arguments: \"-q\"."),
                ("-output a -record ./a", "same file")):
            self.assertIn(expected, self.fails("mpi-queues " + arguments))
        self.assertIn("Try \"help info mpi\"", self.fails("info mpi x"))

    def test_ambiguous(self) -> None:
        two = (options.Option("red", "", ""), options.Option("reduce", "", ""))
        self.assertEqual(options.parse("-red -redu", two, "x"), {"red": True, "reduce": True})
        with self.assertRaisesRegex(gdb.GdbError, "Ambiguous option at: -re"):
            options.parse("-re", two, "x")

    def completed(self, text: str) -> List[str]:
        """Returns what gdb completes a command line to."""
        return self.command("complete " + text).splitlines()

    def test_completion(self) -> None:
        names = ["-" + option.name for option in _OPTIONS]
        self.assertEqual(self.completed("mpi-queues -"), sorted("mpi-queues " + n for n in names))
        self.assertEqual(self.completed("mpi-queues -inte"), ["mpi-queues -internal"])
        self.assertEqual(self.completed("mpi-queues -json -inte"),
                         ["mpi-queues -json -internal"])
        self.assertEqual(self.completed("mpi-queues -q u"), ["mpi-queues -q unexpected"])
        self.assertEqual(self.completed("mpi-queues -limit u"), ["mpi-queues -limit unlimited"])
        self.assertEqual(self.completed("mpi-queues -comm s"), [])
        self.assertEqual(self.completed("mpi-queues -- -"), [])
        for text, expected in (("", names), ("-json ", names), ("-unknown ", names),
                               ("-q ", ["sends", "receives", "unexpected"]), ("-comm ", []),
                               ("-comm x ", names), ("-q s ", names), ("-- ", [])):
            self.assertEqual(options.complete(text, "", _OPTIONS), expected, text)

    def test_file_completion(self) -> None:
        for name in ("one-file", "one-other", "with blank"):
            with open(os.path.join(self.folder, name), "w"):
                pass
        os.mkdir(os.path.join(self.folder, "sub"))
        start = "mpi-queues -output %s/" % self.folder
        self.assertEqual(self.completed(start + "one-f"), [start + "one-file"])
        self.assertEqual(self.completed(start), [start + "one-file", start + "one-other",
                                                 start + "sub/"])
        self.assertEqual(self.completed(start + "nothing"), [])
        self.assertEqual(self.completed(start + "no/such/folder"), [])

    def test_help(self) -> None:
        text = self.command("help mpi-queues")
        self.assertTrue(text.startswith(
            "Show pending MPI sends, receives and unexpected messages.\n"
            "Usage: mpi-queues [OPTION]...\n\nOptions:\n  -all\n    "), text)
        for option in _OPTIONS:
            self.assertIn("\n  -" + option.name, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertIn("Usage: info mpi", self.command("help info mpi"))

    def test_settings(self) -> None:
        gdb.execute("set mpi-queues helper /some/helper")
        self.assertEqual(self.command("show mpi-queues"), "\n".join((
            "debug:  Debugging of mpi-queues itself is off.",
            "dll:  The queue DLL is not set, so it is looked for.",
            "dll-safe-path:  The folders whose queue DLLs are trusted are not set, so it is the"
            " owners and permissions of a queue DLL that decide.",
            "dll-timeout:  The limit on the seconds that a queue DLL may take is 10.",
            "helper:  The helper program of mpi-queues is \"/some/helper\".",
            "limit:  The limit on operations of a queue to show is 200.",
            "pretty-printers:  Printing what MPI handles stand for is on.",
            "source:  Where mpi-queues may read queues from is \"auto\".\n")))
        self.assertIn("Undefined show mpi-queues command: \"x\".", self.fails("show mpi-queues x"))
        self.assertIn("Undefined set mpi-queues command: \"x\".", self.fails("set mpi-queues x"))
        listed = self.command("help set mpi-queues")
        for setting in parameters.ALL:
            self.assertIn("set mpi-queues %s -- " % setting.name, listed)
            text = self.command("help set mpi-queues " + setting.name)
            self.assertLessEqual(max(map(len, text.splitlines())), 95)
            self.assertEqual(text.count("\n"), len(text.splitlines()))
        self.assertIn("set mpi-queues limit -- ", self.command("set mpi-queues"))
        gdb.execute("set mpi-queues dll /a/b.so")
        gdb.execute("set mpi-queues dll-safe-path ~/a:/b")
        gdb.execute("set mpi-queues dll-timeout unlimited")
        try:
            shown = self.command("show mpi-queues")
            for sentence in ("The queue DLL is \"/a/b.so\".\n",
                             ":/b\".\n", "that a queue DLL may take is unlimited.\n"):
                self.assertIn(sentence, shown)
        finally:
            gdb.execute("set mpi-queues dll")
            gdb.execute("set mpi-queues dll-safe-path")
            gdb.execute("set mpi-queues dll-timeout 10")
        for choice in ("auto", "both", "dll", "native"):
            self.assertEqual(self.completed("set mpi-queues source " + choice[0]),
                             ["set mpi-queues source " + choice])
        self.assertEqual(self.command("set mpi-queues limit 200"), "")
        self.fails("set mpi-queues source x")


class OutputTest(HelperTest):
    """Where the answer goes."""

    def test_display(self) -> None:
        self.fake("calls", calls=[write("a\u00e9\0\n"), write("b")])
        self.assertEqual(self.command("mpi-queues"), "a\u00e9\ufffd\nb")
        self.assertEqual(self.command("info mpi"), "a\u00e9\ufffd\nb")

    def test_split_characters(self) -> None:
        parts = ["w6k=", "gg==", "rA==", "/w==", "4g=="]
        self.fake("calls", calls=[["output/write", {"stream": "display", "length": 0, "data": d,
                                                    "last": False}]
                                  for d in parts[:1] + ["4g=="] + parts[1:]])
        self.assertEqual(self.command("mpi-queues"), "\u00e9\u20ac\ufffd\ufffd")

    def test_file(self) -> None:
        self.fake("calls", calls=[write("text\u00e9")])
        path = os.path.join(self.folder, "out")
        self.assertEqual(self.command("mpi-queues -output " + path), "")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "text\u00e9")
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o666 & ~mask)
        os.chmod(path, 0o640)
        link = os.path.join(self.folder, "link")
        os.symlink("out", link)
        self.fake("calls", calls=[write("new")])
        self.command("mpi-queues -output " + link)
        self.assertTrue(os.path.islink(link))
        with open(path) as file:
            self.assertEqual(file.read(), "new")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o640)
        self.assertEqual(sorted(os.listdir(self.folder)), ["link", "log", "out"])

    def test_links_of_others(self) -> None:
        """No link is followed that another user has made in a folder like /tmp."""
        if os.geteuid() != 0:
            self.skipTest("only root can give links away")
        self.fake("calls", calls=[write("text")])
        sticky = os.path.join(self.folder, "sticky")
        precious = os.path.join(self.folder, "precious")
        link = os.path.join(sticky, "link")
        os.mkdir(sticky)
        os.symlink("../precious", link)
        os.symlink("sticky/link", os.path.join(self.folder, "own"))
        for mode, folder, owner, follows in (
                (0o1777, 0, 54321, False), (0o1777, 54321, 54321, True), (0o1777, 54321, 0, True),
                (0o777, 0, 54321, True), (0o1755, 0, 54321, True)):
            os.chmod(sticky, mode)
            os.chown(sticky, folder, -1)
            os.chown(link, owner, -1, follow_symlinks=False)
            for name in "sticky/link", "own":
                command = "mpi-queues -output " + os.path.join(self.folder, name)
                if follows:
                    self.command(command)
                    os.unlink(precious)
                else:
                    self.assertIn("/sticky/link is a symbolic link owned by user 54321 in a",
                                  self.fails(command))
                self.assertTrue(os.path.islink(link))
                self.assertFalse(os.path.exists(precious))

    def test_file_of_a_request_that_fails(self) -> None:
        path = os.path.join(self.folder, "out")
        with open(path, "w") as file:
            file.write("before")
        self.fake("calls", calls=[write("half"), ["output/write", 5]])
        self.fake("error", code=1, message="Nothing.")
        self.assertEqual(self.fails("mpi-queues -output " + path), "Nothing.")
        with open(path) as file:
            self.assertEqual(file.read(), "before")
        self.fake("crash")
        self.fails("mpi-queues -record %s.2 -output %s.3" % (path, path))
        self.assertEqual(sorted(os.listdir(self.folder)), ["log", "out"])

    def test_relative_and_home(self) -> None:
        self.fake("calls", calls=[write("x")])
        before, home = os.getcwd(), os.environ["HOME"]
        try:
            gdb.execute("cd " + self.folder, to_string=True)
            os.environ["HOME"] = self.folder
            self.command("mpi-queues -output one")
            self.command("mpi-queues -output ~/two")
            self.command("mpi-queues -output '~/with blank'")
        finally:
            gdb.execute("cd " + before, to_string=True)
            os.environ["HOME"] = home
        self.assertLessEqual({"one", "two", "with blank"}, set(os.listdir(self.folder)))

    def test_recording(self) -> None:
        path = os.path.join(self.folder, "rec")
        self.fake("calls", calls=[write("shown"), write("recorded", "recording")])
        self.assertEqual(self.command("mpi-queues -record " + path), "shown")
        with open(path) as file:
            self.assertEqual(file.read(), "recorded")
        self.assertTrue(self.request()["record"])
        self.assertEqual(self.request()["handles"],
                         [{"inferior": gdb.selected_inferior().num, "handles": []}])

    def test_pipe(self) -> None:
        path = os.path.join(self.folder, "fifo")
        os.mkfifo(path)
        got: List[str] = []

        def read() -> None:
            with open(path) as file:
                got.append(file.read())

        reader = threading.Thread(target=read)
        reader.start()
        self.fake("calls", calls=[write("through")])
        self.command("mpi-queues -output " + path)
        reader.join()
        self.assertEqual(got, ["through"])
        self.assertTrue(stat.S_ISFIFO(os.stat(path).st_mode))

    def test_files_that_can_not_be(self) -> None:
        self.fake("good")
        for path, reason in (("/nonexistent/x", "No such file"), (self.folder, "Is a directory"),
                             ("/proc/x", ""), ("/dev/full/x", "Not a directory")):
            message = self.fails("mpi-queues -output " + path)
            self.assertIn("can't be written (" + reason, message)
        self.fake("calls", calls=[write("text")])
        self.assertIn("No space left", self.fails("mpi-queues -output /dev/full"))

    def test_first_failure_leaves_the_second(self) -> None:
        self.fake("good")
        path = os.path.join(self.folder, "out")
        self.fails("mpi-queues -output %s -record /nonexistent/x" % path)
        self.assertEqual(os.listdir(self.folder), [])


class StateTest(HelperTest):
    """Programs that can't be looked at. Runs last: it ends the program."""

    def test_no_program(self) -> None:
        end_program()
        try:
            for command in ("mpi-queues", "info mpi"):
                message = self.fails(command)
                self.assertIn("The program is not being run", message)
                self.assertIn("attach", message)
        finally:
            run_program("plain")

    def test_running(self) -> None:
        gdb.execute("set pagination off")
        end_program()
        gdb.execute("set non-stop on")
        try:
            run_program_in_background()
            message = self.fails("mpi-queues")
            self.assertIn("Thread %d.1 is running" % gdb.selected_inferior().num, message)
            self.assertIn("interrupt -a", message)
        finally:
            end_program()
            gdb.execute("set non-stop off")
            run_program("plain")


def run_program_in_background() -> None:
    """Starts a program that goes on running."""
    gdb.execute("file /bin/sleep", to_string=True)
    gdb.execute("set args 1000")
    gdb.execute("run &", to_string=True)
    gdb.execute("set args")
