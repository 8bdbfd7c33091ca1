package document

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Groups of communicators are as long as the job has ranks, and much the same in all of them. So a merged document has each
// one once, as ranges of global ranks: "0-9,12,?". "?" is a rank that is not known.

var errRanges = errors.New("a group of its communicators is none")

// groups are those of all documents, by their ranges. Several goroutines may use it.
type groups struct {
	mu    sync.Mutex
	known map[string][]mqs.Maybe[int32]
}

// maxMembers bounds the members that the groups of one document add to those that are known: a few bytes can stand for many.
// Each document, which is one node's, has its own bound, so that no node can use up what others need.
const maxMembers = 1 << 23

// of returns a group. Members that it adds to the known ones are subtracted from left.
func (g *groups) of(text string, left *int) ([]mqs.Maybe[int32], error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if group, is := g.known[text]; is {
		return group, nil
	}
	group, err := parseRanges(text, *left)
	if err != nil {
		return nil, err
	}
	if g.known == nil {
		g.known = map[string][]mqs.Maybe[int32]{}
	}
	*left -= len(group)
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
			return nil, errRanges
		case last-first >= uint64(most-len(group)):
			return nil, errors.New("the groups of its communicators have too many members")
		}
		for rank := first; rank <= last; rank++ {
			group = append(group, mqs.Known(int32(rank)))
		}
	}
	return group, nil
}
