package mpir

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// A file is a pointer in C and a place in ROMIO's table in Fortran, and begins with ROMIO's cookie.
func TestResolveFile(t *testing.T) {
	const at, other, name, table, entries, last, comm = 0x1000, 0x1100, 0x2000, 0x3000, 0x3100, 0x3200, 0x4000
	p := inferiortest.New()
	p.Types["ADIOI_FileD"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"cookie": field(0, 4, layout.KindSigned), "comm": field(4, 4, layout.KindSigned),
		"filename": field(8, 8, layout.KindPointer), "orig_access_mode": field(16, 4, layout.KindSigned), "fortran_handle": field(20, 4, layout.KindSigned)}}
	p.PutUint32(at, fileCookie, 0x84000005)
	p.PutUint64(at+8, name)
	p.PutUint32(at+16, 8|1, 0xffffffff)
	p.PutUint32(other, fileCookie+1)
	p.Put(name, []byte("/data/out\x00"))
	p.Symbols[symFortranFiles], p.Symbols[symLastFortranFile] = &inferior.Symbol{Addr: table}, &inferior.Symbol{Addr: last}
	p.PutUint64(table, entries)
	p.PutUint64(entries, 0, at, other)
	p.PutUint32(last, 2)
	s := &Source{lib: over(p)}
	model := &mqs.Communicator{UniqueID: comm, LocalRank: mqs.Known[int32](1), Size: mqs.Known[int32](3)}
	s.communicators = func() *communicators {
		return &communicators{all: []*Communicator{{Comm: Comm{Handle: 0x84000005}, Model: model}}}
	}
	want := &mqs.File{Handle: at, Name: mqs.Known("/data/out"), Comm: mqs.Known[inferior.Addr](comm), LocalRank: model.LocalRank, Size: model.Size, AccessMode: []string{"MPI_MODE_CREATE", "MPI_MODE_RDWR"}}
	for _, c := range []struct {
		value   uint64
		fortran bool
		want    mqs.HandleState
	}{
		{at, false, mqs.LiveHandle}, {1, true, mqs.LiveHandle}, {0, false, mqs.NullHandle}, {0, true, mqs.NullHandle}, {other, false, mqs.InvalidHandle}, {2, true, mqs.InvalidHandle},
		{3, true, mqs.InvalidHandle}, {1 << 40, true, mqs.InvalidHandle}, {0xffffffff, true, mqs.InvalidHandle}, {0x9000, false, mqs.InvalidHandle},
	} {
		h := s.Resolve(mqs.HandleValue{Kind: mqs.FileHandle, Fortran: c.fortran, Value: c.value})
		if h.State != c.want || (h.File != nil) != (c.want == mqs.LiveHandle) || h.File != nil && !reflect.DeepEqual(h.File, want) {
			t.Errorf("%#x (%t) is %+v %+v", c.value, c.fortran, h, h.File)
		}
		if c.want == mqs.LiveHandle && h.Communicator.File != want.Name {
			t.Errorf("%+v", h.Communicator)
		}
	}
	if model.File.Known {
		t.Error("the process's communicator was changed")
	}
}
