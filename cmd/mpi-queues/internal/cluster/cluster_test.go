package cluster

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
)

// sends is a file of what a collector sends of one rank.
func sends(t *testing.T, node, version, job string, rank int32) string {
	t.Helper()
	var names []string
	if job != "" {
		names = []string{job}
	}
	path := filepath.Join(t.TempDir(), "sent")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	to, err := wire.NewSender(f, node, "machine of "+node, version)
	if err == nil {
		err = to.Document(func(w io.Writer) error {
			h := header{Names: names, Stopped: map[int]liveness.Clock{7: {Started: 1, Ticks: 2}}}
			return h.write(w, &mqs.Snapshot{Processes: []*mqs.Process{{PID: 7, GlobalRank: mqs.Known(rank), WorldSize: mqs.Known[int32](5)}}})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Hosts that answer, fail, hang and are of another version or job: all are named, each reason once.
func TestAsk(t *testing.T) {
	t.Parallel()
	commands := map[string]string{
		"a": "cat " + sends(t, "a", "v1", "pmix:1", 0),
		"b": "cat " + sends(t, "b", "v1", "pmix:1", 1),
		"c": "echo no way >&2; exit 3",
		"d": "echo no way >&2; exit 3",
		"e": "cat " + sends(t, "e", "v2", "pmix:1", 2),
		"f": "cat " + sends(t, "f", "v1", "pmix:2", 3),
		"g": "sleep 100",
		"h": "cat " + sends(t, "a", "v1", "pmix:1", 0),
		"i": "echo Welcome",
		"j": "head -n -1 " + sends(t, "j", "v1", "pmix:1", 4) + "; kill -9 $$",
		"k": "cat " + sends(t, "k", "v1", "", 4),
		"l": "trap '' TERM; while :; do sleep 0.1; done",
	}
	q := question(commands)
	q.Limit = silence
	answer, err := q.Ask(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(answer.Remarks, "\n")
	for _, want := range []string{
		"Not read: c, d: no way (exit status 3)", "Not read: e: it has version v2 of mpi-queues, but this machine has version v1",
		"Not read: f: the job there is another one", "h is the same machine as a", "Not read: i: it ended without a word",
		"Not read: j: Killed (exit status 137); the document is cut off behind part 1", "Not read: k: nothing gives the job a name", "Not read: g, l:",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if len(answer.Processes) != 2 || answer.Processes[0].PID == answer.Processes[1].PID {
		t.Errorf("%d processes", len(answer.Processes))
	}
	if c := answer.Stopped[answer.Processes[1].PID]; c != (liveness.Clock{Started: 1, Ticks: 2}) {
		t.Errorf("%+v", c)
	}
}

// silence is how long tests wait for a host that says nothing: long enough for those that answer on a busy machine.
const silence = 10*time.Second - answerPatience

// question asks what these commands answer in place of hosts.
func question(commands map[string]string) *Question {
	q := &Question{Engine: "sh -c {command} {host}", Command: func(host string, _ bool) (commandline.Script, error) { return commandline.Script(commands[host]), nil }, Version: "v1", Limit: time.Minute}
	q.Hosts = slices.Sorted(maps.Keys(commands))
	return q
}

// Who has not answered is not asked again, and is named again.
func TestAskAgain(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	q := question(map[string]string{"a": "cat " + sends(t, "a", "v1", "pmix:1", 0), "b": "echo b >>" + asked + "; exit 3"})
	for range 2 {
		answer, err := q.Ask(context.Background())
		if err != nil || len(answer.Remarks) != 2 || answer.Remarks[1] != "Not read: b: exit status 3" {
			t.Fatal(answer, err)
		}
	}
	if text, err := os.ReadFile(asked); err != nil || string(text) != "b\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Ranks of two hosts that may be of two jobs make no job, unless the launcher has named them.
func TestNameless(t *testing.T) {
	q := question(map[string]string{"a": "cat " + sends(t, "a", "v1", "", 0), "b": "cat " + sends(t, "b", "v1", "", 1)})
	if answer, err := q.Ask(context.Background()); err == nil || !strings.Contains(err.Error(), "on a, b, nothing gives the job a name") {
		t.Errorf("%+v, %v", answer, err)
	}
	q.Vouched = map[string]bool{"a": true, "b": true}
	if answer, err := q.Ask(context.Background()); err != nil || len(answer.Processes) != 2 || len(answer.Remarks) > 0 {
		t.Errorf("%+v, %v", answer, err)
	}
	q = question(map[string]string{"a": "cat " + sends(t, "a", "v1", "", 0)})
	if answer, err := q.Ask(context.Background()); err != nil || len(answer.Processes) != 1 {
		t.Errorf("one host: %+v, %v", answer, err)
	}
}

func TestEngine(t *testing.T) {
	if _, err := Engine("ssh {host}"); err == nil {
		t.Error("an engine without a command")
	}
	line, err := Engine("ssh")
	if err != nil {
		t.Fatal(err)
	}
	got, err := fill(line, "me@a", nil, commandline.Quote("x", "it's", ""))
	if want := `ssh -o BatchMode=yes -o ConnectTimeout=10 me@a 'x '\''it'\''\'\'''\''s'\'' '\'''\'''`; string(got) != want || err != nil {
		t.Errorf("%s, %v, not %s", got, err, want)
	}
	for engine, hosts := range map[string][]string{"ssh {host} {command}": nil, "srun -w {hosts} {command}": {"a", "-oProxyCommand=x"}} {
		if got, err := fill(engine, "-oProxyCommand=x", hosts, "x"); err == nil {
			t.Error(got)
		}
	}
}
