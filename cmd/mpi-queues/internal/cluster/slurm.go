package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// SlurmEngine starts a collector on each host of a job of Slurm's. Its step is none of MPI's, goes on when one of
// its collectors fails, and waits for the last one, whatever the cluster's settings for these are (srun(1)).
func SlurmEngine(job string) string {
	return "srun --jobid=" + string(commandline.Quote(job)) + " --overlap --mpi=none --nodelist={hosts} --nodes={count} --ntasks={count} --ntasks-per-node=1 --kill-on-bad-exit=0 --wait=0 sh -c {command}"
}

// slurmPatience is how long Slurm's controller may take.
const slurmPatience = 30 * time.Second

// SlurmNodes are the nodes of a job or a step of Slurm's that runs, "ID" or "ID.STEP".
func SlurmNodes(ctx context.Context, id string) ([]string, error) {
	ctx, stop := context.WithTimeout(ctx, slurmPatience)
	defer stop()
	which := "--jobs=" + id
	if strings.Contains(id, ".") {
		which = "--steps=" + id
	}
	list, err := says(ctx, "squeue", "--noheader", which, "--states=running", "--format=%N")
	if err == nil && list == "" {
		err = errors.New("squeue knows of none that runs")
	}
	if strings.HasPrefix(list, "-") {
		err = fmt.Errorf("squeue printed %q, expected a list of nodes", list) // scontrol would take it for an option
	}
	if err == nil {
		list, err = says(ctx, "scontrol", "show", "hostnames", strings.ReplaceAll(list, "\n", ","))
	}
	if err != nil {
		return nil, fmt.Errorf("on which nodes the job %s of Slurm's is can't be told: %w", id, err)
	}
	return strings.Fields(list), nil
}

// says is what a command writes.
func says(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	said := &tail{}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, said, time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("%s does not answer", name)
	} else if err != nil {
		err = errors.New(cmp.Or(said.last(), fmt.Sprintf("%s: %v", name, err)))
	}
	return printableLines(out.String()), err
}

func printableLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = printable.Line(strings.TrimSpace(lines[i]))
	}
	return strings.Join(lines, "\n")
}
