"""Where the helper is looked for."""

import os
import shutil

import gdb
from harness import FAKE, HelperTest, end_program, run_program
from mpi_queues import locate


def setUpModule() -> None:
    """Starts the program that the commands are for."""
    run_program("plain")


def tearDownModule() -> None:
    """Ends it."""
    end_program()


class LocateTest(HelperTest):
    """Where the helper is looked for."""

    def setUp(self) -> None:
        super().setUp()
        self.environment = dict(os.environ)
        self.extension = locate._EXTENSION
        for name in ("MPI_QUEUES_HELPER", "GOBIN", "GOPATH"):
            os.environ.pop(name, None)
        os.environ["PATH"] = "/usr/bin:/bin"
        os.environ["HOME"] = os.path.join(self.folder, "home")
        locate._EXTENSION = os.path.join(self.folder, "extension")

    def tearDown(self) -> None:
        super().tearDown()
        os.environ.clear()
        os.environ.update(self.environment)
        locate._EXTENSION = self.extension

    def program(self, *path: str) -> str:
        """Makes a program."""
        name = os.path.join(self.folder, *path)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        shutil.copy(FAKE, name)
        return name

    def test_order(self) -> None:
        gdb.execute("set mpi-queues helper")
        message = self.fails("mpi-queues")
        for part in (locate._EXTENSION, "/bin,", "cmd/mpi-queues", "~/go/bin", "PATH",
                     "go install github.com/mpi-queues/mpi-queues/cmd/mpi-queues@latest"):
            self.assertIn(part, message)
        steps = []
        steps.append(self.program("home", "go", "bin", "mpi-queues"))
        self.assertEqual(locate.find_helper(""), steps[-1])
        steps.append(self.program("gopath", "bin", "mpi-queues"))
        os.environ["GOPATH"] = "/nowhere:" + os.path.join(self.folder, "gopath")
        self.assertEqual(locate.find_helper(""), steps[-1])
        steps.append(self.program("gobin", "mpi-queues"))
        os.environ["GOBIN"] = os.path.join(self.folder, "gobin")
        self.assertEqual(locate.find_helper(""), steps[-1])
        steps.append(self.program("path", "mpi-queues"))
        os.environ["PATH"] += ":" + os.path.join(self.folder, "path")
        self.assertEqual(locate.find_helper(""), steps[-1])
        steps.append(self.program("extension", "cmd", "mpi-queues", "mpi-queues"))
        self.assertEqual(locate.find_helper(""), steps[-1])
        for folder in ("bin", ""):
            steps.append(self.program("extension", *filter(None, (folder, "mpi-queues"))))
            self.assertEqual(locate.find_helper(""), steps[-1])
        steps.append(self.program("env"))
        os.environ["MPI_QUEUES_HELPER"] = steps[-1]
        self.assertEqual(locate.find_helper(""), steps[-1])
        self.assertEqual(locate.find_helper(FAKE), FAKE)

    def test_names(self) -> None:
        program = self.program("home", "my helper")
        self.assertEqual(locate.find_helper("~/my helper"), program)
        gdb.execute("set mpi-queues helper ~/my helper")
        self.fake("good")
        self.command("mpi-queues")
        os.environ["MPI_QUEUES_HELPER"] = "/nonexistent"
        gdb.execute("set mpi-queues helper")
        self.assertIn("MPI_QUEUES_HELPER", self.fails("mpi-queues"))
