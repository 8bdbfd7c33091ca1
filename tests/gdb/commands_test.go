//go:build live

package gdb

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// document runs `mpi-queues -json` with options and returns the one process shown.
func document(t *testing.T, where live.Where, options string) expect.Object {
	t.Helper()
	path := filepath.Join(t.TempDir(), "json")
	out := work.GDB(t, where, "mpi-queues -json -output "+path+" "+options)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; gdb says:\n%s", err, out.All())
	}
	return (&live.Reading{Output: out, JSON: text}).Process(t)
}

func names(process expect.Object) []string {
	var out []string
	for _, c := range expect.Communicators(process) {
		name, _ := c["name"].(string)
		out = append(out, name)
	}
	return out
}

// What -comm, -queue, -limit and -internal keep is what the whole has of it.
func TestFilters(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "queues", 3, nil)
	where := live.Process(job.Accounts[1].PID)
	whole := document(t, where, "")
	bridge := func(p expect.Object) expect.Object {
		t.Helper()
		all := expect.Communicators(p)
		at := slices.IndexFunc(all, func(c expect.Object) bool { return c["name"] == "bridge" })
		if at < 0 {
			t.Fatalf("no bridge among %q", names(p))
		}
		return all[at]
	}
	id, _ := bridge(whole)["unique_id"].(string)

	work.GDB(t, where, "mpi-queues -comm nowhere").Contains(t,
		`no communicator has the name or id "nowhere"; there are "`+names(whole)[0]+`" (0x0), `, `"bridge" (`+id+`)`)

	members := work.GDB(t, where, "mpi-queues -members")
	members.Contains(t, "MPI_COMM_WORLD (0x0): rank 1 of 3\n  Members: global ranks 0-2\n", "\n  Members: global ranks 1\n")
	work.GDB(t, where, "mpi-queues").Lacks(t, "Members")
	all := work.GDB(t, where, "mpi-queues -all-communicators")
	all.Contains(t, "\n  Nothing pending.\n")
	all.Lacks(t, "Nothing pending on")

	for _, c := range []struct {
		options string
		names   []string // nil: all of them
		queues  []string
		limit   int
	}{
		{"-comm bridge", []string{"bridge"}, expect.Queues, 0},
		{"-comm " + id, []string{"bridge"}, expect.Queues, 0},
		{"-comm " + strings.ToUpper(id), []string{"bridge"}, expect.Queues, 0},
		{`-comm "ocean model"`, []string{"ocean model"}, expect.Queues, 0},
		{"-queue sends", nil, expect.Queues[:1], 0},
		{"-queue receives", nil, expect.Queues[1:2], 0},
		{"-queue unexpected", nil, expect.Queues[2:], 0},
		{"-q u -l 2", nil, expect.Queues[2:], 2},
		{"-limit 3", nil, expect.Queues, 3},
		{"-limit unlimited -comm bridge -queue receives", []string{"bridge"}, expect.Queues[1:2], 0},
	} {
		t.Run(c.options, func(t *testing.T) {
			got := document(t, where, c.options)
			if c.names == nil {
				c.names = names(whole)
			}
			if !slices.Equal(names(got), c.names) {
				t.Fatalf("communicators %q, want %q", names(got), c.names)
			}
			for i, communicator := range expect.Communicators(got) {
				all := expect.Communicators(whole)[slices.Index(names(whole), c.names[i])]
				for _, queue := range expect.Queues {
					sameQueue(t, communicator, all, queue, slices.Contains(c.queues, queue), c.limit)
				}
			}
		})
	}
}

// A recording holds everything, whatever was shown when it was made.
func TestRecordingIsWhole(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "queues", 3, nil)
	folder := t.TempDir()
	whole, part := filepath.Join(folder, "whole"), filepath.Join(folder, "part")
	work.GDB(t, live.Process(job.Accounts[2].PID), "mpi-queues -comm bridge -queue sends -limit 1 -output /dev/null -record "+part, "mpi-queues -json -internal -output "+whole)
	want, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	if got := work.Shell(t, "replay", "--json", "--internal", part); string(got) != string(want) {
		t.Errorf("replayed:\n%s\nshown:\n%s", got, want)
	}
}

func sameQueue(t *testing.T, got, all expect.Object, queue string, wanted bool, limit int) {
	t.Helper()
	ops, ok := expect.Operations(got, queue)
	if ok != wanted {
		t.Errorf("%v: %s is there: %v, want %v", got["name"], queue, ok, wanted)
	}
	if !wanted {
		return
	}
	want, _ := expect.Operations(all, queue)
	total := len(want)
	if limit > 0 {
		want = want[:min(limit, len(want))]
	}
	if !slices.EqualFunc(ops, want, func(a, b expect.Object) bool {
		return a["request"] == b["request"] && a["desired_tag"] == b["desired_tag"] && a["buffer"] == b["buffer"]
	}) {
		t.Errorf("%v: %s are\n%v\nwant\n%v", got["name"], queue, ops, want)
	}
	totals, _ := got["totals"].(map[string]any)
	if n, ok := totals[queue].(interface{ Int64() (int64, error) }); !ok {
		t.Errorf("%v: no total of %s", got["name"], queue)
	} else if n, err := n.Int64(); err != nil || n != int64(total) {
		t.Errorf("%v: total of %s is %d, want %d", got["name"], queue, n, total)
	}
}

// A rank in MPI_Barrier: -internal shows the message that it waits for.
func TestInternal(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "blocked", 3, nil, "barrier")
	where := live.Process(job.Accounts[2].PID)
	var tags []string
	if !live.Soon(func() bool {
		tags = nil
		for _, c := range expect.Communicators(document(t, where, "-internal")) {
			ops, _ := expect.Operations(c, "pending_receives")
			for _, op := range ops {
				if c["name"] == "MPI_COMM_WORLD" && op["internal"] == true {
					tags = append(tags, stringOf(op["desired_tag"]))
				}
			}
		}
		return slices.Equal(tags, []string{"-16"})
	}) {
		t.Errorf("internal receives have the tags %q, want -16 (barrier) alone", tags)
	}
	internal := document(t, where, "-internal")
	if got := names(internal); !slices.Equal(got, []string{"MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_NULL"}) {
		t.Errorf("communicators %q", got)
	}
	null := expect.Communicators(internal)[2]
	for _, queue := range expect.Queues {
		if ops, ok := expect.Operations(null, queue); !ok || len(ops) > 0 {
			t.Errorf("MPI_COMM_NULL has %s %v (%v)", queue, null[queue], null["unavailable"])
		}
	}
	if notes, _ := internal["notes"].([]any); len(notes) > 0 {
		t.Errorf("notes: %v", notes)
	}
	if null["internal"] != true {
		t.Error("MPI_COMM_NULL is not internal")
	}
	plain := document(t, where, "")
	if got := names(plain); !slices.Equal(got, []string{"MPI_COMM_WORLD", "MPI_COMM_SELF"}) {
		t.Errorf("without -internal, communicators %q", got)
	}
	if ops, _ := expect.Operations(expect.Communicators(plain)[0], "pending_receives"); len(ops) > 0 {
		t.Errorf("without -internal, receives %v", ops)
	}
}

func stringOf(v any) string {
	if s, ok := v.(interface{ String() string }); ok {
		return s.String()
	}
	return "?"
}

// Queues inside a UCX that can't be read are not known, which is not that they are empty.
func TestUnreadableUCX(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "queues", 3, append(live.OverUCX("n"), "-x", "LD_LIBRARY_PATH="+live.UCXWithoutTree(t)))
	for _, account := range job.Accounts {
		process := document(t, live.Process(account.PID), "")
		if len(names(process)) < len(account.Communicators) {
			t.Errorf("communicators %q", names(process))
		}
		for _, c := range expect.Communicators(process) {
			reasons, _ := c["unavailable"].(map[string]any)
			for _, queue := range expect.Queues {
				reason, _ := reasons[queue].(string)
				if c[queue] != nil || !strings.Contains(reason, "UCX") {
					t.Errorf("%s: %v: %s is %v, because %q", account.Name, c["name"], queue, c[queue], reason)
				}
			}
		}
	}
	out := work.GDB(t, live.Process(job.Accounts[0].PID), "mpi-queues")
	out.Contains(t, "Not available on MPI_COMM_WORLD, ", "its messages are inside UCX, which can't be read")
	out.Lacks(t, "Nothing pending")
}
