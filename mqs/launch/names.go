package launch

import (
	"net"
	"strings"
)

// SlurmName begins the name of a step of Slurm's, "slurm:JOB.STEP".
const SlurmName = "slurm:"

// kindNames begin the names of jobs.
var kindNames = map[kind]string{pmix: "pmix:", slurm: SlurmName, pmi: "hydra:"}

// names are what tells a group's job from others on all machines: PMIx's namespace, Slurm's step, and where
// Hydra's daemons have their launcher.
func (s *system) names(g *group) []string {
	top := g.first()
	own, _ := s.seat(top, g.kind)
	var names []string
	if g.kind != pmi {
		names = append(names, kindNames[g.kind]+g.name)
	} else if at := s.control(top); at != "" {
		names = append(names, kindNames[pmi]+at)
	}
	// A step whose ranks have the same numbers is the same job.
	if at, has := s.seat(top, slurm); g.kind != slurm && has && at.rank == own.rank {
		names = append(names, kindNames[slurm]+at.job)
	}
	return names
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
	if err != nil || host == "" || host == "localhost" || address != nil && address.IsLoopback() || strings.Trim(port+group, plain) != "" || len(port) > maxControl {
		return ""
	}
	return port + "." + group
}

// maxControl is how long the address may be: it has a host's name.
const maxControl = 300
