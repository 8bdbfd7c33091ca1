package render

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// widestMembers is about the number of characters of a group that a page shows.
const widestMembers = 400

// pageComm is a communicator of a page: its label, and its groups in global ranks.
type pageComm struct{ Label, Members, Remote string }

// sliceKey identifies a group by its memory. Members of a communicator mostly share one slice, so that
// a group's text is made once, however many have it.
type sliceKey struct {
	first *mqs.Maybe[int32]
	n     int
}

// pageComms returns the communicators of a job, without the MPI library's own. Communicators with the
// same name and the same groups share a row. more is the number of rows beyond those of the page.
func pageComms(r *waitfor.Report) (comms []pageComm, more int) {
	texts := map[sliceKey]string{}
	text := func(g []mqs.Maybe[int32]) string {
		if len(g) == 0 {
			return membersText(g, 0)
		}
		key := sliceKey{&g[0], len(g)}
		s, ok := texts[key]
		if !ok {
			s = membersText(g, 0)
			texts[key] = s
		}
		return s
	}
	seen := map[pageComm]bool{}
	for i := range r.Ranks {
		if r.Ranks[i].Process == nil {
			continue
		}
		for _, c := range r.Ranks[i].Process.Communicators {
			if c.Internal {
				continue
			}
			row := pageComm{Label: c.Label(), Members: text(c.Group)}
			if c.Inter == mqs.Known(true) {
				row.Remote = text(c.RemoteGroup)
			}
			if seen[row] {
				continue
			}
			seen[row] = true
			if len(comms) == mostRows {
				more++
				continue
			}
			row.Label, row.Members = printable.Line(row.Label), membersText(c.Group, widestMembers)
			if c.Inter == mqs.Known(true) {
				row.Remote = membersText(c.RemoteGroup, widestMembers)
			}
			comms = append(comms, row)
		}
	}
	return comms, more
}
