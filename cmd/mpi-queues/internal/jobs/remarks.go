package jobs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// Missing says, in sentences, what of a job is not on this machine, or is not it. isReport is true for a report, and false if
// the queues of the processes are shown.
func Missing(job *launch.Job, isReport bool) []string {
	var out []string
	var hosts []string
	on := map[string][]launch.Rank{}
	var here []launch.Rank
	for _, r := range job.Ranks {
		if r.Host == "" {
			here = append(here, r)
			continue
		}
		if on[r.Host] == nil {
			hosts = append(hosts, r.Host)
		}
		on[r.Host] = append(on[r.Host], r)
	}
	for _, host := range hosts {
		ranks, verb := numbers(on[host])
		out = append(out, fmt.Sprintf("%s %s on %s: run `mpi-queues dump --job %d' there", ranks, verb, host, on[host][0].PID))
	}
	if size := int(job.Size.Value); job.Size.Known && len(job.Ranks) < size {
		ranks, _ := numbers(here)
		out = append(out, fmt.Sprintf("Of the job's %d ranks, only %s found on this machine: the others are on other machines, where "+
			"`mpi-queues dump --job PID' with the process id of any of them shows those that are there, or have exited",
			size, strings.ToLower(ranks[:1])+ranks[1:]+map[bool]string{true: " was", false: " were"}[len(here) == 1]))
	}
	if job.HasOddName {
		out = append(out, "The job's name in the environment of its ranks is ignored because it is too long or contains unprintable "+
			"characters, so ranks on other machines can't be found by name")
	}
	if job.IsAborting {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s (process %d) is aborting the job: %s", filepath.Base(job.Name), job.Launcher, job.AbortReason), ": "))
	}
	if len(job.Claims) > 0 {
		out = append(out, fmt.Sprintf("The environment of %s says that it is of this job too, which is not believed, since another user has started it",
			counted(job.Claims)))
	}
	var others, without []string
	for _, pid := range job.Others {
		if tracee.LacksMPI(pid) {
			without = append(without, tracee.Name(pid))
		} else {
			others = append(others, strconv.Itoa(pid))
		}
	}
	launcher := fmt.Sprintf("%s (process %d)", filepath.Base(job.Name), job.Launcher)
	switch {
	case len(others) == 0:
	case isReport:
		out = append(out, reportsOn(launcher, slices.DeleteFunc(slices.Clone(job.OtherJobs), tracee.LacksMPI))...)
	default:
		out = append(out, fmt.Sprintf("%s has also started other jobs, as MPI_Comm_spawn does: `mpi-queues dump %s' shows them", launcher, strings.Join(others, " ")))
	}
	if len(without) > 0 {
		has := map[bool]string{true: "has", false: "have"}[len(without) == 1]
		out = append(out, fmt.Sprintf("%s has also started %s, which %s loaded no MPI library, and so %s not called MPI_Init: "+
			"where MPI_Comm_spawn has started a process, it waits for that", launcher, strings.Join(without, ", "), has, has))
	}
	return out
}

// reportsOn says how to report on the other jobs of a launcher, of each of which there is a process.
func reportsOn(launcher string, processes []int) []string {
	switch len(processes) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("%s has also started another job, as MPI_Comm_spawn does: `mpi-queues report %d' says who waits for whom there",
			launcher, processes[0])}
	}
	return []string{fmt.Sprintf("%s has also started %d other jobs, as MPI_Comm_spawn does: `mpi-queues report PID' says who waits for whom in one, where PID is %s",
		launcher, len(processes), oneOf(processes))}
}

// oneOf names processes of which any will do.
func oneOf(pids []int) string {
	const most = 10
	var parts []string
	for _, pid := range pids[:min(len(pids), most)] {
		parts = append(parts, strconv.Itoa(pid))
	}
	if more := len(pids) - most; more > 0 {
		return strings.Join(parts, ", ") + fmt.Sprintf(" or %d more", more)
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " or " + parts[last]
}

// counted names processes.
func counted(pids []int) string {
	const most = 10
	var parts []string
	for _, pid := range pids[:min(len(pids), most)] {
		parts = append(parts, strconv.Itoa(pid))
	}
	text := strings.Join(parts, ", ")
	if len(pids) > most {
		text += fmt.Sprintf(" and %d more", len(pids)-most)
	}
	if len(pids) == 1 {
		return "process " + text
	}
	return "each of the processes " + text
}

// numbers writes the numbers of ranks, with the verb that goes with them.
func numbers(ranks []launch.Rank) (text, verb string) {
	var parts []string
	for i := 0; i < len(ranks); {
		first := ranks[i].Number.Value
		n := 1
		for i+n < len(ranks) && ranks[i+n].Number.Value == first+int32(n) {
			n++
		}
		part := strconv.Itoa(int(first))
		if n > 1 {
			part += "-" + strconv.Itoa(int(first)+n-1)
		}
		parts = append(parts, part)
		i += n
	}
	if len(ranks) == 1 {
		return "Rank " + parts[0], "is"
	}
	return "Ranks " + strings.Join(parts, ", "), "are"
}

// mergeAdvice says how a report has the ranks that are not on this machine too, if there are such.
func mergeAdvice(job *launch.Job) []string {
	isAway := func(r launch.Rank) bool { return r.Host != "" }
	if !slices.ContainsFunc(job.Ranks, isAway) && (!job.Size.Known || len(job.Ranks) >= int(job.Size.Value)) {
		return nil
	}
	return []string{"For a report on all of them, name the other machines: `mpi-queues report --hosts HOSTS PID' reaches them by ssh, or as --via says. " +
		"Or write a file on each machine with `mpi-queues dump --job --json --internal --output FILE PID', and name the files: `mpi-queues report FILE...'"}
}
