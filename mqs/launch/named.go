package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// hostOptions are those of mpirun, prterun and mpiexec that list hosts (Open MPI 4.1 to 6.0, PRRTE; MPICH 4.0 to 5.0).
var hostOptions = []string{"--host", "-host", "-H", "--hosts", "-hosts"}

// agentSettings are the parameters of Open MPI's and PRRTE's launchers that name what is to be taken for ssh, and those of
// their environments.
var (
	agentSettings  = []string{"plm_ssh_agent", "plm_rsh_agent"}
	agentVariables = []string{"PRTE_MCA_plm_ssh_agent", "PRTE_MCA_plm_rsh_agent", "OMPI_MCA_plm_rsh_agent"}
)

// plainAgent reaches a host if nothing is said, as launchers do. It asks nobody for a password: what has started the daemons may
// have been no ssh.
var plainAgent = []string{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"}

// namedBy returns the other hosts that a launcher's own command line lists, each with what reaches it. A later PRRTE
// leaves no process of that. The words from the program on are not the launcher's: where the program can't be told, by a process
// that the launcher has started here, nothing is.
func namedBy(proc procfs.FS, launcher int, children [][]string) []Remote {
	words, err := proc.CommandLine(launcher)
	if err != nil {
		return nil
	}
	end := -1
	for _, c := range children {
		if at := slices.Index(words, c[0]); at > 0 && (end < 0 || at < end) {
			end = at
		}
	}
	if end < 0 {
		return nil
	}
	words = words[:end]
	agent := agentOf(proc, launcher, words)
	isOwn := ownNames()
	var out []Remote
	add := func(entry string) {
		host, _, _ := strings.Cut(entry, ":") // and how many ranks there may be
		if len(out) < mostRemotes && CheckHost(host) == nil && !isOwn(withoutUser(host)) {
			out = append(out, Remote{host, agent})
		}
	}
	lists := valuesOf(words, hostOptions)
	for _, list := range lists {
		for entry := range strings.SplitSeq(list, ",") {
			add(entry)
		}
	}
	if len(lists) == 0 { // else they choose from a file's hosts
		for _, file := range hostFiles(proc, launcher, words) {
			hostsOfFile(proc, launcher, file, add)
		}
	}
	return out
}

// valuesOf are what follows some options, in a word of its own or behind "=".
func valuesOf(words, options []string) (values []string) {
	for i, word := range words {
		option, value, isOne := strings.Cut(word, "=")
		switch {
		case !slices.Contains(options, option):
		case isOne:
			values = append(values, value)
		case i+1 < len(words):
			values = append(values, words[i+1])
		}
	}
	return values
}

// agentOf is what a launcher takes for ssh, by its command line or environment.
func agentOf(proc procfs.FS, launcher int, words []string) []string {
	text := ""
	for i, word := range words {
		if i+1 < len(words) && slices.Contains(agentSettings, word) {
			text = words[i+1]
		}
	}
	for _, name := range agentVariables {
		if text == "" {
			text = environmentOf(proc, launcher, name)
		}
	}
	first, _, _ := strings.Cut(text, ":") // the one that is there of several
	if agent := strings.Fields(first); len(agent) > 0 && filepath.Base(agent[0]) != "srun" {
		return agent
	}
	return plainAgent
}
