package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// TestReportStatus checks that `mpi-queues report` succeeds under every verdict, as its help and the table of REPORT.md say: a script
// that wants a report must not take a deadlock for a failure of the command.
func TestReportStatus(t *testing.T) {
	source, err := os.ReadFile("../../mqs/waitfor/report.go")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := regexp.MustCompile(`Verdict = "([^"]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(verdicts) != 9 {
		t.Errorf("there are %d verdicts, want nine", len(verdicts))
	}
	for _, match := range verdicts {
		r := waitfor.Analyse(&mqs.Snapshot{})
		r.Verdict = waitfor.Verdict(match[1])
		for i, format := range reportFormats {
			c := report{output: filepath.Join(t.TempDir(), "report")}
			c.formats[i] = true
			if err := c.write(r); err != nil {
				t.Errorf("--%s, %s: %v", format.name, r.Verdict, err)
			}
		}
	}
}
