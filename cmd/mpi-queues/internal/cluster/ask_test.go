package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
)

// TestHostsThatAreNone checks that a host that would be an option of the engine is not asked, but named, and that the others
// are asked.
func TestHostsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sh -c {command} {host}", "sh -c {command} {hosts}"} {
		asked := filepath.Join(t.TempDir(), "asked")
		q := question(map[string]string{"-oProxyCommand=touch x;": "", "a": "", "a,b": ""})
		q.Engine = "echo " + strings.TrimPrefix(engine, "sh -c {command}") + " >>" + asked + "; " + engine
		q.Command = func(string, bool) (commandline.Script, error) {
			return commandline.Script("cat " + sends(t, "a", "v1", "pmix:1", 0)), nil
		}
		answer, err := q.Ask(context.Background())
		want := []string{"Answers came from 1 of 3 nodes", "Not read: -oProxyCommand=touch x;, a,b: not a plain host name or address"}
		if err != nil || len(answer.Processes) != 1 || !slices.Equal(answer.Remarks, want) {
			t.Errorf("%s: %+v, %v", engine, answer, err)
		}
		if text, err := os.ReadFile(asked); err != nil || string(text) != "a\n" {
			t.Errorf("%s: %q was asked, %v", engine, text, err)
		}
	}
}

// answered is what came of a host whose processes have these ranks, each with the process id of its number and some.
func answered(host, machine string, pids, size int, names []string, ranks ...int32) reply {
	p := &part{
		header: header{Names: names, Stopped: map[int]liveness.Clock{}}, Snapshot: &mqs.Snapshot{},
		memory: memory{pids: map[*mqs.Process]int{}},
	}
	for _, rank := range ranks {
		process := &mqs.Process{PID: pids + int(rank), GlobalRank: mqs.Known(rank), WorldSize: mqs.Known(int32(size))}
		p.Processes = append(p.Processes, process)
		p.pids[process] = process.PID
		p.Stopped[process.PID] = liveness.Clock{Started: 5}
	}
	return reply{host: host, machine: machine, part: p}
}

// TestNodeHidesNone checks that a node can't keep the processes of others from being shown, whatever it says: that it is another
// machine, that the job has another name, or that it has another size.
func TestNodeHidesNone(t *testing.T) {
	t.Parallel()
	const size = 9
	job := []string{"pmix:1"}
	for name, c := range map[string]struct {
		names   []string // that the asker knows
		replies []reply
		ranks   string
		remarks []string
	}{
		"one machine by two names": {nil, []reply{answered("a", "m", 10, size, job, 0, 1), answered("b", "m", 10, size, job, 0, 1)}, "[0 1]",
			[]string{"b is the same machine as a"}},
		"another machine's name": {nil, []reply{answered("a", "m", 10, size, job, 0), answered("b", "m", 10, size, job, 1), answered("c", "m2", 10, size, job, 2)}, "[0 1 2]",
			[]string{"a, b claim to be the same machine, but have different processes; all processes are shown"}},
		"another process id": {nil, []reply{answered("a", "m", 10, size, job, 0), answered("b", "m", 20, size, job, 0, 1)}, "[0 1]",
			[]string{"a, b claim to be the same machine, but have different processes; all processes are shown"}},
		"another machine's name, and another job": {job, []reply{answered("a", "m", 10, size, []string{"pmix:2"}, 0), answered("b", "m", 10, size, job, 0)}, "[0]",
			[]string{"Answers came from 2 of 2 nodes", "Not read: a: the job there is another one"}},
		"another job than the asker knows": {job, []reply{answered("a", "m", 10, size, []string{"pmix:2"}, 0), answered("b", "m2", 10, size, job, 1)}, "[1]",
			[]string{"Answers came from 2 of 2 nodes", "Not read: a: the job there is another one"}},
		"another job than most": {nil, []reply{answered("a", "m", 10, size, []string{"pmix:2", "pmix:2", "pmix:2"}, 0), answered("b", "m2", 10, size, job, 1), answered("c", "m3", 10, size, job, 2)}, "[1 2]",
			[]string{"Answers came from 3 of 3 nodes", "Not read: a: the job there is another one"}},
		"another size": {nil, []reply{answered("a", "m", 10, 0, job, 0), answered("b", "m2", 10, size, job, 1), answered("c", "m3", 10, size, job, 2)}, "[1 2]",
			[]string{"Answers came from 3 of 3 nodes", "Not read: a: its job has 0 ranks, but the job on the other nodes has 9"}},
		"the size of another job": {job, []reply{answered("a", "m", 10, 4, []string{"pmix:2"}, 0), answered("b", "m2", 10, 4, []string{"pmix:2"}, 1), answered("c", "m3", 10, size, job, 2)}, "[2]",
			[]string{"Answers came from 3 of 3 nodes", "Not read: a, b: the job there is another one"}},
		"a step of the job": {[]string{"slurm:7"}, []reply{answered("a", "m", 10, size, []string{"pmix:2", "slurm:7.1"}, 0), answered("b", "m2", 10, size, []string{"slurm:71.1"}, 1)}, "[0]",
			[]string{"Answers came from 2 of 2 nodes", "Not read: b: the job there is another one"}},
	} {
		q := &Question{Names: c.names}
		answer, err := q.together(c.replies)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var ranks []int32
		for _, p := range answer.Processes {
			ranks = append(ranks, p.GlobalRank.Value)
		}
		if fmt.Sprint(ranks) != c.ranks || !slices.Equal(answer.Remarks, c.remarks) {
			t.Errorf("%s: %v, %q", name, ranks, answer.Remarks)
		}
	}
}
