//go:build live || matrix || full

package live

import (
	"context"
	"os/exec"
	"strconv"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// ReportInto has the product report on the job of a process, and write what the report is based on into a folder. The product
// has to be a build with the tag verdicts.
func (w *Workspace) ReportInto(t testing.TB, folder string, pid int) (r *expect.Report, said string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.Helper, "report", "--json", strconv.Itoa(pid))
	cmd.Env = w.environment("MPI_QUEUES_TEST_VERDICTS=" + folder)
	out, err := cmd.Output()
	if err != nil {
		return nil, string(out), err
	}
	r, err = expect.ParseReport(out)
	return r, string(out), err
}
