package launch

import (
	"net"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// SlurmName begins the name of a step of Slurm's, "slurm:JOB.STEP".
const SlurmName = "slurm:"

// kindNames begin the names of jobs.
var kindNames = map[kind]string{pmix: "pmix:", slurm: SlurmName, pmi: "hydra:"}

// maxName is the length of a job's name at most, in bytes: PMIx's have 255 (PMIX_MAX_NSLEN), and Hydra's contain a host's name.
const maxName = 300

// isName reports whether a text may be a job's name. The environment of a rank may contain anything, and the name is shown,
// and sent to other machines as a word of a command line.
func isName(text string) bool { return len(text) <= maxName && text == printable.Line(text) }

// name puts into j what tells a group's job from others on all machines: PMIx's namespace, Slurm's step, and where
// Hydra's daemons have their launcher.
func (s *system) name(j *Job, g *group) {
	add := func(k kind, text string) {
		if name := kindNames[k] + text; isName(name) {
			j.Names = append(j.Names, name)
		} else {
			j.HasOddName = true
		}
	}
	top := g.first()
	own, _ := s.seat(top, g.kind)
	if g.kind != pmi {
		add(g.kind, g.name)
	} else if at := s.control(top); at != "" {
		add(pmi, at)
	}
	// A step whose ranks have the same numbers is the same job.
	if at, has := s.seat(top, slurm); g.kind != slurm && has && at.rank == own.rank {
		add(slurm, at.job)
	}
}

// softwareOf returns the software whose launcher started a group, as far as the environment of its ranks tells.
func (s *system) softwareOf(g *group) string {
	top := g.first()
	own, _ := s.seat(top, g.kind)
	at, isInStep := s.seat(top, slurm)
	switch {
	case g.kind == pmix && s.env(top, "OMPI_COMM_WORLD_RANK") != "":
		return mqs.OpenMPILauncher
	case g.kind == pmi && s.env(top, "HYDI_CONTROL_FD") != "":
		return mqs.HydraLauncher
	case isInStep && at.rank == own.rank: // with its own server of PMIx or PMI
		return mqs.SlurmLauncher
	}
	return ""
}

// nodeOf is what Slurm calls the node of a group's ranks; empty if it does not say, or has several on this machine.
func (s *system) nodeOf(g *group) string {
	node := s.env(g.first(), "SLURMD_NODENAME")
	for _, top := range g.tops {
		if s.env(top, "SLURMD_NODENAME") != node {
			return ""
		}
	}
	return node
}

// control is where the launcher of a rank's daemon listens, and which of its groups of ranks that is: they are
// in the command line of each of its daemons, "--control-port HOST:PORT" and "--pgid NUMBER" (MPICH 4.0, hydra_pmi_proxy). It is empty of what has been spawned, which a daemon may have beside
// the ranks that it was started for.
func (s *system) control(top *process) string {
	if top.parent == nil || top.parent.pid <= 1 || s.env(top, "PMI_SPAWNED") != "" {
		return ""
	}
	words, err := s.proc.CommandLine(top.parent.pid)
	if err != nil {
		return ""
	}
	return controlOf(words)
}

// controlOf reads it of a daemon's command line, "HOST:PORT.NUMBER".
func controlOf(words []string) string {
	port, group := "", ""
	for i, word := range words[:max(len(words)-1, 0)] {
		switch word {
		case "--control-port":
			port = words[i+1]
		case "--pgid":
			group = words[i+1]
		}
	}
	host, _, err := net.SplitHostPort(port)
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:"
	address := net.ParseIP(host)
	if err != nil || host == "" || host == "localhost" || address != nil && address.IsLoopback() || strings.Trim(port+group, plain) != "" {
		return ""
	}
	return port + "." + group
}
