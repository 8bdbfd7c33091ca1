"""Where the helper is looked for."""

import os
import shutil

import gdb
from harness import FAKE, HelperTest, end_program, run_program
from mpi_queues import find_helper
from mpi_queues.errors import Failure


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
        self.extension = find_helper._EXTENSION
        for name in ("MPI_QUEUES_HELPER", "GOBIN", "GOPATH"):
            os.environ.pop(name, None)
        os.environ["PATH"] = "/usr/bin:/bin"
        os.environ["HOME"] = os.path.join(self.folder, "home")
        find_helper._EXTENSION = os.path.join(self.folder, "extension")

    def tearDown(self) -> None:
        super().tearDown()
        os.environ.clear()
        os.environ.update(self.environment)
        find_helper._EXTENSION = self.extension

    def program(self, *path: str) -> str:
        """Makes a program."""
        name = os.path.join(self.folder, *path)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        shutil.copy(FAKE, name)
        return name

    def test_order(self) -> None:
        gdb.execute("set mpi-queues helper")
        message = self.fails("mpi-queues")
        for part in (find_helper._EXTENSION, "/bin,", "cmd/mpi-queues", "~/go/bin", "PATH",
                     "go install github.com/mpi-queues/mpi-queues/cmd/mpi-queues@latest"):
            self.assertIn(part, message)
        steps = []
        steps.append(self.program("home", "go", "bin", "mpi-queues"))
        self.assertEqual(find_helper.find(""), steps[-1])
        steps.append(self.program("gopath", "bin", "mpi-queues"))
        os.environ["GOPATH"] = "/nowhere:" + os.path.join(self.folder, "gopath")
        self.assertEqual(find_helper.find(""), steps[-1])
        steps.append(self.program("gobin", "mpi-queues"))
        os.environ["GOBIN"] = os.path.join(self.folder, "gobin")
        self.assertEqual(find_helper.find(""), steps[-1])
        steps.append(self.program("path", "mpi-queues"))
        os.environ["PATH"] += ":" + os.path.join(self.folder, "path")
        self.assertEqual(find_helper.find(""), steps[-1])
        steps.append(self.program("extension", "cmd", "mpi-queues", "mpi-queues"))
        self.assertEqual(find_helper.find(""), steps[-1])
        for folder in ("bin", ""):
            steps.append(self.program("extension", *filter(None, (folder, "mpi-queues"))))
            self.assertEqual(find_helper.find(""), steps[-1])
        steps.append(self.program("env"))
        os.environ["MPI_QUEUES_HELPER"] = steps[-1]
        self.assertEqual(find_helper.find(""), steps[-1])
        self.assertEqual(find_helper.find(FAKE), FAKE)

    def test_found_where_others_can_write(self) -> None:
        gdb.execute("set mpi-queues helper")
        own = self.program("home", "go", "bin", "mpi-queues")
        planted = self.program("open", "mpi-queues")
        os.makedirs(find_helper._EXTENSION)
        link = os.path.join(find_helper._EXTENSION, "mpi-queues")
        os.symlink(planted, link)
        self.assertEqual(find_helper.find(""), link)
        for mode in (0o777, 0o1777):
            os.chmod(os.path.dirname(planted), mode)
            self.assertEqual(find_helper.find(""), own)
        os.unlink(own)
        message = self.fails("mpi-queues")
        self.assertIn("%s is not run, since %s can be written to by everybody."
                      % (link, os.path.dirname(planted)), message)
        os.environ["MPI_QUEUES_HELPER"] = link  # the user's word
        self.assertEqual(find_helper.find(""), link)
        if os.geteuid() == 0:
            del os.environ["MPI_QUEUES_HELPER"]
            os.chmod(os.path.dirname(planted), 0o755)
            os.chown(planted, 54321, -1)
            self.assertIn("mpi-queues belongs to user 54321.", self.fails("mpi-queues"))

    def test_not_from_the_working_directory(self) -> None:
        planted = self.program("here", "mpi-queues")
        own = self.program("path", "mpi-queues")
        before = os.getcwd()
        os.chdir(os.path.dirname(planted))
        try:
            for path in ("", ".", ":/usr/bin", "/usr/bin:"):
                os.environ["PATH"] = path
                with self.assertRaises(Failure):
                    find_helper.find("mpi-queues")
                os.environ["PATH"] = path + ":" + os.path.dirname(own)
                self.assertEqual(find_helper.find("mpi-queues"), own)
                self.assertEqual(find_helper.find(""), own)
            self.assertEqual(find_helper.find("./mpi-queues"), planted)
            os.environ["GOPATH"] = "."
            os.environ["PATH"] = "/usr/bin"
            self.program("here", "bin", "mpi-queues")
            with self.assertRaises(Failure):
                find_helper.find("")
        finally:
            os.chdir(before)

    def test_names(self) -> None:
        program = self.program("home", "my helper")
        self.assertEqual(find_helper.find("~/my helper"), program)
        gdb.execute("set mpi-queues helper ~/my helper")
        self.fake("good")
        self.command("mpi-queues")
        os.environ["MPI_QUEUES_HELPER"] = "/nonexistent"
        gdb.execute("set mpi-queues helper")
        self.assertIn("MPI_QUEUES_HELPER", self.fails("mpi-queues"))
