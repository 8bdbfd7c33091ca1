package mpir

import (
	"context"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// Of a library whose objects can't be read, handles tell their kind, whether they are predefined, and their name.
func TestBare(t *testing.T) {
	b := NewBare(inferior.NewReader(context.Background(), inferiortest.New()), inferior.Symbol{Object: "/opt/libmpich.so.12"})
	for _, c := range []struct {
		kind  mqs.HandleKind
		value uint64
		state mqs.HandleState
		name  string
	}{
		{mqs.CommHandle, 0x44000000, mqs.PredefinedHandle, "MPI_COMM_WORLD"},
		{mqs.CommHandle, 0x44000002, mqs.PredefinedHandle, ""},
		{mqs.CommHandle, 0x84000000, "", ""},
		{mqs.CommHandle, 0, mqs.InvalidHandle, ""},
		{mqs.GroupHandle, 0x48000000, mqs.PredefinedHandle, "MPI_GROUP_EMPTY"},
		{mqs.GroupHandle, 0x48000001, mqs.LiveHandle, ""},
		{mqs.GroupHandle, 0x48123456, mqs.InvalidHandle, ""},
		{mqs.DatatypeHandle, 0x4c000405, mqs.PredefinedHandle, "MPI_INT"},
		{mqs.DatatypeHandle, 0x4c00041b, mqs.PredefinedHandle, "MPI_INTEGER"},
		{mqs.DatatypeHandle, 0x4c0004ff, mqs.InvalidHandle, ""},
		{mqs.DatatypeHandle, 0x8c000000, mqs.PredefinedHandle, "MPI_FLOAT_INT"},
		{mqs.DatatypeHandle, 0x8c000005, "", ""},
		{mqs.RequestHandle, 0x2c000000, mqs.NullHandle, "MPI_REQUEST_NULL"},
		{mqs.CommHandle, 0x4412_3456, mqs.InvalidHandle, ""},
		{mqs.RequestHandle, 0x6c000001, mqs.LiveHandle, ""},
		{mqs.RequestHandle, 0x6c64c87b, mqs.InvalidHandle, ""},
		{mqs.MessageHandle, 0x6c000001, mqs.InvalidHandle, ""},
		{mqs.RequestHandle, 0xac000001, "", ""},
		{mqs.FileHandle, 0, mqs.NullHandle, "MPI_FILE_NULL"},
		{mqs.FileHandle, 0x44000000, "", ""},
		{mqs.StatusHandle, 0x1234, "", ""},
	} {
		h := b.Resolve(mqs.HandleValue{Kind: c.kind, Value: c.value})
		if h.State != c.state || h.Name.Value != c.name || (h.State == "") != (len(h.Notes) == 1) {
			t.Errorf("%s %#x is %+v", c.kind, c.value, h)
		}
	}
	if h := b.Resolve(mqs.HandleValue{Kind: mqs.DatatypeHandle, Value: 0x4c000405}); h.Datatype == nil || h.Datatype.Size != mqs.Known[int64](4) {
		t.Errorf("%+v", h)
	}
	if h := b.Resolve(mqs.HandleValue{Kind: mqs.StatusHandle, Data: make([]byte, statusSize)}); h.Status == nil {
		t.Errorf("%+v", h)
	}
}
