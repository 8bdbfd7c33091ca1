// Package growth tests how work grows with the size of its input. It counts executed statements, which
// are the same on every machine, in builds that count them.
package growth

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// small and large are the two sizes, of which the second is factor times the first.
const (
	small  = 1000
	factor = 10
	large  = factor * small
	// most is how many times as much may be done for what is factor times as large: it
	// allows for sorting, and for nothing that grows with the square.
	most = 1.5 * factor
)

// works are tests that do work of a size which the environment gives.
var works = []struct {
	name, pack, test string
	cases            []string // that are counted one by one; all at once if there are none
}{
	{"a job's ranks", "./mqs/waitfor", "TestLargeJobs", waits},
	{"a call's requests", "./mqs/waitfor", "TestManyRequests", nil},
	{"the jobs of a machine", "./mqs/launch", "TestManyJobs", nil},
	{"two readings of a queue", "./mqs/compare", "TestCompareLongQueues", nil},
}

var waits = []string{"a_barrier_that_one_has_not_entered", "a_ring_of_sends", "any_receives", "half_in_a_barrier,_half_in_a_broadcast", "pairs",
	"a_chain_behind_one_that_computes,_with_counts", "a_chain_behind_one_that_has_exited", "all_at_places_of_their_own,_without_groups",
	"half_in_a_barrier,_half_in_a_wait_for_a_non-blocking_collective",
	"two_barriers_that_cross,_each_rank_at_a_place_of_its_own,_with_messages_for_nobody"}

func TestGrowth(t *testing.T) {
	folder := build(t)
	for _, w := range works {
		t.Run(w.name, func(t *testing.T) {
			if w.cases == nil {
				checkGrowth(t, folder, w.pack, "^"+w.test+"$")
			}
			for _, c := range w.cases {
				t.Run(c, func(t *testing.T) { checkGrowth(t, folder, w.pack, "^"+w.test+"$/^"+c+"$") })
			}
		})
	}
}

// checkGrowth counts what the tests of a pattern do of both sizes.
func checkGrowth(t *testing.T, folder, pack, run string) {
	t.Parallel()
	binary := filepath.Join(folder, filepath.Base(pack)+".test")
	before, after := steps(t, binary, pack, run, small), steps(t, binary, pack, run, large)
	times := float64(after) / float64(before)
	t.Logf("%d statements for %d, %d for %d: %.1f times as many", before, small, after, large, times)
	if times > most {
		t.Errorf("what is %d times as large takes %.1f times as many statements", factor, times)
	}
}

// build compiles the tests of all packages into a folder, to count statements of the packages, of what they use, and of those for
// slices. Other packages are not compiled again for that.
func build(t *testing.T) string {
	t.Helper()
	var packs []string
	for _, w := range works {
		if !slices.Contains(packs, w.pack) {
			packs = append(packs, w.pack)
		}
	}
	list := exec.Command("go", append([]string{"list", "-deps"}, packs...)...)
	list.Dir = filepath.Join("..", "..")
	all, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	counted := slices.DeleteFunc(strings.Fields(string(all)), func(name string) bool {
		return !strings.HasPrefix(name, "github.com/mpi-queues/") && name != "slices"
	})
	folder := t.TempDir()
	cmd := exec.Command("go", append([]string{"test", "-c", "-covermode=count", "-coverpkg=" + strings.Join(counted, ","), "-o", folder + "/"}, packs...)...)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return folder
}

// steps runs a test on so many and returns how many statements were executed.
func steps(t *testing.T, binary, pack, run string, size int) int64 {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "profile")
	cmd := exec.Command(binary, "-test.run", run, "-test.v", "-test.coverprofile", profile)
	cmd.Dir = filepath.Join("..", "..", pack)
	cmd.Env = append(os.Environ(), fmt.Sprintf("MPI_QUEUES_TEST_SIZE=%d", size))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("%s of %d: %v\n%s", run, size, err, out)
	}
	f, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	// A line for each block: FILE:FROM,TO STATEMENTS COUNT (go help testflag).
	var sum int64
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 {
			continue
		}
		statements, err1 := strconv.ParseInt(fields[1], 10, 64)
		count, err2 := strconv.ParseInt(fields[2], 10, 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("the profile has %q", lines.Text())
		}
		sum += statements * count
	}
	if sum < int64(size) {
		t.Fatalf("%s of %d: %d statements: nothing was counted", run, size, sum)
	}
	return sum
}
