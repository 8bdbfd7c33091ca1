package mpir

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// maxHeads bounds the pointers of the library's data that are followed: some hundreds lead out of it.
const maxHeads = 1 << 13

// librarySpan is more than the code and the constants of a library have, which stand before its data.
const librarySpan = 64 << 20

// headsAtOnce is how many of them are brought in one round trip.
const headsAtOnce = 256

// hiddenCollectives are the requests of collectives of a library that hides where its list of schedules begins; nil if
// they are not known. While none is under way, the list is not needed. Else a pointer in the library's data counts from
// which a list leads to the schedules of all that are: one to another than the first schedule would leave some out.
func (s *Source) hiddenCollectives(q *requests) []mqs.CollectiveRequest {
	image := s.lib.image
	if image == nil {
		return nil
	}
	if none, err := s.readCollectives(q, 0); err == nil {
		return none
	}
	seen := map[inferior.Ptr[schedule]]bool{}
	for from := 0; ; {
		heads := image.heads(from, seen)
		for batch := range slices.Chunk(heads, headsAtOnce) {
			if list := s.listedFrom(q, batch); list != nil {
				return list
			}
		}
		if from = len(image.bytes); len(seen) > maxHeads || !image.Grow() {
			return nil
		}
	}
}

// listedFrom are the requests of collectives if one of some pointers is that to the first schedule; else nil.
func (s *Source) listedFrom(q *requests, heads []inferior.Ptr[schedule]) []mqs.CollectiveRequest {
	var ranges []inferior.Range
	for _, head := range heads {
		ranges = append(ranges, inferior.RangeOf(&s.lib.c.Schedule, head, 1))
	}
	_ = s.lib.Reader.Prefetch(ranges) // what can't be read is no schedule
	for _, head := range heads {
		if first, err := s.lib.c.Schedule.Read(s.lib.Reader, head); err != nil || !isScheduleOf(q, &first) {
			continue
		}
		if list, err := s.readCollectives(q, head); err == nil {
			return list
		}
	}
	return nil
}

// heads are the pointers in the library's data, from a place on, that lead out of it and that were not seen before.
func (m *Image) heads(from int, seen map[inferior.Ptr[schedule]]bool) (out []inferior.Ptr[schedule]) {
	for o := from; o+m.word <= len(m.bytes); o += m.word {
		a := m.pointer(m.bytes[o:])
		isAligned := a%inferior.Addr(m.word) == 0
		if at := inferior.Ptr[schedule](a); isAligned && a >= imagePage && a>>47 == 0 && (a+librarySpan < m.start || a >= m.start+maxImage) && !seen[at] {
			seen[at] = true
			out = append(out, at)
		}
	}
	return out
}

// isScheduleOf says whether what was read may be a schedule: that of a request of a collective that is under way.
func isScheduleOf(q *requests, of *schedule) bool {
	r := q.byAddr[of.Request]
	return r != nil && r.IsCollective() && !r.IsComplete() && of.Tag >= firstNonBlocking && of.Entries != 0 &&
		of.Count > 0 && of.Count <= maxEntries && of.Index <= uint64(of.Count)
}
