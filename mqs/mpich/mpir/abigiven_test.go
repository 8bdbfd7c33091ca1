package mpir

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// ofABI is a made-up process whose library is that for the ABI.
func ofABI() *inferiortest.Process {
	p := inferiortest.New()
	p.Symbols[SymRequestPools] = &inferior.Symbol{Addr: 0x7000, Object: "/lib/libmpi_abi.so.1"}
	return p
}

// What the ABI's programs pass to calls is told by the ABI's constants: none of MPICH's own numbers means anything.
func TestArgumentsOfABI(t *testing.T) {
	unknown, known := mqs.Maybe[int32]{}, mqs.Known[int32]
	for name, c := range map[string]struct {
		call        string
		own         map[string]int64
		source, tag mqs.Maybe[int32]
		operation   mqs.Maybe[string]
		datatype    mqs.Maybe[string]
		isWorld     bool
	}{
		"a probe for any":     {call: "MPI_Mprobe", own: map[string]int64{"source": -1, "tag": -2, "comm": 0x101}, source: known(mqs.AnyRank), tag: known(-1), isWorld: true},
		"a probe of nobody":   {call: "MPI_Probe", own: map[string]int64{"source": -3, "tag": 7}, source: unknown, tag: known(7)},
		"a sum":               {call: "MPI_Allreduce", own: map[string]int64{"op": 0x21, "count": 2, "datatype": 0x209, "comm": 0x101}, operation: mqs.Known("MPI_SUM"), datatype: mqs.Known("MPI_INT"), isWorld: true},
		"a type of its own":   {call: "MPI_Allreduce", own: map[string]int64{"op": 0x38, "count": 2, "datatype": 0x212}, operation: mqs.Known("MPI_MINLOC"), datatype: mqs.Known("MPI_C_FLOAT_COMPLEX")},
		"MPICH's own numbers": {call: "MPI_Allreduce", own: map[string]int64{"op": 0x58000003, "count": 2, "datatype": 0x4c000405, "comm": 0x44000000}},
		"other constants":     {call: "MPI_Allreduce", own: map[string]int64{"op": 0x209, "count": 2, "datatype": 0x21, "comm": 0x102}},
	} {
		world := comm(0x10, 0, false)
		world.Handle = 0x44000000
		s := made(ofABI(), &scripted{}, []*Communicator{world})
		got := s.waitOf(given(c.call, c.own, nil), true)
		if got.Source != c.source || got.Tag != c.tag || got.Operation != c.operation || got.Datatype != c.datatype || got.Comm.Known != c.isWorld {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The library for the ABI keeps the ABI's wildcards in its requests.
func TestNegativesOfABI(t *testing.T) {
	l := over(ofABI())
	r := &Operation{At: 0x1000}
	for name, c := range map[string]struct {
		peer, tag int32
		want      mqs.Maybe[int32]
		isWild    bool
	}{
		"any":    {-1, -2, mqs.Known(int32(mqs.AnyRank)), true},
		"nobody": {-3, 7, mqs.Maybe[int32]{}, false},
		"none":   {-2, -1, mqs.Maybe[int32]{}, false},
	} {
		got := l.common(&reversed, r, Arguments{Peer: mqs.Known(c.peer), Tag: mqs.Known(c.tag)})
		if got.DesiredLocalRank != c.want || got.TagWild != mqs.Known(c.isWild) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
