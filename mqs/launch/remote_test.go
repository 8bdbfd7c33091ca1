package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Command lines as launchers have been seen to make them, and others.
func TestRemotes(t *testing.T) {
	for line, want := range map[string]string{
		`/usr/bin/ssh|-x|nodeb| orted -mca ess "env" -mca ess_base_jobid "1501102080"`:                                                                    "nodeb by /usr/bin/ssh -x",
		`/bin/sh|/tmp/agent|elsewhere|PRTE_PREFIX=/usr;export PRTE_PREFIX;/usr/bin/prted --prtemca ess "env" --prtemca ess_base_nspace "prterun-vm-57@0"`: "elsewhere by /bin/sh /tmp/agent for pmix:prterun-vm-57@1",
		`ssh|-x|me@nodeb|"/usr/bin/hydra_pmi_proxy"|--control-port|nodea:37041|--pgid|0`:                                                                  "me@nodeb by ssh -x for hydra:nodea:37041.0",
		`srun|-N|2|prted|--prtemca|ess_base_nspace|prterun-vm-57@0`:                                                                                       " for pmix:prterun-vm-57@1",
		`srun|-N|2|--input|none|hydra_pmi_proxy|--control-port|vm:1|--pgid|0`:                                                                             " for hydra:vm:1.0",
		`srun|--nodes=1|--ntasks=1|orted|-mca|ess|slurm`:                                                                                                  "",
		`/usr/bin/hydra_pmi_proxy|--control-port|`:                                                                                                        "",
		`./prog|orted`:        "",
		"ssh|node b|orted":    "",
		"ssh|-x|nodeb|./prog": "",
		"":                    "",
	} {
		s := machine(t, madeUp{pid: 20, parent: 1, name: "mpirun"}, madeUp{pid: 21, parent: 20, name: "ssh"}, madeUp{pid: 22, parent: 20, name: "ssh", uid: 7})
		tasks := filepath.Join(string(s.proc), "20", "task", "20")
		if err := os.MkdirAll(tasks, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tasks, "children"), []byte("21 22 "), 0o600); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(line, "|", "\x00") + "\x00"
		for pid, text := range map[string]string{"21": text, "22": strings.ReplaceAll(text, "nodeb", "noded")} {
			if err := os.WriteFile(filepath.Join(string(s.proc), pid, "cmdline"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		w, name := wayOf(s.proc, 20, 0)
		for _, r := range w.Remotes {
			got += r.Host + " by " + strings.Join(r.Words, " ")
		}
		if name != "" {
			got += " for " + name
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
		if others, name := wayOf(s.proc, 20, 7); others.IsKnown() || name != "" {
			t.Errorf("of another user's launcher: %+v, %q", others, name)
		}
	}
}
