package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/helper"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

func jobsCommand() *cobra.Command {
	var toJSON bool
	c := &cobra.Command{
		Use:   "jobs",
		Short: "List the MPI jobs that run on this machine",
		Long: "Lists the jobs whose processes you may debug: their launchers and their ranks, as far as\n" +
			"they are on this machine. The process id of a launcher, or of a rank, is what `report',\n" +
			"`dump' and gdb's `mpi-attach' take. A program that was started without a launcher is not\n" +
			"listed.\n\n" +
			"The ranks are the launcher's. If they did not join its job, as under the launcher of another\n" +
			"MPI, only their memory shows that: `report' says so first.\n\n" +
			"Exit status: 0, or 1 if the processes of this machine can't be seen.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			jobs, err := launch.All()
			if err != nil {
				return unreadable(err)
			}
			show := showJobs
			if toJSON {
				show = writeJobs
			}
			if err := show(cmd.OutOrStdout(), jobs); err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&toJSON, "json", false, "write JSON instead of a table")
	return c
}

// runningJob is a job in JSON. What is not known is null or empty.
type runningJob struct {
	// Launcher is the process id of the launcher, or of its daemon on this machine; 0 if that is gone.
	Launcher int `json:"launcher"`
	// Name is the launcher's program, and Command the words of its command line.
	Name    string   `json:"name"`
	Command []string `json:"command"`
	// Size is how many ranks the job has.
	Size *int32 `json:"size"`
	// Ranks are those that are known.
	Ranks []bridge.Rank `json:"ranks"`
}

func writeJobs(w io.Writer, jobs []*launch.Job) error {
	out := []runningJob{}
	for _, j := range jobs {
		told := helper.RanksOf(j)
		out = append(out, runningJob{told.Launcher, told.Name, commandOf(j.Launcher), told.Size, told.Ranks})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func commandOf(pid int) []string {
	words, err := procfs.Host.CommandLine(pid)
	if err != nil || pid == 0 {
		return []string{}
	}
	return words
}

// showJobs writes a row for each job.
func showJobs(w io.Writer, jobs []*launch.Job) error {
	if len(jobs) == 0 {
		_, err := fmt.Fprintln(w, "No MPI job that you may debug runs on this machine.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "launcher\tprocess\tranks\trank 0\tprogram")
	for _, j := range jobs {
		launcher, pid := "?", "?"
		if j.Launcher != 0 {
			launcher, pid = printable.Line(j.Name), strconv.Itoa(j.Launcher)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", launcher, pid, ranksOf(j), firstOf(j), programsOf(j))
	}
	return t.Flush()
}

// ranksOf says how many ranks a job has, and how many of them are to be seen here.
func ranksOf(j *launch.Job) string {
	here := 0
	for _, r := range j.Ranks {
		if r.IsHere() {
			here++
		}
	}
	switch {
	case !j.Size.Known:
		return fmt.Sprintf("? (%d here)", here)
	case here != int(j.Size.Value):
		return fmt.Sprintf("%d (%d here)", j.Size.Value, here)
	}
	return strconv.Itoa(here)
}

// firstOf is the process id of rank 0, if that is on this machine.
func firstOf(j *launch.Job) string {
	for _, r := range j.Ranks {
		if r.Number == mqs.Known[int32](0) && r.IsHere() {
			return strconv.Itoa(r.PID)
		}
	}
	return "-"
}

// programsOf are the names of a job's programs.
func programsOf(j *launch.Job) string {
	var names []string
	for _, r := range j.Ranks {
		if name := printable.Line(filepath.Base(r.Executable)); r.Executable != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "?"
	}
	return strings.Join(names, ", ")
}
