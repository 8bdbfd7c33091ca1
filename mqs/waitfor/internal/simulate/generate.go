package simulate

import (
	"math/rand/v2"
	"slices"
)

// Collectives that a program may call.
var (
	synchronising = []string{"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Comm_dup", "MPI_Comm_split"}
	rooted        = []string{"MPI_Bcast", "MPI_Scatter", "MPI_Gather", "MPI_Reduce"}
)

func isCollective(name string) bool {
	return name == "MPI_Scan" || slices.Contains(synchronising, name) || slices.Contains(rooted, name)
}

// Generate makes up a job of 2 to 6 ranks.
func Generate(rng *rand.Rand) *Job {
	coin := func(n int) bool { return rng.IntN(n) == 0 }
	j := &Job{CountsMessages: coin(2), OnlyReceives: coin(2), Dissemination: coin(2), ShowsInternal: !coin(3), DropsComplete: coin(4),
		QueuesProbes: coin(2), IgnoresInFinalize: coin(4), CountsBeforeMatching: coin(4), ReportsArriving: coin(2),
		ReceiverFetches: coin(2), AnonymousSends: coin(4), ReusesLines: coin(2)}
	n := 2 + rng.IntN(5)
	if coin(2) {
		n = 2 + rng.IntN(2)
	}
	g := &generator{Rand: rng, Job: j, n: n}
	g.communicators()
	j.Ranks = make([][][]Call, n)
	for i := range j.Ranks {
		j.Ranks[i] = make([][]Call, 1)
		if coin(6) {
			j.Ranks[i] = make([][]Call, 2)
		}
	}
	for range 1 + rng.IntN(7) {
		g.event()
	}
	turns := 1
	if j.ReusesLines {
		turns += rng.IntN(3)
	}
	for i, threads := range j.Ranks {
		for k := range threads {
			if turns > 1 {
				j.Ranks[i][k] = slices.Repeat(j.Ranks[i][k], turns)
			}
			g.finish(int32(i), k)
		}
	}
	return j
}

type generator struct {
	*rand.Rand
	*Job
	n int
}

func (g *generator) coin(n int) bool { return g.IntN(n) == 0 }

func (g *generator) communicators() {
	var all, reversed []int32
	for i := range int32(g.n) {
		all, reversed = append(all, i), append([]int32{i}, reversed...)
	}
	g.Comms = []Comm{{Name: "MPI_COMM_WORLD", Context: "0", Groups: [2][]int32{all}}}
	if g.coin(3) {
		g.Comms = append(g.Comms, Comm{Name: "dup", Context: "3", Groups: [2][]int32{all}})
	}
	if g.coin(4) {
		g.Comms = append(g.Comms, Comm{Name: "reversed", Context: "4", Groups: [2][]int32{reversed}})
	}
	at := 1 + g.IntN(g.n-1)
	if g.coin(4) { // both halves have the same name and context
		g.Comms = append(g.Comms, Comm{Name: "half", Context: "5", Groups: [2][]int32{all[:at]}}, Comm{Name: "half", Context: "5", Groups: [2][]int32{all[at:]}})
	}
	if g.coin(4) {
		g.Comms = append(g.Comms, Comm{Name: "inter", Context: "6", Inter: true, Groups: [2][]int32{all[:at], all[at:]}})
	}
}

// add appends a call to one of a rank's threads. Collectives go to the first one.
func (g *generator) add(rank int32, c Call) {
	threads := g.Ranks[rank]
	at := 0
	if !isCollective(c.Name) {
		at = g.IntN(len(threads))
	}
	if g.coin(25) { // the program's mistake: it has forgotten a call
		return
	}
	threads[at] = append(threads[at], c)
	if n := len(threads[at]); n > 1 && g.coin(6) { // or has them the wrong way round
		threads[at][n-1], threads[at][n-2] = threads[at][n-2], threads[at][n-1]
	}
}

// event adds a message, or a collective, to the ranks that take part in it.
func (g *generator) event() {
	on := g.IntN(len(g.Comms))
	c := &g.Comms[on]
	if g.coin(3) {
		g.collective(on, c)
		return
	}
	from := c.Groups[0]
	side := 0
	if c.Inter && g.coin(2) {
		from, side = c.Groups[1], 1
	}
	to := c.peers(side)
	a, b := int32(g.IntN(len(from))), int32(g.IntN(len(to)))
	if !c.Inter && a == b && !g.coin(10) {
		b = (b + 1) % int32(len(to))
	}
	tag := int32(7 + g.IntN(2))
	send := Call{Name: g.pick("MPI_Send", "MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend", "MPI_Isend", "MPI_Isend", "MPI_Issend"), Comm: on, To: b, Tag: tag}
	send.Rendezvous = send.Name != "MPI_Bsend" && g.coin(2)
	receive := Call{Name: g.pick("MPI_Recv", "MPI_Recv", "MPI_Irecv", "MPI_Probe", "MPI_Mprobe"), Comm: on, From: a, For: tag}
	if g.coin(5) {
		receive.From = Any
	}
	if g.coin(6) {
		receive.For = Any
	}
	if g.coin(20) {
		receive.For = tag + 1
	}
	if g.coin(8) && !c.Inter { // both at once
		g.add(from[a], Call{Name: "MPI_Sendrecv", Comm: on, To: b, Tag: tag, From: b, For: tag, Rendezvous: send.Rendezvous})
		g.add(to[b], Call{Name: "MPI_Sendrecv", Comm: on, To: a, Tag: tag, From: a, For: tag, Rendezvous: send.Rendezvous})
		return
	}
	g.add(from[a], send)
	if g.coin(6) { // and one that is alike
		again := send
		again.Name = g.pick("MPI_Send", "MPI_Bsend", "MPI_Issend")
		again.Rendezvous = send.Rendezvous && again.Name != "MPI_Bsend"
		g.add(from[a], again)
	}
	g.add(to[b], receive)
	if receive.Name == "MPI_Probe" && g.coin(2) {
		receive.Name = "MPI_Recv"
		g.add(to[b], receive)
	}
	for _, rank := range []int32{from[a], to[b]} {
		if g.coin(3) {
			g.add(rank, Call{Name: g.pick("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Test")})
		}
	}
}

func (g *generator) collective(on int, c *Comm) {
	call := Call{Name: g.pick(g.pick(synchronising...), g.pick(rooted...), "MPI_Scan"), Comm: on, Rendezvous: g.coin(3)}
	if c.Inter {
		call.Name = "MPI_Barrier"
	}
	call.Root = int32(g.IntN(len(c.Groups[0])))
	for _, group := range c.Groups {
		for _, rank := range group {
			mine := call
			if g.coin(25) {
				mine.Name = g.pick(synchronising[0], rooted[0])
			}
			if c.Inter {
				mine.Name = "MPI_Barrier"
			}
			g.add(rank, mine)
		}
	}
}

// finish ends a thread's calls.
func (g *generator) finish(rank int32, thread int) {
	calls := &g.Ranks[rank][thread]
	if !g.coin(4) {
		*calls = append(*calls, Call{Name: "MPI_Waitall"})
	}
	last := ""
	switch {
	case g.coin(12):
		last = forever
	case thread == 0 && g.coin(40):
		last = exits
	case thread == 0:
		last = "MPI_Finalize"
	default:
		return
	}
	*calls = append(*calls, Call{Name: last})
}

func (g *generator) pick(names ...string) string { return names[g.IntN(len(names))] }
