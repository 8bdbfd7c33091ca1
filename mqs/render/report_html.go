package render

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

//go:embed report/page.html
var pageText string

//go:embed report/page.css
var pageStyle string

//go:embed report/page.js
var pageScript string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"visible": printable.Line, "sentences": func(s string) string { return strings.ReplaceAll(sentences(s), "\n    ", "\n") },
	"ranks": func(ranks []int32) string { return rankList(ranks, 120) },
	"place": func(file string, line int) string { return printable.Line(sourceLine(file, line)) },
	"state": func(s waitfor.State) string { return stateWords[s] },
}).Parse(pageText))

// mostRows is the number of groups, near misses, waits of cycles, and reasons that a page has.
const mostRows = 300

// pageData is what the page's template shows.
type pageData struct {
	*waitfor.Report
	Title      string
	Verdict    string // for style sheets
	Policy     string
	Style      template.CSS
	Script     template.JS
	Picture    template.HTML
	Cycles     []pageCycle
	Groups     []waitfor.Group
	Misses     []waitfor.NearMiss
	Absent     []pageAbsent
	Comms      []pageComm
	MoreGroups int
	MoreMisses int
	MoreCycles int
	MoreAbsent int
	MoreComms  int
	// StacksTitle and Tree are of the ranks' stacks, empty if nobody has asked for them.
	StacksTitle string
	Tree        template.HTML
}

type pageCycle struct {
	Title string
	Waits []pageWait
	More  int
}

type pageWait struct {
	waitfor.Wait
	Queue, Where string
}

type pageAbsent struct {
	Ranks []int32
	Why   string
}

// ReportHTML writes a report as one page that needs nothing else: the verdict,
// the picture, and a table of all operations that can be filtered.
func ReportHTML(w io.Writer, r *waitfor.Report) error {
	style := pictureStyle + pageStyle
	d := pageData{Report: r, Title: verdictStyles[r.Verdict].title, Verdict: strings.ReplaceAll(string(r.Verdict), " ", "-"),
		Style: template.CSS(style), Script: template.JS(pageScript), Picture: template.HTML(newPicture(r).svg(false)),
		// This script and this style only, and nothing from elsewhere.
		Policy: "default-src 'none'; script-src " + sourceHash(pageScript) + "; style-src " + sourceHash(style) + "; base-uri 'none'; form-action 'none'",
		Groups: r.Groups[:min(len(r.Groups), mostRows)], Misses: r.NearMisses[:min(len(r.NearMisses), mostRows)]}
	d.MoreGroups, d.MoreMisses = len(r.Groups)-len(d.Groups), len(r.NearMisses)-len(d.Misses)
	rows := 0
	for i := range r.Deadlocks {
		if rows >= mostRows {
			d.MoreCycles++
			continue
		}
		c := pageCycleOf(&r.Deadlocks[i], mostRows-rows)
		c.Title = deadlockTitle(r, &r.Deadlocks[i], 120)
		rows += len(c.Waits)
		d.Cycles = append(d.Cycles, c)
	}
	reasons := byReason(r.Missing)
	for _, a := range reasons[:min(len(reasons), mostRows)] {
		d.Absent = append(d.Absent, pageAbsent{a.ranks, a.why})
	}
	d.MoreAbsent = len(reasons) - len(d.Absent)
	d.Comms, d.MoreComms = pageComms(r)
	if t := r.Tree(); t != nil {
		d.StacksTitle, d.Tree = stacksTitle(t), template.HTML(stacksHTML(t))
	}
	before, after, err := splitAtData(d)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, before); err != nil {
		return err
	}
	if err := writeOperations(w, r); err != nil {
		return err
	}
	_, err = io.WriteString(w, after)
	return err
}

func pageCycleOf(d *waitfor.Deadlock, most int) pageCycle {
	c := pageCycle{}
	for i := range d.Cycle[:min(len(d.Cycle), most)] {
		w := d.Cycle[i]
		e := edge{class: w.Class}
		c.Waits = append(c.Waits, pageWait{Wait: w, Queue: e.queueOf(), Where: strings.TrimPrefix(whereText(&w), ", ")})
	}
	c.More = len(d.Cycle) - len(c.Waits)
	return c
}

// dataMark stands for the table, which is too large for a template.
const dataMark = "@@operations@@"

func splitAtData(d pageData) (before, after string, err error) {
	var b strings.Builder
	if err := page.Execute(&b, d); err != nil {
		return "", "", err
	}
	// Names, which come before the table, may hold anything: the last mark is the table's.
	at := strings.LastIndex(b.String(), dataMark)
	return b.String()[:at], b.String()[at+len(dataMark):], nil
}

// sourceHash returns the name of a text in a content security policy.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
