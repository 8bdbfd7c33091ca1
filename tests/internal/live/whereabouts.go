//go:build live || matrix || full

package live

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// tellsWhere are a gdb's arguments with which it writes into a file where its threads are in Python, when it gets SIGUSR1.
func tellsWhere(file string) []string {
	return []string{"-iex", fmt.Sprintf("python import faulthandler, signal; faulthandler.register(signal.SIGUSR1, open(%q, 'w'), all_threads=True)", file)}
}

// whereabouts says what a gdb that does not answer does, by its file of [tellsWhere], and what the helper does that it has
// started, which is ended for that.
func whereabouts(gdb int, file string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "gdb is here:\n%s", threadsOf(gdb))
	_ = syscall.Kill(gdb, syscall.SIGUSR1)
	var text []byte
	Within(5*time.Second, func() bool {
		text, _ = os.ReadFile(file)
		return len(text) > 0
	})
	fmt.Fprintf(&out, "and in Python:\n%s", text)
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", gdb, gdb))
	for child := range strings.FieldsSeq(string(children)) {
		var pid int
		_, _ = fmt.Sscan(child, &pid)
		if words, err := procfs.Host.CommandLine(pid); err != nil || !slices.Contains(words, "helper") {
			continue
		}
		fmt.Fprintf(&out, "the helper is here:\n%s", threadsOf(pid))
		log, err := os.Open(fmt.Sprintf("/proc/%d/fd/2", pid)) // which has no name
		if err != nil {
			continue
		}
		_ = syscall.Kill(pid, syscall.SIGQUIT) // Go writes its stacks, and ends
		Within(5*time.Second, func() bool {
			words, err := procfs.Host.CommandLine(pid)
			return err != nil || len(words) == 0
		})
		stacks := make([]byte, 64<<10)
		n, _ := log.ReadAt(stacks, 0)
		_ = log.Close()
		fmt.Fprintf(&out, "and has left:\n%s", stacks[:n])
	}
	return out.String()
}

// threadsOf says of each thread of a process where it is in the kernel.
func threadsOf(pid int) string {
	var out strings.Builder
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, task := range tasks {
		name, _ := os.ReadFile(filepath.Join(task, "comm"))
		call, _ := os.ReadFile(filepath.Join(task, "syscall"))
		where, _ := os.ReadFile(filepath.Join(task, "wchan"))
		fmt.Fprintf(&out, "  %s: %s, %s\n", strings.TrimSpace(string(name)), strings.TrimSpace(string(call)), where)
	}
	return out.String()
}
