package render

import (
	"fmt"
	"html"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
)

// How much of a tree of stacks a page has.
const (
	mostOpen  = 20  // lines of branches that are open from the start
	mostLines = 600 // in all
)

// stacksPage writes a tree of stacks as nested lists, whose branches can be opened and closed.
type stacksPage struct {
	strings.Builder
	stacksText
	open, lines int // how many more there may be
}

// stacksHTML is a tree of stacks as a part of a page.
func stacksHTML(t *stacks.Tree) string {
	p := &stacksPage{open: mostOpen, lines: mostLines}
	var outermost []int
	p.stacksText, outermost = newStacksText(nil, t, Style{})
	p.branches(outermost)
	for i := range t.Unread {
		u := &t.Unread[i]
		p.line(fmt.Sprintf("<p><b>%s</b>: %s</p>", safe(processesOf(&u.Members, mostRanges)), safe(sentence(u.Why))))
	}
	if p.Len() == 0 {
		return "<p>There are no stacks.</p>"
	}
	return p.String()
}

// safe makes text safe on a page.
func safe(text string) string { return html.EscapeString(printable.Line(text)) }

func (p *stacksPage) line(text string) {
	p.lines--
	p.WriteString(text + "\n")
}

// branches writes the frames that one frame has called, and what these have called.
func (p *stacksPage) branches(frames []int) {
	if len(frames) == 0 {
		return
	}
	p.WriteString("<ul>\n")
	for n, i := range frames {
		if n == mostBranches || p.lines <= 0 {
			p.line(fmt.Sprintf(`<li class="soft">%d more branches of %d are in the report that <code>--json</code> writes.</li>`, len(frames)-n, len(frames)))
			break
		}
		f := &p.frames[i]
		chain, last := p.chainOf(i)
		open := ""
		if p.open >= len(chain) {
			open = " open"
			p.open -= len(chain) + 1
		} else {
			p.open = 0
		}
		p.line(fmt.Sprintf("<li><details%s><summary><b>%s</b>%s</summary>", open, safe(p.threadsOf(&f.Members, f.Threads)), safe(standing(f, p.looks))))
		for _, text := range chain {
			p.line("<div>" + safe(text) + "</div>")
		}
		end := &p.frames[last]
		if text := instance(end); text != "" {
			p.line(`<div class="soft">` + safe(text) + "</div>")
		}
		if end.Innermost > 0 && len(p.called[last]) > 0 {
			p.line("<div><b>" + safe(p.threadsOf(&end.Ends, end.Innermost)) + "</b>: here</div>")
		}
		p.branches(p.called[last])
		p.WriteString("</details></li>\n")
	}
	p.WriteString("</ul>\n")
}
