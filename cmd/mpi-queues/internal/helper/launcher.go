package helper

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// explained replaces the error for a process without an MPI library by a more helpful one if the process is a launcher, or if the debugger
// has not read all of its files.
func (s *sources) explained(info inferior.Info, err error) error {
	var u *read.UnreadableError
	if !errors.As(err, &u) || u.MPI != "" || u.Final {
		return err
	}
	if said := cmp.Or(s.launcherWords(info), unreadFiles(procfs.Host, info)); said != "" {
		return read.Unreadable("", "%s", said)
	}
	return err
}

// unreadFiles says which files of a live process the debugger has not read, and why. It is empty if there are none, or if that is unknown.
func unreadFiles(host procfs.FS, info inferior.Info) string {
	if info.Kind != "live" || info.PID <= 0 {
		return ""
	}
	known := map[string]bool{filepath.Base(info.Executable): true}
	for _, path := range info.Libraries {
		known[filepath.Base(path)] = true
		// The debugger has the name by which the loader has opened a library, and the kernel the file's own.
		if file, err := filepath.EvalSymlinks(strings.TrimPrefix(path, "target:")); err == nil {
			known[filepath.Base(file)] = true
		}
	}
	first, more := "", 0
	isProgram := true
	for m, err := range host.Mappings(info.PID) {
		if err != nil {
			return ""
		}
		if !m.IsCode || !strings.HasPrefix(m.Path, "/") {
			continue
		}
		path, _ := strings.CutSuffix(m.Path, procfs.Deleted)
		name := filepath.Base(path)
		isFile := isProgram || strings.Contains(name, ".so")
		isProgram = false
		switch {
		case !isFile || known[name]:
		case first == "":
			first = m.Path
		default:
			more++
		}
		known[name] = true
	}
	if first == "" {
		return ""
	}
	if strings.Contains(info.Executable, "/valgrind/") {
		return fmt.Sprintf("process %d runs under Valgrind, so the debugger sees only Valgrind itself: run `%s', and in it "+
			"type `target remote | vgdb --pid=%d' and `mpi-queues'", info.PID, printable.Line(string(commandline.Quote("gdb", first))), info.PID)
	}
	others := ""
	if more > 0 {
		others = fmt.Sprintf(" and %d more of its files", more)
	}
	return fmt.Sprintf("can't tell whether process %d uses MPI, because the debugger has not read %s%s: %s",
		info.PID, printable.Line(first), others, whyUnread(host, info.PID, first))
}

// whyUnread is why a debugger does not read a file of a process.
func whyUnread(host procfs.FS, pid int, path string) string {
	if strings.HasSuffix(path, procfs.Deleted) {
		return "it was deleted or replaced while the process ran"
	}
	f, err := os.Open(path)
	if err == nil {
		_ = f.Close()
	}
	switch {
	case isContained(host, pid):
		return fmt.Sprintf("the process is in a container, whose files are in /proc/%d/root: `mpi-attach %d' in gdb reads them there", pid, pid)
	case err != nil:
		return fmt.Sprintf("it can't be opened (%v)", errors.Unwrap(err))
	}
	return "the debugger's output says why"
}

// launcherWords say of a process that it has launched a job and is no rank; empty if it has not.
func (s *sources) launcherWords(info inferior.Info) string {
	if info.Kind != "live" || info.PID <= 0 {
		return ""
	}
	job, err := s.jobs.Find(info.PID)
	if err != nil || job.Self != nil || len(job.Ranks) == 0 {
		return ""
	}
	what := fmt.Sprintf("process %d has started the MPI job of process %d (%s)", info.PID, job.Launcher, job.Name)
	if job.Launcher == info.PID {
		what = fmt.Sprintf("process %d (%s) is the launcher of an MPI job", info.PID, job.Name)
	}
	return fmt.Sprintf("%s and none of its ranks, which have the queues: in gdb `mpi-attach %d' attaches to them, "+
		"and in a shell `mpi-queues dump %d' shows them", what, info.PID, info.PID)
}

// isContained reports whether a process is known to see other file systems than this one (mount_namespaces(7)).
func isContained(host procfs.FS, pid int) bool {
	theirs, ours := host.Namespace(pid, "mnt"), host.Namespace(os.Getpid(), "mnt")
	return theirs != "" && ours != "" && theirs != ours
}
