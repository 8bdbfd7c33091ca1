package waitfor

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// world is the name of the communicator of all ranks.
const world = "MPI_COMM_WORLD"

// communicator is one communicator of the job, whatever its processes call it.
type communicator struct {
	id   int32
	name string // as set by one of its members
	// serves is the window or the file that the library has made it for.
	serves string
	text   string // its label, once that has been asked for
	inter  bool
	// known is true if its groups are known. If not, it may stand for several communicators.
	known bool
	// internal is true for a communicator that the library has made for itself.
	internal bool
	sides    [2]side // the second one of an intercommunicator
}

// side is one group of a communicator.
type side struct {
	group   []int32           // global ranks by local rank, -1 for those not known; shared
	members map[int32]*member // by local rank; only those in the snapshot
	anyOf   *rankSet          // the group, to wait for a message from any of its ranks
	someOf  *rankSet          // the same, to wait for a message from one of them, which is not known
	// counting is the number of members that count messages.
	counting int
	// ran is true if all members have run since the previous look; valid once evaluated is true.
	ran, evaluated bool
}

// across returns the side with which a member on one side communicates.
func (c *communicator) across(side int) int {
	if c.inter {
		return 1 - side
	}
	return side
}

// label is the communicator's name in sentences.
func (c *communicator) label() string {
	if c.text == "" {
		c.text = c.describe()
	}
	return c.text
}

func (c *communicator) describe() string {
	switch {
	case c.serves != "":
		return c.serves
	case strings.HasPrefix(c.name, "MPI_COMM_"):
		return c.name
	case c.name != "":
		return `"` + c.name + `"`
	case !c.known:
		return "a communicator"
	case c.inter:
		return "an intercommunicator of " + sideWords(c.sides[0].group) + " and " + sideWords(c.sides[1].group)
	}
	return "a communicator of " + rankWords(knownRanks(c.sides[0].group))
}

// sideWords names the group of one side of an intercommunicator, of which no rank is known if it is of another job.
func sideWords(group []int32) string {
	if known := knownRanks(group); len(known) > 0 || len(group) == 0 {
		return rankWords(known)
	}
	return "processes of which no rank is known"
}

// knownRanks returns the ranks of a group that are known, in order.
func knownRanks(group []int32) []int32 {
	out := appendKnownRanks(make([]int32, 0, len(group)), group)
	slices.Sort(out)
	return out
}

// appendKnownRanks appends the ranks of a group that are known.
func appendKnownRanks(to, group []int32) []int32 {
	for _, r := range group {
		if r >= 0 {
			to = append(to, r)
		}
	}
	return to
}

// commKey is the same for the communicators of two processes that are one.
type commKey struct {
	context string
	name    string // name and size are used only if there is no context
	size    int32
	groups  [2]int32 // those of an intercommunicator are in ascending order
	inter   bool
	unknown bool  // its groups are not known
	nth     int32 // its index among those of the same key in one process
}

// communicators finds which communicators of the processes are one. Several may have the same
// context at a time if their groups have no rank in common, so the context and the groups both count.
func (j *job) communicators() {
	contexts := j.contexts()
	groups := newGroupTable(len(j.ranks))
	groups.findOrdered(j.ranks)
	byKey := map[commKey]*communicator{}
	seen := map[commKey]int32{} // in one process at a time
	for i := range j.ranks {
		r := &j.ranks[i]
		if r.process == nil || len(r.process.Communicators) == 0 {
			continue
		}
		clear(seen)
		r.members = make([]*member, 0, len(r.process.Communicators))
		for _, q := range r.process.Communicators {
			m := &member{Queues: q, rank: int32(i)}
			key, at := m.key(groups, contexts)
			seen[key]++
			key.nth = seen[key] - 1
			c := byKey[key]
			if c == nil {
				c = &communicator{id: int32(len(j.comms)), inter: q.Inter == mqs.Known(true), known: !key.unknown, internal: q.Internal}
				if c.known {
					c.sides[0] = groups.side(key.groups[0])
					if c.inter {
						c.sides[1] = groups.side(key.groups[1])
					}
				}
				byKey[key] = c
				j.comms = append(j.comms, c)
			}
			if c.name == "" && q.Name.Known {
				c.name = q.Name.Value
			}
			c.serves = cmp.Or(c.serves, q.Serves())
			m.join(c, at)
			r.members = append(r.members, m)
		}
	}
}

// contexts says whether contexts tell communicators apart. They do only if all processes have them.
func (j *job) contexts() bool {
	with, without := false, false
	for i := range j.ranks {
		if p := j.ranks[i].process; p != nil && len(p.Communicators) > 0 {
			if slices.ContainsFunc(p.Communicators, func(q *mqs.Queues) bool { return q.Context != "" }) {
				with = true
			} else {
				without = true
			}
		}
	}
	if with && without {
		j.note("The context ids of communicators are not known of all processes, so which of them are the same is concluded from their names and members.")
	}
	return with && !without
}

// key returns the key of the member's communicator, and the side of it that the member is on.
func (m *member) key(groups *groupTable, contexts bool) (commKey, int) {
	key := commKey{inter: m.Inter == mqs.Known(true)}
	if contexts {
		key.context = m.Context
	}
	if key.context == "" {
		key.name, key.size = m.Name.Value, m.Size.Value
	}
	local, ok := groups.of(&m.Communicator)
	remote := int32(-1)
	if key.inter {
		remote = groups.intern(m.RemoteGroup)
		ok = ok && m.RemoteGroup != nil
		key.size = 0 // it is the size of the local group, which differs between the sides
	}
	if !ok {
		key.unknown = true
		return key, 0
	}
	if key.inter && remote < local {
		key.groups = [2]int32{remote, local}
		return key, 1
	}
	key.groups = [2]int32{local, remote}
	return key, 0
}

// join makes the member a member of a side of a communicator.
func (m *member) join(c *communicator, at int) {
	m.comm, m.side, m.local = c, at, -1
	s := &c.sides[at]
	if m.LocalRank.Known {
		m.local = m.LocalRank.Value
	} else if c.known {
		m.local = int32(slices.Index(s.group, m.rank))
	}
	if m.local < 0 || int(m.local) >= len(s.group) {
		m.local = -1
		return
	}
	if s.members == nil {
		s.members = map[int32]*member{}
	}
	s.members[m.local] = m
}

// member returns the member with a local rank; nil if it is not in the snapshot.
func (s *side) member(local int32) *member { return s.members[local] }

// groupTable gives equal MPI groups the same number. The group of all ranks in order, which every
// process has, is 0.
type groupTable struct {
	size    int
	byText  map[string]int32
	bySlice map[sliceKey]int32
	lists   [][]int32
	buffer  []byte
	// ordered are the communicators without a known group in which each rank's local rank is its
	// global rank.
	ordered map[orderKey]bool
}

// orderKey tells communicators without a known group apart.
type orderKey struct {
	context, name string
	size          int32
}

func orderKeyOf(c *mqs.Communicator) orderKey { return orderKey{c.Context, c.Name.Value, c.Size.Value} }

// findOrdered finds the communicators without a known group of which all ranks are members, each
// with its global rank as its local rank.
func (g *groupTable) findOrdered(ranks []rank) {
	count := map[orderKey]int{}
	for i := range ranks {
		if ranks[i].process == nil {
			return // its number is not known
		}
		own := map[orderKey]bool{}
		for _, q := range ranks[i].process.Communicators {
			if q.Group != nil || q.Inter == mqs.Known(true) || !q.Size.Known || int(q.Size.Value) != g.size {
				continue
			}
			key := orderKeyOf(&q.Communicator)
			before, seen := own[key]
			own[key] = (before || !seen) && q.LocalRank == mqs.Known(int32(i))
		}
		for key, is := range own {
			if is {
				count[key]++
			}
		}
	}
	g.ordered = map[orderKey]bool{}
	for key, n := range count {
		g.ordered[key] = n == len(ranks)
	}
}

// sliceKey identifies a slice by its memory: the processes of a made-up job share their groups.
type sliceKey struct {
	first *mqs.Maybe[int32]
	n     int
}

func newGroupTable(size int) *groupTable {
	all := make([]int32, size)
	for i := range all {
		all[i] = int32(i)
	}
	g := &groupTable{size: size, byText: map[string]int32{}, bySlice: map[sliceKey]int32{}, lists: [][]int32{all}}
	g.byText[string(g.text(all))] = 0
	return g
}

// of returns the number of a communicator's local group. If the group is not known, it is that of
// all ranks in order for MPI_COMM_WORLD and for the communicators of findOrdered. Others of the same
// size may have another order.
func (g *groupTable) of(c *mqs.Communicator) (int32, bool) {
	if c.Group != nil {
		return g.intern(c.Group), true
	}
	if c.Inter != mqs.Known(true) && (c.Name.Known && c.Name.Value == world || g.ordered[orderKeyOf(c)]) {
		return 0, true
	}
	return -1, false
}

func (g *groupTable) intern(group []mqs.Maybe[int32]) int32 {
	var at sliceKey
	if len(group) > 0 {
		at = sliceKey{&group[0], len(group)}
	}
	if id, ok := g.bySlice[at]; ok {
		return id
	}
	ranks := make([]int32, len(group))
	for i, r := range group {
		ranks[i] = -1
		if r.Known && r.Value >= 0 && int(r.Value) < g.size {
			ranks[i] = r.Value
		}
	}
	text := g.text(ranks)
	id, ok := g.byText[string(text)]
	if !ok {
		id = int32(len(g.lists))
		g.byText[string(text)] = id
		g.lists = append(g.lists, ranks)
	}
	if len(group) > 1 {
		g.bySlice[at] = id
	}
	return id
}

// text returns a group as bytes, which are valid until the next call.
func (g *groupTable) text(ranks []int32) []byte {
	g.buffer = g.buffer[:0]
	for _, r := range ranks {
		g.buffer = binary.NativeEndian.AppendUint32(g.buffer, uint32(r))
	}
	return g.buffer
}

func (g *groupTable) side(id int32) side { return side{group: g.lists[id]} }
