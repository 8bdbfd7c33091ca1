package mpir

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Keys and values of an MPI_Info stand in an array from 4.1 on.
func TestInfoArray(t *testing.T) {
	const at, key, value = 0x1000, 0x2000, 0x2100
	p := inferiortest.New()
	p.Types["MPIR_Info"] = &layout.Layout{Size: 32, Fields: map[string]layout.Field{"handle": field(0, 4, layout.KindSigned), "entries": field(8, 8, layout.KindPointer), "size": field(20, 4, layout.KindSigned)}}
	p.Types["info_entry"] = &layout.Layout{Size: 16, Fields: map[string]layout.Field{"key": field(0, 8, layout.KindPointer), "value": field(8, 8, layout.KindPointer)}}
	p.PutUint64(at, key, value, value, key)
	p.Put(key, []byte("cb_nodes\x00"))
	p.Put(value, []byte("4\x00"))
	l := over(p)
	got, err := l.entries(&info{Entries: at, Size: 2})
	if want := []mqs.InfoEntry{{Key: "cb_nodes", Value: "4"}, {Key: "4", Value: "cb_nodes"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, size := range []int32{-1, 1 << 20} {
		if got, err := l.entries(&info{Entries: at, Size: size}); err == nil {
			t.Errorf("%d keys: %+v", size, got)
		}
	}
	if got, err := l.entries(&info{}); err != nil || got == nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
