package layout

import (
	"fmt"
	"strings"
	"testing"
)

// TestNearest checks the order in which layouts are tried: the library's own series first, and its release before others.
func TestNearest(t *testing.T) {
	var tables []*Table
	for _, r := range []string{"4.0.2", "4.1.0", "4.1.4", "5.0.6", "5.0.7 on aarch64", "6.0.0rc2"} {
		tables = append(tables, &Table{Release: "Open MPI " + r})
	}
	for version, want := range map[string]string{
		"4.1.3":    "4.1.0 4.1.4 4.0.2 5.0.6 5.0.7 6.0.0",
		"4.1.4":    "4.1.4 4.1.0 4.0.2 5.0.6 5.0.7 6.0.0",
		"5.0.0":    "5.0.6 5.0.7 4.1.4 4.1.0 4.0.2 6.0.0",
		"5.0.10a1": "5.0.7 5.0.6 4.1.4 4.1.0 4.0.2 6.0.0",
		"3.1.6":    "4.0.2 4.1.0 4.1.4 5.0.6 5.0.7 6.0.0",
		"":         "6.0.0 5.0.7 5.0.6 4.1.4 4.1.0 4.0.2",
		"master":   "6.0.0 5.0.7 5.0.6 4.1.4 4.1.0 4.0.2",
	} {
		var got []string
		for _, table := range Nearest(tables, version) {
			got = append(got, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(release(table.Release))), "."), "[]"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %s", version, got, want)
		}
	}
}
