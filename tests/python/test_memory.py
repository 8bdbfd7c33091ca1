"""Memory of a program, as the helper asks for it."""

import base64
import os
import subprocess
import tracemalloc
from typing import Any, Dict, List

import gdb
from harness import GDBINIT, PROGRAMS, StoppedTest, end_program, evaluate
from mpi_queues import memory, window


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


class MemoryTest(StoppedTest):
    """memory/read."""

    def read(self, *ranges: Any, **arguments: Any) -> Dict[str, Any]:
        """Returns the answer for ranges."""
        params = {"inferior": self.number,
                  "ranges": [{"address": a, "length": n} for a, n in ranges]}
        result: Dict[str, Any] = self.results(["memory/read", params], **arguments)[0]
        return result

    def with_window(self, size: int = 1 << 20, **arguments: Any) -> Dict[str, Any]:
        """Returns the arguments of a scenario with a window."""
        return dict(arguments, window=size, window_path=os.path.join(self.folder, "window"))

    def test_whole_and_empty(self) -> None:
        pages = evaluate("pages")
        result = self.read((pages + 10, 3), (pages, 0), (pages + 4090, 10))
        self.assertEqual(result["readable"], [3, 0, 10])
        self.assertEqual(base64.b64decode(result["data"]), b"aaa" + b"a" * 6 + b"b" * 4)
        self.assertEqual(self.read(), {"readable": [], "data": ""})

    def test_prefix(self) -> None:
        pages, size = evaluate("pages"), evaluate("page_size")
        for start, length, expected in (
                (pages, 6 * size, 3 * size), (pages + 100, 6 * size - 100, 3 * size - 100),
                (pages + 3 * size - 1, 2, 1), (pages + 3 * size, 5, 0),
                (pages + 3 * size - 8, 8 + size, 8), (pages + 3 * size + 1, size, 0),
                (pages + 2 * size, 4 * size, size), (pages + 4 * size, 2 * size, 2 * size)):
            self.assertEqual(self.read((start, length))["readable"], [expected])
        result = self.read((pages + 2 * size, 2 * size), (0, 8), (pages + 4 * size, 1))
        self.assertEqual(result["readable"], [size, 0, 1])
        self.assertEqual(base64.b64decode(result["data"]), b"c" * size + b"e")

    def test_ends_of_the_address_space(self) -> None:
        result = self.read((0, 4096), ((1 << 64) - 1, 100), (1 << 63, 8), ((1 << 64) - 4096, 4096))
        self.assertEqual(result["readable"], [0, 0, 0, 0])

    def test_few_reads(self) -> None:
        reads: List[int] = []

        class Counting:
            """Counts reads; everything below 1000 pages can be read."""

            def read_memory(self, address: int, length: int) -> bytes:
                """Reads."""
                reads.append(length)
                if address + length > 1000 * 4096:
                    raise gdb.MemoryError("no")
                return bytes(length)

        inferior: Any = Counting()
        got, pieces = memory.read_ranges(inferior, [{"address": 0, "length": 1 << 24}])
        self.assertEqual(got, [1000 * 4096])
        self.assertEqual(sum(map(len, pieces)), 1000 * 4096)
        self.assertLessEqual(len(reads), 14)

    def test_core_without_a_file(self) -> None:
        """A core file lacks the pages of a shared file, which is gone since."""
        core, file = (os.path.join(self.folder, name) for name in ("core", "file"))
        program = os.path.join(PROGRAMS, "mapped")
        # Not by the gdb under test: cuda-gdb 11.8 crashes in that now and then.
        subprocess.run(["gdb", "-nx", "-batch", "-ex", "run", "-ex", "generate-core-file " + core,
                        "--args", program, file], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.remove(file)
        script = os.path.join(self.folder, "script.py")
        with open(script, "w") as source:
            source.write("""import gdb
from mpi_queues import memory
pages = int(gdb.parse_and_eval("(unsigned long) pages"))
ranges = [{"address": pages + at, "length": 10} for at in (4090, 4096, 0)]
readable, pieces = memory.read_ranges(gdb.selected_inferior(), ranges)
print("READ", readable, b"".join(pieces))
""")
        output = subprocess.run(
            [os.environ["TEST_GDB"], "-nx", "-batch", "-x", GDBINIT, "-ex", "core-file " + core,
             "-x", script, program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True).stdout
        self.assertIn("READ [6, 0, 10] " + repr(b"a" * 16), output)

    def test_lost_connection(self) -> None:
        """What is not there any more has no pages of which some can be read."""

        class Lost:
            """An inferior whose connection is lost."""

            pid = 0

            def read_memory(self, address: int, length: int) -> bytes:
                """Fails as gdb does."""
                raise gdb.error("Remote connection closed")

        inferior: Any = Lost()
        with self.assertRaisesRegex(gdb.error, "closed"):
            memory.read_ranges(inferior, [{"address": 0, "length": 1 << 24}])

    def test_window(self) -> None:
        pages, size = evaluate("pages"), evaluate("page_size")
        ranges = (pages + 3 * size - 4, 100), (pages + size, 5)
        result = self.read(*ranges, **self.with_window())
        self.assertEqual(result, {"readable": [4, 5], "data": None})
        self.assertEqual(self.received("w"), [base64.b64encode(b"ccccbbbbb").decode()])

    def test_window_bounds_the_request(self) -> None:
        pages = evaluate("pages")
        params = {"inferior": self.number, "ranges": [{"address": pages, "length": 4097}]}
        answer = self.answers(["memory/read", params], **self.with_window(4096))[0]
        self.assertEqual(answer["error"]["code"], -32602)
        params = {"inferior": self.number, "ranges": [{"address": pages, "length": 4096}]}
        self.results(["memory/read", params], **self.with_window(4096))

    def test_windows_that_are_none(self) -> None:
        pages = evaluate("pages")
        for arguments in (self.with_window(window_absent=True), self.with_window(0),
                          self.with_window(-1), self.with_window(window_true_size=100),
                          dict(window=100, window_path="/dev/zero", window_absent=True),
                          dict(window=100, window_path=self.folder, window_absent=True),
                          dict(window=100, window_path="a\0b", window_absent=True)):
            result = self.read((pages, 2), **arguments)
            self.assertEqual(result["data"], "YWE=", arguments)

    def test_window_that_shrinks(self) -> None:
        """A file that has become shorter must not kill gdb."""
        path = os.path.join(self.folder, "window")
        with open(path, "wb") as file:
            file.truncate(8192)
        open_window = window.Window({"path": path, "size": 8192})
        self.assertEqual(open_window.size, 8192)
        os.truncate(path, 0)
        self.assertEqual(open_window.take(10, None)[0], None)
        self.assertEqual(open_window.put([b"abc"]), None)
        open_window.close()

    def test_write_from_window(self) -> None:
        arguments = self.with_window(window_content="shown \u00e9")
        self.fake("calls", calls=[
            ["output/write", {"stream": "display", "length": 8, "data": None, "last": False}]],
            **arguments)
        self.assertEqual(self.command("mpi-queues"), "shown \u00e9")

    def test_makes_no_copies(self) -> None:
        """Bytes go from gdb's buffer to the window without another copy."""
        bulk, size = evaluate("bulk"), 4 << 20
        inferior = gdb.selected_inferior()
        path = os.path.join(self.folder, "window")
        with open(path, "wb") as file:
            file.truncate(size)
        open_window = window.Window({"path": path, "size": size})
        tracemalloc.start()
        try:
            _, pieces = memory.read_ranges(inferior, [{"address": bulk, "length": size}])
            self.assertIsNone(open_window.put(pieces))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        open_window.close()
        self.assertLess(peak, size // 8)
