package launch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// launched is a machine with a launcher of this command line, whose words have "|" between them, that has started a program.
func launched(t *testing.T, line, program string) *system {
	t.Helper()
	s := machine(t, madeUp{pid: 20, parent: 1, name: "prterun"}, madeUp{pid: 21, parent: 20, name: "solver"})
	for name, text := range map[string]string{"20/task/20/children": "21 ", "20/cmdline": strings.ReplaceAll(line, "|", "\x00") + "\x00", "21/cmdline": program + "\x00mode\x00"} {
		put(t, s, name, text)
	}
	return s
}

// put writes a file of a machine's processes.
func put(t *testing.T, s *system, name, text string) {
	t.Helper()
	path := filepath.Join(string(s.proc), name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// reached are the hosts that the launcher has reached, each with what by.
func reached(s *system) string {
	w, _ := wayOf(s.proc, 20, 0)
	var out []string
	for _, r := range w.Remotes {
		words := strings.Join(r.Words, " ")
		if words == strings.Join(plainAgent, " ") {
			words = "plain"
		}
		out = append(out, r.Host+" by "+words)
	}
	return strings.Join(out, "; ")
}

// Hosts that a launcher was told by its own words are those that it has reached, as long as nothing else says so; what
// follows the program is the program's.
func TestNamed(t *testing.T) {
	const program = "/home/me/solver"
	for line, want := range map[string]string{
		"prterun|--host|nodeb:2,nodec|-n|4|/home/me/solver":                                     "nodeb by plain; nodec by plain",
		"prterun|--host|localhost,nodeb|--host|nodeb,noded|nice|/home/me/solver":                "nodeb by plain; noded by plain",
		"mpirun|-H=nodeb|--prtemca|plm_ssh_agent|/opt/reach -q|/home/me/solver|--host|database": "nodeb by /opt/reach -q",
		"mpiexec|-hosts|me@nodeb,nodeb|/home/me/solver":                                         "me@nodeb by plain",
		"mpirun|--mca|plm_rsh_agent|ssh : rsh|--host|nodeb|/home/me/solver":                     "nodeb by ssh",
		"mpirun|--mca|plm_ssh_agent|srun|--host|nodeb|/home/me/solver":                          "nodeb by plain",
		"mpirun|--host|node b,-o,$(x),nodec|/home/me/solver":                                    "nodec by plain",
		"mpirun|-n|2|/home/me/solver|--host|database":                                           "",
		"mpirun|--host|nodeb|other":                                                             "",
		"mpirun|/home/me/solver|--host":                                                         "",
		"":                                                                                      "",
		"mpirun|--host|nodeb|--prtemca|plm_ssh_agent|ssh|--host|" + strings.Repeat("a,", 3) + "|/home/me/solver": "nodeb by ssh; a by ssh",
	} {
		s := launched(t, line, program)
		if got := reached(s); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
		// In a job of Slurm's, it has reached them by srun.
		if err := os.WriteFile(filepath.Join(string(s.proc), "20", "environ"), []byte("SLURM_JOB_ID=7\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
		if w, _ := wayOf(s.proc, 20, 0); len(w.Remotes) > 0 || w.Slurm != "7" {
			t.Errorf("%q, in a job of Slurm's: %+v", line, w)
		}
	}
}

// A launcher may have its hosts from a file, in its own working folder or below its own root.
func TestHostFile(t *testing.T) {
	const program = "/home/me/solver"
	for line, want := range map[string]string{
		"prterun|--hostfile|hosts|/home/me/solver":                        "nodeb by plain; me@nodec by plain; noded by plain",
		"prterun|--hostfile=hosts|/home/me/solver":                        "nodeb by plain; me@nodec by plain; noded by plain",
		"mpirun|-machinefile|/etc/hosts.mpi|/home/me/solver":              "nodex by plain",
		"mpiexec|-f|hosts|-n|4|/home/me/solver":                           "nodeb by plain; me@nodec by plain; noded by plain",
		"mpirun|--mca|orte_default_hostfile|hosts|/home/me/solver":        "nodeb by plain; me@nodec by plain; noded by plain",
		"mpirun|--hostfile|hosts|--host|noded|/home/me/solver":            "noded by plain",
		"mpirun|--hostfile|none|/home/me/solver":                          "",
		"mpirun|--hostfile|folder|/home/me/solver":                        "",
		"mpirun|--hostfile|pipe|/home/me/solver":                          "",
		"mpirun|/home/me/solver|--hostfile|hosts":                         "nodey by plain",
		"mpirun|--hostfile|hosts|--mca|plm_rsh_agent|rsh|/home/me/solver": "nodeb by rsh; me@nodec by rsh; noded by rsh",
	} {
		s := launched(t, line, program)
		put(t, s, "20/cwd/hosts", "# all that there are\nnodeb:2\n\n  me@nodec slots=4 max_slots=8 # the large one\n^nodee\n+n1\n-oProxyCommand=x\nlocalhost\nnodeb\nnoded")
		put(t, s, "20/root/etc/hosts.mpi", "nodex\n")
		put(t, s, "20/cwd/folder/hosts", "")
		if err := syscall.Mkfifo(filepath.Join(string(s.proc), "20/cwd/pipe"), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(want, "nodey") {
			put(t, s, "20/cwd/other", "nodey")
			put(t, s, "20/environ", "HYDRA_HOST_FILE=other\x00")
		}
		if got := reached(s); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
