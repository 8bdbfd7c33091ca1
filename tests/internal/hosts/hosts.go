//go:build live || matrix || full

// Package hosts makes hosts of this machine for tests: each has its own name, address, processes and /proc, and
// reaches the others over a bridge. Files are common to all of them.
package hosts

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Network is the one that all addresses of hosts are in.
const Network = "10.99.0.0/24"

// Hosts are some of them. The first one has the bridge.
type Hosts struct {
	// Names are theirs, and Folder is, which is empty at first.
	Names  []string
	Folder string
	// Agent is a program that does on one host for another what ssh does: "AGENT HOST COMMAND...".
	Agent string

	pids map[string]int // of a process that is there as long as the host is

	mu  sync.Mutex
	cut map[string]bool
}

// Cut has a host be cut off: what an agent is asked to start there is started, and no word comes through between the
// two, not even of the agent's end.
func (h *Hosts) Cut(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut[name] = true
}

func (h *Hosts) isCut(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cut[name]
}

// New makes hosts of these names, which end with the test. Where that is not allowed, the test is skipped. program
// is an executable that calls [Main] when it is started as "agent".
func New(t *testing.T, program string, names ...string) *Hosts {
	t.Helper()
	h := &Hosts{Names: names, Folder: t.TempDir(), pids: map[string]int{}, cut: map[string]bool{}}
	for _, tool := range []string{"unshare", "nsenter", "ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("hosts can't be made on this machine: ", err)
		}
	}
	table := "127.0.0.1 localhost\n"
	for i, name := range names {
		table += fmt.Sprintf("%s %s\n", address(i), name)
	}
	if err := os.WriteFile(h.in("hosts"), []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if err := h.boot(t, name); err != nil {
			t.Skipf("hosts can't be made on this machine: %v", err)
		}
		if err := h.connect(names[0], name, i); err != nil {
			t.Skipf("hosts can't be connected on this machine: %v", err)
		}
	}
	h.Agent = h.in(agentName)
	if err := os.Symlink(program, h.Agent); err != nil {
		t.Fatal(err)
	}
	h.serve(t)
	return h
}

func address(i int) string { return fmt.Sprintf("10.99.0.%d", i+1) }

func (h *Hosts) in(name string) string { return filepath.Join(h.Folder, name) }

// boot starts a host. It ends with its first process, and that with its standard input.
func (h *Hosts) boot(t *testing.T, name string) error {
	t.Helper()
	const first = `set -e
hostname "$1"
mount -t tmpfs none /dev/shm
mount --bind "$2" /etc/hosts
ip link set lo up
echo up
exec cat >/dev/null`
	host := exec.Command("unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", first, "sh", name, h.in("hosts"))
	alive, err := host.StdinPipe()
	if err != nil {
		return err
	}
	out, err := host.StdoutPipe()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	host.Stderr = &said
	if err := host.Start(); err != nil {
		return err
	}
	t.Cleanup(func() { _ = alive.Close(); _ = host.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
		_, _ = io.Copy(io.Discard, out)
		return fmt.Errorf("%s", strings.TrimSpace(said.String()))
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", host.Process.Pid, host.Process.Pid))
	if err != nil {
		return err
	}
	h.pids[name], err = strconv.Atoi(strings.TrimSpace(string(children)))
	return err
}

// connect gives a host its address, on an interface at the bridge. The bridge has none: UCX does not use those of
// bridges (UCX_TCP_BRIDGE_ENABLE).
func (h *Hosts) connect(first, name string, number int) error {
	if name == first {
		if err := h.run(name, "ip link add bridge type bridge && ip link set bridge up"); err != nil {
			return err
		}
	}
	port := fmt.Sprint("port", number)
	// The other end's host has its process id here, so this is done from outside of the first host's processes.
	line := fmt.Sprintf("ip link add %s type veth peer name eth0 netns %d && ip link set %s master bridge up", port, h.pids[name], port)
	out, err := exec.Command("nsenter", "--target", fmt.Sprint(h.pids[first]), "--net", "sh", "-c", line).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return h.run(name, "ip address add "+address(number)+"/24 dev eth0 && ip link set eth0 up")
}

// Command is a command line for a host's shell.
func (h *Hosts) Command(name, line string) *exec.Cmd {
	return exec.Command("nsenter", "--target", fmt.Sprint(h.pids[name]), "--net", "--uts", "--ipc", "--mount", "--pid", "--root", "--wd", "sh", "-c", line)
}

func (h *Hosts) run(name, line string) error {
	if out, err := h.Command(name, line).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// Processes are the command lines of what runs on a host, but for what keeps it up.
func (h *Hosts) Processes(t *testing.T, name string) []string {
	t.Helper()
	out, err := h.Command(name, "cd /proc && for p in [0-9]*; do tr '\\0' ' ' <$p/cmdline && echo; done 2>/dev/null").Output()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	var lines []string
	for _, line := range strings.Split(string(out), "\n") {
		if line = strings.TrimSpace(line); line != "" && line != "cat" && !strings.Contains(line, "cd /proc && for") && !strings.HasPrefix(line, "tr ") {
			lines = append(lines, line)
		}
	}
	return lines
}
