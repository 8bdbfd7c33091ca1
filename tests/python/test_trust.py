"""Whose files are run."""

import os
import tempfile
import unittest

from mpi_queues import trust


class TrustTest(unittest.TestCase):
    """The rule of the helper's package mqs/dll/trust, case by case as its test has them."""

    def setUp(self) -> None:
        self.folder = os.path.realpath(tempfile.mkdtemp())
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("lib"))
        with open(self.path("lib/program"), "w"):
            pass
        os.chmod(self.path("lib"), 0o755)
        os.chmod(self.path("lib/program"), 0o644)

    def path(self, name: str) -> str:
        """Returns a path in the test's folder."""
        return os.path.join(self.folder, name)

    def refusal(self, name: str = "lib/program") -> str:
        """Returns the reason of a refusal, or an empty string."""
        return (trust.distrust(self.path(name)) or "").replace(self.folder, "")

    def test_trusted(self) -> None:
        self.assertEqual(self.refusal(), "")
        self.assertIsNone(trust.distrust("/etc/passwd"))

    def test_writable(self) -> None:
        for name, mode in (("lib/program", 0o646), ("lib", 0o757), ("", 0o777), ("lib", 0o1777)):
            self.setUp()
            os.chmod(self.path(name).rstrip("/"), mode)
            self.assertEqual(self.refusal(), "%s can be written to by everybody"
                             % ("/" + name if name else ""))
        self.setUp()
        os.chmod(self.folder, 0o1777)
        self.assertEqual(self.refusal(), "")

    def test_links(self) -> None:
        os.symlink("lib/program", self.path("file"))
        os.symlink(self.path("lib"), self.path("folder"))
        os.mkdir(self.path("open"))
        os.symlink("../lib", self.path("open/out"))
        for name in ("file", "folder/program", "open/out/program", "./lib/../file"):
            self.assertEqual(self.refusal(name), "")
        os.chmod(self.path("open"), 0o777)
        self.assertIn("/open can be written", self.refusal("open/out/program"))
        os.chmod(self.folder, 0o1777)
        self.assertIn(" can be written", self.refusal("file"))
        os.chmod(self.folder, 0o755)
        os.symlink("loop", self.path("loop"))
        for name in ("loop", "none"):
            with self.assertRaises(OSError):
                trust.distrust(self.path(name))

    def test_owner(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        os.symlink("lib/program", self.path("link"))
        for name in ("lib/program", "lib", "link"):
            os.chown(self.path(name), 54321, -1, follow_symlinks=False)
            self.assertEqual(self.refusal("link"), "/%s belongs to user 54321" % name)
            os.chown(self.path(name), 0, -1, follow_symlinks=False)

    def test_group(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        os.chmod(self.path("lib"), 0o775)
        self.assertEqual(self.refusal(), "")
        os.chown(self.path("lib"), 0, 54321)
        self.assertEqual(self.refusal(), "/lib can be written to by the group 54321")
