package mpich

import (
	"context"
	"errors"
	"strings"
	"testing"

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
	for _, name := range []string{"mpich-4.0.2-ch3/queues-rank-0", "mpich-4.0.2-ch4/queues-rank-0", "mpich-4.0.2-ch4-debug/queues-rank-0"} {
		_, err := start(inferiortest.Patch(inferiortest.Recorded(t, name)).RemoveTypes())
		if err == nil || !strings.Contains(err.Error(), "none of the layouts") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
