//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// No job that ends by itself is called deadlocked, and no job that stands still is said not
// to be.
func TestClaims(t *testing.T) {
	t.Parallel()
	for i := range expect.Claims {
		c := &expect.Claims[i]
		if !sample.ChosenIfShort(t.Name(), i, 4) {
			continue
		}
		t.Run(c.Program+" "+c.Name, func(t *testing.T) {
			t.Parallel()
			work.Judge(t, c, live.Stops{Times: 2, Seed: 4, Cores: c.InCores})
		})
	}
}

// A rank that begins to send waits for none of the receives that it has posted before,
// whatever its stack and its registers still hold of them.
func TestEntryOfSend(t *testing.T) {
	t.Parallel()
	const looks, instructions = 12, 30 // the message is not yet on its way then
	job := work.Start(t, "right", 3, nil, "ask")
	for _, rank := range []int{1, 2} {
		job.AwaitCall(t, rank)
	}
	report := filepath.Join(t.TempDir(), "report-")
	commands := []string{
		fmt.Sprintf("mpi-attach %d", job.Launcher()), "inferior 1", "tbreak *MPI_Send",
		fmt.Sprintf("shell touch %s/go %[1]s/stop", job.Folder), "continue", `printf "at %p\n", $pc - (long) &MPI_Send`,
	}
	for i := range looks {
		commands = append(commands, fmt.Sprintf("mpi-deadlock -all -json -output %s%d", report, i), fmt.Sprintf("stepi %d", instructions))
	}
	out := work.GDB(t, live.Nothing(), append(commands, "mpi-detach")...)
	out.Contains(t, "at (nil)")
	right := &expect.Claim{Program: "right"}
	for i := range looks {
		text, err := os.ReadFile(report + strconv.Itoa(i))
		if err != nil {
			t.Fatalf("%v; gdb says:\n%s", err, out.All())
		}
		r, err := expect.ParseReport(text)
		if err != nil {
			t.Fatal(err)
		}
		if !right.Allows(r.Verdict, false) {
			t.Errorf("at instruction %d, the verdict is %q:\n%s", i*instructions, r.Verdict, text)
		}
	}
	if status, output := job.End(t); status != 0 {
		t.Errorf("the job ends with %d:\n%s", status, output)
	}
}

// The program of a job that hangs may have been removed, or built anew, before someone looks.
func TestProgramGone(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"removed", "rebuilt"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			work.JudgeWithout(t, way == "rebuilt")
		})
	}
}
