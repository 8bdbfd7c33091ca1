//go:build browser

package report

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
	"github.com/mpi-queues/mpi-queues/tests/internal/madeup"
)

// helpers are what the tests say of a page.
const helpers = `
	var form = document.forms.filters, $ = (q) => document.querySelector(q), all = (q) => [...document.querySelectorAll(q)];
	var set = (name, value) => { form.elements[name].value = value; form.dispatchEvent(new Event("input")); };
	var tick = (q, on) => { const box = $(q); if (box.checked !== on) box.click(); };
	var rows = () => $("#table tbody").rows.length;
	var count = () => Number(($("#shown").textContent.match(/of ([\d,]+) op/) ?? ["", "0"])[1].replaceAll(",", ""));
	var cells = (title) => { const k = all("#table th").findIndex((th) => th.textContent === title);
		return [...new Set(all("#table tbody tr").map((r) => r.cells[k].textContent))].join(" "); };`

func openPage(t *testing.T, b *browser, page []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, page, 0o666); err != nil {
		t.Fatal(err)
	}
	b.complaints = nil
	b.open(path)
	evaluate[any](b, helpers)
}

func html(t *testing.T, r *waitfor.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := render.ReportHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (b *browser) silent() {
	b.t.Helper()
	for _, c := range b.complaints {
		b.t.Errorf("the page complains: %s", c)
	}
}

// The job of the demonstration, all the way from its recording.
func TestDemoPage(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "mpi-queues")
	run := func(name string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v", name, args, err)
		}
		return out
	}
	run("go", "build", "-o", binary, "../../cmd/mpi-queues")
	snapshot := filepath.Join(t.TempDir(), "job.json")
	if err := os.WriteFile(snapshot, run(binary, "replay", "--json", "--internal", "../../cmd/mpi-queues/internal/demo/program/deadlock.mpiq"), 0o666); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	openPage(t, b, run(binary, "report", "--html", snapshot))
	is(b, `all("svg .node rect").length > 3`, true)
	is(b, `rows() === count() && count() > 0`, true)
	evaluate[any](b, `set("tag", "8")`)
	is(b, `cells("Tag")`, "8")
	evaluate[any](b, `set("tag", ""), set("comm", "halo")`)
	is(b, `cells("Communicator")`, "halo exchange")
	evaluate[any](b, `set("rank", "0"), tick("input[name=queue][value='0']", false), tick("input[name=queue][value='1']", false)`)
	is(b, `cells("Queue") + "/" + cells("Rank")`, "unexpected/0")
	b.silent()
	b.picture("demo")
}

// Names that mean harm are shown, and do none; filters and both kinds of ranks work.
func TestHostilePage(t *testing.T) {
	const evil = "</script><script>alert(1)</script><!--\"'&\x1b[31m\n\xff\u202e<b>@@operations@@"
	s := madeup.Job(16)
	for i, p := range s.Processes {
		p.Image, p.Communicators[1].Name = evil, mqs.Known(evil)
		p.Communicators[1].LocalRank = mqs.Known(int32(15 - i))
		for _, q := range p.Communicators[1].Queue {
			for k := range q.Operations {
				q.Operations[k].ExtraText = []string{evil}
				q.Operations[k].Kind = evil
				q.Operations[k].DesiredLocalRank.Value = 15 - q.Operations[k].DesiredLocalRank.Value
			}
		}
		p.Threads[0].File, p.Threads[0].Function = evil, evil
	}
	r := waitfor.Analyse(s)
	r.Why, r.Notes = evil, []string{evil}
	r.NearMisses = append(r.NearMisses, waitfor.NearMiss{Kind: waitfor.OtherTag, Text: evil})
	r.Missing = append(r.Missing, waitfor.Missing{Rank: 16, Why: evil})
	b := startBrowser(t)
	openPage(t, b, html(t, r))
	is(b, `all("b").length === all("ol.cycle b").length && all("script").length === 2`, true)
	is(b, `$("#table tbody").textContent.includes("</script><script>alert(1)")`, true)

	all := evaluate[int](b, `count()`)
	evaluate[any](b, `tick("input[name=internal]", true)`)
	is(b, fmt.Sprintf(`count() > %d`, all), true)
	evaluate[any](b, `set("comm", "script"), set("rank", "0")`)
	is(b, `cells("Rank") + "/" + cells("Peer")`, "0/1")
	evaluate[any](b, `set("rank", "15"), $("input[value=local]").click()`)
	is(b, `cells("Rank") + "/" + cells("Peer")`, "15/14")
	evaluate[any](b, `set("rank", "0-3, x")`)
	is(b, `form.elements.rank.checkValidity()`, false)
	evaluate[any](b, `form.reset(), new Promise((done) => setTimeout(done, 50))`)
	is(b, `count()`, all)
	evaluate[any](b, `$("button[data-ranks]").click()`)
	is(b, `count() > 0 && $("#shown").textContent.endsWith("chosen group")`, true)
	b.silent()
	b.picture("hostile")
}

// A page on a hundred thousand ranks opens, filters and turns over quickly.
func TestLargePage(t *testing.T) {
	s := madeup.Job(100_000)
	page := html(t, waitfor.Analyse(s))
	t.Logf("the page has %d MiB", len(page)>>20)
	b := startBrowser(t)
	start := time.Now()
	openPage(t, b, page)
	t.Logf("it opens in %v", time.Since(start))
	is(b, `rows()`, 100)
	is(b, `count() > 190000`, true)
	is(b, `all("svg .node").length < 100`, true)
	evaluate[any](b, `set("rank", "99999")`)
	is(b, `count() > 0 && cells("Rank") === "99999"`, true)
	start = time.Now()
	evaluate[any](b, `set("rank", ""), set("tag", "any")`)
	t.Logf("two filters take %v", time.Since(start))
	is(b, `count()`, 0)
	evaluate[any](b, `set("tag", "21")`)
	is(b, `cells("Tag") + "/" + cells("Communicator") + "/" + cells("Queue")`, "21/halo exchange/send")
	evaluate[any](b, `$("[data-page=last]").click()`)
	is(b, `$("[data-page=next]").disabled && rows() > 0`, true)
	start = time.Now()
	evaluate[any](b, `all("#table th button")[3].click()`)
	t.Logf("sorting takes %v", time.Since(start))
	is(b, `all("#table th")[3].getAttribute("aria-sort")`, "ascending")
	evaluate[any](b, `form.reset()`)
	b.silent()
	b.picture("large")
}

// A tree of ten thousand ranks in ten looks is on one screen, says who stands and who moves, and its branches open.
func TestStacksPage(t *testing.T) {
	const ranks, looks = 10000, 10
	var seen [][]stacks.Process
	for look := range looks {
		var processes []stacks.Process
		for rank := range ranks {
			frames := []mqs.StackFrame{{Function: "main", File: "solver.c", Line: 210}}
			switch {
			case rank == 4242:
				frames = append(frames, mqs.StackFrame{Function: "write_restart", File: "restart.c", Line: 77}, mqs.StackFrame{Function: "fsync", Object: "/lib/libc.so.6"})
			case rank%10 == 3:
				frames = append(frames, mqs.StackFrame{Function: "sweep", File: "kernel.c", Line: 1200 + (rank/10+look)%5})
			default:
				frames = append(frames, mqs.StackFrame{Function: "exchange", File: "halo.c", Line: 88}, mqs.StackFrame{Function: "MPI_Barrier", Object: "/lib/libmpi.so.40", IsCall: true})
			}
			processes = append(processes, stacks.Process{Rank: mqs.Known(int32(rank)), Inferior: 1, Stacks: []mqs.Stack{{Thread: 1, Frames: frames}}})
		}
		seen = append(seen, processes)
	}
	r := waitfor.Analyse(madeup.Job(ranks))
	r.SetStacks(stacks.MergeLooks(seen))
	b := startBrowser(t)
	openPage(t, b, html(t, r))
	is(b, `$("#stacks").textContent`, "Stacks in 10 looks")
	is(b, `$(".stacks").scrollHeight <= Math.min($(".stacks").clientHeight, 800) && $(".stacks").scrollWidth <= $(".stacks").clientWidth`, true)
	is(b, `document.documentElement.scrollWidth <= innerWidth`, true)
	is(b, `all(".stacks summary").length`, 8)
	is(b, `all(".stacks summary").filter((s) => s.textContent.includes("none in every look")).length`, 5)
	is(b, `all(".stacks summary").slice(0, 2).map((s) => s.textContent.replace(/.*[(]/, "")).join("; ")`, "10000 ranks), all in every look; 8999 ranks), all in every look")
	is(b, `all(".stacks details[open]").length`, 8)
	evaluate[any](b, `$(".stacks details details summary").click()`)
	is(b, `all(".stacks details[open]").length + "; " + $(".stacks details details").open`, "7; false")
	evaluate[any](b, `$(".stacks details details summary").click()`)
	is(b, `$(".stacks details details").open`, true)
	b.silent()
	b.picture("stacks")
}

// A tree of as many ranks, most of which are somewhere else in each look, has a box on one screen, and says how much is not shown.
func TestScatteredStacksPage(t *testing.T) {
	const ranks, looks = 10000, 10
	var seen [][]stacks.Process
	for look := range looks {
		var processes []stacks.Process
		for rank := range ranks {
			frames := []mqs.StackFrame{{Function: "main", File: "solver.c", Line: 210}, {Function: fmt.Sprintf("phase_%d", rank%100), File: "phases.c", Line: 10},
				{Function: fmt.Sprintf("step_%d", (rank+7*look)%1000), File: "steps.c", Line: 20}}
			processes = append(processes, stacks.Process{Rank: mqs.Known(int32(rank)), Inferior: 1, Stacks: []mqs.Stack{{Thread: 1, Frames: frames}}})
		}
		seen = append(seen, processes)
	}
	r := waitfor.Analyse(madeup.Job(ranks))
	r.SetStacks(stacks.MergeLooks(seen))
	b := startBrowser(t)
	openPage(t, b, html(t, r))
	is(b, `$(".stacks").offsetHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth`, true)
	is(b, `$(".stacks summary").textContent.includes("10000 ranks")`, true)
	is(b, `/more branches of 100/.test($(".stacks").textContent)`, true)
	b.silent()
	b.picture("scattered")
}
