//go:build full

package mutation

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	sample = flag.Int("mutants", 400, "how many mutants are tried, drawn at random")
	seed   = flag.Uint64("seed", 1, "of the drawing")
	ids    = flag.String("ids", "", "the numbers of those that are tried, with commas between them, and no others")
	only   = flag.String("only", "", "the beginning of the paths of the files whose mutants are tried")
)

// Of a hundred mutants the tests are to notice as many as target, which is said, and must notice as many as least: that is
// raised as they get better.
const (
	target = 85
	least  = 85
)

// mutated are the packages whose operators are changed.
var mutated = []string{"mqs/openmpi", "mqs/mpich", "mqs/transport", "mqs/waitfor"}

// TestMutants changes operators of the decoders and of package waitfor, one at a time: the quick tests notice.
func TestMutants(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	overlay, mutants, err := overlay(root, folder, mutated)
	if err != nil {
		t.Fatal(err)
	}
	all := buildSuites(t, root, folder, overlay)
	t.Logf("%d mutants in all", len(mutants))
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool {
		return !strings.HasPrefix(m.where, *only) || *ids != "" && !slices.Contains(strings.Split(*ids, ","), strconv.Itoa(m.id))
	})
	luck := rand.New(rand.NewPCG(*seed, 1))
	luck.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	mutants = mutants[:min(len(mutants), *sample)]
	noticed := map[string][2]int{} // by package: how many of how many
	total := 0
	for i, m := range mutants {
		if i%20 == 0 {
			t.Logf("%d of %d", i, len(mutants))
		}
		n := noticed[m.pack]
		n[1]++
		if by := isNoticed(t.Context(), m, all); by != "" {
			n[0]++
			total++
		} else {
			t.Logf("survives: %s", m)
		}
		noticed[m.pack] = n
	}
	for pack, n := range noticed {
		t.Logf("%s: %d of %d are noticed", pack, n[0], n[1])
	}
	score := 100 * float64(total) / float64(max(1, len(mutants)))
	t.Logf("%d of %d mutants are noticed: %.1f %%; the target of %d %% is %s", total, len(mutants), score, target,
		map[bool]string{true: "met", false: "missed"}[score >= target])
	if score < least {
		t.Errorf("that is less than %d %%", least)
	}
}
