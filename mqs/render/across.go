package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/across"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Ranks writes where the ranks of a job are, as a table. The hosts are in it if there are several.
func Ranks(w io.Writer, r *across.Ranks) error {
	b := bufio.NewWriterSize(w, 1<<16)
	hasHosts := slices.ContainsFunc(r.Ranks, func(r across.Rank) bool { return r.Host != "" })
	columns := []string{"  rank", "inferior", "process", "state", "where"}
	if hasHosts {
		columns = slices.Insert(columns, 2, "host")
	}
	t := newTable(len(columns))
	for _, c := range columns {
		t.cell(c)
	}
	for i := range r.Ranks {
		rank := &r.Ranks[i]
		mark := "  "
		if rank.Selected {
			mark = "* "
		}
		t.cell(mark + number(rank.Rank))
		t.cell(orNone(rank.Inferior.Known, rank.Inferior.Value))
		if hasHosts {
			t.cell(printable.Line(cmp.Or(rank.Host, "this one")))
		}
		t.cell(orNone(rank.PID > 0, rank.PID))
		t.cell(printable.Line(stateText(rank)))
		t.cell(printable.Line(placeText(rank)))
	}
	t.write(b, "")
	return b.Flush()
}

// none stands for what there is not.
const none = "-"

func orNone(is bool, n int) string {
	if !is {
		return none
	}
	return strconv.Itoa(n)
}

// stateText says in what state a rank is, and why.
func stateText(r *across.Rank) string {
	switch {
	case r.State == across.Stopped && r.Reason != "":
		return r.Reason
	case r.State == across.Exited && r.ExitCode.Known:
		return fmt.Sprintf("exited with code %d", r.ExitCode.Value)
	case r.State == across.Exited && r.Reason != "":
		return "killed by " + r.Reason
	case r.Reason != "":
		return string(r.State) + ", " + r.Reason
	}
	return string(r.State)
}

// placeText says where a rank is: "MPI_Recv, called by exchange at halo.c:88".
func placeText(r *across.Rank) string {
	place := cmp.Or(mqs.CallersText(r.Callers), functionText(r.Function, r.File, r.Line))
	switch {
	case r.Unplaced != "":
		return sentence(r.Unplaced)
	case r.Call != "" && place != "":
		return r.Call + ", called by " + place
	case r.Thread.Known:
		return cmp.Or(r.Call, place, unknown)
	}
	return ""
}

// Values writes what an expression is in the ranks of a job, and of numbers the extremes and the mean.
func Values(w io.Writer, v *across.Values, style Style) error {
	b := bufio.NewWriterSize(w, 1<<16)
	line := func(m *mqs.Members, text string) {
		fmt.Fprintf(b, "%s: %s\n", style.paint("1", processesOf(m, mostRanges)), printable.Text(text))
	}
	for i := range v.Values {
		line(&v.Values[i].Members, v.Values[i].Text)
	}
	for i := range v.Failures {
		line(&v.Failures[i].Members, v.Failures[i].Why)
	}
	if s := v.Statistics; s != nil && len(v.Values) > 1 {
		fmt.Fprintln(b, printable.Line(statisticsText(s)))
	}
	return b.Flush()
}

// statisticsText is a line of statistics: "minimum 1 (rank 3), maximum 4 (ranks 0-2), mean 3.25".
func statisticsText(s *across.Statistics) string {
	var parts []string
	if s.Count > 0 {
		parts = append(parts, fmt.Sprintf("minimum %s (%s)", s.MinimumText, processesOf(s.MinimumOf, mostRanges)),
			fmt.Sprintf("maximum %s (%s)", s.MaximumText, processesOf(s.MaximumOf, mostRanges)), "mean "+cmp.Or(s.Mean, unknown))
	}
	if s.NaN != nil {
		parts = append(parts, fmt.Sprintf("%d NaN (%s)", s.NaN.Len(), processesOf(s.NaN, mostRanges)))
	}
	return strings.Join(parts, ", ")
}
