package waitfor

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what is reported of the made-up jobs into testdata")

// report is the name of the section behind a script that holds its report.
const report = "report"

// TestScripts checks what is reported of the jobs that the scripts in testdata/scripts make up. The report is the only
// expectation, and somebody has read it and found it right: read the difference before you commit what -update has written.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			line := bytes.Count(archive.Comment, []byte("\n"))
			seen := map[string]bool{report: true}
			var out []txtar.File
			for i, section := range archive.Files {
				line++ // its name
				if section.Name == report && i > 0 && archive.Files[i-1].Name != report {
					line += bytes.Count(section.Data, []byte("\n"))
					continue
				}
				if seen[section.Name] {
					t.Fatalf("%s:%d: a second %q", file, line, section.Name)
				}
				seen[section.Name] = true
				var want []byte
				if i+1 < len(archive.Files) && archive.Files[i+1].Name == report {
					want = archive.Files[i+1].Data
				}
				got := want
				t.Run(section.Name, func(t *testing.T) {
					job, err := parseScript(file, line, string(section.Data))
					if err != nil {
						t.Fatal(err)
					}
					got = []byte(described(AnalyseLive(job.Snapshot, job.past)) + "\n")
					isApproved(t, section.Name, want, got)
				})
				out = append(out, section, txtar.File{Name: report, Data: got})
				line += bytes.Count(section.Data, []byte("\n"))
			}
			archive.Files = out
			writeApproved(t, file, archive)
		})
	}
}

// isApproved compares a report with the one that was found right.
func isApproved(t *testing.T, name string, want, got []byte) {
	t.Helper()
	if !bytes.Equal(got, want) && !*update {
		t.Errorf("%s", diff.Diff("approved: "+name, want, "reported: "+name, got))
	}
}

// writeApproved writes an archive with what is reported now, where that was asked for.
func writeApproved(t *testing.T, file string, archive *txtar.Archive) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// approveAll compares the reports of jobs that are made by Go with those in a file of testdata.
func approveAll(t *testing.T, file string, got []txtar.File) {
	t.Helper()
	file = filepath.Join("testdata", file)
	want := map[string][]byte{}
	if archive, err := txtar.ParseFile(file); err == nil {
		for _, section := range archive.Files {
			want[section.Name] = section.Data
		}
	} else if !*update {
		t.Fatal(err)
	}
	for _, section := range got {
		isApproved(t, section.Name, want[section.Name], section.Data)
		delete(want, section.Name)
	}
	for name := range want {
		if !*update {
			t.Errorf("%s: nothing is reported of %q", file, name)
		}
	}
	writeApproved(t, file, &txtar.Archive{Files: got})
}

// openRanks are the ranks of the processes that may hang.
func openRanks(r *Report) (out []int32) {
	for _, of := range r.Ranks {
		if p := of.Process; p != nil && r.Open[p.PID] == p {
			out = append(out, of.Rank)
		}
	}
	return out
}

// described is all of a report, for people to read.
func described(r *Report) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s: %s", r.Verdict, r.Why)
	var facts []string
	if r.Moving {
		facts = append(facts, "another sample may show more")
	}
	if r.GetsOn {
		facts = append(facts, "some rank has made progress")
	}
	switch open := openRanks(r); {
	case len(open) > 0:
		facts = append(facts, "may hang: "+Ranges(open))
	case r.Open != nil && len(r.Deadlocks) > 0: // never: of a deadlocked job it is nil
		facts = append(facts, "no other rank may hang")
	case r.Open == nil && len(r.Deadlocks) == 0:
		facts = append(facts, "which ranks may hang is unknown")
	}
	if len(facts) > 0 {
		line("%s", strings.Join(facts, "; "))
	}
	for _, g := range r.Groups {
		line("%s %s: %s", Ranges(g.Ranks), g.State, g.Text)
	}
	for _, e := range r.Edges {
		words := fmt.Sprintf("%s for %s: %s", Ranges(r.Groups[e.From].Ranks), Ranges(r.Groups[e.To].Ranks), e.Text)
		if e.Class.Known {
			words += fmt.Sprintf(" (%s)", e.Class.Value)
		}
		if e.Count != 1 {
			words += fmt.Sprintf(", %d pairs", e.Count)
		}
		if e.InCycle {
			words += ", in a cycle"
		}
		line("wait %s", words)
	}
	for _, d := range r.Deadlocks {
		head := fmt.Sprintf("deadlock of %s:", Ranges(d.Ranks))
		for _, w := range d.Cycle {
			class := "a call"
			if w.Class.Known {
				class = w.Class.Value.String()
			}
			line("%s %d for %d: %s (%s), %s of %s at %s:%d", head, w.Rank, w.For, w.Operation, class, w.Call, w.Function, w.File, w.Line)
			head = " "
		}
	}
	for _, m := range r.NearMisses {
		why := ""
		if m.Mismatch != "" {
			why = fmt.Sprintf(" (%s)", m.Mismatch)
		}
		if m.Culprits != nil {
			why += fmt.Sprintf(" (culprits %s)", Ranges(m.Culprits))
		}
		line("%s %s: %s%s", m.Kind, Ranges(m.Ranks), m.Text, why)
	}
	for _, m := range r.Missing {
		line("missing %d: %s", m.Rank, m.Why)
	}
	for _, n := range r.Notes {
		line("note: %s", n)
	}
	if n := 0; r.WorldSize.Known {
		for _, g := range r.Groups {
			n += len(g.Ranks)
		}
		if int(r.WorldSize.Value) != n {
			line("%d ranks in all", r.WorldSize.Value)
		}
	} else {
		line("how many ranks there are is not known")
	}
	return b.String()
}

// TestScriptErrors checks that a script that can't be read is reported with its file and line.
func TestScriptErrors(t *testing.T) {
	for script, want := range map[string]string{
		"":                     `x.txtar:7: the script has no "ranks N"`,
		"rank 0: computes":     `x.txtar:8: a script begins with "ranks N", not with "rank 0: computes"`,
		"ranks 2\n\nrank 2: x": "x.txtar:10: there is no rank 2 in a job of 2",
		"ranks 2\nrank 0: recv world from 1 in MPI_Recv":                 `x.txtar:9: "in" is where the tag belongs`,
		"ranks 2\nrank 0: recv dup from 1 tag 7":                         `x.txtar:9: rank 0 has no communicator "dup"`,
		"ranks 2\nrank 0: recv world from one tag 7":                     `x.txtar:9: "one" is no int32`,
		"ranks 2\nrank 0: recv world from 1 tag 7 colour red":            `x.txtar:9: mqs.PendingOperation has no field "colour"`,
		"ranks 2\nrank 0: in MPI_Wait for a":                             `x.txtar:9: rank 0 has no request "a"`,
		"ranks 2\nrank 0: in":                                            `x.txtar:9: "in" is not complete`,
		"ranks 2\nrank 0: exit_code":                                     `x.txtar:9: "exit_code" has no value`,
		"ranks 2\nrank 0: unavailable \"x":                               `x.txtar:9: "x has no closing quote`,
		"ranks 2\nsample 2\ncomm dup 0,1":                                "x.txtar:10: dup is declared after a sample",
		"ranks 2\nsample 3\nsample 3":                                    "x.txtar:10: sample 3 does not follow sample 3",
		"ranks 2\ncomm dup 0\ncomm dup 1":                                `x.txtar:10: there are two "dup"`,
		"ranks 2\nsample 2\nrank 0: send world to 1 tag 7 arrived":       "x.txtar:10: the message arrives at rank 1, which this sample does not describe",
		"ranks 2\nrank 1: absent\nrank 0: send world to 1 tag 7 arrived": "x.txtar:10: the message arrives at rank 1, which is absent",
		"ranks 2\nrank 1: absent\nrank 1: computes":                      "x.txtar:10: rank 1 is absent",
		"ranks 2\nrank 1: epoch left lock":                               `x.txtar:9: rank 1 has no window "left"`,
		"ranks 2\nnobody: computes":                                      `x.txtar:9: "nobody : computes" is no statement`,
	} {
		if _, err := parseScript("x.txtar", 7, script); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", script, err, want)
		}
	}
}
