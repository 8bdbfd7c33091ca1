"""Sourcing gdbinit, in every way a user may."""

import os
import shutil
import subprocess
import tempfile
import unittest
from typing import Dict, Optional, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.realpath(os.path.join(HERE, "..", ".."))
GDBINIT = os.path.join(TOP, "gdbinit")
SHOW = "show mpi-queues limit"
SHOWN = "The limit on operations of a queue to show is 200.\n"


def run_gdb(*commands: str, cwd: str = "/", options: Tuple[str, ...] = (),
            environment: Optional[Dict[str, str]] = None) -> str:
    """Returns what gdb prints for commands."""
    arguments = [os.environ["TEST_GDB"], "-nx", "-batch"] + list(options)
    for command in commands:
        arguments += ["-ex", command]
    done = subprocess.run(arguments, cwd=cwd, env=dict(os.environ, **environment or {}), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.stdout


class GdbinitTest(unittest.TestCase):
    """gdbinit."""

    def setUp(self) -> None:
        self.folder = os.path.join(os.path.realpath(tempfile.mkdtemp()), "with blank")
        os.mkdir(self.folder)

    def copy(self) -> str:
        """Makes a copy of the extension's layout; returns its gdbinit."""
        shutil.copytree(os.path.join(TOP, "python", "mpi_queues"),
                        os.path.join(self.folder, "python", "mpi_queues"))
        return str(shutil.copy(GDBINIT, self.folder))

    def test_any_working_directory(self) -> None:
        for cwd in ("/", TOP, HERE, self.folder):
            self.assertEqual(run_gdb("source " + os.path.relpath(GDBINIT, cwd), SHOW, cwd=cwd),
                             SHOWN)

    def test_twice(self) -> None:
        source = "source " + GDBINIT
        self.assertEqual(run_gdb(source, "set mpi-queues limit 5", source, SHOW),
                         SHOWN.replace("200", "5"))
        path = "python import sys; print(len([p for p in sys.path if p.endswith('/python')" \
            " and 'gdb' not in p]))"
        self.assertEqual(run_gdb(source, source, path), "1\n")

    def test_ways(self) -> None:
        self.assertEqual(run_gdb(SHOW, options=("-x", GDBINIT)), SHOWN)
        script = os.path.join(self.folder, "gdbinit")
        with open(script, "w") as file:
            file.write("source %s\n%s\n" % (GDBINIT, SHOW))
        self.assertEqual(run_gdb("source " + script), SHOWN)
        link = os.path.join(self.folder, ".gdbinit")
        os.symlink(GDBINIT, link)
        self.assertEqual(run_gdb("source " + link, SHOW), SHOWN)
        self.assertEqual(run_gdb("source " + self.copy_elsewhere(), SHOW), SHOWN)

    def copy_elsewhere(self) -> str:
        """Makes a copy of the layout in a folder of its own."""
        self.folder = os.path.join(self.folder, "copy")
        return self.copy()

    def test_languages(self) -> None:
        for language in ("ada", "pascal", "fortran", "modula-2", "rust", "asm"):
            self.assertIn(SHOWN, run_gdb("set language " + language, "source " + GDBINIT, SHOW))

    def test_the_right_copy(self) -> None:
        shown = run_gdb("source " + self.copy(), "python import mpi_queues; "
                        "print(mpi_queues.__file__)")
        self.assertEqual(shown, self.folder + "/python/mpi_queues/__init__.py\n")

    def test_leaves_no_names(self) -> None:
        names = "python print(sorted(n for n in globals() if not n.startswith('__')))"
        self.assertEqual(run_gdb(names), run_gdb("source " + GDBINIT, names))

    def test_alone(self) -> None:
        alone = shutil.copy(GDBINIT, self.folder)
        text = run_gdb("source " + alone, "echo go on\\n")
        self.assertIn("was looked for beside this gdbinit and not found", text)
        self.assertIn("MPI_QUEUES_PYTHON", text)
        self.assertIn("go on", text)
        self.assertNotIn("Traceback", text)
        text = run_gdb("source " + alone, SHOW,
                       environment={"MPI_QUEUES_PYTHON": os.path.join(TOP, "python")})
        self.assertEqual(text, SHOWN)

    def test_not_from_the_working_directory(self) -> None:
        """The text of gdbinit in a file of another name, where someone has put a package."""
        pasted = shutil.copy(GDBINIT, os.path.join(self.folder, "pasted"))
        os.mkdir(os.path.join(self.folder, "mpi_queues"))
        with open(os.path.join(self.folder, "mpi_queues", "__init__.py"), "w") as file:
            file.write("print('from the working directory')\n")
        unset = {"MPI_QUEUES_PYTHON": ""}
        for environment in (unset, {"MPI_QUEUES_PYTHON": "."}):
            text = run_gdb("source " + pasted, cwd=self.folder, environment=environment)
            self.assertNotIn("from the working directory", text)
            self.assertIn("MPI_QUEUES_PYTHON", text)

    def test_not_beside_a_program(self) -> None:
        """A program called gdbinit, which gdb has open by a higher number than the script."""
        program = shutil.copy(os.path.join(os.environ["TEST_PROGRAMS"], "silent.o"),
                              os.path.join(self.folder, "gdbinit"))
        os.mkdir(os.path.join(self.folder, "mpi_queues"))
        with open(os.path.join(self.folder, "mpi_queues", "__init__.py"), "w") as file:
            file.write("print('from beside the program')\n")
        higher = "python import os; os.dup2(os.open(%r, os.O_RDONLY), 200)" % program
        self.assertEqual(run_gdb('file "%s"' % program, higher, "source " + GDBINIT, SHOW), SHOWN)

    def test_without_proc(self) -> None:
        spoil = "python import os; os.listdir = lambda path: [][0:1] + open('/nonexistent')"
        self.assertIn("MPI_QUEUES_PYTHON", run_gdb(spoil, "source " + GDBINIT))

    def test_without_python(self) -> None:
        """gdb without its own Python files is what comes nearest where Python is built in."""
        text = run_gdb("source " + GDBINIT, "echo go on\\n",
                       options=("--data-directory=/nonexistent",))
        self.assertIn("mpi-queues needs a gdb that was built with Python", text)
        self.assertIn("go on", text)

    def test_too_old(self) -> None:
        text = run_gdb("python import sys; sys.version_info = (3, 7, 0)", "source " + GDBINIT,
                       "mpi-queues")
        self.assertIn("mpi-queues needs Python 3.8 or later, and this gdb has Python 3.7", text)
        self.assertIn("Undefined command", text)
        text = run_gdb("python del gdb.lookup_static_symbols", "source " + GDBINIT)
        self.assertIn("mpi-queues needs gdb 10.2 or later", text)

    def test_plain_syntax(self) -> None:
        """What must say that Python is too old has no syntax that an old Python refuses."""
        with open(os.path.join(TOP, "python", "mpi_queues", "__init__.py")) as file:
            source = file.read()
        compile(source, "__init__.py", "exec", dont_inherit=True)
        for newer in ("f\"", "f'", ":=", "->", "async "):
            self.assertNotIn(newer, source)
