"""Symbols and types of a program, as the helper asks for them."""

import os
import subprocess
from typing import Any, List
from unittest import mock

import gdb
from harness import PROGRAMS, StoppedTest, end_program, evaluate
from mpi_queues import layouts, lookup


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


class SymbolTest(StoppedTest):
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


class TypeTest(StoppedTest):
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
            self.assertEqual({path: (field["offset"], field["size"], field["kind"])
                              for path, field in found["fields"].items()}, expected)

    def test_fields_that_are_not(self) -> None:
        paths = ("bits", "absent", "super.absent", "name.x", "next.super", "", ".", "super.",
                 "super..first", "first", "as_int.x")
        self.assertEqual(self.find("comm", *paths)["fields"], {})

    def test_union_and_scalars(self) -> None:
        number = self.find("number", "integer", "real")
        self.assertEqual({path: field["offset"] for path, field in number["fields"].items()},
                         {"integer": 0, "real": 0})
        self.assertEqual(self.find("tag_t")["size"], 2)
        self.assertEqual(self.find("tag_t", "x")["fields"], {})
        self.assertEqual(self.find("plain")["size"], 4)
        self.assertEqual(self.find("unsigned long")["size"], 8)

    def test_library_goes_first(self) -> None:
        shared = self.find("shared", "of_the_library", "of_the_program")
        self.assertEqual(shared["size"], 16)
        self.assertEqual(list(shared["fields"]), ["of_the_library"])
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

    def test_absent_is_remembered(self) -> None:
        """What the same files lack is not looked for again, for another rank for one."""
        lookup._forget(None)
        lookup._absent.clear()
        with mock.patch.object(gdb, "lookup_type", wraps=gdb.lookup_type) as asked, \
                mock.patch.object(layouts, "_is_described", wraps=layouts._is_described) as looked:
            self.assertIsNone(self.find("no_such_type"))
            # No file has it, so gdb is not asked to look for it in all ways.
            self.assertEqual(names_asked(asked).count("no_such_type"), 0)
            self.assertEqual(names_asked(looked), ["no_such_type"])
            lookup._forget(None)
            self.assertIsNone(self.find("no_such_type"))
            self.assertEqual(names_asked(looked), ["no_such_type"])

    def test_unreadable_is_not_absent(self) -> None:
        """A name that gdb can't look for now may be there."""
        found = gdb.lookup_type

        def unreadable(name: str) -> gdb.Type:
            if last_word(name) == "comm":
                raise gdb.error("Cannot find DIE")
            return found(name)

        lookup._forget(None)
        lookup._absent.clear()
        with mock.patch.object(gdb, "lookup_type", side_effect=unreadable):
            self.assertIsNone(self.find("comm"))
        lookup._forget(None)
        self.assertIsNotNone(self.find("comm"))


def last_word(name: str) -> str:
    """Returns the name of a type without its keyword."""
    return name.split(" ")[-1]


def names_asked(asked: mock.Mock) -> List[str]:
    """Returns the names that gdb was asked for, without keywords. An old gdb is asked for types
    of its own, too."""
    return [last_word(call[0][0]) for call in asked.call_args_list]


class OpaqueTest(StoppedTest):
    """types/find without debug information for the library."""

    def test_declarations_are_not_types(self) -> None:
        params = {"inferior": self.number,
                  "types": [{"name": n, "fields": ["super"]} for n in ("comm", "comm_t", "own")]}
        comm, comm_t, own = self.results(["types/find", params])[0]["types"]
        self.assertIsNone(comm)
        self.assertIsNone(comm_t)
        self.assertEqual(own["fields"], {})


class LanguagesTest(StoppedTest):
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
        return [t and (t["size"], t["fields"]["n"]["offset"] if t["fields"] else None)
                for t in found]

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
