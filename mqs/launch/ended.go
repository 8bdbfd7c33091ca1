package launch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// ended returns the ranks of a job that have exited on this machine. Hydra's daemon keeps no list of its ranks that can be read, but they
// are its children, and their environment has the size of the job. So if the whole job runs on this machine, the daemons have started all
// ranks, and each remaining child is a known rank, then the ranks that are missing have exited.
func (s *system) ended(g *group) []int32 {
	if g.kind != pmi || !g.worldSize.Known || len(g.tops) >= int(g.worldSize.Value) || s.sizeHere(g) != g.worldSize || s.softwareOf(g) != mqs.HydraLauncher {
		return nil
	}
	// Spawned jobs can't be distinguished, so it is unknown which of them a missing rank belongs to.
	if s.env(g.first(), "PMI_SPAWNED") != "" || slices.ContainsFunc(s.groups(), func(o *group) bool { return o != g && o.server == g.server }) {
		return nil
	}
	known := map[int]bool{}
	daemons := map[*process]bool{}
	for _, top := range g.tops {
		known[top.pid], daemons[top.parent] = true, true
	}
	for daemon := range daemons {
		if daemon == nil || !s.hasStartedAll(daemon) {
			return nil
		}
		// List the children again: the daemon may have started more since the processes were listed.
		children := s.proc.Children(daemon.pid)
		if len(children) == 0 {
			return nil
		}
		for _, pid := range children {
			if stat, err := s.proc.Stat(pid); !known[pid] && err == nil && !stat.HasEnded() {
				return nil
			}
		}
	}
	var out []int32
	for rank := range g.worldSize.Value {
		if g.tops[rank] == nil {
			out = append(out, rank)
		}
	}
	return out
}

// hasStartedAll reports whether a daemon of Hydra's is known to have started all of its ranks. It starts them in the order of their
// numbers on this machine, and waits for messages (poll) afterwards.
func (s *system) hasStartedAll(daemon *process) bool {
	if strings.Contains(s.proc.WaitChannel(daemon.pid), "poll") {
		return true
	}
	return slices.ContainsFunc(daemon.children, func(p *process) bool {
		last, err := strconv.Atoi(s.env(p, "MPI_LOCALRANKID"))
		return err == nil && s.env(p, "MPI_LOCALNRANKS") == strconv.Itoa(last+1)
	})
}
