package render

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// pageOf is a report's page on all that a snapshot can have, hostile names included.
func pageOf(t *testing.T) string {
	t.Helper()
	r := reports()["small"]
	r.Notes = []string{evil + dataMark}
	r.SetStacks(stacks.Merge([]stacks.Process{
		{Rank: known[int32](0), Stacks: []mqs.Stack{{Frames: []mqs.StackFrame{{Function: evil + dataMark, File: evil, Line: 3}, {Function: evil}}}}},
		{Rank: known[int32](1), Stacks: []mqs.Stack{{Frames: []mqs.StackFrame{{Function: evil + dataMark, File: evil, Line: 3}, {Object: evil}}}}},
		{Rank: known[int32](2), Why: evil}}))
	for i, p := range sample().Processes {
		r.Ranks = append(r.Ranks, waitfor.Rank{Rank: int32(i), Group: i % len(r.Groups), Process: p})
	}
	odd := &mqs.Process{Communicators: []*mqs.Queues{{Communicator: mqs.Communicator{Name: mqs.Known(evil)}}}}
	odd.Communicators[0].Queue[mqs.PendingSends] = &mqs.Queue{Operations: []mqs.PendingOperation{
		{Kind: evil, Status: evil, Datatype: mqs.Known(evil), ExtraText: []string{evil}, Buffer: mqs.Known[inferior.Addr](1 << 63), DesiredLength: mqs.Known[int64](1 << 60)}}}
	r.Ranks = append(r.Ranks, waitfor.Rank{Rank: 100, Process: odd}, waitfor.Rank{Rank: 101})
	var b bytes.Buffer
	if err := ReportHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageIsSelfContained(t *testing.T) {
	page := pageOf(t)
	if page != pageOf(t) {
		t.Error("a page is not always the same")
	}
	for _, bad := range []string{`src=`, `<link`, `url(http`, `@import`, `fetch(`, "\x1b", "\xff", "\u202e", "<b>\\"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("the page has %d scripts", n)
	}
	// The policy allows what is there, byte by byte.
	for _, part := range []string{`(?s)<script>(.*)</script>`, `(?s)<style>(.*)</style>`} {
		m := regexp.MustCompile(part).FindStringSubmatch(page)
		if m == nil || !strings.Contains(page, strings.NewReplacer("'", "&#39;", "+", "&#43;").Replace(sourceHash(m[1]))) {
			t.Errorf("the policy does not allow %s", part)
		}
	}
}

func TestPageData(t *testing.T) {
	m := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(pageOf(t))
	var data map[string][]any
	if err := json.Unmarshal([]byte(m[1]), &data); err != nil {
		t.Fatalf("%v in %s", err, m[1])
	}
	n := 0.0
	for _, count := range data["count"] {
		n += count.(float64)
	}
	for key, column := range data {
		switch want := len(data["rank"]); key {
		case "texts", "places":
		case "rank", "group", "count":
			if len(column) != want {
				t.Errorf("column %s has %d rows, not %d", key, len(column), want)
			}
		default:
			if len(column) != int(n) {
				t.Errorf("column %s has %d rows, not %v", key, len(column), n)
			}
		}
	}
	last := func(key string) any { return data[key][int(n)-1] }
	if last("buffer") != "0x8000000000000000" || last("bytes") != "0x1000000000000000" || last("tag") != nil {
		t.Errorf("the last row is %v, %v, %v", last("buffer"), last("bytes"), last("tag"))
	}
	if kind := data["texts"][int(last("kind").(float64))]; kind != printable.Line(evil) {
		t.Errorf("a hostile text has become %q", kind)
	}
}
