package render

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// How much of a large job the text shows. JSON shows all of it.
const (
	mostGroups    = 60
	mostDeadlocks = 20
	mostMisses    = 60
	mostReasons   = 60
	mostWaits     = 20 // of a cycle, including its last ones
	mostRanges    = 60 // characters for the ranks of a group
)

// verdictStyles are the words and colours of the verdicts.
var verdictStyles = map[waitfor.Verdict]struct{ title, color string }{
	waitfor.Deadlocked:                  {"Deadlock", "1;31"},
	waitfor.DeadlockedUnless:            {"Deadlock, unless a message was in transit", "1;33"},
	waitfor.DeadlockedUnlessPollingEnds: {"Deadlock, unless polling ends", "1;33"},
	waitfor.DeadlockedUnlessThreadActs:  {"Deadlock, unless a thread acts", "1;33"},
	waitfor.HeldUp:                      {"Held up", "1;33"},
	waitfor.NoDeadlock:                  {"No deadlock", "1;32"},
	waitfor.NoProgress:                  {"No progress", "1;33"},
	waitfor.Undecided:                   {"Undecided", "1;33"},
	waitfor.Unknown:                     {"Unknown", "1;33"},
}

// stateColors are the colours of states that stand out.
var stateColors = map[waitfor.State]string{waitfor.InDeadlock: "31", waitfor.Stuck: "33", waitfor.Unreadable: "33", waitfor.Uncertain: "33", waitfor.BlockedOutside: "33", waitfor.Stopped: "33"}

// ReportText writes a report for people. What matters most comes first.
func ReportText(w io.Writer, r *waitfor.Report, style Style) error {
	b := bufio.NewWriterSize(w, 1<<16)
	verdict := verdictStyles[r.Verdict]
	fmt.Fprintf(b, "%s. %s\n", style.paint(verdict.color, verdict.title), sentences(r.Why))
	groups := knownGroups(r)
	if len(groups) > 0 {
		fmt.Fprintf(b, "\n%s\n", style.paint("1", "Where the ranks are"))
	}
	for _, g := range groups[:min(len(groups), mostGroups)] {
		state := style.paint(stateColors[g.State], string(g.State))
		fmt.Fprintf(b, "  %s: %s (%s)\n", rankList(g.Ranks, mostRanges), printable.Line(g.Text), state)
	}
	moreText(b, len(groups), mostGroups, "groups")
	for i := range r.Deadlocks[:min(len(r.Deadlocks), mostDeadlocks)] {
		deadlockText(b, &r.Deadlocks[i], deadlockTitle(r, &r.Deadlocks[i], mostRanges), style)
	}
	moreText(b, len(r.Deadlocks), mostDeadlocks, "deadlocks")
	if len(r.NearMisses) > 0 {
		fmt.Fprintf(b, "\n%s\n", style.paint("1", "Near misses"))
	}
	for _, m := range r.NearMisses[:min(len(r.NearMisses), mostMisses)] {
		fmt.Fprintf(b, "  %s\n", sentences(m.Text))
	}
	moreText(b, len(r.NearMisses), mostMisses, "near misses")
	missingText(b, r, style)
	if t := r.Tree(); t != nil {
		fmt.Fprintf(b, "\n%s\n", style.paint("1", stacksTitle(t)))
		stacksTo(b, t, "  ", true, style)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(b, "\nNote: %s\n", sentences(n))
	}
	return b.Flush()
}

// knownGroups returns the groups of which something is known. All ranks of the other groups are
// shown as missing.
func knownGroups(r *waitfor.Report) []*waitfor.Group {
	missing := map[int32]bool{}
	for _, m := range r.Missing {
		missing[m.Rank] = true
	}
	var out []*waitfor.Group
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.State != waitfor.Unreadable || slices.ContainsFunc(g.Ranks, func(rank int32) bool { return !missing[rank] }) {
			out = append(out, g)
		}
	}
	return out
}

// moreText says how many lines are left out.
func moreText(w *bufio.Writer, n, most int, what string) {
	if n > most {
		fmt.Fprintf(w, "  ... and %d more %s of %d\n", n-most, what, n)
	}
}

// deadlockTitle names a deadlock by its ranks, and what it is not proved for.
func deadlockTitle(r *waitfor.Report, d *waitfor.Deadlock, most int) string {
	title := "Deadlock of " + rankList(d.Ranks, most)
	switch r.Verdict {
	case waitfor.DeadlockedUnless:
		title += ", unless a message was in transit"
	case waitfor.DeadlockedUnlessPollingEnds:
		title += ", unless polling ends"
	case waitfor.DeadlockedUnlessThreadActs:
		title += ", unless a thread acts"
	}
	return title
}

func deadlockText(w *bufio.Writer, d *waitfor.Deadlock, title string, style Style) {
	fmt.Fprintf(w, "\n%s\n", style.paint("1", title))
	skipped := len(d.Cycle) - mostWaits
	for i := range d.Cycle {
		if skipped > 0 && i >= mostWaits-2 && i < len(d.Cycle)-2 {
			if i == mostWaits-2 {
				fmt.Fprintf(w, "  ... and %d more of %d\n", skipped, len(d.Cycle))
			}
			continue
		}
		c := &d.Cycle[i]
		color := ""
		if c.Class.Known {
			color = queueStyles[c.Class.Value].color
		}
		fmt.Fprintf(w, "  rank %d waits for rank %d: %s%s\n", c.Rank, c.For, style.paint(color, printable.Line(c.Operation)), whereText(c))
	}
}

// Culprit returns one line that says why a job hangs. It is, in this order: that ranks did not join their launcher's job, which explains
// everything else; the first likely mistake, one that names culprits before others; a deadlock's first wait; why nothing better is known.
func Culprit(r *waitfor.Report) string {
	named := slices.IndexFunc(r.NearMisses, func(n waitfor.NearMiss) bool { return len(n.Culprits) > 0 })
	switch {
	case r.NotJoined != "":
		return printable.Line(r.NotJoined)
	case named >= 0:
		return printable.Line(r.NearMisses[named].Text)
	case len(r.NearMisses) > 0:
		return printable.Line(r.NearMisses[0].Text)
	case len(r.Deadlocks) > 0 && len(r.Deadlocks[0].Cycle) > 0:
		w := &r.Deadlocks[0].Cycle[0]
		return fmt.Sprintf("Rank %d waits for rank %d: %s%s.", w.Rank, w.For, printable.Line(w.Operation), whereText(w))
	}
	return printable.Line(r.Why)
}

// whereText says where a rank waits: ", in MPI_Recv at ring.c:42".
func whereText(c *waitfor.Wait) string {
	text := ""
	switch {
	case len(c.Callers) > 0:
		return printable.Line(", in " + c.Call + " called by " + mqs.CallersText(c.Callers))
	case c.Call != "":
		text = ", in " + c.Call
	case c.File != "":
		text = ","
	}
	if c.File == "" {
		if c.Function != "" {
			text += " called by " + c.Function
		}
		return printable.Line(text)
	}
	return printable.Line(text + " at " + sourceLine(c.File, c.Line))
}

// sourceLine names a line of the program's source: "ring.c:42".
func sourceLine(file string, line int) string {
	if file == "" {
		return ""
	}
	if line <= 0 {
		return filepath.Base(file)
	}
	return filepath.Base(file) + ":" + strconv.Itoa(line)
}

func missingText(w *bufio.Writer, r *waitfor.Report, style Style) {
	if len(r.Missing) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", style.paint("1", "Not known"))
	reasons := byReason(r.Missing)
	for _, m := range reasons[:min(len(reasons), mostReasons)] {
		fmt.Fprintf(w, "  %s", rankList(m.ranks, mostRanges))
		if m.why != "" {
			fmt.Fprintf(w, ": %s", sentences(m.why))
		}
		fmt.Fprintln(w)
	}
	moreText(w, len(reasons), mostReasons, "reasons")
}

// missingRanks are ranks of which nothing is known, for one reason.
type missingRanks struct {
	ranks []int32
	why   string
}

// byReason puts missing ranks with the same reason together, ordered by their lowest rank.
func byReason(missing []waitfor.Missing) []missingRanks {
	var out []missingRanks
	places := map[string]int{}
	for _, m := range missing {
		at, ok := places[m.Why]
		if !ok {
			at = len(out)
			places[m.Why] = at
			out = append(out, missingRanks{why: m.Why})
		}
		out[at].ranks = append(out[at].ranks, m.Rank)
	}
	return out
}

// rankList names ranks in about most characters: "rank 5", "ranks 0-3, 6".
func rankList(ranks []int32, most int) string { return numbered("rank", ranks, most) }

// numbered names things by their numbers, which are in order, in about most characters: "ranks 0-3, 6".
func numbered(what string, numbers []int32, most int) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("%s %d", what, numbers[0])
	}
	list := strings.ReplaceAll(waitfor.Ranges(numbers), ",", ", ")
	if len(list) > most {
		list = fmt.Sprintf("%s, ... (%d %ss)", list[:strings.LastIndex(list[:most], ",")], len(numbers), what)
	}
	return what + "s " + list
}

// processesOf names processes in about most characters for each kind: "ranks 0-3 and inferior 7".
func processesOf(m *mqs.Members, most int) string {
	var parts []string
	if len(m.Ranks) > 0 {
		parts = append(parts, rankList(m.Ranks, most))
	}
	if len(m.Inferiors) > 0 {
		parts = append(parts, numbered("inferior", m.Inferiors, most))
	}
	return strings.Join(parts, " and ")
}

// sentences makes sentences safe for a terminal. They may quote names from a foreign process.
func sentences(s string) string {
	s = sentence(s)
	if s == "" || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "!") {
		return s
	}
	return s + "."
}
