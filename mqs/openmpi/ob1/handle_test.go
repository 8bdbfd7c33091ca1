package ob1

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// resolve is what a handle of a request stands for.
func resolve(p *ompi.Process, q ompi.Queues, at inferior.Addr) *mqs.Handle {
	return p.Resolve(q, mqs.HandleValue{Kind: mqs.RequestHandle, Value: uint64(at)})
}

// A request by its handle is what it is in the queues, in all releases.
func TestRequestsByHandle(t *testing.T) {
	for _, release := range []string{"4.1.4", "5.0.7", "6.0.0rc2"} {
		p, q := ompitest.MustOpen(t, inferiortest.Recorded(t, "openmpi-"+release+"/queues-rank-0"), Component)
		seen := 0
		for _, c := range p.Comms {
			for _, class := range []mqs.OpClass{mqs.PendingSends, mqs.PendingReceives} {
				operations, err := ompitest.Operations(q, c, class)
				if err != nil {
					t.Fatal(err)
				}
				for _, op := range operations {
					at := op.Request.Value
					h := resolve(p, q, at)
					if name, _ := p.ClassName(inferior.Ptr[ompi.Object](at)); name == "" {
						continue // of a probe, on a stack
					}
					seen++
					if h.State == mqs.FreedHandle && op.Kind == "bsend" {
						continue // its request is collected, and its data waits
					}
					if h.Operation == nil || h.Communicator == nil || h.Communicator.UniqueID != c.Model.UniqueID {
						t.Errorf("%s: %+v is %+v", release, op, h)
						continue
					}
					if got := *h.Operation; !isBlocking(op.Kind) && !reflect.DeepEqual(got, op) {
						t.Errorf("%s: %+v, want %+v", release, got, op)
					}
				}
			}
		}
		if seen < 5 {
			t.Errorf("%s: only %d requests", release, seen)
		}
	}
}

// isBlocking: the program has no handle of these.
func isBlocking(kind string) bool { return kind == "send" || kind == "ssend" || kind == "recv" }

// A persistent request that is not started, one that is free, and one that a probe has taken a message with.
func TestStatesOfRequests(t *testing.T) {
	o := ompitest.MakeObjects(t, "openmpi-4.1.4/queues-rank-0", Component)
	const send, state, persistent = "mca_pml_ob1_send_request_t", "req_send.req_base.req_ompi.req_state", "req_send.req_base.req_ompi.req_persistent"
	p, q := o.Open(Component)
	requests := ompitest.Pending(t, p, q, mqs.PendingSends, "isend")
	if len(requests) == 0 {
		t.Fatal("there are none")
	}
	at := requests[0]
	before := resolve(p, q, at)
	o.Put(at, send, state, ompi.RequestInactive)
	o.Put(at, send, persistent, 1)
	p, q = o.Open(Component)
	h := resolve(p, q, at)
	if h.State != mqs.LiveHandle || h.Operation == nil || h.Operation.Status != mqs.Inactive || h.Operation.Kind != "send_init" ||
		h.Operation.ActualTag.Known || h.Operation.DesiredTag != before.Operation.DesiredTag {
		t.Errorf("not started: %+v", h.Operation)
	}
	o.Put(at, send, state, ompi.RequestInvalid)
	p, q = o.Open(Component)
	if h := resolve(p, q, at); h.State != mqs.FreedHandle || h.Operation != nil {
		t.Errorf("free: %+v", h)
	}
}

// A request of another kind says what it is of, and how far it has come.
func TestOtherRequests(t *testing.T) {
	o := ompitest.MakeObjects(t, "openmpi-4.1.4/queues-rank-0", Component)
	world := ompitest.Comm(t, o.Process(), "MPI_COMM_WORLD")
	for class, of := range map[string]struct {
		kind   string
		onComm bool
	}{
		"ompi_coll_libnbc_request_t": {"collective", true}, "ompi_grequest_t": {"generalized", false}, "mca_ompio_request_t": {"file access", false},
		"ompi_osc_rdma_request_t": {"one-sided", false}, "some_request_t": {"", false},
	} {
		at := o.Memory(1 << 10)
		o.IsA(at, class)
		o.Put(at, "ompi_request_t", "req_state", ompi.RequestActive)
		o.Put(at, "ompi_request_t", "req_f_to_c_index", 0xffff_8002)
		o.Put(at, "ompi_request_t", "req_mpi_object.comm", uint64(world.At))
		for status, complete := range map[mqs.Status]uint64{mqs.Pending: 0, mqs.Complete: ompi.RequestCompleted} {
			o.Put(at, "ompi_request_t", "req_complete", complete)
			p, q := o.Open(Component)
			h := resolve(p, q, at)
			if h.State != mqs.LiveHandle || h.Operation == nil || h.Operation.Kind != of.kind || h.Operation.Status != status || (h.Communicator != nil) != of.onComm {
				t.Errorf("%s: %+v, %+v", class, h, h.Operation)
			}
		}
	}
}

// A message by its handle, while the program has it.
func TestMessages(t *testing.T) {
	o := ompitest.MakeObjects(t, "openmpi-4.1.4/queues-rank-0", Component)
	world := ompitest.Comm(t, o.Process(), "MPI_COMM_WORLD")
	const recv, message = "mca_pml_ob1_recv_request_t", "ompi_message_t"
	taken, m, null := o.Object(recv), o.Object(message), o.Memory(64)
	const base = "req_recv.req_base."
	for member, value := range map[string]uint64{"req_ompi.req_state": ompi.RequestActive, "req_ompi.req_complete": ompi.RequestCompleted, "req_type": typeMprobe,
		"req_comm": uint64(world.At), "req_ompi.req_status.MPI_SOURCE": 2, "req_ompi.req_status.MPI_TAG": 11, "req_ompi.req_status._ucount": 48} {
		o.Put(taken, recv, base+member, value)
	}
	o.Put(m, message, "comm", uint64(world.At))
	o.Put(m, message, "req_ptr", uint64(taken))
	o.Put(m, message, "m_f_to_c_index", 0xffff_8002)
	o.Array("ompi_message_f_to_c_table", null, 0)
	look := func(at inferior.Addr) *mqs.Handle {
		p, q := o.Open(Component)
		return p.Resolve(q, mqs.HandleValue{Kind: mqs.MessageHandle, Value: uint64(at)})
	}
	h := look(m)
	if h.State != mqs.LiveHandle || h.Operation == nil || h.Operation.ActualTag != mqs.Known[int32](11) || h.Operation.ActualLocalRank != mqs.Known[int32](2) ||
		h.Operation.DesiredLength != mqs.Known[int64](48) || h.Communicator == nil {
		t.Errorf("%+v, %+v", h, h.Operation)
	}
	if h := look(null); h.State != mqs.NullHandle || h.Name.Value != "MPI_MESSAGE_NULL" {
		t.Errorf("%+v", h)
	}
	// What the pml has of it is not known: what the message itself says.
	o.Put(m, message, "req_ptr", 0x10)
	o.Put(m, message, "peer", 1)
	o.Put(m, message, "count", 12)
	if h := look(m); h.Operation == nil || h.Operation.ActualTag.Known || h.Operation.ActualLocalRank != mqs.Known[int32](1) || h.Operation.DesiredLength != mqs.Known[int64](12) {
		t.Errorf("%+v, %+v", h, h.Operation)
	}
	// A receive has got it.
	o.Put(m, message, "super.super.opal_list_next", uint64(m))
	if h := look(m); h.State != mqs.FreedHandle || h.Operation != nil {
		t.Errorf("%+v", h)
	}
}

// An operation of a datatype without a name says how that was built, in the queues too.
func TestConstructionOfUnnamedTypes(t *testing.T) {
	o := ompitest.MakeObjects(t, "openmpi-4.1.4/queues-rank-0", Component)
	at := ompitest.Pending(t, o.Process(), must(o.Open(Component)), mqs.PendingSends, "isend")[0]
	datatype, args := o.Object("ompi_datatype_t"), o.Memory(64)
	o.Put(datatype, "ompi_datatype_t", "args", uint64(args))
	o.Put(args, "ompi_datatype_args_t", "create_type", 16)
	o.Put(args, "ompi_datatype_args_t", "ci", 1)
	o.Put(args, "ompi_datatype_args_t", "i", uint64(o.Integers(9)))
	o.Put(at, "mca_pml_ob1_send_request_t", "req_send.req_base.req_datatype", uint64(datatype))
	p, q := o.Open(Component)
	operations, err := ompitest.Operations(q, ompitest.Comm(t, p, "MPI_COMM_WORLD"), mqs.PendingSends)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range operations {
		want := ""
		if op.Request.Value == at {
			want = "f90_integer of range 9"
		}
		if op.DatatypeConstruction != want {
			t.Errorf("%+v, want %q", op, want)
		}
	}
}

func must(_ *ompi.Process, q ompi.Queues) ompi.Queues { return q }
