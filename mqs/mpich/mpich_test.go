package mpich

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// start opens a process.
func start(tg inferior.Inferior) (read.Source, error) {
	return read.Open(inferior.NewReader(context.Background(), tg), []read.Decoder{Decoder{}})
}

// A stripped library is recognised by what is left of its symbols.
func TestStripped(t *testing.T) {
	_, err := start(inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.0.2-ch4/queues-rank-0")).RemoveSymbols(mpir.Required...))
	var u *read.UnreadableError
	if !errors.As(err, &u) || u.MPI != "MPICH" {
		t.Fatalf("%v", err)
	}
	for _, text := range []string{"stripped", "debug symbols", "debuginfod", "MPICHLIB_CFLAGS=-g", "4.0.2 ch4:ofi"} {
		if !strings.Contains(u.Reason, text) {
			t.Errorf("%q does not say %q", u.Reason, text)
		}
	}
	if strings.Contains(u.Reason, "UCX") {
		t.Errorf("%q speaks of UCX, which is not there", u.Reason)
	}
}

// From 4.2 a stripped library has not even its version in .dynsym.
func TestStrippedOfItsVersion(t *testing.T) {
	all := inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.0.2-ch4/queues-rank-0")).RemoveSymbols(Decoder{}.Symbols()...)
	if _, err := (Decoder{}).Open(inferior.NewReader(context.Background(), all), nil); !errors.Is(err, read.ErrNotThis) {
		t.Errorf("without any symbol: %v", err)
	}
	all.SetSymbol(symAllHandles, inferior.Symbol{Addr: 0x1000, Object: "/lib/libmpich.so.12"})
	if _, err := start(all); err == nil || !strings.Contains(err.Error(), "libmpich.so.12 is stripped") {
		t.Errorf("%v", err)
	}
	all.RemoveSymbols(symAllHandles).SetSymbol(symFortranTrue, inferior.Symbol{Addr: 0x1000, Object: "/lib/libmpi_abi_mpich.so.1"})
	if _, err := start(all); err == nil || strings.Contains(err.Error(), "is stripped") {
		t.Errorf("a library that is not MPICH's: %v", err)
	}
	if _, err := start(inferiortest.WithLibrary{Inferior: all, Path: "/lib/libmpi_abi_mpich.so.1"}); err == nil || !strings.Contains(err.Error(), "libmpi_abi_mpich.so.1 is stripped") {
		t.Errorf("the library of the ABI: %v", err)
	}
}

// A stripped library over a UCX that can't be read says why.
func TestStrippedOverUnreadable(t *testing.T) {
	tg := inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.0.2-stock/recv-rank-0"))
	if _, err := start(tg.SetSymbol("ucp_request_mpool_ops", inferior.Symbol{Addr: 0x1000})); err == nil || !strings.Contains(err.Error(), "\nNor can UCX beneath it be read: ") {
		t.Errorf("%v", err)
	}
}

// The layouts of one build are not taken for those of another.
func TestTableOfAnotherBuild(t *testing.T) {
	for _, name := range []string{"mpich-4.0.2-ch3/queues-rank-0", "mpich-4.0.2-ch4-debug/queues-rank-0", "mpich-4.0.2-ch4-debug-ofi/queues-rank-0"} {
		_, err := start(inferiortest.Patch(inferiortest.Recorded(t, name)).RemoveTypes())
		if err == nil || !strings.Contains(err.Error(), "no known layout of its types fits; the nearest is the layout of MPICH 4.0.2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A build that has the layouts of a table is read by that as by its types, whatever else there is a table of.
func TestTableOfTheSameLayouts(t *testing.T) {
	for name, want := range map[string]string{
		"mpich-4.0.2-ch4":           "MPICH 4.0.2 with ch4:ofi",
		"mpich-4.0.2-ch4-ucx":       "MPICH 4.0.2",
		"mpich-4.1.3-ch4":           "MPICH 4.1.3 with ch4:ofi alone",
		"mpich-4.1.3-ch4-ofi":       "MPICH 4.1.3 with ch4:ofi alone",
		"mpich-4.1.3-ch4-debug":     "MPICH 4.1.3 with ch4:ofi alone and debugger support",
		"mpich-4.1.3-ch4-debug-ofi": "MPICH 4.1.3 with ch4:ofi alone and debugger support",
		"mpich-4.1.3-ch4-ucx":       "MPICH 4.1.3 with ch4:ucx alone and no shared memory",
		"mpich-4.1.3-ch4-ucx-debug": "MPICH 4.1.3 with ch4:ucx alone and debugger support",
		"mpich-4.2.3-ch4-ofi":       "MPICH 4.2.1 with ch4:ofi alone",
		"mpich-4.2.3-ch4":           "MPICH 4.2.1 with ch4:ofi alone",
		"mpich-4.2.3-ch4-debug":     "MPICH 4.2.1 with ch4:ofi alone and debugger support",
		"mpich-4.2.3-ch4-debug-ofi": "MPICH 4.2.1 with ch4:ofi alone and debugger support",
		"mpich-4.2.3-ch4-ucx":       "MPICH 4.2.1 with ch4:ucx alone and no shared memory",
		"mpich-4.2.3-ch4-ucx-debug": "MPICH 4.2.1 with ch4:ucx alone and debugger support",
		"mpich-4.3.2-ch4-ofi":       "MPICH 4.3.2 with ch4:ofi alone",
		"mpich-4.3.2-ch4":           "MPICH 4.3.2 with ch4:ofi alone",
		"mpich-4.3.2-ch4-debug":     "MPICH 4.3.2 with ch4:ofi alone and debugger support",
		"mpich-4.3.2-ch4-debug-ofi": "MPICH 4.3.2 with ch4:ofi alone and debugger support",
		"mpich-4.3.2-ch4-ucx":       "MPICH 4.3.2 with ch4:ucx alone and no shared memory",
		"mpich-4.3.2-ch4-ucx-debug": "MPICH 4.3.2 with ch4:ucx alone and debugger support",
		"mpich-5.0.1-ch4-ofi":       "MPICH 5.0.2 with ch4:ofi alone",
		"mpich-5.0.1-ch4":           "MPICH 5.0.2 with ch4:ofi alone",
		"mpich-5.0.1-ch4-debug":     "MPICH 5.0.2 with ch4:ofi alone and debugger support",
		"mpich-5.0.1-ch4-debug-ofi": "MPICH 5.0.2 with ch4:ofi alone and debugger support",
		"mpich-5.0.1-ch4-ucx":       "MPICH 5.0.2 with ch4:ucx alone and no shared memory",
		"mpich-5.0.1-ch4-ucx-debug": "MPICH 5.0.2 with ch4:ucx alone and debugger support",
	} {
		whole := inferiortest.Recorded(t, name+"/queues-rank-0")
		var shown [2]*mqs.Process
		for i, of := range []inferior.Inferior{whole, inferiortest.Patch(whole).RemoveTypes()} {
			p, err := read.Read(t.Context(), of, []read.Decoder{Decoder{}}, read.Filter{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			shown[i] = p
		}
		if shown[1].LayoutName != want {
			t.Errorf("%s: it is read by the table of %q, not %q", name, shown[1].LayoutName, want)
		}
		if len(shown[0].Communicators) == 0 || len(shown[1].Communicators) != len(shown[0].Communicators) {
			t.Fatalf("%s: it has %d communicators, and without types %d", name, len(shown[0].Communicators), len(shown[1].Communicators))
		}
		for k, c := range shown[0].Communicators {
			if other := shown[1].Communicators[k]; other.UniqueID != c.UniqueID || !reflect.DeepEqual(other.Queue, c.Queue) {
				t.Errorf("%s: without types %v has other queues than with them", name, c.Name)
			}
		}
	}
}
