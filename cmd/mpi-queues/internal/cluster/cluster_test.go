package cluster

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/liveness"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
)

// sends is a file of what a collector sends of one rank.
func sends(t *testing.T, node, version, job string, rank int32) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sent")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	to, err := wire.NewSender(f, node, "machine of "+node, version)
	if err == nil {
		err = to.Document(func(w io.Writer) error {
			_, err := io.WriteString(w, `{"names": ["`+job+`"], "stopped": {"7": {"started": 1, "ticks": 2}}, "left": {}}`+"\n")
			if err != nil {
				return err
			}
			return document.Write(w, &mqs.Snapshot{Processes: []*mqs.Process{{PID: 7, GlobalRank: mqs.Known(rank), WorldSize: mqs.Known[int32](5)}}})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Hosts that answer, fail, hang and are of another version or job: all are named, each reason once.
func TestAsk(t *testing.T) {
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
	}
	q := &Question{Engine: "sh -c {command} {host}", Command: func(host string) string { return commands[host] }, Version: "v1", Limit: -2*endPatience + 2*time.Second}
	for _, host := range strings.Split("abcdefghi", "") {
		q.Hosts = append(q.Hosts, host)
	}
	answer, err := q.Ask(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(answer.Remarks, "\n")
	for _, want := range []string{
		"Not read: c, d: no way (exit status 3)", "Not read: e: mpi-queues is there in version v2, and here in version v1",
		"Not read: f: the job there is another one", "Not read: g: no answer came within", "h is the same machine as a", "Not read: i: it ended without a word",
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

func TestEngine(t *testing.T) {
	if _, err := Engine("ssh {host}"); err == nil {
		t.Error("an engine without a command")
	}
	line, err := Engine("ssh")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fill(line, "a b", nil, Line("x", "it's", "")), `ssh -o BatchMode=yes -o ConnectTimeout=10 'a b' 'x '\''it'\''\'\'''\''s'\'' '\'''\'''`; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}
