package inferior_test

import (
	"context"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

func TestCString(t *testing.T) {
	f := inferiortest.New()
	f.Memory[0x1000] = append([]byte("MPI_COMM_WORLD\x00"), noise(0xff0)...)
	f.Memory[0x3ffc] = []byte("end.") // no terminator before memory ends
	r := inferior.NewReader(context.Background(), f)
	if s, err := r.CString(0x1000, 64); err != nil || s != "MPI_COMM_WORLD" {
		t.Errorf("%q, %v", s, err)
	}
	if _, err := r.CString(0x3ffc, 64); err == nil {
		t.Error("a string without an end was read")
	}
	if _, err := r.CString(0x1000, 4); err == nil {
		t.Error("a string went over its limit")
	}
}
