package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// differences says for people how a new table differs from the old one, which may be nil: a line
// for each type and member, "-" as it was and "+" as it is. Where they are from does not count.
func differences(old, made *layout.Table) string {
	if old == nil {
		return "  there was none\n"
	}
	before, now := lines(old), lines(made)
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(union(before, now))) {
		if before[key] == now[key] {
			continue
		}
		for _, side := range []struct {
			sign string
			of   map[string]string
		}{{"-", before}, {"+", now}} {
			if line, ok := side.of[key]; ok {
				fmt.Fprintf(&b, "  %s %s: %s\n", side.sign, key, line)
			}
		}
	}
	return b.String()
}

func lines(t *layout.Table) map[string]string {
	out := map[string]string{"release": t.Release, "scope": string(t.Scope), "ABI": fmt.Sprint(t.PointerSize, " ", t.ByteOrder)}
	for name, typ := range t.Types {
		out[name] = fmt.Sprint(typ.Size, " bytes")
		for field, m := range typ.Fields {
			out[name+" "+field] = spaced(m)
		}
	}
	for v := range layout.Variants([]*layout.Table{t}) {
		for name, change := range layout.DiffTypes(t.Types, v.Types) {
			out[strings.Join(v.With, " and ")+": "+name] = compact(change)
		}
	}
	return out
}

func union(a, b map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, m := range []map[string]string{a, b} {
		for key := range m {
			out[key] = true
		}
	}
	return out
}
