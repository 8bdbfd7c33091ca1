package expect

import (
	"slices"
	"strings"
)

// Expected returns what the report on a mode must be with the library. What the library does not record, the report cannot
// contain. It returns nil if the library cannot run the mode, or if the mode does not hang with it.
func (l Library) Expected(m *Mode) *Mode {
	if l.MPI == "MPICH" {
		return l.expectedOfMPICH(m)
	}
	return l.expectedOfOpenMPI(m)
}

func (l Library) expectedOfOpenMPI(m *Mode) *Mode {
	isPSM2 := l.Device == "cm" && strings.HasPrefix(l.Transport, "PSM2")
	// A synchronous send to the sender itself is complete there before it is received. A job that is spawned finds no card left.
	if isPSM2 && slices.Contains([]string{"ssend-self", "spawn-ring"}, m.Name) {
		return nil
	}
	if m.Verdict == Moves {
		return m
	}
	out := m
	switch {
	case isPSM2:
		out = m.overPSM2()
	case l.Device == "cm":
		out = m.overOFI()
	case l.Device == "ucx":
		out = m.overUCX()
	}
	// Only a launcher's table distinguishes a rank that is gone from a rank on another machine, and 5.0 and later have no such table. No layout
	// table describes the non-blocking collectives of 6.0.
	hasNoTable := m.Name == "gone" && l.isFrom(5, 0)
	hidesCollectives := l.isFrom(6, 0) && (m.Program == "nonblocking" || m.Name == "ibarrier")
	if hasNoTable || hidesCollectives {
		return out.orUnknown()
	}
	return out
}

// orUnknown returns the mode of which "unknown" is right as well.
func (m *Mode) orUnknown() *Mode {
	either := *m
	either.OrUnknown = true
	return &either
}

// overUCX is the same mode with Open MPI's pml ucx: UCX counts no messages, and keeps nothing of probes.
func (m *Mode) overUCX() *Mode {
	if m.isOfProbes() {
		return m.Unknowable()
	}
	out := m.Uncounted().ProbedInVain()
	switch m.Name {
	case "inactive": // only the program knows what its request would do
		out.Misses = nil
	case "neighbour":
		// pml ucx sends 24 bits of the library's own tags: those of neighbours look like the program's 0 and 1.
		either := *m
		either.Maybe = []string{"tag", "never received"}
		return &either
	}
	return out
}

func (m *Mode) isOfProbes() bool { return strings.HasPrefix(m.Name, "probe") || m.Name == "mprobe" }

// overOFI is the same mode with Open MPI's mtl ofi. libfabric counts nothing: every deadlock is one unless a message was in
// transit. It keeps nothing of probes.
func (m *Mode) overOFI() *Mode {
	if m.isOfProbes() {
		return m.Unknowable()
	}
	out := m.OverLibfabric()
	if m.Name == "inactive" { // only the program knows what its request would do
		out.Misses = nil
	}
	return out
}

// overPSM2 is the same mode with Open MPI's mtl psm2: that over libfabric, but ranks are connected before they send,
// and a message waits for its receive as a whole.
func (m *Mode) overPSM2() *Mode {
	out := m.overOFI()
	switch m.Program + " " + m.Name {
	case "nonblocking late", "mistake truncation":
		out.Places, out.Misses = m.Places, m.Misses
	}
	return out
}

// ByPt2pt is the same mode of program onesided with Open MPI's osc pt2pt, whose calls go on without a lock or a post. It has
// receives of its own, which MPI_Recv may hold beside its own.
func (m *Mode) ByPt2pt() *Mode { return m.Late().orUnknown() }

// toldStripped are the modes of which a stripped MPICH over libfabric keeps all that the report needs: what ranks wait for that are in
// MPI_Recv, or in a call for requests of the program's. A call that sends may be refused by libfabric, and which messages
// are its own is then not known, nor how far a collective has come.
var toldStripped = []string{"deadlock recv-ring", "deadlock waitall-ring", "deadlock waitany", "deadlock wildcard", "deadlock split", "deadlock inter"}

// ToldByStock are the modes of which the report with a distribution's stripped MPICH must be whole. It does not record
// what calls were given: their messages show on which communicator a collective is, and for what it waits.
var ToldByStock = []string{
	"deadlock recv-ring", "deadlock send-ring", "deadlock sendrecv", "deadlock split", "deadlock inter", "deadlock persistent", "deadlock waitall-ring",
	"collective barrier-allreduce", "collective barrier-bcast", "collective barrier-recv", "collective often", "collective gather", "collective crossed",
	"collective copy", "collective part", "collective ibarrier",
	"nonblocking iallreduce", "nonblocking ibcast", "nonblocking igather", "nonblocking ialltoall", "nonblocking icross",
	"nonblocking icrossed", "nonblocking second", "nonblocking neighbours", "nonblocking late", "nonblocking elsewhere",
}

// endsWithMPICH says whether MPICH cannot run a mode, or ends its job: ch3 notices that a rank is gone, and ends the job with an
// error; ch4 takes a post of any rank for one of a start's group. Not every device can spawn or connect, none waits in
// MPI_Comm_disconnect, and the ranks that wait in a barrier need not wait for one that owes nothing to it. libfabric keeps as
// many messages as a program floods it with.
func (l Library) endsWithMPICH(m *Mode) bool {
	isCH4 := strings.HasPrefix(l.Device, "ch4:")
	return !isCH4 && m.Name == "gone" || isCH4 && m.Name == "other-group" || m.Dynamic || m.Name == "weak" || l.isOverLibfabric() && m.Name == "flood"
}

// isOverLibfabric is true of an MPICH all of whose messages libfabric has, those inside of a node too.
func (l Library) isOverLibfabric() bool {
	return l.Device == "ch4:ofi" && strings.HasPrefix(l.Transport, "libfabric")
}

// expectedOfMPICH is about an MPICH, which does not count messages. What ch4 keeps without debugger support and at -O2 does not
// suffice for everything.
func (l Library) expectedOfMPICH(m *Mode) *Mode {
	if l.endsWithMPICH(m) {
		return nil
	}
	if m.Verdict == Moves {
		return m
	}
	m = m.Uncounted()
	if l.isOverLibfabric() {
		m = l.expectedOverLibfabric(m)
	}
	if m.Program == "ends" { // which message a call waits for shows at a second look only, if at all
		out := m.orUnknown()
		out.Misses, out.Maybe = nil, []string{"tag"} // the leaders' messages may be in no queue
		for _, miss := range m.Misses {
			out.Maybe = append(out.Maybe, miss.Kind)
		}
		return out
	}
	if m.Program == "onesided" || m.Program == "files" {
		// Messages carry out what happens to windows, and nobody counts them. Device ch3 does not keep whom an
		// exposure is for, and what -O2 leaves of arguments differs from call to call.
		out := m.orUnknown()
		out.OrInTransit = true
		if l.Stripped && m.Name == "missing" { // the data of rank 2 goes to rank 0, and rank 1 waits for rank 0 alone
			out.Deadlocks, out.Waits = []Ring{{[]int{0, 2}, 2}}, map[int][]int{0: {2}, 2: {0}}
			out.Places = []Place{on("", "0", deadlocked, "MPI_File_write_all", "missing"), on("", "1", stuck, "MPI_File_write_all", "missing"), m.Places[1]}
		}
		return out
	}
	if l.Stripped && m.Program == "deadlock" && m.Name == "probe-ring" { // a probe's communicator is known, its source is not
		out := m.orUnknown()
		out.Deadlocks, out.Waits = []Ring{{[]int{0, 1, 2}, 2}}, map[int][]int{0: {0, 1, 2}, 1: {0, 1, 2}, 2: {0}}
		return out
	}
	switch isStock := l.Stripped && !l.isOverLibfabric(); {
	case l.DebuggerSupport, isStock && slices.Contains(ToldByStock, m.Program+" "+m.Name):
		return m
	case isStock:
		return m.withStock()
	}
	m = m.ProbedInVain() // the arguments of calls may be optimised away
	if l.Device != "ch4:ofi" {
		return m
	}
	out := *m
	switch m.Program + " " + m.Name {
	case "deadlock probe-ring", "moving probe":
		return m.Unknowable() // a probe is in no queue, and its arguments are optimised away
	case "mistake truncation":
		return m.Unknowable() // a non-blocking send has no peer
	case "deadlock waitall-ring":
		if !l.isOverLibfabric() { // over libfabric a synchronous send waits for an answer of its peer's
			out.Deadlocks = []Ring{{Ranks: m.Deadlocks[0].Ranks, Length: 3}} // only receives have peers
		}
	}
	return &out
}

// withStock is a mode of which a distribution's stripped MPICH records too little.
func (m *Mode) withStock() *Mode {
	out := m.ProbedInVain().orUnknown()
	if m.Program == "mistake" && m.Name == "left" { // what a rank in MPI_Finalize has sent is not counted
		out.OrInTransit = true
	}
	return out
}

// expectedOverLibfabric is about an MPICH all of whose messages libfabric has.
func (l Library) expectedOverLibfabric(m *Mode) *Mode {
	// Nobody sees what is in transit between nodes, and a rank that computes answers no connection: a first message to
	// it holds its sender up inside of the call.
	out := *m
	out.OrInTransit, out.OrUnknown = true, m.OrUnknown || m.Name == "slow"
	if l.Stripped && m.Program == "deadlock" && m.Name == "two" { // of the ranks in MPI_Send it is not known what they wait for
		out.Deadlocks, out.Places = m.Deadlocks[1:], slices.Clone(m.Places)
		out.Places[0].State, out.Places[0].Comm = waiting, ""
	}
	if l.Stripped && !slices.Contains(toldStripped, m.Program+" "+m.Name) {
		out.OrUnknown = true
	}
	return &out
}
