//go:build live || matrix || full

package live

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/hosts"
)

// Spread is a job of a program's mode whose ranks are on hosts in turn.
type Spread struct {
	*hosts.Hosts
	// Launcher is its process id on the first host.
	Launcher int
	// Via is the engine by which the product reaches hosts; empty for what it finds out itself.
	Via string
	// Accounts are those of the ranks, in order.
	Accounts []*expect.Account
	// Env are assignments for the product's shell.
	Env string

	work *Workspace
}

// The hosts that jobs are spread over.
const (
	FirstHost  = "nodea"
	SecondHost = "nodeb"
)

// Spread starts one on the hosts named, or else on two, which ends with the test. launcher are the launcher's words that the
// hosts need.
func (w *Workspace) Spread(t *testing.T, launcher func(h *hosts.Hosts) []string, program, mode string, ranks int, names ...string) *Spread {
	t.Helper()
	if len(names) == 0 {
		names = []string{FirstHost, SecondHost}
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &Spread{Hosts: hosts.New(t, own, names...), work: w}
	s.Via = s.Agent + " {host} {command}"
	folder := t.TempDir()
	words := slices.Concat(w.MPI.Launcher, launcher(s.Hosts), []string{"-n", strconv.Itoa(ranks), "nice", w.Program(t, "tests/programs/"+program+".c"), folder, mode})
	file := filepath.Join(folder, "launcher")
	job := s.Command(names[0], fmt.Sprintf("echo $$ >%s; exec %s", file, strings.Join(words, " ")))
	var said bytes.Buffer
	job.Stdout, job.Stderr = &said, &said
	job.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // ranks that spin are scheduled as a group of their own (sched(7))
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = job.Wait()
		close(ended)
	}()
	Until(t, "for the ranks", func() bool {
		select {
		case <-ended:
			t.Fatalf("the job has ended:\n%s", &said)
		default:
		}
		ready, _ := filepath.Glob(filepath.Join(folder, "rank-*.json"))
		return len(ready) == ranks
	})
	for rank := range ranks {
		account, err := expect.Load(filepath.Join(folder, fmt.Sprintf("rank-%d.json", rank)))
		if err != nil {
			t.Fatal(err)
		}
		s.Accounts = append(s.Accounts, account)
	}
	text, err := os.ReadFile(file)
	if err == nil {
		s.Launcher, err = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// OnOneHost is the report on the deadlock that a program makes in a mode, on one host.
func (w *Workspace) OnOneHost(t *testing.T, program, mode string, ranks int) (report string) {
	t.Helper()
	t.Run("on one host", func(t *testing.T) {
		job := w.Start(t, program, ranks, nil, mode)
		Until(t, "for the deadlock", func() bool {
			report = string(w.Shell(t, "report", strconv.Itoa(job.Launcher())))
			return strings.HasPrefix(report, "Deadlock. ")
		})
	})
	return report
}

// OverAgent are the words for Open MPI.
func OverAgent(h *hosts.Hosts) []string {
	p := settings(h)
	words := []string{"--mca btl self,tcp," + p.shared, "--mca btl_tcp_if_include", hosts.Network, "--host", strings.Join(h.Names, ","), "--map-by node"}
	for _, s := range p.settings {
		words = append(words, p.flag, s[0], s[1])
	}
	return words
}

// plm is what starts Open MPI's processes on hosts: ORTE up to 4.1, PRRTE since.
type plm struct {
	shared       string // the component for messages on one host
	flag, prefix string
	settings     [][2]string
}

// settings are those with which hosts are reached by their agent.
func settings(h *hosts.Hosts) plm {
	if _, err := exec.LookPath("prterun"); err == nil {
		return plm{"sm", "--prtemca", "PRTE_MCA_", [][2]string{{"plm_ssh_agent", h.Agent}, {"prte_tmpdir_base", h.Folder}, {"prte_if_include", hosts.Network}}}
	}
	return plm{"vader", "--mca", "OMPI_MCA_", [][2]string{{"plm_rsh_agent", h.Agent}, {"orte_tmpdir_base", h.Folder}, {"oob_tcp_if_include", hosts.Network}}}
}

// ByMPIRun has hosts reached by Open MPI's launcher.
func (s *Spread) ByMPIRun(t *testing.T) {
	t.Helper()
	variables := []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
	p := settings(s.Hosts)
	for _, s := range p.settings {
		variables = append(variables, p.prefix+s[0]+"="+s[1])
	}
	s.ByLauncher(t, "mpirun", "mpirun.openmpi", variables...)
}

// Tool is a run of the product on the first host.
func (s *Spread) Tool(line string) *exec.Cmd {
	if s.Via != "" {
		line += fmt.Sprintf(" --via '%s'", s.Via)
	}
	return s.Command(s.Names[0], s.Env+" "+s.work.Helper+" "+line)
}

// GDB runs commands in a gdb on the first host, which goes on after errors, and returns what it wrote.
func (s *Spread) GDB(t *testing.T, commands ...string) Output {
	t.Helper()
	words := append([]string{s.work.Debugger, "-batch"}, s.work.arguments(Nothing(), commands)...)
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	cmd := s.Command(s.Names[0], s.Env+" "+strings.Join(words, " "))
	cmd.Env = s.work.environment()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	// 1 is that of the last command, and the others are those of a gdb that was killed.
	if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || !slices.Contains([]int{1, 137, -1}, exit.ExitCode())) {
		t.Fatalf("gdb: %v\n%s%s", err, &out, &errs)
	}
	return Output{out.String(), errs.String()}
}

// LauncherName is what gdb calls the launcher: mpirun of Open MPI 5.0 is another program once it runs.
func (s *Spread) LauncherName(t *testing.T) string {
	t.Helper()
	name, err := s.Command(s.Names[0], fmt.Sprintf("cat /proc/%d/comm", s.Launcher)).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(name))
}

// ByLauncher has hosts reached by a launcher of this program, and in ways that its variables say.
func (s *Spread) ByLauncher(t *testing.T, name, program string, variables ...string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil { // launchers look for their own files beside what they were called as
		err = os.WriteFile(filepath.Join(s.Folder, name), fmt.Appendf(nil, "#!/bin/sh\nexec %s \"$@\"\n", path), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Via, s.Env = name, "PATH="+s.Folder+":$PATH "+strings.Join(variables, " ")
}

// Engine has hosts reached by a shell's script that a line begins, with the host and the command in $1 and $2. The agent
// is behind it.
func (s *Spread) Engine(t *testing.T, line string) {
	t.Helper()
	path := filepath.Join(s.Folder, "engine")
	if err := os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\n%s\nexec %s \"$@\"\n", line, s.Agent), 0o755); err != nil {
		t.Fatal(err)
	}
	s.Via = path + " {host} {command}"
}

// Reads says whether a collector on a host has a gdb.
func (s *Spread) Reads(t *testing.T, host string) bool {
	t.Helper()
	return slices.ContainsFunc(s.Processes(t, host), func(line string) bool { return strings.Contains(line, "gdb -") })
}

// SignalCollectors sends a signal to the collectors on a host, and not to who guards them.
func (s *Spread) SignalCollectors(t *testing.T, host, signal string) {
	t.Helper()
	const line = `for p in /proc/[0-9]*; do set -- $(tr '\0' ' ' <$p/cmdline); case "$2 $*" in *--guard*);; "collect "*) kill -%s ${p#/proc/};; esac; done 2>/dev/null; :`
	if out, err := s.Command(host, fmt.Sprintf(line, signal)).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
}

// Says is what a run of the product says.
func (s *Spread) Says(t *testing.T, line string) string {
	t.Helper()
	cmd := s.Tool(line)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", line, err, out, &errs)
	}
	if errs.Len() > 0 {
		t.Errorf("%s: %s", line, &errs)
	}
	return string(out)
}

// Deadlocked waits for the verdict, and returns the report.
func (s *Spread) Deadlocked(t *testing.T, line string) (report string) {
	t.Helper()
	Until(t, "for the deadlock", func() bool {
		report = s.Says(t, line)
		return strings.HasPrefix(report, "Deadlock. ")
	})
	return report
}

// NothingIsLeft waits until no process of the product's is left on any host, and fails the test if a rank does not run on.
func (s *Spread) NothingIsLeft(t *testing.T) {
	t.Helper()
	for _, host := range s.Names {
		Until(t, "for the ends of collectors on "+host, func() bool {
			return !slices.ContainsFunc(s.Processes(t, host), func(line string) bool {
				return strings.Contains(line, " collect ") || strings.Contains(line, " connect ") || strings.HasPrefix(filepath.Base(strings.Fields(line)[0]), "gdb")
			})
		})
		out, err := s.Command(host, "grep -h -E 'TracerPid|State' /proc/[0-9]*/status").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			if fields := strings.Fields(line); fields[0] == "TracerPid:" && fields[1] != "0" || strings.Contains(line, "stop") {
				t.Errorf("on %s, a process does not run on: %s", host, line)
			}
		}
	}
}
