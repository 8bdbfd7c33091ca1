package recordings

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// counts says, for each kind of thing that a process has ("communicators", "pending_sends", ...), how many
// there are and of how many each value is known. The oracle lets a value be unknown wherever a library may
// not keep it, and the texts don't have all values: here a decoder that goes blind is seen.
type counts map[string]*count

type count struct {
	All   int            `json:"all"`
	Known map[string]int `json:"known"`
}

// add counts what is shown of a process.
func (c counts) add(process expect.Object) {
	c.one("processes", process)
	for _, thread := range expect.Objects(process["threads"]) {
		c.one("threads", thread)
	}
	for _, list := range []string{"windows", "files"} {
		for _, object := range expect.Objects(process[list]) {
			c.one(list, object)
		}
	}
	for _, comm := range expect.Communicators(process) {
		c.one("communicators", comm)
		for _, queue := range expect.Queues {
			operations, _ := expect.Operations(comm, queue)
			for _, op := range operations {
				c.one(queue, op)
			}
		}
	}
}

// remarks are the values that say what is not known, or nothing about the thing itself.
var remarks = []string{"notes", "unavailable", "extra_text", "totals", "differences"}

// one counts one thing. Empty lists are no more known than null.
func (c counts) one(kind string, of expect.Object) {
	if c[kind] == nil {
		c[kind] = &count{Known: map[string]int{}}
	}
	c[kind].All++
	for key, value := range of {
		list, isList := value.([]any)
		if value != nil && (!isList || len(list) > 0) && !slices.Contains(remarks, key) {
			c[kind].Known[key]++
		}
	}
}

// check holds the counts against a folder's, which -update writes. More is no more allowed than less: what
// is known now has to be known from now on.
func (c counts) check(t *testing.T, file string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, indented(t, c), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := counts{}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, kind := range slices.Sorted(maps.Keys(union(c, want))) {
		got, floor := orNone(c[kind]), orNone(want[kind])
		differs(t, file, kind, got.All, floor.All)
		for _, key := range slices.Sorted(maps.Keys(union(got.Known, floor.Known))) {
			differs(t, file, key+" of "+kind, got.Known[key], floor.Known[key])
		}
	}
}

func differs(t *testing.T, file, what string, got, want int) {
	t.Helper()
	switch {
	case got < want:
		t.Errorf("%s: %d %s are known, want %d", file, got, what, want)
	case got > want:
		t.Errorf("%s: %d %s are known, more than %d: -update keeps it so", file, got, what, want)
	}
}

// union has the keys of two maps.
func union[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, b)
	return out
}

func orNone(c *count) *count {
	if c == nil {
		return &count{}
	}
	return c
}
