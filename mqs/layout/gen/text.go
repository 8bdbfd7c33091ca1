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
	var old map[string]layout.Type
	if base != nil {
		old = base.Types
	}
	b.WriteString(" \"types\": ")
	writeChanges(&b, "  ", layout.DiffTypes(old, t.Types))
	if len(t.Options) > 0 {
		b.WriteString(",\n \"options\": [")
		for i, o := range t.Options {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "{\"with\": %s, \"types\": ", compact(o.With))
			writeChanges(&b, "  ", o.Types)
			b.WriteString("}")
		}
		b.WriteString("]")
	}
	b.WriteString("\n}\n")
	return b.String()
}

// provenance is a provenance as JSON, on one line.
func provenance(p layout.Provenance) string {
	if p.Recipe != "" {
		return fmt.Sprintf(`{"recipe": %s}`, compact(p.Recipe))
	}
	return fmt.Sprintf(`{"headers": %s, "values": %s}`, compact(p.Headers), compact(p.Values))
}

// writeChanges writes types and how they differ from others, as a JSON object.
func writeChanges(b *strings.Builder, indent string, changes map[string]*layout.Change) {
	texts := map[string]string{}
	for name, c := range changes {
		texts[name] = changeText(c, indent)
	}
	b.WriteString("{")
	list(b, indent, slices.Sorted(maps.Keys(texts)), texts)
	b.WriteString("}")
}

// changeText is a change of a type as JSON.
func changeText(c *layout.Change, indent string) string {
	if c == nil {
		return "null"
	}
	fields := map[string]string{}
	var names, gone []string
	for name, m := range c.Fields {
		if m == nil {
			fields[name], gone = "null", append(gone, name)
		} else {
			fields[name], names = spaced(*m), append(names, name)
		}
	}
	// By offset, as in C; then what is no longer there.
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Fields[a].Offset, c.Fields[b].Offset), cmp.Compare(a, b))
	})
	slices.Sort(gone)
	names = append(names, gone...)
	var parts []string
	if c.Size != 0 {
		parts = append(parts, fmt.Sprintf(`"size": %d`, c.Size))
	}
	if len(fields) > 0 {
		var b strings.Builder
		b.WriteString(`"fields": {`)
		list(&b, indent+" ", names, fields)
		parts = append(parts, b.String()+"}")
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
