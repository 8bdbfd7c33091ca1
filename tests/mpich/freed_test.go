//go:build matrix

package mpich

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A communicator that is freed between two displays is gone in the second, and
// does no harm to it.
func TestFreedBetweenDisplays(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			commands := []string{"break stop", "run"}
			want := [][]string{{"first", "second", "third"}, {"first", "third"}, {"first", "fourth", "third"}, nil}
			for i := range want {
				commands = append(commands, fmt.Sprintf("mpi-queues -json -output %s/%d", folder, i), "continue")
			}
			commands = append(commands, "mpi-queues", "kill")
			program := v.work.Program(t, filepath.Join("tests", "mpich", "testdata", "freed.c"))
			out := v.work.GDB(t, live.Where{Name: "run", Args: []string{program}}, commands...)
			for i, names := range want {
				var got []string
				for _, c := range expect.Communicators(parse(t, filepath.Join(folder, fmt.Sprint(i)), out.All())) {
					if name := c["name"].(string); !strings.HasPrefix(name, "MPI_") {
						got = append(got, name)
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, names) {
					t.Errorf("display %d shows %q, want %q", i, got, names)
				}
			}
			out.Contains(t, "has called MPI_Finalize")
		})
	}
}
