package sample

import (
	"fmt"
	"math"
	"testing"
)

// TestRotation checks that n consecutive seeds choose every case of every row exactly once, so that what one run leaves
// out a later one tries.
func TestRotation(t *testing.T) {
	for _, name := range []string{"", "TestDeadlocksOpen MPI 4.1.4", "ch4-ucx", "TestOneSidedOpen MPI 5.0.7rdma"} {
		for _, n := range []int{1, 3, Moving, Modes} {
			for _, first := range []uint64{0, 20659, math.MaxUint32 - 2} {
				for i := range 131 {
					times := 0
					for seed := first; seed < first+uint64(n); seed++ {
						if chosen(seed, name, i, n) {
							times++
						}
					}
					if times != 1 {
						t.Errorf("%q: case %d is chosen %d times by the %d seeds from %d on", name, i, times, n, first)
					}
				}
			}
		}
	}
}

// TestRowsDiffer checks that rows do not all try the same cases in one run.
func TestRowsDiffer(t *testing.T) {
	firsts := map[int]bool{}
	for row := range 10 {
		for i := range Modes {
			if chosen(0, fmt.Sprint("row", row), i, Modes) {
				firsts[i] = true
			}
		}
	}
	if len(firsts) < 3 {
		t.Errorf("ten rows try the cases %v", firsts)
	}
}

// TestEnvironment checks what the scripts set: the seed shifts the sample, and the variable of a whole run turns sampling off.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{variable, "MPI_QUEUES_TEST_WHOLE"} {
		t.Setenv(name, "")
	}
	count := func() (all string) {
		for i := range 6 {
			if Chosen("row", i, 3) {
				all += fmt.Sprint(i)
			}
		}
		return all
	}
	seen := map[string]bool{}
	for seed := range 3 {
		t.Setenv(variable, fmt.Sprint(seed))
		seen[count()] = true
	}
	for _, want := range []string{"03", "14", "25"} {
		if !seen[want] {
			t.Errorf("three seeds choose %v, and never %s", seen, want)
		}
	}
	t.Setenv("MPI_QUEUES_TEST_WHOLE", "1")
	if got := count(); got != "012345" {
		t.Errorf("a whole run tries %q", got)
	}
	t.Setenv(variable, "tomorrow")
	defer func() {
		if recover() == nil {
			t.Error("a seed that is no number is taken")
		}
	}()
	Seed()
}
