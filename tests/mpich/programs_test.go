//go:build matrix

package mpich

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// modes are the arguments of programs that take turns with the builds.
var modes = []string{"blocked recv", "blocked send", "blocked ssend", "blocked barrier", "many 100", "many 100 wild", "many 100 specific"}

// TestPrograms checks that what is shown of each process is its program's account, field by field, as far as the build keeps
// it, live and in a core. The modes of a program take turns with the builds.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		live.EachProgram(t, v.row(t, v.Name, func(p live.Program) bool {
			if i := slices.Index(modes, p.String()); i >= 0 {
				return v.inTurn(i+1) || sample.Whole()
			}
			return p.Is("queues", "requests", "groups", "sessions") || p.Is("spawn") && !v.IsOverUCX() // which ends the job over UCX
		}))
	}
}

func (v *variant) compare(account *expect.Account, process expect.Object) []string {
	return v.work.MPI.Kind.Fidelity().Compare(account, process)
}
