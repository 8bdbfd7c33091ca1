//go:build live

package gdb

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// What Open MPI has had no resources to send is said to be on its way: messages of the program's, and packets of its own.
func TestUnsent(t *testing.T) {
	t.Parallel()
	const sends = `Rank 0 has \d+ sends that its library has not sent yet, for lack of resources`
	if strings.Contains(row(t), "Open MPI 6.") {
		t.Skip("no table has what Open MPI 6.0 keeps of them")
	}
	for mode, notes := range map[string][]string{
		"flood":       {sends},
		"left-behind": {sends, "The MPI library of rank 1 has packets of its own to send, such as acknowledgements"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			job := work.Start(t, "moving", 2, nil, mode)
			var text string
			says := func(want string) bool { return regexp.MustCompile(want).MatchString(text) }
			if !live.Soon(func() bool {
				text = string(work.Shell(t, "report", strconv.Itoa(job.Launcher())))
				return !slices.ContainsFunc(notes, func(want string) bool { return !says(want) })
			}) {
				t.Errorf("the report does not say %q:\n%s", notes, text)
			}
			if strings.Contains(text, "deadlock:") {
				t.Errorf("a deadlock is claimed:\n%s", text)
			}
			if text := string(work.Shell(t, "dump", strconv.Itoa(job.Accounts[0].PID))); !strings.Contains(text, mqs.Unsent) {
				t.Errorf("no send of rank 0 is shown as unsent:\n%.2000s", text)
			}
		})
	}
}
