package launch

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/dll/trust"
)

// status is what /proc/PID/status says of whose a process is and how it is called.
type status struct {
	// owner is the user that it runs as, -1 if that is not one alone (a program
	// that is setuid) or not known.
	owner int
	// ids are its process ids, from this machine's (or container's) to that in its
	// own process namespace; empty if they are not known.
	ids []int
	// namespace is the kernel's name of its process namespace, empty if it can't be seen.
	namespace string
}

func (s *system) status(p *process) *status {
	if p.status == nil {
		p.status = s.readStatus(p.pid)
	}
	return p.status
}

func (s *system) readStatus(pid int) *status {
	out := &status{owner: -1, namespace: s.proc.Namespace(pid, "pid")}
	told, err := s.proc.Status(pid)
	if err != nil {
		return out
	}
	out.ids = told.IDs
	// Real, effective, saved, and of the file system.
	if u := told.Users; len(u) == 4 && u[0] == u[1] && u[0] == u[2] {
		out.owner = u[0]
	}
	return out
}

// speaksFor is true if what one process says of another is taken for true: that
// it is a rank of its job. A debugger is attached to a rank, and stops it, so only
// root may say that of other users' processes.
func (s *system) speaksFor(speaker, p *process) bool {
	owner := s.status(speaker).owner
	return speaker == p || owner == 0 || owner >= 0 && owner == s.status(p).owner
}

// unheard says why a launcher's word on a process is not taken.
func (s *system) unheard(launcher, p *process, rank int32) string {
	return fmt.Sprintf("process %d (%s) is not taken for rank %d: the launcher %s says so, which is %s's, and the process is %s's",
		p.pid, p.name, rank, launcher, trust.UserName(s.status(launcher).owner), trust.UserName(s.status(p).owner))
}

// listed is the process that an entry of a launcher's table means, nil if it is not
// to be seen. The launcher knows processes by their ids in its own process
// namespace, which is another than this one if it runs in a container.
func (s *system) listed(launcher *process, e entry) *process {
	own := s.status(launcher)
	level := len(own.ids) - 1
	if level < 1 {
		return s.processes[e.pid]
	}
	if s.byID == nil {
		s.byID = map[inNamespace][]*process{}
		for _, p := range s.processes {
			for level, id := range s.status(p).ids {
				if level > 0 {
					at := inNamespace{level, id}
					s.byID[at] = append(s.byID[at], p)
				}
			}
		}
	}
	candidates := s.byID[inNamespace{level, e.pid}]
	// Several namespaces, beside each other, have this id: it is one's own.
	i := slices.IndexFunc(candidates, func(p *process) bool { return s.isWithin(p, own.namespace) })
	if i < 0 {
		return nil
	}
	return candidates[i]
}

// inNamespace is a process id in a process namespace so many levels down.
type inNamespace struct{ level, id int }

// isWithin is true if a process is in a process namespace, or one of those below it.
func (s *system) isWithin(p *process, namespace string) bool {
	if namespace == "" {
		return false
	}
	return slices.ContainsFunc(append([]*process{p}, p.ancestors()...), func(a *process) bool { return s.status(a).namespace == namespace })
}
