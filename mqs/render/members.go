package render

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// membersText names the members of a group by their global ranks, in the order of their ranks in the
// group: "0-3, 8, ?". It has about most characters, or as many as it takes if most is 0.
func membersText(group []mqs.Maybe[int32], most int) string {
	if group == nil {
		return unknown
	}
	if len(group) == 0 {
		return "none"
	}
	var b strings.Builder
	for i := 0; i < len(group); {
		if most > 0 && b.Len() > most {
			fmt.Fprintf(&b, ", ... (%d ranks)", len(group))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		first, end := group[i], i+1
		for end < len(group) && group[end].Known == first.Known && (!first.Known || int(group[end].Value-first.Value) == end-i) {
			end++
		}
		switch n := end - i; {
		case !first.Known && n == 1:
			b.WriteString(unknown)
		case !first.Known:
			fmt.Fprintf(&b, "%s (%d ranks)", unknown, n)
		case n == 1:
			b.WriteString(number(first))
		default:
			b.WriteString(number(first) + "-" + strconv.Itoa(int(group[end-1].Value)))
		}
		i = end
	}
	return b.String()
}

// groupsText names the members of a communicator.
func groupsText(w *bufio.Writer, c *mqs.Queues) {
	say := func(what string, group []mqs.Maybe[int32]) {
		if group == nil {
			fmt.Fprintf(w, "  %s: not known\n", what)
			return
		}
		fmt.Fprintf(w, "  %s: global ranks %s\n", what, membersText(group, 0))
	}
	say("Members", c.Group)
	if c.Inter == mqs.Known(true) {
		say("Remote group", c.RemoteGroup)
	}
}
