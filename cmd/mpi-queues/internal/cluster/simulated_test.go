package cluster

import (
	"bufio"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// simulation is a job that exchanges messages with neighbours, in rounds, and hangs since one rank asks for a tag that
// nobody sends. By then, each rank has done one round less than it is far from that one.
type simulation struct {
	ranks, wrong int
	neighbours   func(rank int) []int
	// tag is that of the messages from a rank to another.
	tag func(from, to int) int32

	far []int32 // of each rank
}

const (
	ranksOfNode = 100
	wrongTag    = 32767
)

// halo is an exchange on a torus of three dimensions, with a tag for each direction.
func halo(edge int) *simulation {
	s := &simulation{ranks: edge * edge * edge}
	s.wrong = s.ranks / 3
	steps := []int{1, edge, edge * edge}
	s.neighbours = func(rank int) []int {
		var out []int
		for _, step := range steps {
			at := rank / step % edge
			out = append(out, rank+((at+1)%edge-at)*step, rank+((at+edge-1)%edge-at)*step)
		}
		return out
	}
	s.tag = func(from, to int) int32 {
		for i, n := range s.neighbours(from) {
			if n == to {
				return int32(i)
			}
		}
		return -1
	}
	return s
}

// irregular is an exchange on a graph without any order, with tags at random.
func irregular(ranks int) *simulation {
	s := &simulation{ranks: ranks, wrong: ranks / 7}
	random := func(words ...int) int {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, words)
		return int(h.Sum64() >> 2)
	}
	sums := []int{random(1) % ranks, random(2) % ranks, random(3) % ranks, random(4) % ranks}
	s.neighbours = func(rank int) []int {
		out := []int{(rank + 1) % ranks, (rank + ranks - 1) % ranks}
		for _, sum := range sums { // each of them is the other's
			other := (sum - rank + ranks) % ranks
			is := other == rank
			for _, n := range out {
				is = is || n == other
			}
			if !is {
				out = append(out, other)
			}
		}
		return out
	}
	s.tag = func(from, to int) int32 { return int32(random(from, to) % 30000) }
	return s
}

// measure finds how far ranks are from the wrong one.
func (s *simulation) measure() {
	s.far = make([]int32, s.ranks)
	for i := range s.far {
		s.far[i] = -1
	}
	s.far[s.wrong] = 0
	for next := []int{s.wrong}; len(next) > 0; next = next[1:] {
		for _, n := range s.neighbours(next[0]) {
			if s.far[n] < 0 {
				s.far[n] = s.far[next[0]] + 1
				next = append(next, n)
			}
		}
	}
}

// process is that of a rank when all stand. Linux gives each process other addresses.
func (s *simulation) process(rank int) *mqs.Process {
	random := rand.New(rand.NewPCG(uint64(rank), 5))
	library, heap, data := inferior.Addr(0x7f0000000000|random.Uint64()&0xff_ffff_f000), inferior.Addr(0x550000000000|random.Uint64()&0xff_ffff_f000), inferior.Addr(0x7e0000000000|random.Uint64()&0xff_ffff_f000)
	q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: library + 0x1f2a40, LocalRank: mqs.Known(int32(rank)), Size: mqs.Known(int32(s.ranks)),
		Name: mqs.Known("MPI_COMM_WORLD"), Context: "0", Group: mqs.WholeGroup(int32(s.ranks))}, Traffic: []mqs.Traffic{}}
	for class := range q.Queue {
		q.Queue[class] = &mqs.Queue{Operations: []mqs.PendingOperation{}}
	}
	t := mqs.Thread{Number: 1, Placed: true, Call: "MPI_Waitall", Function: "exchange", File: "halo.c", Line: 88, AllRequests: true}
	add := func(class mqs.OpClass, kind string, from int, tag int32) {
		op := mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: mqs.Known(int32(from)), DesiredGlobalRank: mqs.Known(int32(from)), TagWild: mqs.Known(false),
			DesiredTag: mqs.Known(tag), DesiredLength: mqs.Known[int64](8192), ExtraText: []string{}, Kind: kind, SystemBuffer: mqs.Known(false),
			Buffer: mqs.Known(data + inferior.Addr(len(q.Queue[class].Operations))<<14)}
		if class == mqs.PendingReceives {
			op.Datatype, op.Count = mqs.Known("MPI_DOUBLE"), mqs.Known[int64](1024)
			op.Request = mqs.Known(heap + inferior.Addr(len(t.Requests))<<8)
			t.Requests = append(t.Requests, op.Request.Value)
		}
		q.Queue[class].Operations = append(q.Queue[class].Operations, op)
		q.Queue[class].Total++
	}
	own := s.far[rank]
	for i, n := range s.neighbours(rank) {
		switch {
		case rank == s.wrong && i == 0:
			t.Call, t.Line = "MPI_Recv", 91
			add(mqs.PendingReceives, "recv", n, wrongTag)
		case s.far[n] < own:
			add(mqs.PendingReceives, "irecv", n, s.tag(n, rank))
		}
		if s.far[n] > own {
			add(mqs.UnexpectedMessages, "", n, s.tag(n, rank))
		}
		// Rank at distance d has sent to each neighbour d times.
		q.Traffic = append(q.Traffic, mqs.Traffic{Peer: int32(n), Sent: uint16(own), Arrived: uint16(s.far[n])})
	}
	return &mqs.Process{Inferior: 1, PID: 4000 + rank%ranksOfNode, GlobalRank: mqs.Known(int32(rank)), WorldSize: mqs.Known(int32(s.ranks)),
		Image: "/home/user/solver/bin/solver", MPI: "Open MPI", MPIVersion: "4.1.4", Library: "/usr/lib/x86_64-linux-gnu/libopen-pal.so.40",
		Source: "native", Layout: "table", LayoutName: "Open MPI 4.1.4", Phase: mqs.Active, State: mqs.Running, ThreadMultiple: mqs.Known(false), Notes: []string{},
		Threads: []mqs.Thread{t}, Communicators: []*mqs.Queues{q}}
}

// write writes what the collectors of all nodes send at a look.
func (s *simulation) write(to io.Writer, version string, look int) error {
	for first := 0; first < s.ranks; first += ranksOfNode {
		h := header{Names: []string{"pmix:1"}, Stopped: map[int]liveness.Clock{}, Left: map[int]liveness.Clock{}}
		node := &mqs.Snapshot{}
		for rank := first; rank < min(first+ranksOfNode, s.ranks); rank++ {
			p := s.process(rank)
			node.Processes = append(node.Processes, p)
			c := liveness.Clock{Started: 5, Ticks: uint64(100*look + rank%17), Runnable: true}
			h.Stopped[p.PID], h.Left[p.PID] = c, c
		}
		name := fmt.Sprintf("node%05d", first/ranksOfNode)
		sender, err := wire.NewSender(to, name, "machine of "+name, version)
		if err != nil {
			return err
		}
		if err := sender.Document(func(w io.Writer) error { return h.write(w, node) }); err != nil {
			return err
		}
	}
	return nil
}

func (s *simulation) store(t *testing.T, path, version string) {
	t.Helper()
	s.measure()
	for look := range 2 {
		f, err := os.Create(path + strconv.Itoa(look))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 1<<20)
		if err := s.write(w, version, look); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The one rank that asks for another tag is found among many on many nodes.
func TestSimulation(t *testing.T) {
	for name, s := range map[string]*simulation{"halo": halo(10), "irregular": irregular(1000)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "look")
			s.store(t, path, "v1")
			look := 0
			q := &Question{Engine: "sh -c {command}", Version: "v1", Limit: limits, Command: func(string, bool) (commandline.Script, error) {
				look++
				return commandline.Script(fmt.Sprintf("cat %s%d", path, look-1)), nil
			}}
			first, err := q.Ask(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			r, err := liveness.WatchFar(t.Context(), first.Look, func(ctx context.Context) (liveness.Look, error) {
				next, err := q.Ask(ctx)
				return next.Look, err
			})
			if err != nil || r.Verdict != waitfor.Deadlocked || len(r.Deadlocks) != 1 || look != 2 || len(r.Missing) > 0 {
				t.Fatalf("%d looks, %q: %s, %v", look, r.Verdict, r.Why, err)
			}
			to := s.neighbours(s.wrong)[0]
			for _, w := range r.Deadlocks[0].Cycle {
				if w.Rank == int32(s.wrong) && w.For != int32(to) {
					t.Errorf("%+v", w)
				}
			}
			isCause := func(n waitfor.NearMiss) bool {
				return n.Kind == waitfor.OtherTag && slices.Contains(n.Ranks, int32(s.wrong)) && slices.Contains(n.Ranks, int32(to))
			}
			if len(r.Deadlocks[0].Cycle) != 2 || !slices.ContainsFunc(r.NearMisses, isCause) {
				t.Errorf("%+v, %+v", r.Deadlocks[0].Cycle, r.NearMisses)
			}
		})
	}
}

// limits is how long collectors of tests may take that do not hang.
const limits = 10 * 60 * 1e9

// The benchmark has the looks of a job of its size written: MPI_QUEUES_TEST_SIMULATION is "NAME RANKS FILE VERSION".
func TestWriteSimulation(t *testing.T) {
	var name, path, version string
	var ranks int
	if n, _ := fmt.Sscan(os.Getenv("MPI_QUEUES_TEST_SIMULATION"), &name, &ranks, &path, &version); n != 4 {
		t.Skip("the benchmark does this")
	}
	s := irregular(ranks)
	if name == "halo" {
		edge := 1
		for edge*edge*edge < ranks {
			edge++
		}
		s = halo(edge)
	}
	s.store(t, path, version)
}
