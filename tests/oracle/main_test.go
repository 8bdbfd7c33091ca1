//go:build live || matrix || full

package oracle

import (
	"flag"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

var (
	first   = flag.Int("first", 1, "the first `seed`")
	seeds   = flag.Int("seeds", 12, "how many seeds a build gets")
	each    = flag.Int("each", 20, "how many seeds one job runs, at most")
	ranks   = flag.Int("ranks", 3, "how many `processes` a job has")
	items   = flag.String("items", "", "only these `items` of each seed's plan: 3,17")
	mpich   = flag.Bool("mpich", false, "the builds of tests/mpich/build, too")
	ucx     = flag.Bool("ucx", false, "those of tests/ucx/build, too")
	results = flag.String("results", "", "the `folder` for what tests/oracle/scores reads")
	install = flag.String("install", "", "only the MPI that is installed in this `folder`, to be measured")
	like    = flag.String("like", "openmpi", "the `build` that the install resembles")
	launch  = flag.String("launch", "", "more `flags` of its launcher")
	reduce  = flag.Bool("reduce", true, "reduce the first seed that fails")
)

var work *live.Workspace

func TestMain(m *testing.M) { live.Main(m, live.Keep(&work)) }
