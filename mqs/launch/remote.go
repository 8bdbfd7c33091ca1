package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Remote is another host that a launcher has reached by a program, as ssh.
type Remote struct {
	// Host is what the launcher calls it.
	Host string
	// Words are the program's command line before the host.
	Words []string
}

// daemons are what launchers start on other hosts, by the command line of the program that reaches them (Open MPI 4.1's
// orted, PRRTE's prted, and Hydra's of MPICH 4.0).
var daemons = map[string]bool{"orted": true, "prted": true, "hydra_pmi_proxy": true}

// mostRemotes bounds how many are told of.
const mostRemotes = 20_000

// Way is how a launcher has reached other hosts.
type Way struct {
	// Remotes are the hosts that it has reached by a program as ssh, or was told to reach: its daemons there may have
	// reached more.
	Remotes []Remote
	// Slurm is the job of Slurm's that it runs in, empty if it runs in none.
	Slurm string
}

// IsKnown is true if there is one.
func (w *Way) IsKnown() bool { return len(w.Remotes) > 0 || w.Slurm != "" }

// WayOf is that of a launcher of this user's, or of a daemon of one. A launcher of another user's is not asked, who can
// have its command lines be anything.
func WayOf(launcher int) Way {
	w, _ := wayOf(procfs.Host, launcher, os.Geteuid())
	return w
}

// FindFar returns the job of a launcher that has no rank on this machine: how its daemons were started tells the job's
// name. It is nil if nothing does.
func FindFar(launcher int) *Job {
	w, name := wayOf(procfs.Host, launcher, os.Geteuid())
	if name == "" || !w.IsKnown() {
		return nil
	}
	own, _ := procfs.Host.Name(launcher)
	return &Job{Launcher: launcher, Name: printable.Line(own), Names: []string{name}}
}

// wayOf also returns the name that the job has on all hosts, empty if it is not known.
func wayOf(proc procfs.FS, launcher, user int) (w Way, name string) {
	isOwn := func(pid int) bool {
		s, err := proc.Status(pid)
		return err == nil && len(s.Users) == 4 && s.Users[0] == user && s.Users[1] == user && s.Users[2] == user
	}
	if launcher <= 1 || !isOwn(launcher) {
		return w, ""
	}
	add := func(r Remote) {
		if len(w.Remotes) < mostRemotes && !slices.ContainsFunc(w.Remotes, func(other Remote) bool { return sameName(withoutUser(other.Host), withoutUser(r.Host)) }) {
			w.Remotes = append(w.Remotes, r)
		}
	}
	var others [][]string
	for _, pid := range proc.Children(launcher) {
		words, err := proc.CommandLine(pid)
		if err != nil || len(words) == 0 || !isOwn(pid) {
			continue
		}
		at := slices.IndexFunc(words, startsDaemon)
		if at < 0 {
			others = append(others, words)
			continue
		}
		if name == "" {
			name = nameFor(words[at:])
		}
		if r, is := remoteOf(words, at); is {
			add(r)
		}
	}
	if id := environmentOf(proc, launcher, "SLURM_JOB_ID"); strings.Trim(id, "0123456789") == "" {
		w.Slurm = id
	}
	if w.Slurm != "" {
		return w, name // it has reached the hosts by srun
	}
	for _, r := range namedBy(proc, launcher, others) {
		if len(w.Remotes) > 0 {
			r.Words = w.Remotes[0].Words
		}
		add(r)
	}
	return w, name
}

// withoutUser is the host of "USER@HOST".
func withoutUser(host string) string { return host[strings.LastIndexByte(host, '@')+1:] }

func environmentOf(proc procfs.FS, pid int, name string) string {
	values, err := proc.Environment(pid, []string{name})
	if err != nil {
		return ""
	}
	return values[name]
}

// nameFor reads a daemon's command line for the name of the job that it is to start. PRRTE calls the jobs of a launcher
// "NAME@NUMBER": its daemons are number 0, and its program's is 1.
func nameFor(words []string) string {
	if at := controlOf(words); at != "" && isName(kindNames[pmi]+at) {
		return kindNames[pmi] + at
	}
	const variable, ofDaemons = "ess_base_nspace", "@0"
	fields := strings.FieldsFunc(strings.Join(words, " "), func(c rune) bool { return strings.ContainsRune(" \"'", c) })
	at := slices.Index(fields, variable)
	if at < 0 || at+1 == len(fields) {
		return ""
	}
	own, is := strings.CutSuffix(fields[at+1], ofDaemons)
	if name := kindNames[pmix] + own + "@1"; is && own != "" && isName(name) {
		return name
	}
	return ""
}

// remoteOf reads a command line "PROGRAM OPTION... HOST COMMAND", whose command begins at a word.
func remoteOf(words []string, at int) (Remote, bool) {
	if at < 2 {
		return Remote{}, false
	}
	host := words[at-1]
	if CheckHost(host) != nil || filepath.Base(words[0]) == "srun" {
		return Remote{}, false
	}
	return Remote{host, words[:at-1]}, true
}

func startsDaemon(word string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(word, func(c rune) bool { return strings.ContainsRune(" ;\"'", c) }), func(part string) bool { return daemons[filepath.Base(part)] })
}
