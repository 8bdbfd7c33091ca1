package oracle

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Entry is one thing that readers of some builds need not know, or that a vendor's DLL is known to get wrong.
type Entry struct {
	// Builds and Readers are those to which it applies. A build has a name and a version; "*" at the end
	// stands for any text. Readers are "native" and "dll".
	Builds, Readers []string
	// Events are the kinds of events that it allows. A native reader may have no wrong ones.
	Events []Kind
	// Queues and Fields are those to which it applies; all, if none are named. The queue of a communicator's
	// own values is "communicator", that of the process's values "process".
	Queues, Fields []string
	// When are values that the account's operation, or an extra operation, must have; Where are those of its
	// communicator. "*" at the end stands for any text, and alone for any value but null.
	When, Where map[string][]string
	// Known is the share of the cases in which the value must be known all the same.
	Known float64
	// Reason says why.
	Reason string

	cases, allowed int
}

// Table lists what builds may leave unknown.
type Table []*Entry

// ParseTable reads a table and refuses one that allows too much.
func ParseTable(r io.Reader) (Table, error) {
	var table Table
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&table); err != nil {
		return nil, err
	}
	for i, e := range table {
		switch {
		case e.Reason == "" || len(e.Builds) == 0 || len(e.Readers) == 0 || len(e.Events) == 0:
			return nil, fmt.Errorf("entry %d is not complete", i)
		case slices.Contains(e.Events, Wrong) && slices.Contains(e.Readers, "native"):
			return nil, fmt.Errorf("entry %d allows the native decoder what is wrong", i)
		}
	}
	return table, nil
}

// Of returns the entries for a reader of a build, with fresh counts.
func (t Table) Of(build, reader string) Table {
	var out Table
	for _, e := range t {
		if slices.ContainsFunc(e.Builds, func(p string) bool { return isLike(build, p) }) && slices.Contains(e.Readers, reader) {
			own := *e
			out = append(out, &own)
		}
	}
	return out
}

// Allows says whether an event is right or allowed.
func (t Table) Allows(e Event) bool {
	allowed := e.Kind == Right
	for _, entry := range t {
		if !entry.about(e) {
			continue
		}
		entry.cases++
		if slices.Contains(entry.Events, e.Kind) {
			entry.allowed++
			allowed = true
		}
	}
	return allowed
}

// enough is the number of cases from which a share can be judged.
const enough = 200

// Broken returns the entries whose values were known in fewer cases than they promise.
func (t Table) Broken() []string {
	var out []string
	for _, e := range t {
		if known := float64(e.cases-e.allowed) / float64(max(e.cases, 1)); e.cases >= enough && known < e.Known {
			out = append(out, fmt.Sprintf("known in %.3f of %d cases, promised are %.3f: %s", known, e.cases, e.Known, e.Reason))
		}
	}
	return out
}

// Shares returns, for each entry that was needed, the share of cases in which its values were known.
func (t Table) Shares() []string {
	var out []string
	for _, e := range t {
		if e.allowed > 0 {
			out = append(out, fmt.Sprintf("%.3f of %d: %s", float64(e.cases-e.allowed)/float64(e.cases), e.cases, e.Reason))
		}
	}
	return out
}

// Unused returns the reasons of the entries that were not needed.
func (t Table) Unused() []string {
	var out []string
	for _, e := range t {
		if e.allowed == 0 {
			out = append(out, e.Reason)
		}
	}
	return out
}

func (e *Entry) about(v Event) bool {
	queue := v.Queue
	if queue == "" {
		queue = "communicator"
		if v.Comm == nil {
			queue = "process"
		}
	}
	if len(e.Queues) > 0 && !slices.Contains(e.Queues, queue) || len(e.Fields) > 0 && !slices.Contains(e.Fields, v.Field) {
		return false
	}
	of := v.Want
	if of == nil {
		of = v.Got
	}
	return meets(e.When, of) && meets(e.Where, v.Comm)
}

func meets(conditions map[string][]string, o map[string]any) bool {
	for key, values := range conditions {
		value := show(o[key])
		if !slices.ContainsFunc(values, func(v string) bool { return v == value || o[key] != nil && isLike(value, v) }) {
			return false
		}
	}
	return true
}

// isLike says whether a text matches a pattern, which may end in "*".
func isLike(text, pattern string) bool {
	start, open := strings.CutSuffix(pattern, "*")
	return text == pattern || open && strings.HasPrefix(text, start)
}

// Score counts events.
type Score map[Kind]int

// String describes the score in one line.
func (s Score) String() string {
	return fmt.Sprintf("%d right, %d wrong, %d unknown, %d missing, %d extra, %d out of order",
		s[Right], s[Wrong], s[Unknown], s[Missing], s[Extra], s[Order])
}
