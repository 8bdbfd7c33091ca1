package callstack

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

func TestWhole(t *testing.T) {
	const libc, mpi, fortran = "/lib/libc.so.6", "/opt/mpi/lib/libmpi.so.12", "/opt/mpi/lib/libmpi_mpifh.so.12"
	program := func(function string, line int) Frame { return Frame{Function: function, File: "halo.c", Line: line} }
	call := func(function string) Frame { return Frame{Function: function, Object: mpi, IsCall: true} }
	in := func(object, function string) Frame { return Frame{Function: function, Object: object} }
	for name, c := range map[string]struct {
		frames         []inferior.Frame
		want, internal []Frame
	}{
		"in a call": {
			[]inferior.Frame{frame("poll", libc, "../poll.c", 29), frame("progress", mpi, "progress.c", 7), frame("PMPI_Recv", mpi, "recv.c", 3), frame("exchange", "", "halo.c", 88), frame("main", "", "halo.c", 9)},
			[]Frame{program("main", 9), program("exchange", 88), call("MPI_Recv")},
			[]Frame{program("main", 9), program("exchange", 88), call("MPI_Recv"), in(mpi, "progress"), in(libc, "poll")},
		},
		"a call inside a call": {
			[]inferior.Frame{frame("PMPI_Allreduce", mpi, "", 0), frame("sync", mpi, "", 0), frame("PMPI_File_write_all", mpi, "", 0), frame("main", "", "halo.c", 5)},
			[]Frame{program("main", 5), call("MPI_File_write_all")},
			[]Frame{program("main", 5), call("MPI_File_write_all"), in(mpi, "sync"), in(mpi, "PMPI_Allreduce")},
		},
		"a call of a function that a call has called": {
			[]inferior.Frame{frame("PMPI_Send", mpi, "", 0), frame("on_free", "", "halo.c", 70), frame("PMPI_Comm_free", mpi, "", 0), frame("main", "", "halo.c", 5)},
			[]Frame{program("main", 5), in(mpi, "PMPI_Comm_free"), program("on_free", 70), call("MPI_Send")},
			nil,
		},
		"from Fortran": {
			[]inferior.Frame{frame("internal_Waitany", mpi, "w.c", 9), frame("pmpi_waitany__", fortran, "", 0), frame("solve", "", "halo.c", 7)},
			[]Frame{program("solve", 7), in(fortran, "pmpi_waitany__"), call("MPI_Waitany")},
			nil,
		},
		"in no call": {
			[]inferior.Frame{frame("", libc, "", 0), frame("__GI___clock_nanosleep", libc, "", 0), frame("usleep", libc, "../usleep.c", 3), frame("main", "", "halo.c", 9)},
			[]Frame{program("main", 9), in(libc, "usleep")},
			[]Frame{program("main", 9), in(libc, "usleep"), in(libc, "clock_nanosleep"), in(libc, "")},
		},
		"in the C library alone": {
			[]inferior.Frame{frame("__GI___poll", libc, "", 0), frame("start_thread", libc, "", 0)},
			[]Frame{in(libc, "start_thread"), in(libc, "poll")},
			nil,
		},
		"nothing": {nil, nil, nil},
	} {
		for i, want := range [][]Frame{c.want, c.internal} {
			if i == 1 && want == nil {
				want = c.want
			}
			got := (&stacks{library: mpi, program: "/home/me/halo"}).whole(&inferior.Thread{Number: 3, Frames: c.frames, Complete: true}, i == 1)
			if !reflect.DeepEqual(got, Stack{Thread: 3, Frames: want}) {
				t.Errorf("%s, internal %v: %+v, want %+v", name, i == 1, got.Frames, want)
			}
		}
	}
}

// The outer frames of a stack that can't be followed are a gap, and not the program's outermost frame.
func TestGap(t *testing.T) {
	got := (&stacks{}).whole(&inferior.Thread{Frames: []inferior.Frame{frame("f", "", "halo.c", 3)}}, false)
	if want := []Frame{{IsGap: true}, {Function: "f", File: "halo.c", Line: 3}}; !reflect.DeepEqual(got.Frames, want) {
		t.Errorf("%+v", got.Frames)
	}
}
