//go:build live || matrix || full

package oracle

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reduce finds the fewest items of a seed that fail by themselves, and says how to run them.
func (r *run) reduce(t *testing.T, seed int) {
	t.Helper()
	program := r.w.Program(t, filepath.Join("tests", "oracle", "job", "oracle.c"))
	plan, err := exec.Command(program, "-", strconv.Itoa(seed), strconv.Itoa(*ranks+r.children(seed))).Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(plan))
	count, err := strconv.Atoi(fields[len(fields)-4]) // "N items and ends"
	if err != nil {
		t.Fatal(err)
	}
	items := make([]int, count)
	for i := range items {
		items[i] = i
	}
	if !r.fails(t, seed, items) {
		t.Logf("seed %d does not fail by itself, only behind the seeds before it in its job", seed)
		return
	}
	items = smallest(items, func(some []int) bool { return r.fails(t, seed, some) })
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(items), " ", ","), "[]")
	t.Logf("smallest: go test -tags live -run TestSeeds/%s$ ./tests/oracle -first %d -seeds 1 -items %s", r.build.name, seed, list)
	for _, line := range strings.Split(string(plan), "\n") {
		if number, _, _ := strings.Cut(strings.TrimPrefix(line, "item "), ":"); strings.HasPrefix(line, "item ") {
			if i, _ := strconv.Atoi(number); slices.Contains(items, i) {
				t.Log(line)
			}
		} else if strings.HasPrefix(line, "communicator ") {
			t.Log(line)
		}
	}
}

func (r *run) fails(t *testing.T, seed int, items []int) bool {
	t.Helper()
	once := &run{w: r.w, build: r.build, key: r.key, tables: r.tables, scores: map[string]Score{}, said: map[string]int{}, quiet: true}
	once.job(t, seed, 1, items)
	return once.said[r.kind] > 0 // another failure is another seed's
}
