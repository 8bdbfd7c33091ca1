//go:build live

package gdb

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// gdbserver on another machine is one on a port, with gdb reading the
// libraries through it, as it does by default.
func TestGDBServer(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "requests", 2, nil)
	for _, way := range []string{"target remote", "target extended-remote"} {
		for _, account := range job.Accounts {
			t.Run(way+" "+account.Name, func(t *testing.T) {
				args := []string{"--once", "--attach", "127.0.0.1:0", fmt.Sprint(account.PID)}
				server := exec.Command("gdbserver", args...)
				stderr, err := server.StderrPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := server.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					_ = server.Process.Kill()
					_ = server.Wait()
				})
				port := ""
				for lines := bufio.NewScanner(stderr); port == "" && lines.Scan(); {
					_, port, _ = strings.Cut(lines.Text(), "Listening on port ")
				}
				if port == "" {
					t.Fatal("gdbserver does not listen")
				}
				where := live.Where{Name: "remote", Commands: []string{way + " 127.0.0.1:" + port}, After: []string{"info mpi"}}
				r := work.ReadRecorded(t, where)
				r.Agrees(t, account)
				r.Replays(t, work)
				r.Contains(t, release(t)+", proved on this process")
			})
		}
	}
}
