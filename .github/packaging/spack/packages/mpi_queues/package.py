# In a checkout: spack repo add .github/packaging/spack && spack install mpi-queues

from spack_repo.builtin.build_systems import go
from spack_repo.builtin.build_systems.go import GoPackage

from spack.package import *


class MpiQueues(GoPackage):
    """Shows the pending sends, pending receives and unexpected messages of MPI programs
    through gdb, and who waits for whom."""

    homepage = "https://github.com/mpi-queues/mpi-queues"
    git = "https://github.com/mpi-queues/mpi-queues.git"

    license("BSD-3-Clause")

    version("main", branch="main")

    depends_on("go@1.24:", type="build")
    # Any gdb with Python will do, as that of the system.
    depends_on("gdb@10.2: +python", type="run")


class GoBuilder(go.GoBuilder):
    @property
    def build_args(self):
        return super().build_args + ["./cmd/mpi-queues"]

    @run_after("install")
    def completions(self):
        """Writes the completions for shells, which the program itself prints."""
        program = Executable(self.prefix.bin.join(self.pkg.name))
        for shell, folder, name in (
            ("bash", "bash-completion/completions", "mpi-queues"),
            ("zsh", "zsh/site-functions", "_mpi-queues"),
            ("fish", "fish/vendor_completions.d", "mpi-queues.fish"),
        ):
            to = join_path(self.prefix.share, folder)
            mkdirp(to)
            with open(join_path(to, name), "w") as file:
                file.write(program("completion", shell, output=str))
