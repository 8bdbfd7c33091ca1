package render

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
)

// mostBranches is how many branches of one frame the text shows. JSON shows all of them.
const mostBranches = 60

// Stacks writes a tree of stacks for people: of each branch the ranks, and below them the frames that they have
// alike, from the outermost on.
func Stacks(w io.Writer, t *stacks.Tree, style Style) error {
	b := bufio.NewWriterSize(w, 1<<16)
	stacksTo(b, t, "", false, style)
	return b.Flush()
}

// newStacksText is what a tree is written by, and its outermost frames.
func newStacksText(b *bufio.Writer, t *stacks.Tree, style Style) (s stacksText, outermost []int) {
	s = stacksText{w: b, frames: t.Frames, called: map[int][]int{}, style: style, looks: t.Looks}
	for i := range t.Frames {
		s.hasThreads = s.hasThreads || t.Frames[i].Threads != t.Frames[i].Len()
		if caller := t.Frames[i].Caller; caller.Known {
			s.called[caller.Value] = append(s.called[caller.Value], i)
		} else {
			outermost = append(outermost, i)
		}
	}
	return s, outermost
}

// stacksTo writes a tree with an indent. One rank of each class is named where that is asked for.
func stacksTo(b *bufio.Writer, t *stacks.Tree, indent string, named bool, style Style) {
	s, outermost := newStacksText(b, t, style)
	s.named = named
	s.branches(outermost, indent)
	for i := range t.Unread {
		u := &t.Unread[i]
		fmt.Fprintf(b, "%s%s: %s\n", indent, processesOf(&u.Members, mostRanges), sentence(u.Why))
	}
	if len(t.Frames) == 0 && len(t.Unread) == 0 {
		fmt.Fprintf(b, "%sThere are no stacks.\n", indent)
	}
}

// stacksText writes a tree.
type stacksText struct {
	w      *bufio.Writer
	frames []stacks.Frame
	called map[int][]int // by the index of the caller
	style  Style
	looks  int
	// named is true if one rank of each class is to be named.
	named bool
	// hasThreads is true if some process has several threads in the tree.
	hasThreads bool
}

// branches writes the frames that one frame has called, and what these have called.
func (s *stacksText) branches(frames []int, indent string) {
	for _, i := range frames[:min(len(frames), mostBranches)] {
		f := &s.frames[i]
		fmt.Fprintf(s.w, "%s%s%s\n", indent, s.style.paint("1", s.threadsOf(&f.Members, f.Threads)), standing(f, s.looks))
		s.chain(i, indent+"  ")
	}
	if more := len(frames) - mostBranches; more > 0 {
		fmt.Fprintf(s.w, "%s... and %d more branches of %d\n", indent, more, len(frames))
	}
}

// chainOf returns the lines of a frame and of those that follow it without a branch, and the last of these.
func (s *stacksText) chainOf(i int) (lines []string, last int) {
	for {
		f, times := &s.frames[i], 1
		for s.isAlone(i) && isSame(f, &s.frames[s.called[i][0]]) {
			i = s.called[i][0]
			times++
		}
		text := frameText(f)
		if times > 1 {
			text += fmt.Sprintf(" (%d times)", times)
		}
		lines = append(lines, text)
		if !s.isAlone(i) {
			return lines, i
		}
		i = s.called[i][0]
	}
}

// chain writes a frame and those that follow it without a branch, and then the branches.
func (s *stacksText) chain(i int, indent string) {
	lines, i := s.chainOf(i)
	for _, text := range lines {
		fmt.Fprintf(s.w, "%s%s\n", indent, printable.Line(text))
	}
	if text := instance(&s.frames[i]); text != "" && s.named {
		fmt.Fprintf(s.w, "%s(%s)\n", indent, text)
	}
	if f := &s.frames[i]; f.Innermost > 0 && len(s.called[i]) > 0 {
		fmt.Fprintf(s.w, "%s%s: here\n", indent, s.style.paint("1", s.threadsOf(&f.Ends, f.Innermost)))
	}
	s.branches(s.called[i], indent)
}

// standing says, of several looks, in how many ranks were in a frame.
func standing(f *stacks.Frame, looks int) string {
	switch stand := len(f.Standing); {
	case looks < 2:
		return ""
	case stand == f.Len() && stand == 1:
		return ", in every look"
	case stand == f.Len():
		return ", all in every look"
	case stand == 0:
		return ", none in every look"
	default:
		return ", in every look: " + rankList(f.Standing, mostRanges)
	}
}

// instance names one of the ranks that stand at the end of a stack, where that are several.
func instance(f *stacks.Frame) string {
	if !f.Representative.Known || f.Ends.Len() < 2 {
		return ""
	}
	return fmt.Sprintf("for instance rank %d", f.Representative.Value)
}

// isAlone says whether all threads of a frame are in one further frame.
func (s *stacksText) isAlone(i int) bool { return s.frames[i].Innermost == 0 && len(s.called[i]) == 1 }

// isSame says whether a frame is of the same place in the program as another.
func isSame(a, b *stacks.Frame) bool {
	return a.Function == b.Function && a.File == b.File && a.Line == b.Line && a.Object == b.Object && a.Gap == b.Gap
}

// threadsOf names processes, and says how many they are or how many threads they have there.
func (s *stacksText) threadsOf(m *mqs.Members, threads int) string {
	text := processesOf(m, mostRanges)
	switch n := m.Len(); {
	case s.hasThreads:
		return text + " (" + count(threads, "thread") + ")"
	case n == 1 || strings.HasSuffix(text, ")"):
		return text
	case len(m.Inferiors) == 0:
		return text + " (" + count(n, "rank") + ")"
	default:
		return fmt.Sprintf("%s (%d processes)", text, n)
	}
}

// frameText names a frame: "exchange at halo.c:88".
func frameText(f *stacks.Frame) string {
	switch {
	case f.Gap:
		return "... (the outer frames are not known)"
	case f.Function == "" && f.Object != "":
		return unknownFunction + " in " + filepath.Base(f.Object)
	case f.Function == "":
		return unknownFunction
	}
	return functionText(f.Function, f.File, f.Line)
}

// unknownFunction stands for a function without a name, as in debuggers.
const unknownFunction = "??"

// functionText names a place in the program: "exchange at halo.c:88".
func functionText(function, file string, line int) string {
	if at := sourceLine(file, line); at != "" {
		return function + " at " + at
	}
	return function
}

// stacksTitle says what a tree is of.
func stacksTitle(t *stacks.Tree) string {
	if t.Looks == 1 {
		return "Stacks"
	}
	return fmt.Sprintf("Stacks in %d looks", t.Looks)
}
