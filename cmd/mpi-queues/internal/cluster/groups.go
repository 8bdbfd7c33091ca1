package cluster

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Groups of communicators are as long as the job has ranks, and much the same in all of them. So each one is sent once
// for a node, as ranges, and kept once for all nodes.

// shared has what the ranks of a node have alike.
type shared struct {
	// Groups are ranges of global ranks: "0-9,12,?". "?" is a rank that is not known.
	Groups []string `json:"groups,omitempty"`
	// Of has for each process two numbers for each of its communicators: its group and its remote group, by their
	// places in Groups, -1 for none.
	Of [][]int `json:"of,omitempty"`
}

// take takes the groups out of processes.
func (s *shared) take(processes []*mqs.Process) {
	known := map[string]int{}
	last, lastText := []mqs.Maybe[int32](nil), ""
	place := func(group []mqs.Maybe[int32]) int {
		if group == nil {
			return -1
		}
		text := lastText
		if len(group) == 0 || len(last) != len(group) || &last[0] != &group[0] { // ranks share theirs
			text = rangesOf(group)
			last, lastText = group, text
		}
		at, is := known[text]
		if !is {
			at = len(s.Groups)
			known[text] = at
			s.Groups = append(s.Groups, text)
		}
		return at
	}
	s.Of = make([][]int, len(processes))
	for i, p := range processes {
		of := []int{}
		for _, q := range p.Communicators {
			of = append(of, place(q.Group), place(q.RemoteGroup))
			q.Group, q.RemoteGroup = nil, nil
		}
		s.Of[i] = of
	}
}

var errShared = errors.New("what it has sent is no document: its groups are not those of its processes")

// give puts the groups back.
func (s *shared) give(processes []*mqs.Process, all *groups) error {
	if len(s.Of) != len(processes) {
		return errShared
	}
	own := make([][]mqs.Maybe[int32], len(s.Groups))
	at := func(n int) ([]mqs.Maybe[int32], error) {
		if n == -1 {
			return nil, nil
		}
		if n < 0 || n >= len(own) {
			return nil, errShared
		}
		if own[n] != nil {
			return own[n], nil
		}
		var err error
		own[n], err = all.of(s.Groups[n])
		return own[n], err
	}
	for i, p := range processes {
		if len(s.Of[i]) != 2*len(p.Communicators) {
			return errShared
		}
		for k, q := range p.Communicators {
			var err1, err2 error
			q.Group, err1 = at(s.Of[i][2*k])
			q.RemoteGroup, err2 = at(s.Of[i][2*k+1])
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
		}
	}
	return nil
}

// groups are those of all nodes, by their ranges. Several goroutines may use it.
type groups struct {
	mu    sync.Mutex
	known map[string][]mqs.Maybe[int32]
	// members are all that they have.
	members int
}

// maxMembers bounds the members of all groups together: a few bytes can stand for many.
const maxMembers = 1 << 25

// of returns a group.
func (g *groups) of(text string) ([]mqs.Maybe[int32], error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if group, is := g.known[text]; is {
		return group, nil
	}
	group, err := parseRanges(text, maxMembers-g.members)
	if err != nil {
		return nil, err
	}
	if g.known == nil {
		g.known = map[string][]mqs.Maybe[int32]{}
	}
	g.members += len(group)
	g.known[text] = group
	return group, nil
}

// rangesOf writes a group.
func rangesOf(group []mqs.Maybe[int32]) string {
	var b []byte
	for i := 0; i < len(group); {
		if i > 0 {
			b = append(b, ',')
		}
		first := group[i]
		if i++; !first.Known {
			b = append(b, '?')
			continue
		}
		last := first.Value
		for i < len(group) && group[i].Known && group[i].Value == last+1 {
			last++
			i++
		}
		if b = strconv.AppendInt(b, int64(first.Value), 10); last != first.Value {
			b = strconv.AppendInt(append(b, '-'), int64(last), 10)
		}
	}
	return string(b)
}

// parseRanges reads a group of at most so many members.
func parseRanges(text string, most int) ([]mqs.Maybe[int32], error) {
	group := []mqs.Maybe[int32]{}
	if text == "" {
		return group, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if part == "?" && len(group) < most {
			group = append(group, mqs.Maybe[int32]{})
			continue
		}
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(from, 10, 31)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(to, 10, 31)
		}
		switch {
		case err != nil || last < first:
			return nil, errShared
		case last-first >= uint64(most-len(group)):
			return nil, errors.New("the groups of its communicators have too many members")
		}
		for rank := first; rank <= last; rank++ {
			group = append(group, mqs.Known(int32(rank)))
		}
	}
	return group, nil
}
