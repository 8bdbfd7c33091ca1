package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// verdict says in words what each rank waits for, which messages differ from
// that only in their tag, and who waits for whom in a circle. All of it comes
// out of the snapshot.
func verdict(s *mqs.Snapshot) []string {
	var lines []string
	next := map[int32]int32{}
	for _, p := range s.Processes {
		if !p.GlobalRank.Known {
			continue
		}
		me := p.GlobalRank.Value
		for _, c := range p.Communicators {
			for _, op := range operations(c, mqs.PendingReceives) {
				lines = append(lines, receives(me, c, op)...)
				follow(next, me, op)
			}
			for _, op := range operations(c, mqs.PendingSends) {
				lines = append(lines, fmt.Sprintf("Rank %d waits for rank %s to receive its message with tag %s on %q (%s).",
					me, orMark(op.DesiredGlobalRank), orMark(op.DesiredTag), c.Label(), op.Kind))
			}
		}
	}
	if circle := findCircle(next); circle != nil {
		arrows := strings.ReplaceAll(fmt.Sprint(append(circle, circle[0])), " ", " → ")
		lines = append(lines, fmt.Sprintf("So they wait in a circle, %s, and none of them ever goes on.", strings.Trim(arrows, "[]")))
	}
	return lines
}

// receives describes a receive and the messages that it just misses.
func receives(me int32, c *mqs.Queues, op mqs.PendingOperation) []string {
	lines := []string{fmt.Sprintf("Rank %d waits for a message from rank %s with tag %s on %q (%s).",
		me, orMark(op.DesiredGlobalRank), orMark(op.DesiredTag), c.Label(), op.Kind)}
	for _, m := range operations(c, mqs.UnexpectedMessages) {
		if m.DesiredLocalRank == op.DesiredLocalRank && m.DesiredTag.Known && op.DesiredTag.Known && m.DesiredTag != op.DesiredTag {
			lines = append(lines, fmt.Sprintf("  One from rank %s has come, but with tag %d, not %d: one of the two tags is wrong.",
				orMark(m.DesiredGlobalRank), m.DesiredTag.Value, op.DesiredTag.Value))
		}
	}
	return lines
}

// follow notes whom a rank waits for first.
func follow(next map[int32]int32, me int32, op mqs.PendingOperation) {
	if _, ok := next[me]; !ok && op.DesiredGlobalRank.Known && op.DesiredGlobalRank.Value != mqs.AnyRank {
		next[me] = op.DesiredGlobalRank.Value
	}
}

// findCircle returns ranks that wait each for the next and the last for the
// first, beginning with the lowest; nil if there are none.
func findCircle(next map[int32]int32) []int32 {
	for start := range next {
		circle := []int32{start}
		for at, ok := next[start]; ok && len(circle) <= len(next); at, ok = next[at] {
			if at == start {
				lowest := slices.Index(circle, slices.Min(circle))
				return slices.Concat(circle[lowest:], circle[:lowest])
			}
			circle = append(circle, at)
		}
	}
	return nil
}

// operations are those of a queue that the program, not the library, has pending.
func operations(c *mqs.Queues, class mqs.OpClass) []mqs.PendingOperation {
	if c.Queue[class] == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Queue[class].Operations), func(op mqs.PendingOperation) bool {
		return op.Internal || op.Status != mqs.Pending
	})
}

func orMark(m mqs.Maybe[int32]) string {
	if !m.Known {
		return "?"
	}
	return fmt.Sprint(m.Value)
}
