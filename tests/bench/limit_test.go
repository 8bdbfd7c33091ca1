//go:build bench

package bench

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// pieceSize is how much one system call of the physical limit brings.
const pieceSize = 4 << 20

// limit times what no reader can do without: to have the kernel copy as many bytes of the process as the
// command has read, in large pieces, from where most of its memory is.
func limit(t *testing.T, pid, total int) time.Duration {
	t.Helper()
	var from []procfs.Mapping
	for m, err := range procfs.Host.Mappings(pid) {
		must(t, err)
		if m.Path == "" || m.Path == "[heap]" {
			from = append(from, m)
		}
	}
	slices.SortStableFunc(from, func(a, b procfs.Mapping) int { return int(b.End-b.Start) - int(a.End-a.Start) })
	into := bytes.Repeat([]byte{1}, pieceSize) // touched
	start := time.Now()
	for left := total; left > 0; {
		before := left
		for _, m := range from {
			for at := m.Start; at < m.End && left > 0; {
				n := min(pieceSize, int(m.End-at), left)
				got, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &into[0], Len: uint64(n)}},
					[]unix.RemoteIovec{{Base: uintptr(at), Len: n}}, 0)
				if err != nil || got == 0 {
					break // a guard page
				}
				at += uint64(got)
				left -= got
			}
		}
		if left == before {
			t.Fatalf("nothing of process %d can be read", pid)
		}
	}
	return time.Since(start)
}

// busy is the time on processors of a process and of those that it has started and that still run.
func busy(pid int) time.Duration {
	var sum time.Duration
	for _, thread := range procfs.Host.Threads(pid) {
		text, _ := os.ReadFile(procfs.Host.Path(pid, "task", fmt.Sprint(thread), "schedstat"))
		var nanoseconds int64
		_, _ = fmt.Sscan(string(text), &nanoseconds) // 0 of a thread that has ended
		sum += time.Duration(nanoseconds)
	}
	for _, child := range procfs.Host.Children(pid) {
		sum += busy(child)
	}
	return sum
}
