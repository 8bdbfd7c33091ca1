package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// text is the one way to write a table's file. base is the table that it is based on, or nil.
func text(t, base *layout.Table) string {
	var b strings.Builder
	line := func(key string, value any) { fmt.Fprintf(&b, " %q: %s,\n", key, compact(value)) }
	b.WriteString("{\n")
	line("release", t.Release)
	if t.Scope != layout.ScopeAll {
		line("scope", t.Scope)
	}
	if t.BasedOn != "" {
		line("based_on", t.BasedOn)
	}
	fmt.Fprintf(&b, " \"provenance\": %s,\n", provenance(t.Provenance))
	line("hash", t.Hash)
	line("pointer_size", t.PointerSize)
	line("byte_order", t.ByteOrder)
	if t.Architecture != "" {
		line("architecture", t.Architecture)
	}
	b.WriteString(" \"types\": {")
	types := map[string]string{}
	for name, typ := range t.Types {
		var old *layout.Type
		if base != nil {
			if o, ok := base.Types[name]; ok {
				old = &o
			}
		}
		if s := typeText(typ, old); s != "" {
			types[name] = s
		}
	}
	if base != nil {
		for name := range base.Types {
			if _, ok := t.Types[name]; !ok {
				types[name] = "null"
			}
		}
	}
	list(&b, "  ", slices.Sorted(maps.Keys(types)), types)
	b.WriteString("}\n}\n")
	return b.String()
}

// provenance is a provenance as JSON, on one line.
func provenance(p layout.Provenance) string {
	if p.Recipe != "" {
		return fmt.Sprintf(`{"recipe": %s}`, compact(p.Recipe))
	}
	return fmt.Sprintf(`{"headers": %s, "values": %s}`, compact(p.Headers), compact(p.Values))
}

// typeText is a type, of which the base has the layout old, or "" if it has the same.
func typeText(t layout.Type, old *layout.Type) string {
	fields := map[string]string{}
	for name, m := range t.Fields {
		if old == nil || old.Fields[name] != m {
			fields[name] = spaced(m)
		}
	}
	// By offset, as in C; then what is no longer there.
	names := slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.Fields[a].Offset, t.Fields[b].Offset), cmp.Compare(a, b))
	})
	if old != nil {
		for _, name := range slices.Sorted(maps.Keys(old.Fields)) {
			if _, ok := t.Fields[name]; !ok {
				fields[name], names = "null", append(names, name)
			}
		}
	}
	var parts []string
	if old == nil || old.Size != t.Size {
		parts = append(parts, fmt.Sprintf(`"size": %d`, t.Size))
	}
	if old == nil || len(fields) > 0 {
		var b strings.Builder
		b.WriteString(`"fields": {`)
		list(&b, "   ", names, fields)
		parts = append(parts, b.String()+"}")
	}
	if parts == nil {
		return ""
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// list writes the members of a JSON object, each on a line of its own, up to the closing brace.
func list(b *strings.Builder, indent string, names []string, values map[string]string) {
	for i, name := range names {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, "\n%s%q: %s", indent, name, values[name])
	}
	if len(names) > 0 {
		b.WriteString("\n" + indent[1:])
	}
}

// compact is a value as JSON.
func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // these values are our own
	}
	return strings.TrimSpace(b.String())
}

// spaced is a member as JSON, on one line.
func spaced(m layout.Member) string {
	s := fmt.Sprintf(`{"offset": %d, "size": %d, "kind": %q`, m.Offset, m.Size, m.Kind)
	if m.Type != "" {
		s += fmt.Sprintf(`, "type": %q`, m.Type)
	}
	return s + "}"
}

// hash is of a table as a whole, and of the recipe that it is made by, if there is one.
func hash(t *layout.Table, r *recipe) string {
	of := *t
	of.Hash, of.BasedOn = "", ""
	sum := sha256.New()
	sum.Write([]byte(compact(of)))
	if r != nil {
		sum.Write([]byte(r.hash()))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
