package document

import (
	"bytes"
	"io"
	"math"
	"reflect"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/across"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// sparse lacks what a snapshot may lack: values that are not known, queues that were not asked for or
// are not there, a name that is no text.
func sparse() *mqs.Snapshot {
	bare := mqs.PendingOperation{Status: mqs.Pending, ExtraText: []string{}}
	unnamed := mqs.PendingOperation{Status: mqs.Pending, ExtraText: []string{}, Datatype: mqs.Known("")}
	anyRank := mqs.PendingOperation{Status: mqs.Matched, ExtraText: []string{}, DesiredLocalRank: mqs.Known[int32](mqs.AnyRank),
		DesiredGlobalRank: mqs.Known[int32](mqs.AnyRank), TagWild: mqs.Known(true), Buffer: mqs.Known[inferior.Addr](0xfffffffffffffff8)}
	return &mqs.Snapshot{Processes: []*mqs.Process{
		{Inferior: 1, PID: 4711, Notes: []string{"A note."}, Threads: []mqs.Thread{{Number: 3, Requests: []inferior.Addr{}}},
			Communicators: []*mqs.Queues{{
				Communicator: mqs.Communicator{UniqueID: 3, Name: mqs.Known("a \"name\"\x1b[31m\t\xff é"), Group: []mqs.Maybe[int32]{mqs.Known[int32](0), {}}},
				Queue:        [3]*mqs.Queue{{Operations: []mqs.PendingOperation{}, Total: 0}, {Operations: []mqs.PendingOperation{anyRank, bare, unnamed}, Total: 9}, {Unavailable: "it is not there"}},
			}, {Communicator: mqs.Communicator{UniqueID: 4, Internal: true}, Queue: [3]*mqs.Queue{nil, {Operations: []mqs.PendingOperation{}}, nil}}},
		},
		{Inferior: 2, Unavailable: "the program has not called MPI_Init yet", Notes: []string{}},
	}}
}

func document(t testing.TB, s *mqs.Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// written is what one of the functions that write a document writes.
func written[T any](t testing.TB, write func(io.Writer, *T) error, v *T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The samples have something in every field that a document has.
func TestSamplesAreFull(t *testing.T) {
	for _, sample := range []any{sampleSnapshot(), sampleReport(), sampleHandle(), sampleRanks(), sampleValues(), sampleTree()} {
		full := map[string]bool{}
		look(reflect.ValueOf(sample), full)
		for field, filled := range full {
			if !filled {
				t.Errorf("%s is filled nowhere in the sample", field)
			}
		}
	}
}

// look notes for each field of the structs in a value whether one of them has something in it.
func look(v reflect.Value, full map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			look(v.Elem(), full)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			look(v.Index(i), full)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Tag.Get("json") != "-" {
				name := v.Type().String() + "." + f.Name
				full[name] = full[name] || !v.Field(i).IsZero()
				look(v.Field(i), full)
			}
		}
	}
}

// What is written keeps the schema; and of the samples it has all that the schema has.
func TestDocumentsKeepTheirSchemas(t *testing.T) {
	for _, c := range []struct {
		schema   string
		document []byte
		isFull   bool
	}{
		{"schema.json", document(t, sampleSnapshot()), true},
		{"schema.json", document(t, sparse()), false},
		{"report-schema.json", written(t, WriteReport, sampleReport()), true},
		{"report-schema.json", written(t, WriteReport, &waitfor.Report{Verdict: waitfor.Unknown}), false},
		{"handle-schema.json", written(t, WriteHandle, sampleHandle()), true},
		{"handle-schema.json", written(t, WriteHandle, &mqs.Handle{Kind: mqs.CommHandle}), false},
		{"ranks-schema.json", written(t, WriteRanks, sampleRanks()), true},
		{"ranks-schema.json", written(t, WriteRanks, &across.Ranks{Ranks: []across.Rank{{State: across.Away}}}), false},
		{"values-schema.json", written(t, WriteValues, sampleValues()), true},
		{"values-schema.json", written(t, WriteValues, &across.Values{Values: []across.Value{{}}}), false},
		{"stacks-schema.json", written(t, WriteStacks, sampleTree()), true},
		{"stacks-schema.json", written(t, WriteStacks, &stacks.Tree{Frames: []stacks.Frame{{}}}), false},
	} {
		schema, err := jsonschema.NewCompiler().Compile(c.schema)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.document))
		if err != nil {
			t.Fatalf("%v in\n%s", err, c.document)
		}
		if err := schema.Validate(doc); err != nil {
			t.Error(err)
		}
		if !c.isFull {
			continue
		}
		full := map[string]bool{}
		use(schema, doc, full)
		for key, filled := range full {
			if !filled {
				t.Errorf("%s is null wherever it is in the sample", key)
			}
		}
	}
}

// use notes for each property of a schema whether a value has something in it.
func use(s *jsonschema.Schema, value any, full map[string]bool) {
	switch {
	case value == nil:
	case s.Ref != nil:
		use(s.Ref, value, full)
	case len(s.OneOf) > 0:
		for _, way := range s.OneOf {
			if way.Types == nil || way.Types.String() != "[null]" {
				use(way, value, full)
			}
		}
	case s.Items2020 != nil:
		for _, element := range value.([]any) {
			use(s.Items2020, element, full)
		}
	case s.Properties != nil:
		for key, property := range s.Properties {
			member := value.(map[string]any)[key]
			place := property.Location
			full[place] = full[place] || member != nil
			use(property, member, full)
		}
	}
}

// What is written is read back, and no field is lost.
func TestReadBack(t *testing.T) {
	want := sampleSnapshot()
	got, err := Parse(document(t, want))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read back as\n%s\nwant\n%s", document(t, got), document(t, want))
	}
	// So is what lacks much. What was not UTF-8 has become U+FFFD.
	want = sparse()
	if got, err = Parse(document(t, want)); err != nil {
		t.Fatal(err)
	}
	want.Processes[0].Communicators[0].Name.Value = "a \"name\"\x1b[31m\t\uFFFD é"
	for i, p := range want.Processes {
		if !reflect.DeepEqual(got.Processes[i], p) {
			t.Errorf("read back as\n%+v\nwant\n%+v", got.Processes[i], p)
		}
	}
}

// A count of more than 63 bits is no negative one.
func TestLargeNumbers(t *testing.T) {
	want := &mqs.Snapshot{Processes: []*mqs.Process{{Progress: mqs.Known[uint64](math.MaxUint64), Notes: []string{}}}}
	got, err := Parse(document(t, want))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v", document(t, want), err)
	}
}

// No number below its least possible value is written where the schema has null instead.
func TestLinesThatAreNone(t *testing.T) {
	for _, line := range []int{0, -1} {
		s := &mqs.Snapshot{Processes: []*mqs.Process{{Threads: []mqs.Thread{{Line: line}}}}}
		if !bytes.Contains(document(t, s), []byte(`"line": null`)) {
			t.Errorf("%d is written as %s", line, document(t, s))
		}
	}
}
