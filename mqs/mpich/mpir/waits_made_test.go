package mpir

import (
	"errors"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// waits are requests of a made-up process, by their names.
func waits() map[string]*Operation {
	of := map[string]*Operation{}
	for i, r := range []struct {
		name    string
		kind    uint32
		pending int32
	}{
		{"send", KindSend, 1}, {"receive", KindRecv, 1}, {"complete", KindRecv, 0}, {"persistent", kindPersistentSend, 1}, {"started", KindSend, 1}, {"over", kindPersistentRecv, 0}, {"received", KindRecv, 0},
	} {
		of[r.name] = &Operation{At: inferior.Ptr[Request](0x1000 + 0x100*i), Request: Request{Handle: 0xac000000 + uint32(i), Kind: r.kind, Pending: r.pending, Comm: 0x10}}
	}
	of["persistent"].Real, of["started"].Owner = of["started"].At, of["persistent"]
	of["over"].Real, of["received"].Owner = of["received"].At, of["over"]
	return of
}

func listOf(of map[string]*Operation) (out []*Operation) {
	for _, r := range of {
		out = append(out, r)
	}
	return out
}

// given returns a call with arguments in the frame of an MPI function, and in one inside of it.
func given(function string, own, inside map[string]int64) *callstack.Call {
	c := waiting(function)
	c.Frames[0].Function, c.Frames[1].Variables, c.Frames[2].Variables = "MPID_Progress_wait", inside, own
	return c
}

// A call for requests waits for those whose handles it was given, that are not complete.
func TestRequestsOfWait(t *testing.T) {
	const array, end = 0x8000, 0x9000
	of := waits()
	for name, c := range map[string]struct {
		call    string
		handles []uint32
		own     map[string]int64
		want    []string
		isAll   bool
	}{
		"one":                       {"MPI_Wait", []uint32{of["receive"].Handle}, map[string]int64{"request": array}, []string{"receive"}, true},
		"one, in a test":            {"MPI_Test", []uint32{of["receive"].Handle}, map[string]int64{"request": array}, []string{"receive"}, true},
		"one, of a cancelled":       {"MPI_Test_cancelled", []uint32{of["receive"].Handle}, map[string]int64{"request": array}, nil, false},
		"several":                   {"MPI_Waitall", []uint32{of["receive"].Handle, of["send"].Handle}, map[string]int64{"array_of_requests": array, "count": 2}, []string{"receive", "send"}, true},
		"some":                      {"MPI_Waitsome", []uint32{of["receive"].Handle, of["send"].Handle}, map[string]int64{"array_of_requests": array, "incount": 1}, []string{"receive"}, true},
		"the status of all":         {"MPI_Request_get_status_all", []uint32{of["receive"].Handle, of["complete"].Handle}, map[string]int64{"array_of_requests": array, "count": 2}, []string{"receive"}, true},
		"the status of any":         {"MPI_Request_get_status_any", []uint32{of["receive"].Handle, nullRequest}, map[string]int64{"array_of_requests": array, "count": 2}, []string{"receive"}, true},
		"the status of some":        {"MPI_Request_get_status_some", []uint32{of["receive"].Handle, of["send"].Handle}, map[string]int64{"array_of_requests": array, "incount": 1}, []string{"receive"}, true},
		"none":                      {"MPI_Waitall", nil, map[string]int64{"array_of_requests": array, "count": 0}, nil, true},
		"a complete one":            {"MPI_Waitall", []uint32{of["complete"].Handle, nullRequest}, map[string]int64{"array_of_requests": array, "count": 2}, []string{"complete"}, true},
		"a complete one, in a test": {"MPI_Testall", []uint32{of["complete"].Handle, nullRequest}, map[string]int64{"array_of_requests": array, "count": 2}, nil, true},
		"a persistent one":          {"MPI_Wait", []uint32{of["persistent"].Handle}, map[string]int64{"request": array}, []string{"persistent"}, true},
		"one that is over":          {"MPI_Wait", []uint32{of["over"].Handle}, map[string]int64{"request": array}, nil, true},
		"the library's own":         {"MPI_Waitall", []uint32{of["started"].Handle, of["send"].Handle}, map[string]int64{"array_of_requests": array, "count": 2}, []string{"send"}, false},
		"one that is not known":     {"MPI_Waitall", []uint32{0xac0000ff, of["send"].Handle}, map[string]int64{"array_of_requests": array, "count": 2}, []string{"send"}, false},
		"how many is not known":     {"MPI_Waitall", []uint32{of["send"].Handle}, map[string]int64{"array_of_requests": array}, nil, false},
		"where is not known":        {"MPI_Waitall", nil, map[string]int64{"count": 1}, nil, false},
		"fewer than none":           {"MPI_Waitall", nil, map[string]int64{"array_of_requests": array, "count": -1}, nil, false},
		"too many":                  {"MPI_Waitall", []uint32{of["send"].Handle}, map[string]int64{"array_of_requests": array, "count": maxHandles + 1}, nil, false},
		"behind the memory":         {"MPI_Waitall", []uint32{of["send"].Handle}, map[string]int64{"array_of_requests": end - 4, "count": 2}, nil, false},
	} {
		p := inferiortest.New()
		p.PutUint32(array, c.handles...)
		p.PutUint32(end-4, nullRequest)
		s := made(p, &scripted{}, nil, listOf(of)...)
		if got, isAll := s.waitedFor(given(c.call, c.own, nil), true); !slices.Equal(names(of, got), c.want) || isAll != c.isAll {
			t.Errorf("%s: %q, all: %t, want %q", name, names(of, got), isAll, c.want)
		}
	}
}

// MPI_Request_get_status asks about the request whose handle it was given.
func TestRequestOfStatus(t *testing.T) {
	of := waits()
	for name, want := range map[string][]string{"receive": {"receive"}, "complete": nil, "persistent": {"persistent"}, "started": nil, "over": nil} {
		s := made(inferiortest.New(), &scripted{}, nil, listOf(of)...)
		call := given("MPI_Request_get_status", map[string]int64{"request": int64(of[name].Handle)}, nil)
		if got, isAll := s.waitedFor(call, true); !slices.Equal(names(of, got), want) || isAll != (want != nil) {
			t.Errorf("%s: %q, all: %t", name, names(of, got), isAll)
		}
	}
	s := made(inferiortest.New(), &scripted{}, nil, listOf(of)...)
	if got, isAll := s.waitedFor(given("MPI_Request_get_status", nil, nil), true); got != nil || isAll {
		t.Errorf("not known: %q, all: %t", names(of, got), isAll)
	}
}

// A collective waits for the requests that its functions for waiting were given, and may wait for more.
func TestOwnMessages(t *testing.T) {
	const array, end = 0x8000, 0x9000
	of := waits()
	pointer := func(name string) int64 { return int64(of[name].At) }
	for name, c := range map[string]struct {
		inside map[string]int64
		want   []string
	}{
		"one":                    {map[string]int64{"request_ptr": pointer("send")}, []string{"send"}},
		"a complete one":         {map[string]int64{"request_ptr": pointer("complete")}, nil},
		"none that is known":     {map[string]int64{"request_ptr": 0x5000}, nil},
		"several":                {map[string]int64{"request_ptrs": array, "count": 4}, []string{"receive", "send"}},
		"several of a schedule":  {map[string]int64{"requests": array, "numreq": 1}, []string{"send"}},
		"how many is not known":  {map[string]int64{"request_ptrs": array}, nil},
		"fewer than none":        {map[string]int64{"request_ptrs": array, "count": -1}, nil},
		"too many":               {map[string]int64{"request_ptrs": array, "count": maxHandles + 1}, nil},
		"behind the memory":      {map[string]int64{"request_ptrs": end - 8, "count": 2}, nil},
		"no array":               {map[string]int64{"count": 1}, nil},
		"one of them, not array": {map[string]int64{"request_ptr": pointer("send"), "request_ptrs": array, "count": 4}, []string{"send"}},
	} {
		p := inferiortest.New()
		p.PutUint64(array, uint64(of["send"].At), uint64(of["receive"].At), uint64(of["complete"].At), uint64(of["send"].At))
		p.PutUint64(end-8, uint64(of["send"].At))
		s := made(p, &scripted{}, nil, listOf(of)...)
		got, isAll := s.waitedFor(given("MPI_Allreduce", nil, c.inside), true)
		if !slices.Equal(names(of, got), c.want) || len(got) != len(c.want) || isAll {
			t.Errorf("%s: %q, all: %t, want %q", name, names(of, got), isAll, c.want)
		}
	}
}

// A blocking call waits for the only request of its kind that it holds and that is not complete.
func TestRequestOfBlockingCall(t *testing.T) {
	of := waits()
	for name, c := range map[string]struct {
		call    string
		held    []string
		isAlone bool
		want    []string
	}{
		"a send":                          {"MPI_Send", []string{"send", "receive"}, true, []string{"send"}},
		"a receive":                       {"MPI_Recv", []string{"send", "receive"}, true, []string{"receive"}},
		"beside a complete one":           {"MPI_Recv", []string{"receive", "complete"}, true, []string{"receive"}},
		"beside a complete one, of two":   {"MPI_Recv", []string{"receive", "complete"}, false, nil},
		"a complete one":                  {"MPI_Recv", []string{"complete"}, true, nil},
		"a complete one, of two":          {"MPI_Recv", []string{"complete"}, false, nil},
		"the only one, of two":            {"MPI_Recv", []string{"receive"}, false, []string{"receive"}},
		"one that a persistent one began": {"MPI_Send", []string{"started"}, true, nil},
		"none":                            {"MPI_Recv", nil, true, nil},
	} {
		s := made(inferiortest.New(), &scripted{}, nil, listOf(of)...)
		var held []*Operation
		for _, n := range c.held {
			held = append(held, of[n])
		}
		call := waiting(c.call, held...)
		call.Frames[0].Function = "MPID_Progress_wait"
		if got, isAll := s.waitedFor(call, c.isAlone); !slices.Equal(names(of, got), c.want) || isAll != (c.want != nil) {
			t.Errorf("%s: %q, all: %t, want %q", name, names(of, got), isAll, c.want)
		}
		s.requests().err = errors.New("no pool")
		if got, isAll := s.waitedFor(call, c.isAlone); got != nil || isAll {
			t.Errorf("%s, of requests that can't be read: %q, all: %t", name, names(of, got), isAll)
		}
		s.requests().err = nil
		call.Frames[0].Function = "MPID_Irecv"
		if got, isAll := s.waitedFor(call, c.isAlone); got != nil || isAll {
			t.Errorf("%s, before it waits: %q, all: %t", name, names(of, got), isAll)
		}
	}
}

// What is known of a call's arguments is told in the model's values.
func TestArgumentsOfWait(t *testing.T) {
	unknown, known := mqs.Maybe[int32]{}, mqs.Known[int32]
	for name, c := range map[string]struct {
		call              string
		own               map[string]int64
		root, source, tag mqs.Maybe[int32]
		operation         mqs.Maybe[string]
	}{
		"the first as root":       {"MPI_Bcast", map[string]int64{"root": 0}, known(0), unknown, unknown, mqs.Maybe[string]{}},
		"another root":            {"MPI_Bcast", map[string]int64{"root": 2}, known(2), unknown, unknown, mqs.Maybe[string]{}},
		"MPI_ROOT, which is none": {"MPI_Bcast", map[string]int64{"root": -3}, unknown, unknown, unknown, mqs.Maybe[string]{}},
		"a probe":                 {"MPI_Probe", map[string]int64{"source": 1, "tag": 7}, unknown, known(1), known(7), mqs.Maybe[string]{}},
		"a probe for any":         {"MPI_Mprobe", map[string]int64{"source": -2, "tag": -1}, unknown, known(mqs.AnyRank), known(-1), mqs.Maybe[string]{}},
		"a probe of which naught": {"MPI_Iprobe", nil, unknown, unknown, unknown, mqs.Maybe[string]{}},
		"another call":            {"MPI_Recv", map[string]int64{"source": 1, "tag": 7}, unknown, unknown, unknown, mqs.Maybe[string]{}},
		"a sum":                   {"MPI_Allreduce", map[string]int64{"op": 0x58000003}, unknown, unknown, unknown, mqs.Known("MPI_SUM")},
		"one of the program's":    {"MPI_Allreduce", map[string]int64{"op": 0x98000000}, unknown, unknown, unknown, mqs.Known("")},
		"no operation":            {"MPI_Allreduce", map[string]int64{"op": 0x4c000405}, unknown, unknown, unknown, mqs.Maybe[string]{}},
	} {
		s := made(inferiortest.New(), &scripted{}, nil)
		got := s.waitOf(given(c.call, c.own, nil), true)
		if got.Root != c.root || got.Source != c.source || got.Tag != c.tag || got.Operation != c.operation {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
