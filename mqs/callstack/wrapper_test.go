package callstack

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/pyframes"
)

// Where a library has called MPI for the program, its function and the program's first are told, and the first with a
// line of source; nothing is claimed where the program itself may have made the call, or nothing of the program is there.
func TestCallers(t *testing.T) {
	const libc, mpi, lib, hdf, tool = "@/lib/libc.so.6", "@/lib/libmpi.so", "@/opt/libwrap.so.1", "@/lib/libhdf5.so", "@/opt/libtrace.so"
	own := func(function, object string, hasLine bool) mqs.Caller {
		c := mqs.Caller{Function: function, Object: object}
		if hasLine {
			c.File, c.Line = "a.c", 1
		}
		return c
	}
	main, wrap := own("main", "", true), own("wrap", "/opt/libwrap.so.1", true)
	for stack, want := range map[string][]mqs.Caller{
		"PMPI_Scan" + mpi + " < main:":                                                      nil,
		"PMPI_Scan" + mpi + " < wrap:" + lib + " < main:":                                   {wrap, main},
		"PMPI_Scan" + mpi + " < wrap:" + lib + " < outer" + lib + " < main:":                {wrap, main},
		"PMPI_Scan" + mpi + " < close" + hdf + " < main:":                                   {own("close", "/lib/libhdf5.so", false), main},
		"PMPI_Scan" + mpi + " < close" + hdf + " < wrap:" + lib + " < main":                 {own("close", "/lib/libhdf5.so", false), wrap, own("main", "", false)},
		"PMPI_Scan" + mpi + " < ?" + lib + " < wrap:" + lib + " < main:":                    {wrap, main},
		"PMPI_Scan" + mpi + " < ?" + hdf + " < wrap:" + lib + " < main:":                    nil,
		"PMPI_Scan" + mpi + " < ? < wrap:" + lib + " < main:":                               nil,
		"PMPI_Scan" + mpi + " < wrap:" + lib + " < ? < main:":                               nil,
		"PMPI_Scan" + mpi + " < mpi_own:" + lib + " < wrap:" + lib + " < main:":             nil,
		"PMPI_Scan" + mpi + " < mpi_scan_@/lib/libmpi_mpifh.so < wrap:" + lib + " < main:":  {wrap, main},
		"PMPI_Scan" + mpi + " < mpi_own: < wrap:" + lib + " < main:":                        nil,
		"PMPI_Scan" + mpi + " < close" + hdf + " < qsort:" + libc + " < main:":              {own("close", "/lib/libhdf5.so", false), main},
		"PMPI_Scan" + mpi + " < wrap:" + lib + " < run" + libc + " < main:":                 {wrap, main},
		"PMPI_Scan" + mpi + " < mpi_scan_@/lib/libmpi_mpifh.so < main:":                     nil,
		"PMPI_Scan" + mpi + " < exit" + libc + " < main:":                                   nil,
		"PMPI_Scan" + mpi + " < wrap:" + lib + " < clone3" + libc:                           nil,
		"PMPI_Scan" + mpi + " < MPI_Scan:" + tool + " < main:":                              nil,
		"PMPI_Scan" + mpi + " < trace:" + tool + " < MPI_Scan:" + tool + " < main:":         nil,
		"PMPI_Scan" + mpi + " < MPI_Scan:" + tool + " < wrap:" + lib + " < main:":           {wrap, main},
		"PMPI_Scan" + mpi + " < MPI_Own:" + lib + " < main:":                                {own("MPI_Own", "/opt/libwrap.so.1", true), main},
		"PMPI_Scan" + mpi + " < wrap:" + lib + " < _PyEval_EvalFrameDefault < main:":        nil,
		"PMPI_Scan" + mpi + " < callback: < wrap:" + lib + " < main:":                       nil,
		"PMPI_Allreduce" + mpi + " < PMPI_File_close" + mpi + " < close" + hdf + " < main:": {own("close", "/lib/libhdf5.so", false), main},
		"nanosleep" + libc + " < wrap:" + lib + " < main:":                                  nil,
		"nanosleep" + libc + " < MPI_Own:" + lib + " < main:":                               nil,
		"opal_progress@/lib/libopen-pal.so < ?" + mpi + " < MPI_Own:" + lib + " < main:":    nil,
		"PMPI_Scan" + mpi + " < trace:" + tool + " < MPI_Scan: < main:":                     {own("trace", "/opt/libtrace.so", true), main},
	} {
		got := Locate(inferior.NewReader(context.Background(), stopped(inferiortest.Thread(1, stack))))[0]
		if !reflect.DeepEqual(got.Callers, want) {
			t.Errorf("%s: %v, want %v", stack, got.Callers, want)
		}
		if got.Call == "MPI_Own" {
			t.Errorf("%s: it is in %s, which is no call of MPI's", stack, got.Call)
		}
		if at := slices.IndexFunc(want, func(c mqs.Caller) bool { return c.File != "" }); at >= 0 && got.Function != want[at].Function {
			t.Errorf("%s: its place is %s", stack, got.Function)
		}
		if want == nil && got.Call != "" && got.Function != "main" && got.Function != "callback" && got.Function != "wrap" {
			t.Errorf("%s: its place is %s", stack, got.Function)
		}
	}
}

// A header of a library is a wrapper too, though its functions are in the program: with a library beneath it or without.
func TestCallersThroughHeaders(t *testing.T) {
	const header, lib = "/usr/include/boost/mpi/all_reduce.hpp", "/lib/libboost_mpi.so.1"
	mpi := inferior.Frame{Function: "PMPI_Allreduce", Object: "/lib/libmpi.so"}
	inner := inferior.Frame{Function: "recv(mpi::communicator const&, int (*)(int)) const", Object: lib}
	reduce := inferior.Frame{Function: "reduce", File: header, Line: 36}
	share, main := inferior.Frame{Function: "share", File: "include/share.cc", Line: 4}, inferior.Frame{Function: "main", File: "share.cc", Line: 9}
	inHeader, inProgram := mqs.Caller{Function: "reduce", File: header, Line: 36}, mqs.Caller{Function: "share", File: "include/share.cc", Line: 4}
	for _, c := range []struct {
		frames []inferior.Frame
		want   []mqs.Caller
	}{
		{[]inferior.Frame{mpi, reduce, share, main}, []mqs.Caller{inHeader, inProgram}},
		{[]inferior.Frame{mpi, inner, reduce, share, main}, []mqs.Caller{{Function: "recv", Object: lib}, inHeader, inProgram}},
		{[]inferior.Frame{mpi, share, main}, nil},
		{[]inferior.Frame{mpi, reduce}, nil},
	} {
		thread := inferior.Thread{Number: 1, Frames: c.frames, Complete: true}
		if got := Locate(inferior.NewReader(context.Background(), stopped(thread)))[0].Callers; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.frames, got, c.want)
		}
	}
}

func TestWithoutParameters(t *testing.T) {
	for name, want := range map[string]string{
		"main": "main", "MPI_Send": "MPI_Send", "step(int)": "step", "a::step(b (*)(int), c<d()>) const": "a::step",
		"a::operator()": "a::operator()", "a::operator()(int)": "a::operator()", "(anonymous namespace)::f(int)": "(anonymous namespace)::f",
		"f<void (int)>": "f<void (int)>", "(anonymous namespace)": "(anonymous namespace)", "f)": "f)", "": "", "(": "(", "()": "()",
	} {
		if got := withoutParameters(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// fragment is a process of which a part is known.
type fragment struct {
	*inferiortest.Process
	asked []string
}

func (f fragment) Recorded(inferior.Addr, int) bool { return true }
func (f fragment) Asked(symbol string) bool         { return slices.Contains(f.asked, symbol) }

// Where it is not known whether MPI has a function, one of that name may be a tool's: it is no wrapper, and what it calls
// is the program's. What the MPI library itself is called does not matter.
func TestCallersOfUnknownNames(t *testing.T) {
	const stack = "PMPI_Scan@/lib/libmpi.so < inner: < MPI_Own: < main:"
	const wrapped = "PMPI_Scan@/lib/libmpi.so < MPI_Own:@/opt/libwrap.so < main:"
	for _, c := range []struct {
		stack    string
		asked    []string
		callers  int
		function string
	}{
		{stack, nil, 0, "inner"},
		{wrapped, nil, 0, "main"},
		{wrapped, []string{"PMPI_Own"}, 2, "MPI_Own"},
	} {
		p := fragment{stopped(inferiortest.Thread(1, c.stack)), c.asked}
		if got := Locate(inferior.NewReader(context.Background(), p))[0]; len(got.Callers) != c.callers || got.Function != c.function {
			t.Errorf("%s, asked for %v: %+v", c.stack, c.asked, got)
		}
	}
	p := stopped(inferiortest.Thread(1, "PMPI_Scan@/opt/libvendor.so < start@/opt/libvendor.so < main:"))
	p.Symbols[LibrarySymbol].Object = "/opt/libvendor.so"
	if got := Locate(inferior.NewReader(context.Background(), p))[0]; got.Callers != nil || got.Call != "MPI_Scan" {
		t.Errorf("%+v", got)
	}
}

// A Python program's own function is the program's, also where an extension module has a library call MPI.
func TestCallersInPython(t *testing.T) {
	s := pythonStacks(nil)
	s.threads[0].Frames[1] = at(0x1100, "H5Fclose", "/usr/lib/libhdf5.so.103", "", 0)
	s.python.frames[1] = placed(&s.threads[0], []pyframes.Run{innerRun, outerRun})
	got, _ := threadAt(s, &s.threads[0])
	want := []mqs.Caller{{Function: "H5Fclose", Object: "/usr/lib/libhdf5.so.103"}, {Function: "mpi_exchange", File: "halo.py", Line: 8}}
	if !reflect.DeepEqual(got.Callers, want) {
		t.Errorf("%v, want %v", got.Callers, want)
	}
}
