"""Text that gdb's character set does not have."""

import os
import shutil

import gdb
from harness import PROGRAMS, HelperTest, end_program
from mpi_queues.charset import lossless


class CharsetTest(HelperTest):
    """A program with such a name, and a library and a source file in such a folder."""

    def tearDown(self) -> None:
        super().tearDown()
        end_program()
        gdb.execute("set host-charset auto")

    def check(self, charset: str, name: bytes) -> None:
        """Checks what the helper is told of the program, and that gdb takes the name back."""
        folder = os.path.join(os.fsencode(self.folder), name)
        os.mkdir(folder)
        paths = [os.path.join(folder, other) for other in (name, b"libplain.so")]
        for file, path in zip(("plain", "libplain.so"), paths):
            shutil.copy(os.fsencode(os.path.join(PROGRAMS, file)), path)
        gdb.execute("set host-charset " + charset)
        gdb.execute("set confirm off")
        program, library = map(os.fsdecode, paths)
        with lossless():
            gdb.execute("file " + program, to_string=True)
        with self.assertRaises(UnicodeDecodeError):
            gdb.current_progspace().filename  # as everywhere in gdb
        gdb.execute("run </dev/null >/dev/null 2>&1", False, False)
        self.fake("good")
        self.command("mpi-queues")
        described = self.request()["processes"][0]
        self.assertEqual(described["executable"], program)
        self.assertIn(library, described["libraries"])

    def test_not_utf8(self) -> None:
        self.check("UTF-8", b"a\xff")

    def test_ascii(self) -> None:
        """The character set of the locale C."""
        self.check("ASCII", "\u00fc".encode())

    def test_nested(self) -> None:
        with lossless():
            with lossless():
                pass
            self.assertEqual(b"\xff\xc3\xbc".decode(), "\udcff\u00fc")
            self.assertEqual("\udcff\u00fc".encode(), b"\xff\xc3\xbc")
        with self.assertRaises(UnicodeDecodeError):
            b"\xff".decode()
