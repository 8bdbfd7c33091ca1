package document

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

//go:embed schema.json
var schemaText []byte

// sample has everything that a snapshot can have, hostile names included.
func sample() *mqs.Snapshot {
	full := mqs.PendingOperation{Status: mqs.Matched, DesiredLocalRank: mqs.Known[int32](mqs.AnyRank), DesiredGlobalRank: mqs.Known[int32](mqs.AnyRank),
		TagWild: mqs.Known(true), DesiredLength: mqs.Known[int64](1 << 40), SystemBuffer: mqs.Known(true), Buffer: mqs.Known[inferior.Addr](0xfffffffffffffff8),
		ActualLocalRank: mqs.Known[int32](1), ActualGlobalRank: mqs.Known[int32](2), ActualTag: mqs.Known[int32](7), ActualLength: mqs.Known[int64](4),
		ExtraText: []string{"cancelled"}, Kind: "irecv", Datatype: mqs.Known("MPI_INT"), Count: mqs.Known[int64](1), Request: mqs.Known[inferior.Addr](0x1000), Internal: true}
	bare := mqs.PendingOperation{Status: mqs.Pending, ExtraText: []string{}}
	unnamed := mqs.PendingOperation{Status: mqs.Pending, ExtraText: []string{}, Datatype: mqs.Known("")}
	return &mqs.Snapshot{Processes: []*mqs.Process{
		{Inferior: 1, PID: 4711, GlobalRank: mqs.Known[int32](0), WorldSize: mqs.Known[int32](3), Image: "/bin/a.out", MPI: "Open MPI", MPIVersion: "4.1.4",
			Library: "/lib/libmpi.so.40", Source: "native", Layout: "table", LayoutName: "Open MPI 4.1.4", Notes: []string{"A note."},
			State: mqs.Stopped, Threads: []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Recv", Comm: mqs.Known[inferior.Addr](3), Requests: []inferior.Addr{0x1000}, AllRequests: true},
				{Number: 2, Placed: true, Activity: mqs.Joins, Joined: mqs.Known(1), Function: "main", Requests: []inferior.Addr{}}, {Number: 3, Requests: []inferior.Addr{}}},
			Communicators: []*mqs.Queues{{
				Communicator: mqs.Communicator{UniqueID: 3, LocalRank: mqs.Known[int32](0), Size: mqs.Known[int32](2), Name: mqs.Known("a \"name\"\x1b[31m\t\xff é"),
					Group: []mqs.Maybe[int32]{mqs.Known[int32](0), {}}, RemoteGroup: []mqs.Maybe[int32]{mqs.Known[int32](2)}, Inter: mqs.Known(true)},
				Queue: [3]*mqs.Queue{{Operations: []mqs.PendingOperation{}, Total: 0}, {Operations: []mqs.PendingOperation{full, bare, unnamed}, Total: 9}, {Unavailable: "it is not there"}},
			}, {Communicator: mqs.Communicator{UniqueID: 4, Internal: true}, Queue: [3]*mqs.Queue{nil, {Operations: []mqs.PendingOperation{}}, nil}}},
		},
		{Inferior: 2, Unavailable: "the program has not called MPI_Init yet"},
	}}
}

func document(t *testing.T, s *mqs.Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestJSONKeepsTheSchema(t *testing.T) {
	var schema, doc any
	for text, into := range map[string]*any{string(schemaText): &schema, string(document(t, sample())): &doc} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(into); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
	for i, p := range doc.(map[string]any)["processes"].([]any) {
		// Not only allowed but there, also where there is nothing to say.
		for _, key := range []string{"dll", "dll_version", "differences"} {
			if _, ok := p.(map[string]any)[key]; !ok {
				t.Errorf("process %d has no %s", i, key)
			}
		}
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Error(err)
	}
}

func TestJSONIsReadBack(t *testing.T) {
	want := sample()
	got, err := Parse(document(t, want))
	if err != nil {
		t.Fatal(err)
	}
	// What was not UTF-8 has become U+FFFD.
	want.Processes[0].Communicators[0].Name.Value = "a \"name\"\x1b[31m\t\uFFFD é"
	if a, b := document(t, got), document(t, want); !bytes.Equal(a, b) {
		t.Errorf("read back as\n%s\nwant\n%s", a, b)
	}
	for i, p := range want.Processes {
		if !reflect.DeepEqual(got.Processes[i].Differences, p.Differences) {
			t.Errorf("read back as\n%+v\nwant\n%+v", got.Processes[i].Differences, p.Differences)
		}
	}
	if !reflect.DeepEqual(got.Processes[0].Threads, want.Processes[0].Threads) || got.Processes[0].State != want.Processes[0].State {
		t.Errorf("read back as\n%+v\nwant\n%+v", got.Processes[0].Threads, want.Processes[0].Threads)
	}
	if !reflect.DeepEqual(got.Processes[0].Communicators, want.Processes[0].Communicators) {
		t.Errorf("read back as\n%+v\nwant\n%+v", got.Processes[0].Communicators[0], want.Processes[0].Communicators[0])
	}
	for _, bad := range []string{"", "[]", "{}", `{"schema": 2}`} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
