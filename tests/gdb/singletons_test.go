//go:build live

package gdb

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// startAlone has a shell start three processes of an MPI program, without a launcher that the MPI knows, and waits until
// the report on the first or on the shell has what is wanted.
func startAlone(t *testing.T, environment string, wants ...string) *exec.Cmd {
	t.Helper()
	const script = `for rank in 0 1 2; do env %s "$0" & all="$all $!"; done; trap "kill $all" TERM; wait`
	return work.Hang(t, []string{"sh", "-c", fmt.Sprintf(script, environment), work.Program(t, "tests/programs/singletons.c")}, wants...)
}

// TestSingletons checks that all processes of a job are reported, each by the rank that its launcher gave it, if MPI_Init
// did not join the launcher's job: here that of a made-up srun.
func TestSingletons(t *testing.T) {
	t.Parallel()
	const sentence = "3 processes started by one launcher each believe they are rank 0 of 1: Slurm's srun provided no PMI that their MPI (Open MPI) uses"
	job := startAlone(t, "SLURM_JOB_ID=4242 SLURM_STEP_ID=7 SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=$rank", sentence, "Rank 2 waits for itself", "  ranks 0-2: MPI_Recv")
	found, err := launch.Find(job.Process.Pid)
	if err != nil || len(found.Ranks) != 3 {
		t.Fatal(found, err)
	}
	pid := strconv.Itoa(found.Ranks[1].PID)
	if out := string(work.Shell(t, "dump", "--job", pid)); !strings.Contains(out, "Rank 0 of 1 (launched as rank 2 of 3), process ") {
		t.Errorf("dump says\n%s", out)
	}
	work.GDB(t, live.Where{}, "mpi-attach "+pid, "mpi-deadlock -all").Contains(t, sentence)
	recording := t.TempDir() + "/r.mpiq"
	work.GDB(t, live.Process(found.Ranks[1].PID), "mpi-queues -record "+recording).Contains(t, "Rank 0 of 1 (launched as rank 1 of 3)")
	var s struct {
		Processes []struct {
			Rank     int    `json:"global_rank"`
			Launched int    `json:"launched_rank"`
			Size     int    `json:"launched_size"`
			Launcher string `json:"launcher"`
		} `json:"processes"`
	}
	if err := json.Unmarshal(work.Shell(t, "replay", "--json", recording), &s); err != nil {
		t.Fatal(err)
	}
	if p := s.Processes[0]; p.Rank != 0 || p.Launched != 1 || p.Size != 3 || p.Launcher != "Slurm" {
		t.Errorf("the recording has %+v", p)
	}
}

// TestAlone checks that programs that were started without a launcher are jobs of their own, and so is a job of one rank.
func TestAlone(t *testing.T) {
	t.Parallel()
	program := work.Program(t, "tests/programs/singletons.c")
	for _, command := range [][]string{{program}, slices.Concat(work.MPI.Launcher, []string{"-n", "1", program})} {
		job := work.Hang(t, command, "Rank 0 waits for itself")
		if out := string(work.Shell(t, "report", strconv.Itoa(job.Process.Pid))); strings.Contains(out, "launcher") {
			t.Errorf("%q: the report says\n%s", command, out)
		}
	}
}
