package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// sendsList is a file of what a collector sends that lists its ranks.
func sendsList(t *testing.T, node, version, list string) string {
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
			if _, err := io.WriteString(w, `{"names": ["pmix:1"], "list": `+list+"}\n"+string(appendClocks(appendClocks(nil, nil), nil))); err != nil {
				return err
			}
			return document.WriteMerged(w, &mqs.Snapshot{})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Of hosts that list their ranks, send half of it, nothing, too much, or are of another version, each is named with what
// it has sent or why that can't be used.
func TestLists(t *testing.T) {
	t.Parallel()
	const good = `{"size": 4, "server": true, "seats": [{"rank": 2, "pid": 7, "executable": "/a", "obstacle": "", "image": 0}], "images": [["ab"]]}`
	seat := strings.Repeat(`{"pid": 1, "image": 0},`, maxSeats) + `{"pid": 1, "image": 0}`
	commands := map[string]string{
		"a": "cat " + sendsList(t, "a", "v1", good),
		"b": "head -n -1 " + sendsList(t, "b", "v1", good) + "; kill -9 $$",
		"c": "head -c 200 " + sendsList(t, "c", "v1", good),
		"d": "cat " + sendsList(t, "d", "v2", good),
		"e": "sleep 100",
		"f": "cat " + sendsList(t, "f", "v1", "null"),
		"g": "cat " + sendsList(t, "g", "v1", `{"seats": [`+seat+`]}`),
		"h": "cat " + sendsList(t, "h", "v1", `{"seats": [{"executable": "`+strings.Repeat("x", maxText+1)+`"}]}`),
		"i": "cat " + sendsList(t, "i", "v1", `{"images": [["`+strings.Repeat("0", maxID+1)+`"]]}`),
		"j": "cat " + sendsList(t, "j", "v1", `{"seats": 5}`),
		"k": "yes",
		"l": "cat " + sends(t, "l", "v1", "pmix:1", 0),
	}
	q := question(commands)
	q.Limit = silence
	lists, err := q.Lists(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	failures := map[string]string{}
	for _, l := range lists {
		if l.List != nil {
			if l.Host != "a" || l.Failure != "" || l.Size != mqs.Known[int32](4) || !l.Server || len(l.Seats) != 1 || l.Seats[0].PID != 7 {
				t.Errorf("%+v", l)
			}
			continue
		}
		failures[l.Host] = l.Failure
	}
	for host, want := range map[string]string{
		"b": "cut off", "c": "", "d": "it has version v2 of mpi-queues", "e": "no answer came within", "f": "it has sent no list of its ranks",
		"g": "it has sent no list", "h": "it has sent no list", "i": "it has sent no list", "j": "it has not sent a valid document", "k": "it sends too much other output", "l": "it has sent no list",
	} {
		if got, is := failures[host]; !is || got == "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q", host, got)
		}
	}
	if len(lists) != len(commands) {
		t.Error(failures)
	}
}

// A node lists its ranks with what they execute, and says of which it knows that no debugger can attach to them.
func TestSendList(t *testing.T) {
	t.Parallel()
	sleep, traced := exec.Command("sleep", "1000"), exec.Command("sleep", "1000")
	for _, c := range []*exec.Cmd{sleep, traced} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = c.Process.Kill(), c.Wait() }()
	}
	gdb := exec.Command("gdb", "-nx", "-quiet", "-p", fmt.Sprint(traced.Process.Pid), "-ex", "shell echo ready")
	in, err := gdb.StdinPipe() // with which it ends
	if err != nil {
		t.Fatal(err)
	}
	out, err := gdb.StdoutPipe()
	if err == nil {
		err = gdb.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), gdb.Wait() }()
	for text := []byte{}; !bytes.Contains(text, []byte("ready")); {
		piece := make([]byte, 1<<12)
		n, err := out.Read(piece)
		if err != nil {
			t.Fatal(string(text), err)
		}
		text = append(text, piece[:n]...)
	}
	job := &launch.Job{Names: []string{"pmix:1"}, Size: mqs.Known[int32](9), Ranks: []launch.Rank{
		{Number: mqs.Known[int32](0), PID: sleep.Process.Pid, Executable: "/bin/sleep"},
		{Number: mqs.Known[int32](1), PID: traced.Process.Pid},
		{Number: mqs.Known[int32](2), PID: os.Getpid(), Obstacle: "it is mine"},
		{Number: mqs.Known[int32](3), PID: 5, Host: "elsewhere"},
		{Number: mqs.Known[int32](4), PID: 6, Exited: true},
		{Number: mqs.Known[int32](5), PID: 1 << 30},
	}}
	path := filepath.Join(t.TempDir(), "sent")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	to, err := wire.NewSender(f, "a", "m", "v1")
	if err == nil {
		err = SendList(t.Context(), job, to)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	q := question(map[string]string{"a": "cat " + path})
	q.Limit += 30 * time.Second
	lists, err := q.Lists(context.Background())
	if err != nil || len(lists) != 1 || lists[0].List == nil {
		t.Fatalf("%+v, %v", lists, err)
	}
	l := lists[0]
	text, _ := json.Marshal(l.List)
	if len(l.Seats) != 4 || l.Size.Value != 9 {
		t.Fatal(string(text))
	}
	for i, want := range []string{"", fmt.Sprintf("process %d is being debugged by process %d there", traced.Process.Pid, gdb.Process.Pid), "it is mine", "the kernel there lets nobody trace process 1073741824 (ptrace: no such file or directory)"} {
		if l.Seats[i].Obstacle != want {
			t.Errorf("%d: %q", i, l.Seats[i].Obstacle)
		}
	}
	if l.Seats[0].Image != l.Seats[1].Image || l.Seats[0].Image == l.Seats[2].Image {
		t.Error(string(text))
	}
	program, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	if id := procmem.BuildID(program); id == "" || !slices.Contains(l.Images[l.Seats[0].Image], id) {
		t.Errorf("%q: %s", id, text)
	}
	if err := SendList(t.Context(), &launch.Job{}, to); err == nil {
		t.Error("a list of nothing")
	}
}
