package liveness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// TestReplay checks that samples that were written down, with the clocks of their processes, lead to the report that the watch
// of the running processes made: a deadlock where the ranks have run between the samples, and none where they have not.
func TestReplay(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		want    waitfor.Verdict
	}{
		"busy":     {[]string{"sh", "-c", "while :; do :; done"}, waitfor.Deadlocked},
		"sleeping": {[]string{"sleep", "1000"}, waitfor.DeadlockedUnless},
	} {
		t.Run(name, func(t *testing.T) {
			first := undecided(t)
			for _, p := range first.Processes {
				ranks := exec.Command(c.command[0], c.command[1:]...)
				if err := ranks.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = ranks.Process.Kill(); _ = ranks.Wait() })
				p.PID = ranks.Process.Pid
			}
			again := func(context.Context) (*mqs.Snapshot, error) {
				next := undecided(t)
				for i, p := range next.Processes {
					p.PID = first.Processes[i].PID
				}
				return next, nil
			}
			live, samples, err := Record(t.Context(), first, again, func(error) bool { return false })
			for err == nil && live.Verdict != c.want { // on a busy machine, the ranks may not have run
				live, samples, err = Record(t.Context(), first, again, func(error) bool { return false })
			}
			if err != nil || live.Verdict != c.want || len(samples) < 2 {
				t.Fatalf("%+v of %d samples, %v", live, len(samples), err)
			}
			replayed, err := Replay(readBack(t, samples))
			if err != nil || reportText(t, replayed) != reportText(t, live) {
				t.Errorf("the replay says\n%sand the live report said\n%s(%v)", reportText(t, replayed), reportText(t, live), err)
			}
			for i := range samples {
				samples[i].Stopped, samples[i].Left = nil, nil
			}
			if replayed, err = Replay(samples); err != nil || replayed.Verdict == waitfor.Deadlocked {
				t.Errorf("without clocks, a replay says %q (%v)", replayed.Verdict, err)
			}
		})
	}
	if _, err := Replay(nil); err == nil {
		t.Error("there is a report on no sample")
	}
}

// readBack returns samples as they are once they were written and read again.
func readBack(t *testing.T, samples []Sample) []Sample {
	t.Helper()
	var out []Sample
	for _, s := range samples {
		var doc bytes.Buffer
		clocks := Sample{Look{nil, s.Stopped, s.Left}, s.Watched}
		text, err := json.Marshal(clocks)
		var back Sample
		if err = errors.Join(err, document.Write(&doc, s.Snapshot), json.Unmarshal(text, &back)); err != nil {
			t.Fatal(err)
		}
		if back.Snapshot, err = new(document.Parser).Read(&doc); err != nil {
			t.Fatal(err)
		}
		out = append(out, back)
	}
	return out
}

func reportText(t *testing.T, r *waitfor.Report) string {
	t.Helper()
	var text bytes.Buffer
	if err := document.WriteReport(&text, r); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
