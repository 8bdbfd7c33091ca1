package oracle

import (
	"os"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// An entry allows what it names, no more, and its promise is held against the cases.
func TestTable(t *testing.T) {
	table, err := ParseTable(strings.NewReader(`[{"builds": ["a"], "readers": ["native"], "events": ["unknown"], "queues": ["pending_sends"], "fields": ["count"],
		"when": {"kind": ["is*"]}, "known": 0.5, "reason": "so"}]`))
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Of("b", "native"))+len(table.Of("a", "dll")) > 0 {
		t.Error("an entry is another's")
	}
	own := table.Of("a", "native")
	event := func(kind Kind, queue, field, how string) Event {
		return Event{Kind: kind, Queue: queue, Field: field, Comm: expect.Object{}, Want: expect.Object{"kind": how}}
	}
	for _, c := range []struct {
		event Event
		want  bool
	}{
		{event(Right, "pending_sends", "count", "isend"), true},
		{event(Unknown, "pending_sends", "count", "issend"), true},
		{event(Wrong, "unexpected_messages", "count", "isend"), false},
		{event(Unknown, "pending_sends", "buffer", "isend"), false},
		{event(Unknown, "pending_sends", "count", "send_init"), false},
		{event(Unknown, "pending_receives", "count", "isend"), false},
	} {
		if got := own.Allows(c.event); got != c.want {
			t.Errorf("%v: %t", c.event, got)
		}
	}
	for range enough {
		own.Allows(event(Right, "pending_sends", "count", "isend"))
		own.Allows(event(Unknown, "pending_sends", "count", "isend"))
	}
	if broken := own.Broken(); broken != nil {
		t.Errorf("half is known, and that is promised: %v", broken)
	}
	own.Allows(event(Unknown, "pending_sends", "count", "isend"))
	if len(own.Broken()) != 1 {
		t.Error("less is known than is promised, and nothing says so")
	}
	if _, err := ParseTable(strings.NewReader(`[{"builds": ["a"], "readers": ["native"], "events": ["wrong"], "reason": "never"}]`)); err == nil {
		t.Error("the native decoder may be wrong")
	}
}

// The table of this folder is one.
func TestKnown(t *testing.T) {
	file, err := os.Open("known.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := ParseTable(file); err != nil {
		t.Error(err)
	}
}
