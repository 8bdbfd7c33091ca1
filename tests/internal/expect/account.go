// Package expect compares what mpi-queues shows of a process with what the test program in it says that
// it has done.
//
// The programs of tests/programs write an account each, with the keys of
// `mpi-queues -json`; a key that an account leaves out is not compared. See
// tests/programs/expect.h for what an account holds beyond those keys.
package expect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Object is a JSON object whose values keep their spelling: 1 is not 1.0.
type Object map[string]any

// Queues are the keys of a communicator's queues.
var Queues = []string{"pending_sends", "pending_receives", "unexpected_messages"}

// Account is what one process of a job says of itself.
type Account struct {
	// Name is the account's file without its ending: "rank-0", "child-1".
	Name          string
	PID           int
	GlobalRank    any
	WorldSize     any
	Communicators []Object
	// Calls are those that its threads are in, the first thread's first.
	Calls []Call
	// Endless is true if some ranks of the job wait for what never comes, and Hangs if this one does.
	Endless, Hangs bool
}

// Call is an MPI call that a thread is in.
type Call struct {
	Function string `json:"call"`
	// Communicator is the index of that which it works on.
	Communicator int `json:"communicator"`
}

// Load reads the account of one process.
func Load(path string) (*Account, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	a, err := ParseAccount(strings.TrimSuffix(filepath.Base(path), ".json"), text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// ParseAccount parses the account of one process.
func ParseAccount(name string, text []byte) (*Account, error) {
	var file struct {
		PID           int      `json:"pid"`
		GlobalRank    any      `json:"global_rank"`
		WorldSize     any      `json:"world_size"`
		Communicators []Object `json:"communicators"`
		Calls         []Call   `json:"calls"`
		Endless       bool     `json:"endless"`
		Hangs         bool     `json:"hangs"`
	}
	if err := decode(text, &file); err != nil {
		return nil, err
	}
	return &Account{name, file.PID, file.GlobalRank, file.WorldSize, file.Communicators, file.Calls, file.Endless, file.Hangs}, nil
}

// Document is what `mpi-queues -json` writes.
type Document struct {
	Schema    any      `json:"schema"`
	Processes []Object `json:"processes"`
}

// ParseDocument reads what `mpi-queues -json` has written.
func ParseDocument(text []byte) (*Document, error) {
	d := new(Document)
	if err := decode(text, d); err != nil {
		return nil, fmt.Errorf("not a document of mpi-queues: %w\n%.400s", err, text)
	}
	return d, nil
}

// Communicators returns the communicators of a process of a document.
func Communicators(process Object) []Object { return Objects(process["communicators"]) }

// Operations returns a queue of a communicator; ok is false where it is null.
func Operations(communicator Object, queue string) (ops []Object, ok bool) {
	return Objects(communicator[queue]), communicator[queue] != nil
}

func decode(text []byte, to any) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	return d.Decode(to)
}

// Objects returns the objects of a list.
func Objects(list any) []Object {
	values, _ := list.([]any)
	out := make([]Object, 0, len(values))
	for _, v := range values {
		if o, ok := v.(Object); ok {
			out = append(out, o)
		} else if m, ok := v.(map[string]any); ok {
			out = append(out, Object(m))
		}
	}
	return out
}

// show writes a value as JSON has it.
func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
