package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
		s := machine(t, madeUp{pid: 20, parent: 1, name: "prterun"}, madeUp{pid: 21, parent: 20, name: "solver"})
		tasks := filepath.Join(string(s.proc), "20", "task", "20")
		if err := os.MkdirAll(tasks, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"20/task/20/children": "21 ", "20/cmdline": strings.ReplaceAll(line, "|", "\x00") + "\x00", "21/cmdline": program + "\x00mode\x00"} {
			if err := os.WriteFile(filepath.Join(string(s.proc), name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w, _ := wayOf(s.proc, 20, 0)
		var got []string
		for _, r := range w.Remotes {
			words := strings.Join(r.Words, " ")
			if words == strings.Join(plainAgent, " ") {
				words = "plain"
			}
			got = append(got, r.Host+" by "+words)
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%q: %q, want %q", line, text, want)
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
