package starter

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/mpi-queues/mpi-queues/mqs/dll/locate"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// maxAncestors bounds the number of ancestors between a rank and its starter: a node's daemon, shells
// and wrappers.
const maxAncestors = 8

// Find reads the ancestors of a live process, as [From] does.
func Find(pid int) (found []Starter, unread []error) {
	above, err := parent(pid)
	if err != nil {
		return nil, []error{err}
	}
	return From(above)
}

// From reads a live process and its ancestors, the nearest first. It returns those that name a DLL or ask
// that queues not be shown; mostly there are none. unread are the errors of processes that could not be
// read, for the debug log. Only root reads other users' processes.
func From(pid int) (found []Starter, unread []error) {
	for range maxAncestors {
		if pid <= 1 {
			break
		}
		info, err := os.Stat(procfs.Host.Path(pid))
		if err != nil {
			return found, append(unread, err)
		}
		if user := os.Geteuid(); user == 0 || int(info.Sys().(*syscall.Stat_t).Uid) == user {
			f, err := read(pid)
			if err != nil {
				unread = append(unread, fmt.Errorf("process %d: %w", pid, err))
			} else if len(f.Candidates) > 0 || f.Ignore || len(f.Problems) > 0 {
				found = append(found, Starter{pid, f})
			}
		}
		if pid, err = parent(pid); err != nil {
			return found, append(unread, err)
		}
	}
	return found, unread
}

// parent returns the parent of a process; 0 if it is outside of this container.
func parent(pid int) (int, error) {
	stat, err := procfs.Host.Stat(pid)
	return stat.Parent, err
}

// read reads one process.
func read(pid int) (locate.Found, error) {
	p, err := procmem.Open(pid, locate.Symbols...)
	if err != nil {
		return locate.Found{}, err
	}
	defer p.Close()
	return locate.Read(inferior.NewReader(context.Background(), p), p.SymbolSize(locate.DLLName))
}
