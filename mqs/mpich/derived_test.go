package mpich

import (
	"context"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

const libmpi = "/opt/lib/libmpi.so.12"

// withoutTypes is a process of a library that has MPICH's constants, and symbols with strings.
func withoutTypes(texts map[string]string) *inferiortest.Process {
	p := inferiortest.New()
	p.Symbols[symUnweighted] = &inferior.Symbol{Addr: 0x1000, Object: libmpi}
	at := inferior.Addr(0x100000)
	for name, text := range texts {
		p.Put(at, []byte(text+"\x00"))
		p.Symbols[name] = &inferior.Symbol{Addr: at, Object: libmpi}
		at += inferiortest.Page
	}
	return p
}

func collected(t *testing.T, of inferior.Inferior) *mqs.Process {
	t.Helper()
	p, err := read.Read(context.Background(), of, []read.Decoder{Decoder{}}, read.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A library that was derived from MPICH has its own name and release, and its queues are unknown, not empty.
func TestDerived(t *testing.T) {
	for _, c := range []struct {
		texts         map[string]string
		name, version string
		says          string
	}{
		{map[string]string{"I_MPI_Library_version": "2021.18.1", mpir.SymVersion: "3.4a2", mpir.SymDevice: "ch4:ofi"}, "Intel MPI", "2021.18.1", "Intel MPI 2021.18.1, which was derived from MPICH 3.4a2"},
		{map[string]string{"I_MPI_Check_image_status": ""}, "Intel MPI", "", "Intel MPI, which was derived from MPICH,"},
		{map[string]string{"mv2_enable_affinity": "", "MPIR_Version_string": "2.3.7"}, "MVAPICH2", "2.3.7", "MVAPICH2 2.3.7, which"},
		{map[string]string{"MPIR_Version_device": "ch3:mrail", "MPIR_Version_string": "2.3.7"}, "MVAPICH2", "2.3.7", "MVAPICH2 2.3.7, which"},
		{map[string]string{"mvp_lmem_pool": "", mpir.SymVersion: "4.0"}, "MVAPICH", "4.0", "MVAPICH 4.0, which"},
		{map[string]string{mpir.SymDevice: "psp", mpir.SymVersion: "4.3.2"}, "ParaStation MPI", "", "ParaStation MPI, which was derived from MPICH 4.3.2"},
		{map[string]string{"MPIDI_PSP_get_psmpi_version_string": ""}, "ParaStation MPI", "", "ParaStation MPI, which"},
		{map[string]string{"MPIDI_CRAY_finalize": ""}, "Cray MPICH", "", "Cray MPICH, which"},
	} {
		of := withoutTypes(c.texts)
		rank, size := int32(1), int32(3)
		of.Identity.Rank, of.Identity.WorldSize = &rank, &size
		p := collected(t, of)
		if p.MPI != c.name || p.MPIVersion != c.version || p.Library != libmpi || p.Phase != "" || p.GlobalRank != mqs.Known(rank) || p.WorldSize != mqs.Known(size) {
			t.Errorf("%v: it is %q %q in %q, in phase %q, rank %v of %v", c.texts, p.MPI, p.MPIVersion, p.Library, p.Phase, p.GlobalRank, p.WorldSize)
		}
		if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, c.says) {
			t.Errorf("%v: the notes are %q", c.texts, notes)
		}
		if len(p.Communicators) != 1 || p.Communicators[0].Handle != mqs.Known[inferior.Addr](0x44000000) || p.Communicators[0].LocalRank != mqs.Known(rank) {
			t.Fatalf("%v: the communicators are %v", c.texts, p.Communicators)
		}
		for _, q := range p.Communicators[0].Queue {
			if q == nil || q.Unavailable == "" {
				t.Errorf("%v: a queue is %+v, as if it were known", c.texts, q)
			}
		}
	}
}

// What is in another file, or begins like a device's name, makes no library another one.
func TestNotDerived(t *testing.T) {
	elsewhere := withoutTypes(map[string]string{"mv2_enable_affinity": "", mpir.SymDevice: "ch3:nemesis"})
	elsewhere.Symbols["mv2_enable_affinity"].Object = ""
	for name, of := range map[string]inferior.Inferior{"a symbol of the program's": elsewhere, "none": withoutTypes(nil)} {
		if _, err := start(of); err == nil || !strings.Contains(err.Error(), "MPICH hides the symbols") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A library that was derived from MPICH is read as MPICH is if its types fit, and says so. Embedded layouts are not tried.
func TestDerivedWithTypes(t *testing.T) {
	const typed, static = "mpich-4.0.2-ch4/queues-rank-0", "mpich-4.0.2-ch4-ucx-static/queues-rank-0"
	as := func(recording string) *inferiortest.Patched {
		tg := inferiortest.Recorded(t, recording)
		found, err := tg.FindSymbols(context.Background(), []string{mpir.SymRequestPools})
		if err != nil || found[0] == nil {
			t.Fatalf("%s: %v", recording, err)
		}
		return inferiortest.Patch(tg).SetSymbol("MPIDI_CRAY_init", *found[0])
	}
	was, p := collected(t, inferiortest.Recorded(t, typed)), collected(t, as(typed))
	if p.MPI != "Cray MPICH" || p.Layout != "dwarf" || len(p.Communicators) != len(was.Communicators) || !strings.Contains(strings.Join(p.Notes, "\n"), "that was not tried") {
		t.Errorf("with types it is %s by %q, with %d communicators: %q", p.MPI, p.Layout, len(p.Communicators), p.Notes)
	}
	if p := collected(t, as(static)); p.MPI != "Cray MPICH" || p.Layout != "" || p.Communicators[0].Queue[mqs.PendingReceives].Unavailable == "" {
		t.Errorf("without types it is %s by %q: %v", p.MPI, p.Layout, p.Communicators[0])
	}
}
