package ompi_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// In the ABI a predefined handle is a constant, and the INTEGER of another one more than an index.
func TestABI(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	for _, kind := range []struct{ table, name, index string }{
		{"ompi_op_f_to_c_table", "ompi_op_t", "o_f_to_c_index"},
		{"ompi_errhandler_f_to_c_table", "ompi_errhandler_t", "eh_f_to_c_index"},
	} {
		var objects []inferior.Addr
		for i := range 20 {
			at := o.Object(kind.name)
			o.Put(at, kind.name, kind.index, uint64(i))
			objects = append(objects, at)
		}
		o.Array(kind.table, objects...)
	}
	p, q := ompitest.MustOpen(t, inferiortest.WithLibrary{Inferior: o.To, Path: "/usr/lib/libmpi_abi_openmpi.so.1.0.0"}, ob1.Component)
	for _, c := range []struct {
		value   mqs.HandleValue
		state   mqs.HandleState
		integer int32
	}{
		{mqs.HandleValue{Kind: mqs.OpHandle, Value: 0x20}, mqs.NullHandle, 0x20},
		{mqs.HandleValue{Kind: mqs.OpHandle, Value: 0x21}, mqs.LiveHandle, 0x21}, // its object is not MPI's here
		{mqs.HandleValue{Kind: mqs.OpHandle, Value: 0x25}, mqs.InvalidHandle, 0},
		{mqs.HandleValue{Kind: mqs.OpHandle, Value: 0x21, Fortran: true}, mqs.LiveHandle, 0x21},
		{mqs.HandleValue{Kind: mqs.OpHandle, Value: 16385 + 17, Fortran: true}, mqs.LiveHandle, 16385 + 17},
		{mqs.HandleValue{Kind: mqs.OpHandle, Value: 17, Fortran: true}, mqs.InvalidHandle, 0},
		{mqs.HandleValue{Kind: mqs.ErrhandlerHandle, Value: 0x142}, mqs.LiveHandle, 0x142},
		{mqs.HandleValue{Kind: mqs.ErrhandlerHandle, Value: 0x143}, mqs.LiveHandle, 0x143},
	} {
		if h := p.Resolve(q, c.value); h.State != c.state || h.FortranHandle.Value != c.integer {
			t.Errorf("%s %#x is %s, %v", c.value.Kind, c.value.Value, h.State, h.FortranHandle)
		}
	}
}

// What the ABI's programs pass to calls is told by the ABI's constants.
func TestArgumentsOfABI(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	var objects []inferior.Addr
	for i := range 20 {
		at := o.Object("ompi_op_t")
		o.Put(at, "ompi_op_t", "o_f_to_c_index", uint64(i))
		objects = append(objects, at)
	}
	o.Array("ompi_op_f_to_c_table", objects...)
	own, _ := ompitest.MustOpen(t, o.To, ob1.Component)
	o.Array("ompi_comm_f_to_c_table", ompitest.Comm(t, own, "MPI_COMM_WORLD").At.Addr())
	abi := inferiortest.WithLibrary{Inferior: o.To, Path: "/usr/lib/libmpi_abi_openmpi.so.1.0.0"}
	known := mqs.Known[int32]
	for name, c := range map[string]struct {
		call        string
		arguments   map[string]int64
		isWorld     bool
		source, tag mqs.Maybe[int32]
		isOperation bool
	}{
		"a sum":             {call: "MPI_Allreduce", arguments: map[string]int64{"comm": 0x101, "op": 0x21}, isWorld: true, isOperation: true},
		"no operation":      {call: "MPI_Allreduce", arguments: map[string]int64{"comm": 0x101, "op": 0x25}, isWorld: true},
		"no communicator":   {call: "MPI_Allreduce", arguments: map[string]int64{"comm": 0x209, "op": 0x209}},
		"a probe for any":   {call: "MPI_Iprobe", arguments: map[string]int64{"comm": 0x101, "source": -1, "tag": -2}, isWorld: true, source: known(-1), tag: known(-1)},
		"a probe of nobody": {call: "MPI_Iprobe", arguments: map[string]int64{"comm": 0x101, "source": -3, "tag": 7}, isWorld: true, source: known(-2), tag: known(7)},
	} {
		thread := inferiortest.Thread(1, "opal_progress < ompi_request_default_wait < P"+c.call+" < main")
		thread.Frames[2].Variables = c.arguments
		o.To.SetThreads(thread)
		p, q := ompitest.MustOpen(t, abi, ob1.Component)
		got := ompitest.Wait(p, q)
		world := ompitest.Comm(t, p, "MPI_COMM_WORLD").Model.UniqueID
		if (got.Comm == mqs.Known(world)) != c.isWorld || got.Source != c.source || got.Tag != c.tag || got.Operation.Known != c.isOperation {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
