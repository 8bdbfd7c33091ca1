"""Memory, symbols and types of a program, as the helper asks for them."""

import base64
import os
import subprocess
import tracemalloc
from typing import Any, Dict, List
from unittest import mock

import gdb
from harness import HelperTest, PROGRAMS, end_program, evaluate, run_program
from mpi_queues import lookup, memory, window


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


class LookupTest(HelperTest):
    """A test of a program that stands in its stop()."""

    program = "plain"
    gdb_unwinds = True

    @classmethod
    def setUpClass(cls) -> None:
        run_program(cls.program)
        try:
            gdb.selected_frame()
        except gdb.error:
            cls.gdb_unwinds = False

    def setUp(self) -> None:
        super().setUp()
        self.number = gdb.selected_inferior().num


class MemoryTest(LookupTest):
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


class SymbolTest(LookupTest):
    """symbols/find."""

    def find(self, *names: str) -> List[Any]:
        """Returns the answer for names."""
        result = self.results(["symbols/find", {"inferior": self.number, "names": names}])[0]
        symbols: List[Any] = result["symbols"]
        return symbols

    def test_library(self) -> None:
        communicators, counter, function = self.find(
            "pq_communicators", "pq_counter", "pq_function")
        path = os.path.join(PROGRAMS, "lib%s.so" % self.program)
        for symbol in (communicators, counter, function):
            self.assertEqual(os.path.realpath(symbol["object"]), os.path.realpath(path))
        inferior = gdb.selected_inferior()
        self.assertEqual(bytes(inferior.read_memory(counter["address"], 4)), b"\x2a\0\0\0")
        self.assertEqual(bytes(inferior.read_memory(communicators["address"], 1)), b"\x07")
        self.assertEqual(function["address"] & ~0xfff, evaluate("&pq_function") & ~0xfff)

    def test_locals_do_not_win(self) -> None:
        """stop() has a local and a parameter of these names, and they are not looked at."""
        if self.gdb_unwinds:
            self.assertEqual(gdb.selected_frame().name(), "stop")
            local = int(gdb.parse_and_eval("&pq_counter"))
            self.assertNotEqual(self.find("pq_counter")[0]["address"], local)
            local = int(gdb.parse_and_eval("&pq_communicators"))
            self.assertNotEqual(self.find("pq_communicators")[0]["address"], local)

    def test_statics_do_not_win(self) -> None:
        """The program has a static variable of a library's symbol's name."""
        symbol = self.find("pq_same_name")[0]
        data = gdb.selected_inferior().read_memory(symbol["address"], 4)
        self.assertEqual(bytes(data), b"\x2b\0\0\0")

    def test_program(self) -> None:
        main, comm = self.find("main", "comm")
        path = os.path.realpath(os.path.join(PROGRAMS, self.program))
        self.assertEqual(os.path.realpath(main["object"]), path)
        self.assertEqual(os.path.realpath(comm["object"]), path)
        self.assertEqual(comm["address"], evaluate("&::comm"))

    def test_absent(self) -> None:
        names = ("no_such_symbol", "shared_t", "", "1+1", "main()", "$pc", "$_exitcode", "a b",
                 "x'", "x'+1+'", "program.c", "int", "main\n", "\u00e9", "x" * 5000)
        self.assertEqual(self.find(*names), [None] * len(names))
        self.assertEqual(self.find(), [])

    def test_no_side_effects(self) -> None:
        names = ("page_size=0", "page_size++", "pq_function(1)",
                 "comm'+0*(page_size=7)+(long)&::'comm")
        self.assertEqual(self.find(*names), [None] * len(names))
        self.assertEqual(evaluate("page_size"), 4096)

    def test_every_language(self) -> None:
        expected = self.find("pq_counter", "pq_function", "no_such_symbol")
        try:
            for language in ("auto", "c", "c++", "fortran", "pascal", "ada", "modula-2", "rust",
                             "go", "d", "asm", "minimal", "objective-c", "local"):
                gdb.execute("set language " + language)
                before = gdb.parameter("language"), gdb.execute("show language", to_string=True)
                self.assertEqual(self.find("pq_counter", "pq_function", "no_such_symbol"),
                                 expected, language)
                self.assertEqual((gdb.parameter("language"),
                                  gdb.execute("show language", to_string=True)), before)
        finally:
            gdb.execute("set language auto")

    def test_remembered(self) -> None:
        lookup._forget(None)
        lookup._absent.clear()
        with mock.patch.object(gdb, "parse_and_eval", wraps=gdb.parse_and_eval) as asked:
            first = self.find("pq_counter", "no_such_symbol")
            self.assertEqual(self.find("pq_counter", "no_such_symbol"), first)
            self.assertEqual(asked.call_count, 2)
            # Where a symbol is may have changed, but what the same files lack has not.
            lookup._forget(None)
            self.assertEqual(self.find("pq_counter", "no_such_symbol"), first)
            self.assertEqual(asked.call_count, 3)

    def test_absent_from_other_files(self) -> None:
        """A program that has been made anew has other symbols."""
        path = os.path.join(self.folder, "program")
        gdb.execute("add-inferior", to_string=True)
        added = max(i.num for i in gdb.inferiors())
        gdb.execute("inferior %d" % added, to_string=True)
        try:
            for text, there in (("", False), ("int pq_new;", True)):
                subprocess.run(["gcc", "-Wl,--build-id=none", "-o", path, "-xc", "-"], check=True,
                               input=text + "int main(void) { return 0; }", encoding="ascii")
                gdb.execute("file " + path, to_string=True)
                self.assertEqual([bool(s) for s in lookup.find_symbols(["pq_new"])], [there])
        finally:
            gdb.execute("inferior %d" % self.number, to_string=True)
            gdb.execute("remove-inferiors %d" % added, to_string=True)

    def test_libraries_come_and_go(self) -> None:
        """What was or was not there can have changed with the libraries."""
        loaded = self.find("pq_counter")
        self.assertNotEqual(loaded, [None])
        gdb.execute("nosharedlibrary")
        self.assertEqual(self.find("pq_counter"), [None])
        gdb.execute("sharedlibrary", to_string=True)
        self.assertEqual(self.find("pq_counter"), loaded)


class SymbolDebugTest(SymbolTest):
    """symbols/find with debug information for the library."""

    program = "debug"

    def test_statics_of_libraries(self) -> None:
        """MPICH keeps some of its queues in static variables."""
        symbol = self.find("hidden")[0]
        self.assertEqual(os.path.basename(symbol["object"]), "libdebug.so")
        data = gdb.selected_inferior().read_memory(symbol["address"], 4)
        self.assertEqual(bytes(data), b"\x03\0\0\0")


class TypeTest(LookupTest):
    """types/find with debug information for the library."""

    program = "debug"
    library = os.path.realpath(os.path.join(PROGRAMS, "libdebug.so"))

    def find(self, name: str, *fields: str) -> Any:
        """Returns the answer for one type."""
        params = {"inferior": self.number, "types": [{"name": name, "fields": fields}]}
        return self.results(["types/find", params])[0]["types"][0]

    def test_fields(self) -> None:
        expected = {
            "super": (0, 16, "struct"), "super.first": (0, 4, "signed"),
            "super.second": (8, 8, "signed"), "name": (16, 8, "array"),
            "as_int": (24, 4, "signed"), "low": (24, 2, "signed"), "high": (26, 2, "unsigned"),
            "flag": (29, 1, "unsigned"), "tiny": (30, 1, "signed"), "pointer": (32, 8, "pointer"),
            "plain": (40, 4, "unsigned"), "negative": (44, 4, "signed"),
            "real": (48, 8, "float"), "next": (56, 8, "pointer"),
        }
        for name in ("comm", "comm_t"):
            found = self.find(name, *expected)
            self.assertEqual(found["size"], 64)
            self.assertEqual(os.path.realpath(found["object"]), self.library)
            for path, field in zip(expected, found["fields"]):
                assert field, path
                self.assertEqual((field["offset"], field["size"], field["kind"]), expected[path])

    def test_fields_that_are_not(self) -> None:
        paths = ("bits", "absent", "super.absent", "name.x", "next.super", "", ".", "super.",
                 "super..first", "first", "as_int.x")
        self.assertEqual(self.find("comm", *paths)["fields"], [None] * len(paths))

    def test_union_and_scalars(self) -> None:
        number = self.find("number", "integer", "real")
        self.assertEqual([f["offset"] for f in number["fields"]], [0, 0])
        self.assertEqual(self.find("tag_t")["size"], 2)
        self.assertEqual(self.find("tag_t", "x")["fields"], [None])
        self.assertEqual(self.find("plain")["size"], 4)
        self.assertEqual(self.find("unsigned long")["size"], 8)

    def test_library_goes_first(self) -> None:
        shared = self.find("shared", "of_the_library", "of_the_program")
        self.assertEqual(shared["size"], 16)
        self.assertEqual([bool(f) for f in shared["fields"]], [True, False])
        self.assertEqual(os.path.realpath(shared["object"]), self.library)

    def test_program(self) -> None:
        own = self.find("own", "x")
        self.assertEqual(own["size"], 4)
        self.assertEqual(os.path.basename(own["object"]), self.program)

    def test_absent(self) -> None:
        for name in ("no_such_type", "", "struct comm", "enum plain", "void", "comm *", "'comm'",
                     "1", "main"):
            self.assertIsNone(self.find(name, "x"), name)

    def test_every_language(self) -> None:
        expected = self.find("comm", "super.first", "high", "negative")
        try:
            for language in ("c++", "fortran", "pascal", "ada", "modula-2", "rust"):
                lookup._forget(None)
                gdb.execute("set language " + language)
                self.assertEqual(self.find("comm", "super.first", "high", "negative"), expected)
        finally:
            gdb.execute("set language auto")

    def test_remembered(self) -> None:
        lookup._forget(None)
        self.find("no_such_type")
        self.find("comm", "super")
        self.assertIn("no_such_type", lookup.remembered("type"))
        self.assertIn("comm", lookup.remembered("type"))
        self.find("comm", "next")
        self.assertEqual(len([k for k in lookup.remembered("field") if k[0] == "comm"]), 2)


class OpaqueTest(LookupTest):
    """types/find without debug information for the library."""

    def test_declarations_are_not_types(self) -> None:
        params = {"inferior": self.number,
                  "types": [{"name": n, "fields": ["super"]} for n in ("comm", "comm_t", "own")]}
        comm, comm_t, own = self.results(["types/find", params])[0]["types"]
        self.assertIsNone(comm)
        self.assertIsNone(comm_t)
        self.assertEqual(own["fields"], [None])


class LanguagesTest(LookupTest):
    """Names of C++ and of Fortran."""

    program = "languages"

    def symbols(self, *names: str) -> List[Any]:
        """Returns what is found of symbols."""
        params = {"inferior": self.number, "names": list(names)}
        found: List[Any] = self.results(["symbols/find", params])[0]["symbols"]
        return found

    def types(self, *names: str) -> List[Any]:
        """Returns the sizes and the offsets of the member n of types."""
        queries = [{"name": name, "fields": ["n"]} for name in names]
        params = {"inferior": self.number, "types": queries}
        found = self.results(["types/find", params])[0]["types"]
        return [t and (t["size"], t["fields"][0] and t["fields"][0]["offset"]) for t in found]

    def test_functions(self) -> None:
        """A function of C++ has its arguments in its name; one of Fortran's module, the module."""
        places = self.symbols("ns::f(int)", "ns::f(double)", "ns::counter", "ns::C::m",
                              "__mod_MOD_proc")
        self.assertNotIn(None, places)
        self.assertEqual(len({place["address"] for place in places}), 5)
        for name, place in zip(("_ZN2ns1fEi", "_ZN2ns1fEd", "_ZN2ns7counterE"), places):
            self.assertEqual(self.symbols(name), [place])
        self.assertEqual(self.symbols("ns::g", "ns::f(char)", "no::f(int)"), [None] * 3)

    def test_types(self) -> None:
        """Namespaces, members, templates; kinds and modules."""
        self.assertEqual(self.types("ns::T", "ns::T::In", "ns::V<int, 3>", "ns::V<ns::T*, 2>"),
                         [(16, 8), (2, 0), (24, 16), (24, 16)])
        self.assertEqual(self.types("integer(kind=4)", "integer(kind=8)", "real(kind=8)"),
                         [(4, None), (8, None), (8, None)])
        self.assertEqual(self.types("mod::point"), [(16, 8)])
        self.assertEqual(self.types("ns::U", "ns::V<int, 4>", "integer(kind=3)"), [None] * 3)

    def test_hostile_names(self) -> None:
        """Whatever a name is, it is nothing more."""
        made = os.path.join(self.folder, "made")
        names = ["ns::f'; shell touch %s" % made, "x') , $_shell(\"touch %s\") ('" % made,
                 "f(int)\nshell touch %s" % made, "x|touch %s" % made, "$_shell(1)",
                 "f\\'", "", " ", "::", "a" * 2000, "f(" * 400,
                 "V<" * 400 + "int" + ">" * 400, "ns::T; x", "ns::f(int", "f)))", "a%s",
                 "ns::*", "operator()", "x[1][", "(int)5", "&x", "ns::~", "a = 5", "pq(1)", "a,b"]
        self.assertEqual(self.symbols(*names), [None] * len(names))
        self.assertEqual(self.types(*names), [None] * len(names))
        self.assertFalse(os.path.exists(made))
