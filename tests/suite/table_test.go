//go:build matrix || full

package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are those of the product's documents.
func schemas(t *testing.T) (out [2]*jsonschema.Schema) {
	t.Helper()
	for i, name := range []string{"schema.json", "report-schema.json"} {
		text, err := os.ReadFile(filepath.Join(work.Root, "mqs", "document", name))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(name, document); err != nil {
			t.Fatal(err)
		}
		if out[i], err = c.Compile(name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// table is what was seen.
func (s *looker) table() string {
	var b strings.Builder
	columns := append(slices.Clone(ways), inGDB, once)
	looks, verdicts, number := 0, map[string]bool{}, map[string]int{}
	for _, way := range columns {
		for v, n := range s.verdicts[way] {
			verdicts[v] = true
			number[way] += n
			looks += n
		}
	}
	fmt.Fprintf(&b, "%d looks at %d programs", looks, len(s.looked))
	lists := map[string][]string{"looked at": s.looked}
	for _, l := range []struct {
		what string
		list []string
	}{{"do not compile", s.unbuilt}, {"do not end well by themselves", s.unfit}, {"can't be called as often without a look either", s.leaky}} {
		fmt.Fprintf(&b, "; %d %s", len(l.list), l.what)
		lists[l.what] = l.list
	}
	fmt.Fprintf(&b, "\n%-28s", "verdict")
	for _, way := range columns {
		fmt.Fprintf(&b, "%11s", way)
	}
	for _, v := range slices.Sorted(maps.Keys(verdicts)) {
		fmt.Fprintf(&b, "\n%-28s", v)
		for _, way := range columns {
			fmt.Fprintf(&b, "%11d", s.verdicts[way][v])
		}
	}
	fmt.Fprintf(&b, "\n%-28s", "seconds a look")
	for _, way := range columns {
		fmt.Fprintf(&b, "%11.2f", s.spent[way].Seconds()/float64(max(number[way], 1)))
	}
	unknown, all := s.unknown()
	fmt.Fprintf(&b, "\nof %d reports on what runs, %d end in \"unknown\"", all, unknown)
	for _, r := range slices.SortedFunc(maps.Keys(s.reasons), func(a, b string) int { return cmp.Or(s.reasons[b]-s.reasons[a], strings.Compare(a, b)) }) {
		fmt.Fprintf(&b, "\n%6d %s", s.reasons[r], r)
	}
	if text, err := json.Marshal(lists); err == nil {
		fmt.Fprintf(&b, "\n%s", text)
	}
	return b.String()
}
