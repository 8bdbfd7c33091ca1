package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
)

// Tools are the programs that the demo runs.
type Tools struct{ gdb, mpicc, mpirun string }

// packager is how a distribution's package manager is used. Packages are named
// for gdb, and for Open MPI with what it takes to compile.
type packager struct {
	program string
	refresh []string // arguments to learn what there is, if that takes a command
	install []string
	gdb     []string
	mpi     []string
}

var packagers = []packager{
	{"apt-get", []string{"update"}, []string{"install", "-y", "--no-install-recommends"},
		[]string{"gdb"}, []string{"openmpi-bin", "libopenmpi-dev", "gcc", "libc6-dev"}},
	{"dnf", nil, []string{"install", "-y"},
		[]string{"gdb"}, []string{"openmpi", "openmpi-devel", "gcc", "glibc-devel"}},
	{"zypper", nil, []string{"--non-interactive", "install"},
		[]string{"gdb"}, []string{"openmpi4", "openmpi4-devel", "gcc", "glibc-devel"}},
}

// mpiFolders are where distributions put Open MPI that do not put it into PATH:
// Fedora and openSUSE.
var mpiFolders = []string{"/usr/lib64/openmpi/bin", "/usr/lib64/mpi/gcc/openmpi*/bin"}

// installPatience is how long a package manager may take.
const installPatience = 5 * time.Minute

// provide finds the tools, after installing what is missing.
func (d *demo) provide(ctx context.Context) (*Tools, error) {
	t, noGDB, noMPI := FindTools(ctx)
	if noGDB == nil && noMPI == nil {
		return t, nil
	}
	if noGDB != nil && !errors.Is(noGDB, gdbrun.ErrNone) {
		return nil, noGDB
	}
	if noGDB != nil {
		d.say("  Missing: %v.\n", gdbrun.ErrNone)
	}
	if noMPI != nil {
		d.say("  Missing: %v.\n", noMPI)
	}
	if err := d.install(ctx, noGDB != nil, noMPI != nil); err != nil {
		return nil, err
	}
	if t, noGDB, noMPI = FindTools(ctx); noGDB != nil {
		return nil, noGDB
	}
	return t, noMPI
}

// FindTools looks for the tools. What is missing has its error: gdb's, or Open MPI's.
func FindTools(ctx context.Context) (t *Tools, noGDB, noMPI error) {
	t = &Tools{}
	t.gdb, noGDB = gdbrun.Find("")
	noMPI = t.findMPI(ctx)
	return t, noGDB, noMPI
}

// findMPI looks for an Open MPI that can compile. Debian's name for it comes
// first, since a plain mpicc can be of any MPI.
func (t *Tools) findMPI(ctx context.Context) error {
	candidates := []string{"mpicc.openmpi", "mpicc"}
	for _, pattern := range mpiFolders {
		found, _ := filepath.Glob(filepath.Join(pattern, "mpicc"))
		candidates = append(candidates, found...)
	}
	why := errors.New("there is no mpicc of Open MPI")
	for _, name := range candidates {
		mpicc, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, mpicc, "--showme:version").CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("Open MPI")) {
			continue // another MPI
		}
		folder, base := filepath.Split(mpicc)
		mpirun, err := exec.LookPath(filepath.Join(folder, strings.Replace(base, "mpicc", "mpirun", 1)))
		if err != nil {
			why = fmt.Errorf("there is no mpirun beside %s", mpicc)
			continue
		}
		t.mpicc, t.mpirun = mpicc, mpirun
		if why = t.check(ctx); why == nil {
			return nil
		}
	}
	return why
}

// check makes sure that the compiler works: the wrapper alone does not say so.
func (t *Tools) check(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, t.mpicc, "-x", "c", "-fsyntax-only", "-")
	cmd.Stdin = strings.NewReader("#include <mpi.h>\n#include <stdio.h>\n")
	cmd.Env = t.Environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s can't compile: %s", t.mpicc, firstLine(out, err))
	}
	return nil
}

// Environment is one that Open MPI works in as root and outside PATH.
func (t *Tools) Environment() []string {
	env := append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	folder := filepath.Dir(t.mpirun)
	if slices.Contains(filepath.SplitList(os.Getenv("PATH")), folder) {
		return env
	}
	above := filepath.Dir(folder)
	return append(env, before("PATH", folder), before("LD_LIBRARY_PATH", filepath.Join(above, "lib"), filepath.Join(above, "lib64")))
}

// before is a setting for a list of paths with folders before what it has. An empty
// entry of such a list is the working directory, and so there is none.
func before(name string, folders ...string) string {
	folders = append(folders, filepath.SplitList(os.Getenv(name))...)
	folders = slices.DeleteFunc(folders, func(folder string) bool { return folder == "" })
	return name + "=" + strings.Join(folders, string(filepath.ListSeparator))
}

// install installs gdb, Open MPI or both.
func (d *demo) install(ctx context.Context, gdb, mpi bool) error {
	k := slices.IndexFunc(packagers, func(p packager) bool { _, err := exec.LookPath(p.program); return err == nil })
	if k < 0 {
		return errors.New("it can't be installed without apt-get, dnf or zypper")
	}
	p := packagers[k]
	prefix := []string{}
	if os.Geteuid() != 0 {
		if _, err := exec.LookPath("sudo"); err != nil {
			return fmt.Errorf("%s needs root, and there is no sudo", p.program)
		}
		prefix = append(prefix, "sudo")
		if !isatty.IsTerminal(os.Stdin.Fd()) {
			prefix = append(prefix, "-n") // nobody is there to type a password
		}
		prefix = append(prefix, "env", "DEBIAN_FRONTEND=noninteractive") // which sudo drops
	}
	packages := []string{}
	if gdb {
		packages = append(packages, p.gdb...)
	}
	if mpi {
		packages = append(packages, p.mpi...)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, installPatience, fmt.Errorf("%s took longer than %s", p.program, installPatience))
	defer cancel()
	d.say("  Installing it, which may take a minute:\n")
	if p.refresh != nil {
		// Not fatal: the list may be stale in parts that are not needed.
		_ = d.manage(ctx, slices.Concat(prefix, []string{p.program}, p.refresh))
	}
	return d.manage(ctx, slices.Concat(prefix, []string{p.program}, p.install, packages))
}

// manage runs a package manager. sudo may ask for a password on the terminal.
func (d *demo) manage(ctx context.Context, command []string) error {
	d.command("%s", strings.Join(command, " "))
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.Stdin = os.Stdin
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = gdbrun.EndPatience
	out, err := cmd.CombinedOutput()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("`%s' failed: %s", strings.Join(command, " "), lastLine(out, err))
	}
	return nil
}

// firstLine and lastLine are what a program said, or else how it ended.
func firstLine(out []byte, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return err.Error()
	}
	return line
}

func lastLine(out []byte, err error) string {
	text := strings.TrimSpace(string(out))
	return firstLine([]byte(text[strings.LastIndexByte(text, '\n')+1:]), err)
}
